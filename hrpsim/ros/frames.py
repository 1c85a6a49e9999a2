"""The names of a robot's frames and the tree that joins them, read from its description."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

import numpy as np

from hrpsim.model.model import Model


class Edge(NamedTuple):
    """A transform of the tree: the links it joins and whether a joint moves it."""

    parent: str
    child: str
    moves: bool


class RobotFrames:
    """Frame names of one robot: `prefix` + link name, and `odom` above the base."""

    def __init__(self, model: Model, odom_frame: str, prefix: str = ""):
        self._model = model
        self._prefix = prefix
        self.odom = prefix + odom_frame
        self.base = self.of_link(model.base_link)

    def of_link(self, link: str) -> str:
        """Return the frame of `link`."""
        return self._prefix + link

    def of_sensor(self, name: str) -> str:
        """Return the frame of a sensor: its link's, or its own where it is placed off the link."""
        sensor = next(sensor for sensor in self._model.sensors if sensor.name == name)
        return self._prefix + (sensor.name if self._stands_off(sensor) else sensor.link)

    def sensor_offsets(self) -> list[tuple[str, str, np.ndarray, np.ndarray]]:
        """Return (link, sensor, p [m], R) of every sensor that stands off its link's frame."""
        offsets = []
        for sensor in filter(self._stands_off, self._model.sensors):
            link = self._model.frame(sensor.link)
            offsets.append(
                (sensor.link, sensor.name, link.R.T @ (sensor.p - link.p), link.R.T @ sensor.R)
            )
        return offsets

    def edges(self) -> list[Edge]:
        """Return one edge for each joint of the description."""
        return [
            Edge(
                parent=joint.find("parent").attrib["link"],
                child=joint.find("child").attrib["link"],
                moves=joint.attrib["type"] != "fixed",
            )
            for joint in ElementTree.fromstring(self._model.urdf).findall("joint")
        ]

    def _stands_off(self, sensor) -> bool:
        link = self._model.frame(sensor.link)
        return not (np.allclose(sensor.p, link.p) and np.allclose(sensor.R, link.R))
