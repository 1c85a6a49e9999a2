# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Simulated time in ROS as integer nanoseconds, and the times at which messages are due.

Needs no ROS. Simulated time never decreases. The source of messages is a PolledSubscription, or an
object with the same methods.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from hrpsim.common.constants import NANOSECONDS

if TYPE_CHECKING:
    from builtin_interfaces.msg import Time

_ROUNDING = 1e-3  # tolerance in steps: stamps are whole nanoseconds
_LONGEST_HOLD = 1.0  # [s], a later stamp is of another clock
_MOST_HELD = 2000


class Stamp(NamedTuple):
    """A time as in ROS messages: whole seconds and the remaining nanoseconds."""

    seconds: int
    nanoseconds: int

    @property
    def total(self) -> int:
        """Time since zero [ns]."""
        return self.seconds * NANOSECONDS + self.nanoseconds

    def __str__(self) -> str:
        """Return the time in seconds with all digits."""
        return f"{self.seconds}.{self.nanoseconds:09d}"

    def to_message(self) -> Time:
        """Return the builtin_interfaces/Time."""
        from builtin_interfaces.msg import Time

        return Time(sec=self.seconds, nanosec=self.nanoseconds)


class SimulationClock:
    """Counts the steps since the node started. A reset of the world does not reset the clock."""

    def __init__(self, time_step: float) -> None:
        self.time_step = time_step  # [s]
        self.steps = 0

    def step_at(self, stamp: Time) -> int:
        """Return the first step at or after `stamp`."""
        nanoseconds = stamp.sec * NANOSECONDS + stamp.nanosec
        return math.ceil(nanoseconds / (self.time_step * NANOSECONDS) - _ROUNDING)

    def change_step(self, time_step: float) -> None:
        """Change the step length [s]. Start at the first multiple that is not in the past."""
        self.steps = math.ceil(self.steps * self.time_step / time_step - _ROUNDING)
        self.time_step = time_step

    @property
    def seconds(self) -> float:
        """Simulated time since the node started [s]."""
        return self.steps * self.time_step

    @property
    def stamp(self) -> Stamp:
        """Simulated time since the node started, to a nanosecond, without accumulated rounding."""
        return self.stamp_at(self.steps)

    def stamp_at(self, steps: int) -> Stamp:
        """Return the stamp of the time after `steps` steps."""
        return Stamp(*divmod(round(steps * self.time_step * NANOSECONDS), NANOSECONDS))


class MessageQueue:
    """A queue of the messages of one topic. Each message is due on arrival."""

    def __init__(self, source) -> None:
        self._source = source
        self.topic, self.publisher_count = source.topic, source.publisher_count
        self.lost_count = 0  # messages lost in transport, if counted

    def take_due(self) -> Iterable[Any]:
        """Return the messages that are due now, in order."""
        return [message for message, _ in self._source.take_all()]

    def accepted(self) -> None:
        """Record that the last message from `take_due` was accepted."""

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before the next waiting message is due."""
        return most

    def discard(self) -> None:
        """Drop all waiting messages, which belong to the time before a reset."""
        for _ in self._source.take_all():
            pass


class StampedQueue(MessageQueue):
    """Messages with a header. Each message is due when simulated time reaches the stamp.

    A message with a stamp in the past, or more than 1 s of simulated time ahead, is due at once.
    """

    def __init__(self, source, clock: SimulationClock) -> None:
        super().__init__(source)
        self._clock = clock
        self._delayed: list[tuple[int, int, Any]] = []  # heap of (step, order, message)
        self._order = 0
        self._last_number: int | None = None

    def take_due(self) -> list[Any]:
        """Return the messages that are due now: new messages, then waiting messages."""
        due = []
        for message, info in self._source.take_all():
            self._count_lost(info.get("publication_sequence_number"))
            step = self._clock.step_at(message.header.stamp)
            ahead = (step - self._clock.steps) * self._clock.time_step
            if 0 < ahead <= _LONGEST_HOLD and len(self._delayed) < _MOST_HELD:
                self._order += 1
                heapq.heappush(self._delayed, (step, self._order, message))
            else:
                due.append(message)
        while self._delayed and self._delayed[0][0] <= self._clock.steps:
            due.append(heapq.heappop(self._delayed)[2])
        return due

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before the next waiting message is due."""
        return min(most, self._delayed[0][0] - self._clock.steps) if self._delayed else most

    def discard(self) -> None:
        """Drop all waiting messages, which belong to the time before a reset."""
        super().discard()
        self._delayed.clear()
        self._last_number = None

    def _count_lost(self, number: int | None) -> None:
        """Count gaps in the publisher's sequence numbers.

        With several publishers gaps are unknown.
        """
        if number is None or self._source.publisher_count() != 1:
            self._last_number = None
            return
        if self._last_number is not None and number > self._last_number + 1:
            self.lost_count += number - self._last_number - 1
        self._last_number = number
