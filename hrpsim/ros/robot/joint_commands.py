# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics joint_commands and dynamic_joint_commands: targets of the actuators.

Targets beyond joint limits are counted, and logged once a second. Needs no ROS.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.ros.base.faults import Rejections, RepeatFilter
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.robot_input import RobotInput
from hrpsim.world.objects.plausibility import JointLimits, listed

if TYPE_CHECKING:
    from control_msgs.msg import DynamicJointState
    from sensor_msgs.msg import JointState

# Longest interval of a stream of commands [s]. With longer intervals each command is a single one.
LONGEST_INTERVAL = 0.05
_MEMORY = 50.0  # number of commands after which a long interval has no effect
# The arguments of `Robot.command`, by ros2_control's names of interfaces
# (hardware_interface/types/hardware_interface_type_values.hpp).
_ARGUMENTS = {
    "position": "positions",
    "velocity": "velocities",
    "effort": "efforts",
    "proportional": "kp",
    "derivative": "kd",
}


class Interpolation:
    """A constant interpolation time of position targets [s]. If the time is 0, targets jump.

    In lockstep the time is the control period.
    """

    def __init__(self, time: float = 0.0) -> None:
        self._time = time

    def time_for(self, names: Sequence[str]) -> float:
        """Return the interpolation time of a command to joints at this step [s].

        Raises StateError for an unknown joint.
        """
        return self._time

    def note(self, names: Sequence[str]) -> None:
        """Record that joints are commanded at this step."""

    def forget(self) -> None:
        """Clear the record of commands, after a reset."""


class IntervalInterpolation(Interpolation):
    """Interpolation over the time between commands to the same joints, without lockstep.

    Targets move continuously and are late by this time, because the next command is not known. The
    time increases at once to a longer interval, up to LONGEST_INTERVAL. It decreases slowly to a
    shorter interval, because a varying lag would shake the robot. If all intervals so far are
    longer than LONGEST_INTERVAL, targets jump.
    """

    def __init__(self, robot, clock: SimulationClock) -> None:
        super().__init__()
        self._joints, self._clock = robot.joint_index, clock
        self._last = np.full(len(self._joints), -np.inf)  # step of the last command
        self._interval = np.zeros(len(self._joints))  # [steps], 0 before a stream begins

    def time_for(self, names: Sequence[str]) -> float:
        """Return the interpolation time of a command to joints at this step [s].

        Raises StateError for an unknown joint.
        """
        intervals = self._intervals(self._joints.indices(names))
        return float(intervals.max(initial=0.0) * self._clock.time_step)

    def note(self, names: Sequence[str]) -> None:
        """Record that joints are commanded at this step."""
        joints = self._joints.indices(names)
        self._interval[joints] = self._intervals(joints)
        self._last[joints] = self._clock.steps

    def forget(self) -> None:
        """Clear the record of commands, after a reset."""
        self._last[:], self._interval[:] = -np.inf, 0.0

    def _intervals(self, joints: np.ndarray) -> np.ndarray:
        """Return the interval between commands to each joint (k,) [steps] after a command now.

        A longer interval than before counts at once, a shorter interval gradually.
        """
        known, since = self._interval[joints], self._clock.steps - self._last[joints]
        longest = LONGEST_INTERVAL / self._clock.time_step
        since = np.where(known > 0.0, np.minimum(since, longest), since)
        since[since > longest] = 0.0
        longer = np.maximum(since, known + (since - known) / _MEMORY)
        return np.where(since > 0.0, longer, known)


class LimitWatch:
    """Compares commands with the joint limits of a robot. The simulation enforces the limits."""

    def __init__(self, limits: JointLimits, logger, clock=time.monotonic) -> None:
        self._limits, self._logger = limits, logger
        self._filter = RepeatFilter(period=1.0, capacity=1, clock=clock)
        self.count = 0  # messages with a value beyond a limit

    def look(self, topic: str, names: Sequence[str], values: Mapping[str, np.ndarray]) -> None:
        """Count a command that exceeds joint limits, and warn.

        values: commanded values of the joints `names`, (k,) each. NaN and gains never count.
        """
        if beyond := self._limits.beyond(names, values):
            self.count += 1
            if self._filter.passes(topic):
                self._logger.warning(
                    f"{topic}: commands exceed limits of joints: {listed(beyond, 1)}"
                )


class JointCommand(NamedTuple):
    """The contents of a command message."""

    names: list[str]
    values: dict[str, np.ndarray]  # one value for each name, by argument of `Robot.command`
    commanded: list[str]  # joints with a value
    unset: list[str]  # joints for which some but not all values are NaN


class JointCommands(RobotInput):
    """Commands the joints of one robot.

    A message names joints and gives position, velocity, effort or several of them for each. Joints
    that the message does not name keep their present command. A message that does not fit is
    rejected as a whole.

    NaN marks a field that does not command a joint. With `nan_holds` all fields of a joint may be
    NaN. Such a joint keeps the present command, as in ros2_control. Position targets move linearly
    within the time of `interpolation`. `commanded` receives the joints of each accepted message.
    """

    def __init__(
        self,
        queue: MessageQueue,
        rejections: Rejections,
        robot,
        commanded: Callable[[Sequence[str]], None],
        logger,
        *,
        nan_holds: bool = False,
        interpolation: Interpolation | None = None,
        consequence: str = "",
    ) -> None:
        super().__init__(queue, rejections)
        self.consequence = consequence
        self._robot = robot
        self._commanded = commanded
        self._logger = logger
        self._nan_holds = nan_holds
        self._interpolation = interpolation or Interpolation()
        self._held_names: list[str] = []  # joints with only NaN in the last message
        self._unset: list[str] = []
        self.off: AbstractSet[str] = frozenset()  # joints that do not receive commands
        self.limits = LimitWatch(robot.limits, logger)
        robot.report_no_limits()  # LimitWatch reports them

    def validate(self, message: JointState) -> JointCommand:
        """Return the command in a message.

        Raise WorldError for a message without names or values, or of unequal lengths.
        """
        names = list(message.name)
        fields = {
            "positions": ("position", message.position),
            "velocities": ("velocity", message.velocity),
            "efforts": ("effort", message.effort),
        }
        arguments = {argument: values for argument, (_, values) in fields.items() if len(values)}
        if not names:
            raise WorldError("the message names no joint")
        if not arguments:
            raise WorldError(f"the message has neither position, velocity nor effort for {names}")
        for argument, values in arguments.items():
            if len(values) != len(names):
                raise WorldError(
                    f"'{fields[argument][0]}' has {len(values)} values for {len(names)} names"
                )
        arrays = {
            argument: np.asarray(values, dtype=float) for argument, values in arguments.items()
        }
        commanded, unset = split_by_nan(names, list(arrays.values()))
        if self._nan_holds:
            return JointCommand(names, arrays, commanded, unset)
        if len(commanded) < len(names):
            lacking = sorted(set(names) - set(commanded))
            raise WorldError(f"all values of {', '.join(lacking)} are NaN")
        return JointCommand(names, arrays, names, [])

    def accept(self, command: JointCommand) -> None:
        """Command the joints.

        Raise StateError, without any change, for invalid joints or values.
        """
        reached, values = command.names, command.values
        if self.off and not self.off.isdisjoint(reached):
            columns = [k for k, name in enumerate(reached) if name not in self.off]
            reached = [reached[k] for k in columns]
            values = {argument: numbers[columns] for argument, numbers in values.items()}
        if values.keys() == {"velocities"}:
            indices = self._robot.joint_index.indices(reached)
            if text := self._robot.unreached(indices, values["velocities"]):
                self._logger.warning(f"{self.topic}: {text}")
        over = self._interpolation.time_for(reached)
        self._robot.command(names=reached, over=over, nan_holds=True, **values)
        self._interpolation.note(command.commanded)
        self._commanded(command.commanded)
        self.limits.look(self.topic, command.names, command.values)
        self._report_nan(command)

    def reset(self) -> None:
        """Drop the messages that have arrived, and all earlier commands."""
        super().reset()
        self._interpolation.forget()

    def _report_nan(self, command: JointCommand) -> None:
        """Log which joints have NaN, if these changed since the last message."""
        held_names = sorted(set(command.names) - set(command.commanded))
        if held_names != self._held_names:
            self._held_names = held_names
            if held_names:
                joints = ", ".join(held_names)
                self._logger.warning(
                    f"{self.topic}: all values are NaN, so the last command holds for {joints}"
                )
        if command.unset != self._unset:
            self._unset = command.unset
            if command.unset:
                joints = ", ".join(command.unset)
                self._logger.warning(
                    f"{self.topic}: some fields are NaN, so only the other fields command {joints}"
                )


class DynamicJointCommands(JointCommands):
    """Commands the joints of one robot, each by the interfaces listed in the message.

    Gains in the message apply only to this command. A joint without gains in the message uses the
    joint's own gains. The rules of JointCommands apply, but every value must be finite. Leave out
    the interfaces that are not commanded.
    """

    def validate(self, message: DynamicJointState) -> JointCommand:
        """Return the command.

        Raise WorldError for a message that is incomplete or malformed.
        """
        names = list(message.joint_names)
        if not names:
            raise WorldError("the message names no joint")
        if len(message.interface_values) != len(names):
            raise WorldError(
                f"interface_values has {len(message.interface_values)} entries for {names}"
            )
        table = {argument: np.full(len(names), np.nan) for argument in _ARGUMENTS.values()}
        for k, (joint, stated) in enumerate(zip(names, message.interface_values)):
            for interface, value in _values_of(joint, stated).items():
                table[_ARGUMENTS[interface]][k] = value
        rows = {argument: row for argument, row in table.items() if not np.isnan(row).all()}
        return JointCommand(names, rows, names, [])


def split_by_nan(names: Sequence[str], values: Sequence[np.ndarray]) -> tuple[list[str], list[str]]:
    """Find the joints that a command with NaN commands.

    values: commanded values of the joints, (k,) each.

    Returns:
        (names with any value, names with both values and NaN).
    """
    missing = np.isnan(values)
    if not missing.any():
        return list(names), []
    some = ~missing.all(axis=0)
    lacking = missing.any(axis=0) & some
    return (
        [name for name, has in zip(names, some) if has],
        [name for name, lacks in zip(names, lacking) if lacks],
    )


def _values_of(joint: str, listed) -> dict[str, float]:
    """Return the values of a joint by interface. Raise WorldError for an invalid value."""
    interfaces, values = list(listed.interface_names), list(listed.values)
    by_interface = dict(zip(interfaces, values))
    if not len(values) == len(interfaces) == len(by_interface):
        raise WorldError(f"joint {joint!r} has {len(values)} values for interfaces {interfaces}")
    for interface, value in by_interface.items():
        if interface not in _ARGUMENTS:
            name = unknown_name("interface", interface, _ARGUMENTS)
            raise WorldError(f"joint {joint!r}: {name}")
        if not math.isfinite(value):
            raise WorldError(f"{interface} of joint {joint!r} must be finite, got {value}")
    if by_interface.keys().isdisjoint(("position", "velocity", "effort")):
        raise WorldError(f"joint {joint!r} has neither position, velocity nor effort")
    return by_interface
