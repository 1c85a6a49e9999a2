# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels that copy between the arrays of mujoco.MjData and the arrays of one robot in a scene."""

from __future__ import annotations

from typing import NamedTuple, NewType

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import Control, Index, Record
from hrpsim.engine.dynamics.first_order_forces import DAMPERS_AND_GAINS
from hrpsim.engine.dynamics.joint_forces import EFFORTS, OWN_GAINS, POSITIONS, VELOCITIES
from hrpsim.engine.kinematics.ball_joint import ball_quaternion
from hrpsim.engine.spatial.rotation import rotated

INVALID, CHANGED, PUSHED = 1, 2, 3  # results of `read_controls`

COORDINATE = np.dtype([("qpos", "i8"), ("q", "i8"), ("qvel", "i8"), ("v", "i8")])
Coordinate = NewType("Coordinate", Record)
# a free body: hrpsim/model/readers/mjcf/sensors.py
BASE = np.dtype(
    [
        *COORDINATE.descr,  # the first coordinate of each
        ("axes", "f8", (3, 3)),
        ("anchor", "f8", (3,)),  # [m]
        ("origin", "f8", (3,)),  # [m]
        ("turn", "f8", (4,)),  # w x y z
    ]
)
Base = NewType("Base", Record)
# an affine actuator: the joint's command is `scale` ctrl + `offset`
ACTUATOR = np.dtype(
    [
        ("number", "i8"),
        ("joint", "i8"),  # index of the robot's joint
        ("field", "i8"),  # 0 position, 1 velocity, 2 effort
        ("scale", "f8"),
        ("offset", "f8"),
        ("low", "f8"),
        ("high", "f8"),
    ]
)
# an entry of sensordata or actuator_force: effort of a joint's actuators over a gear ratio
DELIVERED = np.dtype([("index", "i8"), ("qvel", "i8"), ("gear", "f8")])
# three entries of sensordata: `sign` times three values of a sensor's reading, starting at `part`
READING = np.dtype([("index", "i8"), ("sensor", "i8"), ("part", "i8"), ("sign", "f8")])


class Exchange(NamedTuple):
    """Arrays of MuJoCo's data, arrays of a robot with n joints, and the index maps between them."""

    settings: np.ndarray  # (1,) SETTINGS
    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,) kernels' layout
    control: np.ndarray  # (nv,) CONTROL
    joint_v: np.ndarray  # (n,) indices of the joints in control
    kp: np.ndarray  # (n,)
    kd: np.ndarray  # (n,)
    sensors: np.ndarray  # SENSOR, of the robot
    qpos: np.ndarray
    qvel: np.ndarray
    qacc: np.ndarray
    ctrl: np.ndarray
    applied: np.ndarray  # (nv,) qfrc_applied and other forces
    xfrc_applied: np.ndarray
    qfrc_actuator: np.ndarray
    actuator_force: np.ndarray
    sensordata: np.ndarray
    known_qpos: np.ndarray  # qpos of the world's state
    known_qvel: np.ndarray
    before_qpos: np.ndarray  # qpos of the state before the last step
    before_qvel: np.ndarray
    joint_qvel: np.ndarray  # (n,) indices of the joints in qvel, -1 without a joint in MuJoCo
    bounded: np.ndarray  # (n,) 1 for a joint with an effort limit
    coordinates: np.ndarray  # COORDINATE
    balls: np.ndarray  # COORDINATE, the first coordinates of each ball joint
    bases: np.ndarray  # BASE
    actuators: np.ndarray  # ACTUATOR
    bodies: np.ndarray  # numbers of the robot's bodies
    readings: np.ndarray  # READING
    actuator_forces: np.ndarray  # DELIVERED, entries of actuator_force
    force_sensors: np.ndarray  # DELIVERED, entries of sensordata
    gain_inertia: np.ndarray  # (nv,) of gains at joints in the last step [kg m^2 or kg]
    commands: np.ndarray  # (3, n) positions, velocities, efforts, work


@kernel
def read_controls(s: Exchange) -> int:
    """Command the joints by ctrl and applied forces.

    An effort limit bounds only the actuators. Applied forces on a limited joint are therefore left
    to the caller.

    Returns:
        0: the commands are complete.
        CHANGED: qpos or qvel differ from the world's state. Nothing was commanded.
        INVALID: a value is not finite.
        PUSHED: the caller must apply forces on bodies, bases or joints with an effort limit.
    """
    if _differs(s):
        return CHANGED
    s.commands[:] = np.nan
    if not _add_inputs(s):
        return INVALID
    result = _add_forces(s)
    if result == INVALID:
        return result
    for k in range(s.joint_qvel.shape[0]):
        _command(s, k, s.commands[0, k], s.commands[1, k], s.commands[2, k])
    return PUSHED if _has_wrench(s) else result


@inlined_kernel
def _add_inputs(s: Exchange) -> bool:
    """Add the inputs of all actuators to the commands. Return False for a non-finite input."""
    commands = s.commands
    for k in range(s.actuators.shape[0]):
        a = s.actuators[k]
        target = a.scale * min(max(s.ctrl[a.number], a.low), a.high) + a.offset
        if not np.isfinite(target):
            return False
        before = commands[a.field, a.joint]
        commands[a.field, a.joint] = target if np.isnan(before) else before + target
    return True


@inlined_kernel
def _add_forces(s: Exchange) -> int:
    """Add applied forces to the efforts of joints without an effort limit.

    Returns:
        0, or PUSHED if a joint with an effort limit has a force, or INVALID for a non-finite force.
    """
    result = 0
    for k in range(s.joint_qvel.shape[0]):
        effort = 0.0 if np.isnan(s.commands[2, k]) else s.commands[2, k]
        force = s.applied[s.joint_qvel[k]] if s.joint_qvel[k] >= 0 else 0.0
        if not np.isfinite(force):
            return INVALID
        if s.bounded[k] == 0:
            effort += force
        elif force != 0.0:
            result = PUSHED
        s.commands[2, k] = effort
    return result


@inlined_kernel
def _has_wrench(s: Exchange) -> bool:
    """Return whether any body has an applied wrench, or any base an applied force."""
    for k in range(s.bodies.shape[0]):
        for r in range(6):
            if s.xfrc_applied[s.bodies[k], r] != 0.0:
                return True
    for k in range(s.bases.shape[0]):
        for r in range(6):
            if s.applied[s.bases[k].qvel + r] != 0.0:
                return True
    return False


@inlined_kernel
def _command(s: Exchange, k: Index, position: float, rate: float, effort: float) -> None:
    """Set the command of a joint, as `Robot.command` does. NaN means no position or no rate."""
    law = s.control[s.joint_v[k]]
    has_position, damped = not np.isnan(position), not np.isnan(rate)
    law.target_position = position if has_position else 0.0
    law.target_velocity = rate if damped else 0.0
    law.kp = s.kp[k] if has_position else 0.0
    law.kd = s.kd[k] if has_position or damped else 0.0
    law.effort = effort
    law.given = OWN_GAINS | EFFORTS | (has_position * POSITIONS) | (damped * VELOCITIES)
    law.ramp, law.ramp_steps, law.ahead = 0.0, 0, 0.0


@inlined_kernel
def _differs(s: Exchange) -> bool:
    """Return whether the script has changed qpos or qvel of the robot."""
    for k in range(s.coordinates.shape[0]):
        i, j = s.coordinates[k].qpos, s.coordinates[k].qvel
        if s.qpos[i] != s.known_qpos[i] or s.qvel[j] != s.known_qvel[j]:
            return True
    for k in range(s.balls.shape[0]):
        if _any_differs(s, s.balls[k].qpos, 4, s.balls[k].qvel, 3):
            return True
    for k in range(s.bases.shape[0]):
        if _any_differs(s, s.bases[k].qpos, 7, s.bases[k].qvel, 6):
            return True
    return False


@inlined_kernel
def _any_differs(s: Exchange, i: Index, positions: int, j: Index, velocities: int) -> bool:
    """Return whether the script has changed `qpos` from i on, or `qvel` from j on.

    positions, velocities: numbers of values to compare.
    """
    for r in range(positions):
        if s.qpos[i + r] != s.known_qpos[i + r]:
            return True
    for r in range(velocities):
        if s.qvel[j + r] != s.known_qvel[j + r]:
            return True
    return False


@kernel
def write_results(s: Exchange) -> int:
    """Write qpos, qvel and qacc, efforts without applied forces, and force sensors."""
    for k in range(s.coordinates.shape[0]):
        c = s.coordinates[k]
        _write_position(s, c.qpos, s.q[c.q])
        _write_rate(s, c.qvel, s.velocity[c.v])
    for k in range(s.balls.shape[0]):
        _write_ball(s, s.balls[k])
    for k in range(s.bases.shape[0]):
        _write_base(s, s.bases[k])
    for k in range(s.joint_qvel.shape[0]):
        at = s.joint_qvel[k]
        if at >= 0:
            external = s.applied[at] if s.bounded[k] == 0 else 0.0
            law = s.control[s.joint_v[k]]
            s.gain_inertia[at] = _gain_inertia(s, law)
            s.qfrc_actuator[at] = law.applied - external + s.gain_inertia[at] * s.qacc[at]
    for k in range(s.actuator_forces.shape[0]):
        record = s.actuator_forces[k]
        s.actuator_force[record.index] = s.qfrc_actuator[record.qvel] / record.gear
    for k in range(s.force_sensors.shape[0]):
        record = s.force_sensors[k]
        s.sensordata[record.index] = s.qfrc_actuator[record.qvel] / record.gear
    for k in range(s.readings.shape[0]):
        reading = s.readings[k]
        for r in range(3):
            value = s.sensors[reading.sensor].reading[reading.part + r]
            s.sensordata[reading.index + r] = reading.sign * value
    return 0


@inlined_kernel
def _gain_inertia(s: Exchange, law: Control) -> float:
    """Return the inertia that a velocity gain adds when it acts at the end of the step.

    MuJoCo's actuator forces belong to the start of the step.
    """
    settings = s.settings[0]
    is_late = settings.damping == DAMPERS_AND_GAINS and law.saturated == 0
    return settings.time_step * law.kd if is_late else 0.0


@inlined_kernel
def _write_position(s: Exchange, at: Index, position: float) -> None:
    s.qpos[at] = position
    s.before_qpos[at] = s.known_qpos[at]
    s.known_qpos[at] = position


@inlined_kernel
def _write_rate(s: Exchange, at: Index, rate: float) -> None:
    """Write a velocity, and the mean acceleration over the step."""
    s.qacc[at] = (rate - s.qvel[at]) / s.settings[0].time_step
    s.qvel[at] = rate
    s.before_qvel[at] = s.known_qvel[at]
    s.known_qvel[at] = rate


@inlined_kernel
def _write_ball(s: Exchange, ball: Coordinate) -> None:
    """Write the quaternion of a ball joint, with the sign nearer to the last, and the rates."""
    k = ball.q
    x, y, z, w = ball_quaternion(s.q[k], s.q[k + 1], s.q[k + 2], 1.0)
    at = ball.qpos
    along = w * s.qpos[at] + x * s.qpos[at + 1] + y * s.qpos[at + 2] + z * s.qpos[at + 3]
    sign = -1.0 if along < 0.0 else 1.0
    _write_position(s, at, sign * w)
    _write_position(s, at + 1, sign * x)
    _write_position(s, at + 2, sign * y)
    _write_position(s, at + 3, sign * z)
    for r in range(3):
        _write_rate(s, ball.qvel + r, s.velocity[ball.v + r])


@inlined_kernel
def _write_base(s: Exchange, base: Base) -> None:
    """Write a free body's pose and velocity in MuJoCo's coordinates.

    The body's anchor has the velocity u + omega x (R anchor), where u is the velocity of the
    origin. The result is expressed in the anchor's axes. MuJoCo's angular velocity is expressed in
    the body frame.
    """
    q, v, axes, anchor = base.q, base.v, base.axes, base.anchor
    x, y, z, w = s.q[q + 3], s.q[q + 4], s.q[q + 5], s.q[q + 6]
    wx, wy, wz = s.velocity[v], s.velocity[v + 1], s.velocity[v + 2]
    ax, ay, az = rotated(x, y, z, w, anchor[0], anchor[1], anchor[2])
    px = s.q[q] + ax - base.origin[0]
    py = s.q[q + 1] + ay - base.origin[1]
    pz = s.q[q + 2] + az - base.origin[2]
    ux = s.velocity[v + 3] + wy * az - wz * ay
    uy = s.velocity[v + 4] + wz * ax - wx * az
    uz = s.velocity[v + 5] + wx * ay - wy * ax
    for r in range(3):
        _write_position(s, base.qpos + r, axes[0, r] * px + axes[1, r] * py + axes[2, r] * pz)
        _write_rate(s, base.qvel + r, axes[0, r] * ux + axes[1, r] * uy + axes[2, r] * uz)
    wx, wy, wz = rotated(-x, -y, -z, w, wx, wy, wz)
    _write_rate(s, base.qvel + 3, wx)
    _write_rate(s, base.qvel + 4, wy)
    _write_rate(s, base.qvel + 5, wz)
    aw, ax, ay, az = base.turn[0], -base.turn[1], -base.turn[2], -base.turn[3]
    _write_position(s, base.qpos + 3, aw * w - ax * x - ay * y - az * z)
    _write_position(s, base.qpos + 4, aw * x + ax * w + ay * z - az * y)
    _write_position(s, base.qpos + 5, aw * y + ay * w + az * x - ax * z)
    _write_position(s, base.qpos + 6, aw * z + az * w + ax * y - ay * x)
