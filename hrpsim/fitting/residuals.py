# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Figures of measured and simulated motion, and tests whether the residuals of a fit are noise."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import FitError
from hrpsim.common.figures import new_figure, style
from hrpsim.common.typed_values import check_arguments
from hrpsim.fitting.recordings.measured_motion import KINDS
from hrpsim.fitting.result import FitResult, ResidualTrace

_LAGS = 20
_SURE = 3.0  # standard deviations of the correlation of noise
_SIGNALS_SHOWN = 4
_COLOUR, _FAINT = "#1f6fb4", "#a9b1bd"
_MEASURED, _BEFORE, _AFTER = "#4f5d75", "#d1495b", "#1f6fb4"
_SHOWN = 6  # number of quantities, those with the largest decrease of the error


class Unexplained(NamedTuple):
    """The residual of one signal (predicted minus measured), with its autocorrelations.

    Attributes:
        bound: limit within which 99.7 % of the autocorrelations of white noise lie.
        related: measured signal, or the sign of one, that correlates most with the residual. "" if
            the correlation is within `bound`.
    """

    recording: str
    signal: str
    kind: str
    mean: float
    rms: float
    autocorrelation: np.ndarray  # (lags,) within windows, by samples; 1 at lag 0
    bound: float
    related: str
    correlation: float
    pairs: np.ndarray  # (2, samples) of the most correlated signal and the residual

    @property
    def white(self) -> bool:
        """Whether the autocorrelations are as small as for white noise."""
        return len(self.autocorrelation) < 2 or abs(self.autocorrelation[1]) < self.bound


def unexplained(result: FitResult) -> list[Unexplained]:
    """Return the residual of each signal after a fit, the least white residual first."""
    check_arguments(unexplained, locals(), FitError)
    results = []
    for trace in result.traces:
        if len(trace.time) > 2:
            signals = _signals(trace, result.traces)
            results += [_of(trace, k, signals) for k in range(len(trace.kinds))]
    return sorted(results, key=lambda one: (one.white, -_excess(one)))


def _excess(one: Unexplained) -> float:
    correlation = abs(one.autocorrelation[1]) if len(one.autocorrelation) > 1 else 0.0
    return correlation / one.bound


def _signals(trace: ResidualTrace, traces: Sequence[ResidualTrace]) -> dict[str, np.ndarray]:
    """Return the measured signals of the same recording by name, at the times of a trace."""
    result = {}
    for other in traces:
        if other.name != trace.name or not len(other.time):
            continue
        for name, own, values in zip(other.labels, other.kinds, other.measured.T):
            if other is not trace:
                values = np.interp(trace.time, other.time, values)
            if own != "base_rotation":
                result[f"{own} of {name}"] = values
            if own in ("velocity", "base_velocity") or own not in KINDS:
                result[f"sign of {own} of {name}"] = np.sign(values)
    return result


def _of(trace: ResidualTrace, k: int, states: Mapping[str, np.ndarray]) -> Unexplained:
    residual, kind = trace.after[:, k], trace.kinds[k]
    bound = _SURE / np.sqrt(len(residual))
    shares = {name: _correlation(values, residual) for name, values in states.items()}
    related = max(shares, key=lambda name: abs(shares[name]), default="")
    correlation = shares.get(related, 0.0)
    quantity = states.get(related.removeprefix("sign of "), np.zeros(len(residual)))
    return Unexplained(
        trace.name,
        trace.labels[k],
        kind,
        float(residual.mean()),
        float(np.sqrt(np.mean(residual**2))),
        _autocorrelation(residual, trace.window),
        float(bound),
        related if abs(correlation) > bound else "",
        correlation,
        np.array([quantity, residual]),
    )


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    spread = a.std() * b.std()
    return float(np.mean((a - a.mean()) * (b - b.mean())) / spread) if spread > 0.0 else 0.0


def _autocorrelation(residual: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Return the autocorrelation by lag, over pairs of samples in the same window."""
    longest = int(np.bincount(window).max())
    own, products = residual - residual.mean(), []
    for lag in range(min(_LAGS + 1, longest)):
        same = window[lag:] == window[: len(window) - lag]
        products.append(np.mean((own[lag:] * own[: len(own) - lag])[same]))
    return np.array(products) / (products[0] if products[0] > 0.0 else 1.0)


def draw_unexplained(result: FitResult, path: str | Path) -> None:
    """Draw autocorrelations of the least white residuals, and residuals against related signals."""
    drawn = unexplained(result)[:_SIGNALS_SHOWN]
    figure = new_figure(8.0, 2.6 * len(drawn) + 0.4)
    for row, signal in enumerate(drawn):
        left, right = (figure.add_subplot(len(drawn), 2, 2 * row + k) for k in (1, 2))
        left.bar(np.arange(len(signal.autocorrelation)), signal.autocorrelation, color=_COLOUR)
        left.axhspan(-signal.bound, signal.bound, color=_FAINT, alpha=0.5, lw=0)
        left.set(xlabel="lag [samples]", ylabel="autocorrelation")
        title = f"{signal.recording}: {signal.kind.replace('_', ' ')} of {signal.signal}"
        left.set_title(title, fontsize=8, loc="left")
        right.plot(*signal.pairs, ".", ms=2.0, color=_COLOUR)
        right.set_xlabel(
            f"{signal.related or 'no signal'} ({signal.correlation:+.2f})".replace("_", " ")
        )
        right.set_ylabel(f"residual [{result.units[signal.kind]}]")
        for axes in (left, right):
            axes.title.set_parse_math(False)
            style(axes)
    figure.savefig(path)


def draw_fit(result: FitResult, path: str | Path) -> None:
    """Draw measured signals, with predictions before and after the fit, for the largest changes.

    If there are held-out recordings, only held-out recordings are drawn.
    """
    check_arguments(draw_fit, locals(), FitError)
    traces = [t for t in result.traces if t.held_out] or list(result.traces)
    gains = sorted(
        (
            (_size(t.before[:, k]) - _size(t.after[:, k]), n, k)
            for n, t in enumerate(traces)
            for k in range(len(t.kinds))
        ),
        reverse=True,
    )[:_SHOWN]
    figure = new_figure(9.0, 2.0 * len(gains) + 0.6)
    for row, (_, n, k) in enumerate(gains):
        axes = figure.add_subplot(len(gains), 1, row + 1)
        _draw(axes, traces[n], k, row == 0, result.units[traces[n].kinds[k]])
    figure.savefig(path)


def _draw(axes, trace: ResidualTrace, k: int, with_legend: bool, unit: str) -> None:
    time, measured = trace.time.copy(), trace.measured[:, k]
    ends = np.flatnonzero(np.diff(trace.window)) + 1
    for name, colour, off in (("before", _BEFORE, trace.before), ("after", _AFTER, trace.after)):
        predicted = np.insert(measured + off[:, k], ends, np.nan)
        axes.plot(np.insert(time, ends, np.nan), predicted, color=colour, lw=1.0, label=name)
    axes.plot(time, measured, ".", color=_MEASURED, ms=2.0, label="measured", zorder=1)
    kind = trace.kinds[k]
    axes.set(ylabel=f"{kind} [{unit}]".replace("_", " "), xlabel="time [s]")
    axes.set_title(f"{trace.name}: {trace.labels[k]}", fontsize=8, loc="left")
    axes.title.set_parse_math(False)
    style(axes)
    if with_legend:
        axes.legend(fontsize=7, frameon=False, ncols=3)


def _size(differences: np.ndarray) -> float:
    return float(np.sqrt(np.mean(differences**2)))
