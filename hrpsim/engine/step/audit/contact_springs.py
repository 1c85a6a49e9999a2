# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Energy that contact springs exchange with trees in a step.

A step finds its contacts once. The rates at both ends of the step give the gaps at these ends. For
penalty contacts, the energy differs from 1/2 k d^2 by a fraction of order k dt^2 / m, which is
large. Here k is the stiffness, d the depth, m the mass and dt the time step. The energy of these
springs is therefore defined by the energy that they exchange. This energy is not audited.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Row, Scene, Vector
from hrpsim.engine.constraints.solver_table import PENALTY
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.engine.step.audit.records import Audit
from hrpsim.engine.step.audit.stored_energy import spring_energy
from hrpsim.engine.step.scene.islands import root_of


@inner_kernel
def add_contact_springs(s: Scene) -> None:
    """Add the energy of contact springs to the trees' energies before and after the step [J]."""
    trees, shapes, settings = s.audit.trees, s.collision.shapes, s.settings[0]
    dt, drift = settings.time_step, settings.drift
    for c in range(s.counts[0].contact_count):
        contact = s.collision.contacts[c]
        a, b = shapes[contact.shape_a], shapes[contact.shape_b]
        pair = s.materials[a.material, b.material]
        is_penalty = s.solver_choice[a.solver_class, b.solver_class] == PENALTY
        if not is_penalty and (pair.damping_time < 0.0 or pair.compliance == 0.0):
            continue
        normal = s.rows.rows[3 * c]
        tree = trees[root_of(s.forest.bodies, s.constrained, normal.constrained_a)]
        if is_penalty:
            for number in range(3 * c, 3 * c + 3):
                row = s.rows.rows[number]
                before, after = _row_rates(
                    s.constrained, s.audit, s.start.velocity, s.velocity, row
                )
                tree.before += 0.5 * row.impulse * (before + after)
            continue
        before, after = _row_rates(s.constrained, s.audit, s.start.velocity, s.velocity, normal)
        start = end = contact.gap + contact.gap_offset
        if drift > 0.0:
            start, end = start - drift * before, end + drift * after
        elif settings.order == 1:
            end += dt * before
        else:
            end += 0.5 * dt * (before + after)
        tree.before += spring_energy(min(start, 0.0), pair.compliance, pair.force_limit)
        tree.elastic += spring_energy(min(end, 0.0), pair.compliance, pair.force_limit)


@inlined_kernel
def _row_rates(
    constrained: ConstraintBodies, audit: Audit, start: Vector, end: Vector, row: Row
) -> tuple[float, float]:
    """Return the velocities of a row at the start and the end of the step [m/s].

    `start` and `end` are the velocities of the joints at both ends (nv,) [rad/s, m/s].
    """
    before = after = 0.0
    for side in range(2 if row.constrained_b >= 0 else 1):
        constraint_body = constrained.bodies[row.constrained_a if side == 0 else row.constrained_b]
        J = row.J_a if side == 0 else row.J_b
        if constraint_body.dof >= 0:
            before += J[0] * start[constraint_body.dof]
            after += J[0] * end[constraint_body.dof]
        else:
            before += dot_spatial(J, audit.start[constraint_body.body].v)
            after += dot_spatial(J, audit.end[constraint_body.body].v)
    return before, after
