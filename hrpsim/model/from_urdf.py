# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build a `Model` from the text of a URDF, with warnings of what is not simulated or unknown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from lxml import etree

from hrpsim.errors import suggestion
from hrpsim.model.build import build_model, stated_base
from hrpsim.model.described import DescribedKeyframe
from hrpsim.model.extension import read_extension
from hrpsim.model.formats.robot_data import Notes
from hrpsim.model.formats.urdf_writer import read_urdf
from hrpsim.model.gazebo_sensors import FRAME_TAGS, TOPIC, is_link, is_read
from hrpsim.model.model import MeshUse, Model
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.model.urdf.description import UNSTATED, Description, is_void, read_description
from hrpsim.model.urdf.document import Document, tag_of
from hrpsim.model.urdf.srdf import read_disabled_collisions
from hrpsim.model.urdf.xacro_text import NAMESPACES, UrdfText
from hrpsim.model.visuals import POINT_RADIUS, read_shapes

_SHOWN = 4  # names listed at most
_SIZES = ("size", "radius", "length")
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


def read_model(
    urdf: UrdfText,
    base: str | None,
    accept_nonphysical_inertia: bool,
    meshes: str,
    srdf: str | os.PathLike | None,
) -> tuple[Model, list[str]]:
    """Return the model of URDF text and the warnings about it.

    Arguments and errors are those of `load_model`.
    """
    document = read_urdf(urdf.text, urdf.label, urdf.has_lines)
    description = read_description(document)
    extension = read_extension(description)
    if base is None:
        base = stated_base(description)
    model, odd = build_model(description, extension, base, accept_nonphysical_inertia)
    shapes, uses = read_shapes(description, extension, model.frames, urdf.resources, meshes)
    disabled, notes = extension.stay_apart(description), [*odd, *_surprises(uses)]
    if srdf is not None:
        of_srdf, srdf_notes = read_disabled_collisions(srdf, model.frames)
        disabled |= of_srdf
        notes += srdf_notes
    notes += [*readings(description), *_intangible(model, description, shapes, uses)]
    model = replace(
        model,
        shapes=shapes,
        meshes=uses,
        disabled_collisions=disabled,
        keyframes=keyframe_configurations(model, extension.keyframes.values()),
        not_simulated=(*unread_parts(document), *extension.unread_transmissions),
    )
    return model, notes


def _surprises(uses: tuple[MeshUse, ...]) -> list[str]:
    """Return notes on meshes that were repaired or are not used as requested."""
    return list(dict.fromkeys(f"mesh {use.file}: {use.note}" for use in uses if use.note))


def _intangible(model: Model, description: Description, shapes, uses) -> list[str]:
    """Return a note on a robot on a free base that has visual but no collision shapes."""
    if shapes or uses or model.base != "free":
        return []
    elements = description.link_elements
    seen = [link for link, element in elements.items() if element.find("visual") is not None]
    if not seen:
        return []
    shown = ", ".join(map(repr, _ends(description, seen)[:4]))
    return [
        f"{description.where_is_link(model.base_link)}: no link has a <collision>, though"
        f" {len(seen)} have a <visual>: in a world the robot falls through everything; give the"
        f" links that it touches things with (its ends are {shown}) a <collision> each"
    ]


def _ends(description: Description, links: list[str]) -> list[str]:
    """Return those of some links that have none of the others beneath them."""
    above: set[str] = set()
    for link in links:
        while link in description.parent_joint:
            link = description.joints[description.parent_joint[link]].parent
            above.add(link)
    return [link for link in links if link not in above]


def readings(description: Description) -> list[str]:
    """Return the notes, each with the place of the first of its kind."""
    links, joints = description.link_elements, description.joint_elements
    kinds = (
        ("a <visual> with a size of 0 is not drawn", _where(links, _unseen)),
        (
            f"a <collision> sphere of radius 0 is a point: a sphere of {POINT_RADIUS:g} m",
            _where(links, _points),
        ),
        ("a <collision> box without any size does not collide", _where(links, _void)),
        (
            f"a limit of effort or velocity of {UNSTATED:g} means that none is stated",
            _where(joints, _unstated),
        ),
        (
            "limits that are equal hold a joint in place; lower and upper are 0 where <limit> does"
            " not state them: state both, or make the joint continuous",
            _where(joints, _immobile),
        ),
        (
            "parts of a colour beyond 0 to 1 are drawn as 0 or 1",
            [
                (_material(color), color)
                for color in description.document.root.iter("color")
                if _odd(color)
            ],
        ),
        (
            "calls of macros that this file does not have are passed over",
            [(_macro(call), call) for call in _calls(description)],
        ),
    )
    notes = []
    for what, found in kinds:
        if found:
            names = list(dict.fromkeys(name for name, _ in found))
            shown = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
            where = description.document.where(found[0][1])
            notes.append(f"{where}: {what} ({len(names)}: {shown})")
    return notes


def _where(elements: dict, is_so) -> list[tuple[str, etree._Element]]:
    return [(name, element) for name, element in elements.items() if is_so(element)]


def _unseen(link) -> bool:
    shapes = link.iterfind("visual/geometry/*")
    sizes = [shape.get(key) for shape in shapes for key in _SIZES if shape.get(key) is not None]
    return any(float(number) == 0.0 for size in sizes for number in size.split())


def _points(link) -> bool:
    spheres = link.iterfind("collision/geometry/sphere")
    return any(float(sphere.get("radius")) == 0.0 for sphere in spheres)


def _void(link) -> bool:
    return any(is_void(box) for box in link.iterfind("collision/geometry/box"))


def _unstated(joint) -> bool:
    limit = joint.find("limit")
    given = [] if limit is None else [limit.get("effort"), limit.get("velocity")]
    return any(value is not None and float(value) == UNSTATED for value in given)


def _immobile(joint) -> bool:
    limit = joint.find("limit") if joint.get("type") in ("revolute", "prismatic") else None
    return limit is not None and float(limit.get("lower", 0)) == float(limit.get("upper", 0))


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


def keyframe_configurations(
    model: Model, keyframes: Iterable[DescribedKeyframe]
) -> dict[str, np.ndarray]:
    """Return q (nq,) of each posture; joints that it does not name are neutral."""
    by_name = {joint.name: joint for joint in model.joints}
    found = {}
    for keyframe in keyframes:
        q = model.neutral()
        if keyframe.base is not None and model.base == "free":
            q[:3], q[3:7] = keyframe.base.p, quaternion_of(keyframe.base.R)
        for name, position in keyframe.joints.items():
            at = by_name[name].q_index
            q[at : at + len(position)] = position
            if len(position) == 7:
                q[at + 3 : at + 7] /= np.linalg.norm(position[3:])
        found[keyframe.name] = q
    return found
