"""Lockstep: simulated time stands still at each control tick until its command has come."""

from __future__ import annotations

import math
import time

from sensor_msgs.msg import JointState

from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.errors import WorldError
from hrpsim.ros.base import qos
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.commands import CommandChannel, apply_joint_command

_MOST_ROUND_TRIPS = 10_000


class CommandMissed(WorldError):
    """No command came for a tick within the time-out, and the policy is to end then."""


class Lockstep:
    """Applies to one robot, at each control tick, the message of `joint_commands` for that tick.

    Ticks are the whole multiples of `period` [s] on the clock. The command for a tick is the one
    that carries its stamp; the first that the robot can follow counts. All others are rejected with
    a warning that says why. With `interpolate`, position targets move evenly over the period.

    Waiting for longer than `timeout` [s, wall] is reported, once for each time it happens. Then the
    `policy` decides: "pause" goes on waiting; "hold" lets the last command hold for this tick, and
    until a command comes again waits for one period [s, wall] only at each tick; "abort" raises
    CommandMissed. Raises ControllerError for a period that is not a whole multiple of the time
    step.
    """

    def __init__(
        self,
        channel: CommandChannel,
        *,
        period: float,
        timeout: float,
        policy: str,
        interpolate: bool,
    ):
        self.timeout = timeout
        self.policy = policy
        self.accepted_count = 0
        self.stall_count = 0  # times that nothing came within the time-out
        self.held_count = 0  # ticks that passed without a command
        self._period = period
        self._steps_per_period = steps_in_period("control_period", period, channel.clock.time_step)
        self._logger = channel.node.get_logger()
        self._robot = channel.robot
        self._clock = channel.clock
        self._over = period if interpolate else 0.0
        self._subscription = PolledSubscription(
            channel.node, JointState, channel.topic, qos.COMMAND
        )
        self._rejections = channel.rejections
        self._commanded = channel.commanded
        self._answered = -1  # the step of the last tick whose command was applied
        self._waiting_since = math.inf  # [s, wall]
        self._stalled = False
        self._stall_began = math.inf  # [s, wall]
        self._held = False  # the last tick passed without a command
        self._round_trips: list[float] = []  # [s, wall]
        self._published_at = math.inf  # the last state, when that began [s, wall]

    @property
    def topic(self) -> str:
        """The full topic name."""
        return self._subscription.topic

    @property
    def is_stalled(self) -> bool:
        """Whether commands have stayed away for longer than the time-out."""
        return self._stalled

    @property
    def at_tick(self) -> bool:
        """Whether now is a control tick."""
        return self._clock.steps % self._steps_per_period == 0

    @property
    def is_waiting(self) -> bool:
        """Whether now is a tick whose command has not come."""
        return self.at_tick and self._answered != self._clock.steps

    def steps_to_tick(self) -> int:
        """Return how many steps it is to the next tick, at least one."""
        return self._steps_per_period - self._clock.steps % self._steps_per_period

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before a command is needed."""
        return min(most, self.steps_to_tick())

    def steps_over_reset(self) -> int:
        """Return how many steps the clock moves on at a reset, which leaves out one tick.

        No reset lets a controller miss a tick otherwise, so that is how it knows.
        """
        return self.steps_to_tick() + self._steps_per_period

    def begin_round_trip(self) -> None:
        """Count the round trip of this tick from now, before its state is made and published."""
        self._published_at = time.monotonic()

    def wait(self, longest: float) -> bool:
        """Wait for the command of this tick, at most `longest` [s, wall], and apply it.

        Return whether steps can be made: the command is there or done without, or now is no tick.
        Raises CommandMissed as the policy says.
        """
        self.take()
        if not self.is_waiting:
            return True
        now = time.monotonic()
        self._waiting_since = min(self._waiting_since, now)
        end = min(now + longest, self._time_out_at)
        while self.is_waiting and (left := end - time.monotonic()) > 0.0:
            self._subscription.wait(left)
            self.take()
        if self.is_waiting and time.monotonic() >= self._time_out_at:
            self._time_out()
        return not self.is_waiting

    def take(self) -> None:
        """Take in what has arrived; apply the command of this tick."""
        for message, _ in self._subscription.take_all():
            self._take(message)

    def discard(self) -> None:
        """Drop all that has arrived: it was meant for the time before a reset."""
        for _ in self._subscription.take_all():
            pass
        self.forget_wait()

    def forget_wait(self) -> None:
        """Count the time of waiting anew, after a pause."""
        self._waiting_since = math.inf
        self._stalled = False

    def publisher_count(self) -> int:
        """Return how many publishers send commands."""
        return self._subscription.publisher_count()

    def take_round_trips(self) -> list[float]:
        """Return the times from before a state's publication to its command, since the last call.

        In seconds of wall time.
        """
        taken, self._round_trips = self._round_trips, []
        return taken

    def describe_wait(self) -> str:
        """Return what is waited for, since when, and whether anybody could send it."""
        count = self._subscription.publisher_count()
        return (
            f"lockstep waits for {self._subscription.topic} with the stamp "
            f"{self._clock.stamp} s, for {time.monotonic() - self._waiting_since:.1f} s "
            f"now; {count} publisher{'s' * (count != 1)} connected"
        )

    def _take(self, message: JointState) -> None:
        stamp = Stamp(message.header.stamp.sec, message.header.stamp.nanosec)
        if self.is_waiting and stamp == self._clock.stamp:
            round_trip = time.monotonic() - self._published_at
            if self._rejections.follow(self._apply, message, self.topic):
                self.accepted_count += 1
                self._answered = self._clock.steps
                self._held = False
                if len(self._round_trips) < _MOST_ROUND_TRIPS:
                    self._round_trips.append(round_trip)
                self._report_end_of_stall()
                self._commanded(message.name)
        elif self._held or self._answered < 0 or stamp != self._clock.stamp_at(self._answered):
            self._reject_stamp(stamp)
        # What is left repeats an answer, because the state was repeated.

    def _apply(self, message: JointState) -> None:
        apply_joint_command(self._robot, message, over=self._over)

    def _reject_stamp(self, stamp: Stamp) -> None:
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
            f"{cause} ({stamp} s, awaited {awaited} s); in lockstep a command "
            "carries the stamp of the state that it answers"
        )
        self._rejections.report(self.topic, "", text, kind=cause)

    @property
    def _time_out_at(self) -> float:
        """When the patience for this tick ends [s, wall]."""
        if not self._stalled:
            return self._waiting_since + self.timeout
        return self._waiting_since + self._period if self.policy == "hold" else math.inf

    def _time_out(self) -> None:
        if not self._stalled:
            self._stalled = True
            self._stall_began = self._waiting_since
            self.stall_count += 1
            if self.policy == "abort":
                raise CommandMissed(self.describe_wait())
            hold = "; the last command holds" if self.policy == "hold" else ""
            self._logger.warning(self.describe_wait() + hold)
        if self.policy == "hold":
            self.held_count += 1
            self._held = True
            self._answered = self._clock.steps
            self._waiting_since = math.inf

    def _report_end_of_stall(self) -> None:
        if self._stalled:
            waited = time.monotonic() - self._stall_began
            self._logger.info(f"lockstep goes on after {waited:.1f} s")
        self.forget_wait()
