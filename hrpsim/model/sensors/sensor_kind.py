# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The base classes of kinds of sensors: the interface that each kind implements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from lxml.etree import _Element

from hrpsim.common import limits
from hrpsim.common.errors import ModelError
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.sensors.gazebo_values import noise_of_axes, number_of, text_of
from hrpsim.model.shapes.placement import Placement

COMMON = ("rate", "latency", "enabled", "noise", "dropout", "seed", "see_own", "geometry")


def require(holds: bool, text: str) -> None:
    """Raise the ModelError `text` unless a condition holds."""
    if not holds:
        raise ModelError(text)


def cells_along(length: float, cell: float) -> float:
    """Return a length divided by the cell size, at most SENSOR_RAYS + 1."""
    most = limits.SENSOR_RAYS + 1
    return length / cell if length < most * cell else float(most)


class SensorKind:
    """A kind of sensor: its name in hrpsim, and its names in other formats.

    A subclass is an entry of a table in `kinds.py`.
    """

    kind: ClassVar[str]  # name in descriptions, world files and messages
    at_joint: ClassVar[bool] = False  # whether it measures at the joint above its link
    has_optical_frame: ClassVar[bool] = False  # whether its messages are in an optical frame
    gazebo_types: ClassVar[tuple[str, ...]] = ()  # types of Gazebo's <sensor>
    gazebo_tags: ClassVar[tuple[str, ...]] = ()  # elements in Gazebo's <sensor>
    # Attributes and children of the elements in <sensor> that are read, by element.
    gazebo_elements: ClassVar[Mapping[str, tuple[str, str]]] = {}
    mjcf_types: ClassVar[tuple[str, ...]] = ()  # names in mjtSensor, without mjSENS_
    body_elements: ClassVar[tuple[str, ...]] = ()  # elements of .body files
    vrml_nodes: ClassVar[tuple[str, ...]] = ()  # nodes of OpenHRP's VRML

    @classmethod
    def is_read(cls, sensor: _Element) -> bool:
        """Return whether a <sensor> of Gazebo with a type of this kind is simulated."""
        return True

    @staticmethod
    def gazebo_placement(sensor: _Element, pose: Placement) -> Placement:
        """Return the placement in the link of a <sensor> of Gazebo with the placement `pose`."""
        return pose

    @staticmethod
    def gazebo_settings(document: Document, sensor: _Element) -> dict[str, Any]:
        """Return the settings of a <sensor> of Gazebo. Raises ModelError for an invalid number."""
        raise NotImplementedError


class StepSensorKind(SensorKind):
    """A kind of sensor that the compiled step evaluates: six values in each step."""

    quantity: ClassVar[int]  # WRENCH or MOTION
    has_orientation: ClassVar[bool] = False  # whether readings include the frame's orientation
    topic_below: ClassVar[str] = ""  # topic below the sensor's name
    # Fields of NoiseLevels for the first and the last three values, and fields of their biases.
    noise_levels: ClassVar[tuple[str, str]]
    bias_levels: ClassVar[tuple[str, ...]] = ()
    # Names of the first and the last three values in Gazebo, and their names in SDF 1.4.
    gazebo_quantities: ClassVar[tuple[str, str, str, str]]

    @classmethod
    def gazebo_settings(cls, document: Document, sensor: _Element) -> dict[str, Any]:
        """Return rate [Hz] and noise.

        Gazebo draws the sign of a bias at random. hrpsim uses the declared mean.
        """
        rate = number_of(document, sensor, text_of(sensor, "update_rate", "0"))
        noise = noise_of_axes(document, sensor, cls.kind, cls.gazebo_quantities)
        return {"rate": max(rate, 0.0), **noise}


class SampleNoise(NamedTuple):
    """The noise of one sample."""

    deviation: float  # standard deviation in the unit of the values
    dropout: float  # fraction of missing values
    random: np.random.Generator


class SensedRobot(Protocol):
    """The robot that carries a sensor, as seen by `SampledSensorKind.measure`."""

    name: str

    @property
    def world(self) -> Any:
        """The world of the robot."""

    def frame_pose(self, body: int, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) in the world of a body's frame."""


@dataclass(frozen=True)
class SampledSensorKind(SensorKind):
    """A kind of sensor with its own sampling rate. A subclass is a frozen dataclass of settings."""

    common: ClassVar[tuple[str, ...]] = COMMON  # settings besides the fields of the kind

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns of a sample."""
        raise NotImplementedError

    def check(self, rate: float) -> None:
        """Raise ModelError if a sensor with these settings cannot measure at a rate [Hz]."""

    def measure(self, robot: SensedRobot, sensor: Any) -> Any:
        """Return the values in the present state, without noise. `sensor` is the SampledSensor.

        Kinds with a view class, such as scans, measure in that class.
        """
        raise NotImplementedError

    def disturbed(self, values: Any, noise: SampleNoise) -> Any:
        """Return `values` with noise and dropouts."""
        raise NotImplementedError

    def require_few(self) -> None:
        """Raise ModelError if a sample is too large."""
        n, m = self.shape
        require(
            n * m <= limits.SENSOR_RAYS,
            f"{n} x {m} are {limits.excess('SENSOR_RAYS', 'rays or cells')}",
        )

    @staticmethod
    def gazebo_settings(document: Document, sensor: _Element) -> dict[str, Any]:
        """Return the setting `rate` of a <sensor> of Gazebo.

        The sensor does not run until a reading is requested.
        """
        return {"rate": text_of(sensor, "update_rate", "0"), "enabled": False}
