# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate the centre of mass above the soles from encoders, IMU and force sensors.

A standing sole is level, even if the rubber above it deflects. The orientation of the waist and the
joint angles therefore give the position of the ankle, and the sole is below the ankle. The IMU's
yaw is not used, because the yaw drifts on a robot.
"""

import math
from typing import NamedTuple, NewType

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError
from hrpsim.control.balance.foot import Foot, FootRecord, foot_records
from hrpsim.control.framework.controller import controlled_joints
from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import Matrix, Record, Records, Vector
from hrpsim.engine.kinematics.forest import Forest, forest_of
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses, update_velocities
from hrpsim.engine.spatial.rotation import quaternion_from_rotation
from hrpsim.engine.spatial.vector import matrix_times, placed_point, point_velocity
from hrpsim.model.model import Model, Sensor
from hrpsim.model.system import FREE

_LOADED = 0.05  # least load of both feet together for support, as a fraction of the weight

MEASURED = np.dtype(
    [
        ("wrenches", "f8", (2, 6)),  # wrenches of the feet's sensors, force first [N, Nm]
        ("orientation", "f8", (4,)),  # orientation of the IMU, x y z w
        ("angular_velocity", "f8", (3,)),  # in the IMU's frame [rad/s]
    ]
)

# Axes: z is up, and the yaw of the loaded soles equals their planned yaw. The support is the mean
# of the soles' positions on the floor, weighted by their loads. Row or entry 0 is of the left foot,
# 1 of the right foot.
ESTIMATE = np.dtype(
    [
        ("waist_R", "f8", (3, 3)),
        ("waist_rate", "f8", (3,)),  # angular velocity of the waist [rad/s]
        ("com", "f8", (3,)),  # from the support to the centre of mass [m]
        ("com_velocity", "f8", (3,)),
        ("weights", "f8", (2,)),  # fractions of the load on the soles
        ("loads", "f8", (2,)),  # vertical forces of the floor [N]
        ("zmp", "f8", (2,)),  # from the support to the ZMP [m]
        ("pivot_torques", "f8", (2, 2)),  # of the floor about the pivots, x and y of the sole [Nm]
        ("pivots", "f8", (2, 3)),  # from the waist to the pivots [m]
        ("pressures", "f8", (2, 2)),  # centres of pressure in the soles' frames [m]
    ]
)
Estimate = NewType("Estimate", Record)

ESTIMATOR = np.dtype(
    [
        ("waist", "i8"),  # body of the waist
        ("orientation_at", "i8"),  # index of the waist's quaternion in q
        ("rate_at", "i8"),  # index of the waist's angular velocity
        ("imu_R", "f8", (3, 3)),  # rotation from the IMU's frame to the waist's frame
        ("waist_in_imu", "f8", (4,)),  # orientation of the waist in the IMU's frame, quaternion
        ("weight", "f8"),  # weight of the robot [N]
        ("turn", "f8"),  # angle from the IMU's yaw to the yaw of the estimate's axes [rad]
        ("is_aligned", "i8"),  # whether `turn` is known
    ]
)


class Estimation(NamedTuple):
    """The arrays of an estimation: model with j controlled joints, measurements, estimate."""

    forest: Forest
    kinematics: np.ndarray  # (n,) KINEMATICS, about the waist's origin
    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,) kernels' layout
    joint_q: np.ndarray  # (j,)
    joint_v: np.ndarray  # (j,)
    mass_shares: np.ndarray  # mass fractions of the bodies (n,)
    feet: np.ndarray  # (2,) FOOT
    estimator: np.ndarray  # (1,) ESTIMATOR
    joint_positions: np.ndarray  # measured (j,)
    joint_velocities: np.ndarray  # (j,)
    measured: np.ndarray  # (1,) MEASURED
    estimate: np.ndarray  # (1,) ESTIMATE


def new_estimation(model: Model, feet: tuple[Foot, Foot]) -> Estimation:
    """Return the arrays of an estimate. Raises ModelError for a fixed base or without an IMU."""
    if model.base != "free":
        raise ModelError(
            f"{model.source}: a robot on a fixed base cannot balance. Load it with base='free'"
        )
    waist = model.frame(model.base_link).body
    imu = waist_imu(model)
    base = next(joint for joint in model.joints if joint.joint_type == FREE)
    names = controlled_joints(model)
    controlled = [model.joint(name) for name in names]
    q = model.neutral()
    q[base.q_index : base.q_index + 3] = 0.0
    estimator = np.zeros(1, dtype=ESTIMATOR)
    estimator["waist"], estimator["imu_R"] = waist, imu.R
    estimator["orientation_at"], estimator["rate_at"] = base.q_index + 3, base.v_index
    estimator["weight"] = model.mass * STANDARD_GRAVITY
    quaternion_from_rotation(np.ascontiguousarray(imu.R.T), estimator["waist_in_imu"][0])
    estimation = Estimation(
        forest_of(model.system),
        new_kinematics(model.body_count),
        q,
        np.zeros(model.nv),
        np.array([joint.q_index for joint in controlled]),
        np.array([joint.v_index for joint in controlled]),
        model.system.mass / model.mass,
        foot_records(model, feet, names),
        estimator,
        np.zeros(len(names)),
        np.zeros(len(names)),
        np.zeros(1, dtype=MEASURED),
        np.zeros(1, dtype=ESTIMATE),
    )
    forget(estimation)
    return estimation


def another(estimation: Estimation) -> Estimation:
    """Return arrays for a second estimate of the same model, with separate output arrays."""
    written = ("kinematics", "q", "velocity", "estimator", "measured", "estimate")
    written += ("joint_positions", "joint_velocities")
    return estimation._replace(**{name: getattr(estimation, name).copy() for name in written})


def waist_imu(model: Model) -> Sensor:
    """Return the IMU on the base link. Raises ModelError if the base link has none."""
    waist = model.frame(model.base_link).body
    sensors = [s for s in model.sensors if s.kind == "imu" and s.body == waist]
    if not sensors:
        raise ModelError(f"{model.source}: the base link {model.base_link!r} has no IMU. Add one")
    return sensors[0]


def forget(estimation: Estimation) -> None:
    """Reset the yaw alignment and the weights of the feet."""
    estimation.estimator["turn"], estimation.estimator["is_aligned"] = 0.0, 0
    estimation.estimate["weights"] = 0.5


@inlined_kernel
def update_estimate(s: Estimation, sole_yaws: Vector) -> None:
    """Write the estimate from the measurements. sole_yaws: planned yaws of the soles (2,) [rad]."""
    own, estimate = s.estimator[0], s.estimate[0]
    _feel_feet(s.feet, s.measured[0].wrenches, own.weight, estimate)
    left, right = max(estimate.loads[0], 0.0), max(estimate.loads[1], 0.0)
    if left + right > _LOADED * own.weight:
        estimate.weights[0] = left / (left + right)
        estimate.weights[1] = 1.0 - estimate.weights[0]
    for k in range(s.joint_q.shape[0]):
        s.q[s.joint_q[k]] = s.joint_positions[k]
        s.velocity[s.joint_v[k]] = s.joint_velocities[k]
    if own.is_aligned == 0:
        _place_bodies(s)
        own.turn += _missing_turn(s, sole_yaws)
        own.is_aligned = 1
    _place_bodies(s)
    _move_bodies(s)
    _find_center_of_mass(s)
    _find_support(s)
    own.turn += _missing_turn(s, sole_yaws)


@inlined_kernel
def _feel_feet(feet: Records[FootRecord], wrenches: Matrix, weight: float, found: Estimate) -> None:
    """Write the loads on the feet, torques about the pivots, and centres of pressure.

    wrenches: readings of the force sensors (2, 6) [N, Nm].
    """
    for side in range(2):
        foot, wrench = feet[side], wrenches[side]
        R, p = foot.sensor_R, foot.sensor_p
        fx, fy, fz = matrix_times(R, wrench[0], wrench[1], wrench[2])
        tx, ty, _ = matrix_times(R, wrench[3], wrench[4], wrench[5])
        tx += p[1] * fz - p[2] * fy
        ty += p[2] * fx - p[0] * fz
        pressed = max(fz, 0.01 * weight)
        found.loads[side] = fz
        found.pivot_torques[side, 0] = tx + foot.pivot_height * fy
        found.pivot_torques[side, 1] = ty - foot.pivot_height * fx
        found.pressures[side, 0], found.pressures[side, 1] = -ty / pressed, tx / pressed


@inlined_kernel
def _place_bodies(s: Estimation) -> None:
    """Write the bodies' poses from the joints and the IMU, with a corrected yaw."""
    own, measured = s.estimator[0], s.measured[0].orientation
    bx, by, bz, bw = measured[0], measured[1], measured[2], measured[3]
    z, w = math.sin(0.5 * own.turn), math.cos(0.5 * own.turn)
    ax, ay, az, aw = w * bx - z * by, w * by + z * bx, w * bz + z * bw, w * bw - z * bz
    waist, at = own.waist_in_imu, own.orientation_at
    bx, by, bz, bw = waist[0], waist[1], waist[2], waist[3]
    s.q[at] = aw * bx + ax * bw + ay * bz - az * by
    s.q[at + 1] = aw * by - ax * bz + ay * bw + az * bx
    s.q[at + 2] = aw * bz + ax * by - ay * bx + az * bw
    s.q[at + 3] = aw * bw - ax * bx - ay * by - az * bz
    update_poses(s.forest, s.q, s.kinematics)


@inlined_kernel
def _move_bodies(s: Estimation) -> None:
    """Write the bodies' velocities, and the waist's orientation and angular velocity."""
    own, estimate, gyro = s.estimator[0], s.estimate[0], s.measured[0].angular_velocity
    R = s.kinematics[own.waist].R
    x, y, z = matrix_times(own.imu_R, gyro[0], gyro[1], gyro[2])
    for a in range(3):
        estimate.waist_rate[a] = R[a, 0] * x + R[a, 1] * y + R[a, 2] * z
        s.velocity[own.rate_at + a] = estimate.waist_rate[a]
        for b in range(3):
            estimate.waist_R[a, b] = R[a, b]
    update_velocities(s.forest, s.velocity, s.kinematics)


@inlined_kernel
def _find_center_of_mass(s: Estimation) -> None:
    """Write position and velocity of the centre of mass relative to the waist's origin."""
    com, velocity = s.estimate[0].com, s.estimate[0].com_velocity
    for a in range(3):
        com[a] = velocity[a] = 0.0
    for i in range(s.mass_shares.shape[0]):
        motion, c, fraction = s.kinematics[i], s.forest.bodies[i].com, s.mass_shares[i]
        x, y, z = placed_point(motion.R, motion.p, c)
        com[0] += fraction * x
        com[1] += fraction * y
        com[2] += fraction * z
        x, y, z = point_velocity(motion.v, x, y, z)
        velocity[0] += fraction * x
        velocity[1] += fraction * y
        velocity[2] += fraction * z


@inlined_kernel
def _find_support(s: Estimation) -> None:
    """Write the pivots and the ZMP, and make the centre of mass relative to the support.

    Before the call, the centre of mass is relative to the waist. The velocity of the support is the
    mean velocity of the ankle bodies at the pivots, weighted by the loads on the soles.
    """
    estimate = s.estimate[0]
    estimate.zmp[0] = estimate.zmp[1] = 0.0
    for side in range(2):
        foot, weight, pivot = s.feet[side], estimate.weights[side], estimate.pivots[side]
        ankle = s.kinematics[foot.ankle_body]
        pivot[0], pivot[1], pivot[2] = placed_point(ankle.R, ankle.p, foot.pivot)
        x, y, z = point_velocity(ankle.v, pivot[0], pivot[1], pivot[2])
        for a in range(3):
            estimate.com[a] -= weight * pivot[a]
        estimate.com[2] += weight * foot.pivot_height
        estimate.com_velocity[0] -= weight * x
        estimate.com_velocity[1] -= weight * y
        estimate.com_velocity[2] -= weight * z
        yaw = _yaw_of_sole(s, side)
        c, sine = weight * math.cos(yaw), weight * math.sin(yaw)
        x, y = estimate.pressures[side, 0], estimate.pressures[side, 1]
        estimate.zmp[0] += c * x - sine * y
        estimate.zmp[1] += sine * x + c * y


@inlined_kernel
def _missing_turn(s: Estimation, sole_yaws: Vector) -> float:
    """Return the mean yaw error of the soles [rad], weighted by the load on each sole."""
    turn = 0.0
    for side in range(2):
        off = sole_yaws[side] - _yaw_of_sole(s, side)
        off -= 2.0 * math.pi * math.floor(off / (2.0 * math.pi) + 0.5)
        turn += s.estimate[0].weights[side] * off
    return turn


@inlined_kernel
def _yaw_of_sole(s: Estimation, side: int) -> float:
    foot = s.feet[side]
    R, sole = s.kinematics[foot.ankle_body].R, foot.sole_R
    x, y, _ = matrix_times(R, sole[0, 0], sole[1, 0], sole[2, 0])
    return math.atan2(y, x)
