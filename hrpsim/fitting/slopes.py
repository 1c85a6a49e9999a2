# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the residuals of a fit, by sensitivities or by finite differences.

Sensitivities (`World.linearize`) take as long as several steps, for any number of unknowns. Finite
differences need one world for each unknown. Sensitivities are valid only while contact states, for
example stick or slip, do not change. If both derivatives disagree in a window, the window uses
finite differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from copy import copy
from typing import NamedTuple

import numpy as np

from hrpsim.fitting.follow import Trials
from hrpsim.fitting.predict import Predictor
from hrpsim.fitting.sensitivities import sensitivities
from hrpsim.fitting.starts import Starts
from hrpsim.fitting.unknowns import Unknowns

EXACT, DIFFERENCES = "exact", "differences"
DERIVATIVES = ("auto", EXACT, DIFFERENCES)
_ENOUGH = 16  # number of unknowns and starts, above which sensitivities take less time
_AGREES = 0.1  # largest difference of both in a window, relative to the column in the window
_NOTICED = 1e-2  # or relative to the column in all windows
_USEFUL = 0.5  # least fraction of rows that agree
_IN_A_TASK = 2  # number of worlds that one process simulates in one task

Offsets = Sequence[np.ndarray] | None


class SlopeValues(NamedTuple):
    """Derivatives of residuals by u (rows, p), and optionally by initial states (rows, 2 nv)."""

    by_parameters: np.ndarray
    by_starts: np.ndarray | None


class Slopes:
    """Derivatives of residuals with respect to the unknowns u and the initial states of windows.

    Attributes:
        exact: whether sensitivities are used for an unknown (p,).
        sound: whether sensitivities are valid in a row (rows,).
        reason: why sensitivities are not used, "" if the number of unknowns is too small.
        pool: an executor whose processes compute sensitivities, or None.
    """

    pool: Executor | None

    def __init__(self, predictor: Predictor, unknowns: Unknowns, change: float, how: str) -> None:
        self._predictor, self._unknowns = predictor, unknowns
        self._changes = change * unknowns.significant(unknowns.start)
        self._window, self.pool = predictor.rows().window, None
        self.sound, self.reason = np.ones(len(self._window), dtype=bool), ""
        world = predictor.scenario.world_of({}, seed=0)[0]
        known = set(world.differentiable_parameters)
        self.exact = np.array([known.issuperset(paths) for paths in unknowns.paths])
        columns = self.exact.sum()
        if predictor.starts_are_fitted:
            columns += max(2 * recording.v.shape[1] for recording in predictor.recordings)
        lacking = predictor.not_differentiated()
        if lacking:
            self.reason = f"signals of kind {lacking} are not differentiated"
            self.exact[:] = False
        if how == DIFFERENCES or (how != EXACT and columns < _ENOUGH):
            self.exact[:] = False

    def only(self, predictor: Predictor, rows: np.ndarray) -> Slopes:
        """Return the derivatives for a predictor of some windows.

        rows: mask of the rows that belong to these windows (rows,).
        """
        part = copy(self)
        part._predictor, part._window = predictor, predictor.rows().window
        part.sound = self.sound[rows]
        return part

    def report(self) -> dict[str, str]:
        """Return the kind of derivatives that each parameter used: "exact" or "differences".

        If sensitivities are valid only in some rows, the text gives the fraction of these rows.
        """
        partly = f"exact in {self.sound.mean():.0%} of the rows, else differences"
        exact = "exact" if self.sound.all() else partly
        methods = {n: exact if e else DIFFERENCES for n, e in zip(self._unknowns.names, self.exact)}
        return methods | ({"a step that is not differentiated": self.reason} if self.reason else {})

    @property
    def of_starts(self) -> bool:
        """Whether derivatives with respect to initial states come from sensitivities."""
        return bool(self.exact.any())

    def first(self, u: np.ndarray, base: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the derivatives (rows, p) at u. Mark the rows with valid sensitivities in `sound`.

        Args:
            u: vector of the unknowns.
            base: differences (rows,) at u.
            weights: weights of these differences (rows,).
        """
        slopes = self._by_worlds(self._predictor, u, np.ones(len(u), dtype=bool), None, base)
        if not self.exact.any():
            return slopes
        derivatives = sensitivities(
            self._predictor, *self._values_and_slopes(u), None, False, self.pool
        )
        right = slopes[:, self.exact] * weights[:, None]
        wrong = derivatives.by_parameters * weights[:, None] - right
        count = self._window[-1] + 1
        sizes, errors = np.zeros((2, count, right.shape[1]))
        np.add.at(sizes, self._window, right**2)
        np.add.at(errors, self._window, wrong**2)
        allowed = np.maximum(_AGREES**2 * sizes, _NOTICED**2 * sizes.mean(axis=0))
        agrees = (errors <= allowed).all(axis=1)
        self.sound = agrees[self._window] & derivatives.known
        self.reason = derivatives.refused
        if self.sound.mean() < _USEFUL:
            self.exact[:] = False
        else:
            slopes[np.ix_(self.sound, self.exact)] = derivatives.by_parameters[self.sound]
        return slopes

    def at(
        self, u: np.ndarray, active: np.ndarray, offsets: Offsets, base: np.ndarray, starts: bool
    ) -> SlopeValues:
        """Return the derivatives with respect to `active` unknowns, and optionally initial states.

        Args:
            u: vector of the unknowns.
            active: mask of the requested unknowns (p,).
            offsets: offsets of the initial states of windows.
            base: differences (rows,) at u.
            starts: whether to differentiate with respect to initial states too.
        """
        slopes = np.zeros((len(base), len(u)))
        others = active & ~self.exact
        slopes[:, others] = self._by_worlds(self._predictor, u, others, offsets, base)
        values, shares = self._values_and_slopes(u)
        if not self.exact.any():
            by_starts = Starts(self._predictor, offsets).differentiate(values) if starts else None
            return SlopeValues(slopes[:, active], by_starts)
        derivatives = sensitivities(self._predictor, values, shares, offsets, starts, self.pool)
        slopes[:, self.exact] = derivatives.by_parameters
        by_starts, left = derivatives.by_starts, ~(self.sound & derivatives.known)
        if left.any():
            numbers = np.unique(self._window[left])
            part, own = self._predictor.only(numbers, offsets)
            left = np.isin(self._window, numbers)
            exact = active & self.exact
            slopes[np.ix_(left, exact)] = self._by_worlds(part, u, exact, own, base[left])
            if starts:
                by_starts[left] = Starts(part, own).differentiate(values)
        return SlopeValues(slopes[:, active], by_starts if starts else None)

    def _values_and_slopes(self, u: np.ndarray) -> tuple[dict[str, float], dict[str, np.ndarray]]:
        """Return the value at each path, and its derivatives with respect to u."""
        unknowns, shares = self._unknowns, {}
        values = unknowns.by_path(u)
        column = np.cumsum(self.exact) - 1
        for k in np.flatnonzero(self.exact):
            for path in unknowns.paths[k]:
                slope = values[path] if unknowns.log[k] else unknowns.unit[k]
                if path.endswith("_factor"):  # World.linearize uses relative changes
                    slope /= values[path]
                shares[path] = slope * (np.arange(self.exact.sum()) == column[k])
        return values, shares

    def _by_worlds(
        self,
        predictor: Predictor,
        u: np.ndarray,
        wanted: np.ndarray,
        offsets: Offsets,
        base: np.ndarray,
    ) -> np.ndarray:
        """Return the derivatives by the `wanted` unknowns, from finite differences of worlds."""
        if not wanted.any():
            return np.zeros((len(base), 0))
        top = self._unknowns.to_u(self._unknowns.high)
        changes = np.where(u + self._changes <= top, self._changes, -self._changes)
        us = [u + changes[k] * (np.arange(len(u)) == k) for k in np.flatnonzero(wanted)]
        values = [self._unknowns.by_path(each) for each in us]
        offsets_of = None if offsets is None else [offsets] * len(us)
        if self.pool is None:
            differences = predictor.differences(values, offsets_of)
        else:
            differences = _in_processes(self.pool, predictor, values, offsets_of)
        return ((differences - base) / changes[wanted, None]).T


def _in_processes(
    pool: Executor,
    predictor: Predictor,
    values: Sequence[Mapping[str, float]],
    offsets: Sequence[Offsets] | None,
) -> np.ndarray:
    """Predict trials in a pool of processes, and return the differences (trials, rows).

    Trials that share a world are simulated in the same process.
    """
    numbers = Trials.of(values, offsets).numbers
    parts = [
        np.flatnonzero((numbers >= k) & (numbers < k + _IN_A_TASK))
        for k in range(0, int(numbers.max()) + 1, _IN_A_TASK)
    ]
    tasks = [
        pool.submit(
            predictor.differences,
            [values[k] for k in part],
            None if offsets is None else [offsets[k] for k in part],
        )
        for part in parts
    ]
    differences = np.concatenate([task.result() for task in tasks])
    return differences[np.argsort(np.concatenate(parts))]
