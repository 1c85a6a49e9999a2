# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Messages of sensors with separate rates, each published when a sample arrives.

The sensors are cameras (Image, PointCloud2, CameraInfo, in the optical frames, REP 103), height
scans, lidars and contact sensors.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from io import BytesIO
from types import ModuleType
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, LaserScan, PointCloud2

from hrpsim.ros.base import qos
from hrpsim.ros.base.geometry_values import fill, point_fields
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.contact_messages import contact_types, contacts_message
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.owned_names import camera_topics, contact_topics, is_one_ring, scan_topics
from hrpsim.world.objects.camera_view import CameraView
from hrpsim.world.objects.contact_view import ContactView
from hrpsim.world.objects.scan_view import ScanView
from hrpsim.world.objects.sensor_view import Sample

_BYTES = {"rgb8": 3, "32FC1": 4, "16UC1": 2, "32SC1": 4}  # bytes of a pixel
POINT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4")])
# The bytes of rgb are blue, green, red and 0, as in PCL and RViz.
COLORED_POINT = np.dtype([*POINT.descr, ("rgb", "<f4")])
# Fields of a point: time after the stamp, and ring, as in drivers of lidars.
SCAN_POINT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("time", "<f4"), ("ring", "<u2")])
_QUALITY = 95  # JPEG quality, as in image_transport


class PointCloud:
    """The message of a point cloud, and the points.

    points: (rows * columns,) of a type with the float32 fields x, y, z [m], row by row.
    """

    def __init__(self, kind: np.dtype, rows: int, columns: int, frame: str) -> None:
        self.points = np.zeros(rows * columns, dtype=kind)
        self.message = PointCloud2(height=rows, width=columns, point_step=kind.itemsize)
        self.message.row_step = columns * kind.itemsize
        self.message.header.frame_id = frame
        self.message.fields = point_fields(kind)

    def fill(self, positions: np.ndarray) -> None:
        """Write `points`, with positions (n, 3) [m], into the message."""
        for axis, values in zip("xyz", positions.T):
            self.points[axis] = values
        self.message.is_dense = bool(np.isfinite(positions).all())
        self.message.data = array("B", self.points.tobytes())


@dataclass(frozen=True)
class Site:
    """The node, frames and clock with which the sensors of a robot are published."""

    node: Node
    frames: RobotFrames
    clock: SimulationClock
    prefix: str  # prefix of the topics

    @cached_property
    def contact_types(self) -> ModuleType | None:
        """The module of the types of contacts, or None without the module."""
        return contact_types(self.node, "contact sensors publish wrenches alone")


class SamplePublisher:
    """Publishes the samples of one sensor. The sensor measures only while a topic has a subscriber.

    A subclass adds the topics of one kind of sensor.
    """

    def __init__(self, site: Site, view) -> None:
        self._node, self._view, self._clock = site.node, view, site.clock
        # Each topic with a function that returns the message for a sample, or None.
        self._topics: list[tuple[Publisher, Callable[[Sample], Any]]] = []
        self._published: Sample | None = None
        view.enabled = False

    def _add(self, kind: type, topic: str, message_of: Callable[[Sample], Any]) -> Publisher:
        publisher = self._node.create_publisher(kind, topic, qos.SCAN)
        self._topics.append((publisher, message_of))
        return publisher

    def publish(self) -> None:
        """Publish the newest sample, if it has not been published before."""
        heard = [topic for topic in self._topics if topic[0].get_subscription_count() > 0]
        self._view.enabled = bool(heard)
        sample = self._view.latest() if heard else None
        if sample is None or sample is self._published:
            return
        self._published = sample
        stamp = stamp_of(self._view, sample, self._clock)
        for publisher, message_of in heard:
            message = message_of(sample)
            if message is not None:
                message.header.stamp = stamp
                publisher.publish(message)


class CameraPublisher(SamplePublisher):
    """Publishes the images of a camera.

    Topics: NAME/image_raw (rgb8), NAME/depth/image_raw (32FC1 [m], inf without a hit, or 16UC1),
    NAME/segmentation/image_raw (32SC1, indices in World.link_names), NAME/points (from the depth,
    with colours if available), and NAME/camera_info. `camera_topics` lists the names for Gazebo's
    sensors. If Pillow is installed, JPEG images are also published on the image topic +
    "/compressed" for image_transport.
    """

    def __init__(self, site: Site, view: CameraView) -> None:
        super().__init__(site, view)
        frames, lens, at = site.frames, view.pattern, view.description
        frame = frames.of_optics(at.name)
        info = CameraInfo(width=lens.width, height=lens.height, distortion_model="plumb_bob")
        K, f = view.matrix, view.matrix[0, 0]
        info.d, info.k = [0.0] * 5, K.ravel().tolist()
        info.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        info.p = [f, 0.0, K[0, 2], 0.0, 0.0, f, K[1, 2], 0.0, 0.0, 0.0, 1.0, 0.0]
        topics = camera_topics(view)

        def add(message, what: str, fill: Callable[[Any], None]) -> None:
            def filled(sample: Sample):
                fill(message)
                return message

            message.header.frame_id = frame
            self._add(type(message), site.prefix + topics[what], filled)

        add(info, "info", lambda info: None)
        encodings = {"color": "rgb8", "depth": lens.depth_encoding, "segmentation": "32SC1"}
        for name in lens.wanted:
            image = Image(width=lens.width, height=lens.height, encoding=encodings[name])
            image.step = _BYTES[encodings[name]] * lens.width
            add(image, name, partial(self._fill_image, name))
        if "compressed" in topics:
            compressed = CompressedImage(format="rgb8; jpeg compressed bgr8")
            add(compressed, "compressed", self._fill_compressed)
        if "points" in topics:
            kind = COLORED_POINT if "color" in lens.wanted else POINT
            self._cloud = PointCloud(kind, lens.height, lens.width, frame)
            self._axes = frames.optical_axes(at.name)
            add(self._cloud.message, "points", self._fill_points)

    def _fill_image(self, name: str, image: Image) -> None:
        pixels = getattr(self._view, name)
        if image.encoding == "16UC1":
            pixels = millimetres(pixels)
        image.data = array("B", pixels.tobytes())

    def _fill_compressed(self, image: CompressedImage) -> None:
        from PIL import Image as PillowImage

        jpeg = BytesIO()
        PillowImage.fromarray(self._view.color).save(jpeg, "jpeg", quality=_QUALITY)
        image.data = array("B", jpeg.getvalue())

    def _fill_points(self, cloud: PointCloud2) -> None:
        R, p = self._axes
        if self._cloud.points.dtype == COLORED_POINT:
            records = self._cloud.points.view(np.uint8).reshape(-1, COLORED_POINT.itemsize)
            records[:, 12:15] = self._view.color.reshape(-1, 3)[:, ::-1]
        self._cloud.fill((self._view.points.reshape(-1, 3) - p) @ R)


def millimetres(depth: np.ndarray) -> np.ndarray:
    """Return depths [m] as whole millimetres of 16 bits.

    The value is 0 for no hit, and for depths above 65 m. Source: REP 118.
    """
    rounded = np.rint(1e3 * depth.astype(np.float64))
    return np.where(rounded <= np.iinfo(np.uint16).max, rounded, 0.0).astype(np.uint16)


def stamp_of(view, sample: Sample, clock: SimulationClock):
    """Return the stamp of a message: the time at which a sample began."""
    world = view.robot.world
    age = round(world.time / world.time_step) - sample.start
    return clock.stamp_at(clock.steps - age).to_message()


class LaserScanPublisher(SamplePublisher):
    """Publishes a lidar with one ring as sensor_msgs/LaserScan."""

    def __init__(self, site: Site, view: ScanView) -> None:
        super().__init__(site, view)
        lidar, rate, name = view.pattern, view.description.rate, view.description.name
        low, high = lidar.azimuth
        self._scan = scan = LaserScan(angle_min=low, angle_max=high, range_max=lidar.max_range)
        scan.range_min = lidar.min_range
        scan.angle_increment = (high - low) / max(lidar.columns - 1, 1)
        scan.scan_time = 1.0 / rate if rate > 0.0 else 0.0
        if lidar.sweep:
            scan.time_increment = scan.scan_time / lidar.columns
        scan.header.frame_id = site.frames.of_sensor(name)
        self._add(LaserScan, site.prefix + scan_topics(view)["ranges"], self._filled)

    def _filled(self, sample: Sample) -> LaserScan:
        self._scan.ranges = array("f", sample.values.ranges.astype(np.float32).tobytes())
        return self._scan


class PointCloudPublisher(SamplePublisher):
    """Publishes a lidar with several rings, or with a rosette, in the frame of the lidar."""

    def __init__(self, site: Site, view: ScanView) -> None:
        super().__init__(site, view)
        rings, columns = view.pattern.shape
        self._cloud = PointCloud(SCAN_POINT, rings, columns, self._frame(site))
        self._cloud.points["time"] = view.times.ravel()
        self._cloud.points["ring"] = np.repeat(np.arange(rings), columns)
        self._add(PointCloud2, site.prefix + scan_topics(view)["points"], self._filled)

    def _frame(self, site: Site) -> str:
        return site.frames.of_sensor(self._view.description.name)

    def _points(self) -> np.ndarray:
        return self._view.points

    def _filled(self, sample: Sample) -> PointCloud2:
        self._cloud.fill(self._points())
        return self._cloud.message


class HeightScanPublisher(PointCloudPublisher):
    """Publishes a height scan in the odom frame."""

    def _frame(self, site: Site) -> str:
        return site.frames.odom

    def _points(self) -> np.ndarray:
        return self._view.points_in_world


def lidar_publisher(site: Site, view: ScanView) -> SamplePublisher:
    """Return the publisher of a lidar: LaserScan for one ring, otherwise PointCloud2."""
    return (LaserScanPublisher if is_one_ring(view) else PointCloudPublisher)(site, view)


class ContactSensorPublisher(SamplePublisher):
    """Publishes a contact sensor: a WrenchStamped in the sensor's frame, on the topic NAME.

    If ros_gz_interfaces is installed, the contacts in the odom frame are also published as
    Contacts, on the topic declared for Gazebo, or else on NAME/contacts.
    """

    def __init__(self, site: Site, view: ContactView) -> None:
        super().__init__(site, view)
        at, self._odom = view.description, site.frames.odom
        self._types = types = site.contact_types
        self._wrench = WrenchStamped()
        self._wrench.header.frame_id = site.frames.of_sensor(at.name)
        topics = contact_topics(view)
        self._add(WrenchStamped, site.prefix + topics["wrench"], self._filled)
        if types is not None:
            topic = site.prefix + topics["contacts"]
            self._contacts = self._add(types.Contacts, topic, self._contacts_of)

    def publish(self) -> None:
        """Publish the newest sample.

        Contacts are included only while a node subscribes to contacts.
        """
        if self._types is not None:
            self._view.keeps_contacts = self._contacts.get_subscription_count() > 0
        super().publish()

    def _filled(self, sample: Sample) -> WrenchStamped:
        fill(self._wrench.wrench.force, sample.values.wrench[:3])
        fill(self._wrench.wrench.torque, sample.values.wrench[3:])
        return self._wrench

    def _contacts_of(self, sample: Sample):
        if sample.values.contacts is None:
            return None
        names = self._view.robot.world.link_names
        message = contacts_message(self._types, sample.values.contacts, names)
        message.header.frame_id = self._odom
        return message


PUBLISHERS: dict[str, Callable[[Site, Any], SamplePublisher]] = {
    "height_scan": HeightScanPublisher,
    "lidar": lidar_publisher,
    "contact": ContactSensorPublisher,
    "camera": CameraPublisher,
}


def sample_publishers(
    node: Node, robot, frames: RobotFrames, clock: SimulationClock, prefix: str
) -> list[SamplePublisher]:
    """Return a publisher for each sensor with a separate rate.

    Topics are the sensors' names, or the topics declared for Gazebo. On a topic declared for
    Gazebo, the points of a lidar with rings are on TOPIC/points.
    """
    site = Site(node, frames, clock, prefix)
    return [PUBLISHERS[view.description.kind](site, view) for view in robot.samplers]
