"""Joint commands from ROS: passed to the robot, or rejected with a warning that says why."""

from __future__ import annotations

import time
from collections import OrderedDict

from rclpy.node import Node
from sensor_msgs.msg import JointState

from hrpsim.errors import WorldError
from hrpsim.ros import qos
from hrpsim.ros.polling import PolledSubscription


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
    """Applies the messages of `joint_commands` to one robot when `apply_waiting` is called.

    A message names joints and gives position, velocity, effort or several of them for each. Joints
    that it does not name keep their command. A message that does not fit is rejected as a whole.
    """

    def __init__(self, node: Node, robot, topic: str = "joint_commands"):
        self._logger = node.get_logger()
        self._robot = robot
        self._subscription = PolledSubscription(node, JointState, topic, qos.COMMAND)
        self._repeat_filter = RepeatFilter(period=1.0)
        self.accepted_count = 0
        self.rejected_count = 0

    def apply_waiting(self) -> None:
        """Apply every message that has arrived, oldest first."""
        for message, _ in self._subscription.take_all():
            try:
                apply_joint_command(self._robot, message)
            except WorldError as error:
                self._reject(str(error))
            else:
                self.accepted_count += 1

    def discard_waiting(self) -> None:
        """Drop the messages that have arrived: they were meant for the time before a reset."""
        for _ in self._subscription.take_all():
            pass

    def _reject(self, cause: str) -> None:
        self.rejected_count += 1
        if self._repeat_filter.passes(cause):
            self._logger.warning(
                f"{self._subscription.topic} rejected, the last command holds: {cause}"
            )


def apply_joint_command(robot, message: JointState) -> None:
    """Pass a sensor_msgs/JointState to `robot.command`.

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
    robot.command(names=names, **given)
