# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors declared for Gazebo in a URDF: <sensor> in <gazebo reference="link or joint">."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin, rotation_matrix

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
NOISE_TYPES = ("gaussian", "none")
_DIRECTIONS = ("child_to_parent", "parent_to_child")
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
}
_LIDAR = {
    "columns": ("scan/horizontal/samples", "640"),
    "min_range": ("range/min", "0"),
    "max_range": ("range/max", "10"),
}


class GazeboSensor(NamedTuple):
    """A sensor declared in <gazebo>, with the equivalent settings in <hrpsim>."""

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

    A force_torque sensor is the wrench of the child on the parent, or the opposite wrench. Its axes
    are the axes of the child or of the sensor.
    """
    kind = sensor.get("type")
    if kind == "force_torque":
        frame = _text(sensor, "force_torque/frame", "child")
        if frame not in ("child", "sensor") or _direction(sensor) not in _DIRECTIONS:
            return False
    elif kind not in _LINK_TYPES:
        return False
    return bool(_link_of(sensor))


def _direction(sensor) -> str:
    return _text(sensor, "force_torque/measure_direction", _DIRECTIONS[0])


def _link_of(sensor) -> str:
    """Return the link of a sensor, "" for none. A force_torque sensor is on the joint's child."""
    root, reference = sensor.getroottree().getroot(), sensor.getparent().get("reference")
    if sensor.get("type") != "force_torque":
        return reference if is_link(root, reference) else ""
    for joint in root.iterchildren("joint"):
        child = joint.find("child").get("link")
        if reference in (joint.get("name"), child):
            return child
    return ""


def is_link(root, name: str | None) -> bool:
    """Return whether a link of this name exists."""
    return any(link.get("name") == name for link in root.iterchildren("link"))


def _topic_of(sensor) -> str:
    """Return the topic of a sensor without its first slash, "" without a topic that ROS allows.

    A contact sensor may have the topic in <contact>.
    """
    topic = _text(sensor, "topic", "") or _text(sensor, "contact/topic", "")
    return topic.lstrip("/") if TOPIC.fullmatch(topic) else ""


def _frame_of(sensor) -> str:
    """Return the link that a sensor names as the frame of its messages, "" for none.

    <camera> has the optical frame.
    """
    names = [_text(sensor, tag, "") for tag in ("camera/" + FRAME_TAGS[0], *FRAME_TAGS[1:])]
    root = sensor.getroottree().getroot()
    return next((name for name in names if is_link(root, name)), "")


def is_its_frame(tag) -> bool:
    """Return whether a tag of a sensor, or of its camera, names the frame of its messages."""
    frame = _frame_of(next(tag.iterancestors("sensor")))
    return bool(frame) and frame == (tag.text or "").strip()


def gazebo_sensors(description: Description) -> Iterator[GazeboSensor]:
    """Yield each simulated sensor. ModelError for an invalid sensor."""
    document = description.document
    for gazebo in document.children(document.root, "gazebo"):
        for sensor in document.children(gazebo, "sensor"):
            if is_read(sensor):
                yield _sensor(document, sensor, _link_of(sensor))


def _placement(document: Document, sensor) -> Placement:
    """Return the placement of a sensor in its link by <pose> of SDF, with all joints at zero."""
    pose = sensor.find("pose")
    text = "" if pose is None else (pose.text or "").strip()
    placement = IDENTITY
    if text and pose.get("rotation_format") == "quat_xyzw":
        given = np.array(_floats(document, sensor, text, 7))
        length = float(np.linalg.norm(given[3:]))
        if length == 0.0:
            document.fail(sensor, f"<pose> {text!r}: the quaternion is zero")
        placement = Placement(rotation_matrix(given[3:] / length), given[:3])
    elif text:
        numbers = _floats(document, sensor, text, 6)
        turn = [math.radians(a) for a in numbers[3:]] if in_degrees(pose) else numbers[3:]
        placement = from_origin(numbers[:3], turn)
    frame = "" if pose is None else frame_of_pose(pose)
    if frame:
        root = sensor.getroottree().getroot()
        from_link, from_frame = (_from_root(root, link) for link in (_link_of(sensor), frame))
        placement = from_link.inverse().then(from_frame).then(placement)
    return placement


def in_degrees(pose) -> bool:
    """Return whether the angles of a <pose> are in degrees."""
    return pose.get("degrees", "false").strip().lower() in ("true", "1")


def frame_of_pose(pose) -> str:
    """Return the link relative to which a <pose> is, "" for the sensor's own or an unknown link.

    The attribute of <pose> names a link, a joint or the model itself. The frame of a joint is the
    frame of its child.
    """
    root, name = pose.getroottree().getroot(), pose.get("relative_to", "").strip()
    if is_link(root, name):
        return name
    for joint in root.iterchildren("joint"):
        if joint.get("name") == name:
            return joint.find("child").get("link")
    if name == "__model__":
        children = {joint.find("child").get("link") for joint in root.iterchildren("joint")}
        links = (link.get("name") for link in root.iterchildren("link"))
        return next(link for link in links if link not in children)
    return ""


def _from_root(root, link: str) -> Placement:
    """Return the placement of a link in the root link, with all joints at zero."""
    above = {joint.find("child").get("link"): joint for joint in root.iterchildren("joint")}
    placement = IDENTITY
    while link in above:
        origin = above[link].find("origin")
        given = (None, None) if origin is None else (origin.get("xyz"), origin.get("rpy"))
        numbers = ([float(word) for word in text.split()] if text else None for text in given)
        placement = from_origin(*numbers).then(placement)
        link = above[link].find("parent").get("link")
    return placement


def names_the_collisions(collision) -> bool:
    """Return whether the <collision> of a contact sensor is the only <collision> of its link."""
    sensor = collision.getparent().getparent()
    root, link = sensor.getroottree().getroot(), _link_of(sensor)
    element = next(e for e in root.iterchildren("link") if e.get("name") == link)
    shapes = element.findall("collision")
    if len(shapes) != 1:
        return False
    # Gazebo's names of collisions: NAME, NAME_collision, and those of links that it lumps together.
    name = re.escape(shapes[0].get("name") or link or "")
    text = (collision.text or "").strip()
    return re.fullmatch(rf"(.*__)?{name}(_collision)?(_\d+)?", text) is not None


def _sensor(document: Document, sensor, link: str) -> GazeboSensor:
    kind, placement = sensor.get("type"), _placement(document, sensor)
    if kind == "force_torque":  # at the joint; the pose turns it where <frame> says so
        turned = _text(sensor, "force_torque/frame", "child") == "sensor"
        placement = Placement(placement.R, IDENTITY.p) if turned else IDENTITY
    settings: dict[str, Any] = {"rate": _text(sensor, "update_rate", "0")}
    if kind in _QUANTITIES:
        settings["rate"] = max(_floats(document, sensor, settings["rate"], 1)[0], 0.0)
        settings |= _noise(document, sensor, kind)
        if kind == "force_torque":
            settings["reversed"] = _direction(sensor) == _DIRECTIONS[1]
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

    Gazebo draws the sign of a bias at random. hrpsim uses the declared mean.
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
            if _is_silent(sensor.find(at)) or _is_silent(sensor.find(f"{kind}/noise")):
                values = [0.0, 0.0, 0.0]
            noise.append(abs(values[0]))
            bias_mean.append(values[1])
            bias.append(abs(values[2]))
    return {"noise": tuple(noise), "bias": tuple(bias), "bias_mean": tuple(bias_mean)}


def _camera(sensor) -> dict[str, Any]:
    settings: dict[str, Any] = {"images": CAMERA_TYPES[sensor.get("type")], "see_own": True}
    for key, (path, default) in _CAMERA.items():
        settings[key] = _text(sensor, f"camera/{path}", default)
    settings["noise"] = _deviation(sensor.find("camera/noise"))
    return settings


def _lidar(document: Document, sensor) -> dict[str, Any]:
    scan = "ray" if sensor.find("ray") is not None else "lidar"
    settings: dict[str, Any] = {}
    for key, (path, default) in _LIDAR.items():
        settings[key] = _text(sensor, f"{scan}/{path}", default)
    settings["noise"] = _deviation(sensor.find(f"{scan}/noise"))
    for key, side in (("azimuth", "horizontal"), ("elevation", "vertical")):
        angles = [_text(sensor, f"{scan}/scan/{side}/{end}_angle", "0") for end in ("min", "max")]
        settings[key] = " ".join(angles)
    rings = _floats(document, sensor, _text(sensor, f"{scan}/scan/vertical/samples", "1"), 1)[0]
    if rings > 1:
        settings["rings"] = rings
    else:
        settings["elevation"] = settings["elevation"].split()[0]
    return settings


def _deviation(noise) -> str:
    return "0" if noise is None or _is_silent(noise) else _text(noise, "stddev", "0")


def _is_silent(noise) -> bool:
    """Return whether a <noise> declares no noise, or a kind that is not simulated."""
    return noise is not None and noise_type(noise) != NOISE_TYPES[0]


def noise_type(noise) -> str:
    """Return the type of a <noise>, an attribute or an element. The default is gaussian."""
    return (noise.get("type") or _text(noise, "type", NOISE_TYPES[0])).strip()


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
