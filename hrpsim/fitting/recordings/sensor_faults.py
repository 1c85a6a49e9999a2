# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Detect suspected sensor faults in a recording: constant values, jumps, exchanged joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

_STUCK = 5  # equal samples, from which a value stands still
_LIVELY = 0.9  # share of the other samples in which a noisy value changes
_JUMP = 20.0  # times the usual size of a jump and back
_USUAL = 95.0  # percentile of the usual size
_FEW = 20  # samples, below which nothing is usual
_FOLLOWS = 0.6  # correlation of positions with the commands of another joint
_SMOOTH = ("position", "base")  # quantities that cannot jump
_BETTER = 0.3  # by which that correlation exceeds the correlation with the joint's own commands

_Clocked: TypeAlias = tuple[np.ndarray, np.ndarray]  # times (n,) and values (n,)


def sensor_faults(recording: Any) -> Iterator[str]:
    """Yield a sentence for each suspected sensor fault in a `Recording`."""
    states = list(_columns(recording))
    clocks = [(recording.time, values) for _, values in states]
    clocks += [
        (recording.command_time, values)
        for key in ("positions", "velocities", "efforts")
        if (commands := getattr(recording, f"command_{key}")) is not None
        for values in commands.T
    ]
    for column, values in states:
        yield from _faults(column, recording.time, values, clocks)
    for signal in recording.signals:
        for label, values in zip(signal.columns, signal.values.T):
            if signal.kind != "contact":
                yield from _faults(f"{signal.name} {label}", signal.time, values, clocks)
    yield from _mistaken_joints(recording)


def _faults(
    what: str, time: np.ndarray, values: np.ndarray, clocks: Sequence[_Clocked]
) -> Iterator[str]:
    """Yield a sentence for each fault of one column (n,).

    clocks: times and values of all states and commands.
    """
    if len(time) < _FEW:
        return
    at = np.flatnonzero(_stuck(values))
    if len(at) and _moves_meanwhile(time[at], clocks):
        yield (
            f"{what} stands still in {len(at)} samples from {time[at[0]]:.9g} to "
            f"{time[at[-1]]:.9g} s, while others move: a clipped, frozen or missing sensor"
        )
    elif what.startswith(_SMOOTH) and (k := _jump(time, values)) is not None:
        yield f"{what} jumps to {values[k]:.6g} and back at {time[k]:.9g} s: a lost sample"


def _columns(recording: Any) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the name and the values (n,) of each measured joint and axis."""
    for kind, array in (("position", recording.positions), ("velocity", recording.velocities)):
        if array is not None:
            for joint, values in zip(recording.joints, array.T):
                yield f"{kind} of {joint!r}", values
    if recording.base is not None:
        for axis, values in zip("xyz", recording.base.T):
            yield f"base {axis}", values


def _stuck(values: np.ndarray) -> np.ndarray:
    """Return which samples (n,) are in a run of equal values, if the column changes elsewhere."""
    same = np.diff(values) == 0.0
    ends = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(int)))
    stuck = np.zeros(len(values), dtype=bool)
    for begin, end in ends.reshape(-1, 2):
        stuck[begin : end + 1] = end + 1 - begin >= _STUCK
    elsewhere = ~(stuck[1:] & stuck[:-1])
    lively = elsewhere.any() and np.mean(~same[elsewhere]) >= _LIVELY
    return stuck if lively else np.zeros_like(stuck)


def _moves_meanwhile(span: np.ndarray, clocks: Sequence[_Clocked]) -> bool:
    """Return whether any state or command changes during the time span."""
    spans = (values[(time >= span[0]) & (time <= span[-1])] for time, values in clocks)
    return any(len(own) > 1 and np.nanmax(own) > np.nanmin(own) for own in spans)


def _jump(time: np.ndarray, values: np.ndarray) -> int | None:
    """Return the index of a sample that differs strongly from both neighbours, or None."""
    steps = np.diff(time)
    off = values[1:-1] - 0.5 * (values[2:] + values[:-2])
    off = np.abs(np.where(np.maximum(steps[1:], steps[:-1]) < 1.5 * np.median(steps), off, 0.0))
    k = int(off.argmax())
    return k + 1 if off[k] > _JUMP * np.percentile(off, _USUAL) > 0.0 else None


def _mistaken_joints(recording: Any) -> Iterator[str]:
    """Yield a sentence for joints that move against their commands, and for exchanged joints."""
    targets = recording.command_positions
    if targets is None or recording.positions is None or len(recording.command_time) < 2:
        return
    at = np.searchsorted(recording.command_time, recording.time, side="right") - 1
    joints = [name for name in recording.joints if name in recording.command_joints]
    commands = np.nan_to_num(targets[at.clip(0)])
    commands = commands[:, [recording.command_joints.index(name) for name in joints]]
    positions = recording.positions[:, [recording.joints.index(name) for name in joints]]
    alike = _correlations(positions, commands)
    own = np.diag(alike)
    for k, joint in enumerate(joints):
        if own[k] < -_FOLLOWS:
            yield f"{joint!r} moves against its position commands: compare signs"
    follows = (alike > _FOLLOWS) & (alike > own[:, None] + _BETTER)
    for j, k in np.argwhere(follows & follows.T).tolist():
        if j < k:
            yield (
                f"{joints[j]!r} follows the commands of {joints[k]!r}, and {joints[k]!r} those "
                f"of {joints[j]!r}: compare the order of joints"
            )


def _correlations(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the correlations (a, b) between columns of (n, a) and of (n, b), 0 if constant."""
    rows, columns = (own - own.mean(axis=0) for own in (rows, columns))
    sizes = np.outer(np.linalg.norm(rows, axis=0), np.linalg.norm(columns, axis=0))
    return np.divide(rows.T @ columns, sizes, out=np.zeros(sizes.shape), where=sizes > 0.0)
