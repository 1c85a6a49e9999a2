# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulate recordings in windows, each from the measured state at its beginning."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.fitting.follow import (
    Prediction,
    Trials,
    Window,
    follow,
    signal_samples,
    state_differences,
)
from hrpsim.fitting.recordings.measured_motion import KINDS, BoundRecording, Recording
from hrpsim.fitting.signals.signal_unknowns import signal_parameters
from hrpsim.fitting.unknowns import Unknowns
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from hrpsim.world.batch import Batch

_FOR_THREADS = 300  # number of degrees of freedom, below which threads take longer


class ResidualRows(NamedTuple):
    """For each residual: the index of its kind, of its window, and of its signal.

    Kinds are numbered as in `Predictor.kinds`. Windows and signals are numbered consecutively
    through all recordings. Here a signal is one column of a recording.
    """

    kind: np.ndarray
    window: np.ndarray
    signal: np.ndarray


def windows_of(time: np.ndarray, length: float, starts_are_fitted: bool) -> list[Window]:
    """Divide sample times into windows of `length` [s], with at least one sample each.

    With fitted initial states, a window also compares its first sample. Otherwise the first sample
    defines the initial state, and the window ends at the start of the next window.
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


def scenario_of(world: str | Path | WorldScenario) -> WorldScenario:
    """Return the scenario of a world file. A scenario is returned unchanged."""
    return world if isinstance(world, WorldScenario) else WorldScenario(world, duration=1.0)


def only(entities: Iterable[str]) -> str | None:
    """Return the name of the only entity, or None if there are several."""
    names = list(entities)
    return names[0] if len(names) == 1 else None


def unknowns_of(
    parameters: Mapping[str, Any], scenario: WorldScenario, recordings: Sequence[Recording]
) -> Unknowns:
    """Return the unknowns of a fit: parameters of the world, of signals and of delays."""
    signals = [signal for recording in recordings for signal in recording.signals]
    of_sensors = signal_parameters(signals, [recording.joints for recording in recordings])
    names = [recording.name for recording in recordings]
    return Unknowns(parameters, scenario.parameters() | of_sensors, names)


class Predictor:
    """Simulates all windows of recordings, in many worlds at the same time.

    kinds: unit of each compared kind of quantity, including signals.
    """

    def __init__(
        self,
        scenario: WorldScenario,
        recordings: Sequence[BoundRecording],
        window: float,
        starts_are_fitted: bool,
    ) -> None:
        self.scenario, self.recordings = scenario, recordings
        self.starts_are_fitted = starts_are_fitted
        self.windows = [
            windows_of(recording.time, window, starts_are_fitted) for recording in recordings
        ]
        self.kinds = dict(KINDS)
        for recording in recordings:
            for signal in recording.signals:
                self.kinds |= signal.signal.units
        self._find_order()

    def _find_order(self) -> None:
        """Find the permutation that sorts the rows of states and signals by windows."""
        windows = np.concatenate([window for _, window, _ in self._blocks()])
        is_sorted = not (np.diff(windows) < 0).any()
        self._order = None if is_sorted else np.argsort(windows, kind="stable")

    def only(
        self, numbers: np.ndarray, offsets: Sequence[np.ndarray] | None
    ) -> tuple[Predictor, Sequence[np.ndarray] | None]:
        """Return a predictor of the windows with these indices, and the offsets of the windows."""
        part, first, selected = copy(self), 0, []
        for k, windows in enumerate(self.windows):
            at = numbers[(numbers >= first) & (numbers < first + len(windows))] - first
            first += len(windows)
            if len(at):
                selected.append((self.recordings[k], [windows[n] for n in at], k, at))
        part.recordings, part.windows = [s[0] for s in selected], [s[1] for s in selected]
        part._find_order()
        return part, offsets and [offsets[k][at] for *_, k, at in selected]

    def predict(
        self,
        values: Sequence[Mapping[str, float]],
        offsets: Sequence[Sequence[np.ndarray] | None] | None = None,
        *,
        together: bool = False,
    ) -> list[list[Prediction]]:
        """Predict each recording for several trials.

        Args:
            values: values by path, for each trial. Trials that differ only in unknowns of signals
                share one world.
            offsets: changes of the measured initial states of windows, for each trial and recording
                (windows, 2 nv): displacements in the tangent space, then velocities.
            together: whether quantities that were not measured begin each window with the values of
                the first world.

        Returns:
            For each recording, the prediction of the states, then of each signal.
        """
        trials = Trials.of(values, offsets)
        worlds = [self.scenario.world_of(own, seed=0)[0] for own in trials.worlds]
        result = []
        size = sum(thing.nv for world in worlds for thing in world.entities.values())
        with Batch.of(worlds, 1 if size < _FOR_THREADS else None) as batch:
            for k, (recording, windows) in enumerate(zip(self.recordings, self.windows)):
                batch.reset()
                fitted = self.starts_are_fitted
                result.append(follow(batch, recording, windows, trials, together, fitted, k))
        return result

    def differences(
        self,
        values: Sequence[Mapping[str, float]],
        offsets: Sequence[Sequence[np.ndarray] | None] | None = None,
        *,
        together: bool = False,
    ) -> np.ndarray:
        """Return predicted minus measured (trials, rows), in the order of `rows`."""
        predictions = self.predict(values, offsets, together=together)
        parts = [prediction.differences for own in predictions for prediction in own]
        return self._ordered([part.reshape(len(part), -1) for part in parts])

    def _ordered(self, blocks: Sequence[np.ndarray]) -> np.ndarray:
        """Concatenate the blocks (..., rows) of all outputs, and sort the rows window by window."""
        rows = np.concatenate(blocks, axis=-1)
        return rows if self._order is None else rows[..., self._order]

    def still(self) -> np.ndarray:
        """Return the differences (rows,) if each window stayed in its initial state."""
        blocks = []
        for recording, windows in zip(self.recordings, self.windows):
            state, own = np.hstack([recording.q, recording.v]), []
            for window in windows:
                count = window.last + 1 - window.first
                samples = slice(window.first, window.last + 1)
                still = np.tile(state[window.start], (1, count, 1))
                own.append(state_differences(recording, samples, still).ravel())
            blocks.append(np.concatenate(own))
            for signal in recording.signals:
                chosen = (
                    signal_samples(recording, signal, window, self.starts_are_fitted)
                    for window in windows
                )
                blocks.append(np.concatenate([signal.still(samples).ravel() for samples in chosen]))
        return self._ordered(blocks)

    @property
    def has_signals(self) -> bool:
        """Whether signals of sensors are compared, in addition to the states."""
        return any(recording.signals for recording in self.recordings)

    def not_differentiated(self) -> str:
        """Return a kind of signal without derivatives, or "" if all kinds have derivatives."""
        signals = [own.signal for recording in self.recordings for own in recording.signals]
        return next((signal.kind for signal in signals if signal.rules.outputs is None), "")

    def rows(self) -> ResidualRows:
        """Return kind, window and signal of each entry of `differences`."""
        return ResidualRows(*map(self._ordered, zip(*self._blocks())))

    def _blocks(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return the kinds, windows and signals of the rows of each output, before sorting."""
        result, before, first, kinds = [], 0, 0, list(self.kinds)
        for recording, windows in zip(self.recordings, self.windows):
            counts = [np.array([w.last + 1 - w.first for w in windows])]
            columns = [[kind for kind, own in recording.columns() for _ in own]]
            for signal in recording.signals:
                samples = [
                    signal_samples(recording, signal, w, self.starts_are_fitted) for w in windows
                ]
                counts.append(np.array([own.stop - own.start for own in samples]))
                columns.append(list(signal.signal.quantities))
            for count, own in zip(counts, columns):
                numbers = np.repeat(before + np.arange(len(windows)), count)
                result.append(
                    (
                        np.tile([kinds.index(kind) for kind in own], len(numbers)),
                        np.repeat(numbers, len(own)),
                        np.tile(first + np.arange(len(own)), len(numbers)),
                    )
                )
                first += len(own)
            before += len(windows)
        return result
