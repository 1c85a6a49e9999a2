# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The names and the tree of a robot's frames, read from the description."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.xml_text import xml_root
from hrpsim.model.model import Model
from hrpsim.model.sensor_names import link_at, sensor_frame
from hrpsim.model.sensors.kinds import SENSOR_KINDS

# Optical axes in a camera's frame (x along the view, z up): x to the right, y down, z along the
# view.
OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


class FrameEdge(NamedTuple):
    """A transform of the tree: parent and child link, the joint, and whether the joint moves."""

    parent: str
    child: str
    joint: str
    moves: bool


class RobotFrames:
    """Frame names of one robot: `prefix` + link name, and `odom` for the world."""

    def __init__(self, model: Model, odom_frame: str, prefix: str = "") -> None:
        self._model = model
        self._sensors = [*model.sensors, *model.sampled_sensors]
        self._prefix = prefix
        self.odom = odom_frame
        self.base = self.of_link(model.base_link)

    def of_link(self, link: str) -> str:
        """Return the name of the frame of a link."""
        return self._prefix + link

    def of_sensor(self, name: str) -> str:
        """Return the name of a sensor's frame.

        The frame is the frame that the description names, or else a link at the same pose, or else
        a new frame.
        """
        return self._prefix + sensor_frame(self._model, self._called(name))

    def of_optics(self, name: str) -> str:
        """Return the name of a camera's optical frame: z ahead, x to the right (REP 103)."""
        return self._prefix + (self._called(name).frame or name + "_optical_frame")

    def optical_axes(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the pose of the optical frame in the frame of the camera.

        If the named link moves relative to the camera, R is the identity and p is 0, as in Gazebo.

        Returns:
            (R (3, 3), p (3,) [m]).
        """
        camera = self._called(name)
        if not camera.frame:
            return OPTICAL, np.zeros(3)
        link = self._model.frame(camera.frame)
        if link.body != camera.body:
            return np.eye(3), np.zeros(3)
        return camera.R.T @ link.R, camera.R.T @ (link.p - camera.p)

    def _called(self, name: str):
        return next(sensor for sensor in self._sensors if sensor.name == name)

    def sensor_offsets(self) -> list[tuple[str, str, np.ndarray, np.ndarray]]:
        """Return (link, frame, p [m], R) of each sensor or optical frame that is no link."""
        offsets = []
        for sensor in self._sensors:
            if not sensor.frame and link_at(self._model, sensor) is None:
                link = self._model.frame(sensor.link)
                p, R = link.R.T @ (sensor.p - link.p), link.R.T @ sensor.R
                offsets.append((sensor.link, self.of_sensor(sensor.name), p, R))
            if not sensor.frame and SENSOR_KINDS[sensor.kind].has_optical_frame:
                link = self._model.frame(sensor.link)
                p, R = link.R.T @ (sensor.p - link.p), link.R.T @ sensor.R @ OPTICAL
                offsets.append((sensor.link, self.of_optics(sensor.name), p, R))
        return offsets

    def edges(self) -> list[FrameEdge]:
        """Return one edge for each joint of the description."""
        return [
            FrameEdge(
                parent=joint.find("parent").attrib["link"],
                child=joint.find("child").attrib["link"],
                joint=joint.attrib["name"],
                moves=joint.attrib["type"] != "fixed",
            )
            for joint in xml_root(self._model.urdf, "URDF", ModelError).findall("joint")
        ]
