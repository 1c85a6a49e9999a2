# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find parameters of a world by nonlinear least squares.

The model, in windows w with samples k: y_wk = h(x_w(t_k; theta, x_w0)) + noise. Gauss and Newton's
method (scipy's trust region) minimises the squares of the differences over their deviations, plus
those of priors, over theta and, where starts are fitted, over every x_w0. Covariances: inverse of
J^T J times the residual variance where starts are fitted. Where windows start at measured states,
their noise is common to a window; then the windows are clusters of White's sandwich estimator.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.errors import HrpsimError, unknown_name
from hrpsim.fitting.errors import FitError, FitWarning
from hrpsim.fitting.predict import Prediction, Predictor
from hrpsim.fitting.recording import KINDS, BoundRecording, Recording
from hrpsim.fitting.result import FitResult, Trace, Undetermined
from hrpsim.fitting.unknowns import Unknown, Unknowns
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

_CHANGE = 1e-4  # of u, and of starts [rad, m, rad/s, m/s], for differences
_MOST_CHANGE = 0.5
_DEPENDS = 1e-7  # of the largest column: below this nothing depends on a parameter
_LOOSE = 0.5  # deviation of a combination, in u, from which it is not determined
_SINGULAR = 5e-4  # or size of its effect over the largest, below what differences can resolve
_CONVERGED = 1e-4
_MOST_EVALUATIONS = 40
_CONFIDENCE = 0.95
STARTS = ("measured", "fitted")


def fit(  # many parameters: keywords, passed by name
    world: str | Path | WorldScenario,
    recordings: Sequence[Recording],
    parameters: Mapping[str, Unknown | float | Mapping[str, Any]],
    *,
    entity: str | None = None,
    window: float = 0.2,
    start: str = "measured",
    noise: Mapping[str, float] | None = None,
    change: float = _CHANGE,
    report: Callable[[str], None] | None = None,
) -> FitResult:
    """Find parameters with which a world predicts recordings best.

    Each recording is simulated in windows with its commands, from the measured state at the
    beginning of each: a robot that stands or walks is unstable, so that a longer simulation says
    nothing about parameters.

    Args:
        world: world file, or a scenario with one.
        recordings: to fit to; those that are `held_out` are only predicted.
        parameters: by path, as sweeps name them, or `delay` and `delay.RECORDING` [s] of commands;
            each an `Unknown`, its keywords, or the first value.
        entity: the robot or body that was recorded; by default the only robot.
        window: length [s].
        start: "measured": windows start at measured states, for precise sensors and many joints;
            "fitted": their starts are fitted too, so that noise in them leaves no bias.
        noise: standard deviations by kind of quantity (`hrpsim.fitting.recording.KINDS`); by
            default from the differences that remain.
        change: of a parameter for differences, as a share of it (scale log), or of the distance of
            its bounds; larger where impacts make predictions jump.
        report: called with a line on the progress.

    Raises:
        FitError: for unknown names, and recordings that do not fit.
        HrpsimError: for values that the world cannot have, and steps that fail.
    """
    scenario = world if isinstance(world, WorldScenario) else WorldScenario(world, duration=1.0)
    if not 0.0 < change <= _MOST_CHANGE:
        raise FitError(f"change must be positive and at most {_MOST_CHANGE}, got {change!r}")
    problem = _Problem(scenario, recordings, parameters, entity, window, start, change)
    for kind in noise or {}:
        if kind not in KINDS:
            raise FitError(f"noise: {unknown_name('kind', kind, KINDS)}")
    say = report or (lambda text: None)
    u = problem.begin(dict(noise or {}))
    solution = problem.solve(u, say)
    if not noise:
        problem.weigh(solution, {})
        solution = problem.solve(solution, say)
    return problem.result(solution)


class _Problem:
    """The residuals of a fit, and their derivatives, by u and the starts of windows."""

    def __init__(self, scenario, recordings, parameters, entity, window, start, change):
        if start not in STARTS:
            raise FitError(f"start must be measured or fitted, got {start!r}")
        if not window > 0.0:
            raise FitError(f"window must be a positive time [s], got {window!r}")
        self._change = change
        names = [one.name for one in recordings]
        if twice := [name for name in names if names.count(name) > 1]:
            raise FitError(f"two recordings are called {twice[0]!r}")
        first = scenario.world_of({}, seed=0)[0]
        entity = (
            entity
            or scenario.robot
            or (next(iter(first.entities)) if len(first.entities) == 1 else None)
        )
        bound = [BoundRecording(one, first, entity) for one in recordings]
        fitted = [one for one in bound if not one.recording.held_out]
        if not fitted:
            raise FitError("no recording to fit to: all are held out, or there are none")
        self.unknowns = Unknowns(parameters, scenario.parameters(), names)
        self.free_starts = start == "fitted"
        self._predictor = Predictor(scenario, fitted, window, self.free_starts)
        self._others = [one for one in bound if one.recording.held_out]
        self._other = Predictor(scenario, self._others, window, False) if self._others else None
        self._rows = self._predictor.rows()
        self._active = np.ones(len(self.unknowns), dtype=bool)
        self._last: tuple[bytes, np.ndarray] = b"", np.zeros(0)  # x, differences
        self._slopes: tuple[bytes, np.ndarray] | None = None  # x, their derivatives
        self._sizes = []
        if self.free_starts:
            if any(np.isnan(one.v).any() for one in fitted):
                raise FitError("start: fitted needs recordings of all joints")
            self._sizes = [
                (len(windows), 2 * one.v.shape[1])
                for windows, one in zip(self._predictor.windows, fitted)
            ]

    # -- residuals -------------------------------------------------------------------------------

    def _split(self, x: np.ndarray) -> tuple[np.ndarray, list[np.ndarray] | None]:
        """Return all u, and the offsets of starts (windows, 2 nv) of each recording."""
        u = self._u.copy()
        count = int(self._active.sum())
        u[self._active] = x[:count]
        if not self.free_starts:
            return u, None
        ends = count + np.cumsum([rows * columns for rows, columns in self._sizes])
        parts = np.split(x[count:], ends[:-1] - count)
        return u, [part.reshape(size) for part, size in zip(parts, self._sizes)]

    def _differences(self, us: Sequence[np.ndarray], offsets=None) -> np.ndarray:
        """Return predicted minus measured (worlds, rows)."""
        values = [self.unknowns.by_path(u) for u in us]
        found = self._predictor.predict(values, offsets)
        return np.hstack([one.differences.reshape(len(us), -1) for one in found])

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """Return weighted differences, then those from priors."""
        if self._last[0] != x.tobytes():
            u, offsets = self._split(x)
            self._last = x.tobytes(), self._differences([u], [offsets])[0]
        u, _ = self._split(x)
        return np.concatenate([self._last[1] * self._weights, self.unknowns.prior_residuals(u)])

    def _trial(self, x: np.ndarray) -> np.ndarray:
        """Return residuals; large ones for values that no world can have, which are not taken."""
        try:
            return self.residuals(x)
        except HrpsimError:
            return np.full(len(self._weights) + len(self.unknowns.priors), 1e6)

    def derivatives(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives of `residuals`."""
        if self._slopes is None or self._slopes[0] != x.tobytes():
            self._slopes = x.tobytes(), self._slopes_at(x)
        slopes = self._slopes[1] * self._weights
        count = int(self._active.sum())
        own, priors = slopes[:count].T, self.unknowns.prior_rows()[:, self._active]
        if not self.free_starts:
            return np.vstack([own, priors])
        starts = self._starts_columns(slopes[count:])
        return np.block([[own, starts], [priors, np.zeros((len(priors), starts.shape[1]))]])

    def _slopes_at(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives (unknowns, rows) of the differences, by worlds side by side.

        After those of the parameters come those of the entries of starts, of all windows at once.
        Exact derivatives of a step would take the place of this function.
        """
        self.residuals(x)
        u, offsets = self._split(x)
        active = np.flatnonzero(self._active)
        top = self.unknowns.to_u(self.unknowns.high)
        changes = np.where(u + self._change <= top, self._change, -self._change)[active]
        us = [u + own * (np.arange(len(u)) == k) for k, own in zip(active, changes)]
        width = max((columns for _, columns in self._sizes), default=0)
        moved = [offsets] * len(us)
        moved += [[_one_column(one, k) for one in offsets or ()] for k in range(width)]
        changes = np.concatenate([changes, np.full(width, _CHANGE)])
        found = self._differences([*us, *[u] * width], moved)
        return (found - self._last[1]) / changes[:, None]

    def _starts_columns(self, slopes: np.ndarray) -> np.ndarray:
        """Return the derivatives by all starts: a window depends on its own alone."""
        columns = np.zeros((slopes.shape[1], sum(a * b for a, b in self._sizes)))
        at = window = 0
        for count, width in self._sizes:
            for _ in range(count):
                rows = self._rows.window == window
                columns[rows, at : at + width] = slopes[:width, rows].T
                at, window = at + width, window + 1
        return columns

    # -- solution --------------------------------------------------------------------------------

    def begin(self, noise: dict[str, float]) -> np.ndarray:
        """Return the first vector, and hold parameters that nothing depends on."""
        self._u = self.unknowns.to_u(self.unknowns.start)
        x = np.concatenate([self._u, np.zeros(sum(a * b for a, b in self._sizes))])
        self.weigh(x, noise)
        sizes = np.linalg.norm(self.derivatives(x)[: len(self._weights), : len(self._u)], axis=0)
        self._active = sizes > _DEPENDS * sizes.max(initial=0.0)
        if not self._active.all():
            self._slopes = None
        for k in np.flatnonzero(~self._active):
            warnings.warn(
                f"nothing that was measured depends on {self.unknowns.names[k]}: it stays "
                f"{self.unknowns.start[k]:g}",
                FitWarning,
                stacklevel=3,
            )
        if not self._active.any():
            raise FitError("nothing that was measured depends on any of the parameters")
        return np.concatenate([self._u[self._active], x[len(self._u) :]])

    def weigh(self, x: np.ndarray, noise: Mapping[str, float]) -> None:
        """Weigh each kind by its deviation: given, or that of the differences at x."""
        u, offsets = self._split(x)
        found = self._differences([u], [offsets])[0]
        self._weights = np.ones(len(found))
        for k, kind in enumerate(KINDS):
            rows = self._rows.kind == k
            if rows.any():
                size = float(np.sqrt(np.mean(found[rows] ** 2)))
                self._weights[rows] = 1.0 / (noise.get(kind) or max(size, 1e-9))
        self._last = x.tobytes(), found

    def solve(self, x: np.ndarray, say: Callable[[str], None]) -> np.ndarray:
        """Return the vector with the least squares."""
        from scipy.optimize import least_squares

        ends = self.unknowns.low, self.unknowns.high
        low, high = (self.unknowns.to_u(end)[self._active] for end in ends)
        rest = np.full(len(x) - len(low), np.inf)
        count = [0]

        def trial(x):
            count[0] += 1
            found = self._trial(x)
            say(f"evaluation {count[0]}: sum of squares {found @ found:.6g}")
            return found

        self.residuals(x)  # raises for a start that no world can have
        found = least_squares(
            trial,
            np.clip(x, np.concatenate([low, -rest]), np.concatenate([high, rest])),
            self.derivatives,
            (np.concatenate([low, -rest]), np.concatenate([high, rest])),
            x_scale="jac",
            ftol=_CONVERGED,
            xtol=_CONVERGED,
            max_nfev=_MOST_EVALUATIONS,
        )
        if found.status == 0:
            warnings.warn(
                f"the fit has not converged in {_MOST_EVALUATIONS} evaluations",
                FitWarning,
                stacklevel=3,
            )
        return found.x

    def result(self, x: np.ndarray) -> FitResult:
        """Return values, intervals and errors."""
        from scipy.special import stdtrit

        u, _ = self._split(x)
        residuals, J = self.residuals(x), self.derivatives(x)
        count, own = int(self._active.sum()), len(self._weights)
        if self.free_starts:
            Q = np.linalg.qr(J[:own, count:])[0]
            J = np.vstack([J[:own, :count] - Q @ (Q.T @ J[:own, :count]), J[own:, :count]])
        degrees = len(residuals) - len(x)
        if degrees < 1:
            raise FitError(f"{len(x)} unknowns need more than {len(residuals)} measured numbers")
        variance = float(residuals @ residuals) / degrees
        covariance = np.linalg.pinv(J.T @ J)
        clusters = int(self._rows.window.max()) + 1
        if self.free_starts or clusters < 2 * count + 2:
            covariance = covariance * variance
        else:
            scores = np.zeros((clusters, count))
            np.add.at(scores, self._rows.window, J[:own] * residuals[:own, None])
            middle = scores.T @ scores * clusters / (clusters - count)
            covariance = covariance @ middle @ covariance
            degrees = clusters - count
        deviation = np.zeros(len(u))
        deviation[self._active] = np.sqrt(np.diag(covariance))
        half = stdtrit(degrees, 0.5 + 0.5 * _CONFIDENCE) * deviation
        scale = np.where(deviation[self._active] > 0.0, deviation[self._active], 1.0)
        correlation = np.full((len(u), len(u)), np.nan)
        correlation[np.ix_(self._active, self._active)] = covariance / np.outer(scale, scale)
        values = self.unknowns.to_values(u)
        ends = self.unknowns.to_values(u - half), self.unknowns.to_values(u + half)
        return FitResult(
            names=tuple(self.unknowns.names),
            start=self.unknowns.start,
            values=values,
            low=np.where(self._active, ends[0], np.nan),
            high=np.where(self._active, ends[1], np.nan),
            correlation=correlation,
            at_bound=tuple(self._at_bound(values)),
            without_effect=tuple(n for n, on in zip(self.unknowns.names, self._active) if not on),
            undetermined=self._undetermined(J, np.sqrt(variance)),
            traces=self._traces(x),
        )

    def _at_bound(self, values: np.ndarray) -> list[str]:
        near = 1e-6 * self.unknowns.unit
        away = np.minimum(values - self.unknowns.low, self.unknowns.high - values)
        return [name for name, x, tiny in zip(self.unknowns.names, away, near) if x <= tiny]

    def _undetermined(self, J: np.ndarray, deviation: float) -> tuple[Undetermined, ...]:
        names = [n for n, on in zip(self.unknowns.names, self._active) if on]
        _, sizes, directions = np.linalg.svd(J, full_matrices=False)
        found = []
        for size, direction in zip(sizes[::-1], directions[::-1]):
            loose = deviation / size if size > 0.0 else np.inf
            if loose > _LOOSE or size < _SINGULAR * sizes[0]:
                parts = {n: float(c) for n, c in zip(names, direction) if abs(c) > 0.2}
                found.append(Undetermined(parts, float(loose)))
        return tuple(found)

    def _traces(self, x: np.ndarray) -> tuple[Trace, ...]:
        u, offsets = self._split(x)
        ends, starts = [self.unknowns.by_path(each) for each in (self._u, u)], [None, offsets]
        predictions = self._predictor.predict(ends, starts)
        if self._other is not None:
            predictions += self._other.predict(ends)
        return tuple(map(_trace, [*self._predictor.recordings, *self._others], predictions))


def _one_column(offsets: np.ndarray, column: int) -> np.ndarray:
    moved = offsets.copy()
    if column < moved.shape[1]:
        moved[:, column] += _CHANGE
    return moved


def _trace(one: BoundRecording, found: Prediction) -> Trace:
    kinds = [kind for kind in KINDS for _ in one.compared.get(kind, ())]
    joints = one.recording.joints
    numbers = [k for kind in KINDS for k in range(len(one.compared.get(kind, ())))]
    labels = ["xyz"[k] if kind.startswith("base") else joints[k] for kind, k in zip(kinds, numbers)]
    measured = np.zeros(found.differences.shape[1:])
    for column, (kind, k) in enumerate(zip(kinds, numbers)):
        at = np.searchsorted(one.time, found.time)
        if kind == "position":
            measured[:, column] = one.q[at, one.q_of[k]]
        elif kind == "base_position":
            measured[:, column] = one.q[at, k]
        elif kind != "base_rotation":
            measured[:, column] = one.v[at, one.compared[kind][k]]
    return Trace(
        one.name,
        one.recording.held_out,
        found.time,
        found.window,
        tuple(kinds),
        tuple(labels),
        measured,
        found.differences[0],
        found.differences[1],
    )
