# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The middle of a semi-implicit step, where its forces act.

The step drifts to its middle with the velocity at its start, meets all forces there, and drifts on
with the velocity at its end:

    q_m = q + dt/2 v,   v' = v + dt a(q_m, v_m),   q' = q_m + dt/2 v'.

With v_m = (v + v') / 2 in the velocity products this is symmetric in time: of second order, and
its energy swings without a drift of that order. v_m = v + dt/2 a needs the acceleration that is yet
to be found; it is extrapolated from the steps before.
"""

from hrpsim.jit.compiled import inlined_kernel, inner_kernel
from hrpsim.model.system import FREE
from hrpsim.step.motion.unconstrained_motion import move

# Largest second difference of smooth accelerations, as a share of them.
_SMOOTH = 0.25


@inlined_kernel
def drift_to_middle(s):
    """Carry s.q to the middle of the step, and predict the velocity there (velocity_middle)."""
    half = 0.5 * s.settings[0].time_step
    move(s.forest, s.velocity, half, s.q)
    predict_velocity(s.velocity, s.past_accelerations, half, s.work.velocity_middle)


@inner_kernel
def predict_velocity(velocity, past, duration, velocity_out):
    """Write the velocity (nv,) after `duration` [s], by the accelerations of three steps (nv, 3).

    They are extrapolated by a parabola where they are smooth. Elsewhere the smaller of the last two
    counts, or zero where these are opposite: an impact in one of them does not continue.
    """
    for k in range(velocity.shape[0]):
        a, b, c = past[k, 0], past[k, 1], past[k, 2]
        acceleration = a if abs(a) < abs(b) else b
        if a * b < 0.0:
            acceleration = 0.0
        bend = a - 2.0 * b + c
        if abs(bend) <= _SMOOTH * max(abs(a), abs(c)):
            acceleration = 2.0 * a - b + bend
        velocity_out[k] = velocity[k] + duration * acceleration


@inlined_kernel
def remember_acceleration(work, past_out):
    """Store the acceleration of this step first, before those of the last two (nv, 3)."""
    for k in range(past_out.shape[0]):
        past_out[k, 2], past_out[k, 1] = past_out[k, 1], past_out[k, 0]
        past_out[k, 0] = work.dv[k] + work.change[k]


@inner_kernel
def remember_moments(forest, past_accelerations, connections, spins):
    """Remove all from the accelerations of free bodies but the moments on pinned ones.

    The rule by which free bodies turn (hrpsim.dynamics.spin) finds the gyroscopic torque itself. A
    body pinned to the world by one connection, as a top on its tip, needs the other moments too.
    Chains of free bodies that whip at large steps come apart if their moments are predicted.
    """
    past, any_connected = past_accelerations, connections.shape[0] > 0
    if any_connected:
        _count_connections(forest.bodies, connections, spins)
    for i in range(forest.bodies.shape[0]):
        body, own = forest.bodies[i], spins[i]
        if body.joint_type != FREE or not forest.dofs[body.v_index].turns_freely:
            continue
        pinned, k = any_connected and own.connections == 1, body.v_index
        for r in range(k, k + 6):
            if pinned and r < k + 3:
                past[r, 0] -= own.spin_acceleration[r - k]
                continue
            for n in range(past.shape[1]):
                past[r, n] = 0.0


@inlined_kernel
def _count_connections(bodies, connections, spins):
    """Count the connections of each body; one to a body that moves counts twice."""
    for i in range(bodies.shape[0]):
        spins[i].connections = 0
    for c in range(connections.shape[0]):
        connection = connections[c]
        a, b = connection.body_a, connection.body_b
        if connection.enabled and a >= 0:
            spins[a].connections += 2 if b >= 0 else 1
        if connection.enabled and b >= 0:
            spins[b].connections += 2 if a >= 0 else 1
