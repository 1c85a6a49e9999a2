# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The middle of a semi-implicit step, where the forces of the step act.

The configuration q first drifts to the middle of the step, with the velocity v at the start. All
forces act there, with the acceleration a. Then q moves on with the velocity v' at the end:

    q_m = q + dt/2 v,   v' = v + dt a(q_m, v_m),   q' = q_m + dt/2 v'.

The index m marks the middle, and dt is the time step. With v_m = (v + v') / 2 in the velocity
products, the step is symmetric in time. The step then has second order. Its energy error oscillates
at this order, but does not grow. Since v_m depends on an unknown acceleration, v_m is computed with
an acceleration extrapolated from the last steps.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Matrix, Scene, Seconds, Vector, Work
from hrpsim.engine.step.motion.carry import move

# Largest second difference of smooth accelerations, as a fraction of the acceleration.
_SMOOTH = 0.25


@inlined_kernel
def drift_to_middle(s: Scene) -> None:
    """Move s.q to the middle of the step, and predict the velocity there.

    The kernel writes `velocity_middle` (nv,) [rad/s, m/s] of s.work.
    """
    half = s.settings[0].drift
    move(s.forest, s.velocity, half, s.q)
    predict_velocity(s.velocity, s.past_accelerations, half, s.work.velocity_middle)


@inner_kernel
def predict_velocity(
    velocity: Vector, past: Matrix, duration: Seconds, velocity_out: Vector
) -> None:
    """Predict the velocity (nv,) after `duration` [s] from the last accelerations (nv, 3).

    Smooth accelerations are extrapolated by a parabola. Otherwise the smaller of the last two
    accelerations is used, or zero if their signs differ. An acceleration by an impact is therefore
    not extrapolated.
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
    """Store this step's acceleration, and shift the stored accelerations of the last two steps.

    Args:
        work: work arrays. The acceleration is `dv` + `change` (nv,) [rad/s^2, m/s^2].
        past_out: accelerations, the latest in column 0 (nv, 3) [rad/s^2, m/s^2], changed.
    """
    for k in range(past_out.shape[0]):
        past_out[k, 2], past_out[k, 1] = past_out[k, 1], past_out[k, 0]
        past_out[k, 0] = work.dv[k] + work.change[k]
