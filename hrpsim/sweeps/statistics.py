# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate and draw probabilities and times until a fall, with confidence intervals."""

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import require_name
from hrpsim.common.figures import fill_between, new_figure
from hrpsim.sweeps.cells import DONE
from hrpsim.sweeps.framework.scenario import SweepError

CONFIDENCE = 0.95
_MOST_LEVELS = 8  # largest number of levels of a parameter, more values are divided into bins
_SIZE = (8.0, 5.0)  # [inches]
_DASHES = ("-", "--", "-.", ":")  # dashes of overlapping curves


class Share(NamedTuple):
    """Number of successes and trials, and Wilson's interval of the probability."""

    count: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The observed share, or NaN without trials."""
        return self.count / self.total if self.total else float("nan")


def share(happened: np.ndarray) -> Share:
    """Return the fraction of independent trials (n,) that are true or not 0, with its interval."""
    from scipy.stats import binomtest

    count, total = int(np.count_nonzero(happened)), len(happened)
    if total == 0:
        return Share(0, 0, 0.0, 1.0)
    interval = binomtest(count, total).proportion_ci(CONFIDENCE, method="wilson")
    return Share(count, total, float(interval.low), float(interval.high))


class Survival(NamedTuple):
    """A survival curve: times [s], and the probability and interval of surviving each time."""

    times: np.ndarray
    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray


def survival(ended: np.ndarray, fell_at: np.ndarray) -> Survival:
    """Return the Kaplan-Meier curve of falls [s] with Greenwood's log-log interval.

    A time of NaN is not a fall. If the interval is undefined, for example after all runs have
    fallen, both ends of the interval equal the probability.
    """
    from scipy.stats import CensoredData, ecdf

    fell = ~np.isnan(fell_at)
    data = CensoredData(uncensored=fell_at[fell], right=ended[~fell])
    curve = ecdf(data).sf
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The confidence interval is undefined")
        interval = curve.confidence_interval(CONFIDENCE, method="log-log")
    middle = curve.probabilities
    low, high = interval.low.probabilities, interval.high.probabilities
    low, high = (np.where(np.isnan(end), middle, end) for end in (low, high))
    return Survival(curve.quantiles, middle, low, high)


def levels(column: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """Return (label, mask of runs) of each value of a parameter, or of bins of equal count."""
    values = np.unique(column)
    if len(values) <= _MOST_LEVELS or column.dtype.kind in "Ub":
        numbers = column.dtype.kind in "if"
        return [(f"{v:g}" if numbers else str(v), column == v) for v in values]
    edges = np.unique(np.quantile(column, np.linspace(0.0, 1.0, _MOST_LEVELS + 1)))
    bins = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, len(edges) - 2)
    digits = max(0, 1 - math.floor(math.log10(np.diff(edges).min())))  # a tenth of a bin, or less
    form = f".{digits}f" if digits < 5 else ".3g"
    labels = [format(edge, form) for edge in np.round(edges, digits) + 0.0]
    return [(f"{labels[k]} to {labels[k + 1]}", bins == k) for k in range(len(edges) - 1)]


def summary(found: Any) -> list[dict[str, Any]]:
    """Return a row for each value, or bin, of each parameter: runs, failures, means of outcomes.

    Outcomes of 0 or 1 have an interval from `NAME_low` to `NAME_high`.
    """
    done = found["status"].values == DONE
    outcomes = outcome_names(found)
    rows = []
    for name in parameter_names(found):
        for label, chosen in levels(found[name].values):
            row = {"parameter": name, "value": label, "cells": int((chosen & done).sum())}
            for outcome in outcomes:
                values = found[outcome].values[chosen & done]
                values = values[~np.isnan(values)]
                row[outcome] = float(values.mean()) if len(values) else float("nan")
                if yes_or_no(found, outcome):
                    _, _, low, high = share(values)
                    row |= {f"{outcome}_low": low, f"{outcome}_high": high}
            rows.append(row)
    return rows


def yes_or_no(found: Any, outcome: str) -> bool:
    """Return whether an outcome has no unit and is 0 or 1 in every finished run."""
    values = found[outcome].values[found["status"].values == DONE]
    values = values[~np.isnan(values)]
    return not found[outcome].attrs.get("units") and bool(np.isin(values, (0.0, 1.0)).all())


def outcome_names(found: Any) -> list[str]:
    """Return the outcomes of a dataset that are one number per run."""
    return [
        str(name)
        for name, variable in found.data_vars.items()
        if variable.dims == ("cell",) and name not in ("status", "error")
    ]


def require_parameter(found: Any, name: str) -> None:
    """Raise SweepError for a name that is not a parameter of a dataset."""
    require_name("parameter", name, parameter_names(found), SweepError)


def parameter_names(found: Any) -> list[str]:
    """Return the parameters of a dataset."""
    return [str(name) for name in found.coords if name not in ("cell", "seed")]


def draw(found: Any, path: str | Path, x: str, y: str | None = None, outcome: str = "fell") -> None:
    """Plot `outcome` against one parameter, or a map against two. The suffix sets the format.

    An outcome of 0 or 1 is drawn as its probability with a 95 % interval. Other outcomes are drawn
    as a spread, and in a map as a mean. Runs without a finite outcome are left out.
    """
    for name in filter(None, (x, y)):
        require_parameter(found, name)
    require_name("outcome", outcome, outcome_names(found), SweepError, limit=30)
    done = (found["status"].values == DONE) & np.isfinite(found[outcome].values)
    figure = new_figure(*_SIZE)
    axes = figure.add_subplot()
    if y is None:
        _draw_curve(axes, found, x, outcome, done)
    else:
        _draw_map(figure, axes, found, (x, y), outcome, done)
    axes.set_xlabel(_label(found, x))
    _save(figure, path)


def _draw_curve(axes, found, x: str, outcome: str, done: np.ndarray) -> None:
    values = found[outcome].values
    parts = [(label, values[chosen & done]) for label, chosen in levels(found[x].values)]
    positions = np.arange(len(parts))
    if yes_or_no(found, outcome):
        shares = [share(part) for _, part in parts]
        middle = np.array([s.share for s in shares])
        reach = np.abs([[s.low for s in shares], [s.high for s in shares]] - middle)
        axes.errorbar(positions, middle, reach, fmt="o", capsize=4)
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel(f"probability of {outcome!r}, 95 % interval")
    else:
        axes.boxplot(
            [part for _, part in parts], positions=positions, whis=(5, 95), showfliers=False
        )
        axes.set_ylabel(f"{_label(found, outcome)}: median, quartiles, 5 to 95 %")
    axes.set_xticks(positions, [label for label, _ in parts])


def _draw_map(figure, axes, found, names: tuple[str, str], outcome: str, done: np.ndarray) -> None:
    values = found[outcome].values
    across, up = (levels(found[name].values) for name in names)
    grid = np.full((len(up), len(across)), np.nan)
    binary, size = yes_or_no(found, outcome), min(7.0, 42.0 / len(across))
    for i, (_, in_row) in enumerate(up):
        for j, (_, in_column) in enumerate(across):
            part = values[in_row & in_column & done]
            if not len(part):
                continue
            grid[i, j] = part.mean()
            text = f"{grid[i, j]:.2g}"
            if binary:
                found_share = share(part)
                text = f"{found_share.share:.2f}\n{found_share.low:.2f} to {found_share.high:.2f}"
            axes.text(j, i, f"{text}\nn = {len(part)}", ha="center", va="center", fontsize=size)
    limits = {"vmin": 0.0, "vmax": 1.0} if binary else {}
    image = axes.imshow(grid, origin="lower", aspect="auto", cmap="YlOrRd", alpha=0.7, **limits)
    legend = f"probability of {outcome!r}, 95 % interval" if binary else _label(found, outcome)
    figure.colorbar(image, label=legend)
    axes.set_xticks(range(len(across)), [label for label, _ in across], rotation=30, ha="right")
    axes.set_yticks(range(len(up)), [label for label, _ in up])
    axes.set_ylabel(_label(found, names[1]))


def draw_survival(found: Any, path: str | Path, by: str) -> None:
    """Plot the time until a fall, with one survival curve for each value of a parameter."""
    for needed in ("time", "fell_at"):
        if needed not in found.data_vars:
            raise SweepError(f"a survival curve needs time and fell_at, but {needed!r} is missing")
    require_parameter(found, by)
    done = found["status"].values == DONE
    figure = new_figure(*_SIZE)
    axes = figure.add_subplot()
    least = 1.0
    for (label, chosen), dashes in zip(levels(found[by].values), itertools.cycle(_DASHES)):
        chosen = chosen & done
        if not chosen.any():
            continue
        curve = survival(found["time"].values[chosen], found["fell_at"].values[chosen])
        times = np.concatenate([[0.0], curve.times])
        (line,) = axes.step(times, [1.0, *curve.probability], where="post", label=label, ls=dashes)
        low, high, color = [1.0, *curve.low], [1.0, *curve.high], line.get_color()
        fill_between(axes, times, low, high, step="post", alpha=0.15, color=color)
        least = min(least, *low)
    axes.set(xlabel="time [s]", ylabel="probability of still standing")
    axes.set_ylim(max(-0.02, least - 0.05), 1.02)
    axes.legend(title=_label(found, by), fontsize=8)
    _save(figure, path)


def _save(figure, path: str | Path) -> None:
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise SweepError(f"cannot draw {path}: {error}") from error


def _label(found: Any, name: str) -> str:
    unit = found[name].attrs.get("units", "")
    return f"{name} [{unit}]" if unit else name
