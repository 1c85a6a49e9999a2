# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Elements of a link of a .body file: shapes, additional masses, sensors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.common.foreign.text import read_text
from hrpsim.common.foreign.yaml_text import YamlText, parse_yaml
from hrpsim.model.readers.openhrp.assembly import (
    MESH_SUFFIXES,
    Color,
    LinkAssembly,
    affine,
    hull_shape,
    mesh_file_shape,
    mesh_shape,
    placed_mass,
    placement_of,
    primitive,
    swept,
    triangles_of,
)
from hrpsim.model.readers.openhrp.body_values import Values
from hrpsim.model.readers.openhrp.wrl import named_vrml_shapes, read_vrml_file
from hrpsim.model.readers.robot_data import Notes, ShapeData
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.sensors.kinds import SENSOR_KINDS

_SENSORS = {name: kind.kind for kind in SENSOR_KINDS.values() for name in kind.body_elements}
_SIZES = {
    "Sphere": ("radius",),
    "Cylinder": ("radius", "height"),
    "Capsule": ("radius", "height"),
    "Cone": ("radius", "height"),
}
_YAML_SUFFIXES = (".yaml", ".yml")
_UNITS = {"millimeter": 1e-3, "meter": 1.0, "inch": 0.0254}
_Y_IS_UP = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])


class YamlFiles:
    """The YAML files named in a .body file. Each file is read once.

    The anchors of the .body file are valid in all of these files. Each repeated key gives a note,
    because Choreonoid uses the last value without a warning.
    """

    def __init__(self, main: YamlText, notes: Notes) -> None:
        self._main, self._notes = main, notes
        self._read: dict[Path, Any] = {}
        self._elements = 0
        self._note_repeats(main)

    def content(self, path: Path) -> Any:
        """Return the contents of a file. ModelError names file, line and cause."""
        if path not in self._read:
            text = read_text(path, ModelError, "YAML_SIZE")
            parsed = parse_yaml(text, str(path), ModelError, repeated=True, anchors_of=self._main)
            self._read[path] = parsed.data
            self._note_repeats(parsed)
        return self._read[path]

    def count(self, element: Values) -> None:
        """Raise ModelError after too many elements, because files can include each other."""
        self._elements += 1
        if self._elements > limits.YAML_EXPANDED:
            element.fail(f"{limits.excess('YAML_EXPANDED', 'elements')} in all files")

    def _note_repeats(self, text: YamlText) -> None:
        for line in text.repeats:
            self._notes.add(f"{Path(text.label).name}, {line}: given twice", "the last one holds")


class Elements:
    """Reads the elements of links, and applies the transforms of enclosing elements."""

    def __init__(
        self, resources: Resources, to_radian: float, notes: Notes, files: YamlFiles
    ) -> None:
        self.resources, self.to_radian = resources, to_radian
        self.notes, self.files = notes, files

    def read(self, link: Values, part: LinkAssembly) -> None:
        """Read the elements of a link."""
        self._all(link, part, np.eye(4), "both", 0)

    def _all(self, owner: Values, part: LinkAssembly, T: np.ndarray, use: str, depth: int) -> None:
        if depth > limits.YAML_DEPTH:
            owner.fail(limits.excess("YAML_DEPTH", "nested elements"))
        for kind, entry in _entries(owner):
            if not isinstance(entry, dict):
                owner.fail(f"elements: {kind} must be a mapping")
            self._read_element(kind, Values(entry, owner.fail), part, T, use, depth)

    def _read_element(
        self, kind: str, element: Values, part: LinkAssembly, T: np.ndarray, use: str, depth: int
    ) -> None:
        self.files.count(element)
        inner = T @ self._transform(element)
        if kind == "Shape":
            self._add(part, use, self._shape(element, inner, use))
        elif kind == "Resource":
            self._read_resource(element, part, inner, use, depth)
        elif kind in ("Transform", "Group", "RigidBody"):
            if kind == "RigidBody":
                part.masses.append(placed_mass(*element.mass(of_all=False), inner))
            self._all(element, part, inner, use, depth + 1)
        elif kind in ("Visual", "Collision", "VisualAndCollision"):
            narrower = {"Visual": "visual", "Collision": "collision"}.get(kind, "both")
            self._directly(element, part, inner, narrower, depth)
            self._all(element, part, inner, narrower, depth + 1)
        elif kind in _SENSORS:
            label = element.text("name", default=f"{part.name}_{kind}")
            part.sensors.append((label, _SENSORS[kind], placement_of(inner)))
            self._all(element, part, inner, use, depth + 1)
        elif kind != "Skip":
            self.notes.add(kind, "not simulated")
            self._all(element, part, inner, use, depth + 1)

    def _read_resource(
        self, element: Values, part: LinkAssembly, T: np.ndarray, use: str, depth: int
    ) -> None:
        """Read a file: the shapes of a mesh, or the elements under a name in a YAML file."""
        path = self._located(element)
        if path.suffix.lower() not in _YAML_SUFFIXES:
            self._add(part, use, self._mesh(element, path, T, None))
            return
        content, node = self.files.content(path), _fragment(element)
        if not isinstance(content, dict) or (node and node not in content):
            element.fail(f"uri: {path.name}: {unknown_name('node', node, content or ())}")
        named = content[node] if node else content

        def fail(cause: str) -> NoReturn:
            element.fail(f"uri: {path.name}: {node}: {cause}")

        elsewhere = Elements(Resources(path.parent), self.to_radian, self.notes, self.files)
        elsewhere._all(Values({"elements": named}, fail), part, T, use, depth + 1)

    def _add(self, part: LinkAssembly, use: str, shapes: list[ShapeData]) -> None:
        where = {"both": part.shapes, "visual": part.visuals, "collision": part.collisions}
        where[use] += shapes

    def _directly(
        self, element: Values, part: LinkAssembly, T: np.ndarray, use: str, depth: int
    ) -> None:
        """Read the shape of a Visual or Collision itself, without its child elements."""
        if isinstance(element.get("shape"), dict):
            shape = Values(element.get("shape"), element.fail)
            self._add(part, use, self._shape(shape, T @ self._transform(shape), use))
        elif isinstance(element.get("resource"), dict):
            resource = Values(element.get("resource"), element.fail)
            self._read_resource(resource, part, T @ self._transform(resource), use, depth)

    def _transform(self, element: Values) -> np.ndarray:
        p, scale = element.translation("translation"), element.numbers("scale")
        R = element.rotation("rotation", self.to_radian)
        if scale is not None:
            if len(scale) not in (1, 3) or not scale.all():
                element.fail("scale: must be one number or 3 numbers, none of them zero")
            R = R * np.broadcast_to(scale, 3)
        return affine(R, p)

    def _shape(self, element: Values, T: np.ndarray, use: str) -> list[ShapeData]:
        content = element.get("geometry")
        if not isinstance(content, dict):
            element.fail("geometry of a Shape must be a mapping with its type")
        geometry = Values(content, element.fail)
        kind, color = geometry.text("type", default=""), _color(element)
        if kind == "Box" or kind in _SIZES:
            lengths = _lengths(geometry, kind)
            if use == "visual" and min(lengths) == 0.0:
                self.notes.add("Visual with a size of 0", "not drawn")
                return []
            return [self._primitive(geometry, kind, lengths, T, color)]
        if kind == "IndexedFaceSet":
            return self._faces(geometry, T, color)
        if kind == "Extrusion":
            return self._extrusion(geometry, T, color)
        if kind == "Resource":
            return self._mesh(geometry, self._located(geometry), T, color)
        self.notes.add(f"geometry {kind}", "left out")
        return []

    def _primitive(
        self, geometry: Values, kind: str, sizes: list[float], T: np.ndarray, color: Color | None
    ) -> ShapeData:
        if min(sizes) <= 0.0:
            if kind != "Capsule" or sizes[0] <= 0.0 or sizes[1] < 0.0:
                geometry.fail(f"{kind}: sizes {sizes} must be positive")
            kind, sizes = "Sphere", sizes[:1]
        return primitive(kind, [float(size) for size in sizes], T, color)

    def _faces(self, geometry: Values, T: np.ndarray, color: Color | None) -> list[ShapeData]:
        points = geometry.numbers("vertices")
        points = geometry.numbers("coordinate") if points is None else points
        faces = geometry.numbers("faces")
        faces = geometry.numbers("coord_index") if faces is None else faces
        if points is None or faces is None or len(points) % 3:
            geometry.fail("an IndexedFaceSet needs vertices, in triples, and faces")
        vertices = points.reshape(-1, 3)
        triangles = triangles_of(faces, len(vertices))
        if triangles is None:
            geometry.fail(
                f"faces name a vertex that does not exist. There are {len(vertices)} vertices"
            )
        return [mesh_shape("faces", vertices, triangles, T, color)] if len(triangles) else []

    def _extrusion(self, geometry: Values, T: np.ndarray, color: Color | None) -> list[ShapeData]:
        """Return the hull of a cross-section (x, z) swept along a spine."""
        section, spine = geometry.numbers("cross_section"), geometry.numbers("spine")
        if section is None or spine is None or len(section) % 2 or len(spine) % 3:
            geometry.fail("an Extrusion needs cross_section, in pairs, and spine, in triples")
        count = len(spine) // 3
        scale = self._by_point(geometry, "scale", (1.0, 1.0), count)
        turns = self._by_point(geometry, "orientation", (0.0, 0.0, 1.0, 0.0), count)
        turns[:, 3] *= self.to_radian
        points = swept(section.reshape(-1, 2), spine.reshape(-1, 3), scale, turns)
        if len(points) < 4 or np.linalg.matrix_rank(points - points[0]) < 3:
            geometry.fail("this Extrusion encloses no volume")
        self.notes.add("geometry Extrusion", "its convex hull")
        return [hull_shape("extrusion", points, T, color)]

    def _by_point(self, geometry: Values, key: str, default: tuple, count: int) -> np.ndarray:
        """Return rows of numbers, one for each point of a spine. A single row is repeated."""
        values, size = geometry.numbers(key), len(default)
        rows = np.array(default) if values is None or len(values) < size else values
        rows = rows[: len(rows) - len(rows) % size].reshape(-1, size)
        if len(rows) != 1 and len(rows) < count:
            geometry.fail(
                f"{key}: must be {size} numbers, or {size} for each of the {count} points of the "
                f"spine, got {len(rows) * size}"
            )
        return np.broadcast_to(rows[:count], (count, size)).copy()

    def _located(self, element: Values) -> Path:
        try:
            return self.resources.locate(element.text("uri", default=""))
        except FileNotFoundError as cause:
            element.fail(f"uri: {cause}")

    def _mesh(
        self, element: Values, path: Path, T: np.ndarray, color: Color | None
    ) -> list[ShapeData]:
        node = _fragment(element)
        T = T @ self._metadata(element)
        if path.suffix.lower() == ".wrl":
            try:
                if node:
                    return named_vrml_shapes(path, node, T, self.notes)
                return read_vrml_file(path, T, self.notes)
            except ModelError as cause:
                element.fail(f"uri: {cause}")
        if path.suffix.lower() not in MESH_SUFFIXES:
            self.notes.add(f"resource {path.suffix}", "left out")
            return []
        if node:
            self.notes.add(f"resource {path.suffix}, a node of it", "the whole file is used")
        shape = mesh_file_shape(path, T, color)
        if shape is None:
            element.fail("uri: a mesh file cannot be sheared: scale it within, not around, turns")
        return [shape]

    def _metadata(self, element: Values) -> np.ndarray:
        """Return the transform (4, 4) from a file's unit and upward axis to metres and z upward.

        `metadata` is a mapping, or a text of words in older files (AbstractSceneLoader and
        StdSceneReader of Choreonoid).
        """
        data = element.get("metadata")
        if isinstance(data, str):
            units = [word for word in data.split() if word in _UNITS]
            unit, axis = (units or ["meter"])[-1], "Y" if "y_upper" in data.split() else "Z"
        else:
            values = Values(data if isinstance(data, dict) else {}, element.fail)
            unit, axis = values.text("length_unit", "meter"), values.text("upper_axis", "Z")
        for key in ("length_unit", "upper_axis"):
            if element.given(key):
                self.notes.add(f"{key} outside of metadata", "not read, as in Choreonoid")
        if unit not in _UNITS:
            self.notes.add(f"length_unit {unit}", "read as metres, as in Choreonoid")
        return affine((_Y_IS_UP if axis == "Y" else np.eye(3)) * _UNITS.get(unit, 1.0), np.zeros(3))


def _fragment(element: Values) -> str:
    """Return the name of the requested part of a file, or "" for the whole file."""
    return element.text("fragment" if element.given("fragment") else "node", default="")


def _entries(owner: Values) -> Iterator[tuple[str, Any]]:
    """Yield the elements of a mapping with their types."""
    content = owner.get("elements")
    if isinstance(content, dict) and "type" not in content:  # {Shape: {...}, Transform: {...}}
        for kind, value in content.items():
            yield from ((str(kind), item) for item in _listed(value))
        return
    for entry in owner.items("elements"):
        if not isinstance(entry, dict) or "type" not in entry:
            owner.fail("elements: each must be a mapping with a type")
        yield str(entry["type"]), entry


def _listed(value: Any) -> list:
    return value if isinstance(value, list) else [value]


def _color(element: Values) -> Color | None:
    appearance = element.get("appearance")
    material = appearance.get("material") if isinstance(appearance, dict) else None
    if not isinstance(material, dict):
        return None
    values = Values(material, element.fail)
    diffuse = values.numbers("diffuse", 3)
    diffuse = values.numbers("diffuse_color", 3) if diffuse is None else diffuse
    r, g, b = (0.8, 0.8, 0.8) if diffuse is None else (float(part) for part in diffuse)
    return r, g, b, 1.0 - values.number("transparency", 0.0)


def _lengths(geometry: Values, kind: str) -> list[float]:
    """Return the sizes of a primitive [m], 1 m by default."""
    if kind != "Box":
        return [geometry.number(key, 1.0) for key in _SIZES[kind]]
    size = geometry.numbers("size", 3)
    return [1.0, 1.0, 1.0] if size is None else size.tolist()
