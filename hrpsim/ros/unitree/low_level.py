# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics lowcmd, lowstate and sportmodestate of one robot."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np

from hrpsim.bridges.unitree.low_command import idle_motors, read_low_command
from hrpsim.bridges.unitree.low_state import ImuValues, LowStates, MotorReadings, sport_mode_state
from hrpsim.bridges.unitree.motors import Motors, motors_of
from hrpsim.common.errors import WorldError, optional_module
from hrpsim.control.framework.contact_points import pressing_points
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.guarded_node import NodePart
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.joint_commands import Interpolation, JointCommand, JointCommands
from hrpsim.ros.robot.robot_interface import RobotInterface
from hrpsim.ros.unitree.unstamped_answers import UnstampedAnswers
from hrpsim.world.objects.robot import Robot

_IMU = "imu"  # sensor for lowstate if there are several


class LowCommands(JointCommands):
    """Commands the joints of one robot by the LowCmds of Unitree's controllers."""

    def __init__(self, *arguments, motors: Motors, check_crc: bool, **options) -> None:
        super().__init__(*arguments, **options)
        self._motors, self._check_crc = motors, check_crc
        self._names = list(motors.joints)
        self._idle = ""  # the last warning

    def validate(self, message: bytes) -> JointCommand:
        """Return the command. Raise WorldError for a wrong crc or a number that is not finite."""
        targets = read_low_command(message, self._motors, check=self._check_crc)
        text = idle_motors(message, self._motors)
        if text and text != self._idle:
            self._logger.warning(f"{self.topic}: {text}")
        self._idle = text
        return JointCommand(self._names, targets._asdict(), self._names, [])


def check_unitree(robot: Robot, kind: str) -> Motors:
    """Return the motors of a robot that is to have the topics of Unitree's `kind`.

    Raises:
        WorldError: the robot lacks a joint or an IMU.
    """
    motors = motors_of(kind, robot.joint_names, robot.name)
    if all(sensor.kind != "imu" for sensor in robot.model.sensors):
        raise WorldError(
            f"robot {robot.name!r} has no IMU, which lowstate needs. Add <sensor type='imu'> of "
            "<hrpsim> to its description"
        )
    return motors


def connect_unitree(interface: RobotInterface, kind: str, clock: SimulationClock) -> None:
    """Add the topics of a Unitree robot to a robot's interface. kind: "go2" or "g1".

    Raises:
        WorldError: the robot lacks a joint or an IMU, or the messages are not installed.
    """
    part, robot, prefix = interface.part, interface.robot, interface.names.topics
    motors = check_unitree(robot, kind)
    types = _messages(part, motors.messages.package)
    source = PolledSubscription(part, types.LowCmd, prefix + "lowcmd", qos.COMMAND, raw=True)
    queue: MessageQueue = MessageQueue(source)
    asks: Callable[[], bool] = lambda: True  # noqa: E731
    if interface.lockstep:
        queue = answers = UnstampedAnswers(source, interface.lockstep, clock)
        asks = answers.asks
    commands = LowCommands(
        queue,
        interface.rejections,
        robot,
        interface.release,
        part.get_logger(),
        nan_holds=True,
        interpolation=Interpolation(),
        consequence="" if interface.lockstep else "the last command holds",
        motors=motors,
        check_crc=parameters.value_of(part, "unitree_check_crc"),
    )
    interface.attach(commands, StateTopics(interface, types, motors, clock, asks).publish)


def _messages(part: NodePart, package: str) -> ModuleType:
    missing: list[str] = []
    types = optional_module(f"{package}.msg", "", missing.append)
    if types is None:
        raise WorldError(
            f"the messages of {package} are not installed. Source a workspace with unitree_ros2, "
            f"or `pip install ./interfaces/{package}` from the repository of hrpsim"
        )
    return types


class RawTopic:
    """Publishes serialised messages."""

    def __init__(self, part: NodePart, kind: type, topic: str) -> None:
        publisher = part.create_publisher(kind, topic, qos.STATE)
        self._handle, self._sent = publisher.handle, publisher.sent

    @property
    def is_heard(self) -> bool:
        """Whether the topic has a subscription."""
        return self._handle.get_subscription_count() > 0

    def publish(self, data: bytes) -> None:
        """Publish a serialised message."""
        self._handle.publish_raw(data)
        self._sent[0] += 1


class StateTopics:
    """Publishes lowstate, and sportmodestate if unitree_go is installed.

    Args:
        interface: interface of the robot.
        types: module of the robot's messages.
        motors: motors of the robot.
        clock: simulated time.
        asks: returns whether the state is to be published now.
    """

    def __init__(
        self,
        interface: RobotInterface,
        types: ModuleType,
        motors: Motors,
        clock: SimulationClock,
        asks: Callable[[], bool],
    ) -> None:
        part, prefix = interface.part, interface.names.topics
        self._robot, self._readings = interface.robot, interface.readings
        self._clock, self._asks = clock, asks
        self._joints = self._robot.joint_index.indices(motors.joints)
        imus = [s.name for s in self._robot.model.sensors if s.kind == "imu"]
        self._imu = _IMU if _IMU in imus else imus[0]
        self._feet = _links_of_feet(self._robot, motors.feet)
        self._states = LowStates(motors)
        self._low = RawTopic(part, types.LowState, prefix + "lowstate")
        self._sport = None
        if self._robot.model.base == "free":
            go = optional_module("unitree_go.msg", "no sportmodestate", part.get_logger().info)
            self._sport = go and RawTopic(part, go.SportModeState, prefix + "sportmodestate")

    def publish(self) -> None:
        """Publish the present state on the topics with a subscription."""
        if not self._asks():
            return
        sport = self._sport if self._sport and self._sport.is_heard else None
        if not self._low.is_heard and sport is None:
            return
        robot, seconds = self._robot, self._clock.seconds
        imu, forces = self._imu_values(), self._foot_forces()
        if self._low.is_heard:
            joints = self._joints
            measured = robot.joint_positions, robot.joint_velocities, robot.joint_efforts
            readings = MotorReadings(*(values[joints] for values in measured))
            self._low.publish(self._states.state(seconds, readings, imu, forces))
        if sport is not None:
            q, v = robot.q, robot.v
            velocity = rotation_matrix(q[3:7]) @ v[:3]
            sport.publish(sport_mode_state(seconds, q[:3], velocity, imu, forces))

    def _imu_values(self) -> ImuValues:
        index = self._readings.index_of(self._imu)
        values = self._readings.values[index]
        return ImuValues(self._readings.orientation(index), values[:3], values[3:])

    def _foot_forces(self) -> np.ndarray:
        """Return the magnitudes of the contact forces at the feet (k,) [N]."""
        if not self._feet:
            return np.zeros(0)
        pressing = pressing_points(self._robot)
        sums = [pressing.forces[np.isin(pressing.links, links)].sum(axis=0) for links in self._feet]
        return np.linalg.norm(sums, axis=1)


def _links_of_feet(robot: Robot, feet: tuple[str, ...]) -> list[list[int]]:
    """Return the indices of the links of each foot: PREFIX_foot and PREFIX_calf."""
    names = robot.model.link_names
    return [
        [k for k, name in enumerate(names) if name in (f"{foot}_foot", f"{foot}_calf")]
        for foot in feet
    ]
