# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rotation of floating trees in an rk4 step by the same rule as in MuJoCo.

A stage turns the body from its orientation R at the start by one rotation vector, R exp(T). With
the angular velocity u = R' w in the body's axes (Munthe-Kaas),

    dT/dt = u + T x u / 2 + T x (T x u) / 12.

The velocity u is integrated in the body's axes.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Matrix, Scene, Seconds, Vector
from hrpsim.engine.kinematics.ball_joint import carry_ball
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.rotation import rotate_quaternion, rotated
from hrpsim.engine.step.motion.half_turns import turns_freely
from hrpsim.engine.step.motion.records import Rk4
from hrpsim.model.system import FREE


@inner_kernel
def write_body_rates(  # many parameters: the state of a stage
    forest: Forest, q: Vector, velocity: Vector, dv: Vector, rk4: Rk4, stage: int, duration: Seconds
) -> None:
    """Write rates of rotation vectors and accelerations of floating trees, in body axes.

    Rates of ball joints are written, too. Their accelerations are along body axes already.

    Args:
        forest: constants of the bodies and joints.
        q: configuration of the stage (nq,).
        velocity: velocity of the stage (nv,) [rad/s, m/s], kernels' layout.
        dv: acceleration of the stage (nv,) [rad/s^2, m/s^2], kernels' layout.
        rk4: work records of the method. `rate` and `acceleration` of the stage are changed.
        stage: number of the stage, 0 to 3.
        duration: time from the start of the step to the stage [s].
    """
    acceleration = rk4.acceleration[stage]
    for i in range(forest.bodies.shape[0]):
        if _follows(forest, i):
            j, k = forest.bodies[i].q_index + 3, forest.bodies[i].v_index
            x, y, z, w = -q[j], -q[j + 1], -q[j + 2], q[j + 3]
            a, b, c = rotated(x, y, z, w, velocity[k], velocity[k + 1], velocity[k + 2])
            _write_rate(rk4.rate, stage, j, a, b, c, duration)
            a, b, c = rotated(x, y, z, w, dv[k], dv[k + 1], dv[k + 2])
            acceleration[k], acceleration[k + 1], acceleration[k + 2] = a, b, c
        elif forest.bodies[i].ball == 1:
            j, k = forest.bodies[i].q_index, forest.bodies[i].v_index
            a, b, c = velocity[k], velocity[k + 1], velocity[k + 2]
            _write_rate(rk4.rate, stage, j, a, b, c, duration)


@inlined_kernel
def _write_rate(
    rate: Matrix, stage: int, j: Index, a: float, b: float, c: float, duration: Seconds
) -> None:
    """Write the rate of a rotation vector for the angular velocity (a, b, c) in the body's axes."""
    x = y = z = 0.0
    if stage > 0:
        before = rate[stage - 1]
        x, y, z = duration * before[j], duration * before[j + 1], duration * before[j + 2]
    u, v, w = y * c - z * b, z * a - x * c, x * b - y * a
    rate[stage, j] = a + 0.5 * u + (y * w - z * v) / 12.0
    rate[stage, j + 1] = b + 0.5 * v + (z * u - x * w) / 12.0
    rate[stage, j + 2] = c + 0.5 * w + (x * v - y * u) / 12.0


@inner_kernel
def turn_by_body_rates(s: Scene, stage: int, duration: Seconds) -> None:
    """Rotate floating trees and ball joints, with the rates of the previous stage.

    The rotation begins at the start of the step.

    Args:
        s: the scene.
        stage: number of the stage, 1 to 3, or 4 for the end of the step.
        duration: time from the start of the step [s].
    """
    for i in range(s.forest.bodies.shape[0]):
        if _follows(s.forest, i):
            j, k = s.forest.bodies[i].q_index + 3, s.forest.bodies[i].v_index
            _turn(s, j, k, stage, duration)
        elif s.forest.bodies[i].ball == 1:
            j, rate = s.forest.bodies[i].q_index, s.rk4.rate
            for r in range(j, j + 3):
                s.q[r] = s.rk4.q_start[r]
            x, y, z = _part(rate, j, stage), _part(rate, j + 1, stage), _part(rate, j + 2, stage)
            carry_ball(s.q, j, x, y, z, duration)


@inlined_kernel
def _turn(s: Scene, j: Index, k: Index, stage: int, h: Seconds) -> None:
    q, velocity, start, rate = s.q, s.velocity, s.rk4.q_start, s.rk4.rate
    for r in range(j, j + 4):
        q[r] = start[r]
    change = s.rk4.acceleration
    u, v, w = _part(rate, j, stage), _part(rate, j + 1, stage), _part(rate, j + 2, stage)
    x, y, z = rotated(q[j], q[j + 1], q[j + 2], q[j + 3], u, v, w)
    rotate_quaternion(q, j, x, y, z, h)
    u = rate[0, j] + h * _part(change, k, stage)
    v = rate[0, j + 1] + h * _part(change, k + 1, stage)
    w = rate[0, j + 2] + h * _part(change, k + 2, stage)
    x, y, z = rotated(q[j], q[j + 1], q[j + 2], q[j + 3], u, v, w)
    velocity[k], velocity[k + 1], velocity[k + 2] = x, y, z


@inlined_kernel
def _part(values: Matrix, at: Index, stage: int) -> float:
    """Return a rate of the previous stage. At the end of the step, return the weighted mean."""
    if stage < 4:
        return values[stage - 1, at]
    return (values[0, at] + 2.0 * (values[1, at] + values[2, at]) + values[3, at]) / 6.0


@inlined_kernel
def _follows(forest: Forest, i: Index) -> bool:
    return forest.bodies[i].joint_type == FREE and not turns_freely(forest, i)
