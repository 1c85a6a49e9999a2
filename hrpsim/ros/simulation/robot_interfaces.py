# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interfaces of a world's robots, and the transforms: tf and tf_static."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rclpy.expand_topic_name import expand_topic_name
from rclpy.node import Node

from hrpsim.common.errors import WorldError, optional_module
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.engine.sensors.noise import NoiseLevels
from hrpsim.model.sensor_names import sensor_topic
from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.guarded_node import NodePart
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import SimulationClock, Stamp
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.owned_names import NamedRobot, check_names
from hrpsim.ros.robot.robot_interface import RobotInterface, RobotNames
from hrpsim.ros.robot.robot_transforms import fill_pose, transform_of
from hrpsim.ros.unitree.low_level import check_unitree, connect_unitree
from hrpsim.world.objects.robot import Robot


class TransformPublisher:
    """Publishes moving transforms at every `publish`, and latched fixed transforms at every `show`.

    `message_type` is tf2_msgs/TFMessage.
    """

    def __init__(self, node: Node, message_type: type, *, odometry: bool, links: bool) -> None:
        self._enabled = {"odometry": odometry, "links": links}
        self._type = message_type
        self._publisher = node.create_publisher(message_type, "tf", qos.STATE)
        self._static_publisher = node.create_publisher(message_type, "tf_static", qos.LATCHED)

    def show(self, robots: Iterable[RobotInterface]) -> None:
        """Switch to the transforms of these robots."""
        self._robots = [robot.transforms(**self._enabled) for robot in robots]
        names = [pair for robot in self._robots for pair in robot.names]
        self._template = SerializedTemplate(
            self._publisher,
            self._type(transforms=[transform_of(parent, child) for parent, child in names]),
            _fill_transforms,
            7 * len(names),
        )
        self._static_publisher.publish(
            self._type(transforms=[fixed for robot in self._robots for fixed in robot.fixed()])
        )

    def publish(self, stamp: Stamp) -> None:
        """Publish the present pose of every moving link relative to the parent link."""
        if not self._template.is_heard:
            return
        rows = self._template.numbers.reshape(-1, 7)
        for robot in self._robots:
            robot.write(rows[: len(robot.names)])
            rows = rows[len(robot.names) :]
        self._template.publish(stamp)


def _fill_transforms(message, stamp, numbers) -> None:
    for index, transform in enumerate(message.transforms):
        transform.header.stamp = stamp
        fill_pose(transform, numbers[7 * index : 7 * index + 7])


class RobotInterfaces:
    """One RobotInterface for each robot of the world, in the order of addition.

    The only robot of a world has no namespace. Each of several robots, and each spawned robot, has
    a separate namespace. In lockstep, time waits for the robots of the initial world.

    `inputs` are all subscribed topics. Time waits for `locksteps`.
    """

    def __init__(self, node: Node, world, clock: SimulationClock, levels: NoiseLevels) -> None:
        self._node = node
        self._clock = clock
        self._levels = levels
        self._frame_prefix = parameters.value_of(node, "frame_prefix")
        self._lockstep = parameters.value_of(node, "lockstep")
        self._unitree = parameters.value_of(node, "unitree")
        self._all: list[RobotInterface] = []
        self.transforms = self._make_transforms()
        self._make_first(world)

    def __iter__(self) -> Iterator[RobotInterface]:
        return iter(self._all)

    def __getitem__(self, number: int) -> RobotInterface:
        return self._all[number]

    def wait(self, longest: float) -> bool:
        """Wait for commands, at most `longest` [s, wall] for each robot.

        Return whether steps can be made.
        """
        return all(interface.wait(longest) for interface in self._all if interface.lockstep)

    def reset(self) -> None:
        """Drop arrived, active and waiting messages after a reset. Gains do not change."""
        for interface in self._all:
            interface.reset()

    def add(self, robot: Robot, namespace: str) -> str:
        """Add a robot in `namespace`, or else in a namespace of the robot's name.

        Return the interface. Raises Refusal.
        """
        if not namespace and not _is_name_of_ros(robot.name):
            raise Refusal(
                "NAME_INVALID",
                f"the name of a robot is its namespace. {robot.name!r} must consist of letters, "
                "digits and _, and not begin with a digit. Rename it, or give an entity_namespace",
            )
        topics = (namespace or robot.name).rstrip("/") + "/"
        commands = expand_topic_name(
            f"{topics}joint_commands", self._node.get_name(), self._node.get_namespace()
        )
        for other in self._all:
            if other.commands[0].topic == commands:
                raise Refusal(
                    "NAMESPACE_INVALID", f"{topics!r} is the namespace of {other.robot.name!r}"
                )
        names = RobotNames(topics, f"{self._frame_prefix}{robot.name}/", f"{robot.name}.")
        there = [(interface.robot, interface.names) for interface in self._all]
        self._check_names([*there, (robot, names)])
        self._all.append(self._made(robot, names, lockstep=False))
        self._update_lists()
        return topics

    def drop_removed(self) -> None:
        """Remove the interfaces of robots that were removed from the world."""
        robots = self._world.robots
        gone = [
            interface
            for interface in self._all
            if robots.get(interface.robot.name) is not interface.robot
        ]
        for interface in gone:
            self._all.remove(interface)
            interface.destroy()
        if gone:
            self._update_lists()

    def check(self, world) -> None:
        """Raise HrpsimError if the robots of another world cannot have interfaces."""
        robots = list(world.robots.values())
        self._check_names(zip(robots, _first_names(robots, self._frame_prefix)))
        if self._unitree:
            for robot in robots:
                check_unitree(robot, self._unitree)
        if self._lockstep:
            period = parameters.value_of(self._node, "control_period")
            steps_in_period("control_period", period, world.time_step)

    def _check_names(self, robots: Iterable[tuple[Robot, RobotNames]]) -> None:
        """Raise WorldError for a topic or frame with two owners among robots, sensors and node."""
        odom = self._frame_prefix + parameters.value_of(self._node, "odom_frame")
        named = [
            NamedRobot(robot, names.topics, RobotFrames(robot.model, odom, names.frames))
            for robot, names in robots
        ]
        check_names(named, self._node.resolve_topic_name, sensor_topic)

    def hold(self, world) -> None:
        """Replace the interfaces of all robots by the interfaces of another world."""
        while self._all:
            self._all.pop().destroy()
        self._make_first(world)

    def _make_first(self, world) -> None:
        """Make the interfaces of a world's initial robots."""
        self._world = world
        robots = list(world.robots.values())
        names = _first_names(robots, self._frame_prefix)
        self._check_names(zip(robots, names))
        for robot, name in zip(robots, names):
            interface = self._made(robot, name, self._lockstep)
            self._all.append(interface)
            if self._unitree:
                connect_unitree(interface, self._unitree, self._clock)
        self._update_lists()

    def _made(self, robot: Robot, names: RobotNames, lockstep: bool) -> RobotInterface:
        part = NodePart(self._node)
        try:
            return RobotInterface(part, robot, names, self._clock, self._levels, lockstep=lockstep)
        except BaseException:
            part.destroy()
            raise

    def _update_lists(self) -> None:
        """Update the lists that a step iterates over. Publish the transforms of all robots."""
        self.inputs = [robot_input for interface in self._all for robot_input in interface.inputs]
        self.locksteps = [interface.lockstep for interface in self._all if interface.lockstep]
        if self.transforms is not None:
            self.transforms.show(self._all)

    def _make_transforms(self):
        links, odometry = (
            parameters.value_of(self._node, name)
            for name in ("publish_link_tf", "publish_odometry")
        )
        if not links and not odometry:
            return None
        logger = self._node.get_logger()
        # On a separate line, because rclpy allows one severity for each line that logs.
        messages = optional_module(
            "tf2_msgs.msg", "no transforms are published", lambda text: logger.warning(text)
        )
        return messages and TransformPublisher(
            self._node, messages.TFMessage, odometry=odometry, links=links
        )


def _first_names(robots: list[Robot], frame_prefix: str) -> list[RobotNames]:
    if len(robots) == 1:
        return [RobotNames(frames=frame_prefix)]
    for robot in robots:
        if not _is_name_of_ros(robot.name):
            raise WorldError(
                f"robot {robot.name!r}: with several robots in a world, the name of each is a "
                "namespace in ROS. It must consist of letters, digits and _, and not begin with "
                "a digit"
            )
    return [RobotNames(f"{r.name}/", f"{frame_prefix}{r.name}/", f"{r.name}.") for r in robots]


def _is_name_of_ros(name: str) -> bool:
    return name.isidentifier() and name.isascii()
