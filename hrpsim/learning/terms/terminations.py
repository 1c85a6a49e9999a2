# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Termination terms: functions of the state that return truth values (count,)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np

from hrpsim.common.values import Range
from hrpsim.learning.terms.observations import Names
from hrpsim.learning.terms.selection import EVERY
from hrpsim.learning.terms.task_state import TaskState


def time_out(state: TaskState) -> np.ndarray:
    """Return whether the episode has reached its full length."""
    return state.episode_length >= state.max_episode_length


def bad_orientation(
    state: TaskState, limit_angle: Annotated[float, Range(0.0, np.pi, "rad")]
) -> np.ndarray:
    """Return whether the base is tilted by more than `limit_angle` [rad]."""
    return state.projected_gravity_b[:, 2] > -np.cos(limit_angle)


def root_height_below_minimum(state: TaskState, minimum_height: float) -> np.ndarray:
    """Return whether the base is lower than `minimum_height` in the world [m]."""
    return state.root_pos_w[:, 2] < minimum_height


def root_height_below_ratio(state: TaskState, ratio: float) -> np.ndarray:
    """Return whether the base is lower than `ratio` times its initial height in the world."""
    return state.root_pos_w[:, 2] < ratio * state.default_base_height


def joint_pos_out_of_limit(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return whether any joint is beyond its position limits."""
    at = state.joints(joint_names)
    lower, upper = state.joint_pos_limits[at].T
    q = state.joint_pos[:, at]
    return ((q < lower) | (q > upper)).any(axis=1)


def joint_vel_out_of_limit(state: TaskState, joint_names: Names = EVERY) -> np.ndarray:
    """Return whether any joint exceeds its velocity limit."""
    at = state.joints(joint_names)
    return (np.abs(state.joint_vel[:, at]) > state.joint_vel_limits[at]).any(axis=1)


def illegal_contact(state: TaskState, threshold: float, link_names: Names) -> np.ndarray:
    """Return whether any link has a contact force above `threshold` [N]."""
    forces = state.contact_forces[:, state.links(link_names)]
    return (np.linalg.norm(forces, axis=2) > threshold).any(axis=1)


TERMINATIONS: dict[str, Callable[..., np.ndarray]] = {
    "time_out": time_out,
    "bad_orientation": bad_orientation,
    "root_height_below_minimum": root_height_below_minimum,
    "root_height_below_ratio": root_height_below_ratio,
    "joint_pos_out_of_limit": joint_pos_out_of_limit,
    "joint_vel_out_of_limit": joint_vel_out_of_limit,
    "illegal_contact": illegal_contact,
}
