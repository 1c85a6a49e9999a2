# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate pose and velocity of a walking robot's base from IMU, encoders and force sensors.

The IMU gives orientation and angular velocity. Standing feet give the position: each foot that
bears load is anchored at its touch-down position, and the legs' kinematics give the base relative
to the foot. The method is leg odometry (Flayols et al., Experimental evaluation of simple
estimators for humanoid robots, Humanoids 2017). A complementary filter gives the velocity: fast
changes come from the accelerometer, the mean comes from the legs.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import ModelError, require_names
from hrpsim.engine.collision.body_bounds import shape_aabb
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses, update_velocities
from hrpsim.engine.spatial.rotation import quaternion_from_rotation
from hrpsim.model.model import Model, Sensor
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.model.system import FIXED, FREE

_LOADED = 0.05  # least load of the anchored foot, as a fraction of the weight
_SAME_HEIGHT = 0.05  # largest height difference of the feet's force sensors [m]
_VELOCITY_TIME = 0.02  # time constant towards the velocity by the legs' kinematics [s]
_ANCHOR_TIME = 0.05  # time constant of the anchor of a foot with little load [s]


class BaseMotion(NamedTuple):
    """Pose and velocity of the base, in the layout of q[:7] and v[:6] of a free base."""

    position: np.ndarray  # position of the base in the world (3,) [m]
    orientation: np.ndarray  # of the base in the world, quaternion x y z w (4,)
    linear_velocity: np.ndarray  # in the base frame (3,) [m/s]
    angular_velocity: np.ndarray  # in the base frame (3,) [rad/s]


class BaseEstimator:
    """Estimator of the motion of a free base, updated once every `period` [s].

    The estimate begins with the base above x = y = 0, and the soles that bear load on z = 0. The
    yaw is the IMU's yaw. The estimator assumes that springs without encoders are at rest, and that
    soles do not slide or roll.

    Args:
        model: model of the robot.
        joint_names: the joints whose positions and velocities `update` gets.
        period: time between updates [s].
        feet: names of the force sensors above the soles. The default is the sensors within 5 cm of
            the lowest sensor with all joints at zero.

    Raises:
        ModelError: for a robot on a fixed base, without an IMU or without force sensors above
            soles.
    """

    def __init__(
        self, model: Model, joint_names: Sequence[str], period: float, feet: Sequence[str] = ()
    ) -> None:
        if model.base != "free":
            raise ModelError(
                f"{model.source}: the estimator needs a free base. Load the model with base='free'"
            )
        imus = [sensor for sensor in model.sensors if sensor.kind == "imu"]
        if not imus:
            raise ModelError(f"{model.source}: the estimator needs an IMU, but the robot has none")
        self.imu = imus[0]
        self.feet = _feet(model, feet)
        self._period = period
        self._forest = forest_of(model.system)
        self._kinematics = new_kinematics(model.body_count)
        self._R, self._p = self._kinematics["R"], self._kinematics["p"]
        self._v = self._kinematics["v"]
        base = next(joint for joint in model.joints if joint.joint_type == FREE)
        self._at, self._base_v = base.q_index + 3, base.v_index
        joints = [model.joint(name) for name in joint_names]
        self._q_index = np.array([joint.q_index for joint in joints])
        self._v_index = np.array([joint.v_index for joint in joints])
        self._q, self._velocity = model.neutral(), np.zeros(model.nv)
        self._q[base.q_index : base.q_index + 3] = 0.0
        self._R_imu_base = self._base_in_imu()
        self._soles = [_sole_centre(model, sensor) for sensor in self.feet]
        self._weight = model.mass * STANDARD_GRAVITY
        self.reset()

    def reset(self) -> None:
        """Restart the estimate with the next update."""
        self._position: np.ndarray | None = None
        self._imu_velocity = np.zeros(3)

    def update(
        self,
        joint_positions: np.ndarray,
        joint_velocities: np.ndarray,
        orientation: np.ndarray,
        angular_velocity: np.ndarray,
        linear_acceleration: np.ndarray,
        wrenches: Mapping[str, np.ndarray],
    ) -> BaseMotion:
        """Return the estimate from encoders, IMU readings and wrenches of the force sensors.

        Args:
            joint_positions: in the order of `joint_names` [rad or m].
            joint_velocities: [rad/s or m/s].
            orientation: orientation of the IMU in the world, quaternion x y z w (4,).
            angular_velocity: in the IMU's frame (3,) [rad/s].
            linear_acceleration: specific force in the IMU's frame (3,) [m/s^2].
            wrenches: {sensor: wrench (6,) [N, Nm]}.
        """
        R_imu = rotation_matrix(orientation.tolist())
        R = R_imu @ self._R_imu_base
        rate = R_imu @ angular_velocity
        soles, sole_velocities = self._move_legs(joint_positions, joint_velocities, R, rate)
        loads = np.array([max(float(wrenches[s.name][2]), 0.0) for s in self.feet])
        standing = loads > _LOADED * self._weight
        weights = np.where(standing, loads, 0.0) / max(float(loads[standing].sum()), 1e-12)
        if self._position is None:
            self._begin(soles, weights)
        arm = self._p[self.imu.body] + self._R[self.imu.body] @ self.imu.p
        turning = np.cross(rate, arm)
        gravity = (0.0, 0.0, STANDARD_GRAVITY)
        self._imu_velocity += self._period * (R_imu @ linear_acceleration - gravity)
        if standing.any():
            by_legs = turning - weights @ sole_velocities
            self._imu_velocity += self._trust * (by_legs - self._imu_velocity)
            self._position = weights @ (self._anchors - soles)
        else:
            self._position = self._position + self._period * (self._imu_velocity - turning)
        self._anchor(soles, weights)
        quaternion = np.empty(4)
        quaternion_from_rotation(np.ascontiguousarray(R), quaternion)
        return BaseMotion(
            self._position.copy(), quaternion, R.T @ (self._imu_velocity - turning), R.T @ rate
        )

    def _begin(self, soles: np.ndarray, weights: np.ndarray) -> None:
        """Start the estimate with the loaded soles, or the lowest sole if none, on the floor."""
        height = -float(weights @ soles[:, 2]) if weights.any() else -float(soles[:, 2].min())
        self._position = np.array([0.0, 0.0, height])
        self._anchors = self._position + soles
        self._trust = 1.0 - math.exp(-self._period / _VELOCITY_TIME)
        self._follow = 1.0 - math.exp(-self._period / _ANCHOR_TIME)

    def _anchor(self, soles: np.ndarray, weights: np.ndarray) -> None:
        """Move the anchors towards the feet, faster under lower load.

        The anchors of feet in the air move at once.
        """
        gain = np.where(weights > 0.0, self._follow * (1.0 - weights), 1.0)
        self._anchors += gain[:, None] * (self._position + soles - self._anchors)

    def _move_legs(self, positions, velocities, R: np.ndarray, rate: np.ndarray):
        """Return the soles' positions and velocities (k, 3) relative to the base's origin."""
        q, velocity, at, k = self._q, self._velocity, self._at, self._base_v
        q[self._q_index], velocity[self._v_index] = positions, velocities
        quaternion_from_rotation(np.ascontiguousarray(R), q[at : at + 4])
        velocity[k : k + 3] = rate
        update_poses(self._forest, q, self._kinematics)
        update_velocities(self._forest, velocity, self._kinematics)
        soles, moved = np.empty((2, len(self.feet), 3))
        for row, (sensor, centre) in enumerate(zip(self.feet, self._soles)):
            body = sensor.body
            soles[row] = self._p[body] + self._R[body] @ centre
            moved[row] = self._v[body, 3:] + np.cross(self._v[body, :3], soles[row])
        return soles, moved

    def _base_in_imu(self) -> np.ndarray:
        """Return R_imu_base (3, 3). Raises ModelError if joints lie between IMU and base."""
        bodies, body = self._forest.bodies, self.imu.body
        while body > 0 and bodies[body]["joint_type"] == FIXED:
            body = int(bodies[body]["parent"])
        if body != 0:
            raise ModelError(f"IMU {self.imu.name!r} must be fixed to the base link")
        update_poses(self._forest, self._q, self._kinematics)
        return (self._R[self.imu.body] @ self.imu.R).T @ self._R[0]


def _feet(model: Model, names: Sequence[str]) -> list[Sensor]:
    """Return the force sensors of the feet. Raises ModelError for none, or for unknown names."""
    forces = {s.name: s for s in model.sensors if s.kind == "force_torque" and not s.reversed}
    require_names("force sensor", names, forces, ModelError, where=model.source)
    if names:
        return [forces[name] for name in names]
    kinematics = new_kinematics(model.body_count)
    update_poses(forest_of(model.system), model.neutral(), kinematics)
    heights = {
        name: kinematics["p"][s.body, 2] + (kinematics["R"][s.body] @ s.p)[2]
        for name, s in forces.items()
        if s.body >= 0 and sole_box(model, s) is not None
    }
    if not heights:
        raise ModelError(
            f"{model.source}: the estimator needs force sensors above the soles. Force sensors: "
            f"{', '.join(forces) or 'none'}"
        )
    lowest = min(heights.values())
    return [forces[name] for name, z in heights.items() if z < lowest + _SAME_HEIGHT]


def _sole_centre(model: Model, sensor: Sensor) -> np.ndarray:
    """Return the middle of the lower face of a sole in the body's frame (3,) [m].

    If the foot has no shapes, return the sensor's origin.
    """
    box = sole_box(model, sensor)
    if box is None:
        return sensor.p
    lower, upper = box
    centre = np.array([*(0.5 * (lower + upper))[:2], lower[2]])
    return sensor.p + sensor.R @ centre


def sole_box(model: Model, sensor: Sensor) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the box around the shapes of a foot, or None if there are no shapes.

    The box is along the axes of the sensor frame, relative to the frame's origin, with all joints
    at zero. It contains the shapes of the bodies that the sensor carries.

    Returns:
        (lower corner (3,) [m], upper corner (3,) [m]).
    """
    below = {sensor.body}
    for body in range(sensor.body + 1, model.body_count):
        if int(model.system.parent[body]) in below:
            below.add(body)
    kinematics = new_kinematics(model.body_count)
    update_poses(forest_of(model.system), model.neutral(), kinematics)
    R, p = kinematics["R"], kinematics["p"]
    R_sensor = R[sensor.body] @ sensor.R
    p_sensor = p[sensor.body] + R[sensor.body] @ sensor.p
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    low, high = np.empty((2, 3))
    for shape in model.shapes:
        if shape.body in below:
            at = p[shape.body] + R[shape.body] @ shape.p
            R_shape = np.ascontiguousarray(R_sensor.T @ R[shape.body] @ shape.R)
            size = np.array(shape.geometry.size)
            p_shape = R_sensor.T @ (at - p_sensor)
            shape_aabb(shape.geometry.kind, size, R_shape, p_shape, low, high)
            lower, upper = np.minimum(lower, low), np.maximum(upper, high)
    return (lower, upper) if np.isfinite(lower).all() else None


def sole_depth(model: Model, sensor: Sensor) -> float:
    """Return the depth of the foot below a sensor's origin, along the sensor's z axis [m].

    All joints are at zero. Returns 0 if no body on the child side has a collision shape.
    """
    box = sole_box(model, sensor)
    return 0.0 if box is None else float(-box[0][2])
