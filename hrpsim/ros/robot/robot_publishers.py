# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot's sensors as ROS messages: joint states, wrenches, IMU, odometry, ZMP, contact points."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from geometry_msgs.msg import PointStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import Imu, JointState, PointCloud2, PointField
from std_msgs.msg import String

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import HrpsimError
from hrpsim.control.estimation.base_estimator import sole_depth
from hrpsim.control.framework.contact_points import ContactPoints, pressing_points
from hrpsim.engine.sensors.noise import NoiseLevels, SensorNoise
from hrpsim.model.extension import with_robot_name
from hrpsim.model.model import Sensor
from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill as fill_numbers
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import SimulationClock, Stamp
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.robot_reader import RobotReader

# Added to the variance of the noise: zero means "unknown" in sensor_msgs.
_SMALL_VARIANCE = 1.0e-9
_LEAST_LOAD = 0.01  # of the robot's weight; below it the ratio of torque to force is noise
CONTACT_POINTS = "contact_points"
# Of a contact point: x, y, z are for displays, which require float32; `position` is in full.
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
_DATATYPES = {"f4": PointField.FLOAT32, "u4": PointField.UINT32, "f8": PointField.FLOAT64}


class SensorReadings:
    """Readings of all sensors of a robot, in the order of its model.

    They include the noise of `levels` at the clock's step, and are cached until `forget`.
    """

    def __init__(self, robot, clock: SimulationClock, levels: NoiseLevels):
        sensors = robot.model.sensors
        self.noises = [
            SensorNoise(
                *(sensor.name, sensor.kind, levels, sensor.own_noise),
                robot=robot.name,
                world=robot.world.noise_world,
            )
            for sensor in sensors
        ]
        self._clock = clock
        self._order = [sensor.name for sensor in sensors]
        self._reader = RobotReader(robot, ())
        self._imus = [k for k, sensor in enumerate(sensors) if sensor.kind == "imu"]
        self._orientations: np.ndarray | None = None
        self._values: np.ndarray | None = None

    def forget(self) -> None:
        """Clear the cached readings: the robot has moved."""
        self._values = self._orientations = None

    def index_of(self, name: str) -> int:
        """Return the row of a sensor."""
        return self._order.index(name)

    @property
    def values(self) -> np.ndarray:
        """Force [N] and torque [Nm], or angular velocity [rad/s] and specific force [m/s^2] (k, 6).

        Each in and about the sensor's frame.
        """
        if self._values is None:
            self._read()
        return self._values

    def orientation(self, index: int) -> np.ndarray:
        """Return the orientation of the IMU in a row in the world, a quaternion x y z w (4,)."""
        if self._orientations is None:
            self._read()
        return self._orientations[self._imus.index(index)]

    def _read(self) -> None:
        """Read all sensors, bit for bit as a controller in the simulator's process does."""
        numbers, step, count = self._reader.read(), self._clock.steps, len(self._order)
        self._values = numbers[: 6 * count].reshape(count, 6)
        self._orientations = numbers[6 * count :].reshape(-1, 4)
        for row, noise in zip(self._values, self.noises):
            if noise.is_on:
                row += noise.at(step)


def sensor_topic(sensor: Sensor) -> str:
    """Return the topic of a sensor: its own, or for an IMU as in REP 145, else its name."""
    return sensor.topic or (f"{sensor.name}/data" if sensor.kind == "imu" else sensor.name)


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
        text = with_robot_name(robot.model.urdf, robot.name)
        self._description_publisher.publish(String(data=text))

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
            if robot.fitted_actuators:
                parts = numbers.reshape(3, count)
                robot.measure(robot.joint_index.everywhere, *parts)

        message = JointState(name=list(robot.model.joint_names))
        self._add("joint_states", message, fill, 3 * count, read)

    def _add_wrench(self, sensor: Sensor) -> None:
        readings, index = self._readings, self._readings.index_of(sensor.name)

        def fill(message: WrenchStamped, stamp, numbers) -> None:
            message.header.stamp = stamp
            fill_numbers(message.wrench.force, numbers[:3])
            fill_numbers(message.wrench.torque, numbers[3:])

        def read(numbers: np.ndarray) -> None:
            numbers[:] = readings.values[index]

        message = WrenchStamped()
        message.header.frame_id = self._frames.of_sensor(sensor.name)
        self._add(sensor_topic(sensor), message, fill, 6, read, sensor.name)

    def _add_imu(self, sensor: Sensor) -> None:
        readings, index = self._readings, self._readings.index_of(sensor.name)
        noise = readings.noises[index]

        def fill(message: Imu, stamp, numbers) -> None:
            message.header.stamp = stamp
            fill_numbers(message.orientation, numbers[:4])
            fill_numbers(message.angular_velocity, numbers[4:7])
            fill_numbers(message.linear_acceleration, numbers[7:10])
            message.angular_velocity_covariance[::4] = numbers[10:13]
            message.linear_acceleration_covariance[::4] = numbers[13:]

        def read(numbers: np.ndarray) -> None:
            numbers[:4] = readings.orientation(index)
            numbers[4:10] = readings.values[index]
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


class Support(NamedTuple):
    """Force and torque on one foot, along the world's axes, as plain numbers."""

    force: Sequence[float]  # [N]
    torque: Sequence[float]  # about `origin` [Nm]
    origin: Sequence[float]  # [m]
    sole_height: float  # [m]


def zero_moment_point(supports: Sequence[Support], least_force: float):
    """Return x, y, z [m] of the point where the feet's moments have no horizontal part.

    It lies at the height of the soles, their mean weighted by the vertical forces: the floor's
    height where both stand on one floor (Kajita et al., Introduction to Humanoid Robotics, chapter
    3). None where the total vertical force is below `least_force` [N].
    """
    loaded = [max(support.force[2], 0.0) for support in supports]
    f_z = sum(support.force[2] for support in supports)
    if not f_z >= least_force > 0.0:
        return None
    height = sum(f * support.sole_height for f, support in zip(loaded, supports)) / sum(loaded)
    about_x = about_y = 0.0
    for (f_x, f_y, f_z_foot), (t_x, t_y, _), (x, y, z), _ in supports:
        about_x += t_x + y * f_z_foot - (z - height) * f_y
        about_y += t_y + (z - height) * f_x - x * f_z_foot
    return -about_y / f_z, about_x / f_z, height


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
    ):
        self._robot, self._readings = robot, readings
        sensors = [robot.sensors[name].description for name in feet]
        self._feet = [(sensor, sole_depth(robot.model, sensor)) for sensor in sensors]
        self._least_force = _LEAST_LOAD * robot.model.mass * STANDARD_GRAVITY
        message = PointStamped()
        message.header.frame_id = frame
        publisher = node.create_publisher(PointStamped, topic, qos.STATE)
        self._template = SerializedTemplate(publisher, message, _fill, 3)

    def publish(self, stamp: Stamp) -> None:
        """Publish the point, if the feet carry at least a hundredth of the robot's weight."""
        if not self._template.is_heard:
            return
        point = zero_moment_point([self._support(*foot) for foot in self._feet], self._least_force)
        if point is not None:
            self._template.numbers[:] = point
            self._template.publish(stamp)

    def _support(self, sensor: Sensor, depth: float) -> Support:
        p, orientation = self._robot.frame_pose(sensor.body, sensor.R, sensor.p)
        R = rotation_matrix(orientation)
        wrench = self._readings.values[self._readings.index_of(sensor.name)]
        force, torque = (wrench.reshape(2, 3) @ R.T).tolist()
        return Support(force, torque, p.tolist(), float(p[2] - depth * R[2, 2]))


def _fill(message: PointStamped, stamp, numbers) -> None:
    message.header.stamp = stamp
    message.point.x, message.point.y, message.point.z = numbers


def _layout() -> list[PointField]:
    fields = []
    for name in POINT.names or ():
        kind, offset = POINT.fields[name][:2]
        count = kind.shape[0] if kind.shape else 1
        datatype = _DATATYPES[kind.base.str[1:]]
        fields.append(PointField(name=name, offset=offset, datatype=datatype, count=count))
    return fields


class ContactPointPublisher:
    """Publishes the contact points of one robot, in the odom frame, if there is a subscription."""

    def __init__(self, node: Node, robot, frame: str, topic: str):
        self._robot = robot
        self._message = PointCloud2(height=1, point_step=POINT.itemsize, is_dense=True)
        self._message.header.frame_id = frame
        self._message.fields = _layout()
        self._publisher = node.create_publisher(PointCloud2, topic, qos.STATE)

    def publish(self, stamp: Stamp) -> None:
        """Publish the points of the last step; no points without contact."""
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
    """Return a message's points; HrpsimError for another layout, unknown links, infinite values."""
    if message.fields != _layout() or message.point_step != POINT.itemsize:
        fields = ", ".join(field.name for field in message.fields)
        raise HrpsimError(f"its fields are not those of {CONTACT_POINTS}: {fields}")
    if message.is_bigendian or len(message.data) != message.width * POINT.itemsize:
        raise HrpsimError(f"{len(message.data)} bytes are not {message.width} little-endian points")
    rows = np.frombuffer(message.data, dtype=POINT)
    links = rows["link"].astype(np.int64)
    if links.size and links.max() >= link_count:
        raise HrpsimError(f"link {links.max()}: the robot has {link_count}")
    values = [rows[name].copy() for name in (POINT.names or ())[4:]]
    if not all(np.isfinite(one).all() for one in values):
        raise HrpsimError("it has values that are not finite")
    return ContactPoints(links, *values)
