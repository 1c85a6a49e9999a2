"""Joint commands from ROS: passed to the robot, or rejected with a warning that says why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rclpy.node import Node
from sensor_msgs.msg import JointState

from hrpsim.errors import WorldError
from hrpsim.ros.base.held_messages import HeldMessages
from hrpsim.ros.base.rejections import Rejections
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.base.unset_values import split_unset
from hrpsim.world.objects.robot import Robot


class CommandChannel(NamedTuple):
    """Where the commands of one robot come from, and who hears what became of them."""

    node: Node
    robot: Robot
    clock: SimulationClock
    topic: str
    rejections: Rejections
    commanded: Callable[[Sequence[str]], None]  # told the joints of each message that was applied


class JointCommands:
    """Applies the messages of `joint_commands` to one robot when `take` is called.

    A message names joints and gives position, velocity, effort or several of them for each. Joints
    that it does not name, or gives NaN, keep their command. A message that does not fit is rejected
    as a whole.

    A stamp in the future, at most 1 s of simulated time ahead, holds the message until then: with a
    lead longer than the latency, timing does not depend on the latency. Any other stamp means now.
    """

    def __init__(self, channel: CommandChannel):
        self._robot = channel.robot
        self._messages = HeldMessages(channel.node, JointState, channel.topic, channel.clock)
        self._rejections = channel.rejections
        self._commanded = channel.commanded
        self._logger = channel.node.get_logger()
        self._unset: list[str] = []
        self.accepted_count = 0

    @property
    def topic(self) -> str:
        """The full topic name."""
        return self._messages.topic

    @property
    def lost_count(self) -> int:
        """How many messages the queue, or the network, dropped before they were taken."""
        return self._messages.lost_count

    def publisher_count(self) -> int:
        """Return how many publishers send commands."""
        return self._messages.publisher_count()

    def take(self) -> None:
        """Take in what has arrived and apply, in order, what is due by now."""
        for message in self._messages.take_due():
            self._rejections.follow(self._apply, message, self.topic, "the last command holds")

    def _apply(self, message: JointState) -> None:
        commanded, unset = apply_joint_command(self._robot, message, nan_holds=True)
        self.accepted_count += 1
        self._commanded(commanded)
        self._tell_unset(unset)

    def _tell_unset(self, unset: list[str]) -> None:
        """Say, whenever it changes, which joints get NaN."""
        if unset != self._unset:
            self._unset = unset
            if unset:
                self._logger.warning(
                    f"{self.topic}: NaN leaves the command as it is for {', '.join(unset)}"
                )

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before a held message is due."""
        return self._messages.steps_to_next(most)

    def discard(self) -> None:
        """Drop all that has arrived or is held: it was meant for the time before a reset."""
        self._messages.discard()


def apply_joint_command(
    robot, message: JointState, over: float = 0.0, *, nan_holds: bool = False
) -> tuple[list[str], list[str]]:
    """Pass a sensor_msgs/JointState to `robot.command`, position targets spread `over` a time [s].

    With `nan_holds`, NaN stands for a value that nobody set. Return the joints that were commanded,
    and those with NaN.

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
    commands, unset = split_unset(names, given) if nan_holds else ([(names, given)], [])
    kept = robot.world.snapshot() if len(commands) > 1 else None
    try:
        for joints, values in commands:
            robot.command(names=joints, over=over, **values)
    except BaseException:
        if kept is not None:
            robot.world.restore(kept)
        raise
    return [joint for joints, _ in commands for joint in joints], unset
