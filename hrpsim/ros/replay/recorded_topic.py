# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A topic whose messages come from a bag, when simulated time has come to them. Needs no ROS."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.replay.recording import Arrival, nanoseconds


class RecordedTopic:
    """What a PolledSubscription does. Messages arrive at a time of the clock.

    `by_stamp`: at the time of their stamps, as in lockstep; one that repeats a stamp is left out.
    """

    def __init__(
        self, topic: str, arrivals: list[Arrival], clock: SimulationClock, *, by_stamp: bool = False
    ):
        self.topic = topic
        self._clock = clock
        if by_stamp:
            first: dict[int, Arrival] = {}
            for arrival in arrivals:
                time = nanoseconds(arrival.message.header.stamp)
                first.setdefault(time, Arrival(time, arrival.message))
            arrivals = [first[time] for time in sorted(first)]
        self._arrivals = arrivals
        self._next = 0

    def take_all(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield what has arrived by now and was not taken."""
        now = self._clock.stamp.total
        while self._next < len(self._arrivals) and self._arrivals[self._next].time <= now:
            self._next += 1
            yield self._arrivals[self._next - 1].message, {}

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, it is until the next message arrives."""
        if self._next == len(self._arrivals):
            return most
        time = self._arrivals[self._next].time
        step = round(time / (self._clock.time_step * 1e9))
        return max(1, min(most, step - self._clock.steps))

    def publisher_count(self) -> int:
        """Return that one program sends to the topic."""
        return 1
