# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a robot's joints and sensors: gains, modes and rates. Needs no ROS itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hrpsim.common.values import LARGEST
from hrpsim.ros.base.stamps import SimulationClock

if TYPE_CHECKING:
    from rclpy.node import Node

_HIGHEST_RATE = 10_000.0  # [Hz]
COMMANDED, OFF, LOCKED = "commanded", "off", "locked"
MODES = (COMMANDED, OFF, LOCKED)


class PartParameters(ABC):
    """Parameters named `prefix` + joint or sensor.

    first: initial values by joint or sensor.
    """

    def __init__(self, node: Node, prefix: str, first: Mapping[str, Any], descriptor) -> None:
        self._parts = {prefix + part: part for part in first}
        for name, part in self._parts.items():
            value = node.declare_parameter(name, first[part], descriptor).value
            if problem := self.problem(name, value):
                raise ValueError(problem)
            value = list(value) if isinstance(first[part], list) else value
            if value != first[part]:
                self.change(name, value)

    def knows(self, name: str) -> bool:
        """Return whether a parameter belongs to this table."""
        return name in self._parts

    def problem(self, name: str, value) -> str:
        """Return why a value of the right type and range is invalid, or ""."""
        return ""

    @abstractmethod
    def change(self, name: str, value) -> None:
        """Apply a new value of a parameter."""


class SensorRates(PartParameters):
    """The publication rates of one robot's sensors [Hz], as parameters `prefix` + sensor.

    The first value is the rate in the description. 0 means the rate of the state. A rate is rounded
    to whole publish periods. Every reading thus comes with a state of the same stamp.
    """

    def __init__(self, node: Node, robot, clock: SimulationClock, prefix: str) -> None:
        from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor

        self._clock = clock
        descriptor = ParameterDescriptor(
            description="How often the sensor is published [Hz, simulated time]; 0: with the state",
            floating_point_range=[FloatingPointRange(from_value=0.0, to_value=_HIGHEST_RATE)],
        )
        self._rates = {s.name: min(s.rate, _HIGHEST_RATE) for s in robot.model.sensors}
        super().__init__(node, prefix, dict(self._rates), descriptor)

    def change(self, name: str, value: float) -> None:
        """Set the publication rate of a sensor."""
        self._rates[self._parts[name]] = value

    def is_due(self, sensor: str, period: int) -> bool:
        """Return whether a sensor is due now. The state is published every `period` steps."""
        rate = self._rates[sensor]
        if rate == 0.0:
            return True
        periods = max(1, round(1.0 / (rate * self._clock.time_step * period)))
        return self._clock.steps % (period * periods) == 0


def joints_with_gains(robot) -> dict[str, tuple[float, float]]:
    """Return kp and kd of each joint under position control.

    Initially these are all joints with gains.
    """
    control = robot.world.scene.control[robot.first_v : robot.first_v + robot.nv]
    at = {joint.name: control[joint.v_index] for joint in robot.model.joints}
    return {
        name: (float(at[name]["kp"]), float(at[name]["kd"]))
        for name in robot.joint_names
        if at[name]["kp"] > 0.0
    }


class JointGains(PartParameters):
    """The gains of one robot's joints, as parameters `prefix` + joint."""

    def __init__(self, node: Node, robot, prefix: str) -> None:
        from rcl_interfaces.msg import ParameterDescriptor

        self._robot = robot
        descriptor = ParameterDescriptor(
            description="Gains of the joint's servo: kp [Nm/rad or N/m], kd [Nms/rad or Ns/m]",
            additional_constraints="[kp, kd]: two finite numbers, kp > 0 and kd >= 0",
        )
        first = {joint: list(gains) for joint, gains in joints_with_gains(robot).items()}
        super().__init__(node, prefix, first, descriptor)

    def problem(self, name: str, value) -> str:
        """Return why a value for a parameter is invalid, or ""."""
        fits = len(value) == 2 and all(0.0 <= gain <= LARGEST for gain in value)
        if fits and value[0] > 0.0:
            return ""
        return (
            f"parameter {name!r} is {list(value)}. It must be [kp, kd]: two finite numbers, "
            f"kp > 0 and kd >= 0, at most {LARGEST:g}"
        )

    def change(self, name: str, value) -> None:
        """Set the gains of a joint. The gains apply to the present command at once."""
        self._robot.set_gains(float(value[0]), float(value[1]), names=self._parts[name])


class JointModes(PartParameters):
    """The mode of each joint of one robot, as parameters `prefix` + joint.

    "commanded": the actuator follows commands. "off": nothing drives the joint, and commands are
    ignored. "locked": the joint is rigid at its present position, and commands are ignored.
    `released` receives the joints that no longer follow commands.
    """

    def __init__(
        self, node: Node, robot, released: Callable[[Sequence[str]], None], prefix: str
    ) -> None:
        from rcl_interfaces.msg import ParameterDescriptor

        self._robot = robot
        self._released = released
        self._modes: dict[str, str] = {}  # modes that were set
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
        """Return why a value for a parameter is invalid, or ""."""
        if value in MODES:
            return ""
        return f"parameter {name!r} is {value!r}. It must be one of: {', '.join(map(repr, MODES))}"

    def change(self, name: str, value: str) -> None:
        """Set the mode of a joint. A joint that is commanded again holds the present position."""
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
