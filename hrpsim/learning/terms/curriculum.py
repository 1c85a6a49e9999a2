# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Curricula: changes of a task that depend on the number of elapsed control periods."""

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
    """Set the command ranges to the ranges of the present stage (mjlab).

    Args:
        state: state of the worlds.
        worlds: indices of the worlds (m,). The ranges of all worlds change.
        command_name: name of the velocity command.
        velocity_stages: list of stages. "step" is the number of control periods after which a stage
            begins. "lin_vel_x", "lin_vel_y" [m/s] and "ang_vel_z" [rad/s] are new bounds. Missing
            bounds stay unchanged.

    Raises:
        StateError: the command is unknown, or a stage has an unknown entry.
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
        worlds: indices of the worlds (m,). The weight of all worlds changes.
        term_name: name of the reward in the task.
        weight: new weight.
        num_steps: number of control periods after which the weight changes.

    Raises:
        StateError: the reward is unknown.
    """
    require_name("reward", term_name, state.reward_names, StateError)
    if state.common_step_counter > num_steps:
        state.reward_weights[state.reward_names.index(term_name)] = weight


CURRICULA: dict[str, Callable[..., None]] = {
    "commands_vel": commands_vel,
    "modify_reward_weight": modify_reward_weight,
}
