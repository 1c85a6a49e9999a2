# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Estimate probabilities and times until a fall from samples, with confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hrpsim.errors import unknown_name
from hrpsim.sweeps.cells import DONE
from hrpsim.sweeps.framework.errors import SweepError

CONFIDENCE = 0.95


class Share(NamedTuple):
    """Number of successes and trials, and Wilson's interval of the probability."""

    count: int
    total: int
    low: float
    high: float

    @property
    def share(self) -> float:
        """The observed share; NaN without trials."""
        return self.count / self.total if self.total else float("nan")


def share(happened: np.ndarray) -> Share:
    """Return the share of independent trials (n,) that are true or not 0."""
    from scipy.stats import binomtest

    count, total = int(np.count_nonzero(happened)), len(happened)
    if total == 0:
        return Share(0, 0, 0.0, 1.0)
    interval = binomtest(count, total).proportion_ci(CONFIDENCE, method="wilson")
    return Share(count, total, float(interval.low), float(interval.high))


class Survival(NamedTuple):
    """A survival curve: times [s], the probability of surviving each, and its interval."""

    times: np.ndarray
    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray


def survival(ended: np.ndarray, fell_at: np.ndarray) -> Survival:
    """Return the Kaplan-Meier curve of falls [s], NaN: none, with Greenwood's log-log interval."""
    from scipy.stats import CensoredData, ecdf

    fell = ~np.isnan(fell_at)
    data = CensoredData(uncensored=fell_at[fell], right=ended[~fell])
    curve = ecdf(data).sf
    with np.errstate(divide="ignore", invalid="ignore"):
        interval = curve.confidence_interval(CONFIDENCE, method="log-log")
    middle = curve.probabilities
    low, high = interval.low.probabilities, interval.high.probabilities
    low, high = (np.where(np.isnan(end), middle, end) for end in (low, high))
    return Survival(curve.quantiles, middle, low, high)


def levels(column: np.ndarray, most: int = 8) -> list[tuple[str, np.ndarray]]:
    """Return (label, mask of runs) of each value of a parameter, or of bins of equal count."""
    values = np.unique(column)
    if len(values) <= most or column.dtype.kind in "Ub":
        numbers = column.dtype.kind in "if"
        return [(f"{v:g}" if numbers else str(v), column == v) for v in values]
    edges = np.unique(np.quantile(column, np.linspace(0.0, 1.0, most + 1)))
    places = np.clip(np.searchsorted(edges, column, side="right") - 1, 0, len(edges) - 2)
    return [(f"{edges[k]:.3g} to {edges[k + 1]:.3g}", places == k) for k in range(len(edges) - 1)]


def summary(found: Any, parameters: Mapping[str, Any] | None = None) -> list[dict[str, Any]]:
    """Return a row for each value, or bin, of each parameter: runs, failures, means of outcomes.

    Outcomes that are 0 or 1 come with their interval, as `NAME_low` and `NAME_high`.
    """
    done = found["status"].values == DONE
    outcomes = outcome_names(found)
    names = list(parameters) if parameters is not None else parameter_names(found)
    rows = []
    for name in names:
        require_parameter(found, name)
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
    """Raise SweepError for a name that is no parameter of a dataset."""
    if name not in parameter_names(found):
        raise SweepError(unknown_name("parameter", name, parameter_names(found)))


def parameter_names(found: Any) -> list[str]:
    """Return the parameters of a dataset."""
    return [str(name) for name in found.coords if name not in ("cell", "seed")]
