# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read URDF text as a `RobotData`, with notes on suspicious elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from lxml import etree

from hrpsim.model.extension import read_extension
from hrpsim.model.readers.gazebo.poses import in_degrees
from hrpsim.model.readers.plausibility import wide_turn
from hrpsim.model.readers.robot_data import (
    JointData,
    LinkData,
    MeshFile,
    RobotData,
    ShapeData,
    counted,
)
from hrpsim.model.readers.urdf.description import Description, read_description, shape_of
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES
from hrpsim.model.readers.urdf.xacro_text import NAMESPACES, UrdfText
from hrpsim.model.readers.urdf_writer import read_urdf
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin
from hrpsim.model.shapes.solid_inertia import BodyInertia
from hrpsim.model.unread import unread_parts


def robot_of_urdf(urdf: UrdfText) -> tuple[RobotData, list[str]]:
    """Return the robot of URDF text, and notes on suspicious elements.

    ModelError names file, line, element and cause of an invalid element.
    """
    document = read_urdf(urdf.text, urdf.label, urdf.has_lines)
    description = read_description(document)
    robot = RobotData(description.name, description.root, urdf.label, document)
    colors = _material_colors(document.root)
    for name, element in description.link_elements.items():
        robot.links[name] = _link(description.links[name], element, colors)
    for name, element in description.joint_elements.items():
        robot.joints[name] = _joint(description.joints[name], element)
    read_extension(description, robot)
    robot.notes = [*unread_parts(document), *robot.notes]
    return robot, _readings(description)


def _link(link, element, colors: dict[str, tuple[float, ...]]) -> LinkData:
    """Return the link from urdf-parser-py's object and the XML element."""
    data = LinkData(link.name, element=element)
    if link.inertial is not None:
        moments = link.inertial.inertia.to_matrix()
        at_com = BodyInertia(float(link.inertial.mass), IDENTITY.p, np.array(moments, dtype=float))
        data.inertial = at_com.seen_from(_origin_of(link.inertial.origin))
    data.visuals = [_shape(visual, _color(visual, colors)) for visual in element.findall("visual")]
    data.collisions = [_shape(collision) for collision in element.findall("collision")]
    return data


def _shape(element, color: tuple[float, ...] | None = None) -> ShapeData:
    """Return the shape of a <visual> or <collision>."""
    shape, origin = shape_of(element), element.find("origin")
    placement = IDENTITY
    if origin is not None:
        placement = from_origin(*(_numbers(origin.get(key)) for key in ("xyz", "rpy")))
    size = [_numbers(shape.get(key)) or () for key in ("size", "radius", "length")]
    mesh = None
    if shape.tag == "mesh":
        x, y, z = _numbers(shape.get("scale")) or (1.0, 1.0, 1.0)
        mesh = MeshFile(shape.get("filename"), (x, y, z))
    return ShapeData(
        *(shape.tag, sum(size, ()), placement, mesh, color),
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


def _joint(joint, element) -> JointData:
    """Return the joint from urdf-parser-py's object and the XML element."""
    data = JointData(
        *(joint.name, joint.type, joint.parent, joint.child, _origin_of(joint.origin)),
        axis=tuple(joint.axis or (1.0, 0.0, 0.0)),
        element=element,
    )
    if joint.dynamics is not None:
        data.damping, data.friction = joint.dynamics.damping or 0.0, joint.dynamics.friction or 0.0
    joint_type = JOINT_TYPES[joint.type]
    if joint.limit is not None and joint_type.is_single:
        data.velocity, data.effort = joint.limit.velocity, joint.limit.effort
        if joint_type.has_range:
            data.lower, data.upper = joint.limit.lower, joint.limit.upper
    if joint.mimic is not None:
        data.mimic = _mimic_of(joint.mimic)
    return data


def _mimic_of(mimic) -> tuple[str, float, float]:
    """Return the leader, ratio and offset of a mimic joint."""
    ratio = 1.0 if mimic.multiplier is None else mimic.multiplier
    return mimic.joint, ratio, mimic.offset or 0.0


def _origin_of(origin) -> Placement:
    return IDENTITY if origin is None else from_origin(origin.xyz, origin.rpy)


def _readings(description: Description) -> list[str]:
    """Return the notes on suspicious elements. A note names the first element of its kind."""
    root = description.document.root
    colors = [(_material(color), color) for color in root.iter("color") if _odd(color)]
    calls = [(_macro(call), call) for call in _calls(description)]
    notes, turns = [], _wide_turns(root)
    if turns:
        listed = ", ".join(turns[element] for element in list(turns)[:3])
        notes.append(f"{description.document.where(next(iter(turns)))}: {listed} ({len(turns)})")
    for remark, occurrences in (
        ("parts of a colour beyond 0 to 1 are drawn as 0 or 1", colors),
        ("calls of macros that this file does not define are ignored", calls),
    ):
        if occurrences:
            where = description.document.where(occurrences[0][1])
            notes.append(f"{where}: {remark} {counted(name for name, _ in occurrences)}")
    return notes


def _wide_turns(root: etree._Element) -> dict[etree._Element, str]:
    """Return {element: note} for each <origin> and <pose> with an angle above 360 degrees."""
    angles = {
        element: ("rpy", _numbers(element.get("rpy")) or ()) for element in root.iter("origin")
    }
    for element in root.iter("pose"):
        words = (element.text or "").split()
        if len(words) == 6 and not in_degrees(element):  # else a quaternion
            angles[element] = "angle of a <pose>", tuple(map(float, words[3:]))
    texts = ((element, wide_turn(*turn)) for element, turn in angles.items())
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
