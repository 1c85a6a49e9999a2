# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors with a rate of their own: height scans, lidars, cameras, contact sensors.

Docs: docs/howto/sensors.md. The page of robot descriptions lists every setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, shown_value, unknown_name
from hrpsim.model.shapes.placement import Placement

ALIGNMENTS = ("yaw", "base", "world")
PATTERNS = ("grid", "rosette")
GEOMETRIES = ("collision", "visual")  # that rays meet
IMAGES = ("color", "depth", "segmentation")
DEPTH_ENCODINGS = ("32FC1", "16UC1")  # metres, millimetres (REP 118)

_FULL_TURN = 2.0 * math.pi + 1e-6
_WIDEST_LENS = math.radians(179.0)
_UPRIGHT = 0.5 * math.pi + 1e-6
# A rosette: its points turn by an angle each, and its petals by a ratio that is no fraction.
_ROSETTE_TURN = 2.0 * math.pi / 181.0
_ROSETTE_PETALS = 0.5 * (5.0 + math.sqrt(5.0))


def _require(holds: bool, text: str) -> None:
    if not holds:
        raise ModelError(text)


@dataclass(frozen=True)
class HeightScan:
    """Rays straight down over a grid, or over rings, about the sensor's frame.

    Grid: heights[i, j] is at x_i, y_j from -size/2 to size/2, `spacing` apart. Rings: heights[i, j]
    is on radius i at angle 2 pi j / points.
    """

    size: tuple[float, ...] = (1.6, 1.0)  # along x and y [m]
    spacing: float = 0.1  # [m]
    radii: tuple[float, ...] = ()  # [m]; then rings, no grid
    points: int = 16  # of a ring
    alignment: str = "yaw"  # of x and y with the frame's heading, or with "base" or "world"
    height: float = 1.0  # above the frame where rays begin, lower beneath roofs [m]
    max_range: float = 10.0  # below the frame [m]
    min_range = 0.0
    repeats = True

    def __post_init__(self):
        _require(len(self.size) == 2 and min(self.size) >= 0.0, "size needs two numbers >= 0")
        _require(self.spacing > 0.0, "spacing must be positive")
        _require(all(r >= 0.0 for r in self.radii), "radii must not be negative")
        _require(
            self.alignment in ALIGNMENTS, unknown_name("alignment", self.alignment, ALIGNMENTS)
        )
        _require(self.height >= 0.0, "height must not be negative")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rays along x and y, or number of rings and of rays in each ring."""
        if self.radii:
            return len(self.radii), self.points
        nx, ny = (int(length / self.spacing + 1e-9) + 1 for length in self.size)
        return nx, ny

    def rays(self, sample: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return origins (n, 3) [m], directions (n, 3) and times (n,) [s] in a sample."""
        n, m = self.shape
        if self.radii:
            angles = 2.0 * np.pi * np.arange(m) / m
            x, y = (np.outer(self.radii, part(angles)) for part in (np.cos, np.sin))
        else:
            along = [(np.arange(k) - 0.5 * (k - 1)) * self.spacing for k in (n, m)]
            x, y = np.meshgrid(*along, indexing="ij")
        origins = np.stack([x, y, np.zeros((n, m))], axis=-1).reshape(-1, 3)
        return origins, np.tile([0.0, 0.0, -1.0], (n * m, 1)), np.zeros(n * m)


@dataclass(frozen=True)
class Lidar:
    """Rays from the sensor's frame: rings of columns, or a rosette without repetition.

    Angles follow sensor_msgs: azimuth about z from x, elevation from the xy plane [rad]. Both ends
    are included. With `sweep`, columns are cast one after another within 1 / rate.
    """

    columns: int = 360
    azimuth: tuple[float, ...] = (-math.pi, math.pi - 2.0 * math.pi / 360.0)  # least, greatest
    rings: int = 0  # 0: one for each elevation
    elevation: tuple[float, ...] = (0.0,)  # each, or with `rings` the least and greatest
    min_range: float = 0.1  # [m]
    max_range: float = 30.0  # [m], may be infinite
    sweep: bool = False
    pattern: str = "grid"
    alignment = "base"
    height = 0.0

    def __post_init__(self):
        low, high = self.azimuth if len(self.azimuth) == 2 else (1.0, 0.0)
        _require(low <= high, "azimuth needs two numbers, the least first")
        _require(
            high - low <= _FULL_TURN,
            f"azimuth: a field of view of {math.degrees(high - low):g} degrees; 360 is the most",
        )
        _require(
            bool(self.elevation) and max(map(abs, self.elevation)) <= _UPRIGHT,
            "elevation: angles from -90 to 90 degrees are needed, in radians",
        )
        _require(
            not self.rings or len(self.elevation) == 2,
            "with rings, elevation needs two numbers, the least and the greatest",
        )
        _require(0.0 <= self.min_range < self.max_range, "max_range must be above min_range")
        _require(self.pattern in PATTERNS, unknown_name("pattern", self.pattern, PATTERNS))
        _require(
            self.pattern == "grid" or (self.rings == 0 and len(self.elevation) == 2),
            "a rosette needs no rings, and an elevation of two numbers, the least and the greatest",
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
        return (len(self.elevations), self.columns) if self.repeats else (1, self.columns)

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


@dataclass(frozen=True)
class ContactPad:
    """The contacts of one link: their wrench in the sensor's frame, and a grid of pressure.

    The grid is in the xy plane of the frame, size[0] by size[1], centred at its origin. Without a
    `cell` there is no grid.
    """

    size: tuple[float, ...] = (0.0, 0.0)  # [m]
    cell: float = 0.0  # [m]
    threshold: float = 1.0  # force from which on the link is in contact [N]

    def __post_init__(self):
        _require(len(self.size) == 2 and min(self.size) >= 0.0, "size needs two numbers >= 0")
        _require(self.cell >= 0.0, "cell must not be negative")
        _require(
            self.cell == 0.0 or min(self.size) > 0.0, "a grid of cells needs a size of two numbers"
        )
        _require(self.threshold > 0.0, "threshold must be positive")

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of cells along x and y."""
        if self.cell == 0.0:
            return 0, 0
        nx, ny = (max(math.ceil(length / self.cell - 1e-9), 1) for length in self.size)
        return nx, ny


@dataclass(frozen=True)
class Camera:
    """Images along x of the sensor's frame, with y to the left and z up. Pixels are square."""

    width: int = 640
    height: int = 480
    fov: float = math.pi / 3.0  # horizontal field of view [rad]
    near: float = 0.05  # nothing nearer is seen [m]
    far: float = 100.0  # nothing farther is seen [m]
    images: str = "color"  # some of IMAGES, with spaces between
    depth_encoding: str = "32FC1"  # of depth in ROS: one of DEPTH_ENCODINGS

    def __post_init__(self):
        _require(min(self.shape) > 0, "width and height must be positive")
        _require(
            self.width * self.height <= limits.CAMERA_PIXELS,
            f"{self.width} x {self.height} are over {limits.CAMERA_PIXELS} (CAMERA_PIXELS)",
        )
        _require(
            0.0 < self.fov < _WIDEST_LENS,
            f"fov: a field of view of {math.degrees(self.fov):g} degrees; a lens has more than 0 "
            f"and less than {math.degrees(_WIDEST_LENS):g}; for more take several cameras",
        )
        _require(0.0 < self.near < self.far, "far must be above near, and near above 0")
        _require(bool(self.wanted), f"images: at least one of {', '.join(IMAGES)}")
        for image in self.wanted:
            _require(image in IMAGES, unknown_name("image", image, IMAGES))
        known = self.depth_encoding in DEPTH_ENCODINGS
        _require(known, unknown_name("depth_encoding", self.depth_encoding, DEPTH_ENCODINGS))

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return self.height, self.width

    @property
    def wanted(self) -> tuple[str, ...]:
        """The images that the camera makes."""
        return tuple(self.images.split())


_KINDS = {"height_scan": HeightScan, "lidar": Lidar, "contact": ContactPad, "camera": Camera}
SAMPLED_KINDS = tuple(_KINDS)


@dataclass(frozen=True)
class SampledSensor:
    """A sensor of the robot description with a rate, a latency and noise of its own."""

    name: str
    kind: str  # one of SAMPLED_KINDS
    link: str
    body: int  # -1: the world
    R: np.ndarray  # (3, 3), the sensor's frame in the body's
    p: np.ndarray  # (3,) [m]
    pattern: HeightScan | Lidar | ContactPad | Camera
    rate: float = 0.0  # [Hz]; 0: in every step
    latency: float = 0.0  # from the end of a sample until it can be read [s]
    noise: float = 0.0  # standard deviation [m]
    dropout: float = 0.0  # part of the rays that return nothing
    seed: int = 0
    enabled: bool = True  # whether it measures from the start, or from its first reading on
    see_own: bool = False  # whether rays meet the robot's own links
    geometry: str = "collision"  # whether rays meet shapes as they collide or are drawn ("visual")
    topic: str = ""  # of its messages; "": its name
    frame: str = ""  # a link, whose frame its messages name; "": its own


_COMMON = ("rate", "latency", "enabled", "noise", "dropout", "seed", "see_own", "geometry")


def settings_of_kind(kind: str) -> tuple[str, ...]:
    """Return the names of the settings of a kind of sensor. ModelError for an unknown kind."""
    if kind not in _KINDS:
        raise ModelError(unknown_name("sensor type", kind, SAMPLED_KINDS))
    left_out = {"contact": _COMMON[3:], "camera": ("geometry",)}.get(kind, ())
    common = [key for key in _COMMON if key not in left_out]
    return (*common, *(field.name for field in fields(_KINDS[kind])))


SAMPLED_SETTINGS = tuple(
    dict.fromkeys(key for kind in SAMPLED_KINDS for key in settings_of_kind(kind))
)


def sampled_sensor(
    name: str, kind: str, link: str, body: int, placement: Placement, given: Mapping[str, Any]
) -> SampledSensor:
    """Return the sensor with the `given` settings, as values or texts.

    ModelError names the sensor, the setting and the allowed values.
    """
    try:
        known, values = settings_of_kind(kind), {}
        types = {
            field.name: field.type for field in (*fields(SampledSensor), *fields(_KINDS[kind]))
        }
        for key, value in given.items():
            _require(key in known, unknown_name("setting", key, known))
            values[key] = _value(key, str(types[key]), value)
        common = {key: values.pop(key) for key in _COMMON if key in values}
        for key in ("rate", "latency", "noise", "seed"):
            _require(common.get(key, 0) >= 0, f"{key} must not be negative")
        geometry = common.get("geometry", GEOMETRIES[0])
        _require(geometry in GEOMETRIES, unknown_name("geometry", geometry, GEOMETRIES))
        _require(0.0 <= common.get("dropout", 0.0) <= 1.0, "dropout must be from 0 to 1")
        pattern = _KINDS[kind](**values)
        n, m = (1, 1) if isinstance(pattern, Camera) else pattern.shape
        _require(
            kind == "contact" or min(n, m) > 0,
            "columns and points must be positive: it has no rays",
        )
        _require(
            n * m <= limits.SENSOR_RAYS, f"{n} x {m} are over {limits.SENSOR_RAYS} (SENSOR_RAYS)"
        )
        _require(
            not getattr(pattern, "sweep", False) or common.get("rate", 0.0) > 0.0,
            "a sweep takes 1 / rate: give it a rate",
        )
    except ModelError as error:
        raise ModelError(f"sensor {name!r}: {error}") from None
    return SampledSensor(name, kind, link, body, placement.R, placement.p, pattern, **common)


def _value(key: str, kind: str, given: Any) -> Any:
    """Return a setting in its type: a number, numbers, a whole number, a flag, a word."""
    if kind == "str":
        return str(given)
    if kind == "bool":
        flags = {"true": True, "false": False, True: True, False: False}
        _require(given in flags, f"{key}={shown_value(given)} must be true or false")
        return flags[given]
    words = given.split() if isinstance(given, str) else given
    words = words if isinstance(words, (list, tuple)) else [words]
    try:
        numbers = tuple(float(word) for word in words)
    except (TypeError, ValueError):
        raise ModelError(f"{key}={shown_value(given)}: numbers are needed") from None
    is_endless = key == "max_range" and numbers == (math.inf,)
    is_number = is_endless or all(map(math.isfinite, numbers))
    _require(is_number, f"{key}={shown_value(given)} is not finite")
    if kind.startswith("tuple"):
        return numbers
    _require(len(numbers) == 1, f"{key}={shown_value(given)}: one number is needed")
    if kind == "int":
        _require(numbers[0] == int(numbers[0]), f"{key}={shown_value(given)} must be whole")
        return int(numbers[0])
    return numbers[0]
