# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Recordings simulated in windows, each from the measured state at its beginning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.fitting.errors import FitError
from hrpsim.fitting.recording import COMMANDS, KINDS, BoundRecording
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
    """Of each residual: the number of its kind in KINDS, and of its window over all recordings."""

    kind: np.ndarray
    window: np.ndarray


class Prediction(NamedTuple):
    """Compared samples of one recording: of every kind that was measured, (samples, columns)."""

    time: np.ndarray  # (samples,) [s]
    window: np.ndarray  # (samples,)
    differences: np.ndarray  # (worlds, samples, columns), predicted minus measured


def windows_of(time: np.ndarray, length: float, starts_are_fitted: bool) -> list[Window]:
    """Return windows of `length` [s], or one sample each where samples are rarer.

    The first sample of a window is compared too where its state is fitted; otherwise it is the
    start, and the window ends with the start of the next.
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
    """Simulates recordings in windows, in many worlds side by side."""

    def __init__(
        self,
        scenario: WorldScenario,
        recordings: Sequence[BoundRecording],
        window: float,
        starts_are_fitted: bool,
    ):
        self.scenario, self.recordings = scenario, recordings
        self.windows = [windows_of(one.time, window, starts_are_fitted) for one in recordings]
        for one in recordings:
            if len(one.time) < 2:
                raise FitError(f"{one.name}: at least two samples are needed")

    def predict(
        self,
        values: Sequence[Mapping[str, float]],
        offsets: Sequence[Sequence[np.ndarray] | None] | None = None,
        *,
        together: bool = False,
    ) -> list[Prediction]:
        """Return the prediction of each recording in one world for each of `values`.

        Args:
            values: parameters by path.
            offsets: for each world and recording (windows, 2 nv), added to the measured states at
                the beginnings of windows: displacements in the tangent space, then velocities.
            together: what was not measured begins each window as in the first of the worlds.
        """
        worlds = [self.scenario.world_of(own, seed=0)[0] for own in values]
        found = []
        size = sum(thing.nv for world in worlds for thing in world.entities.values())
        with Batch.of(worlds, 1 if size < _FOR_THREADS else None) as batch:
            for k, one in enumerate(self.recordings):
                batch.reset()
                off = [None if row is None else row[k] for row in offsets or [None] * len(worlds)]
                delays = np.array(
                    [own.get(DELAY, 0.0) + own.get(f"{DELAY}.{one.name}", 0.0) for own in values]
                )
                found.append(_follow(batch, one, self.windows[k], delays, off, together))
        return found

    def rows(self) -> Rows:
        """Return what each entry of the predictions' differences is."""
        kinds, windows, before = [], [], 0
        for one, own in zip(self.recordings, self.windows):
            columns = [
                list(KINDS).index(kind) for kind in KINDS for _ in one.compared.get(kind, ())
            ]
            samples = [before + k for k, w in enumerate(own) for _ in range(w.first, w.last + 1)]
            kinds.append(np.tile(columns, len(samples)))
            windows.append(np.repeat(samples, len(columns)))
            before += len(own)
        return Rows(np.concatenate(kinds), np.concatenate(windows))


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
            _begin(thing, usual, one, window.start, None if offset is None else offset[number])
        samples = slice(window.first, window.last + 1)
        q, v = _simulate(batch, things, one, one.time[window.start], one.time[samples], delays)
        differences.append(_differences(one, samples, q, v))
        times.append(one.time[samples])
        numbers += [number] * len(times[-1])
    return Prediction(np.concatenate(times), np.array(numbers), np.concatenate(differences, axis=1))


def _begin(thing, usual, one: BoundRecording, sample: int, offset: np.ndarray | None) -> None:
    """Set the measured state, plus an offset; `usual` q and v where nothing was measured."""
    q, v = one.q[sample], one.v[sample]
    q, v = np.where(np.isnan(q), usual[0], q), np.where(np.isnan(v), usual[1], v)
    if offset is not None:
        q, v = _displaced(one, q, offset[: len(v)]), v + offset[len(v) :]
    thing.q = q
    thing.v = v


def _displaced(one: BoundRecording, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Return q moved by a change (nv,), of a free base along and about its own axes."""
    moved = q.copy()
    if one.free:
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_quat(q[3:7])
        moved[:3] += turn.apply(change[:3])
        moved[3:7] = (turn * Rotation.from_rotvec(change[3:6])).as_quat()
    if "position" in one.compared:
        moved[one.q_of] += change[one.v_of]
    return moved


def _simulate(batch, things, one: BoundRecording, begin: float, times, delays):
    """Return q (worlds, samples, nq) and v at these times, between steps by interpolation."""
    at = (times - begin) / batch.worlds[0].time_step
    low = np.floor(at + _ON_A_STEP).astype(int)
    share = np.where(at - low < _ON_A_STEP, 0.0, at - low)
    wanted = np.unique(np.concatenate([low, low[share > 0.0] + 1]))
    commands, changes = _commands(one, begin, int(wanted[-1]), batch.worlds[0].time_step, delays)
    stops = np.union1d(wanted, changes)
    states: list[list] = []
    step = 0
    for stop in stops.tolist():
        if stop > step:
            batch.step(stop - step)
            step = stop
        if stop in wanted:
            states.append([np.concatenate([thing.q, thing.v]) for thing in things])
        if stop in changes:
            for thing, own in zip(things, commands):
                own.give(thing, stop)
    found = np.array(states).swapaxes(0, 1)
    first = np.searchsorted(wanted, low)
    after = np.minimum(first + 1, len(wanted) - 1)
    found = found[:, first] + share[:, None] * (found[:, after] - found[:, first])
    nq = one.q.shape[1]
    return found[:, :, :nq], found[:, :, nq:]


class _Commands(NamedTuple):
    """The commands of one world in a window, step by step."""

    joints: tuple[str, ...]
    values: dict[str, np.ndarray]  # of positions, velocities, efforts: (steps, joints)
    over: np.ndarray  # (steps,) [s]

    def give(self, robot, step: int) -> None:
        own = {key: rows[step] for key, rows in self.values.items()}
        robot.command(names=self.joints, over=self.over[step], **own)


def _commands(one: BoundRecording, begin: float, steps: int, time_step: float, delays: np.ndarray):
    """Return the commands of each world, and the steps at which those of any world change."""
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
        changes[1:] |= (np.diff(means, axis=0) != 0.0).any(axis=1)
        parts = dict(zip(columns, np.split(means, len(columns), axis=1)))
        found[delay] = _Commands(given.command_joints or (), parts, over)
    return [found[delay] for delay in delays.tolist()], np.flatnonzero(changes)


def _step_means(time: np.ndarray, values: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return the means over steps that begin and end at `ends` of values that hold until the next.

    So a delay that is no multiple of the step has its effect, and a derivative.
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


def _differences(one: BoundRecording, samples: slice, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return predicted minus measured (worlds, samples, columns), in the order of KINDS."""
    parts = []
    for kind in KINDS:
        columns = one.compared.get(kind)
        if columns is None:
            continue
        if kind == "position":
            parts.append(q[:, :, one.q_of] - one.q[samples][:, one.q_of])
        elif kind == "base_position":
            parts.append(q[:, :, :3] - one.q[samples, :3])
        elif kind == "base_rotation":
            parts.append(_turns(one.q[samples, 3:7], q[:, :, 3:7]))
        else:
            parts.append(v[:, :, columns] - one.v[samples][:, columns])
    return np.concatenate(parts, axis=2)


def _turns(measured: np.ndarray, found: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation

    turns = Rotation.from_quat(np.tile(measured, (len(found), 1))).inv()
    return (
        (turns * Rotation.from_quat(found.reshape(-1, 4))).as_rotvec().reshape(*found.shape[:2], 3)
    )
