# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The energy balance of each island in a step, and the rise of its sum within a second.

balance = change of kinetic, potential and elastic energy - work of inputs - lifting corrections.

In exact mechanics the balance is never positive. Constraint forces do no work in total, and
friction and dampers dissipate energy. A positive balance is energy that the step created. Some
integrators return this energy later, so that the balance oscillates about zero. The audit therefore
sums the balances of all steps. A body is reported if this sum rises within a second by more than
REPORTED_GAIN times the kinetic energy.

Position corrections lift bodies that the user placed inside another body. This energy is counted
separately. Corrections that lower bodies remove energy that the last step created. Bodies with
inputs are not reported, because the work of inputs has an error of second order.
"""

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Audited, Counts, Scene, Settings, Vector
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.displacement import asks_for_displacement
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import update_velocities
from hrpsim.engine.spatial.vector import dot, placed_point, point_velocity
from hrpsim.engine.step.audit.contact_springs import add_contact_springs
from hrpsim.engine.step.audit.input_work import add_input_work
from hrpsim.engine.step.audit.records import DUE, INTERVAL, INTERVALS, QUIET, REPORTED_GAIN, Audit
from hrpsim.engine.step.audit.stored_energy import measure_energies
from hrpsim.engine.step.scene.islands import Islands, join, representative_of, root_of
from hrpsim.engine.step.scene.status import DONE

# Bodies below this speed are at rest for the audit [m/s], or below the gain by gravity in a step.
_SLOW = 1e-3


@lazy_kernel(feature="audit")
def audit_energy(s: Scene) -> int:
    """Write the energy balance of a complete step.

    Reads: actuators, audit, clock, collision, connections, constrained, control, counts, forest,
    islands, joint_holds, joint_impulses, joint_parameters, materials, q, rows, settings,
    solver_choice, start, tendons, velocity, work, wrenches. Writes: audit, islands, work.
    """
    trees = s.audit.trees
    measure_energies(s, s.start.q, s.start.velocity, s.audit.start)
    for i in range(trees.shape[0]):
        trees[i].before = trees[i].kinetic + trees[i].potential + trees[i].elastic
    measure_energies(s, s.q, s.velocity, s.audit.end)
    add_contact_springs(s)
    add_input_work(s)
    settings, counts, trees = s.settings[0], s.counts[0], s.audit.trees
    for i in range(trees.shape[0]):
        trees[i].corrected = 0.0
    if asks_for_displacement(s.rows.rows, counts.contact_count, counts.row_count):
        _add_corrections(settings, s.forest, s.q, s.work.correction_velocity, s.audit)
    _join_islands(counts, s.forest, s.collision, s.constrained, s.rows, s.islands)
    _sum_islands(s.forest, s.islands, s.audit)
    _find_rises(settings, s.clock[0], s.forest, s.islands, s.audit)
    return DONE


@inlined_kernel
def _add_corrections(
    settings: Settings, forest: Forest, q: Vector, rate: Vector, audit: Audit
) -> None:
    """Add the energy of position corrections of each tree, from gravity and joint springs.

    `rate` is the displacement rate of the correction (nv,) [rad/s, m/s].
    """
    trees, bodies, kinematics = audit.trees, forest.bodies, audit.end
    update_velocities(forest, rate, kinematics)
    for i in range(bodies.shape[0]):
        link = kinematics[i]
        x, y, z = placed_point(link.R, link.p, bodies[i].com)
        vx, vy, vz = point_velocity(link.v, x, y, z)
        g = settings.gravity
        fall = g[0] * vx + g[1] * vy + g[2] * vz
        trees[bodies[i].root].corrected -= settings.time_step * bodies[i].mass * fall
    for k in range(forest.dofs.shape[0]):
        dof = forest.dofs[k]
        if dof.q_index >= 0:
            pull = dof.stiffness * (q[dof.q_index] - dof.rest)
            trees[bodies[dof.body].root].corrected += settings.time_step * pull * rate[k]


@inlined_kernel
def _join_islands(
    counts: Counts,
    forest: Forest,
    collision: Collision,
    constrained: ConstraintBodies,
    rows: Rows,
    islands: Islands,
) -> None:
    """Join the trees that exchange energy in this step, in islands.trees."""
    trees, bodies = islands.trees, forest.bodies
    for i in range(trees.shape[0]):
        trees[i].representative = bodies[i].root
    for c in range(counts.contact_count):
        contact = collision.contacts[c]
        presses = dot(contact.impulse, contact.impulse) > 0.0
        if presses and contact.body_a >= 0 and contact.body_b >= 0:
            join(trees, bodies[contact.body_a].root, bodies[contact.body_b].root)
    for number in range(3 * counts.contact_count, counts.row_count):
        row = rows.rows[number]
        if row.width_b > 0:
            root = root_of(bodies, constrained, row.constrained_a)
            join(trees, root, root_of(bodies, constrained, row.constrained_b))


@inlined_kernel
def _sum_islands(forest: Forest, islands: Islands, audit: Audit) -> None:
    """Write each island's balance to its representative tree, and the sums of the world."""
    trees, bodies, totals = audit.trees, forest.bodies, audit.totals[0]
    totals.work = totals.created = totals.dissipated = totals.corrected = 0.0
    for i in range(trees.shape[0]):
        trees[i].island_balance = trees[i].island_kinetic = 0.0
        trees[i].island_throughput = trees[i].island_mass = 0.0
    for i in range(trees.shape[0]):
        tree = trees[i]
        if bodies[i].root != i:
            continue
        island = trees[representative_of(islands.trees, i)]
        change = tree.kinetic + tree.potential + tree.elastic - tree.before
        island.island_balance += change - tree.work
        if representative_of(islands.trees, i) != i:
            island.corrected += tree.corrected
        island.island_kinetic += tree.kinetic
        island.island_throughput += tree.throughput
        island.island_mass += tree.mass
        totals.work += tree.work
    for i in range(trees.shape[0]):
        if bodies[i].root == i and representative_of(islands.trees, i) == i:
            lifted = max(trees[i].corrected, 0.0)
            trees[i].island_balance -= lifted
            totals.corrected += lifted
        totals.created += max(trees[i].island_balance, 0.0)
        totals.dissipated += max(-trees[i].island_balance, 0.0)
    totals.total_work += totals.work
    totals.total_created += totals.created
    totals.total_dissipated += totals.dissipated
    totals.total_corrected += totals.corrected


@inlined_kernel
def _find_rises(
    settings: Settings, clock: int, forest: Forest, islands: Islands, audit: Audit
) -> None:
    """Compute the rise of each tree's balance within a second, from its islands.

    `clock` is the number of steps since the last reset.
    """
    bodies, trees = forest.bodies, audit.trees
    steps = max(1, round(INTERVAL / settings.time_step))
    present = clock // steps
    speed = max(_SLOW, settings.time_step * dot(settings.gravity, settings.gravity) ** 0.5)
    for i in range(trees.shape[0]):
        if bodies[i].root != i:
            continue
        tree, island = trees[i], trees[representative_of(islands.trees, i)]
        _begin_intervals(tree, present)
        tree.balance += island.island_balance
        at = present % INTERVALS
        tree.least[at] = min(tree.least[at], tree.balance)
        tree.largest_kinetic[at] = max(tree.largest_kinetic[at], island.island_kinetic)
        tree.throughputs[at] += island.island_throughput
        least, kinetic, throughput = tree.balance, 0.0, 0.0
        for k in range(INTERVALS):
            least = min(least, tree.least[k])
            kinetic = max(kinetic, tree.largest_kinetic[k])
            throughput += tree.throughputs[k]
        scale = kinetic + throughput + 0.5 * island.island_mass * speed * speed
        rise = tree.balance - least
        if clock < steps:
            continue  # bodies that start from rest have almost no kinetic energy
        fraction = rise / scale if scale > 0.0 else 0.0
        tree.gain, tree.gain_fraction = max(tree.gain, rise), max(tree.gain_fraction, fraction)
        if fraction > REPORTED_GAIN and throughput == 0.0 and tree.report == QUIET:
            tree.report = DUE
            audit.totals[0].due_count += 1


@inner_kernel
def _begin_intervals(tree: Audited, present: int) -> None:
    """Reset the intervals since the tree's last step. After a second without steps, reset all."""
    first = tree.interval + 1
    if present < tree.interval or present - tree.interval > INTERVALS:
        first = present - INTERVALS + 1
    for interval in range(first, present + 1):
        at = interval % INTERVALS
        tree.least[at] = tree.balance
        tree.largest_kinetic[at] = tree.throughputs[at] = 0.0
    tree.interval = present
