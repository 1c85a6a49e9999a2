# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The middle of a semi-implicit step, where the forces of the step act.

The step drifts to its middle with the velocity at the start. All forces act there. The step then
drifts on with the velocity at the end:

    q_m = q + dt/2 v,   v' = v + dt a(q_m, v_m),   q' = q_m + dt/2 v'.

With v_m = (v + v') / 2 in the velocity products the step is symmetric in time. The step is then of
second order, and its energy swings without a drift of that order. v_m = v + dt/2 a needs an
acceleration that is not yet known. The acceleration is extrapolated from the steps before.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Matrix, Scene, Seconds, Vector, Work
from hrpsim.engine.step.motion.carry import move

# Largest second difference of smooth accelerations, as a share of them.
_SMOOTH = 0.25


@inlined_kernel
def drift_to_middle(s: Scene) -> None:
    """Carry s.q to the middle of the step, and predict the velocity there.

    The kernel writes `velocity_middle` (nv,) [rad/s, m/s] of s.work.
    """
    half = s.settings[0].drift
    move(s.forest, s.velocity, half, s.q)
    predict_velocity(s.velocity, s.past_accelerations, half, s.work.velocity_middle)


@inner_kernel
def predict_velocity(
    velocity: Vector, past: Matrix, duration: Seconds, velocity_out: Vector
) -> None:
    """Write the velocity (nv,) after `duration` [s], by the accelerations of three steps (nv, 3).

    Smooth accelerations are extrapolated by a parabola. Otherwise the smaller of the last two
    accelerations counts, or zero if these two are opposite: an impact in one step does not
    continue.
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
def remember_acceleration(work: Work, past_out: Matrix) -> None:
    """Store this step's acceleration in front of the accelerations of the last two steps.

    Args:
        work: work arrays. The acceleration is `dv` + `change` (nv,) [rad/s^2, m/s^2].
        past_out: accelerations, the latest in column 0 (nv, 3) [rad/s^2, m/s^2], changed.
    """
    for k in range(past_out.shape[0]):
        past_out[k, 2], past_out[k, 1] = past_out[k, 1], past_out[k, 0]
        past_out[k, 0] = work.dv[k] + work.change[k]
