"""Where a walking robot's centre of mass is above its soles, by encoders, IMU and force sensors."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.control.balance.foot import Foot
from hrpsim.control.framework.controller import State, controlled_joints
from hrpsim.dynamics.functions import STANDARD_GRAVITY
from hrpsim.errors import ModelError
from hrpsim.kinematics.forest import forest_of
from hrpsim.kinematics.forward import new_kinematics, update_poses, update_velocities
from hrpsim.model.model import Model
from hrpsim.model.system import FREE
from hrpsim.spatial.rotation import quaternion_from_rotation

_LOADED = 0.05  # of the weight: what the feet must bear together to be stood on


class Estimate(NamedTuple):
    """Axes: z up, turned so that the soles that bear the load have the yaw they should have.

    The support is the mean of the soles' positions on the floor, weighted by the loads they bear.
    Row or entry 0 is the left foot's, 1 the right one's.
    """

    waist_R: np.ndarray  # (3, 3)
    waist_rate: np.ndarray  # angular velocity of the waist (3,) [rad/s]
    com: np.ndarray  # centre of mass from the support (3,) [m]
    com_velocity: np.ndarray  # (3,) [m/s]
    weights: tuple[float, float]  # parts of the load that the soles bear
    loads: tuple[float, float]  # vertical forces of the floor [N]
    zmp: tuple[float, float]  # from the support [m]
    pivot_torques: tuple  # of the floor about each foot's pivot, x and y of the sole [Nm]
    pivots: tuple  # each foot's pivot from the waist (3,) [m]
    leg_motions: tuple  # motion of each leg's joints for a unit rate (6, 6), angular part first


class StateEstimator:
    """Estimates from what an HRP robot measures; the soles that bear load are taken to lie flat.

    A sole that stands is level whatever the rubber above it does, so orientation of the waist and
    joint angles together tell where the ankle is, and the sole is beneath it. Of an IMU's yaw,
    which drifts on a robot, nothing is used.
    """

    def __init__(self, model: Model, feet: tuple[Foot, Foot]):
        if model.base != "free":
            raise ModelError(f"{model.source}: a robot on a fixed base has nothing to balance")
        system = model.system
        waist = model.frame(model.base_link)
        imus = [s for s in model.sensors if s.kind == "imu" and s.body == waist.body]
        if not imus:
            raise ModelError(f"{model.source}: no IMU on {model.base_link!r}")
        self.feet = feet
        self._waist = waist.body
        self._imu = imus[0].name
        self._R_waist_imu = imus[0].R
        turned = np.empty(4)
        quaternion_from_rotation(np.ascontiguousarray(imus[0].R.T), turned)
        self._imu_to_waist = tuple(turned.tolist())
        self._force_names = tuple(foot.sensor.name for foot in feet)
        self._wrench_moves = [_wrench_move(foot) for foot in feet]
        self._forest = forest_of(system)
        self._kinematics = new_kinematics(model.body_count)
        self._R, self._p = self._kinematics["R"], self._kinematics["p"]
        self._v, self._S = self._kinematics["v"], self._kinematics["S"]
        places = [model.joint(name) for name in controlled_joints(model)]
        self._q_index = np.array([joint.q_index for joint in places])
        self._v_index = np.array([joint.v_index for joint in places])
        base = next(joint for joint in model.joints if joint.joint_type == FREE)
        self._at = base.q_index + 3
        self._base_v = base.v_index
        self._q = model.neutral()
        self._q[base.q_index : base.q_index + 3] = 0.0
        self._velocity = np.zeros(model.nv)
        self._mass = system.mass / model.mass
        self._moment = (self._mass[:, None] * system.com)[:, :, None]
        bodies = {joint.name: joint.body for joint in model.joints}
        self._leg_bodies = [
            np.array([bodies[name] for name in foot.leg.joint_names]) for foot in feet
        ]
        self.weight = -model.mass * STANDARD_GRAVITY[2]
        self.reset()

    def reset(self) -> None:
        """Forget which way the robot faced and which foot it stood on."""
        self._turn = 0.0
        self._weights = (0.5, 0.5)
        self._aligned = False

    def update(self, state: State, sole_yaws) -> Estimate:
        """Return the estimate; sole_yaws: what the yaws of the soles should be (2,) [rad]."""
        loads, torques, cops = self._feel_feet(state)
        total = max(loads[0], 0.0) + max(loads[1], 0.0)
        if total > _LOADED * self.weight:
            left = max(loads[0], 0.0) / total
            self._weights = (left, 1.0 - left)
        if not self._aligned:
            self._place(state)
            for weight, foot, yaw in zip(self._weights, self.feet, sole_yaws):
                self._turn += weight * math.remainder(yaw - self._yaw(foot), math.tau)
            self._aligned = True
        R = self._place(state)
        rate = R @ (self._R_waist_imu @ state.imus[self._imu].angular_velocity)
        com, com_velocity = self._move(state, rate)
        pivots, soles, velocity = [], np.zeros(3), np.zeros(3)
        zmp_x = zmp_y = turn = 0.0
        for side, foot in enumerate(self.feet):
            body, weight = foot.ankle_body, self._weights[side]
            R_ankle, motion = self._R[body], self._v[body]
            pivot = self._p[body] + R_ankle @ foot.pivot
            pivots.append(pivot)
            soles += weight * pivot
            soles[2] -= weight * foot.pivot_height
            velocity += weight * (motion[3:] + _cross(motion[:3], pivot))
            yaw = self._yaw(foot)
            c, s = weight * math.cos(yaw), weight * math.sin(yaw)
            zmp_x += c * cops[side][0] - s * cops[side][1]
            zmp_y += s * cops[side][0] + c * cops[side][1]
            turn += weight * math.remainder(sole_yaws[side] - yaw, math.tau)
        self._turn += turn
        return Estimate(
            waist_R=R,
            waist_rate=rate,
            com=com - soles,
            com_velocity=com_velocity - velocity,
            weights=self._weights,
            loads=loads,
            zmp=(zmp_x, zmp_y),
            pivot_torques=torques,
            pivots=tuple(pivots),
            leg_motions=tuple(self._S[bodies] for bodies in self._leg_bodies),
        )

    def _place(self, state: State) -> np.ndarray:
        """Bring the bodies' poses up to date; return how the waist is turned (3, 3)."""
        q, at = self._q, self._at
        q[self._q_index] = state.joint_positions
        facing = (0.0, 0.0, math.sin(0.5 * self._turn), math.cos(0.5 * self._turn))
        turned = _product(facing, state.imus[self._imu].orientation.tolist())
        q[at : at + 4] = _product(turned, self._imu_to_waist)
        update_poses(self._forest, q, self._kinematics)
        return self._R[self._waist].copy()

    def _move(self, state: State, rate) -> tuple[np.ndarray, np.ndarray]:
        """Return position and velocity of the centre of mass relative to the waist's origin."""
        velocity = self._velocity
        velocity[self._v_index] = state.joint_velocities
        velocity[self._base_v : self._base_v + 3] = rate
        update_velocities(self._forest, velocity, self._kinematics)
        moments = (self._R @ self._moment)[:, :, 0] + self._mass[:, None] * self._p
        v = self._v
        wx, wy, wz = v[:, 0], v[:, 1], v[:, 2]
        x, y, z = moments[:, 0], moments[:, 1], moments[:, 2]
        turning = (wy @ z - wz @ y, wz @ x - wx @ z, wx @ y - wy @ x)
        return moments.sum(axis=0), self._mass @ v[:, 3:] + turning

    def _yaw(self, foot: Foot) -> float:
        x, y, _ = (self._R[foot.ankle_body] @ foot.sole_R[:, 0]).tolist()
        return math.atan2(y, x)

    def _feel_feet(self, state: State):
        """Return loads [N], torques about the pivots [Nm] and centres of pressure [m]."""
        loads, torques, cops = [], [], []
        for name, foot, move in zip(self._force_names, self.feet, self._wrench_moves):
            fx, fy, fz, tx, ty, _ = (
                state.wrenches[name] if move is None else (move @ state.wrenches[name])
            )
            loads.append(fz)
            torques.append((tx + foot.pivot_height * fy, ty - foot.pivot_height * fx))
            pressed = max(fz, 0.01 * self.weight)
            cops.append((-ty / pressed, tx / pressed))
        return tuple(loads), tuple(torques), cops


def _wrench_move(foot: Foot) -> np.ndarray | None:
    """Return the matrix (6, 6) that takes a sensor's wrench to the sole's frame; None: identity."""
    R, (x, y, z) = foot.sensor_R, foot.sensor_p
    move = np.zeros((6, 6))
    move[:3, :3] = move[3:, 3:] = R
    move[3:, :3] = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]]) @ R
    return None if np.allclose(move, np.eye(6), atol=1e-12) else move


def _product(a, b) -> tuple[float, float, float, float]:
    """Return the product of two quaternions x y z w."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def _cross(a, b) -> np.ndarray:
    ax, ay, az = a
    bx, by, bz = b
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])
