# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of connections at a state: errors, curvatures, rates, and the forces of impulses."""

from __future__ import annotations

from hrpsim.constraints.connection_rows import bending_of, find_direction
from hrpsim.constraints.placed_connection import place_moving_frames
from hrpsim.constraints.rows import write_force
from hrpsim.jit.compiled import inner_kernel, kernel
from hrpsim.kinematics.forward import update_poses, update_velocities
from hrpsim.model.system import FIXED, FREE
from hrpsim.spatial.vector import dot_spatial
from hrpsim.step.motion.unconstrained_motion import move

ERROR, CURVATURE, RATES = range(3)  # columns of values; RATES is the first of those
STEP = 1e-5  # of the differences [m, rad, m/s or rad/s]


@kernel
def connection_derivatives(w, connections, q, velocity, others, impulses, values_out, forces_out):
    """Write central differences of the rows of connections by q and by the velocity.

    Args:
        w: DifferenceRoom (hrpsim.world.linearization.connection_sides).
        connections: CONNECTION_RECORD.
        q: (nq,).
        velocity: (nv,) of the curvatures.
        others: (k, nv) velocities whose rates along the rows are wanted.
        impulses: (rows,) whose forces on the degrees of freedom are wanted.
        values_out: (nv, 2, rows, 2 + k): by q and by velocity, error, curvature and rates.
        forces_out: (nv, nv): these forces, a row for each degree of freedom of q.
    """
    values_out[:, :, :, :] = 0.0
    forces_out[:, :] = 0.0
    for k in range(velocity.shape[0]):
        for side in range(2):
            sign = 1.0 - 2.0 * side
            share = sign / (2.0 * STEP)
            for r in range(w.direction.shape[0]):
                w.direction[r] = 0.0
            w.direction[k] = 1.0
            for r in range(q.shape[0]):
                w.q[r] = q[r]
            move(w.forest, w.direction, sign * STEP, w.q)
            update_poses(w.forest, w.q, w.kinematics)
            _evaluate(w, connections, velocity, share, values_out[k, 0])
            _add_forces(w, impulses, share, forces_out[k])
            for j in range(others.shape[0]):
                _add_rates(w, others[j], share, values_out[k, 0, :, RATES + j])
            update_poses(w.forest, q, w.kinematics)
            for r in range(velocity.shape[0]):
                w.direction[r] = velocity[r]
            w.direction[k] += sign * STEP
            _evaluate(w, connections, w.direction, share, values_out[k, 1])
    return 0


@inner_kernel
def _evaluate(w, connections, velocity, share, values_out):
    """Add `share` times error and curvature of each row; write the rows' force patterns."""
    update_velocities(w.forest, velocity, w.kinematics)
    placed, number = w.placed[0], 0
    for c in range(connections.shape[0]):
        connection = connections[c]
        if not connection.enabled:
            continue
        place_moving_frames(w.forest, w.kinematics, connection, placed)
        for axis in range(6):
            if not connection.axes[axis]:
                continue
            pattern, d = w.patterns[number], placed.direction
            values_out[number, ERROR] += share * find_direction(connection, axis, placed)
            values_out[number, CURVATURE] += share * bending_of(connection, axis, placed)
            pattern.body_a, pattern.body_b = connection.body_a, connection.body_b
            write_force(placed.point_a, d, 1.0, axis >= 3, pattern.J_a)
            write_force(placed.point_b, d, -1.0, axis >= 3, pattern.J_b)
            number += 1


@inner_kernel
def _add_rates(w, velocity, share, rates_out):
    """Add `share` times the rate of each row with a velocity (nv,)."""
    update_velocities(w.forest, velocity, w.kinematics)
    for number in range(rates_out.shape[0]):
        pattern, rate = w.patterns[number], 0.0
        if pattern.body_a >= 0:
            rate += dot_spatial(pattern.J_a, w.kinematics[pattern.body_a].v)
        if pattern.body_b >= 0:
            rate += dot_spatial(pattern.J_b, w.kinematics[pattern.body_b].v)
        rates_out[number] += share * rate


@inner_kernel
def _add_forces(w, impulses, share, force_out):
    """Add `share` times the generalised impulse (nv,) of impulses (rows,) along the rows."""
    wrenches, bodies = w.wrenches, w.forest.bodies
    for i in range(bodies.shape[0]):
        for r in range(6):
            wrenches[i, r] = 0.0
    for number in range(impulses.shape[0]):
        pattern, impulse = w.patterns[number], impulses[number]
        for r in range(6):
            if pattern.body_a >= 0:
                wrenches[pattern.body_a, r] += impulse * pattern.J_a[r]
            if pattern.body_b >= 0:
                wrenches[pattern.body_b, r] += impulse * pattern.J_b[r]
    for i in range(bodies.shape[0] - 1, -1, -1):
        body, k = bodies[i], bodies[i].v_index
        if body.joint_type == FREE:
            for r in range(6):
                force_out[k + r] += share * wrenches[i, r]
        elif body.joint_type != FIXED:
            force_out[k] += share * dot_spatial(w.kinematics[i].S, wrenches[i])
        if body.parent >= 0:
            for r in range(6):
                wrenches[body.parent, r] += wrenches[i, r]
