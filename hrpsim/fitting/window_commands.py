# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The commands of a recording, for each step of a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.fitting.recordings.measured_motion import COMMANDS, Recording

ON_A_STEP = 1e-6  # largest distance of a time from a step [steps]


class Commands(NamedTuple):
    """The commands of one world in a window, one row for each step."""

    joints: tuple[str, ...]
    values: dict[str, np.ndarray]  # of positions, velocities, efforts: (steps, joints)
    over: np.ndarray  # (steps,) [s]
    first: np.ndarray | None  # position targets at the start

    def give(self, robot, step: int) -> None:
        """Send the commands of a step to a robot."""
        if step == 0 and self.first is not None:
            robot.command(names=self.joints, positions=self.first, nan_holds=True)
        own = {key: rows[step] for key, rows in self.values.items()}
        robot.command(names=self.joints, over=self.over[step], nan_holds=True, **own)


def commands_of(
    recordings: Sequence[Recording],
    begin: float,
    steps: int,
    time_step: float,
    delays: Sequence[float],
) -> tuple[list[Commands], np.ndarray]:
    """Return the commands of each world in a window.

    Args:
        recordings: for each world, the recording with its commands.
        begin: time of the window's start [s].
        steps: length of the window in steps.
        time_step: length of a step [s].
        delays: delay of the commands for each world [s].

    Returns:
        (commands of each world, indices of the steps at which commands change).
    """
    if recordings[0].command_time is None or steps == 0:
        return [], np.zeros(0, dtype=int)
    changes = np.zeros(steps, dtype=bool)
    changes[0] = True
    commands: dict[tuple[int, float], Commands] = {}
    keys = [(id(recording), delay) for recording, delay in zip(recordings, delays)]
    for key, recording in zip(keys, recordings):
        if key not in commands:
            commands[key], own = _commands(recording, begin, steps, time_step, key[1])
            changes[1:] |= own
    return [commands[key] for key in keys], np.flatnonzero(changes)


def _commands(
    given: Recording, begin: float, steps: int, time_step: float, delay: float
) -> tuple[Commands, np.ndarray]:
    """Return the commands of a window, and whether commands change at each step but the first."""
    columns = {key: getattr(given, f"command_{key}") for key in COMMANDS}
    columns = {key: array for key, array in columns.items() if array is not None}
    time, table = given.command_time, np.hstack([*columns.values()])
    assert time is not None
    ends = begin + time_step * np.arange(steps + 1)
    over, first = np.zeros(steps), None
    if given.interpolate:
        stamp = np.searchsorted(time, ends[:-1] + ON_A_STEP * time_step, side="right").clip(1) - 1
        until = np.append(time[1:], 2.0 * time[-1] - time[-2])[stamp]
        over = np.maximum(until - ends[:-1], 0.0)
        at = time[stamp] - delay
        means = np.transpose([np.interp(at, time, column) for column in table.T])
        if given.command_positions is not None:
            targets = given.command_positions[:-1].T
            first = np.array([np.interp(begin - delay, time[1:], own) for own in targets])
    else:
        means = _step_means(time, table, ends - delay)
    before, after = means[:-1], means[1:]
    new = ((before != after) & ~np.isnan([before, after]).all(axis=0)).any(axis=1)
    parts = dict(zip(columns, np.split(means, len(columns), axis=1)))
    return Commands(given.command_joints or (), parts, over, first), new


def _step_means(time: np.ndarray, values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Average a piecewise constant command over each step.

    The mean makes the result depend smoothly on a delay that is not a multiple of the step.

    Args:
        time: times of the commands (m,) [s].
        values: commands (m, columns).
        ends: boundaries of the steps (steps + 1,) [s].
    """
    tiny = ON_A_STEP * (ends[1] - ends[0])
    index = np.searchsorted(time, ends + tiny, side="right") - 1
    first = index[:-1].clip(0)
    last = (np.searchsorted(time, ends[1:] - tiny, side="right") - 1).clip(0)
    means = values[first].copy()
    for k in np.flatnonzero(first != last):
        inner = np.arange(first[k], last[k] + 1)
        edges = np.concatenate([[ends[k]], time[inner[1:]], [ends[k + 1]]])
        means[k] = np.diff(edges) @ values[inner] / (ends[k + 1] - ends[k])
    return means
