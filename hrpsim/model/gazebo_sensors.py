# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors that a URDF declares for Gazebo: <sensor> in <gazebo reference="link or joint">."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

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
_LINK_TYPES = ("imu", "contact", *RAY_TYPES, *CAMERA_TYPES)
FRAME_TAGS = ("optical_frame_id", "gz_frame_id", "ignition_frame_id")
TOPIC = re.compile(r"(?!.*__)/?[A-Za-z]\w*(/[A-Za-z_]\w*)*", re.ASCII)  # what ROS allows
_AXES = ("x", "y", "z")
# The names of the first and the last three values in <imu> and <force_torque>, and of SDF 1.4.
_QUANTITIES = {
    "imu": ("angular_velocity", "linear_acceleration", "noise/rate", "noise/accel"),
    "force_torque": ("force", "torque", "noise/force", "noise/torque"),
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


class GazeboSensor(NamedTuple):
    """A sensor as <gazebo> declares it, with the settings that it has in <hrpsim>."""

    name: str
    kind: str
    link: str
    placement: Placement
    settings: dict[str, Any]
    element: Any
    topic: str  # of its messages; "": its name
    frame: str  # a link, whose frame its messages name; "": its own


def is_read(sensor) -> bool:
    """Return whether a <sensor> of <gazebo> is simulated.

    That of a force_torque sensor is the wrench of the child on the parent, along the child's axes
    or the sensor's.
    """
    kind = sensor.get("type")
    if kind == "force_torque":
        frame = _text(sensor, "force_torque/frame", "child")
        direction = _text(sensor, "force_torque/measure_direction", "child_to_parent")
        if frame not in ("child", "sensor") or direction != "child_to_parent":
            return False
    elif kind not in _LINK_TYPES:
        return False
    return bool(_link_of(sensor))


def _link_of(sensor) -> str:
    """Return the link of a sensor, of a force_torque sensor the joint's child; "" for none."""
    root, reference = sensor.getroottree().getroot(), sensor.getparent().get("reference")
    if sensor.get("type") != "force_torque":
        return reference if is_link(root, reference) else ""
    for joint in root.iterchildren("joint"):
        child = joint.find("child").get("link")
        if reference in (joint.get("name"), child):
            return child
    return ""


def is_link(root, name: str | None) -> bool:
    """Return whether there is a link of a name."""
    return any(link.get("name") == name for link in root.iterchildren("link"))


def _topic_of(sensor) -> str:
    """Return the topic that a sensor names, without its first slash; "" for none that ROS allows.

    A contact sensor may have it in <contact>.
    """
    topic = _text(sensor, "topic", "") or _text(sensor, "contact/topic", "")
    return topic.lstrip("/") if TOPIC.fullmatch(topic) else ""


def _frame_of(sensor) -> str:
    """Return the link that a sensor names as the frame of its messages; "" for none.

    The optical frame is that of <camera>.
    """
    names = [_text(sensor, tag, "") for tag in ("camera/" + FRAME_TAGS[0], *FRAME_TAGS[1:])]
    root = sensor.getroottree().getroot()
    return next((name for name in names if is_link(root, name)), "")


def gazebo_sensors(description: Description) -> Iterator[GazeboSensor]:
    """Yield each sensor that is simulated; ModelError for a bad one."""
    document = description.document
    for gazebo in document.children(document.root, "gazebo"):
        for sensor in document.children(gazebo, "sensor"):
            if is_read(sensor):
                yield _sensor(document, sensor, _link_of(sensor))


def _sensor(document: Document, sensor, link: str) -> GazeboSensor:
    kind, placement, pose = sensor.get("type"), IDENTITY, _text(sensor, "pose", "")
    if pose:
        numbers = _floats(document, sensor, pose, 6)
        placement = from_origin(numbers[:3], numbers[3:])
    if kind == "force_torque":  # at the joint; the pose turns it where <frame> says so
        turned = _text(sensor, "force_torque/frame", "child") == "sensor"
        placement = Placement(placement.R, IDENTITY.p) if turned else IDENTITY
    settings: dict[str, Any] = {"rate": _text(sensor, "update_rate", "0")}
    if kind in _QUANTITIES:
        settings["rate"] = max(_floats(document, sensor, settings["rate"], 1)[0], 0.0)
        settings |= _noise(document, sensor, kind)
    else:
        settings["enabled"] = False  # it costs nothing where nobody reads it
    if kind in RAY_TYPES:
        kind, settings = "lidar", settings | _lidar(document, sensor)
    elif kind in CAMERA_TYPES:
        kind, settings = "camera", settings | _camera(sensor)
    name = document.text(sensor, "name")
    topic, frame = _topic_of(sensor), _frame_of(sensor)
    return GazeboSensor(name, kind, link, placement, settings, sensor, topic, frame)


def _noise(document: Document, sensor, kind: str) -> dict[str, tuple[float, ...]]:
    """Return deviations of the noise, and deviations and means of the bias, of the six values.

    Gazebo draws the sign of a bias at random. Here a bias has the mean that is declared.
    """
    noise, bias, bias_mean = [], [], []
    first, last, *olds = _QUANTITIES[kind]
    for new, old in zip((first, last), olds):
        for axis in _AXES:
            at = f"{kind}/{new}/{axis}/noise"
            if sensor.find(at) is None:
                at = f"{kind}/{old}"
            values = [
                _floats(document, sensor, _text(sensor, f"{at}/{tag}", "0"), 1)[0]
                for tag in ("stddev", "bias_mean", "bias_stddev")
            ]
            noise.append(abs(values[0]))
            bias_mean.append(values[1])
            bias.append(abs(values[2]))
    return {"noise": tuple(noise), "bias": tuple(bias), "bias_mean": tuple(bias_mean)}


def _camera(sensor) -> dict[str, Any]:
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
    if len(numbers) != count or not all(map(math.isfinite, numbers)):
        document.fail(element, f"{text!r}: {count} numbers needed")
    return numbers
