"""Lockstep: simulated time stands still at each control tick until its command has come."""

from __future__ import annotations

import math
import time

from rclpy.node import Node
from sensor_msgs.msg import JointState

from hrpsim.control.controller_host import steps_in_period
from hrpsim.errors import WorldError
from hrpsim.ros import qos
from hrpsim.ros.commands import RepeatFilter, apply_joint_command
from hrpsim.ros.polling import PolledSubscription
from hrpsim.ros.stamps import SimulationClock, Stamp


class Lockstep:
    """Applies to one robot, at each control tick, the message of `joint_commands` for that tick.

    Ticks are the whole multiples of `period` [s] on the clock. The command for a tick is the one
    that carries its stamp; the first that the robot can follow counts. All others are rejected with
    a warning that says why. With `interpolate`, position targets move evenly over the period.

    Waiting for longer than `timeout` [s, wall] is reported, once for each time it happens. Raises
    ControllerError for a period that is not a whole multiple of the time step.
    """

    def __init__(
        self,
        node: Node,
        robot,
        clock: SimulationClock,
        *,
        period: float,
        timeout: float,
        interpolate: bool,
    ):
        self.timeout = timeout
        self.accepted_count = 0
        self.rejected_count = 0
        self._steps_per_period = steps_in_period("control_period", period, clock.time_step)
        self._logger = node.get_logger()
        self._robot = robot
        self._clock = clock
        self._over = period if interpolate else 0.0
        self._subscription = PolledSubscription(node, JointState, "joint_commands", qos.COMMAND)
        self._repeat_filter = RepeatFilter(period=1.0)
        self._answered = -1  # the step of the last tick whose command was applied
        self._waiting_since = math.inf  # [s, wall]
        self._stalled = False

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

    def wait(self, longest: float) -> bool:
        """Wait for the command of this tick, at most `longest` [s, wall], and apply it.

        Return whether steps can be made: the command is there, or now is no tick.
        """
        self.apply_due()
        if not self.is_waiting:
            return True
        now = time.monotonic()
        self._waiting_since = min(self._waiting_since, now)
        end = now + longest
        while self.is_waiting and (left := end - time.monotonic()) > 0.0:
            self._subscription.wait(left)
            self.apply_due()
        if self.is_waiting:
            self._report_stall()
        return not self.is_waiting

    def apply_due(self) -> None:
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
            try:
                apply_joint_command(self._robot, message, over=self._over)
            except WorldError as error:
                self._reject(str(error), str(error))
            else:
                self.accepted_count += 1
                self._answered = self._clock.steps
                self._report_end_of_stall()
        elif self._answered < 0 or stamp != self._clock.stamp_at(self._answered):
            self._reject_stamp(stamp)
        # What is left repeats an answer, because the state was repeated.

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
        self._reject(
            cause,
            f"{cause} ({stamp} s, awaited {awaited} s); in lockstep a command "
            "carries the stamp of the state that it answers",
        )

    def _reject(self, cause: str, text: str) -> None:
        self.rejected_count += 1
        if self._repeat_filter.passes(cause):
            self._logger.warning(f"{self._subscription.topic} rejected: {text}")

    def _report_stall(self) -> None:
        if not self._stalled and time.monotonic() - self._waiting_since > self.timeout:
            self._stalled = True
            self._logger.warning(self.describe_wait())

    def _report_end_of_stall(self) -> None:
        if self._stalled:
            waited = time.monotonic() - self._waiting_since
            self._logger.info(f"lockstep goes on after {waited:.1f} s")
        self.forget_wait()
