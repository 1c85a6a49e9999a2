# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standard part of a URDF: checked element by element, then read by urdf-parser-py."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from lxml import etree

from hrpsim.common import limits
from hrpsim.common.errors import ModelError
from hrpsim.model.readers.urdf.document import Document, described, is_foreign
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES, MOVING_TYPES

GEOMETRIES: dict[str, dict[str, int]] = {  # with their sizes: how many numbers each has
    "box": {"size": 3},
    "cylinder": {"radius": 1, "length": 1},
    "sphere": {"radius": 1},
    "capsule": {"radius": 1, "length": 1},
    "mesh": {},
}

UNSTATED = -1.0  # no limit, in Gazebo's SDF; exporters copy it

_NUMBERS_OF_ROS_1 = {
    "calibration": ("rising", "falling"),
    "safety_controller": ("k_velocity", "k_position", "soft_lower_limit", "soft_upper_limit"),
}
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class Description:
    """A URDF with valid links, joints and tree.

    links, joints: urdf-parser-py objects by name. elements: the XML behind the objects, for errors.
    """

    document: Document
    name: str
    root: str
    links: dict[str, Any]
    joints: dict[str, Any]
    link_elements: dict[str, Any]
    joint_elements: dict[str, Any]
    parent_joint: dict[str, str]  # joint above a link, by link


def read_description(document: Document) -> Description:
    """Check the links, joints and tree of `document` and return the description.

    Raises ModelError for an invalid document.
    """
    name = document.text(document.root, "name")
    link_elements = _by_name(document, "link")
    joint_elements = _by_name(document, "joint")
    if not link_elements:
        there = ", ".join({f"<{described(e)}>": None for e in document.children(document.root)})
        document.fail(
            document.root, f"a robot needs at least one <link>, got {there[:200] or 'nothing'}"
        )
    if len(link_elements) > limits.LINKS:
        count = len(link_elements)
        document.fail(document.root, f"has {count} links, {limits.excess('LINKS', 'links')}")
    _check_colors(document)
    for element in link_elements.values():
        _check_link(document, element)
    for element in joint_elements.values():
        _check_joint(document, element, link_elements)
    parent_joint = _check_tree(document, link_elements, joint_elements)
    _check_mimics(document, joint_elements)
    links, joints = _parse_standard(document, link_elements, joint_elements)
    return Description(
        document=document,
        name=name,
        root=next(link for link in link_elements if link not in parent_joint),
        links=links,
        joints=joints,
        link_elements=link_elements,
        joint_elements=joint_elements,
        parent_joint=parent_joint,
    )


def _by_name(document: Document, tag: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for element in document.children(document.root, tag):
        name = document.text(element, "name")
        if name in result:
            first = document.where(result[name])
            document.fail(element, f"a {tag} with this name exists already ({first})")
        result[name] = element
    return result


def _check_link(document: Document, link) -> None:
    inertial = document.only(link, "inertial")
    if inertial is not None:
        _check_origin(document, inertial)
        mass = document.only(inertial, "mass", required=True)
        document.not_negative(mass, "value", shown="the mass {1} kg")
        inertia = document.only(inertial, "inertia", required=True)
        for key in _INERTIA:
            document.number(inertia, key)
    for tag in ("visual", "collision"):
        for element in document.children(link, tag):
            _check_origin(document, element)
            geometry = document.only(element, "geometry", required=True)
            _check_geometry(document, geometry, is_seen=tag == "visual")


def _check_colors(document: Document) -> None:
    """Raise ModelError for a colour that is not four numbers."""
    for material in document.root.iter("material"):
        for color in material.findall("color"):
            document.numbers(color, "rgba", 4)


def _check_origin(document: Document, owner) -> None:
    origin = document.only(owner, "origin")
    if origin is not None:
        for attribute in ("xyz", "rpy"):
            if origin.get(attribute) is not None:
                document.numbers(origin, attribute, 3)


def _check_geometry(document: Document, geometry, is_seen: bool) -> None:
    """Raise ModelError for an invalid shape. A visual shape may have a size of 0.

    A collision shape may be a point (a sphere of no radius, as in Drake's feet). A collision shape
    may also be empty (a box of size 0, as in Kinova's roots, or a cylinder or capsule of radius 0).
    """
    shapes = [shape for shape in document.children(geometry) if not is_foreign(shape)]
    if len(shapes) != 1:
        document.fail(geometry, f"must have one shape, got {len(shapes)}")
    shape = shapes[0]
    document.require_name(shape, "geometry", str(shape.tag), GEOMETRIES)
    if shape.tag == "mesh":
        document.text(shape, "filename")
        if shape.get("scale") is not None:
            document.numbers(shape, "scale", 3)
    _check_sizes(document, shape, is_seen)


def _check_sizes(document: Document, shape, is_seen: bool) -> None:
    sizes = {key: min(document.numbers(shape, key, n)) for key, n in GEOMETRIES[shape.tag].items()}
    may_be_flat = is_seen or shape.tag == "sphere" or is_void(shape)
    for key, least in sizes.items():
        if least < 0.0 or (least == 0.0 and not may_be_flat):
            cure = "" if is_seen else ". Where nothing is to touch it, leave out the <collision>"
            document.fail(shape, f"{key}={shape.get(key)!r} must be positive{cure}")


def is_void(shape) -> bool:
    """Return whether a shape is empty: a box with edges of 0, or a cylinder with radius 0."""
    if shape.tag in ("cylinder", "capsule"):
        return float(shape.get("radius")) == 0.0
    return shape.tag == "box" and not any(float(size) for size in shape.get("size").split())


def shape_of(element):
    """Return the shape of a <visual> or <collision>: the only child of <geometry>."""
    return next(shape for shape in element.find("geometry") if not is_foreign(shape))


def _check_joint(document: Document, joint, links: dict) -> None:
    kind = document.text(joint, "type")
    document.require_name(joint, "joint type", kind, JOINT_TYPES)
    for end in ("parent", "child"):
        element = document.only(joint, end, required=True)
        link = document.text(element, "link")
        document.require_name(element, "link", link, links)
    _check_origin(document, joint)
    axis, needs_axis = document.only(joint, "axis"), JOINT_TYPES[kind].needs_axis
    if axis is not None and (needs_axis or axis.get("xyz") is not None):
        if not any(document.numbers(axis, "xyz", 3)) and needs_axis:
            document.fail(axis, "the axis is zero")
    _check_limit(document, joint, kind)
    _check_optional(document, joint)


def _check_optional(document: Document, joint) -> None:
    """Raise ModelError for invalid damping or friction, and for invalid unused numbers."""
    dynamics = document.only(joint, "dynamics")
    if dynamics is not None:
        for key in ("damping", "friction"):
            document.not_negative(dynamics, key, 0.0, shown="{} {}")
    for tag, keys in _NUMBERS_OF_ROS_1.items():
        element = document.only(joint, tag)
        for key in keys if element is not None else ():
            document.number(element, key, 0.0)


def _check_limit(document: Document, joint, kind: str) -> None:
    limit = document.only(joint, "limit")
    if limit is None:
        if JOINT_TYPES[kind].has_range:
            document.fail(joint, f"a {kind} joint needs <limit lower= upper= effort= velocity=>")
        return
    if kind not in MOVING_TYPES:
        return
    # Limits are only compared, and some exporters write the largest double for none.
    lower, upper = (document.number(limit, key, 0.0, math.inf) for key in ("lower", "upper"))
    if JOINT_TYPES[kind].has_range and lower > upper:
        document.fail(limit, f"the lower limit {lower:g} is above the upper limit {upper:g}")
    for key in ("effort", "velocity"):
        value = document.number(limit, key, largest=math.inf)
        if value < 0.0 and value != UNSTATED:
            document.fail(limit, f"the {key} limit {limit.get(key)} is negative")


def _check_tree(document: Document, links: dict, joints: dict) -> dict[str, str]:
    parent_joint: dict[str, str] = {}
    parent_link: dict[str, str] = {}
    for name, joint in joints.items():
        child = document.only(joint, "child").get("link")
        if child in parent_joint:
            document.fail(
                joint,
                f"link {child!r} is the child of joint {parent_joint[child]!r} already."
                " A link has one parent, and loops are not URDF",
            )
        parent_joint[child] = name
        parent_link[child] = document.only(joint, "parent").get("link")
    grounded: set[str] = set()
    for link in links:
        path = [link]
        while path[-1] in parent_link and path[-1] not in grounded:
            path.append(parent_link[path[-1]])
            if path[-1] in path[:-1]:
                loop = " -> ".join(reversed(path[path.index(path[-1]) :]))
                document.fail(links[link], f"the joints form a cycle: {loop}")
        grounded.update(path)
    roots = [link for link in links if link not in parent_joint]
    if len(roots) > 1:
        listed = ", ".join(map(repr, roots[:8])) + (", ..." if len(roots) > 8 else "")
        document.fail(
            links[roots[1]],
            f"there must be one root link, but {len(roots)} have no parent: {listed}",
        )
    return parent_joint


def _check_mimics(document: Document, joints: dict) -> None:
    for joint in joints.values():
        mimic = document.only(joint, "mimic")
        if mimic is None:
            continue
        leader_name = document.text(mimic, "joint")
        for key in ("multiplier", "offset"):
            document.number(mimic, key, 0.0)
        joint_type = JOINT_TYPES[joint.get("type")]
        if joint_type.steps and not joint_type.is_single:
            document.fail(mimic, f"a {joint_type.name} joint cannot follow another")
        document.require_name(mimic, "joint", leader_name, joints)
        leader = joints[leader_name]
        if leader is joint:
            document.fail(mimic, "the joint follows itself")
        if not joint_type.steps:
            continue  # arms with a locked gripper are published like this; nothing moves
        if leader.get("type") not in MOVING_TYPES:
            document.fail(
                mimic, f"joint {leader_name!r} is {leader.get('type')}, with no coordinate"
            )
    for name in joints:
        _check_followed(document, joints, name)


def _check_followed(document: Document, joints: dict, name: str) -> None:
    """Raise ModelError if the mimic joints from `name` on form a cycle."""
    path = [name]
    while (mimic := joints[path[-1]].find("mimic")) is not None:
        if mimic.get("joint") in path:
            document.fail(mimic, f"joints follow each other: {' -> '.join(path)}")
        path.append(mimic.get("joint"))


def _parse_standard(document: Document, links: dict, joints: dict) -> tuple[dict, dict]:
    """Parse links (without visuals) and joints with urdf-parser-py.

    Joint types are left out, because urdf-parser-py refuses types that URDF does not have.

    Returns:
        (links by name, joints by name).
    """
    from urdf_parser_py import urdf

    standard = etree.Element("robot", name="standard")
    standard.extend(_standard_copy(element) for element in (*links.values(), *joints.values()))
    try:
        with _quiet_parser():
            robot = urdf.Robot.from_xml_string(etree.tostring(standard, encoding="utf-8"))
    except Exception as cause:  # the parser raises bare Exception and AssertionError
        raise ModelError(f"{document.label}: {cause}") from cause
    for name, joint in robot.joint_map.items():
        joint.type = joints[name].get("type")
    return dict(robot.link_map), dict(robot.joint_map)


def _standard_copy(element: etree._Element) -> etree._Element:
    """Return a copy of a link or joint with the parts that urdf-parser-py knows."""
    copy = deepcopy(element)
    unread, joint_type = ["visual"], JOINT_TYPES.get(copy.get("type"))
    if joint_type is not None:
        copy.set("type", "unknown")
        unread += [] if joint_type.needs_axis else ["axis"]
    for part in [part for tag in unread for part in copy.findall(tag)]:
        copy.remove(part)
    for foreign in [part for part in copy.iter() if is_foreign(part)]:
        foreign.getparent().remove(foreign)
    for capsule in copy.iterfind("collision/geometry/capsule"):
        capsule.tag = "cylinder"  # which has the same attributes
    return copy


@contextmanager
def _quiet_parser() -> Iterator[None]:
    """Keep urdf-parser-py from printing unknown tags."""
    from urdf_parser_py.xml_reflection import core

    noisy, core.on_error = core.on_error, lambda message: None
    try:
        yield
    finally:
        core.on_error = noisy
