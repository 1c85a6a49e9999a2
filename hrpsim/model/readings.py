# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a URDF says that is taken otherwise than it stands there: a note for each kind."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from hrpsim.model.link_shapes import POINT_RADIUS
from hrpsim.model.urdf.description import UNSTATED, Description, is_void
from hrpsim.model.urdf.xacro_text import NAMESPACES

_SHOWN = 4  # names after which "..." stands
_SIZES = ("size", "radius", "length")


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
