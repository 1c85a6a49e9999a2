# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lockstep with a client that sends commands without stamps. Needs no ROS.

A command that arrives after the state of a tick belongs to this tick. The node publishes the state
of a tick once. If no command arrives, the node publishes the same state again, and the client may
answer each copy. The node then waits for as many commands as copies, or for a short time without
commands. Otherwise the answer to a copy would be used for the next tick, and each later command
would act one tick late.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.lockstep import Lockstep

_SILENCE = 0.1  # time after which no further answer to a repeated state arrives [s, wall]


class UnstampedAnswers(MessageQueue):
    """The queue of a topic without stamps, in which commands are answers to lockstep ticks."""

    def __init__(
        self,
        source,
        lockstep: Lockstep,
        clock: SimulationClock,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(source)
        self._lockstep, self._clock, self._now = lockstep, clock, now
        lockstep.wait_first_for(source)
        self._tick = -1  # step of the last published state
        self._copies = 0  # publications of this state and of earlier unanswered states
        self._answers = 0  # answers to this state
        self._answered_at = 0.0  # [s, wall]
        self._is_known = False  # whether the client has answered before

    def asks(self) -> bool:
        """Return whether the state is to be published now, so that the client sends a command.

        The first publication of a tick drops the commands that arrived before. Commands that answer
        earlier publications, for example before a reset, count as answers to copies.
        """
        if not self._lockstep.is_waiting:
            return False
        is_there = self.publisher_count() > 0
        self._is_known &= is_there
        if self._tick != self._clock.steps:
            late = sum(1 for _ in self._source.take_all())
            owed = max(self._copies - self._answers - late, 0) if is_there else 0
            self._tick, self._copies, self._answers = self._clock.steps, 1 + owed, 0
            return True
        if self._answers or (self._is_known and not self._lockstep.is_stalled):
            return False
        self._copies += is_there
        return True

    def take_due(self) -> Iterator[bytes]:
        """Yield the commands that answer this tick. Drop commands between ticks."""
        if self._answers and self._now() - self._answered_at > _SILENCE:
            self._end_tick()
        for message, _ in self._source.take_all():
            if self._lockstep.is_waiting:
                self._lockstep.time_answer()
                yield message

    def accepted(self) -> None:
        """Let time continue if all copies of the state are answered."""
        self._answers += 1
        self._is_known, self._answered_at = True, self._now()
        if self._answers >= self._copies:
            self._end_tick()

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before a command is needed."""
        return self._lockstep.steps_to_next(most)

    def discard(self) -> None:
        """Drop the commands that arrived before a reset."""
        super().discard()
        self._tick = -1
        self._lockstep.end_stall()

    def _end_tick(self) -> None:
        self._copies = self._answers = 0
        if self._lockstep.is_waiting:
            self._lockstep.accepted()
