"""What became slower or faster than a stored run.

Machines differ, so what is compared is each time over that of the reference, another engine or the
yardstick, in the same rounds of the same run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

THRESHOLD = 1.15  # times the stored ratio; the quartiles must lie apart besides
# What takes less depends on where the loader puts its code, which differs from process to process.
SHORT, SHORT_THRESHOLD = 2e-7, 2.0  # [s]


@dataclass(frozen=True)
class Change:
    """A ratio of ours to its reference, before and now."""

    case: str
    quantity: str
    subject: str
    reference: str
    before: float
    now: float

    @property
    def factor(self) -> float:
        """How many times slower than before."""
        return self.now / self.before

    def __str__(self) -> str:
        return (
            f"{self.case}, {self.quantity}, {self.subject}: {self.factor:.2f} times what it was "
            f"({self.now:.3g} of {self.reference}, was {self.before:.3g})"
        )


@dataclass(frozen=True)
class Comparison:
    """Changes beyond the threshold, worst first, and how many ratios were comparable."""

    slower: tuple[Change, ...]
    faster: tuple[Change, ...]
    compared: int


def _ratios(run: Mapping) -> dict:
    return {
        (name, one["quantity"], one["subject"], one["reference"]): one
        for name, case in run["cases"].items()
        for one in case["measurements"]
        if one["ours"]
    }


def compare(before: Mapping, now: Mapping, threshold: float = THRESHOLD) -> Comparison:
    """Return what changed between two runs, as `report.as_data` makes them, in what both have."""
    old, new = _ratios(before), _ratios(now)
    slower, faster = [], []
    common = [key for key in new if key in old]
    for key in common:
        was, is_now = old[key]["ratio"], new[key]["ratio"]
        limit = threshold if new[key]["times"]["median"] >= SHORT else SHORT_THRESHOLD
        change = Change(*key, before=was["median"], now=is_now["median"])
        if change.factor > limit and is_now["low"] > was["high"]:
            slower.append(change)
        elif change.factor < 1.0 / limit and is_now["high"] < was["low"]:
            faster.append(change)
    return Comparison(
        tuple(sorted(slower, key=lambda change: -change.factor)),
        tuple(sorted(faster, key=lambda change: change.factor)),
        len(common),
    )


def comparison_lines(result: Comparison, before: Mapping) -> list[str]:
    """Return what a reader is told of a comparison."""
    lines = [
        f"compared with the run of {before['date']} on {before['machine']['processor']}: "
        f"{result.compared} ratios to a reference of the same run; slower is beyond "
        f"{THRESHOLD:g} times with quartiles apart, {SHORT_THRESHOLD:g} times below "
        f"{1e6 * SHORT:g} us"
    ]
    lines += [f"SLOWER  {change}" for change in result.slower] or ["nothing became slower"]
    lines += [f"faster  {change}" for change in result.faster]
    return lines
