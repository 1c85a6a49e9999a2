# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Cameras of a robot."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from hrpsim.model.sensors.camera import Camera
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.viewer.rendering.renderer import Lens, Picture
from hrpsim.world.objects.entity import _frozen
from hrpsim.world.objects.sensor_view import MeasuredView, OtherKindError, SamplingRobot


class CameraView(MeasuredView):
    """A camera. The images are from the latest sample that has arrived.

    The camera looks along x of its frame. The link of the camera is drawn only with `see_own`.
    Images are None before the first sample. Reading an image that the camera is not declared to
    make raises an AttributeError.
    """

    pattern: Camera

    def __init__(self, robot: SamplingRobot, description: SampledSensor) -> None:
        super().__init__(robot, description)
        self.pattern = description.pattern

    # -- readings -------------------------------------------------------------------------------

    def measure(self) -> Picture:
        """Return the images of the present state, without noise or latency."""
        return self._exact().picture

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
        values = self.values
        return None if values is None else (_frozen(values.R.copy()), _frozen(values.p.copy()))

    def _image(self, name: str):
        if name not in self.pattern.wanted:
            raise OtherKindError(
                f"camera {self.description.name!r} makes {self.pattern.images!r}, not {name!r}. "
                f'Write images="{self.pattern.images} {name}" in its description'
            )
        values = self.values
        return None if values is None else _frozen(getattr(values.picture, name))
