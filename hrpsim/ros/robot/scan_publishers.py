# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Height scans, lidars and contact sensors of a robot as ROS messages, each when one arrives."""

from __future__ import annotations

from array import array

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from sensor_msgs.msg import LaserScan

from hrpsim.model.sampled_sensors import Lidar
from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.camera_publishers import CameraPublisher, PointCloud, stamp_of
from hrpsim.ros.robot.contact_messages import contact_types, contacts_message
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.world.objects.camera_view import CameraView
from hrpsim.world.objects.contact_view import ContactView
from hrpsim.world.objects.sampled_view import Sample
from hrpsim.world.objects.scan_view import ScanView

# Of a point: its time after the stamp, and its ring, as drivers of lidars have them.
POINT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("time", "<f4"), ("ring", "<u2")])


class _SamplePublisher:
    """Publishes the samples of one sensor, which measures only while its topic is heard."""

    def __init__(self, node: Node, view, message, topic: str, clock: SimulationClock):
        self._view, self._message, self._clock = view, message, clock
        self._publisher = node.create_publisher(type(message), topic, qos.SCAN)
        self._published: Sample | None = None
        view.enabled = False

    def publish(self) -> None:
        """Publish the newest sample unless it was published already."""
        self._view.enabled = self._is_heard()
        sample = self._view.latest() if self._view.enabled else None
        if sample is None or sample is self._published:
            return
        self._published = sample
        self._message.header.stamp = stamp_of(self._view, sample, self._clock)
        self._send(sample)

    def _is_heard(self) -> bool:
        return self._publisher.get_subscription_count() > 0

    def _send(self, sample: Sample) -> None:
        """Publish a sample; the message has its time."""
        self._fill(sample)
        self._publisher.publish(self._message)

    def _fill(self, sample: Sample) -> None:
        """Write the sample into the message."""
        raise NotImplementedError


class LaserScanPublisher(_SamplePublisher):
    """A lidar with one ring: sensor_msgs/LaserScan."""

    def __init__(self, node: Node, view: ScanView, frame: str, topic: str, clock):
        lidar, rate = view.pattern, view.description.rate
        low, high = lidar.azimuth
        message = LaserScan(angle_min=low, angle_max=high, range_max=lidar.max_range)
        message.range_min = lidar.min_range
        message.angle_increment = (high - low) / max(lidar.columns - 1, 1)
        message.scan_time = 1.0 / rate if rate > 0.0 else 0.0
        if lidar.sweep:
            message.time_increment = message.scan_time / lidar.columns
        message.header.frame_id = frame
        super().__init__(node, view, message, topic, clock)

    def _fill(self, sample: Sample) -> None:
        self._message.ranges = array("f", sample.values.ranges.astype(np.float32).tobytes())


class PointCloudPublisher(_SamplePublisher):
    """A lidar with rings, or a rosette, in its frame; a height scan, in the odom frame."""

    def __init__(self, node: Node, view: ScanView, frame: str, topic: str, clock):
        rings, columns = view.pattern.shape
        self._cloud = PointCloud(POINT, rings, columns, frame)
        self._cloud.points["time"] = view.times.ravel()
        self._cloud.points["ring"] = np.repeat(np.arange(rings), columns)
        self._in_world = not isinstance(view.pattern, Lidar)
        super().__init__(node, view, self._cloud.message, topic, clock)

    def _fill(self, sample: Sample) -> None:
        self._cloud.fill(self._view.points_in_world if self._in_world else self._view.points)


class ContactSensorPublisher(_SamplePublisher):
    """A contact sensor: geometry_msgs/WrenchStamped, in and about its frame, on its name.

    And ros_gz_interfaces/Contacts, in the odom frame, on the topic that it declares for Gazebo, or
    on NAME/contacts; `types` is their module, None where it is not installed.
    """

    def __init__(
        self, node: Node, view: ContactView, frames: RobotFrames, prefix: str, clock, types
    ):
        at, message = view.description, WrenchStamped()
        message.header.frame_id = frames.of_sensor(at.name)
        super().__init__(node, view, message, prefix + at.name, clock)
        topic, self._odom = prefix + (at.topic or f"{at.name}/contacts"), frames.odom
        self._types = types
        self._contacts = types and node.create_publisher(types.Contacts, topic, qos.SCAN)

    def _is_heard(self) -> bool:
        there = self._contacts is not None and self._contacts.get_subscription_count() > 0
        self._view.keeps_contacts = there
        return there or super()._is_heard()

    def _send(self, sample: Sample) -> None:
        super()._send(sample)
        if self._contacts is not None and sample.values.contacts is not None:
            names = self._view.robot.world.link_names
            message = contacts_message(self._types, sample.values.contacts, names)
            message.header.stamp = self._message.header.stamp
            message.header.frame_id = self._odom
            self._contacts.publish(message)

    def _fill(self, sample: Sample) -> None:
        fill(self._message.wrench.force, sample.values.wrench[:3])
        fill(self._message.wrench.torque, sample.values.wrench[3:])


def sample_publishers(
    node: Node, robot, frames: RobotFrames, clock: SimulationClock, prefix: str
) -> list[_SamplePublisher | CameraPublisher]:
    """Return a publisher for each sensor with a rate of its own.

    Topics are the sensors' names, or those that they declare for Gazebo, where the points of a
    lidar with rings are on TOPIC/points.
    """
    made: list[_SamplePublisher | CameraPublisher] = []
    types = None
    if any(isinstance(view, ContactView) for view in robot.samplers):
        types = contact_types(node, "contact sensors publish wrenches alone")
    for view in robot.samplers:
        name, own, kind = view.description.name, view.description.topic, PointCloudPublisher
        topic, frame = prefix + (own or name), frames.of_sensor(name)
        if isinstance(view, CameraView):
            made.append(CameraPublisher(node, view, frames, prefix, clock))
            continue
        if isinstance(view, ContactView):
            made.append(ContactSensorPublisher(node, view, frames, prefix, clock, types))
            continue
        if not isinstance(view.pattern, Lidar):
            frame = frames.odom
        elif view.pattern.repeats and view.pattern.shape[0] == 1:
            kind = LaserScanPublisher
        elif own:
            topic += "/points"
        made.append(kind(node, view, frame, topic, clock))
    return made
