# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Events of learning tasks: initial states and pushes. Each event acts on chosen worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from hrpsim.common.errors import StateError, require_names
from hrpsim.common.typed_values import Interval
from hrpsim.learning.terms import randomisation, rotations
from hrpsim.learning.terms.floor import lifts_to_floor
from hrpsim.learning.terms.observations import Names
from hrpsim.learning.terms.selection import EVERY
from hrpsim.learning.terms.task_state import TaskState

Range = Interval
_AXES = "x", "y", "z", "roll", "pitch", "yaw"


def _random_changes(
    state: TaskState, worlds: np.ndarray, ranges: Mapping[str, Range]
) -> np.ndarray:
    """Draw values (m, 6) along x, y, z and about roll, pitch, yaw. Missing axes are 0."""
    state.require_base()
    require_names("axis of a range", ranges, _AXES, StateError)
    ends = np.array([ranges.get(axis, (0.0, 0.0)) for axis in _AXES], dtype=np.float64)
    return state.random.uniform(worlds, ends[:, 0], ends[:, 1], 6)


def reset_root_state_uniform(
    state: TaskState,
    worlds: np.ndarray,
    pose_range: Mapping[str, Range],
    velocity_range: Mapping[str, Range] = {},
) -> None:
    """Displace and rotate the base from its present pose, and set the base velocity.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        pose_range: bounds of x, y, z [m], roll, pitch, yaw [rad]. Missing axes stay unchanged.
        velocity_range: bounds of x, y, z [m/s], roll, pitch, yaw [rad/s] along the world's axes.
    """
    pose, velocity = (
        _random_changes(state, worlds, pose_range),
        _random_changes(state, worlds, velocity_range),
    )
    turns = rotations.quaternions_from_rpy(pose[:, 3:])
    quaternions = rotations.quaternion_products(state.root_quat_w[worlds], turns)
    state.q[worlds, :3] += pose[:, :3]
    state.q[worlds, 3:7] = quaternions
    R = rotations.rotation_matrices(quaternions)
    state.v[worlds, :3] = rotations.in_frame(R, velocity[:, :3])
    state.v[worlds, 3:6] = rotations.in_frame(R, velocity[:, 3:])
    state.note_change(worlds)


def _reset_joints(
    state: TaskState, worlds: np.ndarray, at: np.ndarray, q: np.ndarray, v: np.ndarray
) -> None:
    """Set positions (m, k) within the limits and velocities (m, k) of the joints `at` (k,)."""
    lower, upper = state.joint_pos_limits[at].T
    state.q[np.ix_(worlds, state.q_index[at])] = np.clip(q, lower, upper)
    state.v[np.ix_(worlds, state.v_index[at])] = v
    state.note_change(worlds)


def reset_joints_by_scale(
    state: TaskState,
    worlds: np.ndarray,
    position_range: Range,
    velocity_range: Range = (0.0, 0.0),
    joint_names: Names = EVERY,
) -> None:
    """Multiply the default position of each joint by a random factor, and clip the result.

    The default velocity is zero, so velocities stay zero. `velocity_range` has no effect.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        position_range: bounds of the factors. Each joint has its own factor.
        velocity_range: not used.
        joint_names: names or patterns of the joints.
    """
    at = state.joints(joint_names)
    factors = state.random.uniform(worlds, *position_range, len(at))
    q = state.default_joint_pos[at] * factors
    _reset_joints(state, worlds, at, q, np.zeros_like(q))


def reset_joints_by_offset(
    state: TaskState,
    worlds: np.ndarray,
    position_range: Range,
    velocity_range: Range = (0.0, 0.0),
    joint_names: Names = EVERY,
) -> None:
    """Add a random offset to the default position of each joint, and clip the result.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        position_range: bounds of the offsets [rad or m]. Each joint has its own offset.
        velocity_range: bounds of the velocities [rad/s or m/s].
        joint_names: names or patterns of the joints.
    """
    at = state.joints(joint_names)
    q = state.default_joint_pos[at] + state.random.uniform(worlds, *position_range, len(at))
    _reset_joints(state, worlds, at, q, state.random.uniform(worlds, *velocity_range, len(at)))


def place_on_floor(state: TaskState, worlds: np.ndarray) -> None:
    """Move the base vertically until the robot touches the planes of the world."""
    state.write_changes()
    state.q[worlds, 2] += lifts_to_floor(state, worlds)
    state.note_change(worlds)


def push_by_setting_velocity(
    state: TaskState, worlds: np.ndarray, velocity_range: Mapping[str, Range]
) -> None:
    """Add a velocity to the base.

    velocity_range: bounds of x, y, z [m/s], roll, pitch, yaw [rad/s] along the world's axes.
    """
    change, R = _random_changes(state, worlds, velocity_range), state.rotation[worlds]
    state.v[worlds, :3] += rotations.in_frame(R, change[:, :3])
    state.v[worlds, 3:6] += rotations.in_frame(R, change[:, 3:])
    state.note_change(worlds, moved=False)


def push_by_impulse(
    state: TaskState, worlds: np.ndarray, impulse_range: Range, link: str, duration: float = 0.1
) -> None:
    """Push a link horizontally, in a random direction, by a constant force.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        impulse_range: bounds of force times duration [Ns].
        link: the link.
        duration: duration of the push [s], rounded to control periods.
    """
    periods = max(1, round(duration / state.step_dt))
    sizes = state.random.uniform(worlds, *impulse_range)[:, 0] / (periods * state.step_dt)
    headings = state.random.uniform(worlds, -np.pi, np.pi)[:, 0]
    push = state.push(link)
    push.forces[worlds] = np.column_stack(
        [sizes * np.cos(headings), sizes * np.sin(headings), np.zeros(len(worlds))]
    )
    push.torques[worlds], push.left[worlds] = 0.0, periods


def apply_external_force_torque(
    state: TaskState, worlds: np.ndarray, force_range: Range, torque_range: Range, link: str
) -> None:
    """Apply a random constant wrench to a link until the episode ends.

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,).
        force_range: bounds of each force component along the world's axes [N].
        torque_range: bounds of each torque component along the world's axes [Nm].
        link: the link.
    """
    push = state.push(link)
    push.forces[worlds] = state.random.uniform(worlds, *force_range, 3)
    push.torques[worlds] = state.random.uniform(worlds, *torque_range, 3)
    push.left[worlds] = np.iinfo(np.int64).max


EVENTS: dict[str, Callable[..., None]] = {
    "reset_root_state_uniform": reset_root_state_uniform,
    "reset_joints_by_scale": reset_joints_by_scale,
    "reset_joints_by_offset": reset_joints_by_offset,
    "place_on_floor": place_on_floor,
    "push_by_setting_velocity": push_by_setting_velocity,
    "push_by_impulse": push_by_impulse,
    "apply_external_force_torque": apply_external_force_torque,
    "randomize_rigid_body_material": randomisation.randomize_rigid_body_material,
    "randomize_rigid_body_mass": randomisation.randomize_rigid_body_mass,
    "randomize_actuator_gains": randomisation.randomize_actuator_gains,
}
