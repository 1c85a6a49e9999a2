# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""List elements and values of a URDF that hrpsim does not read, or that have no effect.

Labels without meaning for motion or measurement are not listed: names, `role`, `visualize`,
`always_on`, `hardwareInterface`, and the <hardware> of a controller manager that uses topics. The
reader of <hrpsim> checks the contents.
"""

from __future__ import annotations

from hrpsim.model.readers.gazebo.gazebo_sensors import (
    FRAME_TAGS,
    frame_of_pose,
    is_its_frame,
    is_read,
    names_the_collisions,
)
from hrpsim.model.readers.gazebo.part_notes import (
    SENSOR_CHECKS,
    SENSOR_HARMLESS,
    SENSOR_PARTS,
    SENSOR_WHY_VALUES,
    KnownParts,
)
from hrpsim.model.readers.robot_data import Notes
from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.readers.urdf.xacro_text import NAMESPACES
from hrpsim.model.ros2_control import COMMANDS, STATES, is_initial_value, speaks_by_topics
from hrpsim.model.transmission import KINDS, kind_of

# Attributes and children that are read, by element, or by an element within another.
_READ = {
    "robot": ("name version", "link joint material gazebo hrpsim ros2_control transmission"),
    "gazebo": ("reference", ""),
    **SENSOR_PARTS,
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
_WHY_WITHIN = {
    "command_interface/param": "not read: <limit> bounds the joint, which starts at its initial"
    " state",
    "state_interface/param": "not read: the initial_value of a position is",
}
_WHY_VALUES = {  # of elements that are read
    **SENSOR_WHY_VALUES,
    "hardware": _WHY["hardware"],
    "command_interface": f"not commanded: {', '.join(COMMANDS)} are",
    "state_interface": f"not published: {', '.join(STATES)} are",
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
    notes = Notes()
    _KNOWN.note(document.root, notes)
    return tuple(notes.lines())


def _odd_values(element) -> dict[str, str]:
    """Return the attributes of a <pose> that are read but have an unsupported value, and why."""
    if element.tag != "pose":
        return {}
    odd = {
        "degrees": element.get("degrees", "false").strip().lower() not in _FLAGS,
        "relative_to": bool(element.get("relative_to", "").strip()) and not frame_of_pose(element),
        "rotation_format": element.get("rotation_format", _FORMATS[0]) not in _FORMATS,
    }
    return {key: _WHY_ODD[key] for key, is_odd in odd.items() if is_odd}


_KNOWN = KnownParts(
    read=_READ,
    checks={
        **SENSOR_CHECKS,
        "gazebo/sensor": lambda sensor, _: is_read(sensor),
        **dict.fromkeys(FRAME_TAGS, lambda tag, _: is_its_frame(tag)),
        "contact/collision": lambda collision, _: names_the_collisions(collision),
        "ros2_control/hardware": lambda hardware, _: speaks_by_topics(hardware),
        "command_interface": lambda interface, _: interface.get("name") in COMMANDS,
        "state_interface": lambda interface, _: interface.get("name") in STATES,
        "state_interface/param": lambda parameter, _: is_initial_value(parameter),
    },
    harmless=SENSOR_HARMLESS,
    why=_WHY,
    why_values=_WHY_VALUES,
    why_within=_WHY_WITHIN,
    foreign=tuple(f"{{{uri}}}" for uri in NAMESPACES),  # calls of macros are listed elsewhere
    is_entered=lambda element: element.tag != "transmission" or kind_of(element) in KINDS,
    odd_values=_odd_values,
)
