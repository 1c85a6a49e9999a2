# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The result of a fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hrpsim.fitting.follow import Prediction
from hrpsim.fitting.recordings.measured_motion import KINDS, BoundRecording

if TYPE_CHECKING:
    from hrpsim.world.world import World


_VELOCITY_OF = {"position": "velocity", "base_position": ""}  # a base's velocity has other axes
_LEAST_SHARE = 0.1  # least explained fraction of the motion
_USUAL_SHARE = 0.9  # usual explained fraction of the motion for a right model
_LEAST_OF_SIGNAL = 0.5  # least explained fraction of the variance of a signal
_LOOSE = 0.5  # least standard deviation of an undetermined combination
SINGULAR = 5e-4  # or relative size of its effect, below the resolution of finite differences


class Undetermined(NamedTuple):
    """A combination of parameters that the recordings do not determine.

    Attributes:
        parts: component of the direction for each parameter, in scaled parameters. A parameter with
            a log scale is scaled by its logarithm. A parameter with two bounds is divided by their
            distance. Any other parameter is divided by the larger of its value and a change that
            alters the motion by a tenth.
        deviation: standard deviation along this direction, infinite if unknown.
    """

    parts: dict[str, float]
    deviation: float


def undetermined_of(
    J: np.ndarray, covariance: np.ndarray, names: list[str]
) -> tuple[Undetermined, ...]:
    """Find the combinations of parameters that the residuals do not determine.

    Args:
        J: derivatives of the residuals with respect to the scaled parameters (rows, p).
        covariance: covariance of the scaled parameters (p, p).
        names: names of the p parameters.
    """
    _, sizes, directions = np.linalg.svd(J, full_matrices=False)
    combinations = []
    for size, direction in zip(sizes[::-1], directions[::-1]):
        unseen = size <= SINGULAR * sizes[0]
        loose = np.inf if unseen else np.sqrt(direction @ covariance @ direction)
        if loose > _LOOSE:
            parts = {n: float(c) for n, c in zip(names, direction) if abs(c) > 0.2}
            combinations.append(Undetermined(parts, float(loose)))
    return tuple(combinations)


def inertias_of(world: World, values: Mapping[str, float]) -> dict[str, dict[str, np.ndarray]]:
    """Return mass, centre of mass and inertia of the links that `values` has parameters of."""
    result = {}
    for name, robot in world.robots.items():
        own = [path.removeprefix(f"robots.{name}.links.") for path in values]
        for link in {path.rpartition(".")[0] for path in own} & set(robot.model.frames):
            frame, system = robot.model.frame(link), robot.system
            result[f"{name}.{link}"] = {
                "mass": system.mass[frame.body],
                "com": frame.R.T @ (system.com[frame.body] - frame.p),
                "inertia": frame.R.T @ system.inertia[frame.body] @ frame.R,
            }
    return result


class ResidualTrace(NamedTuple):
    """Compared samples of the states or of one signal. Differences are predicted minus measured."""

    name: str
    held_out: bool
    time: np.ndarray  # (samples,) [s]
    window: np.ndarray  # (samples,) number of the window
    kinds: tuple[str, ...]  # kind of each column
    labels: tuple[str, ...]  # joint or axis of each column
    measured: np.ndarray  # (samples, columns); 0 for rotations
    before: np.ndarray  # differences with the initial values
    after: np.ndarray  # differences with the fitted values

    def ways(self) -> list[int]:
        """Return the indices of the columns that are positions."""
        return [k for k, kind in enumerate(self.kinds) if kind in _VELOCITY_OF]

    def guesses(self) -> np.ndarray:
        """Return the sums of squared position errors (3,) of three predictions without a model.

        In the first prediction, positions stay as in the sample before each window. In the second,
        positions change at the velocity measured in that sample, if any. In the third, positions
        have their mean over the whole recording.
        """
        before = np.maximum(np.searchsorted(self.window, self.window) - 1, 0)
        ways, elapsed = self.measured - self.measured[before], self.time - self.time[before]
        result = np.zeros(3)
        for k in self.ways():
            rate = _VELOCITY_OF[self.kinds[k]], self.labels[k]
            columns = [n for n, column in enumerate(zip(self.kinds, self.labels)) if column == rate]
            steady = ways[:, k].copy()
            for n in columns:
                steady -= elapsed * self.measured[before, n]
            spread = len(ways) * np.var(self.measured[:, k])
            result += (ways[:, k] ** 2).sum(), (steady**2).sum(), spread
        return result


def traces_of(one: BoundRecording, found: Sequence[Prediction]) -> list[ResidualTrace]:
    """Return the traces of states and signals of a recording.

    found: predictions for the states and each signal, each with the initial and the fitted values.
    """
    traces = [_state_trace(one, found[0])]
    for signal, own in zip(one.signals, found[1:]):
        samples = signal.signal
        traces.append(
            ResidualTrace(
                one.name,
                one.recording.held_out,
                own.time,
                own.window,
                samples.quantities,
                samples.columns,
                samples.values[np.searchsorted(samples.time, own.time)],
                own.differences[0],
                own.differences[1],
            )
        )
    return traces


def _state_trace(one: BoundRecording, found: Prediction) -> ResidualTrace:
    """Return the trace of the states of a recording. See `traces_of`."""
    columns = [(kind, n, own[n]) for kind, own in one.columns() for n in range(len(own))]
    joints = one.recording.joints
    kinds = tuple(kind for kind, _, _ in columns)
    labels = tuple("xyz"[n] if kind.startswith("base") else joints[n] for kind, n, _ in columns)
    measured = np.zeros(found.differences.shape[1:])
    at = np.searchsorted(one.time, found.time)
    for column, (kind, n, of_v) in enumerate(columns):
        if kind == "position":
            measured[:, column] = one.q[at, one.q_of[n]]
        elif kind == "base_position":
            measured[:, column] = one.q[at, n]
        elif kind != "base_rotation":
            measured[:, column] = one.v[at, of_v]
    return ResidualTrace(
        one.name,
        one.recording.held_out,
        found.time,
        found.window,
        kinds,
        labels,
        measured,
        found.differences[0],
        found.differences[1],
    )


@dataclass(frozen=True)
class FitResult:
    """Fitted values, 95 % intervals and errors.

    Attributes:
        names: names of the parameters.
        start: initial values (p,).
        values: fitted values (p,).
        low: lower ends of the 95 % intervals (p,). NaN for parameters without effect, and for all
            parameters if the minimum was not reached.
        high: upper ends (p,), NaN as for `low`.
        correlation: correlation of the parameters (p, p).
        reached: whether the minimum of the least squares was reached.
        at_bound: parameters that ended at a bound. The intervals hold only if the true values lie
            within the bounds.
        moved_by_step: parameters that would change by more than a quarter of the interval at half
            the time step.
        without_effect: parameters without effect on measured quantities. Such parameters keep the
            initial value.
        undetermined: combinations that the recordings do not determine.
        traces: measured and predicted motion of each recording.
        units: unit of each compared kind of quantity.
        derivatives: "exact" or "differences" for each parameter. If "exact" derivatives were used
            for some rows only, the text gives the fraction.
        inertias: inertial values of links with fitted parameters, by "ROBOT.LINK": mass [kg], com
            [m] and inertia about com [kg m^2], in the frame of the link. Bodies fixed to the link
            are included.
    """

    names: tuple[str, ...]
    start: np.ndarray
    values: np.ndarray
    low: np.ndarray
    high: np.ndarray
    correlation: np.ndarray
    reached: bool
    at_bound: tuple[str, ...]
    moved_by_step: tuple[str, ...]
    without_effect: tuple[str, ...]
    undetermined: tuple[Undetermined, ...]
    traces: tuple[ResidualTrace, ...]
    units: dict[str, str]
    derivatives: dict[str, str]
    inertias: dict[str, dict[str, np.ndarray]]

    def errors(self, held_out: bool) -> dict[str, tuple[float, float]]:
        """Return {kind: (RMS difference before the fit, after the fit)}."""
        result = {}
        for kind in self.units:
            parts = [
                (trace.before[:, columns], trace.after[:, columns])
                for trace in self.traces
                if trace.held_out == held_out
                and (columns := [k for k, own in enumerate(trace.kinds) if own == kind])
            ]
            if parts:
                both = (
                    np.concatenate([np.ravel(array) for array in values]) for values in zip(*parts)
                )
                before, after = (float(np.sqrt(np.mean(values**2))) for values in both)
                result[kind] = before, after
        return result

    def shares(self, held_out: bool = False) -> dict[str, float]:
        """Return the fraction of each signal kind's variance that the model explains, at most 1.

        The fraction is 1 - S / S0. S is the sum of squared differences, and S0 the sum of squared
        deviations from the mean of each column.
        """
        sums: dict[str, np.ndarray] = {}
        for trace in self.traces:
            if trace.held_out == held_out and len(trace.time):
                spread = trace.measured.var(axis=0) * len(trace.time)
                remaining = (trace.after**2).sum(axis=0)
                for kind, own in zip(trace.kinds, np.transpose([remaining, spread])):
                    sums[kind] = sums.get(kind, np.zeros(2)) + own
        return {
            kind: float(1.0 - remaining / spread)
            for kind, (remaining, spread) in sums.items()
            if kind != "base_rotation" and spread > 0.0
        }

    def explained(self, held_out: bool = False) -> float:
        """Return the fraction of the motion within windows that the model explains, at most 1.

        The fraction is 1 - S / S0, with sums of squared errors over all measured positions. S is
        the sum for the model, and S0 for the best of three predictions without a model
        (`ResidualTrace.guesses`). 0 means that the model is no better than this prediction.
        """
        wrong, guessed = 0.0, np.zeros(3)
        for trace in self.traces:
            if trace.held_out == held_out:
                wrong += float((trace.after[:, trace.ways()] ** 2).sum())
                guessed += trace.guesses()
        return float(1.0 - wrong / guessed.min()) if guessed.min() > 0.0 else 0.0

    @property
    def explains(self) -> bool:
        """Whether the model explains more of the motion than a prediction without a model."""
        return bool(self.explained() > _LEAST_SHARE)

    def verdict(self) -> str:
        """Summarise the explained fraction of the motion and the undetermined parameters."""
        fitted, other = (100.0 * max(self.explained(held_out), 0.0) for held_out in (False, True))
        text = f"The model explains {fitted:.3g} % of the measured motion"
        if any(trace.held_out for trace in self.traces):
            text += f", and {other:.3g} % of what was held out"
        words = [f"{text}."]
        if not self.explains:
            words.append(
                "The values therefore mean nothing. Compare units, names and signs of the "
                "recording with the world. Check that the recording has all commands."
            )
        elif self.explained() < _USUAL_SHARE:
            words.append(
                "A right model explains more: see `unexplained`, and compare signs, offsets, delays"
                " and the order of joints."
            )
        for kind in self._poorly_explained():
            words.append(f"{kind} is hardly explained: compare units, signs and frames.")
        if not self.reached:
            words.append(
                "The minimum of the least squares was not reached: there are no intervals."
            )
        for names, why in (
            (self.without_effect, "has no effect on what was measured"),
            (self.at_bound, "ended at a bound"),
            (self.moved_by_step, "changes with the time step: halve `time_step`"),
            (self._loose(), "is not determined by the recordings"),
        ):
            words += [f"{', '.join(names)} {why}."] if names else []
        return " ".join(words)

    def _poorly_explained(self) -> list[str]:
        """Return the kinds of signal quantities that the model hardly explains."""
        shares = self.shares().items()
        return [
            kind for kind, fraction in shares if kind not in KINDS and fraction < _LEAST_OF_SIGNAL
        ]

    def _loose(self) -> list[str]:
        """Return the names of the parameters in undetermined combinations."""
        return list(dict.fromkeys(name for group in self.undetermined for name in group.parts))

    def _correlated(self) -> dict[str, Any]:
        """Return the correlations above 0.9 in magnitude, by pairs of names."""
        strong = np.argwhere(np.abs(np.tril(self.correlation, -1)) > 0.9)
        return {
            f"{self.names[i]}, {self.names[j]}": _rounded(self.correlation[i, j])
            for i, j in strong.tolist()
        }

    def report(self) -> dict[str, Any]:
        """Return the result as plain data that can be written as JSON."""
        data: dict[str, Any] = {
            "verdict": self.verdict(),
            "parameters": {
                name: {
                    "value": _rounded(self.values[k]),
                    "interval": [_rounded(self.low[k]), _rounded(self.high[k])],
                    "start": float(self.start[k]),
                }
                for k, name in enumerate(self.names)
            },
        }
        data["inertias"] = {
            link: {key: np.round(array, 9).tolist() for key, array in own.items()}
            for link, own in self.inertias.items()
        }
        for held_out, key in ((False, "error"), (True, "held_out_error")):
            data[key] = {
                f"{kind} [{self.units[kind]}]": {"before": _rounded(a), "after": _rounded(b)}
                for kind, (a, b) in self.errors(held_out).items()
            }
        data["explained_variance"] = {
            kind: _rounded(fraction) for kind, fraction in self.shares().items()
        }
        data["correlated"] = self._correlated()
        data["derivatives"] = self.derivatives
        data["at_bound"] = list(self.at_bound)
        data["moved_by_step"] = list(self.moved_by_step)
        data["without_effect"] = list(self.without_effect)
        data["undetermined"] = [
            " ".join(f"{weight:+.2f} {name}" for name, weight in combination.parts.items())
            for combination in self.undetermined
        ]
        return {key: value for key, value in data.items() if value}


def _rounded(value: float) -> float:
    return float(f"{value:.6g}")
