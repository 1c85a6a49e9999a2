# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What changes of inertias do to a step: forces, momenta and energies are linear in them.

Each is found by the algorithms of the step itself, with the change in place of the inertia.
"""

from __future__ import annotations

from hrpsim.dynamics.articulated import place_inertias
from hrpsim.dynamics.recursive import newton_euler
from hrpsim.dynamics.tree_momentum import tree_momentum
from hrpsim.jit.compiled import inner_kernel, kernel
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.model.system import FREE
from hrpsim.spatial.inertia import apply_inertia
from hrpsim.spatial.vector import dot_spatial

MOTION, CORRECTION, MOMENTUM = range(3)


@kernel
def inertia_changes(s, w, shares, acceleration, responses, forces_out, energies_out):
    """Write the changes by p parameters of what inertias do.

    Args:
        s: scene after the step.
        w: Room.
        shares: (p, n) of the mass and inertia of each body by which these change.
        acceleration: (nv,) of the step, but for what the midpoint rule adds to it.
        responses: (k, nv) velocities.
        forces_out: (p, 3, nv): of inverse dynamics; of M times the rate of the position correction;
            and, at the linear rows of floating trees, the momentum at the start of the step and by
            gravity less that at its end.
        energies_out: (p, k): r' M r of each response.
    """
    forest, kinematics, articulated = w.changed, w.space.kinematics, w.space.articulated
    gravity, none, still = s.settings[0].gravity, w.products[0, :3], w.own_change
    none[:] = 0.0
    still[:] = 0.0
    update_poses(forest, w.q, kinematics)
    for j in range(shares.shape[0]):
        for i in range(forest.bodies.shape[0]):
            here, share, out = s.forest.bodies[i], shares[j, i], forest.bodies[i]
            out.mass = share * here.mass
            for r in range(3):
                for k in range(3):
                    out.inertia[r, k] = share * here.inertia[r, k]
            for r in range(6):
                articulated[i].external[r] = 0.0
        place_inertias(forest, kinematics, articulated)
        update_velocities(forest, w.smooth_velocity, kinematics)
        newton_euler(forest, kinematics, acceleration, gravity, articulated, forces_out[j, MOTION])
        update_velocities(forest, still, kinematics)
        out = forces_out[j, CORRECTION]
        newton_euler(forest, kinematics, w.correction, none, articulated, out)
        for r in range(responses.shape[0]):
            energies_out[j, r] = 0.0
            update_velocities(forest, responses[r], kinematics)
            for i in range(forest.bodies.shape[0]):
                v, momentum = kinematics[i].v, articulated[i].p_A
                apply_inertia(articulated[i].inertia, v, momentum)
                energies_out[j, r] += dot_spatial(momentum, v)
        _write_momenta(s, w, forces_out[j, MOMENTUM])


@inner_kernel
def _write_momenta(s, w, out):
    """Write what changes the momentum of floating trees besides constraint forces."""
    forest, h, subtrees = w.changed, s.settings[0].time_step, s.momentum.subtrees
    start, end, n = w.products[0, 3:], w.products[1, 3:], forest.bodies.shape[0]
    out[:] = 0.0
    for root in range(n):
        body = forest.bodies[root]
        if body.joint_type == FREE and root + 1 < n and forest.bodies[root + 1].root == root:
            tree_momentum(forest, s.start.q, s.start.velocity, root, subtrees, start)
            tree_momentum(forest, s.q, s.velocity, root, subtrees, end)
            for r in range(3):
                weight = h * subtrees[root].mass * s.settings[0].gravity[r]
                out[body.v_index + 3 + r] = start[r] + weight - end[r]
