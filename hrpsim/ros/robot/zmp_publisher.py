# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic zmp: the zero-moment point that the foot sensors measure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from geometry_msgs.msg import PointStamped
from rclpy.node import Node

from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.control.estimation.base_estimator import sole_depth
from hrpsim.model.model import Sensor
from hrpsim.ros.base import qos
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.sensor_readings import SensorReadings
from hrpsim.world.objects.body import rotation_matrix

_LEAST_LOAD = 0.01  # of the robot's weight; below it the ratio of torque to force is noise


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
