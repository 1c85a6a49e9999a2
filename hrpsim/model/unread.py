# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List elements and attributes of a URDF that hrpsim does not simulate, or does not know."""

from __future__ import annotations

from hrpsim.errors import suggestion
from hrpsim.model.formats.robot_data import Notes
from hrpsim.model.gazebo_sensors import FRAME_TAGS, TOPIC, is_link, is_read
from hrpsim.model.urdf.document import Document, tag_of
from hrpsim.model.urdf.xacro_text import NAMESPACES

_NOISE = "type stddev bias_mean bias_stddev"
# Attributes and children that are read, by element, or by an element within another.
_READ = {
    "robot": ("name version", "link joint material gazebo hrpsim ros2_control transmission"),
    "gazebo": ("reference", ""),
    "sensor": (
        "name type",
        "pose update_rate always_on visualize topic gz_frame_id ignition_frame_id ray lidar camera"
        " imu force_torque contact",
    ),
    **dict.fromkeys(("ray", "lidar"), ("", "scan range noise")),
    "camera": ("name", "horizontal_fov image clip noise optical_frame_id"),
    "image": ("", "width height"),
    "clip": ("", "near far"),
    "scan": ("", "horizontal vertical"),
    **dict.fromkeys(("horizontal", "vertical"), ("", "samples min_angle max_angle")),
    "range": ("", "min max"),
    "noise": ("type", "type stddev"),
    "imu": ("", "angular_velocity linear_acceleration noise"),
    "force_torque": ("", "frame measure_direction force torque noise"),
    **dict.fromkeys(
        ("angular_velocity", "linear_acceleration", "force", "torque"), ("", "x y z noise")
    ),
    **dict.fromkeys("xyz", ("", "noise")),
    **dict.fromkeys(("x/noise", "y/noise", "z/noise"), ("type", _NOISE)),
    **dict.fromkeys(("imu/noise", "force_torque/noise"), ("", "type rate accel force torque")),
    **dict.fromkeys(("rate", "accel", "noise/force", "noise/torque"), ("", _NOISE)),
    "contact": ("", "collision topic"),
    "link": ("name", "inertial visual collision"),
    "inertial": ("", "origin mass inertia"),
    "mass": ("value", ""),
    "inertia": ("ixx ixy ixz iyy iyz izz", ""),
    "origin": ("xyz rpy", ""),
    "visual": ("name", "origin geometry material"),
    "collision": ("name", "origin geometry"),
    "geometry": ("", "box cylinder sphere capsule mesh"),
    "box": ("size", ""),
    "cylinder": ("radius length", ""),
    "sphere": ("radius", ""),
    "capsule": ("radius length", ""),
    "mesh": ("filename scale", ""),
    "material": ("name", "color"),
    "color": ("rgba", ""),
    "joint": ("name type", "origin parent child axis limit dynamics mimic"),
    "parent": ("link", ""),
    "child": ("link", ""),
    "axis": ("xyz", ""),
    "limit": ("lower upper effort velocity", ""),
    "dynamics": ("damping friction", ""),
    "mimic": ("joint multiplier offset", ""),
}
_XACRO = tuple(f"{{{uri}}}" for uri in NAMESPACES)  # calls of macros are listed elsewhere
_WITHOUT_EFFECT = {
    **dict.fromkeys(("mean", "bias_mean", "bias_stddev"), ("0", "0.0")),
    "topic": ("__default_topic__",),
    "resolution": ("1", "1.0"),
    "format": ("R8G8B8", "R_FLOAT32"),
}  # values of elements that are not read
_FRICTION = "friction is of pairs of materials (<material> of <hrpsim>)"
_WHY = {
    **dict.fromkeys(("mu", "mu1", "mu2"), _FRICTION),
    **dict.fromkeys(("acceleration", "deceleration", "jerk"), "not limited"),
    **dict.fromkeys(("calibration", "safety_controller"), "not simulated"),
    "loop_joint": "not simulated: <connection> of <hrpsim> closes a loop",
    "sensor": "not simulated: <sensor> of <hrpsim> is",
    "plugin": "not run",
    **dict.fromkeys(("material", "texture"), "not drawn"),
}
_WHY_VALUES = {  # of elements that are read
    "topic": "not a name that ROS allows: the topic is the sensor's name",
    **dict.fromkeys(FRAME_TAGS, "not a link: the frame is the sensor's"),
}


def unread_parts(document: Document) -> tuple[str, ...]:
    """Return "part (count: names): why" for all that is in a URDF and has no effect.

    The contents of <hrpsim> are checked elsewhere, those of <ros2_control> are the hardware's.
    """
    notes, pending = Notes(), [(document.root, "")]
    while pending:
        element, owner = pending.pop()
        parent = element.getparent()
        within = "" if parent is None else f"{parent.tag}/{element.tag}"
        known = _READ.get(within) or _READ[element.tag]
        attributes, children = (names.split() for names in known)
        owner = element.get("name") or element.get("reference") or owner
        for key in element.attrib:
            if key not in attributes and not key.startswith("{"):
                notes.add(f"attribute {key} of <{element.tag}>", _why(key, attributes), owner)
        for child in document.children(element):
            if _has_effect(child, children) and not child.tag.startswith(_XACRO):
                tag = tag_of(child)
                name = child.get("name", owner)
                notes.add(f"<{tag}> of <{element.tag}>", _why(tag, children), name)
        read = [child for child in document.children(element) if _is_read(child, children)]
        pending += [(child, owner) for child in reversed(read) if child.tag in _READ]
    return tuple(notes.lines())


def _is_read(child, children: list[str]) -> bool:
    text = (child.text or "").strip()
    if child.tag == "sensor":
        return is_read(child)
    if child.tag == "topic" and not TOPIC.fullmatch(text):
        return False
    if child.tag in FRAME_TAGS and not is_link(child.getroottree().getroot(), text):
        return False
    return child.tag in children


def _has_effect(child, children: list[str]) -> bool:
    """Return whether a child would do something, if it were read."""
    text = (child.text or "").strip()
    harmless = text in _WITHOUT_EFFECT.get(child.tag, ())
    return not _is_read(child, children) and not harmless


def _why(name: str, known: list[str]) -> str:
    why = (_WHY_VALUES if name in known else _WHY).get(name)
    return why or f"not read{suggestion(name, known)}"
