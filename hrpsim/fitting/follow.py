# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulate windows of a recording, and compare every sample with the simulation.

An offset is a change of a measured initial state (2 nv,): a displacement in the tangent space, then
a change of velocity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from hrpsim.fitting.recordings.measured_motion import BoundRecording
from hrpsim.fitting.signals.bound_signal import BoundSignal
from hrpsim.fitting.signals.signal import PREFIX
from hrpsim.fitting.unknowns import DELAY
from hrpsim.fitting.window_commands import ON_A_STEP, Commands, commands_of
from hrpsim.world.batch import Batch


class Window(NamedTuple):
    """The samples `first` to `last` of a recording, simulated from the state of sample `start`."""

    start: int
    first: int
    last: int


class Prediction(NamedTuple):
    """Differences between predicted and measured samples of the states, or of one signal."""

    time: np.ndarray  # (samples,) [s]
    window: np.ndarray  # (samples,)
    differences: np.ndarray  # (worlds, samples, columns), predicted minus measured


class Trials(NamedTuple):
    """The trials of a prediction. Trials that differ only in unknowns of signals share a world."""

    values: Sequence[Mapping[str, float]]
    numbers: np.ndarray  # number of each trial's world
    worlds: list[Mapping[str, float]]  # values of each world
    offsets: list[Sequence[np.ndarray] | None]  # offsets of each world

    @staticmethod
    def of(
        values: Sequence[Mapping[str, float]], offsets: Sequence[Sequence[np.ndarray] | None] | None
    ) -> Trials:
        """Assign each trial to a world, given the trials' values and offsets."""
        known: dict[Any, int] = {}
        numbers, worlds, starts = [], [], []
        for own, start in zip(values, offsets or [None] * len(values)):
            moving = [(k, v) for k, v in own.items() if not k.startswith(PREFIX)]
            key = (id(start), *sorted(moving))
            if key not in known:
                known[key] = len(worlds)
                worlds.append(own)
                starts.append(start)
            numbers.append(known[key])
        return Trials(values, np.array(numbers), worlds, starts)


def command_delay(values: Mapping[str, float], one: BoundRecording) -> float:
    """Return the delay of a recording's commands, common and own [s]."""
    return values.get(DELAY, 0.0) + values.get(f"{DELAY}.{one.name}", 0.0)


def follow(
    batch: Batch,
    one: BoundRecording,
    windows: Sequence[Window],
    trials: Trials,
    together: bool,
    starts_are_fitted: bool,
    number: int,
) -> list[Prediction]:
    """Predict the states of a recording, and each of its signals.

    Args:
        batch: the worlds, one for each distinct trial.
        one: the recording.
        windows: windows to simulate, in order.
        trials: values and offsets.
        together: whether quantities that were not measured begin each window with the values of the
            first world.
        starts_are_fitted: whether a fit changes the initial states.
        number: index of the recording, which selects the offsets in `trials`.

    Returns:
        The prediction of the states, then of each signal.
    """
    followed = _Followed(batch, one, trials, starts_are_fitted)
    parts: list[_Parts] = [_Parts([], [], []) for _ in range(1 + len(one.signals))]
    for at_window, window in enumerate(windows):
        starts = [None if own is None else own[number][at_window] for own in trials.offsets]
        _begin_all(followed.things, followed.ones, window, starts, together)
        for part, (time, differences) in zip(parts, followed.compare(window)):
            part.add(time, at_window, differences)
    return [part.joined() for part in parts]


class _Followed:
    """The worlds of some trials, simulated with the commands of a recording.

    The outputs are the states, then each signal.
    """

    def __init__(
        self, batch: Batch, one: BoundRecording, trials: Trials, starts_are_fitted: bool
    ) -> None:
        self._batch, self._recording, self._trials = batch, one, trials
        self._starts_are_fitted = starts_are_fitted
        self.things = [world.entities[one.entity] for world in batch.worlds]
        self.ones = [one.with_encoders(own) for own in trials.worlds]
        self._delays = [command_delay(own, one) for own in trials.worlds]
        self._time_step = batch.worlds[0].time_step
        self._settings = [[signal.settings(own) for own in trials.values] for signal in one.signals]
        self._reads: list[Callable[[], Any]] = [self._states]
        self._reads += [partial(_read_all, signal, self.things) for signal in one.signals]

    def _states(self) -> np.ndarray:
        return np.array([state_of(thing) for thing in self.things])

    def compare(self, window: Window) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Simulate a window from the present states. Yield times and differences of each output."""
        recording, numbers, fitted = self._recording, self._trials.numbers, self._starts_are_fitted
        plan = plan_of(recording, window, self._settings, self._time_step, fitted)
        recordings = [own.recording for own in self.ones]
        begin_time = recording.time[window.start]
        commands = commands_of(recordings, begin_time, plan.last, self._time_step, self._delays)
        states, *raws = run(self._batch, self.things, plan.wanted, commands, self._reads)
        samples, known = slice(window.first, window.last + 1), plan.wanted
        predicted = between(states, known[0], plan.states)
        yield recording.time[samples], self._of_states(samples, predicted)[numbers]
        parts = zip(recording.signals, plan.chosen, self._settings, raws, known[1:], plan.signals)
        for own, samples, setting, raw, known_steps, steps in parts:
            values = [raw[:, k] for k in numbers]
            rows = _of_signal(own, samples, setting, known_steps, values, steps)
            yield own.signal.time[samples], rows

    def _of_states(self, samples: slice, states: np.ndarray) -> np.ndarray:
        """Return predicted minus measured states (worlds, samples, columns).

        The predictions include the encoder offsets.
        """
        differences = state_differences(self._recording, samples, states.swapaxes(0, 1))
        shifts = np.array([own.encoders for own in self.ones])
        differences[:, :, : shifts.shape[1]] += shifts[:, None, :]
        return differences


def _begin_all(
    things: Sequence[Any],
    ones: Sequence[BoundRecording],
    window: Window,
    starts: Sequence[np.ndarray | None],
    together: bool,
) -> None:
    """Set the state of each world at the start of a window, with the offset of each world."""
    first = things[0].q, things[0].v
    for thing, own, start in zip(things, ones, starts):
        begin(thing, first if together else (thing.q, thing.v), own, window.start, start)


def _steps_of_signals(
    signals: Sequence[BoundSignal],
    chosen: Sequence[slice],
    settings: Sequence[Sequence[Any]],
    begin_time: float,
) -> list[np.ndarray]:
    """Return the times of the samples of each signal (trials, samples), in steps."""
    return [
        np.array([signal.steps(samples, begin_time, each) for each in own])
        for signal, samples, own in zip(signals, chosen, settings)
    ]


def _of_signal(
    signal: BoundSignal,
    samples: slice,
    settings: Sequence[Any],
    known: np.ndarray,
    values: Sequence[np.ndarray],
    steps: Sequence[np.ndarray],
) -> np.ndarray:
    """Return predicted minus measured samples of a signal in one window (trials, samples, width).

    Args:
        signal: the signal.
        samples: range of the samples.
        settings: unknowns of the signal, for each trial.
        known: numbers of the steps with raw values.
        values: raw values of each trial at the steps `known` (known, ...).
        steps: times of the samples in steps, for each trial.
    """
    if samples.start == samples.stop:
        return np.zeros((len(settings), 0, signal.signal.values.shape[1]))
    raws = [between(own, known, at) for own, at in zip(values, steps)]
    return np.array([signal.differences(r, samples, each) for r, each in zip(raws, settings)])


class _Parts(NamedTuple):
    """Times, window indices and differences of one output, collected window by window."""

    times: list[np.ndarray]
    windows: list[np.ndarray]
    differences: list[np.ndarray]

    def add(self, time: np.ndarray, window: int, differences: np.ndarray) -> None:
        self.times.append(time)
        self.windows.append(np.full(len(time), window))
        self.differences.append(differences)

    def joined(self) -> Prediction:
        differences = np.concatenate(self.differences, axis=1)
        return Prediction(np.concatenate(self.times), np.concatenate(self.windows), differences)


def signal_samples(
    one: BoundRecording, signal: BoundSignal, window: Window, starts_are_fitted: bool
) -> slice:
    """Return the range of a signal's samples that a window compares."""
    last = min(window.last + starts_are_fitted, len(one.time) - 1)
    with_end = not starts_are_fitted or window.last == len(one.time) - 1
    return signal.samples(one.time[window.start], one.time[last], with_end)


def state_of(thing) -> np.ndarray:
    """Return q and v of a robot or body as one vector (nq + nv,)."""
    return np.concatenate([thing.q, thing.v])


def begin(thing, usual, one: BoundRecording, sample: int, offset: np.ndarray | None) -> None:
    """Set a robot or body to the measured state of a sample, plus an offset (2 nv,).

    usual: q and v that replace quantities that were not measured.
    """
    q, v = one.q[sample], one.v[sample]
    q, v = np.where(np.isnan(q), usual[0], q), np.where(np.isnan(v), usual[1], v)
    if offset is not None:
        q, v = _displaced(one, q, offset[: len(v)]), v + offset[len(v) :]
    thing.place(q)
    thing.v = v


def _displaced(one: BoundRecording, q: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Displace q by a change (nv,), with a free base's change in the base's own axes."""
    moved = q.copy()
    if one.free:
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_quat(q[3:7])
        moved[:3] += turn.apply(change[:3])
        moved[3:7] = (turn * Rotation.from_rotvec(change[3:6])).as_quat()
    moved[one.q_of_starts] += change[one.v_of_starts]
    return moved


class Plan(NamedTuple):
    """The times at which a window needs the states and each signal."""

    states: np.ndarray  # (samples,) [steps]
    chosen: list[slice]  # samples of each signal
    signals: list[np.ndarray]  # (trials, samples) of each signal [steps]
    wanted: list[np.ndarray]  # numbers of steps, of states and of each signal
    last: int  # number of the last step


def plan_of(
    one: BoundRecording,
    window: Window,
    settings: Sequence[Sequence[Any]],
    time_step: float,
    starts_are_fitted: bool,
) -> Plan:
    """Return the plan of a window.

    settings: unknowns of each signal, for each trial.
    """
    begin_time = one.time[window.start]
    states = (one.time[window.first : window.last + 1] - begin_time) / time_step
    chosen = [signal_samples(one, own, window, starts_are_fitted) for own in one.signals]
    signals = _steps_of_signals(one.signals, chosen, settings, begin_time)
    steps = [_steps_needed(own) for own in (states, *signals)]
    last = max(int(own[-1]) for own in steps if len(own))
    return Plan(states, chosen, signals, steps, last)


def _lower(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the last step before each time (in steps), and the remaining fraction of a step."""
    low = np.floor(at + ON_A_STEP).astype(int)
    return low, np.where(at - low < ON_A_STEP, 0.0, at - low)


def _read_all(signal: BoundSignal, things: Sequence[Any]) -> np.ndarray:
    """Return the raw values of a signal in all worlds (worlds, width)."""
    return np.array([signal.read(thing) for thing in things])


def _steps_needed(at: np.ndarray) -> np.ndarray:
    """Return the numbers of the steps that interpolation at the times `at` [steps] needs."""
    low, fraction = _lower(at.ravel())
    return np.unique(np.concatenate([low, low[fraction > 0.0] + 1]))


def between(values: np.ndarray, wanted: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Interpolate values linearly between steps.

    Args:
        values: one row for each step in `wanted` (steps, ...).
        wanted: step numbers of the rows, ascending.
        at: times of the results, in steps.
    """
    low, fraction = _lower(at)
    first = np.searchsorted(wanted, low)
    after = np.minimum(first + 1, len(wanted) - 1)
    fraction = fraction.reshape(-1, *(1,) * (values.ndim - 1))
    return values[first] + fraction * (values[after] - values[first])


def run(
    batch,
    things: Sequence[Any],
    wanted: Sequence[np.ndarray],
    commands: tuple[list[Commands], np.ndarray],
    reads: Sequence[Callable[[], Any]],
) -> list[np.ndarray]:
    """Step the worlds through a window, and read values after the requested steps.

    Args:
        batch: the worlds.
        things: the robot or body of each world.
        wanted: step numbers for each function of `reads`, ascending.
        commands: commands of each world, and the steps at which commands change.
        reads: functions that read values of all worlds.

    Returns:
        The values of each function, one array (steps, ...) each.
    """
    world_commands, changes = commands
    results: list[list[Any]] = [[] for _ in reads]
    sets, step = [set(own.tolist()) for own in wanted], 0
    for stop in np.unique(np.concatenate([*wanted, changes])).tolist():
        if stop > step:
            batch.step(stop - step)
            step = stop
        for values, own, read in zip(results, sets, reads):
            if stop in own:
                values.append(read())
        if stop in changes:
            for thing, own in zip(things, world_commands):
                own.give(thing, stop)
    return [np.array(own) for own in results]


def state_differences(one: BoundRecording, samples: slice, states: np.ndarray) -> np.ndarray:
    """Return predicted minus measured states (worlds, samples, columns), in the order of KINDS."""
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
    """Return the rotations measured^-1 found as a SciPy Rotation, in the measured frames.

    Args:
        measured: quaternions x y z w (n, 4).
        found: quaternions x y z w (n, 4).
    """
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(measured).inv() * Rotation.from_quat(found)
