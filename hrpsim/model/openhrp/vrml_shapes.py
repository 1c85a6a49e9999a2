# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Shapes of VRML97 nodes, including those of files that they name."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError, unknown_name
from hrpsim.model.formats.robot_data import Notes, ShapeData
from hrpsim.model.openhrp.assembly import (
    MESH_SUFFIXES,
    Color,
    affine,
    mesh_file_shape,
    mesh_shape,
    primitive,
    triangles_of,
)
from hrpsim.model.openhrp.vrml import Node, Vrml
from hrpsim.model.urdf.xacro_text import read_source

GROUPS = ("Group", "Transform", "Anchor", "Billboard", "Collision", "Switch", "LOD", "Segment")
_SIZES = {
    "Sphere": ("radius",),
    "Cylinder": ("radius", "height"),
    "Cone": ("bottomRadius", "height"),
}
_DEFAULT_SIZES = {"radius": 1.0, "height": 2.0, "bottomRadius": 1.0}
_PASSED = (
    *("NavigationInfo", "Background", "Viewpoint", "WorldInfo", "PointLight", "SpotLight"),
    *("DirectionalLight", "TimeSensor", "TouchSensor", "Script", "Fog", "Sound"),
)
_INLINE_DEPTH = 8


def transform_of(file: Vrml, node: Node) -> np.ndarray:
    """Return the transform (4, 4) of a Transform's (or Joint's) children."""
    if not {"translation", "rotation", "scale", "center"} & set(node.fields):
        return np.eye(4)

    def vector(name: str, default: tuple[float, ...]) -> np.ndarray:
        found = file.numbers(node, name, len(default))
        return np.array(default) if found is None else found

    center = vector("center", (0.0, 0.0, 0.0))
    S = file.rotation(node, "scaleOrientation")
    R = file.rotation(node, "rotation")
    linear = R @ S @ np.diag(vector("scale", (1.0, 1.0, 1.0))) @ S.T
    moved = vector("translation", (0.0, 0.0, 0.0)) + center - linear @ center
    return affine(linear, moved)


def vrml_shapes(
    file: Vrml, nodes: list[Node], T: np.ndarray, notes: Notes, depth: int = 0, inlined: int = 0
) -> list[ShapeData]:
    """Return the shapes of nodes under a transform (4, 4)."""
    found: list[ShapeData] = []
    for node in nodes:
        if depth > limits.VRML_DEPTH:
            file.fail(node, f"nodes are more than {limits.VRML_DEPTH} deep (VRML_DEPTH)")
        if node.type == "Shape":
            found += _shape(file, node, T, notes)
        elif node.type == "Inline":
            found += _inline(file, node, T, notes, inlined)
        elif node.type == "Switch":
            choice = int(file.number(node, "whichChoice", -1.0))
            choices = node.nodes("choice")
            if 0 <= choice < len(choices):
                found += vrml_shapes(file, [choices[choice]], T, notes, depth + 1, inlined)
        elif node.type == "LOD":
            found += vrml_shapes(file, node.nodes("level")[:1], T, notes, depth + 1, inlined)
        elif node.type in GROUPS or node.nodes("children"):
            if node.type not in GROUPS:
                notes.add(node.type, "its shapes alone are read")
            inner = T @ transform_of(file, node)
            found += vrml_shapes(file, node.nodes("children"), inner, notes, depth + 1, inlined)
        elif node.type not in _PASSED:
            notes.add(node.type, "not read")
    return found


def read_vrml_file(path: Path, T: np.ndarray, notes: Notes, inlined: int = 0) -> list[ShapeData]:
    """Return the shapes of a VRML97 file under a transform; ModelError where it is invalid."""
    file = parsed(read_source(path)[0], path, notes)
    return vrml_shapes(file, file.nodes, T, notes, 0, inlined)


def named_vrml_shapes(path: Path, name: str, T: np.ndarray, notes: Notes) -> list[ShapeData]:
    """Return the shapes of the node with the DEF name `name`, as Choreonoid reads it from a file.

    T (4, 4) places the node's origin; the rotations and scales of the transforms above the node
    still act on it, their translations do not.
    """
    file = parsed(read_source(path)[0], path, notes)
    pending, names = [(node, np.eye(3)) for node in reversed(file.nodes)], []
    seen: set[int] = set()
    while pending:
        node, linear = pending.pop()
        if id(node) in seen:  # repeated by USE
            continue
        seen.add(id(node))
        inner = linear @ transform_of(file, node)[:3, :3]
        if node.name == name:
            shapes = [node] if node.type in ("Shape", "Inline") else node.nodes("children")
            return vrml_shapes(file, shapes, T @ affine(inner, np.zeros(3)), notes)
        names += [node.name] if node.name else []
        pending += [(child, inner) for child in reversed(node.nodes("children"))]
    raise ModelError(f"{path}: {unknown_name('node', name, names)}")


def parsed(text: str, path: Path, notes: Notes) -> Vrml:
    """Return a parsed file; note fields that are given twice in a node."""
    file = Vrml(text, path)
    for lines in file.repeated.values():
        for _ in lines:
            notes.add(f"{lines[0]}: given twice", "the last one holds")
    return file


def _inline(file: Vrml, node: Node, T: np.ndarray, notes: Notes, inlined: int) -> list[ShapeData]:
    url = file.text(node, "url")
    path = file.path.parent / url
    if path.suffix.lower() in MESH_SUFFIXES:  # Choreonoid reads these, too
        shape = mesh_file_shape(path, T, None)
        if not path.is_file():
            file.fail(node, f"url: there is no file {str(path)!r}")
        if shape is None:
            file.fail(node, "url: a mesh file cannot be sheared")
        return [shape]
    if inlined >= _INLINE_DEPTH:
        file.fail(node, f"files include each other more than {_INLINE_DEPTH} deep")
    try:
        return read_vrml_file(path, T, notes, inlined + 1)
    except ModelError as cause:
        file.fail(node, f"url: {cause}")


def _shape(file: Vrml, node: Node, T: np.ndarray, notes: Notes) -> list[ShapeData]:
    color = _color(file, node)
    found = []
    for geometry in node.nodes("geometry"):
        kind = geometry.type
        if kind == "IndexedFaceSet":
            found += _faces(file, geometry, T, color)
        elif kind == "Box":
            size = file.numbers(geometry, "size", 3)
            sizes = [2.0, 2.0, 2.0] if size is None else size.tolist()
            found.append(primitive(kind, _positive(file, geometry, sizes), T, color))
        elif kind in _SIZES:
            sizes = [file.number(geometry, k, _DEFAULT_SIZES[k]) for k in _SIZES[kind]]
            found.append(primitive(kind, _positive(file, geometry, sizes), T, color))
        else:
            notes.add(f"geometry {kind}", "left out")
    return found


def _positive(file: Vrml, node: Node, sizes: list[float]) -> list[float]:
    if min(sizes) <= 0.0:
        file.fail(node, f"sizes {sizes} must be positive")
    return sizes


def _faces(file: Vrml, node: Node, T: np.ndarray, color: Color | None) -> list[ShapeData]:
    coordinates = node.nodes("coord")
    points = file.numbers(coordinates[0], "point") if coordinates else None
    indices = file.numbers(node, "coordIndex")
    if points is None or indices is None:
        return []
    if len(points) % 3:
        file.fail(coordinates[0], f"point: {len(points)} numbers are no triples")
    vertices = points.reshape(-1, 3)
    faces = triangles_of(indices, len(vertices))
    if faces is None:
        file.fail(node, f"coordIndex names a point that is not there: there are {len(vertices)}")
    if not len(faces):
        return []
    if node.fields.get("ccw") is False:
        faces = faces[:, ::-1]
    return [mesh_shape(node.name or file.path.stem, vertices, faces, T, color)]


def _color(file: Vrml, node: Node) -> Color | None:
    for appearance in node.nodes("appearance"):
        for material in appearance.nodes("material"):
            diffuse = file.numbers(material, "diffuseColor", 3)
            r, g, b = (0.8, 0.8, 0.8) if diffuse is None else (float(part) for part in diffuse)
            return r, g, b, 1.0 - file.number(material, "transparency", 0.0)
    return None
