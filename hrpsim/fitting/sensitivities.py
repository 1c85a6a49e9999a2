# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of predictions, propagated step by step (forward sensitivities).

A step is x' = A x + C p, with matrices from `World.linearize`. The sensitivity S = dx/dp therefore
becomes S' = A S + C. The last columns of S are derivatives with respect to the state at the
beginning of the window, and are initially the identity.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError
from hrpsim.derivatives.outputs import OUTPUTS
from hrpsim.derivatives.step_derivatives import OutputDerivatives
from hrpsim.fitting.follow import (
    Window,
    begin,
    between,
    command_delay,
    plan_of,
    run,
    state_of,
    turned,
)
from hrpsim.fitting.predict import Predictor
from hrpsim.fitting.recordings.measured_motion import POSITIONS, BoundRecording
from hrpsim.fitting.signals.bound_signal import BoundSignal
from hrpsim.fitting.signals.signal_kind import Tangent
from hrpsim.fitting.window_commands import commands_of

_TOGETHER = 10  # number of windows in one world, if the windows are independent
# Velocity in the middle of a step less that at the start, from those at the last four starts, as a
# step extrapolates smooth accelerations (hrpsim.engine.step.motion.midpoint.predict_velocity).
_AHEAD = (1.5, -3.0, 2.0, -0.5)


class Sensitivities(NamedTuple):
    """Derivatives of the differences, and the rows whose derivatives are known."""

    by_parameters: np.ndarray  # (rows, p)
    by_starts: np.ndarray  # (rows, 2 nv), with the largest nv
    known: np.ndarray  # (rows,) whether all steps of the window are differentiated
    refused: str  # reason why a window is not differentiated


def sensitivities(
    predictor: Predictor,
    values: Mapping[str, float],
    shares: Mapping[str, np.ndarray],
    offsets: Sequence[np.ndarray] | None,
    with_starts: bool,
    pool: Executor | None = None,
) -> Sensitivities:
    """Return the derivatives of predictions with respect to parameters and initial states.

    Args:
        predictor: predictor of the recordings.
        values: parameter values by path.
        shares: for each path, derivatives of its value with respect to the p unknowns (p,).
        offsets: offsets of the initial states, as for `Predictor.predict`.
        with_starts: whether to differentiate with respect to initial states too.
        pool: pool of processes that simulate windows, or None.
    """
    count = sum(map(len, predictor.windows))
    size = _TOGETHER if all(recording.is_whole for recording in predictor.recordings) else count
    parts = [
        predictor.only(numbers, offsets)
        for numbers in np.split(np.arange(count), range(size, count, size))
    ]
    find = partial(_of_part, values, shares, with_starts)
    results = list((map if pool is None else pool.map)(find, *zip(*parts)))
    *arrays, refused = zip(*results)
    slopes, by_starts, known = map(np.concatenate, arrays)
    return Sensitivities(slopes, by_starts, known, next(filter(None, refused), ""))


def _of_part(
    values: Mapping[str, float],
    shares: Mapping[str, np.ndarray],
    with_starts: bool,
    predictor: Predictor,
    offsets: Sequence[np.ndarray] | None,
) -> Sensitivities:
    """Return the derivatives of a predictor's windows, simulated one after another in one world."""
    world = predictor.scenario.world_of(values, seed=0)[0]
    world.sleeping, first = False, world.snapshot()
    width = (
        max(2 * recording.v.shape[1] for recording in predictor.recordings) if with_starts else 0
    )
    parts, known = [], []
    tangent = _Tangent(world, values, shares, width, predictor.starts_are_fitted)
    for k, (bound, windows) in enumerate(zip(predictor.recordings, predictor.windows)):
        world.restore(first)
        tangent.begin_recording()
        for number, window in enumerate(windows):
            offset = None if offsets is None else offsets[k][number]
            slopes, sound = tangent.follow(bound.with_encoders(values), window, offset)
            parts.append(slopes)
            known.append(np.full(len(slopes), sound))
    by_parameters, by_starts = np.split(np.concatenate(parts), [tangent.count], axis=1)
    return Sensitivities(by_parameters, by_starts, np.concatenate(known), tangent.refused)


class _Tangent:
    """One world that propagates the derivatives S of its state.

    The method `step` has the interface of a `Batch`.
    """

    def __init__(
        self,
        world,
        values: Mapping[str, float],
        shares: Mapping[str, np.ndarray],
        width: int,
        starts_are_fitted: bool,
    ) -> None:
        self.worlds, self._paths, self._values = [world], list(shares), values
        self._shares = np.array(list(shares.values())).reshape(len(shares), -1)
        self.count, self._width = self._shares.shape[1], width
        self._nv = sum(thing.nv for thing in world.entities.values())
        self._fitted, self.refused, self._sound = starts_are_fitted, "", True
        self._rows: dict[tuple, dict[tuple[str, str, str], slice]] = {}  # of outputs, by names

    def begin_recording(self) -> None:
        """Set the derivatives to zero at the beginning of a recording."""
        self._S = np.zeros((2 * self._nv, self.count + self._width))
        self._outputs: dict[tuple[str, str, str], np.ndarray] = {}
        self._ahead: dict[tuple[str, str, str], np.ndarray] = {}

    def step(self, count: int) -> None:
        """Advance the world by `count` steps.

        Propagate S up to the first step without derivatives.
        """
        world, S = self.worlds[0], self._S
        for _ in range(count):
            self._done += 1
            if self._sound:
                kinds = tuple(
                    kind for kind, steps in self._output_steps.items() if self._done in steps
                )
                try:
                    slopes = world.linearize((), parameters=self._paths, outputs=kinds, margin=None)
                    self._differentiate_outputs(slopes.outputs)
                    self._past = [S[self._nv :].copy(), *self._past[:2]]
                    S[:] = slopes.A @ S
                    S[:, : self.count] += slopes.C @ self._shares
                except WorldError as error:
                    self.refused, self._sound = str(error), False
            world.step()

    def _differentiate_outputs(self, outputs: OutputDerivatives) -> None:
        """Store the derivatives of a step's outputs by name, given S at the start of the step."""
        if not outputs.names:
            return
        if outputs.names not in self._rows:
            names = list(outputs.names)
            self._rows[outputs.names] = {
                name: slice(names.index(name), names.index(name) + names.count(name))
                for name in dict.fromkeys(names)
            }
        slopes = outputs.A @ self._S
        slopes[:, : self.count] += outputs.C @ self._shares
        present, *past = self._S[self._nv :], *self._past
        ahead = outputs.A[:, self._nv :] @ (
            _AHEAD[0] * present + sum(map(np.multiply, _AHEAD[1:], past))
        )
        rows = self._rows[outputs.names].items()
        self._outputs = {name: slopes[own] for name, own in rows}
        self._ahead = {name: ahead[own] for name, own in rows}

    def follow(
        self, one: BoundRecording, window: Window, offset: np.ndarray | None
    ) -> tuple[np.ndarray, bool]:
        """Simulate a window. Return derivatives (rows, p + 2 nv), and whether all are known."""
        world, self._sound, self._done = self.worlds[0], True, 0
        thing, begin_time = world.entities[one.entity], one.time[window.start]
        at = self._begin(thing, one, window, offset)
        settings = [[signal.settings(self._values)] for signal in one.signals]
        plan = plan_of(one, window, settings, world.time_step, self._fitted)
        self._output_steps = {kind: set() for kind in OUTPUTS}
        for signal, steps in zip(one.signals, plan.wanted[1:]):
            for kind in signal.signal.rules.outputs or ():
                self._output_steps[kind].update(steps.tolist())
        reads = [lambda: np.concatenate([state_of(thing), self._S[at].ravel()])]
        reads += [partial(self._read, thing, signal, at) for signal in one.signals]
        delay = command_delay(self._values, one)
        commands = commands_of([one.recording], begin_time, plan.last, world.time_step, [delay])
        states, *raws = run(self, [thing], plan.wanted, commands, reads)
        predicted = between(states, plan.wanted[0], plan.states)
        q, _, S = np.split(predicted, [one.q.shape[1], one.q.shape[1] + thing.nv], axis=1)
        S = S.reshape(len(q), 2 * thing.nv, -1)
        blocks = [_differentials(one, slice(window.first, window.last + 1), q, S)]
        parts = zip(one.signals, settings, raws, plan.wanted[1:], plan.signals)
        for signal, (setting,), raw, known, steps in parts:
            if steps.size:
                values = between(raw, known, steps[0])
                blocks.append(signal.differentials(values[:, :, 0], values[:, :, 1:], setting))
        width = self.count + self._width
        return np.concatenate([own.reshape(-1, width) for own in blocks]), self._sound

    def _begin(self, thing, one: BoundRecording, window: Window, offset) -> np.ndarray:
        """Set a robot or body to the start of a window. Return the indices of its state in S."""
        nv = thing.nv
        at = thing.first_v + np.arange(nv)
        at = np.concatenate([at, self._nv + at])
        begin(thing, (thing.q, thing.v), one, window.start, offset)
        measured = ~np.isnan(one.v[window.start])
        self._S[at[np.tile(measured, 2)], : self.count] = 0.0
        self._S[:, self.count :] = 0.0
        if self._width:
            moves = np.ones(2 * nv)
            moves[6 * one.free : nv] = np.isin(np.arange(6 * one.free, nv), one.v_of_starts)
            self._S[at, self.count + np.arange(2 * nv)] = moves
        self._past = 3 * [self._S[self._nv :].copy()]
        return at

    def _read(self, thing, signal: BoundSignal, at: np.ndarray) -> np.ndarray:
        """Return the raw values of a signal with their derivatives (width, 1 + p).

        Column 0 has the values.
        """
        raw = signal.read(thing)
        if not self._sound:
            return np.hstack([raw[:, None], np.zeros((len(raw), self._S.shape[1]))])
        slopes = signal.slopes(thing, Tangent(self._S[at], self._outputs, self._ahead))
        return np.hstack([raw[:, None], slopes])


def _differentials(one: BoundRecording, samples: slice, q: np.ndarray, S: np.ndarray) -> np.ndarray:
    """Return derivatives of the differences (samples, columns, p), given derivatives of the states.

    Args:
        one: the recording.
        samples: range of the samples.
        q: simulated configurations (samples, nq).
        S: derivatives of the simulated states (samples, 2 nv, p).
    """
    nv, parts = S.shape[1] // 2, []
    for kind, columns in one.columns():
        own = S[:, columns if kind in POSITIONS else nv + columns]
        if kind == "base_position":
            own = turned(np.tile([0.0, 0.0, 0.0, 1.0], (len(q), 1)), q[:, 3:7]).as_matrix() @ own
        elif kind == "base_rotation":
            # d log(exp(r) exp(d)) / dd, the inverse of the right Jacobian, to third order
            r = turned(one.q[samples, 3:7], q[:, 3:7]).as_rotvec()[:, None, :]
            cross = np.cross(r, -np.eye(3))
            own = (np.eye(3) + 0.5 * cross + cross @ cross / 12.0) @ own
        parts.append(own)
    return np.concatenate(parts, axis=1)
