# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lidars."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml.etree import _Element

from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.common.typed_values import check_fields
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.sensors.gazebo_values import deviation_of, number_of, text_of
from hrpsim.model.sensors.ray_pattern import RayPattern
from hrpsim.model.sensors.sensor_kind import SampledSensorKind, require

PATTERNS = ("grid", "rosette")
_FULL_TURN = 2.0 * math.pi + 1e-6
_UPRIGHT = 0.5 * math.pi + 1e-6
# A rosette: its points turn by an angle each, and its petals by a ratio that is not a fraction.
_ROSETTE_TURN = 2.0 * math.pi / 181.0
_ROSETTE_PETALS = 0.5 * (5.0 + math.sqrt(5.0))
# Settings by their paths in <ray> or <lidar> of Gazebo, and the values of missing settings.
_GAZEBO = {
    "columns": ("scan/horizontal/samples", "640"),
    "min_range": ("range/min", "0"),
    "max_range": ("range/max", "10"),
}


@dataclass(frozen=True)
class Lidar(RayPattern):
    """Rays from the sensor's frame: rings of columns, or a rosette without repetition.

    Angles follow sensor_msgs: azimuth about z from x, elevation from the xy plane [rad]. Both ends
    are included. With `sweep`, columns are cast one after another within 1 / rate.
    """

    kind = "lidar"
    gazebo_types = ("ray", "gpu_ray", "lidar", "gpu_lidar")
    gazebo_tags = ("ray", "lidar")
    gazebo_elements = {
        **dict.fromkeys(("ray", "lidar"), ("", "scan range noise")),
        "scan": ("", "horizontal vertical"),
        **dict.fromkeys(("horizontal", "vertical"), ("", "samples min_angle max_angle")),
        "range": ("", "min max"),
        "noise": ("type", "type stddev"),
    }
    by_columns = True
    columns: int = 360
    azimuth: tuple[float, ...] = (-math.pi, math.pi - 2.0 * math.pi / 360.0)  # least, largest [rad]
    rings: int = 0  # number of rings, 0: one for each elevation
    elevation: tuple[float, ...] = (0.0,)  # all elevations, or with `rings` least and largest [rad]
    min_range: float = 0.1  # [m]
    max_range: float = 30.0  # [m], may be infinite
    sweep: bool = False
    pattern: str = "grid"
    alignment = "base"

    def __post_init__(self) -> None:
        check_fields(self, ModelError)
        require(self.columns > 0, f"columns must be at least 1, got {self.columns}")
        low, high = self.azimuth if len(self.azimuth) == 2 else (1.0, 0.0)
        require(low <= high, "azimuth must be two numbers, the smallest first")
        require(
            high - low <= _FULL_TURN,
            f"azimuth must span at most 360 degrees, got {math.degrees(high - low):g}",
        )
        require(
            bool(self.elevation) and max(map(abs, self.elevation)) <= _UPRIGHT,
            "elevation must be angles in radians, from -90 to 90 degrees",
        )
        require(
            not self.rings or len(self.elevation) == 2,
            "with rings, elevation must be two numbers, the smallest and the largest",
        )
        require(0.0 <= self.min_range < self.max_range, "max_range must be above min_range")
        require(self.pattern in PATTERNS, unknown_name("pattern", self.pattern, PATTERNS))
        require(
            self.pattern == "grid" or (self.rings == 0 and len(self.elevation) == 2),
            "a rosette has no rings, and needs an elevation of two numbers (smallest, largest)",
        )

    @property
    def repeats(self) -> bool:
        """Whether all samples have the same rays."""
        return self.pattern == "grid"

    @property
    def elevations(self) -> np.ndarray:
        """Elevation of each ring (rings,) [rad]."""
        if self.rings:
            return np.linspace(self.elevation[0], self.elevation[1], self.rings)
        return np.array(self.elevation)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rings and of columns. A rosette has 1 ring with all rays."""
        return (self.rings or len(self.elevation) if self.repeats else 1), self.columns

    def rays(self, sample: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return origins (n, 3) [m], directions (n, 3) and times (n,) in a sample.

        The order is column by column. Times are fractions of a sweep from 0 to 1, or zeros without
        a sweep.
        """
        rings, columns = self.shape
        part = np.arange(columns) / columns
        azimuth = np.linspace(self.azimuth[0], self.azimuth[1], columns)
        elevation = self.elevations
        if not self.repeats:
            turn = (sample * columns + np.arange(columns)) * _ROSETTE_TURN
            radius, middle = (
                np.cos(_ROSETTE_PETALS * turn),
                [np.mean(self.azimuth), elevation.mean()],
            )
            azimuth = middle[0] + 0.5 * np.ptp(self.azimuth) * radius * np.cos(turn)
            elevation = middle[1] + 0.5 * np.ptp(elevation) * radius * np.sin(turn)
        else:
            azimuth, elevation = (a.ravel() for a in np.meshgrid(azimuth, elevation, indexing="ij"))
        level = np.cos(elevation)
        directions = np.stack(
            [level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], axis=1
        )
        times = np.repeat(part if self.sweep else np.zeros(columns), rings)
        return np.zeros_like(directions), directions, times

    def check(self, rate: float) -> None:
        """Raise ModelError if there are no or too many rays, or no rate for a sweep."""
        super().check(rate)
        require(not self.sweep or rate > 0.0, "a sweep lasts 1 / rate, so set a rate")

    @staticmethod
    def gazebo_settings(document: Document, sensor: _Element) -> dict[str, Any]:
        """Return rate, angles, ranges and noise of <ray> or <lidar>."""
        scan = "ray" if sensor.find("ray") is not None else "lidar"
        settings = SampledSensorKind.gazebo_settings(document, sensor)
        for key, (path, default) in _GAZEBO.items():
            settings[key] = text_of(sensor, f"{scan}/{path}", default)
        settings["noise"] = deviation_of(sensor.find(f"{scan}/noise"))
        for key, direction in (("azimuth", "horizontal"), ("elevation", "vertical")):
            ends = (f"{scan}/scan/{direction}/{end}_angle" for end in ("min", "max"))
            settings[key] = " ".join(text_of(sensor, end, "0") for end in ends)
        rings = number_of(document, sensor, text_of(sensor, f"{scan}/scan/vertical/samples", "1"))
        if rings > 1:
            settings["rings"] = rings
        else:
            settings["elevation"] = settings["elevation"].split()[0]
        return settings
