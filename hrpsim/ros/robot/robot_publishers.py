# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot's sensors as ROS messages: joint states, wrenches, IMU and odometry."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState
from std_msgs.msg import String

from hrpsim.model.model import Sensor
from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill as fill_numbers
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.sensor_readings import SensorReadings

# Added to the variance of the noise: zero means "unknown" in sensor_msgs.
_SMALL_VARIANCE = 1.0e-9


def sensor_topic(sensor: Sensor) -> str:
    """Return the topic of a sensor: for an IMU as in REP 145, else the sensor's name."""
    return f"{sensor.name}/data" if sensor.kind == "imu" else sensor.name


class RobotPublishers:
    """Publishes all stamped messages of one robot, once for each `publish`.

    Topics begin with `prefix`. `readings` are those of the same state.
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
    ):
        # With the sensor whose rate it has, or "" for the state's.
        self._publications: list[tuple[SerializedTemplate, Callable, str]] = []
        self._node = node
        self._frames = frames
        self._prefix = prefix
        self._readings = readings
        self._add_joint_states(robot)
        for sensor in robot.model.sensors:
            if sensor.kind == "force_torque":
                self._add_wrench(sensor)
            elif sensor.kind == "imu":
                self._add_imu(sensor)
        if odometry:
            self._add_odometry(robot)
        self._description_publisher = node.create_publisher(
            String, f"{prefix}robot_description", qos.LATCHED
        )
        self._description_publisher.publish(String(data=robot.model.urdf))

    def publish(self, stamp: Stamp, is_due: Callable[[str], bool]) -> None:
        """Publish the state on topics with a subscription, a sensor only if `is_due(name)`."""
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
            numbers[:count] = robot.joint_positions
            numbers[count : 2 * count] = robot.joint_velocities
            numbers[2 * count :] = robot.joint_efforts

        message = JointState(name=list(robot.model.joint_names))
        self._add("joint_states", message, fill, 3 * count, read)

    def _add_wrench(self, sensor: Sensor) -> None:
        readings, place = self._readings, self._readings.index_of(sensor.name)

        def fill(message: WrenchStamped, stamp, numbers) -> None:
            message.header.stamp = stamp
            fill_numbers(message.wrench.force, numbers[:3])
            fill_numbers(message.wrench.torque, numbers[3:])

        def read(numbers: np.ndarray) -> None:
            numbers[:] = readings.values[place]

        message = WrenchStamped()
        message.header.frame_id = self._frames.of_sensor(sensor.name)
        self._add(sensor_topic(sensor), message, fill, 6, read, sensor.name)

    def _add_imu(self, sensor: Sensor) -> None:
        readings, place = self._readings, self._readings.index_of(sensor.name)
        noise = readings.noises[place]

        def fill(message: Imu, stamp, numbers) -> None:
            message.header.stamp = stamp
            fill_numbers(message.orientation, numbers[:4])
            fill_numbers(message.angular_velocity, numbers[4:7])
            fill_numbers(message.linear_acceleration, numbers[7:10])
            message.angular_velocity_covariance[::4] = numbers[10:13]
            message.linear_acceleration_covariance[::4] = numbers[13:]

        def read(numbers: np.ndarray) -> None:
            numbers[:4] = readings.orientation(place)
            numbers[4:10] = readings.values[place]
            numbers[10:] = _SMALL_VARIANCE
            if noise.is_on:
                numbers[10:] += noise.variances

        message = Imu()
        message.header.frame_id = self._frames.of_sensor(sensor.name)
        message.orientation_covariance = np.diag([_SMALL_VARIANCE] * 3).ravel()
        self._add(sensor_topic(sensor), message, fill, 16, read, sensor.name)

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
        variances = np.diag([_SMALL_VARIANCE] * 6).ravel()
        message.pose.covariance = variances
        message.twist.covariance = variances
        self._add("odom", message, fill, 13, read)
