# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Observation terms: functions of the state that return (count, k).

Joint terms have the robot's joint order, or with `preserve_order` the order of the names.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hrpsim.learning.terms.selection import EVERY
from hrpsim.learning.terms.task_state import TaskState

Names = str | Sequence[str]


def base_pos_z(state: TaskState) -> np.ndarray:
    """Return the height of the base in the world (count, 1) [m]."""
    return state.root_pos_w[:, 2:3]


def base_pos_z_rel(state: TaskState) -> np.ndarray:
    """Return the height of the base relative to its initial height (count, 1) [m]."""
    return state.root_pos_w[:, 2:3] - state.default_base_height


def base_lin_vel(state: TaskState) -> np.ndarray:
    """Return the velocity of the base in its own frame (count, 3) [m/s]."""
    return state.root_lin_vel_b


def base_ang_vel(state: TaskState) -> np.ndarray:
    """Return the angular velocity of the base in its own frame (count, 3) [rad/s]."""
    return state.root_ang_vel_b


def projected_gravity(state: TaskState) -> np.ndarray:
    """Return the direction of gravity in the base's frame (count, 3)."""
    return state.projected_gravity_b


def root_pos_w(state: TaskState) -> np.ndarray:
    """Return the position of the base in the world (count, 3) [m]."""
    return state.root_pos_w


def root_quat_w(state: TaskState, make_quat_unique: bool = False) -> np.ndarray:
    """Return the orientation of the base, quaternion w x y z (count, 4).

    make_quat_unique: choose the sign with w >= 0.
    """
    quaternions = state.root_quat_w[:, [3, 0, 1, 2]]
    if not make_quat_unique:
        return quaternions
    return np.where(quaternions[:, :1] < 0.0, -quaternions, quaternions)


def root_lin_vel_w(state: TaskState) -> np.ndarray:
    """Return the velocity of the base along the world's axes (count, 3) [m/s]."""
    return state.root_lin_vel_w


def root_ang_vel_w(state: TaskState) -> np.ndarray:
    """Return the angular velocity of the base along the world's axes (count, 3) [rad/s]."""
    return state.root_ang_vel_w


def joint_pos(
    state: TaskState, joint_names: Names = EVERY, preserve_order: bool = False
) -> np.ndarray:
    """Return joint positions (count, k) [rad or m]."""
    return state.joint_pos[:, state.joints(joint_names, preserve_order)]


def joint_pos_rel(
    state: TaskState, joint_names: Names = EVERY, preserve_order: bool = False
) -> np.ndarray:
    """Return joint positions minus the default posture (count, k) [rad or m]."""
    at = state.joints(joint_names, preserve_order)
    return state.joint_pos[:, at] - state.default_joint_pos[at]


def joint_pos_limit_normalized(
    state: TaskState, joint_names: Names = EVERY, preserve_order: bool = False
) -> np.ndarray:
    """Return joint positions scaled to -1 at the lower and 1 at the upper limit (count, k)."""
    at = state.joints(joint_names, preserve_order)
    lower, upper = state.joint_pos_limits[at].T
    return (2.0 * state.joint_pos[:, at] - lower - upper) / (upper - lower)


def joint_vel(
    state: TaskState, joint_names: Names = EVERY, preserve_order: bool = False
) -> np.ndarray:
    """Return joint velocities (count, k) [rad/s or m/s]."""
    return state.joint_vel[:, state.joints(joint_names, preserve_order)]


def joint_effort(
    state: TaskState, joint_names: Names = EVERY, preserve_order: bool = False
) -> np.ndarray:
    """Return efforts of the actuators in the last step (count, k) [Nm or N]."""
    return state.joint_effort[:, state.joints(joint_names, preserve_order)]


def height_scan(state: TaskState, sensor: str, offset: float | None = 0.5) -> np.ndarray:
    """Return the depths of the ground below the frame of a height scan (count, points) [m].

    Args:
        state: state of the worlds.
        sensor: name of the scan.
        offset: value subtracted from the depths [m]. None subtracts the initial height of the base.
    """
    ranges = state.batch.scan(state.robot_name, sensor).reshape(state.count, -1)
    return ranges - (state.default_base_height if offset is None else offset)


def imu_ang_vel(state: TaskState, sensor: str) -> np.ndarray:
    """Return the angular velocity measured by an IMU, including noise (count, 3) [rad/s]."""
    return state.batch.sensor(state.robot_name, sensor)[:, :3]


def imu_lin_acc(state: TaskState, sensor: str) -> np.ndarray:
    """Return the specific force measured by an IMU, including noise (count, 3) [m/s^2]."""
    return state.batch.sensor(state.robot_name, sensor)[:, 3:]


def foot_contact(state: TaskState, link_names: Names, threshold: float = 1.0) -> np.ndarray:
    """Return 1 for each link with a contact force above `threshold` [N], else 0 (count, k)."""
    forces = state.contact_forces[:, state.links(link_names)]
    return (np.linalg.norm(forces, axis=2) > threshold).astype(np.float64)


def gait_phase(state: TaskState, period: float) -> np.ndarray:
    """Return sine and cosine (count, 2) of the gait phase. The phase is 0 at the episode's start.

    period: time of a gait cycle [s].
    """
    angle = 2.0 * np.pi * state.gait_phase(period)
    return np.column_stack([np.sin(angle), np.cos(angle)])


def last_action(state: TaskState) -> np.ndarray:
    """Return the last action (count, k)."""
    return state.action


def generated_commands(state: TaskState, command_name: str) -> np.ndarray:
    """Return the command (count, k) called `command_name`."""
    return state.command(command_name)


OBSERVATIONS: dict[str, Callable[..., np.ndarray]] = {
    "base_pos_z": base_pos_z,
    "base_pos_z_rel": base_pos_z_rel,
    "base_lin_vel": base_lin_vel,
    "base_ang_vel": base_ang_vel,
    "projected_gravity": projected_gravity,
    "root_pos_w": root_pos_w,
    "root_quat_w": root_quat_w,
    "root_lin_vel_w": root_lin_vel_w,
    "root_ang_vel_w": root_ang_vel_w,
    "joint_pos": joint_pos,
    "joint_pos_rel": joint_pos_rel,
    "joint_pos_limit_normalized": joint_pos_limit_normalized,
    "joint_vel": joint_vel,
    "joint_vel_rel": joint_vel,  # the default velocity is zero
    "joint_effort": joint_effort,
    "height_scan": height_scan,
    "imu_ang_vel": imu_ang_vel,
    "imu_lin_acc": imu_lin_acc,
    "foot_contact": foot_contact,
    "gait_phase": gait_phase,
    "last_action": last_action,
    "generated_commands": generated_commands,
}
