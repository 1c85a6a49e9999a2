# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Lidars and cameras that a URDF declares for Gazebo: <sensor> in <gazebo reference="link">."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin
from hrpsim.model.urdf.description import Description
from hrpsim.model.urdf.document import Document

RAY_TYPES = ("ray", "gpu_ray", "lidar", "gpu_lidar")
CAMERA_TYPES = {
    "camera": "color",
    "depth": "depth",
    "depth_camera": "depth",
    "rgbd_camera": "color depth",
    "segmentation": "segmentation",
    "segmentation_camera": "segmentation",
}

# Settings by their paths in <sensor>, and what they are if they are missing.
_CAMERA = {
    "fov": ("horizontal_fov", "1.047"),
    "width": ("image/width", "320"),
    "height": ("image/height", "240"),
    "near": ("clip/near", "0.1"),
    "far": ("clip/far", "100"),
    "noise": ("noise/stddev", "0"),
}
_LIDAR = {
    "columns": ("scan/horizontal/samples", "640"),
    "min_range": ("range/min", "0"),
    "max_range": ("range/max", "10"),
    "noise": ("noise/stddev", "0"),
}


def is_read(sensor) -> bool:
    """Return whether a <sensor> of <gazebo> is simulated: a lidar or camera of a link."""
    return sensor.get("type") in (*RAY_TYPES, *CAMERA_TYPES) and bool(
        sensor.getparent().get("reference")
    )


def gazebo_sensors(
    description: Description,
) -> Iterator[tuple[str, str, str, Placement, dict[str, Any], Any]]:
    """Yield (name, kind, link, placement, settings, element) of each; ModelError for a bad one."""
    document = description.document
    for gazebo in document.children(document.root, "gazebo"):
        link = gazebo.get("reference", "")
        for sensor in document.children(gazebo, "sensor"):
            if not is_read(sensor) or link not in description.links:
                continue
            pose = _text(sensor, "pose", "")
            placement = IDENTITY
            if pose:
                numbers = _floats(document, sensor, pose, 6)
                placement = from_origin(numbers[:3], numbers[3:])
            kind, settings = "lidar", _lidar
            if sensor.get("type") in CAMERA_TYPES:
                kind, settings = "camera", _camera
            name, given = document.text(sensor, "name"), settings(document, sensor)
            given["rate"] = _text(sensor, "update_rate", "0")
            given["enabled"] = False  # it costs nothing where nobody reads it
            yield name, kind, link, placement, given, sensor


def _camera(document: Document, sensor) -> dict[str, Any]:
    settings: dict[str, Any] = {"images": CAMERA_TYPES[sensor.get("type")], "see_own": True}
    for key, (path, default) in _CAMERA.items():
        settings[key] = _text(sensor, f"camera/{path}", default)
    return settings


def _lidar(document: Document, sensor) -> dict[str, Any]:
    scan = "ray" if sensor.find("ray") is not None else "lidar"
    settings: dict[str, Any] = {}
    for key, (path, default) in _LIDAR.items():
        settings[key] = _text(sensor, f"{scan}/{path}", default)
    for key, side in (("azimuth", "horizontal"), ("elevation", "vertical")):
        angles = [_text(sensor, f"{scan}/scan/{side}/{end}_angle", "0") for end in ("min", "max")]
        settings[key] = " ".join(angles)
    rings = _floats(document, sensor, _text(sensor, f"{scan}/scan/vertical/samples", "1"), 1)[0]
    if rings > 1:
        settings["rings"] = rings
    else:
        settings["elevation"] = settings["elevation"].split()[0]
    return settings


def _text(element, path: str, default: str) -> str:
    return (element.findtext(path) or "").strip() or default


def _floats(document: Document, element, text: str, count: int) -> list[float]:
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count:
        document.fail(element, f"{text!r}: {count} numbers needed")
    return numbers
