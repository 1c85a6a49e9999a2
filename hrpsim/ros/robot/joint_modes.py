# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Modes of the joints as parameters: modes.<joint>. Imports ROS where it needs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hrpsim.ros.robot.part_parameters import PartParameters

if TYPE_CHECKING:
    from rclpy.node import Node

PREFIX = "modes."
COMMANDED, OFF, LOCKED = "commanded", "off", "locked"
MODES = (COMMANDED, OFF, LOCKED)


class JointModes(PartParameters):
    """The drive of each joint of one robot: parameters named `prefix` + joint.

    "commanded": its actuator follows commands. "off": nothing drives it, and commands for it are
    ignored. "locked": it is welded where it is, whatever is commanded. `released` receives the
    joints that commands no longer reach.
    """

    def __init__(
        self,
        node: Node,
        robot,
        released: Callable[[Sequence[str]], None],
        prefix: str = PREFIX,
    ):
        from rcl_interfaces.msg import ParameterDescriptor

        self._robot = robot
        self._released = released
        self._modes: dict[str, str] = {}  # those that have been set
        self.off: set[str] = set()
        descriptor = ParameterDescriptor(
            description="What drives the joint: its actuator, nothing, or a lock that holds it",
            additional_constraints="one of: " + ", ".join(map(repr, MODES)),
        )
        first = {joint: self.of(joint) for joint in robot.joint_names}
        super().__init__(node, prefix, first, descriptor)

    def of(self, joint: str) -> str:
        """Return the mode of a joint."""
        return self._modes.get(joint, LOCKED if joint in self._robot.locked else COMMANDED)

    def problem(self, name: str, value) -> str:
        """Return what is wrong with a value for a parameter, or ""."""
        if value in MODES:
            return ""
        return f"parameter {name!r} is {value!r}; it must be one of: {', '.join(map(repr, MODES))}"

    def change(self, name: str, value: str) -> None:
        """Set the mode of a joint; one that is commanded again holds its present position."""
        joint = self._parts[name]
        before = self.of(joint)
        self._modes[joint] = value
        if value != before:
            self._turn(joint, value)

    def apply(self) -> None:
        """Apply the modes that were set, after a reset or a restored state."""
        for joint, mode in self._modes.items():
            if mode != COMMANDED or joint in self._robot.locked:
                self._turn(joint, mode)

    def _turn(self, joint: str, mode: str) -> None:
        robot = self._robot
        (self.off.add if mode == OFF else self.off.discard)(joint)
        if mode == LOCKED:
            if joint not in robot.locked:
                robot.lock([joint])
            return
        if joint in robot.locked:
            robot.unlock([joint])
        if mode == OFF:
            self._released([joint])
            robot.command(names=[joint], efforts=[0.0])
            return
        at = robot.joint_names.index(joint)
        if robot.gains[0][at] > 0.0:
            robot.command(names=[joint], positions=[robot.joint_positions[at]])
