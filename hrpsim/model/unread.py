# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List elements and values of a URDF that hrpsim does not read, or that have no effect.

Labels without meaning for motion or measurement are not listed: names, `role`, `visualize`,
`always_on`, `hardwareInterface`, and the <hardware> of a controller manager that uses topics. The
contents of <hrpsim> are checked by their reader.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hrpsim.common.errors import suggestion
from hrpsim.model.readers.gazebo.gazebo_sensors import (
    FRAME_TAGS,
    NOISE_TYPES,
    TOPIC,
    frame_of_pose,
    is_its_frame,
    is_read,
    names_the_collisions,
    noise_type,
)
from hrpsim.model.readers.robot_data import Notes
from hrpsim.model.readers.urdf.document import Document, tag_of
from hrpsim.model.readers.urdf.xacro_text import NAMESPACES
from hrpsim.model.ros2_control import COMMANDS, STATES, is_initial_value, speaks_by_topics
from hrpsim.model.transmission import KINDS, kind_of

_NOISE = "type stddev bias_mean bias_stddev"
# Attributes and children that are read, by element, or by an element within another.
_READ = {
    "robot": ("name version", "link joint material gazebo hrpsim ros2_control transmission"),
    "gazebo": ("reference", ""),
    "pose": ("degrees relative_to rotation_format", ""),
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
    "contact/collision": ("", ""),
    "ros2_control": ("name type", "joint hardware transmission"),
    "ros2_control/joint": ("name", "command_interface state_interface"),
    "command_interface": ("name", ""),
    "state_interface": ("name", "param"),
    "transmission": ("name type", "plugin type joint actuator"),
    "transmission/joint": (
        "name role",
        "role hardwareInterface offset mechanical_reduction mechanicalReduction",
    ),
    "transmission/actuator": (
        "name role",
        "role hardwareInterface mechanical_reduction mechanicalReduction",
    ),
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
    "hardware": "not run: hrpsim is the hardware",
    **dict.fromkeys(("material", "texture"), "not drawn"),
}
_PARAMETERS = {
    "command_interface": "not read: <limit> bounds the joint, which starts at its initial state",
    "state_interface": "not read: the initial_value of a position is",
}  # by what has the <param>
_WHY_VALUES = {  # of elements that are read
    "noise": f"of a type that is not simulated: {', '.join(NOISE_TYPES)} are",
    "hardware": _WHY["hardware"],
    "collision": "all contacts of the link are felt",
    "command_interface": f"not commanded: {', '.join(COMMANDS)} are",
    "state_interface": f"not published: {', '.join(STATES)} are",
    "topic": "not a name that ROS allows: the topic is the sensor's name",
    **dict.fromkeys(FRAME_TAGS, "not a link, or not the first: the frame is that, or the sensor's"),
}


_FLAGS = ("true", "false", "1", "0")
_FORMATS = ("euler_rpy", "quat_xyzw")
_WHY_ODD = {
    "degrees": "neither true nor false: the angles are radians",
    "relative_to": "neither a link nor a joint: the pose is in the sensor's link",
    "rotation_format": f"read as {_FORMATS[0]}; {', '.join(_FORMATS)} are known",
}


def unread_parts(document: Document) -> tuple[str, ...]:
    """Return "part (count: names): why" for all parts of a URDF without effect.

    The contents of <hrpsim> are checked elsewhere. The contents of <ros2_control> are for the
    hardware.
    """
    notes, pending = Notes(), [(document.root, "")]
    while pending:
        element, owner = pending.pop()
        parent = element.getparent()
        within = "" if parent is None else f"{parent.tag}/{element.tag}"
        known = _READ.get(within) or _READ[element.tag]
        attributes, children = (names.split() for names in known)
        owner = element.get("name") or element.get("reference") or owner
        for key in _odd_values(element):
            notes.add(f"{key}={element.get(key)!r} of <{element.tag}>", _WHY_ODD[key], owner)
        for key in element.attrib:
            if key not in attributes and not key.startswith("{"):
                notes.add(f"attribute {key} of <{element.tag}>", _why(key, attributes), owner)
        for child in document.children(element):
            if _has_effect(child, children) and not child.tag.startswith(_XACRO):
                tag = tag_of(child)
                name = child.get("name", owner)
                why = _PARAMETERS.get(element.tag) if tag == "param" else None
                notes.add(f"<{tag}> of <{element.tag}>", why or _why(tag, children), name)
        read = [child for child in document.children(element) if _is_read(child, children)]
        read = [c for c in read if c.tag != "transmission" or kind_of(c) in KINDS]
        pending += [(child, owner) for child in reversed(read) if child.tag in _READ]
    return tuple(notes.lines())


def _odd_values(element) -> list[str]:
    """Return the attributes of a <pose> that are read but have an unsupported value."""
    if element.tag != "pose":
        return []
    odd = {
        "degrees": element.get("degrees", "false").strip().lower() not in _FLAGS,
        "relative_to": bool(element.get("relative_to", "").strip()) and not frame_of_pose(element),
        "rotation_format": element.get("rotation_format", _FORMATS[0]) not in _FORMATS,
    }
    return [key for key, is_odd in odd.items() if is_odd]


def _is_read(child, children: list[str]) -> bool:
    """Return whether a child is read and has an effect with its present value."""
    text = (child.text or "").strip()
    check = _CHECKS.get(f"{child.getparent().tag}/{child.tag}") or _CHECKS.get(child.tag)
    if child.tag not in children and child.tag != "sensor":
        return False
    return check is None or check(child, text)


# What an element that is read must be to have an effect, by its name, or that of its parent too.
_CHECKS: dict[str, Callable[[Any, str], bool]] = {
    "gazebo/sensor": lambda sensor, _: is_read(sensor),
    "sensor/topic": lambda _, text: TOPIC.fullmatch(text) is not None,
    "contact/topic": lambda _, text: TOPIC.fullmatch(text) is not None,
    **dict.fromkeys(FRAME_TAGS, lambda tag, _: is_its_frame(tag)),
    "noise": lambda noise, _: noise_type(noise) in NOISE_TYPES,
    "contact/collision": lambda collision, _: names_the_collisions(collision),
    "ros2_control/hardware": lambda hardware, _: speaks_by_topics(hardware),
    "command_interface": lambda interface, _: interface.get("name") in COMMANDS,
    "state_interface": lambda interface, _: interface.get("name") in STATES,
    "state_interface/param": lambda parameter, _: is_initial_value(parameter),
}


def _has_effect(child, children: list[str]) -> bool:
    """Return whether a child would have an effect if it were read."""
    text = (child.text or "").strip()
    harmless = text in _WITHOUT_EFFECT.get(child.tag, ())
    return not _is_read(child, children) and not harmless


def _why(name: str, known: list[str]) -> str:
    why = (_WHY_VALUES if name in known else _WHY).get(name)
    return why or f"not read{suggestion(name, known)}"
