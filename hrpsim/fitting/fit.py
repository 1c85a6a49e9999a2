# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find parameters of a world by nonlinear least squares.

The model, in windows w with samples k, is y_wk = h(x_w(t_k; theta, x_w0)) + noise. The unknowns are
the parameters theta and, with fitted initial states, every x_w0. The Gauss-Newton method (scipy's
trust region) minimises a sum of squares. The residuals are the differences divided by their
standard deviations, and the deviations from priors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hrpsim.common.errors import (
    FitError,
    FitWarning,
    HrpsimError,
    require_different,
    require_name,
    require_names,
)
from hrpsim.common.typed_values import Positive, check_arguments
from hrpsim.common.values import whole_count
from hrpsim.fitting.intervals import Covariance, by_windows, of_coloured_noise
from hrpsim.fitting.predict import Predictor, only, scenario_of, unknowns_of
from hrpsim.fitting.recordings.measured_motion import BoundRecording, Recording
from hrpsim.fitting.recordings.recording_checks import check_window
from hrpsim.fitting.result import (
    SINGULAR,
    FitResult,
    ResidualTrace,
    inertias_of,
    traces_of,
    undetermined_of,
)
from hrpsim.fitting.scales import find_units
from hrpsim.fitting.slopes import DERIVATIVES, Slopes
from hrpsim.fitting.starts import Starts
from hrpsim.fitting.step_error import moves_at_half_step
from hrpsim.fitting.unknowns import Unknown
from hrpsim.sweeps.executors import process_pool
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

_CHANGE = 1e-4  # change of u for finite differences
_MOST_CHANGE = 0.5
_DEPENDS = 1e-7  # relative to the largest column: a smaller column counts as zero
_CONVERGED = 1e-4
_NEAR = 1e-2  # tolerance of the solutions for weights and starts
_MOST_EVALUATIONS = 40
_FEW = 40  # least number of windows for the first solution, or four for each unknown
_MOST_ROUNDS, _IN_A_ROUND = 16, 4  # rounds of parameters and starts in turn, evaluations in each
_MOST_WEIGHINGS, _SAME_WEIGHTS = 5, 0.02  # rounds, and relative change of weights at convergence
_SQUARES = 0.003  # relative decrease of the sum of squares at convergence
_AT_END = 1e-6  # distance from the bounds, in units of the unknown
_OPTIMUM = 2.0  # largest further step at an optimum [standard deviations]
_SAME = 0.1  # change of parameters at convergence [standard deviations]
_NEAR_SLOPES = 0.01  # largest change of u for which exact derivatives are used again
_SAME_SLOPES = 0.05  # the same if starts are fitted
_CONFIDENCE = 0.95
_BY_STEP = 0.5  # least move by half the time step that is reported [half widths]
STARTS = ("measured", "fitted")


def fit(  # many parameters: keywords, passed by name
    world: str | Path | WorldScenario,
    recordings: Sequence[Recording],
    parameters: Mapping[str, Unknown | float | Mapping[str, Any]],
    *,
    entity: str | None = None,
    window: float = 0.2,
    start: str = "measured",
    noise: Mapping[str, Positive] | None = None,
    change: float = _CHANGE,
    derivatives: str = "auto",
    processes: int = 1,
    report: Callable[[str], None] | None = None,
) -> FitResult:
    """Fit parameters of a world to recordings by least squares.

    Each recording is simulated with its commands, in windows that begin at the measured state.
    Windows are short because a robot that stands or walks is unstable. A longer simulation would
    contain no information about parameters.

    Args:
        world: world file, or a scenario with a world file.
        recordings: recordings to fit to. Recordings with `held_out` are predicted but not used in
            the fit.
        parameters: by path as in sweeps, and additionally `delay` and `delay.RECORDING` [s] of
            commands, `encoders.JOINT.offset` [rad or m], and `signals.NAME.UNKNOWN` of a signal.
            Each value is an `Unknown`, a mapping of its arguments, or the initial value.
        entity: the recorded robot or body. The default is the only robot.
        window: length of a window [s].
        start: "measured": windows start at measured states. Choose this for precise sensors and
            many joints. "fitted": the initial states of windows are unknowns too, so noise of the
            measured initial states causes no bias.
        noise: standard deviation of each kind of quantity, such as `position`, `base_rotation`,
            `lfsensor.force` or `torque`. The default is estimated from the residuals.
        change: step of a parameter for finite differences, as a fraction of its scale. The scale is
            the parameter's value (scale log) or the distance between its bounds. Otherwise the
            scale is the larger of the initial value and a change that alters the motion by a tenth.
            Larger steps help if impacts make predictions discontinuous.
        derivatives: "exact": from `World.linearize` of each step. "differences": finite differences
            between worlds. "auto": exact for 16 or more unknowns, including the entries of fitted
            initial states.
        processes: number of processes for exact derivatives. The windows are divided among the
            processes. More than 1 requires a program that begins under `if __name__ == "__main__"`.
        report: called with a line of text on the progress.

    Raises:
        FitError: a name is unknown, or the recordings do not suit the fit.
        HrpsimError: values are invalid for the world, or a step fails.
    """
    check_arguments(fit, locals(), FitError)
    scenario = scenario_of(world)
    whole_count("processes", processes, error=FitError)
    if not 0.0 < change <= _MOST_CHANGE:
        raise FitError(f"change must be positive and at most {_MOST_CHANGE}, got {change!r}")
    problem = _Problem(scenario, recordings, parameters, entity, window, start, change, derivatives)
    require_names("kind", noise or {}, problem.kinds, FitError, where="noise")
    say, noise = report or (lambda text: None), noise or {}
    with process_pool(int(processes)) if processes > 1 else nullcontext() as make:
        problem.slopes.pool = make() if make else None
        x = problem.near(problem.begin(noise), say)
        if problem.free_starts:
            return problem.result(problem.solve_with_starts(x, noise, say))
        return problem.result(problem.solve_reweighted(x, noise, say))


def _check_options(
    recordings: Sequence[Recording], window: float, start: str, derivatives: str
) -> None:
    """Raise FitError for an unknown option, or for two recordings with the same name."""
    require_name("start", start, STARTS, FitError)
    require_name("kind", derivatives, DERIVATIVES, FitError, where="derivatives")
    if not window > 0.0:
        raise FitError(f"window must be a positive time [s], got {window!r}")
    require_different("recordings", [recording.name for recording in recordings], FitError)


class _Problem:
    """The least-squares problem of a fit: residuals, and derivatives with respect to x.

    u is the vector of all unknowns (`Unknowns.to_u`). x has the entries of u that affect the
    residuals. A row is one compared number. The initial states of windows are called starts.
    """

    def __init__(
        self, scenario, recordings, parameters, entity, window, start, change, derivatives
    ) -> None:
        _check_options(recordings, window, start, derivatives)
        first = scenario.world_of({}, seed=0)[0]
        entity = entity or scenario.robot or only(first.entities)
        bound = [BoundRecording(recording, first, entity) for recording in recordings]
        fitted = [entry for entry in bound if not entry.recording.held_out]
        if not fitted:
            raise FitError("the fit has no recording: all are held out, or none is given")
        check_window(window, [entry.recording for entry in fitted])
        self.unknowns = unknowns_of(parameters, scenario, recordings)
        delays = self.unknowns.signal_delays()
        for entry in bound:
            entry.bind_signals(first, delays)
        self.free_starts = start == "fitted"
        self._predictor = Predictor(scenario, fitted, window, self.free_starts)
        self._others = [entry for entry in bound if entry.recording.held_out]
        self._other = Predictor(scenario, self._others, window, False) if self._others else None
        self._rows = self._predictor.rows()
        self._active = np.ones(len(self.unknowns), dtype=bool)
        self._starts: Starts | None = None
        find_units(self.unknowns, self._part()[0])
        self._u = self.unknowns.inside(self.unknowns.to_u(self.unknowns.start))
        self._last: tuple[bytes, np.ndarray] = b"", np.zeros(0)  # x and its differences
        self.slopes = Slopes(self._predictor, self.unknowns, change, derivatives)
        self._derivatives = np.full(len(self._u), np.inf), np.zeros(0)  # x and its derivatives
        self._by_starts = np.zeros(0)

    @property
    def kinds(self) -> dict[str, str]:
        """The unit of each compared kind of quantity."""
        return self._predictor.kinds

    # -- residuals -------------------------------------------------------------------------------

    def _all(self, x: np.ndarray) -> np.ndarray:
        """Return u with the entries x. The other entries of u are fixed."""
        u = self._u.copy()
        u[self._active] = x
        return u

    def _differences(self, us: Sequence[np.ndarray]) -> np.ndarray:
        """Return predicted minus measured values for several u (worlds, rows)."""
        values = [self.unknowns.by_path(u) for u in us]
        offsets = None if self._starts is None else [self._starts.offsets] * len(us)
        return self._predictor.differences(values, offsets)

    def _differences_at(self, x: np.ndarray) -> np.ndarray:
        if self._last[0] != x.tobytes():
            self._last = x.tobytes(), self._differences([self._all(x)])[0]
        return self._last[1]

    def _weighted(self, differences: np.ndarray) -> np.ndarray:
        """Divide differences (rows, n) by the standard deviations.

        With fitted initial states, the component that changes of initial states can explain is
        removed.
        """
        weighted = differences * self._weights[:, None]
        return weighted if self._starts is None else self._starts.without(weighted)

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals: the weighted differences, then the residuals of the priors."""
        own = self._weighted(self._differences_at(x)[:, None])[:, 0]
        return np.concatenate([own, self.unknowns.prior_residuals(self._all(x))])

    def _trial(self, x: np.ndarray) -> np.ndarray:
        """Return the residuals, or large numbers if the values are invalid for the world."""
        try:
            return self.residuals(x)
        except HrpsimError:
            return np.full(len(self._weights) + len(self.unknowns.priors), 1e6)

    def derivatives(self, x: np.ndarray) -> np.ndarray:
        """Return the derivatives of `residuals` with respect to x.

        With fitted initial states, exact derivatives are reused until the next round of
        `solve_with_starts`.
        """
        near = _NEAR_SLOPES if self.slopes.of_starts else 0.0
        if self.slopes.of_starts and self._starts is not None:
            near = np.inf
        if np.abs(x - self._derivatives[0]).max() > near:
            self._differentiate(x, False)
        own = self._weighted(self._derivatives[1])
        return np.vstack([own, self.unknowns.prior_rows()[:, self._active]])

    def _differentiate(self, x: np.ndarray, by_starts: bool) -> None:
        offsets = None if self._starts is None else self._starts.offsets
        base = self._differences_at(x)
        derivatives = self.slopes.at(self._all(x), self._active, offsets, base, by_starts)
        self._derivatives = x, derivatives.by_parameters
        if by_starts:
            self._by_starts = derivatives.by_starts

    # -- solution --------------------------------------------------------------------------------

    def begin(self, noise: Mapping[str, float]) -> np.ndarray:
        """Return the initial x. Fix parameters that have no effect at their initial values."""
        self.weigh(self._u, noise)
        slopes = self.slopes.first(self._u, self._differences_at(self._u), self._weights)
        sizes = np.linalg.norm(slopes * self._weights[:, None], axis=0)
        self._active = sizes > _DEPENDS * sizes.max(initial=0.0)
        self._u = np.where(self._active, self._u, self.unknowns.to_u(self.unknowns.start))
        x = self._u[self._active]
        self._derivatives = x, slopes[:, self._active]
        for k in np.flatnonzero(~self._active):
            warnings.warn(
                f"no measured value depends on {self.unknowns.names[k]}. It keeps its start value "
                f"{self.unknowns.start[k]:g}",
                FitWarning,
                stacklevel=3,
            )
        if not self._active.any():
            raise FitError("no measured value depends on any of the parameters")
        return x

    def weigh(self, x: np.ndarray, noise: Mapping[str, float]) -> None:
        """Set the weights: the inverse standard deviation of each kind of quantity.

        Args:
            x: values at which unknown standard deviations are computed from the residuals.
            noise: known standard deviations by kind.
        """
        differences, free = self._differences_at(x), np.ones(len(self._rows.kind))
        if self._starts is not None:
            differences, free = self._starts.remainder(differences, self._weights)
        self._weights = np.ones(len(differences))
        for k, kind in enumerate(self.kinds):
            rows = self._rows.kind == k
            if rows.any():
                size = float(np.sqrt(np.sum(differences[rows] ** 2) / max(free[rows].sum(), 1e-9)))
                self._weights[rows] = 1.0 / (noise.get(kind) or max(size, 1e-9))
        if self._starts is not None:
            self._starts.weigh(self._by_starts, self._weights)

    def fit_starts(self, starts: Starts, x: np.ndarray) -> bool:
        """Change the initial states of all windows to reduce the weighted differences.

        Returns:
            Whether the sum of squares decreased so much that derivatives may have changed.
        """

        def squares() -> np.ndarray:
            self._last = b"", np.zeros(0)
            own = self._differences_at(x) * self._weights
            return np.bincount(self._rows.window, own**2)

        before = self._differences_at(x) * self._weights
        starts.move(before, squares)
        left = self._differences_at(x) * self._weights
        return bool(before @ before - left @ left > _SQUARES * (left @ left))

    def near(self, x: np.ndarray, say: Callable[[str], None]) -> np.ndarray:
        """Return an x close to the least-squares solution.

        To save time, only some windows are used.
        """
        predictor, own = self._part()
        if own.all():
            return self.solve(x, say, _NEAR).x
        part = copy(self)
        part._predictor = predictor
        part._rows, part._weights = predictor.rows(), self._weights[own]
        part.slopes = self.slopes.only(predictor, own)
        part._derivatives, part._last = (x, self._derivatives[1][own]), (b"", np.zeros(0))
        return part.solve(x, say, _NEAR).x

    def _part(self) -> tuple[Predictor, np.ndarray]:
        """Return a predictor of a subset of the windows, and a mask (rows,) of its rows."""
        count, everything = self._rows.window[-1] + 1, np.ones(len(self._rows.window), dtype=bool)
        every = count // max(_FEW, 4 * len(self.unknowns))
        if every < 2 or not all(recording.is_whole for recording in self._predictor.recordings):
            return self._predictor, everything
        numbers = np.arange(0, count, every)
        return self._predictor.only(numbers, None)[0], np.isin(self._rows.window, numbers)

    def solve(
        self,
        x: np.ndarray,
        say: Callable[[str], None],
        converged: float = _CONVERGED,
        most: int = _MOST_EVALUATIONS,
    ) -> OptimizeResult:
        """Minimise the sum of squares with scipy.

        Args:
            x: initial values.
            say: called with a line of text on the progress.
            converged: relative tolerance on x and on the sum of squares.
            most: largest number of evaluations.
        """
        from scipy.optimize import least_squares

        low, high = self._bounds()
        x = np.clip(x, low, high)
        origin, count = x - 1.0, [0]  # scipy's first step and tolerances are fractions of its x

        def trial(y):
            count[0] += 1
            residuals = self._trial(origin + y)
            say(f"evaluation {count[0]}: sum of squares {residuals @ residuals:.6g}")
            return residuals

        self.residuals(x)  # raises an error for an impossible start
        solution = least_squares(
            trial,
            np.ones(len(x)),
            lambda y: self.derivatives(origin + y),
            (low - origin, high - origin),
            x_scale="jac",
            ftol=converged,
            xtol=converged,
            max_nfev=most,
        )
        if solution.status == 0 and most == _MOST_EVALUATIONS:
            warnings.warn(
                f"the fit has not converged in {_MOST_EVALUATIONS} evaluations",
                FitWarning,
                stacklevel=3,
            )
        solution.x = np.clip(origin + solution.x, low, high)
        return solution

    def solve_reweighted(self, x, noise, say: Callable[[str], None]) -> OptimizeResult:
        """Minimise the sum of squares. With sensor signals, repeat with updated weights.

        The weight of a signal is estimated from its residuals. A better fit therefore changes the
        weights.
        """
        for _ in range(_MOST_WEIGHINGS if self._predictor.has_signals else 1):
            before = self._weights
            self.weigh(x, noise)
            solution = self.solve(x, say)
            x = solution.x
            if np.allclose(self._weights, before, rtol=_SAME_WEIGHTS, atol=0.0):
                break
        return solution

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        ends = self.unknowns.low, self.unknowns.high
        low, high = (self.unknowns.to_u(end)[self._active] for end in ends)
        return low, high

    def solve_with_starts(self, x, noise, say: Callable[[str], None]) -> OptimizeResult:
        """Minimise alternately over parameters and initial states, until neither changes."""
        starts = self._starts = Starts(self._predictor)
        slopes_of, squares, stale = np.full(len(x), np.inf), np.inf, False
        for _ in range(_MOST_ROUNDS):
            if np.abs(x - slopes_of).max() > _SAME_SLOPES:
                self._differentiate(x, True)
                slopes_of, stale = x, False
                starts.weigh(self._by_starts, self._weights)
            stale = self.fit_starts(starts, x) or stale
            self.weigh(x, noise)
            before, solution = (x, squares), self.solve(x, say, most=_IN_A_ROUND)
            x, squares = solution.x, 2.0 * solution.cost
            inverse = np.linalg.pinv(solution.jac.T @ solution.jac)
            deviation = np.sqrt(np.diag(inverse) * self._variance(solution))
            same = np.abs(x - before[0]) <= _SAME * deviation
            settled = bool(same.all() and before[1] - squares < _SQUARES * squares)
            solution.status = int(settled and not stale)
            if solution.status:
                break
            if settled:  # by derivatives of other starts
                slopes_of = np.full(len(x), np.inf)
        self.fit_starts(starts, x)
        return solution

    def _variance(self, found: OptimizeResult) -> float:
        """Return the residual variance. Raises FitError if unknowns outnumber the rows."""
        residuals = found.fun
        unknown = len(found.x) + (0 if self._starts is None else self._starts.rank)
        degrees = len(residuals) - unknown
        if degrees < 1:
            raise FitError(
                f"the fit has {unknown} unknowns, {unknown - len(found.x)} of them in start "
                "states, "
                f"but only {len(residuals)} measured numbers. Lengthen the windows"
            )
        return float(residuals @ residuals) / degrees

    def covariance(self, found: OptimizeResult) -> Covariance:
        """Return the covariance of x at a solution."""
        windows = int(self._rows.window.max()) + 1
        if not self.free_starts and windows >= 2 * len(found.x) + 2:
            return by_windows(found.jac, found.fun, self._rows.window)
        without = (lambda values: values) if self._starts is None else self._starts.without
        return of_coloured_noise(found.jac, found.fun, self._rows, without)

    def is_optimum(self, found: OptimizeResult, matrix: np.ndarray) -> bool:
        """Return whether a solution has converged.

        A further Gauss-Newton step must also be small relative to the standard deviations.

        matrix: covariance of the solution.
        """
        low, high = self._bounds()
        slope = found.jac.T @ found.fun
        away = np.where(slope > 0.0, found.x - low, high - found.x)  # to the bound in the descent
        free = away > _AT_END
        J, deviation = found.jac[:, free], np.sqrt(np.diag(matrix)[free])
        step = np.linalg.pinv(J.T @ J, rcond=SINGULAR**2, hermitian=True) @ slope[free]
        return bool(found.status > 0 and (np.abs(step) <= _OPTIMUM * deviation).all())

    def result(self, found: OptimizeResult) -> FitResult:
        """Return values, intervals and errors.

        If the minimum was not reached, intervals are NaN.
        """
        from scipy.special import stdtrit

        u, active = self._all(found.x), self._active
        free = [self.unknowns.names[k] for k in np.flatnonzero(active)]
        matrix, degrees = self.covariance(found)
        reached = self.is_optimum(found, matrix)
        if not reached:
            text = (
                "the minimum of the least squares was not reached, so intervals are NaN. Give "
                "better start values, narrower bounds or a larger `change`"
            )
            warnings.warn(text, FitWarning, stacklevel=3)
        own = np.sqrt(np.diag(matrix))
        half, correlation = np.full(len(u), np.nan), np.full((len(u), len(u)), np.nan)
        half[active] = stdtrit(degrees, 0.5 + 0.5 * _CONFIDENCE) * own if reached else np.nan
        own = np.where(own > 0.0, own, 1.0)
        correlation[np.ix_(active, active)] = matrix / np.outer(own, own)
        values, by_path = self.unknowns.to_values(u), self.unknowns.by_path(u)
        shares = self.unknowns.significant(values)[active]
        return FitResult(
            names=tuple(self.unknowns.names),
            start=self.unknowns.start,
            values=values,
            low=self.unknowns.to_values(u - half),
            high=self.unknowns.to_values(u + half),
            correlation=correlation,
            reached=reached,
            at_bound=tuple(self._at_bound(values)),
            moved_by_step=self._moved_by_step(found, half),
            without_effect=tuple(n for n in self.unknowns.names if n not in free),
            undetermined=undetermined_of(
                found.jac * shares, matrix / shares / shares[:, None], free
            ),
            traces=self._traces(u),
            units=self.kinds if self._other is None else self.kinds | self._other.kinds,
            derivatives=self.slopes.report(),
            inertias=inertias_of(self._predictor.scenario.world_of(by_path, seed=0)[0], by_path),
        )

    def _moved_by_step(self, found: OptimizeResult, half: np.ndarray) -> tuple[str, ...]:
        """Return the parameters whose fitted values would change noticeably at half the time step.

        half: half widths of the intervals (p,).
        """
        offsets = None if self._starts is None else self._starts.offsets
        values = self.unknowns.by_path(self._all(found.x))
        base, own = self._differences_at(found.x), np.zeros(len(half))
        own[self._active] = moves_at_half_step(
            self._predictor, values, offsets, base, self._weighted, found.jac
        )
        return tuple(self.unknowns.names[k] for k in np.flatnonzero(abs(own) > _BY_STEP * half))

    def _at_bound(self, values: np.ndarray) -> list[str]:
        near = _AT_END * self.unknowns.unit
        away = np.minimum(values - self.unknowns.low, self.unknowns.high - values)
        return [name for name, x, tiny in zip(self.unknowns.names, away, near) if x <= tiny]

    def _traces(self, u: np.ndarray) -> tuple[ResidualTrace, ...]:
        first = self.unknowns.to_u(self.unknowns.start)
        ends = [self.unknowns.by_path(each) for each in (first, u)]
        starts = None if self._starts is None else self._starts.offsets
        predictions = self._predictor.predict(ends, [None, starts])
        if self._other is not None:
            predictions += self._other.predict(ends)
        recordings = [*self._predictor.recordings, *self._others]
        return tuple(
            trace
            for recording, prediction in zip(recordings, predictions)
            for trace in traces_of(recording, prediction)
        )
