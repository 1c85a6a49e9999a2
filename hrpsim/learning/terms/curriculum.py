# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Curricula: changes of a task by the number of control periods of the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hrpsim.common.errors import StateError, require_name
from hrpsim.learning.terms.task_state import TaskState

_RANGES = "lin_vel_x", "lin_vel_y", "ang_vel_z"


def commands_vel(
    state: TaskState,
    worlds: np.ndarray,
    command_name: str,
    velocity_stages: Sequence[Mapping[str, Any]],
) -> None:
    """Draw commands from ranges of the present stage (mjlab).

    Args:
        state: state of the worlds.
        worlds: numbers of the worlds (m,). The ranges of all worlds change.
        command_name: name of the velocity command.
        velocity_stages: each with "step", the number of control periods after which the stage
            begins, and with the new bounds of "lin_vel_x", "lin_vel_y" [m/s] and "ang_vel_z"
            [rad/s]. Missing bounds stay.

    Raises:
        StateError: an unknown command, or a stage with another entry.
    """
    state.command(command_name)
    term = state.command_terms[command_name]
    for stage in velocity_stages:
        for name in stage:
            require_name("entry", name, ("step", *_RANGES), StateError, where="velocity_stages")
        if state.common_step_counter >= stage["step"]:
            bounds = {name: tuple(stage[name]) for name in _RANGES if name in stage}
            term.ranges = replace(term.ranges, **bounds)


def modify_reward_weight(
    state: TaskState, worlds: np.ndarray, term_name: str, weight: float, num_steps: int
) -> None:
    """Change the weight of a reward after a number of control periods (Isaac Lab).

    Args:
        state: state of the worlds.
        worlds: numbers of the worlds (m,). The weight of all worlds changes.
        term_name: name of the reward in the task.
        weight: new weight.
        num_steps: number of control periods after which the weight changes.

    Raises:
        StateError: an unknown reward.
    """
    require_name("reward", term_name, state.reward_names, StateError)
    if state.common_step_counter > num_steps:
        state.reward_weights[state.reward_names.index(term_name)] = weight


CURRICULA: dict[str, Callable[..., None]] = {
    "commands_vel": commands_vel,
    "modify_reward_weight": modify_reward_weight,
}
