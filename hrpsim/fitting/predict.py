# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulate recordings in windows, each from the measured state at its beginning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from hrpsim.fitting.measured_motion import COMMANDS, KINDS, BoundRecording
from hrpsim.fitting.unknowns import DELAY
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from hrpsim.world.batch import Batch

_ON_A_STEP = 1e-6  # of a step: so near to one a time is taken as it
_FOR_THREADS = 300  # degrees of freedom, below which handing work to threads takes longer


class Window(NamedTuple):
    """Samples `first` to `last` of a recording, simulated from sample `start`."""

    start: int
    first: int
    last: int


class Rows(NamedTuple):
    """For each residual: the index of its kind in KINDS, of its window, and of its signal.

    Windows and signals are numbered through all recordings. A signal is one column of a recording.
    """

    kind: np.ndarray
    window: np.ndarray
    signal: np.ndarray


class Prediction(NamedTuple):
    """Compared samples of one recording, for every measured kind (samples, columns)."""

    time: np.ndarray  # (samples,) [s]
    window: np.ndarray  # (samples,)
    differences: np.ndarray  # (worlds, samples, columns), predicted minus measured


def windows_of(time: np.ndarray, length: float, starts_are_fitted: bool) -> list[Window]:
    """Return windows of `length` [s], or windows of one sample if samples are rarer.

    If the starts are fitted, the first sample of a window is compared too. Otherwise the first
    sample is the start, and the window ends with the start of the next.
    """
    starts = [0]
    while True:
        following = int(np.searchsorted(time, time[starts[-1]] + length - 1e-9))
        following = max(following, starts[-1] + (2 if starts_are_fitted else 1))
        if following >= len(time) - 1:
            break
        starts.append(following)
    ends = [*starts[1:], len(time) - 1 + starts_are_fitted]
    if starts_are_fitted:
        return [Window(a, a, b - 1) for a, b in zip(starts, ends)]
    return [Window(a, a + 1, b) for a, b in zip(starts, ends)]


class Predictor:
    """Simulate recordings in windows, in many worlds side by side."""

    def __init__(
        self,
        scenario: WorldScenario,
        recordings: Sequence[BoundRecording],
        window: float,
        starts_are_fitted: bool,
    ) -> None:
        self.scenario, self.recordings = scenario, recordings
        self.starts_are_fitted = starts_are_fitted
        self.windows = [windows_of(one.time, window, starts_are_fitted) for one in recordings]

    def only(
        self, numbers: np.ndarray, offsets: Sequence[np.ndarray] | None
    ) -> tuple[Predictor, Sequence[np.ndarray] | None]:
        """Return a predictor of the windows with these numbers, and the windows' offsets."""
        part, first, found = copy(self), 0, []
        for k, windows in enumerate(self.windows):
            at = numbers[(numbers >= first) & (numbers < first + len(windows))] - first
            first += len(windows)
            if len(at):
                found.append((self.recordings[k], [windows[n] for n in at], k, at))
        part.recordings, part.windows = [one[0] for one in found], [one[1] for one in found]
        return part, offsets and [offsets[k][at] for *_, k, at in found]

    def predict(
        self,
        values: Sequence[Mapping[str, float]],
        offsets: Sequence[Sequence[np.ndarray] | None] | None = None,
        *,
        together: bool = False,
    ) -> list[Prediction]:
        """Return the prediction of each recording, in one world for each entry of `values`.

        Args:
            values: parameters by path.
            offsets: for each world and recording (windows, 2 nv), added to the measured states at
                the beginnings of windows: displacements in the tangent space, then velocities.
            together: quantities that were not measured begin each window as in the first world.
        """
        worlds = [self.scenario.world_of(own, seed=0)[0] for own in values]
        found = []
        size = sum(thing.nv for world in worlds for thing in world.entities.values())
        with Batch.of(worlds, 1 if size < _FOR_THREADS else None) as batch:
            for k, one in enumerate(self.recordings):
                batch.reset()
                off = [None if row is None else row[k] for row in offsets or [None] * len(worlds)]
                delays = np.array([self.delay(own, one) for own in values])
                found.append(_follow(batch, one, self.windows[k], delays, off, together))
        return found

    def still(self) -> np.ndarray:
        """Return the differences (rows,) of a world that stays at the beginnings of windows."""
        found = []
        for one, windows in zip(self.recordings, self.windows):
            state = np.hstack([one.q, one.v])
            for window in windows:
                count = window.last + 1 - window.first
                samples = slice(window.first, window.last + 1)
                still = np.tile(state[window.start], (1, count, 1))
                found.append(_differences(one, samples, still).ravel())
        return np.concatenate(found)

    @staticmethod
    def delay(values: Mapping[str, float], one: BoundRecording) -> float:
        """Return the delay of a recording's commands [s]."""
        return values.get(DELAY, 0.0) + values.get(f"{DELAY}.{one.name}", 0.0)

    def rows(self) -> Rows:
        """Return kind, window and signal of each entry of the predictions' differences."""
        kinds, windows, signals, before, first = [], [], [], 0, 0
        for one, own in zip(self.recordings, self.windows):
            columns = [list(KINDS).index(kind) for kind, own_of in one.columns() for _ in own_of]
            samples = [before + k for k, w in enumerate(own) for _ in range(w.first, w.last + 1)]
            kinds.append(np.tile(columns, len(samples)))
            windows.append(np.repeat(samples, len(columns)))
            signals.append(np.tile(first + np.arange(len(columns)), len(samples)))
            before, first = before + len(own), first + len(columns)
        return Rows(*map(np.concatenate, (kinds, windows, signals)))


def flat(predictions: Sequence[Prediction]) -> np.ndarray:
    """Return the differences (worlds, rows) of all recordings."""
    return np.hstack([one.differences.reshape(len(one.differences), -1) for one in predictions])


def _follow(
    batch: Batch,
    one: BoundRecording,
    windows: Sequence[Window],
    delays: np.ndarray,
    offsets: Sequence[np.ndarray | None],
    together: bool,
) -> Prediction:
    things = [world.entities[one.entity] for world in batch.worlds]
    differences, numbers, times = [], [], []
    for number, window in enumerate(windows):
        first = things[0].q, things[0].v
        for thing, offset in zip(things, offsets):
            usual = first if together else (thing.q, thing.v)
            begin(thing, usual, one, window.start, None if offset is None else offset[number])
        states = simulate(batch, one, window, delays, lambda: [state_of(one) for one in things])
        samples = slice(window.first, window.last + 1)
        differences.append(_differences(one, samples, states.swapaxes(0, 1)))
        times.append(one.time[samples])
        numbers += [number] * len(times[-1])
    return Prediction(np.concatenate(times), np.array(numbers), np.concatenate(differences, axis=1))


def state_of(thing) -> np.ndarray:
    """Return q and v of a robot or body (nq + nv,)."""
    return np.concatenate([thing.q, thing.v])


def begin(thing, usual, one: BoundRecording, sample: int, offset: np.ndarray | None) -> None:
    """Set the measured state plus an offset. Unmeasured entries start from `usual` q and v."""
    q, v = one.q[sample], one.v[sample]
    q, v = np.where(np.isnan(q), usual[0], q), np.where(np.isnan(v), usual[1], v)
    if offset is not None:
        q, v = _displaced(one, q, offset[: len(v)]), v + offset[len(v) :]
    thing.place(q)
    thing.v = v


def _displaced(one: BoundRecording, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return q displaced by a change (nv,). A free base moves along and about its own axes."""
    moved = q.copy()
    if one.free:
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_quat(q[3:7])
        moved[:3] += turn.apply(change[:3])
        moved[3:7] = (turn * Rotation.from_rotvec(change[3:6])).as_quat()
    if "position" in one.compared:
        moved[one.q_of] += change[one.v_of]
    return moved


def simulate(
    batch, one: BoundRecording, window: Window, delays: np.ndarray, read: Callable[[], Any]
) -> np.ndarray:
    """Return the values of `read` at each sample (samples, ...), interpolated between steps."""
    things = [world.entities[one.entity] for world in batch.worlds]
    first_time, time_step = one.time[window.start], batch.worlds[0].time_step
    at = (one.time[window.first : window.last + 1] - first_time) / time_step
    low = np.floor(at + _ON_A_STEP).astype(int)
    share = np.where(at - low < _ON_A_STEP, 0.0, at - low)
    wanted = np.unique(np.concatenate([low, low[share > 0.0] + 1]))
    commands, changes = _commands(one, first_time, int(wanted[-1]), time_step, delays)
    found = []
    step = 0
    for stop in np.union1d(wanted, changes).tolist():
        if stop > step:
            batch.step(stop - step)
            step = stop
        if stop in wanted:
            found.append(read())
        if stop in changes:
            for thing, own in zip(things, commands):
                own.give(thing, stop)
    states = np.array(found)
    first = np.searchsorted(wanted, low)
    after = np.minimum(first + 1, len(wanted) - 1)
    share = share.reshape(-1, *(1,) * (states.ndim - 1))
    return states[first] + share * (states[after] - states[first])


class _Commands(NamedTuple):
    """The commands of one world in a window, step by step."""

    joints: tuple[str, ...]
    values: dict[str, np.ndarray]  # of positions, velocities, efforts: (steps, joints)
    over: np.ndarray  # (steps,) [s]
    first: np.ndarray | None  # position targets at the start, from which they move

    def give(self, robot, step: int) -> None:
        if step == 0 and self.first is not None:
            robot.command(names=self.joints, positions=self.first, nan_holds=True)
        own = {key: rows[step] for key, rows in self.values.items()}
        robot.command(names=self.joints, over=self.over[step], nan_holds=True, **own)


def _commands(one: BoundRecording, begin: float, steps: int, time_step: float, delays: np.ndarray):
    """Return the commands of each world, and the steps at which any world's commands change."""
    given = one.recording
    if given.command_time is None or steps == 0:
        return [], np.zeros(0, dtype=int)
    columns = {key: getattr(given, f"command_{key}") for key in COMMANDS}
    columns = {key: array for key, array in columns.items() if array is not None}
    time, whole = given.command_time, np.hstack([*columns.values()])
    found: dict[float, _Commands] = {}
    changes = np.zeros(steps, dtype=bool)
    changes[0] = True
    ends = begin + time_step * np.arange(steps + 1)
    over = np.zeros(steps)
    if given.interpolate:
        stamp = np.searchsorted(time, ends[:-1] + _ON_A_STEP * time_step, side="right").clip(1) - 1
        until = np.append(time[1:], 2.0 * time[-1] - time[-2])[stamp]
        over = np.maximum(until - ends[:-1], 0.0)
    for delay in set(delays.tolist()):
        if given.interpolate:
            at = time[stamp] - delay
            means = np.transpose([np.interp(at, time, column) for column in whole.T])
        else:
            means = _step_means(time, whole, ends - delay)
        before, after = means[:-1], means[1:]
        changes[1:] |= ((before != after) & ~np.isnan([before, after]).all(axis=0)).any(axis=1)
        parts = dict(zip(columns, np.split(means, len(columns), axis=1)))
        first = None
        if given.interpolate and given.command_positions is not None:
            targets = given.command_positions[:-1].T
            first = np.array([np.interp(begin - delay, time[1:], own) for own in targets])
        found[delay] = _Commands(given.command_joints or (), parts, over, first)
    return [found[delay] for delay in delays.tolist()], np.flatnonzero(changes)


def _step_means(time: np.ndarray, values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the means, over steps that begin and end at `ends`, of values held until the next.

    A delay that is no multiple of the step therefore has an effect, and a derivative.
    """
    tiny = _ON_A_STEP * (ends[1] - ends[0])
    index = np.searchsorted(time, ends + tiny, side="right") - 1
    first = index[:-1].clip(0)
    last = (np.searchsorted(time, ends[1:] - tiny, side="right") - 1).clip(0)
    means = values[first].copy()
    for k in np.flatnonzero(first != last):
        inner = np.arange(first[k], last[k] + 1)
        edges = np.concatenate([[ends[k]], time[inner[1:]], [ends[k + 1]]])
        means[k] = np.diff(edges) @ values[inner] / (ends[k + 1] - ends[k])
    return means


def _differences(one: BoundRecording, samples: slice, states: np.ndarray) -> np.ndarray:
    """Return predicted minus measured (worlds, samples, columns), in the order of KINDS."""
    q, v = np.split(states, [one.q.shape[1]], axis=2)
    parts = []
    for kind, columns in one.columns():
        if kind == "position":
            parts.append(q[:, :, one.q_of] - one.q[samples][:, one.q_of])
        elif kind == "base_position":
            parts.append(q[:, :, :3] - one.q[samples, :3])
        elif kind == "base_rotation":
            turns = turned(np.tile(one.q[samples, 3:7], (len(q), 1)), q[:, :, 3:7].reshape(-1, 4))
            parts.append(turns.as_rotvec().reshape(*q.shape[:2], 3))
        else:
            parts.append(v[:, :, columns] - one.v[samples][:, columns])
    return np.concatenate(parts, axis=2)


def turned(measured: np.ndarray, found: np.ndarray):
    """Return the rotations from quaternions measured (n, 4) to those found."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(measured).inv() * Rotation.from_quat(found)
