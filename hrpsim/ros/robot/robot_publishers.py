# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot's sensors as ROS messages: joint states, wrenches, IMU, odometry, ZMP, contact points."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
from geometry_msgs.msg import PointStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import String

from hrpsim.bag.world_signals import Source, read_joint_states, sources_of_entity
from hrpsim.common.errors import HrpsimError
from hrpsim.control.estimation.zero_moment_point import MeasuredZmp
from hrpsim.control.framework.contact_points import ContactPoints, pressing_points
from hrpsim.model.extension import with_robot_name
from hrpsim.model.model import Sensor
from hrpsim.model.sensor_names import sensor_topic
from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill as fill_numbers
from hrpsim.ros.base.geometry_values import point_fields
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.named_values import named_values, value_types
from hrpsim.ros.robot.step_sensors import SMALL_VARIANCE, STEP_MESSAGES, SensorReadings

CONTACT_POINTS = "contact_points"
# Fields of a contact point: x, y, z are for displays, which need float32. `position` is in float64.
POINT = np.dtype(
    [
        ("x", "<f4"),
        ("y", "<f4"),
        ("z", "<f4"),
        ("link", "<u4"),
        ("position", "<f8", 3),
        ("force", "<f8", 3),
        ("link_position", "<f8", 3),
        ("link_orientation", "<f8", 4),
    ]
)


class RobotPublishers:
    """Publisher of all stamped messages of one robot, once for each call of `publish`.

    Topics begin with `prefix`. `readings` belong to the same state.
    """

    def __init__(
        self,
        node: Node,
        robot,
        frames: RobotFrames,
        readings: SensorReadings,
        *,
        odometry: bool,
        prefix: str = "",
    ) -> None:
        # The sensor that determines the rate, or "" for the rate of the state.
        self._publications: list[tuple[SerializedTemplate, Callable, str]] = []
        self._node = node
        self._frames = frames
        self._prefix = prefix
        self._readings = readings
        self._add_joint_states(robot)
        for sensor in robot.model.sensors:
            self._add_sensor(sensor)
        if odometry:
            self._add_odometry(robot)
        self._add_link_contacts(robot)
        self._description_publisher = node.create_publisher(
            String, f"{prefix}robot_description", qos.LATCHED
        )
        text = with_robot_name(robot.model.urdf, robot.name)
        self._description_publisher.publish(String(data=text))

    def publish(self, stamp: Stamp, is_due: Callable[[str], bool]) -> None:
        """Publish the state on all topics with a subscription.

        is_due: returns whether a sensor is published now, by its name.
        """
        for template, read, sensor in self._publications:
            if template.is_heard and (not sensor or is_due(sensor)):
                read(template.numbers)
                template.publish(stamp)

    def _add(self, topic: str, message, fill, count: int, read, sensor: str = "") -> None:
        publisher = self._node.create_publisher(type(message), self._prefix + topic, qos.STATE)
        template = SerializedTemplate(publisher, message, fill, count)
        self._publications.append((template, read, sensor))

    def _add_joint_states(self, robot) -> None:
        count = len(robot.model.joint_names)

        def fill(message: JointState, stamp, numbers) -> None:
            message.header.stamp = stamp
            message.position = numbers[:count]
            message.velocity = numbers[count : 2 * count]
            message.effort = numbers[2 * count :]

        def read(numbers: np.ndarray) -> None:
            read_joint_states(robot, numbers)

        message = JointState(name=list(robot.model.joint_names))
        self._add("joint_states", message, fill, 3 * count, read)

    def _add_link_contacts(self, robot) -> None:
        types = value_types()
        for source in sources_of_entity(robot, ""):
            if types is not None and source.topic == "link_contacts":
                message, fill = named_values(types, source, self._frames.odom)

                def read(numbers: np.ndarray, source: Source = source) -> None:
                    numbers[:] = source.read()

                self._add(source.topic, message, fill, len(source.columns), read)

    def _add_sensor(self, sensor: Sensor) -> None:
        kind, readings = STEP_MESSAGES[sensor.kind], self._readings
        index = readings.index_of(sensor.name)

        def fill(message, stamp, numbers) -> None:
            message.header.stamp = stamp
            kind.fill(message, numbers)

        def read(numbers: np.ndarray) -> None:
            kind.read(readings, index, numbers)

        message = kind.type()
        message.header.frame_id = self._frames.of_sensor(sensor.name)
        self._add(sensor_topic(sensor), message, fill, kind.count, read, sensor.name)

    def _add_odometry(self, robot) -> None:
        def fill(message: Odometry, stamp, numbers) -> None:
            message.header.stamp = stamp
            fill_numbers(message.pose.pose.position, numbers[:3])
            fill_numbers(message.pose.pose.orientation, numbers[3:7])
            fill_numbers(message.twist.twist.linear, numbers[7:10])
            fill_numbers(message.twist.twist.angular, numbers[10:])

        def read(numbers: np.ndarray) -> None:
            numbers[:7] = robot.q[:7]
            numbers[7:] = robot.v[:6]

        message = Odometry(child_frame_id=self._frames.base)
        message.header.frame_id = self._frames.odom
        variances = np.diag([SMALL_VARIANCE] * 6).ravel()
        message.pose.covariance = variances
        message.twist.covariance = variances
        self._add("odom", message, fill, 13, read)


class ZmpPublisher:
    """Publishes the ZMP of the foot sensors `feet` in the odom `frame`, while a foot is loaded."""

    def __init__(
        self,
        node: Node,
        robot,
        frame: str,
        readings: SensorReadings,
        feet: Sequence[str],
        topic: str,
    ) -> None:

        def wrench_of(sensor: str) -> np.ndarray:
            return readings.values[readings.index_of(sensor)]

        self._zmp = MeasuredZmp(robot, feet, wrench_of)
        message = PointStamped()
        message.header.frame_id = frame
        publisher = node.create_publisher(PointStamped, topic, qos.STATE)
        self._template = SerializedTemplate(publisher, message, _fill, 3)

    def publish(self, stamp: Stamp) -> None:
        """Publish the point, if the feet carry at least a hundredth of the robot's weight."""
        if not self._template.is_heard:
            return
        point = self._zmp.point()
        if point is not None:
            self._template.numbers[:] = point
            self._template.publish(stamp)


def _fill(message: PointStamped, stamp, numbers) -> None:
    message.header.stamp = stamp
    message.point.x, message.point.y, message.point.z = numbers


class ContactPointPublisher:
    """Publishes the contact points of one robot, in the odom frame, if there is a subscription."""

    def __init__(self, node: Node, robot, frame: str, topic: str) -> None:
        self._robot = robot
        self._message = PointCloud2(height=1, point_step=POINT.itemsize, is_dense=True)
        self._message.header.frame_id = frame
        self._message.fields = point_fields(POINT)
        self._publisher = node.create_publisher(PointCloud2, topic, qos.STATE)

    def publish(self, stamp: Stamp) -> None:
        """Publish the points of the last step. Without contact the message has no points."""
        if not self._publisher.get_subscription_count():
            return
        pressing = pressing_points(self._robot)
        rows = np.zeros(len(pressing.links), dtype=POINT)
        for axis, values in zip("xyz", pressing.points.T):
            rows[axis] = values
        for name, values in zip((POINT.names or ())[3:], pressing):
            rows[name] = values
        message = self._message
        message.header.stamp = stamp.to_message()
        message.width, message.row_step = len(rows), rows.nbytes
        message.data = array("B", rows.tobytes())
        self._publisher.publish(message)


def points_of(message: PointCloud2, link_count: int) -> ContactPoints:
    """Return a message's points.

    Raise HrpsimError for another layout, unknown links, infinite values.
    """
    _check_layout(message)
    rows = np.frombuffer(message.data, dtype=POINT)
    links = rows["link"].astype(np.int64)
    if links.size and links.max() >= link_count:
        raise HrpsimError(f"a point names link {links.max()}, but the robot has {link_count}")
    values = [rows[name].copy() for name in (POINT.names or ())[4:]]
    if not all(np.isfinite(column).all() for column in values):
        raise HrpsimError("the message has values that are not finite")
    return ContactPoints(links, *values)


def _check_layout(message: PointCloud2) -> None:
    """Raise HrpsimError for a message that does not have the points of CONTACT_POINTS."""
    if message.fields != point_fields(POINT) or message.point_step != POINT.itemsize:
        fields = ", ".join(field.name for field in message.fields)
        raise HrpsimError(f"the fields must be those of {CONTACT_POINTS}, got {fields}")
    if message.is_bigendian or len(message.data) != message.width * POINT.itemsize:
        raise HrpsimError(
            f"data must have {message.width} little-endian points, got {len(message.data)} bytes"
        )
