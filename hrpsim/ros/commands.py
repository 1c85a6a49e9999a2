"""Joint commands from ROS: passed to the robot, or rejected with a warning that says why."""

from __future__ import annotations

import heapq
import time
from collections import OrderedDict

from rclpy.node import Node
from sensor_msgs.msg import JointState

from hrpsim.errors import WorldError
from hrpsim.ros import qos
from hrpsim.ros.polling import PolledSubscription
from hrpsim.ros.stamps import SimulationClock

_LONGEST_HOLD = 1.0  # [s]; a stamp further ahead is taken for another clock's
_MOST_HELD = 2000


class RepeatFilter:
    """Lets a text pass once every `period` [s, wall]; different texts do not hide each other."""

    def __init__(self, period: float, capacity: int = 64, clock=time.monotonic):
        self._period = period
        self._capacity = capacity
        self._clock = clock
        self._passed: OrderedDict[str, float] = OrderedDict()

    def passes(self, text: str) -> bool:
        """Return whether `text` has not passed within the period."""
        now = self._clock()
        if now - self._passed.get(text, -self._period) < self._period:
            return False
        self._passed[text] = now
        self._passed.move_to_end(text)
        while len(self._passed) > self._capacity:
            self._passed.popitem(last=False)
        return True


class JointCommands:
    """Applies the messages of `joint_commands` to one robot when `apply_due` is called.

    A message names joints and gives position, velocity, effort or several of them for each. Joints
    that it does not name keep their command. A message that does not fit is rejected as a whole.

    A stamp in the future, at most 1 s of simulated time ahead, holds the message until then: with a
    lead longer than the latency, timing does not depend on the latency. Any other stamp means now.
    """

    def __init__(self, node: Node, robot, clock: SimulationClock, topic: str = "joint_commands"):
        self._logger = node.get_logger()
        self._robot = robot
        self._clock = clock
        self._held: list[tuple[int, int, JointState]] = []  # heap of (step, order, message)
        self._order = 0
        self._subscription = PolledSubscription(node, JointState, topic, qos.COMMAND)
        self._repeat_filter = RepeatFilter(period=1.0)
        self.accepted_count = 0
        self.rejected_count = 0

    def apply_due(self) -> None:
        """Take in what has arrived and apply, in order, what is due by now."""
        for message, _ in self._subscription.take_all():
            step = self._clock.step_at(message.header.stamp)
            ahead = (step - self._clock.steps) * self._clock.time_step
            if 0 < ahead <= _LONGEST_HOLD and len(self._held) < _MOST_HELD:
                self._order += 1
                heapq.heappush(self._held, (step, self._order, message))
            else:
                self._apply(message)
        while self._held and self._held[0][0] <= self._clock.steps:
            self._apply(heapq.heappop(self._held)[2])

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before a held message is due."""
        return min(most, self._held[0][0] - self._clock.steps) if self._held else most

    def discard(self) -> None:
        """Drop all that has arrived or is held: it was meant for the time before a reset."""
        self._held.clear()
        for _ in self._subscription.take_all():
            pass

    def _apply(self, message: JointState) -> None:
        try:
            apply_joint_command(self._robot, message)
        except WorldError as error:
            self._reject(str(error))
        else:
            self.accepted_count += 1

    def _reject(self, cause: str) -> None:
        self.rejected_count += 1
        if self._repeat_filter.passes(cause):
            self._logger.warning(
                f"{self._subscription.topic} rejected, the last command holds: {cause}"
            )


def apply_joint_command(robot, message: JointState, over: float = 0.0) -> None:
    """Pass a sensor_msgs/JointState to `robot.command`, position targets spread `over` a time [s].

    Raises WorldError for unknown or repeated joints, values that are not finite, fields whose
    length is not that of `name`, and messages without names or values.
    """
    names = list(message.name)
    fields = {
        "positions": ("position", message.position),
        "velocities": ("velocity", message.velocity),
        "efforts": ("effort", message.effort),
    }
    given = {argument: values for argument, (_, values) in fields.items() if len(values)}
    if not names:
        raise WorldError("the message names no joint")
    if not given:
        raise WorldError(f"the message has neither position, velocity nor effort for {names}")
    for argument, values in given.items():
        if len(values) != len(names):
            raise WorldError(
                f"{len(values)} values in '{fields[argument][0]}' for {len(names)} names"
            )
    robot.command(names=names, over=over, **given)
