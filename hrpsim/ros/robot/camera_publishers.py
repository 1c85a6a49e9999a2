# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cameras of a robot as sensor_msgs/Image and CameraInfo, in their optical frames (REP 103)."""

from __future__ import annotations

from array import array

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image

from hrpsim.ros.base import qos
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.world.objects.camera_view import CameraView
from hrpsim.world.objects.sampled_view import Sample

# Topic of each image, below the sensor's name and below the topic of several images that it
# declares for Gazebo.
_TOPICS = {
    "color": ("image_raw", "image"),
    "depth": ("depth/image_raw", "depth_image"),
    "segmentation": ("segmentation/image_raw", "labels_map"),
}
_BYTES = {"rgb8": 3, "32FC1": 4, "16UC1": 2, "32SC1": 4}  # of a pixel


class CameraPublisher:
    """Publishes what a camera sees; it looks only while a topic of it is heard.

    Topics: NAME/image_raw (rgb8), NAME/depth/image_raw (32FC1 [m], inf where nothing is; or 16UC1),
    NAME/segmentation/image_raw (32SC1, indices in World.link_names) and NAME/camera_info. One that
    declares a topic for Gazebo has its only image there and camera_info in the same namespace, or
    image, depth_image, labels_map and camera_info below the topic.
    """

    def __init__(self, node: Node, view: CameraView, frame: str, prefix: str, clock):
        self._view, self._clock = view, clock
        lens = view.pattern
        self._info = CameraInfo(width=lens.width, height=lens.height, distortion_model="plumb_bob")
        K, f = view.matrix, view.matrix[0, 0]
        self._info.d, self._info.k = [0.0] * 5, K.ravel().tolist()
        self._info.r = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
        self._info.p = [f, 0.0, K[0, 2], 0.0, 0.0, f, K[1, 2], 0.0, 0.0, 0.0, 1.0, 0.0]
        self._info.header.frame_id = frame
        own, alone = view.description.topic, lens.wanted in (("color",), ("depth",))
        within = own.rpartition("/")[0] if own and alone else own or view.description.name
        info = prefix + f"{within}/camera_info".lstrip("/")
        self._infos = node.create_publisher(CameraInfo, info, qos.SCAN)
        self._images = {}
        encodings = {"color": "rgb8", "depth": lens.depth_encoding, "segmentation": "32SC1"}
        for name in lens.wanted:
            encoding, (below, gazebo) = encodings[name], _TOPICS[name]
            topic = own if own and alone else f"{within}/{gazebo if own else below}"
            image = Image(width=lens.width, height=lens.height, encoding=encoding)
            image.header.frame_id, image.step = frame, _BYTES[encoding] * lens.width
            self._images[name] = node.create_publisher(Image, prefix + topic, qos.SCAN), image
        self._published: Sample | None = None
        view.enabled = False

    def publish(self) -> None:
        """Publish the newest images unless they were published already."""
        heard = {n: p.get_subscription_count() > 0 for n, (p, _) in self._images.items()}
        self._view.enabled = any(heard.values()) or self._infos.get_subscription_count() > 0
        sample = self._view.latest() if self._view.enabled else None
        if sample is None or sample is self._published:
            return
        self._published = sample
        stamp = stamp_of(self._view, sample, self._clock)
        self._info.header.stamp = stamp
        self._infos.publish(self._info)
        for name, (publisher, image) in self._images.items():
            if heard[name]:
                pixels = getattr(sample.values.picture, name)
                if image.encoding == "16UC1":
                    pixels = millimetres(pixels)
                image.header.stamp, image.data = stamp, array("B", pixels.tobytes())
                publisher.publish(image)


def millimetres(depth: np.ndarray) -> np.ndarray:
    """Return depths [m] as whole millimetres of 16 bits; 0 where nothing is, or farther than 65 m.

    Source: REP 118.
    """
    rounded = np.rint(1e3 * depth.astype(np.float64))
    return np.where(rounded <= np.iinfo(np.uint16).max, rounded, 0.0).astype(np.uint16)


def stamp_of(view, sample: Sample, clock: SimulationClock):
    """Return the message's time at which a sample began."""
    world = view.robot.world
    age = round(world.time / world.time_step) - sample.start
    return clock.stamp_at(clock.steps - age).to_message()
