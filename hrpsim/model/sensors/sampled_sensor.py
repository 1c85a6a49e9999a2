# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors with their own sampling rate: height scans, lidars, cameras, contact sensors.

docs/howto/sensors.md introduces them. docs/reference/robot_descriptions.md lists every setting.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hrpsim.common.errors import ModelError, require_name, shown_value, unknown_name
from hrpsim.model.sensors.kinds import SAMPLED_KINDS, settings_of_kind
from hrpsim.model.sensors.ray_pattern import GEOMETRIES
from hrpsim.model.sensors.sensor_kind import COMMON, SampledSensorKind, require
from hrpsim.model.shapes.placement import Placement


@dataclass(frozen=True)
class SampledSensor:
    """A sensor of the robot description with its own sampling rate, latency and noise."""

    name: str
    kind: str  # one of SAMPLED_KINDS
    link: str
    body: int  # index of the body, -1 for the world
    R: np.ndarray  # (3, 3), the sensor's frame in the body's
    p: np.ndarray  # (3,) [m]
    pattern: SampledSensorKind  # settings of the kind
    rate: float = 0.0  # [Hz]; 0: in every step
    latency: float = 0.0  # time from the end of a sample until it can be read [s]
    noise: float = 0.0  # standard deviation [m]
    dropout: float = 0.0  # fraction of the rays that return nothing
    seed: int = 0
    enabled: bool = True  # whether it measures from the start. False: from the first reading on
    see_own: bool = False  # whether rays meet the robot's own links
    geometry: str = "collision"  # shapes that rays meet: "collision" or "visual"
    topic: str = ""  # topic of the messages, "" for the sensor's name
    frame: str = ""  # link whose frame the messages name, "" for the sensor's frame


def sampled_sensor(
    name: str, kind: str, link: str, body: int, placement: Placement, given: Mapping[str, Any]
) -> SampledSensor:
    """Return the sensor with the `given` settings, as values or texts.

    ModelError names the sensor, the setting and the allowed values.
    """
    try:
        require_name("sensor type", kind, SAMPLED_KINDS, ModelError)
        known, values = settings_of_kind(kind), {}
        own = SAMPLED_KINDS[kind]
        types = {field.name: field.type for field in (*fields(SampledSensor), *fields(own))}
        for key, value in given.items():
            require(key in known, unknown_name("setting", key, known))
            values[key] = _value(key, str(types[key]), value)
        common = {key: values.pop(key) for key in COMMON if key in values}
        for key in ("rate", "latency", "noise", "seed"):
            require(common.get(key, 0) >= 0, f"{key} must not be negative")
        geometry = common.get("geometry", GEOMETRIES[0])
        require(geometry in GEOMETRIES, unknown_name("geometry", geometry, GEOMETRIES))
        require(0.0 <= common.get("dropout", 0.0) <= 1.0, "dropout must be from 0 to 1")
        pattern = own(**values)
        pattern.check(common.get("rate", 0.0))
    except ModelError as error:
        raise ModelError(f"sensor {name!r}: {error}") from None
    return SampledSensor(name, kind, link, body, placement.R, placement.p, pattern, **common)


_FLAGS = ("true", True, "false", False)


def _numbers(key: str, given: Any) -> tuple[float, ...]:
    """Return the numbers of a text, a list or one number."""
    words = given.split() if isinstance(given, str) else given
    try:
        return tuple(map(float, words if isinstance(words, (list, tuple)) else [words]))
    except (TypeError, ValueError):
        raise ModelError(f"{key} must be numbers, got {shown_value(given)}") from None


def _value(key: str, kind: str, given: Any) -> Any:
    """Convert a setting to its type: a number, numbers, an integer, a flag or a text."""
    if kind == "str":
        require(isinstance(given, str), f"{key}={shown_value(given)} must be a word")
        return given
    if kind == "bool":
        require(given in _FLAGS, f"{key}={shown_value(given)} must be true or false")
        return given in _FLAGS[:2]
    numbers = _numbers(key, given)
    is_endless = key == "max_range" and numbers == (math.inf,)
    is_number = is_endless or all(map(math.isfinite, numbers))
    require(is_number, f"{key}={shown_value(given)} must be finite")
    if kind.startswith("tuple"):
        return numbers
    require(len(numbers) == 1, f"{key}={shown_value(given)} must be one number")
    if kind == "int":
        require(numbers[0] == int(numbers[0]), f"{key}={shown_value(given)} must be a whole number")
        return int(numbers[0])
    return numbers[0]
