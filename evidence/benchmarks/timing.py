# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Time several subjects in turn, so that other load of the machine affects all alike."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

SLICE = 0.02  # duration of one turn [s]
LEAST_ROUNDS = 3


@dataclass(frozen=True)
class Subject:
    """An operation to time. run(n) performs n times `each` operations.

    reset() is called before each timing, and is not timed.
    """

    name: str
    run: Callable[[int], object]
    ours: bool = False
    reset: Callable[[], object] | None = None
    most: int = 1_000_000  # largest n
    each: int = 1

    def timed(self, count: int, clock: Callable[[], float] = time.process_time) -> float:
        """Return the time of one operation [s] in a call of run(count)."""
        if self.reset is not None:
            self.reset()
        begin = clock()
        self.run(count)
        return (clock() - begin) / (count * self.each)


@dataclass(frozen=True)
class Effort:
    """The amount of measurement: rounds of turns of `slice` [s], about `budget` [s] in total.

    The default clock is the processor time of this process, which excludes waiting for other
    programs. Work on several cores needs time.perf_counter.
    """

    rounds: int = 15
    slice: float = SLICE
    budget: float = 10.0
    quick: bool = False
    clock: Callable[[], float] = time.process_time


def filling(subject: Subject, effort: Effort) -> int:
    """Return the number n for which run(n) takes `effort.slice` seconds.

    The first call warms up.
    """
    subject.timed(1, effort.clock)
    count = 1
    while True:
        took = subject.timed(count, effort.clock) * count * subject.each
        if count >= subject.most:
            return subject.most
        if took >= effort.slice / 4:
            return int(np.clip(round(count * effort.slice / took), 1, subject.most))
        count = min(count * 4, subject.most)


def interleave(subjects: Sequence[Subject], effort: Effort) -> dict[str, np.ndarray]:
    """Return the time of an operation in each round (rounds,) [s] by subject, timed in turn."""
    counts = [filling(subject, effort) for subject in subjects]
    begin = time.perf_counter()
    first = _one_round(subjects, counts, effort)
    round_takes = time.perf_counter() - begin
    rounds = int(np.clip(effort.budget / max(round_takes, 1e-9), LEAST_ROUNDS, effort.rounds))
    times = [first, *(_one_round(subjects, counts, effort) for _ in range(rounds - 1))]
    return dict(zip((subject.name for subject in subjects), np.array(times).T))


def _one_round(subjects, counts, effort: Effort) -> list[float]:
    return [subject.timed(n, effort.clock) for subject, n in zip(subjects, counts)]
