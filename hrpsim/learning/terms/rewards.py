# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Reward terms of the base, the joints and the actions: functions that return (count,)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hrpsim.common.typed_values import Positive
from hrpsim.learning.terms import contact_rewards
from hrpsim.learning.terms.observations import Names
from hrpsim.learning.terms.rotations import turned_about_z
from hrpsim.learning.terms.selection import EVERY, values_by_name
from hrpsim.learning.terms.task_state import TaskState


def _squares(values: np.ndarray) -> np.ndarray:
    return (values * values).sum(axis=1)


def is_alive(state: TaskState) -> np.ndarray:
    """Return 1 unless the episode was terminated."""
    return 1.0 - state.terminated


def is_terminated(state: TaskState) -> np.ndarray:
    """Return 1 if the episode was terminated."""
    return state.terminated.astype(np.float64)


def track_lin_vel_xy_exp(state: TaskState, std: Positive, command_name: str) -> np.ndarray:
    """Return exp(-e^2 / std^2). e is the error of the horizontal velocity in the base's frame."""
    error = state.command(command_name)[:, :2] - state.root_lin_vel_b[:, :2]
    return np.exp(-_squares(error) / std**2)


def track_ang_vel_z_exp(state: TaskState, std: Positive, command_name: str) -> np.ndarray:
    """Return exp(-e^2 / std^2). e is the error of the yaw rate in the base's frame."""
    error = state.command(command_name)[:, 2] - state.root_ang_vel_b[:, 2]
    return np.exp(-(error**2) / std**2)


def track_lin_vel_exp(state: TaskState, std: Positive, command_name: str) -> np.ndarray:
    """Return exp(-e^2 / std^2), with e including the vertical velocity (mjlab).

    The horizontal error is as in `track_lin_vel_xy_exp`.
    """
    error = state.root_lin_vel_b.copy()
    error[:, :2] -= state.command(command_name)[:, :2]
    return np.exp(-_squares(error) / std**2)


def track_ang_vel_exp(state: TaskState, std: Positive, command_name: str) -> np.ndarray:
    """Return exp(-e^2 / std^2), with e including roll and pitch rates (mjlab).

    The yaw error is as in `track_ang_vel_z_exp`.
    """
    error = state.root_ang_vel_b.copy()
    error[:, 2] -= state.command(command_name)[:, 2]
    return np.exp(-_squares(error) / std**2)


def track_lin_vel_xy_yaw_frame_exp(
    state: TaskState, std: Positive, command_name: str
) -> np.ndarray:
    """Return exp(-e^2 / std^2). e is the error of the horizontal velocity along the heading."""
    velocity = turned_about_z(state.root_lin_vel_w, -state.heading_w)
    error = state.command(command_name)[:, :2] - velocity[:, :2]
    return np.exp(-_squares(error) / std**2)


def track_ang_vel_z_world_exp(state: TaskState, std: Positive, command_name: str) -> np.ndarray:
    """Return exp(-e^2 / std^2). e is the error of the yaw rate about the vertical."""
    error = state.command(command_name)[:, 2] - state.root_ang_vel_w[:, 2]
    return np.exp(-(error**2) / std**2)


def lin_vel_z_l2(state: TaskState) -> np.ndarray:
    """Return the square of the vertical velocity in the base's frame [m^2/s^2]."""
    return state.root_lin_vel_b[:, 2] ** 2


def lin_vel_xy_world_l2(state: TaskState) -> np.ndarray:
    """Return the square of the horizontal velocity in the world [m^2/s^2]."""
    return _squares(state.root_lin_vel_w[:, :2])


def ang_vel_xy_l2(state: TaskState) -> np.ndarray:
    """Return the square of the roll and pitch rates in the base's frame [rad^2/s^2]."""
    return _squares(state.root_ang_vel_b[:, :2])


def ang_vel_l2(state: TaskState) -> np.ndarray:
    """Return the square of the angular velocity of the base [rad^2/s^2]."""
    return _squares(state.root_ang_vel_b)


def flat_orientation_l2(state: TaskState) -> np.ndarray:
    """Return the square of the sine of the base's tilt."""
    return _squares(state.projected_gravity_b[:, :2])


def upright(state: TaskState) -> np.ndarray:
    """Return the cosine of the base's tilt."""
    return -state.projected_gravity_b[:, 2]


def base_height_l2(state: TaskState, target_height: float) -> np.ndarray:
    """Return the square of the error of the base's height in the world [m^2]."""
    return (state.root_pos_w[:, 2] - target_height) ** 2


def joint_torques_l2(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return the sum of squares of the efforts in the last step [N^2 m^2]."""
    return _squares(state.joint_effort[:, state.joints(joint_names)])


def joint_vel_l1(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return the sum of the speeds of joints [rad/s]."""
    return np.abs(state.joint_vel[:, state.joints(joint_names)]).sum(axis=1)


def joint_vel_l2(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return the sum of squares of joint velocities [rad^2/s^2]."""
    return _squares(state.joint_vel[:, state.joints(joint_names)])


def joint_acc_l2(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return the sum of squares of mean joint accelerations over the period [rad^2/s^4]."""
    return _squares(state.joint_acc[:, state.joints(joint_names)])


def joint_deviation_l1(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return the sum of absolute deviations from the default posture [rad]."""
    at = state.joints(joint_names)
    return np.abs(state.joint_pos[:, at] - state.default_joint_pos[at]).sum(axis=1)


def stand_still_joint_deviation_l1(
    state: TaskState, command_name: str, command_threshold: float = 0.06
) -> np.ndarray:
    """Return `joint_deviation_l1` while the norm of the command is below the threshold."""
    still = np.linalg.norm(state.command(command_name)[:, :2], axis=1) < command_threshold
    return still * joint_deviation_l1(state)


def joint_pos_limits(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return the sum of distances beyond the position limits [rad or m]."""
    at = state.joints(joint_names)
    lower, upper = state.joint_pos_limits[at].T
    q = state.joint_pos[:, at]
    return (np.maximum(lower - q, 0.0) + np.maximum(q - upper, 0.0)).sum(axis=1)


def joint_vel_limits(state: TaskState, soft_ratio: float, joint_names: Names = EVERY) -> np.ndarray:
    """Return the summed speeds beyond `soft_ratio` times the limits, each at most 1 rad/s."""
    at = state.joints(joint_names)
    beyond = np.abs(state.joint_vel[:, at]) - soft_ratio * state.joint_vel_limits[at]
    return np.clip(beyond, 0.0, 1.0).sum(axis=1)


def posture(
    state: TaskState, std: Positive | Mapping[str, Positive], joint_names: Names = EVERY
) -> np.ndarray:
    """Return exp(-mean((q - default)^2 / std^2)) over the joints (count,), as in mjlab.

    std: one number, or numbers by regular expressions of joint names [rad or m].
    """
    at = state.joints(joint_names)
    names = [state.joint_names[k] for k in at]
    spread = values_by_name("std", std, names, state.robot_name, np.inf)
    error = (state.joint_pos[:, at] - state.default_joint_pos[at]) / spread
    return np.exp(-(error**2).mean(axis=1))


def electrical_power_cost(state: TaskState) -> np.ndarray:
    """Return the sum of the positive mechanical powers of the actuators [W]."""
    return np.maximum(state.joint_effort * state.joint_vel, 0.0).sum(axis=1)


def action_rate_l2(state: TaskState) -> np.ndarray:
    """Return the squared norm of the change of the action."""
    return _squares(state.action - state.prev_action)


def action_l2(state: TaskState) -> np.ndarray:
    """Return the squared norm of the action."""
    return _squares(state.action)


REWARDS: dict[str, Callable[..., object]] = {
    "is_alive": is_alive,
    "is_terminated": is_terminated,
    "track_lin_vel_xy_exp": track_lin_vel_xy_exp,
    "track_ang_vel_z_exp": track_ang_vel_z_exp,
    "track_lin_vel_exp": track_lin_vel_exp,
    "track_ang_vel_exp": track_ang_vel_exp,
    "track_lin_vel_xy_yaw_frame_exp": track_lin_vel_xy_yaw_frame_exp,
    "track_ang_vel_z_world_exp": track_ang_vel_z_world_exp,
    "lin_vel_z_l2": lin_vel_z_l2,
    "lin_vel_xy_world_l2": lin_vel_xy_world_l2,
    "ang_vel_xy_l2": ang_vel_xy_l2,
    "ang_vel_l2": ang_vel_l2,
    "flat_orientation_l2": flat_orientation_l2,
    "upright": upright,
    "base_height_l2": base_height_l2,
    "joint_torques_l2": joint_torques_l2,
    "joint_vel_l1": joint_vel_l1,
    "joint_vel_l2": joint_vel_l2,
    "joint_acc_l2": joint_acc_l2,
    "joint_deviation_l1": joint_deviation_l1,
    "stand_still_joint_deviation_l1": stand_still_joint_deviation_l1,
    "joint_pos_limits": joint_pos_limits,
    "joint_vel_limits": joint_vel_limits,
    "posture": posture,
    "electrical_power_cost": electrical_power_cost,
    "action_rate_l2": action_rate_l2,
    "action_l2": action_l2,
    "feet_air_time": contact_rewards.FeetAirTime,
    "feet_air_time_positive_biped": contact_rewards.FeetAirTimeOfBiped,
    "feet_gait": contact_rewards.feet_gait,
    "feet_slide": contact_rewards.feet_slide,
    "feet_clearance": contact_rewards.feet_clearance,
    "foot_clearance_reward": contact_rewards.foot_clearance_reward,
    "undesired_contacts": contact_rewards.undesired_contacts,
    "desired_contacts": contact_rewards.desired_contacts,
    "contact_forces": contact_rewards.contact_forces,
}
