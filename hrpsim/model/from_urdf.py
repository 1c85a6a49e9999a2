# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build a `Model` from URDF text, with warnings of unsupported or unknown elements."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from lxml import etree

from hrpsim.model.build import build_model, stated_base
from hrpsim.model.described import DescribedKeyframe
from hrpsim.model.extension import read_extension
from hrpsim.model.model import MeshUse, Model
from hrpsim.model.readers.urdf.description import (
    UNSTATED,
    Description,
    is_void,
    read_description,
    shape_of,
)
from hrpsim.model.readers.urdf.srdf import read_disabled_collisions
from hrpsim.model.readers.urdf.xacro_text import NAMESPACES, UrdfText
from hrpsim.model.readers.urdf_writer import read_urdf
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.model.unread import unread_parts
from hrpsim.model.visuals import POINT_RADIUS, read_shapes

_SHOWN = 4  # names listed at most
_SIZES = ("size", "radius", "length")


def read_model(
    urdf: UrdfText,
    base: str | None,
    accept_nonphysical_inertia: bool,
    meshes: str,
    srdf: str | os.PathLike | None,
) -> tuple[Model, list[str]]:
    """Return the model of URDF text and the warnings about the text.

    Arguments and errors are the same as for `load_model`.
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
    """Return notes on meshes that were repaired, or are used in another way than requested."""
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
    """Return the links, out of some links, that have none of the others beneath them."""
    above: set[str] = set()
    for link in links:
        while link in description.parent_joint:
            link = description.joints[description.parent_joint[link]].parent
            above.add(link)
    return [link for link in links if link not in above]


def readings(description: Description) -> list[str]:
    """Return the notes. Each has the place of the first element of its kind."""
    links, joints = description.link_elements, description.joint_elements
    kinds = (
        ("a <visual> with a size of 0 is not drawn", _where(links, _unseen)),
        (
            f"a <collision> sphere of radius 0 is a point: a sphere of {POINT_RADIUS:g} m",
            _where(links, _points),
        ),
        ("a <collision> without any width does not collide", _where(links, _void)),
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
    return any(is_void(shape_of(collision)) for collision in link.iterfind("collision"))


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
    """Return q (nq,) of each posture. Joints without a position are neutral."""
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
