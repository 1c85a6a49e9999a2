# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands of learning tasks: targets that change during an episode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hrpsim.common.errors import StateError
from hrpsim.common.typed_values import CheckedSettings, Finite, Interval, Share
from hrpsim.learning.terms.rotations import wrapped
from hrpsim.learning.terms.task_state import TaskState

Range = Interval


@dataclass(frozen=True)
class VelocityRanges(CheckedSettings):
    """Bounds of velocities in the frame of the base, drawn uniformly.

    lin_vel_x and lin_vel_y are in [m/s], and ang_vel_z in [rad/s]. heading is the yaw in the world
    [rad], for commands by heading.
    """

    lin_vel_x: Range = (-1.0, 1.0)
    lin_vel_y: Range = (-1.0, 1.0)
    ang_vel_z: Range = (-1.0, 1.0)
    heading: Range | None = None


@dataclass(frozen=True)
class UniformVelocityCommandCfg(CheckedSettings):
    """A target velocity of the base: forward, sideways [m/s], turning [rad/s].

    Args:
        ranges: bounds of the draws.
        resampling_time_range: bounds of the time [s] for which a command lasts.
        rel_standing_envs: fraction of commands that are zero.
        heading_command: whether the turning rate is controlled to reach a drawn heading.
        heading_control_stiffness: turning rate for a heading error of 1 rad [1/s].
        rel_heading_envs: fraction of commands that control the heading.

    Raises:
        StateError: `heading_command` is set without `ranges.heading`, or a field has the wrong
            type.
    """

    ranges: VelocityRanges = VelocityRanges()
    resampling_time_range: Range = (10.0, 10.0)
    rel_standing_envs: Share = 0.0
    heading_command: bool = False
    heading_control_stiffness: Finite = 1.0
    rel_heading_envs: Share = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.heading_command and self.ranges.heading is None:
            raise StateError("a velocity command by heading needs ranges.heading. Give its bounds")

    def make(self, state: TaskState) -> UniformVelocityCommand:
        """Construct the command for all worlds."""
        return UniformVelocityCommand(self, state)


class UniformVelocityCommand:
    """The target velocities of all worlds, `value` (count, 3).

    `ranges` are initially the ranges of the settings. A curriculum may replace the ranges.
    """

    def __init__(self, cfg: UniformVelocityCommandCfg, state: TaskState) -> None:
        self._cfg, self._state = cfg, state
        self.ranges = cfg.ranges
        self.value = np.zeros((state.count, 3))
        self._remaining, self._heading = np.zeros((2, state.count))
        self._stands, self._turns = np.zeros((2, state.count), dtype=bool)

    def reset(self, worlds: np.ndarray) -> None:
        """Draw new commands for worlds (m,)."""
        cfg, draws = self._cfg, self._state.random
        self._remaining[worlds] = draws.uniform(worlds, *cfg.resampling_time_range)[:, 0]
        ranges = self.ranges
        ends = np.array([ranges.lin_vel_x, ranges.lin_vel_y, ranges.ang_vel_z])
        self.value[worlds] = draws.uniform(worlds, ends[:, 0], ends[:, 1], 3)
        self._stands[worlds] = draws.uniform(worlds, 0.0, 1.0)[:, 0] < cfg.rel_standing_envs
        if cfg.heading_command and ranges.heading is not None:
            self._heading[worlds] = draws.uniform(worlds, *ranges.heading)[:, 0]
            self._turns[worlds] = draws.uniform(worlds, 0.0, 1.0)[:, 0] < cfg.rel_heading_envs
        self._follow()

    def update(self, worlds: np.ndarray) -> None:
        """Advance worlds (m,) by a control period. Replace expired commands by new draws."""
        self._remaining[worlds] -= self._state.step_dt
        over = worlds[self._remaining[worlds] < 1e-9]
        if len(over):
            self.reset(over)
        else:
            self._follow()

    def _follow(self) -> None:
        """Compute turning rates from heading errors.

        Set the commands of standing robots to zero.
        """
        if self._turns.any():
            at, cfg = np.flatnonzero(self._turns), self._cfg
            error = wrapped(self._heading[at] - self._state.heading_w[at])
            rate = cfg.heading_control_stiffness * error
            self.value[at, 2] = np.clip(rate, *self.ranges.ang_vel_z)
        self.value[self._stands] = 0.0


COMMANDS: dict[str, Callable[..., UniformVelocityCommandCfg]] = {
    "UniformVelocityCommandCfg": UniformVelocityCommandCfg
}
