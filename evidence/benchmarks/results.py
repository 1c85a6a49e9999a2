# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cases, and their results: times with spread, errors of each subject, power laws, claims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evidence.benchmarks.timing import Effort, Subject, interleave
from evidence.benchmarks.yardstick import NAME as YARDSTICK
from evidence.benchmarks.yardstick import yardstick


def quartiles(values) -> dict[str, float]:
    """Return median, lower quartile, upper quartile and minimum of `values`."""
    low, median, high = np.percentile(values, (25, 50, 75))
    return {"median": median, "low": low, "high": high, "best": float(np.min(values))}


@dataclass(frozen=True)
class Measurement:
    """Times of one subject's operation [s] for one quantity, such as "8 points".

    ratio: quartiles of the time divided by the time of `reference` in the same rounds.
    """

    quantity: str
    subject: str
    ours: bool
    times: dict[str, float]
    rounds: int
    reference: str
    ratio: dict[str, float]
    exact: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fit:
    """A power law time ~ size^exponent, by least squares on logarithms."""

    subject: str
    size: str  # meaning of the size
    sizes: tuple[float, ...]
    times: tuple[float, ...]
    exponent: float
    ours: bool = False


@dataclass(frozen=True)
class Claim:
    """A claim about the results: `value` is at most `bound`, or at least `bound`."""

    text: str
    value: float
    bound: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the measurement confirms the claim."""
        return bool(self.value >= self.bound if self.at_least else self.value <= self.bound)


@dataclass
class CaseResult:
    """All results of a case. `scale` converts seconds to `unit` in the tables."""

    name: str
    title: str
    unit: str = "us"
    scale: float = 1e6
    measurements: list[Measurement] = field(default_factory=list)
    fits: list[Fit] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    extra: list[tuple[list[str], list[list[str]]]] = field(default_factory=list)  # header, rows
    failed: str = ""
    seconds: float = 0.0

    def of(self, quantity: str, subject: str) -> Measurement | None:
        """Return the measurement of a subject for a quantity, or None if not measured."""
        for measurement in self.measurements:
            if (measurement.quantity, measurement.subject) == (quantity, subject):
                return measurement
        return None

    def measure(self, quantity: str, subjects: Sequence[Subject], effort: Effort, exact=None):
        """Time `subjects` in turn, and store the times for `quantity`. Return the times by name.

        The reference is the first subject that is not hrpsim, or else a fixed workload.

        exact: errors by names of subjects, or a function that measures the errors.
        """
        subjects = list(subjects)
        reference = next((s.name for s in subjects if not s.ours), YARDSTICK)
        timed = [*subjects, yardstick()] if reference == YARDSTICK else subjects
        times = interleave(timed, effort)
        is_ours = {s.name: s.ours for s in timed}
        errors = exact() if callable(exact) else exact or {}
        self.note(quantity, times, reference, is_ours, errors)
        return times

    def note(
        self,
        quantity: str,
        times: Mapping[str, np.ndarray],
        reference: str,
        ours: Mapping[str, bool],
        exact: Mapping[str, dict],
    ) -> None:
        """Add measurements from times (rounds,) [s] that were taken in the same rounds."""
        for name, values in times.items():
            self.measurements.append(
                Measurement(
                    quantity=quantity,
                    subject=name,
                    ours=ours.get(name, False),
                    times=quartiles(values),
                    rounds=len(values),
                    reference=reference,
                    ratio=quartiles(np.asarray(values) / np.asarray(times[reference])),
                    exact=dict(exact.get(name, {})),
                )
            )


def exponent(sizes, times) -> float:
    """Return the exponent of a power law of time over size, rounded to 0.01."""
    return round(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]), 2)


def fit(subject: str, size: str, sizes, times, ours: bool = False) -> Fit:
    """Return the power law through the medians of `times`.

    times: one array (rounds,) or number [s] for each size.
    """
    middle = [float(np.median(t)) for t in times]
    return Fit(subject, size, tuple(sizes), tuple(middle), exponent(sizes, middle), ours)


def median_ratio(times: Mapping[str, np.ndarray], over: str, under: str) -> float:
    """Return the median over rounds of the ratio of two subjects' times."""
    return float(np.median(np.asarray(times[over]) / np.asarray(times[under])))


@dataclass(frozen=True)
class Case:
    """A benchmark case: its heading, and the functions that run and draw the case.

    draw is None if there is no figure.
    """

    title: str
    run: Callable[[CaseResult, Effort], None]
    draw: Callable | None = None
    unit: str = "us"
    scale: float = 1e6
    cores: int = 1
