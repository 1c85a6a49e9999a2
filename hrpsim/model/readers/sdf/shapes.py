# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""<visual> and <collision> of SDF as shapes of links."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from hrpsim.common.file_names import is_file
from hrpsim.model.readers.ellipsoid import ELLIPSOID_POINTS, ellipsoid_mesh
from hrpsim.model.readers.openhrp.assembly import hull_shape
from hrpsim.model.readers.robot_data import MeshFile, Notes, ShapeData
from hrpsim.model.readers.sdf.files import SdfFiles
from hrpsim.model.readers.sdf.frames import SdfFrame
from hrpsim.model.readers.sdf.sdf_file import SdfFile
from hrpsim.model.readers.stored_meshes import file_uri
from hrpsim.model.shapes.placement import Placement, rotation_with_z_along

_SIDES = 24  # of the hull of a cone
PLANE = "plane"  # a kind of shape that scenery alone has
_MODEL_SHAPES = ("box", "sphere", "cylinder", "capsule", "ellipsoid", "cone", "mesh", PLANE)
_ROUND: dict[str, tuple[float, ...]] = {"radius": (0.5,), "length": (1.0,)}
_SIZES: dict[str, dict[str, tuple[float, ...]]] = {  # with the values of SDF for missing ones
    "box": {"size": (1.0, 1.0, 1.0)},
    "ellipsoid": {"radii": (1.0, 1.0, 1.0)},
    "sphere": {"radius": (1.0,)},
    **dict.fromkeys(("cylinder", "capsule", "cone"), _ROUND),
}


def _normal_frame(file: SdfFile, plane: Any) -> np.ndarray:
    """Return a rotation (3, 3) with z along the normal of a <plane>."""
    normal = np.array(file.values(plane, "normal", (0.0, 0.0, 1.0)))
    if not normal.any():
        file.fail(plane, "<normal> is zero")
    return rotation_with_z_along(normal)


def shape_of(
    files: SdfFiles, link: SdfFrame, element: Any, placement: Placement, notes: Notes
) -> ShapeData | None:
    """Convert a <visual> or <collision> to a shape, or return None and add a note.

    Args:
        files: finds meshes.
        link: the link of the element.
        element: the <visual> or <collision>.
        placement: placement of the element in the link.
        notes: receives notes on elements that are left out.
    """
    file, name = link.file, f"{link.name}/{element.get('name', '')}"
    geometry = element.find("geometry")
    shape = None if geometry is None else next(iter(file.children(geometry)), None)
    if shape is None or shape.tag == "empty":
        return None
    color = _color(link, element)
    kind, label = shape.tag, element.get("name", "")
    if kind not in _MODEL_SHAPES:
        notes.add(f"<{kind}> of a <{element.tag}>", "left out", name)
        return None
    if kind == "mesh":
        return _mesh(files, link, element, placement, notes)
    if kind == PLANE:
        turned = Placement(placement.R @ _normal_frame(file, shape), placement.p)
        return ShapeData(PLANE, (), turned, color=color, name=label)
    return _solid(file, shape, placement, color, label, partial(notes.add, name=name))


def _solid(
    file: SdfFile,
    shape: Any,
    placement: Placement,
    color: Any,
    label: str,
    note: Callable[[str, str], None],
) -> ShapeData:
    """Return a primitive of the model, or the hull of another solid. `note` reports a hull."""
    kind = shape.tag
    sizes = [file.values(shape, key, usual) for key, usual in _SIZES[kind].items()]
    if kind == "ellipsoid":
        note("<ellipsoid>", f"a hull of {ELLIPSOID_POINTS} points on it")
        mesh = ellipsoid_mesh(label or kind, np.array(sizes[0]))
        return ShapeData("mesh", (), placement, mesh, color, label)
    if kind == "cone":
        note("<cone>", f"a hull of {_SIDES} sides")
        return _cone(label or kind, sizes[0][0], sizes[1][0], placement, color)
    return ShapeData(kind, sum(sizes, ()), placement, None, color, label)


def _cone(
    name: str, radius: float, length: float, placement: Placement, color: tuple | None
) -> ShapeData:
    """Return the hull of a cone about z, with the middle at the origin."""
    turn = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    low = np.full(_SIDES, -0.5 * length)
    ring = np.stack([radius * np.cos(turn), radius * np.sin(turn), low], axis=1)
    points = np.concatenate([ring, [[0.0, 0.0, 0.5 * length]]])
    made = hull_shape(name, points, np.eye(4), None)
    return ShapeData("mesh", (), placement, made.mesh, color, name)


def _mesh(
    files: SdfFiles, link: SdfFrame, element: Any, placement: Placement, notes: Notes
) -> ShapeData | None:
    file, shape = link.file, element.find("geometry/mesh")
    uri, name = file.content(shape, "uri"), f"{link.name}/{element.get('name', '')}"
    path = files.locate(file, uri) if uri else None
    if path is None or not is_file(path):
        if element.tag == "collision":
            file.fail(shape, f"<uri> {files.why_missing(uri)}")
        notes.add("<mesh> of a <visual>", "not found", name)
        return None
    if shape.find("submesh") is not None:
        notes.add("<submesh>", "the whole mesh is used", name)
    x, y, z = file.values(shape, "scale", (1.0, 1.0, 1.0))
    mesh = MeshFile(file_uri(path), (x, y, z))
    return ShapeData("mesh", (), placement, mesh, _color(link, element), element.get("name", ""))


def _color(link: SdfFrame, element: Any) -> tuple[float, ...] | None:
    """Return the diffuse colour of an element, None without one."""
    text = link.file.content(element, "material/diffuse")
    if not text:
        return None
    parts = link.file.parsed(element, "material/diffuse", text, len(text.split()[:4]))
    return tuple(itertools.islice((*parts, 1.0, 1.0, 1.0, 1.0), 4)) if len(parts) >= 3 else None
