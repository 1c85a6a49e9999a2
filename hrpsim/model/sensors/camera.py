# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cameras."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from lxml.etree import _Element

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.common.typed_values import check_fields
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.sensors.gazebo_values import deviation_of, text_of
from hrpsim.model.sensors.sensor_kind import (
    COMMON,
    SampledSensorKind,
    SampleNoise,
    SensedRobot,
    require,
)
from hrpsim.model.shapes.placement import Placement, rotation_matrix

IMAGES = ("color", "depth", "segmentation")
DEPTH_ENCODINGS = ("32FC1", "16UC1")  # metres, millimetres (REP 118)
_WIDEST_LENS = math.radians(179.0)
_NARROWEST_LENS = 1e-4  # [rad]
_NEAREST = 1e-6  # [m]. MuJoCo ends the process for a plane at 0
_GAZEBO_TYPES = {
    "camera": "color",
    "depth": "depth",
    "depth_camera": "depth",
    "rgbd_camera": "color depth",
    "segmentation": "segmentation",
    "segmentation_camera": "segmentation",
}
# Settings by their paths in <camera> of Gazebo, and the values of missing settings.
_GAZEBO = {
    "fov": ("horizontal_fov", "1.047"),
    "width": ("image/width", "320"),
    "height": ("image/height", "240"),
    "near": ("clip/near", "0.1"),
    "far": ("clip/far", "100"),
}


class CameraValues(NamedTuple):
    """The images of a camera and the pose of the camera."""

    picture: Any  # hrpsim.Picture
    R: np.ndarray  # (3, 3), the sensor's frame in the world
    p: np.ndarray  # (3,) [m]


@dataclass(frozen=True)
class Camera(SampledSensorKind):
    """A camera that looks along x of the sensor's frame, with y to the left and z up.

    Pixels are square.
    """

    kind = "camera"
    common = tuple(key for key in COMMON if key != "geometry")
    has_optical_frame = True
    gazebo_types = tuple(_GAZEBO_TYPES)
    gazebo_tags = ("camera",)
    gazebo_elements = {
        "camera": ("name", "horizontal_fov image clip noise optical_frame_id"),
        "image": ("", "width height"),
        "clip": ("", "near far"),
        "noise": ("type", "type stddev"),
    }
    width: int = 640
    height: int = 480
    fov: float = math.pi / 3.0  # horizontal field of view [rad]
    near: float = 0.05  # least visible distance [m]
    far: float = 100.0  # largest visible distance [m]
    images: str = "color"  # names from IMAGES, separated by spaces
    depth_encoding: str = "32FC1"  # encoding of depth images in ROS, one of DEPTH_ENCODINGS

    def __post_init__(self) -> None:
        check_fields(self, ModelError)
        require(min(self.shape) > 0, "width and height must be positive")
        require(
            self.width * self.height <= limits.CAMERA_PIXELS,
            f"{self.width} x {self.height} are {limits.excess('CAMERA_PIXELS', 'pixels')}",
        )
        require(
            _NARROWEST_LENS < self.fov < _WIDEST_LENS,
            f"fov must be above 0 and below {math.degrees(_WIDEST_LENS):g} degrees, got "
            f"{math.degrees(self.fov):g}. Use several cameras for a wider field of view",
        )
        require(
            _NEAREST <= self.near < self.far,
            f"near must be at least {_NEAREST:g} m, and far above near",
        )
        require(bool(self.wanted), f"images must have at least one of {', '.join(IMAGES)}")
        for image in self.wanted:
            require(image in IMAGES, unknown_name("image", image, IMAGES))
        known = self.depth_encoding in DEPTH_ENCODINGS
        require(known, unknown_name("depth_encoding", self.depth_encoding, DEPTH_ENCODINGS))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.height, self.width

    @property
    def wanted(self) -> tuple[str, ...]:
        """The kinds of images that the camera renders."""
        return tuple(self.images.split())

    def measure(self, robot: SensedRobot, sensor: Any) -> CameraValues:
        """Return the images of the present state, without noise."""
        p, quaternion = robot.frame_pose(sensor.body, sensor.R, sensor.p)
        R = rotation_matrix(quaternion)
        hidden = None if sensor.see_own else (robot.name, sensor.link)
        return CameraValues(robot.world.picture(self, Placement(R, p), hidden), R, p)

    def disturbed(self, values: CameraValues, noise: SampleNoise) -> CameraValues:
        """Return the images with noise and dropouts of the depth."""
        depth = values.picture.depth
        if depth is None:
            return values
        error = noise.random.standard_normal(depth.shape, np.float32)
        depth = depth + np.float32(noise.deviation) * error
        depth[noise.random.random(depth.shape) < noise.dropout] = np.inf
        return values._replace(picture=values.picture._replace(depth=depth))

    @staticmethod
    def gazebo_settings(document: Document, sensor: _Element) -> dict[str, Any]:
        """Return rate, lens, images and noise of <camera>."""
        settings = SampledSensorKind.gazebo_settings(document, sensor)
        settings |= {"images": _GAZEBO_TYPES[sensor.get("type")], "see_own": True}
        for key, (path, default) in _GAZEBO.items():
            settings[key] = text_of(sensor, f"camera/{path}", default)
        settings["noise"] = deviation_of(sensor.find("camera/noise"))
        return settings
