# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read URDF text as a `RobotData`, with notes on odd elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from lxml import etree

from hrpsim.model.body_inertia import BodyInertia
from hrpsim.model.extension import read_extension
from hrpsim.model.readers.gazebo.gazebo_sensors import in_degrees
from hrpsim.model.readers.plausibility import wide_turn
from hrpsim.model.readers.robot_data import (
    JointData,
    LinkData,
    MeshFile,
    RobotData,
    ShapeData,
    counted,
)
from hrpsim.model.readers.urdf.description import INERTIA, Description, read_description, shape_of
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES
from hrpsim.model.readers.urdf.xacro_text import NAMESPACES, UrdfText
from hrpsim.model.readers.urdf_writer import read_urdf
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin
from hrpsim.model.unread import unread_parts


def robot_of_urdf(urdf: UrdfText) -> tuple[RobotData, list[str]]:
    """Return the robot of URDF text, and notes on odd elements.

    ModelError names file, line, element and cause of an invalid element.
    """
    document = read_urdf(urdf.text, urdf.label, urdf.has_lines)
    description = read_description(document)
    robot = RobotData(description.name, description.root, urdf.label, document)
    colors = _material_colors(document.root)
    for name, element in description.links.items():
        robot.links[name] = _link(name, element, colors)
    for name, element in description.joints.items():
        robot.joints[name] = _joint(name, element)
    read_extension(description, robot)
    robot.notes = [*unread_parts(document), *robot.notes]
    return robot, _readings(description)


def _link(name: str, element, colors: dict[str, tuple[float, ...]]) -> LinkData:
    """Return the link of an element."""
    data, inertial = LinkData(name, element=element), element.find("inertial")
    if inertial is not None:
        value = {key: float(inertial.find("inertia").get(key)) for key in INERTIA}
        moments = np.array([[value[f"i{min(a, b)}{max(a, b)}"] for b in "xyz"] for a in "xyz"])
        at_com = BodyInertia(float(inertial.find("mass").get("value")), IDENTITY.p, moments)
        data.inertial = at_com.seen_from(_origin_of(inertial))
    data.visuals = [_shape(visual, _color(visual, colors)) for visual in element.findall("visual")]
    data.collisions = [_shape(collision) for collision in element.findall("collision")]
    return data


def _shape(element, color: tuple[float, ...] | None = None) -> ShapeData:
    """Return the shape of a <visual> or <collision>."""
    shape = shape_of(element)
    size = [_numbers(shape.get(key)) or () for key in ("size", "radius", "length")]
    mesh = None
    if shape.tag == "mesh":
        x, y, z = _numbers(shape.get("scale")) or (1.0, 1.0, 1.0)
        mesh = MeshFile(shape.get("filename"), (x, y, z))
    return ShapeData(
        *(shape.tag, sum(size, ()), _origin_of(element), mesh, color),
        name=element.get("name", ""),
        element=shape,
    )


def _numbers(text: str | None) -> tuple[float, ...] | None:
    return None if text is None else tuple(float(word) for word in text.split())


def _material_colors(root: etree._Element) -> dict[str, tuple[float, ...]]:
    """Return the colours of a description's materials by name."""
    return {
        material.get("name"): _numbers(material.find("color").get("rgba")) or ()
        for material in root.iter("material")
        if material.find("color") is not None
    }


def _color(visual, colors: dict[str, tuple[float, ...]]) -> tuple[float, ...] | None:
    material = visual.find("material")
    if material is None:
        return None
    if material.find("color") is not None:  # names, also "", may stand for several
        return _numbers(material.find("color").get("rgba"))
    return colors.get(material.get("name"))


def _joint(name: str, element) -> JointData:
    """Return the joint of an element."""
    joint_type, axis = JOINT_TYPES[element.get("type")], element.find("axis")
    parent, child = (element.find(end).get("link") for end in ("parent", "child"))
    data = JointData(name, joint_type.name, parent, child, _origin_of(element), element=element)
    if axis is not None and joint_type.needs_axis:
        x, y, z = map(float, axis.get("xyz").split())
        data.axis = (x, y, z)
    if (dynamics := element.find("dynamics")) is not None:
        data.damping, data.friction = (_number(dynamics, key) for key in ("damping", "friction"))
    if (limit := element.find("limit")) is not None and joint_type.is_single:
        data.velocity, data.effort = (_number(limit, key) for key in ("velocity", "effort"))
        if joint_type.has_range:
            data.lower, data.upper = (_number(limit, key) for key in ("lower", "upper"))
    if (mimic := element.find("mimic")) is not None:
        ratio, offset = float(mimic.get("multiplier", 1.0)), _number(mimic, "offset")
        data.mimic = (mimic.get("joint"), ratio, offset)
    return data


def _number(element, key: str) -> float:
    return float(element.get(key, 0.0))


def _origin_of(owner) -> Placement:
    """Return the placement of the <origin> of an element."""
    origin = owner.find("origin")
    if origin is None:
        return IDENTITY
    return from_origin(*(_numbers(origin.get(key)) for key in ("xyz", "rpy")))


def _readings(description: Description) -> list[str]:
    """Return the notes. Each has the place of the first element of its kind."""
    root = description.document.root
    colors = [(_material(color), color) for color in root.iter("color") if _odd(color)]
    calls = [(_macro(call), call) for call in _calls(description)]
    notes, turns = [], _wide_turns(root)
    if turns:
        listed = ", ".join(turns[element] for element in list(turns)[:3])
        notes.append(f"{description.document.where(next(iter(turns)))}: {listed} ({len(turns)})")
    for what, found in (
        ("parts of a colour beyond 0 to 1 are drawn as 0 or 1", colors),
        ("calls of macros that this file does not have are passed over", calls),
    ):
        if found:
            where = description.document.where(found[0][1])
            notes.append(f"{where}: {what} {counted(name for name, _ in found)}")
    return notes


def _wide_turns(root: etree._Element) -> dict[etree._Element, str]:
    """Return a text for each <origin> and <pose> with an angle of over a turn, by element."""
    angles = {one: ("rpy", _numbers(one.get("rpy")) or ()) for one in root.iter("origin")}
    for one in root.iter("pose"):
        words = (one.text or "").split()
        if len(words) == 6 and not in_degrees(one):  # else a quaternion
            angles[one] = "angle of a <pose>", tuple(map(float, words[3:]))
    texts = ((one, wide_turn(*given)) for one, given in angles.items())
    return {element: text for element, text in texts if text}


def _odd(color) -> bool:
    parts = color.get("rgba", "").split() if color.getparent().tag == "material" else []
    return not all(0.0 <= float(part) <= 1.0 for part in parts)


def _material(color) -> str:
    return color.getparent().get("name", "")


def _calls(description: Description) -> Iterator[etree._Element]:
    for uri in NAMESPACES:
        yield from description.document.root.iter(f"{{{uri}}}*")


def _macro(call) -> str:
    return f"xacro:{etree.QName(call).localname}"
