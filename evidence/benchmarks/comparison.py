# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find cases that are slower or faster than in a stored run.

Machines differ, and one machine has several clock speeds. Times are therefore divided by a measure
of the machine's speed, in two ways. The first divisor is the time of a reference (another engine or
a fixed workload) in the same run. The second divisor is the median change of all times of other
engines. Both are needed because engines may scale differently with the clock. A case counts as
slower only if both ratios have grown, in each of several runs (`confirmed`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

THRESHOLD = 1.15  # ratio to the stored ratio, and the quartiles must not overlap
# Shorter times depend on the address of the code, which differs between processes.
SHORT, SHORT_THRESHOLD = 2e-7, 2.0  # [s]


@dataclass(frozen=True)
class Change:
    """hrpsim's time divided by the reference's time, in the stored run and in the present run."""

    case: str
    quantity: str
    subject: str
    reference: str
    before: float
    now: float
    beside_machine: float  # ratio of the times, corrected for the speed of the machine

    @property
    def beside_reference(self) -> float:
        """Factor by which the ratio to the reference has grown."""
        return self.now / self.before

    @property
    def factor(self) -> float:
        """Factor of the slow-down: the smaller growth of the two ratios. 1 means equally fast."""
        ways = self.beside_reference, self.beside_machine
        return min(ways) if min(ways) > 1.0 else max(ways) if max(ways) < 1.0 else 1.0

    @property
    def key(self) -> tuple[str, str, str]:
        """The key of the ratio: case, quantity and subject."""
        return self.case, self.quantity, self.subject

    def __str__(self) -> str:
        return (
            f"{self.case}, {self.quantity}, {self.subject}: {self.factor:.2f} times what it was "
            f"({self.now:.3g} of {self.reference}, was {self.before:.3g})"
        )


@dataclass(frozen=True)
class Comparison:
    """Changes beyond the threshold, the worst first, and the number of comparable ratios."""

    slower: tuple[Change, ...]
    faster: tuple[Change, ...]
    compared: int


def _ratios(run: Mapping) -> dict:
    return {
        (name, entry["quantity"], entry["subject"], entry["reference"]): entry
        for name, case in run["cases"].items()
        for entry in case["measurements"]
        if entry["ours"]
    }


def _machine(before: Mapping, now: Mapping) -> float:
    """Return the median factor by which the times of other engines have grown."""

    def peers(run: Mapping) -> dict:
        return {
            (name, entry["quantity"], entry["subject"]): entry["times"]["median"]
            for name, case in run["cases"].items()
            for entry in case["measurements"]
            if not entry["ours"] and entry["times"]["median"] >= SHORT
        }

    old, new = peers(before), peers(now)
    changes = [new[key] / old[key] for key in new if key in old]
    return float(np.median(changes)) if changes else 1.0


def compare(before: Mapping, now: Mapping, threshold: float = THRESHOLD) -> Comparison:
    """Return the changes between two runs, for the quantities that both runs have.

    Args:
        before: data of the stored run, from `report.as_data`.
        now: data of the present run, from `report.as_data`.
        threshold: smallest factor that counts as a change.
    """
    old, new = _ratios(before), _ratios(now)
    slower, faster = [], []
    common = [key for key in new if key in old]
    machine = _machine(before, now)
    for key in common:
        was, is_now = old[key]["ratio"], new[key]["ratio"]
        limit = threshold if new[key]["times"]["median"] >= SHORT else SHORT_THRESHOLD
        took = new[key]["times"]["median"] / old[key]["times"]["median"]
        change = Change(*key, was["median"], is_now["median"], took / machine)
        if change.factor > limit and is_now["low"] > was["high"]:
            slower.append(change)
        elif change.factor < 1.0 / limit and is_now["high"] < was["low"]:
            faster.append(change)
    return Comparison(
        tuple(sorted(slower, key=lambda change: -change.factor)),
        tuple(sorted(faster, key=lambda change: change.factor)),
        len(common),
    )


def confirmed(first: Comparison, again: Comparison) -> Comparison:
    """Keep the slower cases of the first comparison that are also slower in the second.

    The result has the smaller of both factors.
    """
    repeated = {change.key: change for change in again.slower}
    slower = [
        min(change, repeated[change.key], key=lambda one: one.factor)
        for change in first.slower
        if change.key in repeated
    ]
    return replace(first, slower=tuple(sorted(slower, key=lambda change: -change.factor)))


def comparison_lines(result: Comparison, before: Mapping) -> list[str]:
    """Describe a comparison as lines of text."""
    lines = [
        f"compared with the run of {before['date']} on {before['machine']['processor']}: "
        f"{result.compared} ratios to a reference; slower is beyond {THRESHOLD:g} times, quartiles "
        f"apart, against both the reference and the machine's speed, and when repeated; "
        f"{SHORT_THRESHOLD:g} times below {1e6 * SHORT:g} us"
    ]
    lines += [f"SLOWER  {change}" for change in result.slower] or ["nothing became slower"]
    lines += [f"faster  {change}" for change in result.faster]
    return lines
