# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cameras of a robot."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from hrpsim.model.sampled_sensors import Camera, SampledSensor
from hrpsim.model.shapes.placement import Placement, rotation_matrix
from hrpsim.viewer.rendering.renderer import Lens, Picture
from hrpsim.world.objects.entity import _frozen
from hrpsim.world.objects.sensor_view import OtherKindError, SampledView, SamplingRobot


class CameraValues(NamedTuple):
    """The images of a camera and the pose of the camera."""

    picture: Picture
    R: np.ndarray  # (3, 3), the sensor's frame in the world
    p: np.ndarray  # (3,) [m]


class CameraView(SampledView):
    """A camera. The images are from the latest sample that has arrived.

    The camera looks along x of its frame. The link of the camera is drawn only with `see_own`. An
    image that the camera does not make raises an AttributeError. Images are None before the first
    sample.
    """

    pattern: Camera

    def __init__(self, robot: SamplingRobot, description: SampledSensor):
        super().__init__(robot, description)
        self.pattern, self._values = description.pattern, None

    def _measure(self, number: int, part: int) -> None:
        self._values = self._look()

    def _look(self) -> CameraValues:
        at, robot = self.description, self.robot
        p, quaternion = robot.frame_pose(at.body, at.R, at.p)
        R = rotation_matrix(quaternion)
        hidden = None if at.see_own else (robot.name, at.link)
        picture = robot.world.picture(self.pattern, Placement(R, p), hidden)
        return CameraValues(picture, R, p)

    def _finish(self, number: int) -> CameraValues:
        values, at = self._values, self.description
        depth = values.picture.depth
        if depth is not None and (at.noise > 0.0 or at.dropout > 0.0):
            random = self._generator(number)
            depth = depth + np.float32(at.noise) * random.standard_normal(depth.shape, np.float32)
            depth[random.random(depth.shape) < at.dropout] = np.inf
            values = values._replace(picture=values.picture._replace(depth=depth))
        return values

    # -- readings -------------------------------------------------------------------------------

    def measure(self) -> Picture:
        """Return the exact images now, without noise or latency."""
        return self._look().picture

    @property
    def color(self) -> np.ndarray:
        """Colours (height, width, 3) uint8: red, green, blue."""
        return self._image("color")

    @property
    def depth(self) -> np.ndarray:
        """Distances along the optical axis (height, width) float32 [m]. Empty pixels are inf."""
        return self._image("depth")

    @property
    def segmentation(self) -> np.ndarray:
        """Indices in `World.link_names` (height, width) int32. Empty pixels are -1."""
        return self._image("segmentation")

    @property
    def matrix(self) -> np.ndarray:
        """The camera matrix K (3, 3): pixel (u, v, 1) = K (x right, y down, z ahead) / z."""
        return _frozen(self._lens.matrix)

    @property
    def points(self) -> np.ndarray:
        """Points seen by the pixels of `depth` (height, width, 3) [m]. Empty pixels are NaN.

        The points are in the sensor's frame: x ahead, y to the left, z up.
        """
        depth = self._image("depth")
        if depth is None:
            return None
        return _frozen(np.where(np.isfinite(depth), depth, np.nan)[:, :, None] * self._rays)

    @property
    def _lens(self) -> Lens:
        lens = self.pattern
        return Lens(lens.width, lens.height, lens.fov, lens.near, lens.far)

    @cached_property
    def _rays(self) -> np.ndarray:
        return self._lens.rays

    @property
    def frame_pose(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Rotation (3, 3) and origin (3,) [m] of the camera in the world at the latest sample."""
        found = self.latest()
        if found is None:
            return None
        return _frozen(found.values.R.copy()), _frozen(found.values.p.copy())

    def _image(self, name: str):
        if name not in self.pattern.wanted:
            raise OtherKindError(
                f"camera {self.description.name!r} makes {self.pattern.images!r}, no {name!r}; "
                f'say images="{self.pattern.images} {name}" in its description'
            )
        found = self.latest()
        return None if found is None else _frozen(getattr(found.values.picture, name))
