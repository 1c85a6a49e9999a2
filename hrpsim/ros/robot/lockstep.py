# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lockstep: simulated time stops at each control tick until the command arrives. Needs no ROS."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from hrpsim.common.errors import WorldError
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock, Stamp

_MOST_ROUND_TRIPS = 10_000


class CommandMissed(WorldError):
    """No command arrived for a tick within the time-out, and the policy is "abort"."""


class LockstepSettings(NamedTuple):
    """Settings of the wait for commands. `policy` is "pause", "hold" or "abort"."""

    period: float  # period of the control ticks [s]
    timeout: float  # [s, wall]
    policy: str


class Lockstep:
    """Simulated time stops at each control tick until the command for this tick is accepted.

    Ticks are the whole multiples of the period on the clock. The message for a tick carries the
    stamp of the tick. The first accepted message is the command of the tick, on any topic with a
    `queue`. All others are rejected with a warning that states the reason.

    Each wait beyond the time-out is reported once. Then the policy decides. "pause" continues to
    wait. "hold" uses the last command for this tick, and then waits only one period [s, wall] at
    each tick until a command arrives. "abort" raises CommandMissed. Raises ControllerError for a
    period that is not a whole multiple of the time step.
    """

    def __init__(
        self, clock: SimulationClock, rejections: Rejections, logger, settings: LockstepSettings
    ) -> None:
        self._sources: list[Any] = []
        self._awaited = "with the stamp"  # condition for a message of the first topic
        self.timeout = settings.timeout
        self.policy = settings.policy
        self.stall_count = 0  # number of waits beyond the time-out
        self.held_count = 0  # number of ticks without a command
        self._period = settings.period
        self._steps_per_period = steps_in_period("control_period", settings.period, clock.time_step)
        self._clock = clock
        self._rejections = rejections
        self._logger = logger
        self._answered = -1  # step of the last tick with an accepted command
        self._waiting_since = math.inf  # [s, wall]
        self.is_stalled = False  # whether the present wait is beyond the time-out
        self._stall_began = math.inf  # [s, wall]
        self._is_held = False  # whether the last tick had no command
        self._round_trips: list[float] = []  # [s, wall]
        self._published_at = math.inf  # start of the publication of the last state [s, wall]
        self._round_trip = math.inf  # round trip of the last yielded message [s, wall]

    def queue(self, source) -> MessageQueue:
        """Return the queue of a topic whose messages are commands for ticks.

        source: subscription with the messages.
        """
        self._sources.append(source)
        return _AnswerQueue(source, self)

    def wait_first_for(self, source) -> None:
        """Wait for a topic before all other topics, because its messages have no stamp.

        Log messages about the wait name this topic.
        """
        self._sources.insert(0, source)
        self._awaited = "in answer to the state of"

    @property
    def at_tick(self) -> bool:
        """Whether now is a control tick."""
        return self._clock.steps % self._steps_per_period == 0

    @property
    def is_waiting(self) -> bool:
        """Whether now is a control tick without a command so far."""
        return self.at_tick and self._answered != self._clock.steps

    def steps_to_tick(self) -> int:
        """Return the number of steps to the next control tick, at least one."""
        return self._steps_per_period - self._clock.steps % self._steps_per_period

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before a command is needed."""
        return min(most, self.steps_to_tick())

    def steps_over_reset(self) -> int:
        """Return the number of steps by which time advances at a reset.

        One tick is skipped, which shows controllers that there was a reset.
        """
        return self.steps_to_tick() + self._steps_per_period

    def begin_round_trip(self) -> None:
        """Start to measure the round trip of this tick, before the state is computed."""
        self._published_at = time.monotonic()

    def take_round_trips(self) -> list[float]:
        """Return the new times [s, wall] from the publication of a state to its command."""
        taken, self._round_trips = self._round_trips, []
        return taken

    def take_answers(self, source) -> Iterator:
        """Yield messages with the stamp of this tick until one is `accepted`. Reject all others."""
        for message, _ in source.take_all():
            stamp = Stamp(message.header.stamp.sec, message.header.stamp.nanosec)
            if self.is_waiting and stamp == self._clock.stamp:
                self.time_answer()
                yield message
            elif (
                self._is_held or self._answered < 0 or stamp != self._clock.stamp_at(self._answered)
            ):
                self._reject_stamp(source.topic, stamp)
            # The others are repeated answers, because the state was repeated.

    def time_answer(self) -> None:
        """Record the round trip of this tick, because its command has arrived."""
        self._round_trip = time.monotonic() - self._published_at

    def accepted(self) -> None:
        """Allow time to continue: the command of this tick has been accepted."""
        self._answered = self._clock.steps
        self._is_held = False
        if len(self._round_trips) < _MOST_ROUND_TRIPS:
            self._round_trips.append(self._round_trip)
        self.end_stall()

    def wait(self, longest: float, poll: Callable[[], None]) -> bool:
        """Wait for the command of this tick, at most `longest` [s, wall]. `poll` takes the command.

        Returns:
            Whether steps can be made. This is true if the command has arrived, if the policy
            permits a step without the command, and between ticks.

        Raises:
            CommandMissed: the command is late and the policy is "abort".
        """
        poll()
        if not self.is_waiting:
            return True
        now = time.monotonic()
        self._waiting_since = min(self._waiting_since, now)
        end = min(now + longest, self._time_out_at)
        while self.is_waiting and (left := end - time.monotonic()) > 0.0:
            self._sources[0].wait(left, *self._sources[1:])
            poll()
        if self.is_waiting and time.monotonic() >= self._time_out_at:
            self._time_out()
        return not self.is_waiting

    def forget_wait(self) -> None:
        """Restart the waiting time, after a pause."""
        self._waiting_since = math.inf
        self.is_stalled = False

    def describe_wait(self) -> str:
        """Return the awaited topic and stamp, the waiting time and the number of publishers."""
        count = self._publisher_count()
        return (
            f"lockstep waits for {self._sources[0].topic} {self._awaited} "
            f"{self._clock.stamp} s. The wait has lasted "
            f"{time.monotonic() - self._waiting_since:.1f} s. The topic has {count} "
            f"publisher{'s' * (count != 1)}"
        )

    def _publisher_count(self) -> int:
        return sum(source.publisher_count() for source in self._sources)

    def _reject_stamp(self, topic: str, stamp: Stamp) -> None:
        steps = self._clock.steps
        steps += 0 if self.is_waiting else self.steps_to_tick()
        awaited = self._clock.stamp_at(steps)
        if stamp.total == 0:
            cause = "it carries no stamp"
        elif stamp < awaited:
            cause = "its stamp has passed"
        else:
            cause = "its stamp is ahead"
        text = (
            f"{cause} ({stamp} s, awaited {awaited} s). In lockstep a command "
            "carries the stamp of the state that it answers"
        )
        self._rejections.report(topic, "", text, kind=cause)

    @property
    def _time_out_at(self) -> float:
        """The time at which this tick's wait times out [s, wall]."""
        if not self.is_stalled:
            return self._waiting_since + self.timeout
        return self._waiting_since + self._period if self.policy == "hold" else math.inf

    def _time_out(self) -> None:
        if not self.is_stalled:
            self.is_stalled = True
            self._stall_began = self._waiting_since
            self.stall_count += 1
            if self.policy == "abort":
                raise CommandMissed(self.describe_wait())
            self._report_stall("; the last command holds" if self.policy == "hold" else "")
        if self.policy == "hold":
            self.held_count += 1
            self._is_held = True
            self._answered = self._clock.steps
            self._waiting_since = math.inf

    def _report_stall(self, consequence: str) -> None:
        """Log that time waits.

        The level is information if the controller has left, otherwise warning.
        """
        if self._publisher_count() == 0 and self._answered >= 0:
            self._logger.info(
                f"the sender of {self._sources[0].topic} has left. Simulated time waits at "
                f"{self._clock.stamp} s for another{consequence}"
            )
        else:
            self._logger.warning(self.describe_wait() + consequence)

    def end_stall(self) -> None:
        """Log, after a stall, that time continues, and restart the waiting time."""
        if self.is_stalled:
            waited = time.monotonic() - self._stall_began
            self._logger.info(f"lockstep continues after {waited:.1f} s")
        self.forget_wait()


class _AnswerQueue(MessageQueue):
    """The queue of one topic whose messages answer the ticks of a lockstep."""

    def __init__(self, source, lockstep: Lockstep) -> None:
        super().__init__(source)
        self._lockstep = lockstep

    def take_due(self) -> Iterator:
        """Yield the messages for this tick until one is accepted. See `Lockstep`."""
        return self._lockstep.take_answers(self._source)

    def accepted(self) -> None:
        """Allow time to continue."""
        self._lockstep.accepted()

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before a command is needed."""
        return self._lockstep.steps_to_next(most)

    def discard(self) -> None:
        """Drop the messages that arrived before a reset."""
        super().discard()
        self._lockstep.end_stall()
