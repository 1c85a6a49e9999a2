# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read OpenHRP's robots and shapes in VRML97: Humanoid, Joint, Segment, sensor, shape nodes."""

from __future__ import annotations

import math
import os
from pathlib import Path

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError, unknown_name
from hrpsim.model.readers.openhrp import assembly
from hrpsim.model.readers.openhrp.vrml import Node, Vrml
from hrpsim.model.readers.robot_data import Notes, RobotData, ShapeData
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES, JointType
from hrpsim.model.readers.urdf.xacro_text import read_source
from hrpsim.model.sensors.kinds import SENSOR_KINDS

_TYPES = {name: kind for kind in JOINT_TYPES.values() for name in kind.vrml_names}
_AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
_SENSORS = {name: kind.kind for kind in SENSOR_KINDS.values() for name in kind.vrml_nodes}
_DEVICES = (
    *("VisionSensor", "RangeSensor", "PressureSensor", "PhotoInterrupter", "TorqueSensor"),
    *("SpotLight", "DirectionalLight", "PointLight"),
)
# Mouse handles of OpenHRP's prototypes: their bodies rotate their children there and back.
_HANDLES = ("CylinderSensorX", "CylinderSensorY", "CylinderSensorZ")
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
    """Return the transform (4, 4) from the children of a Transform or Joint to its parent."""
    if not {"translation", "rotation", "scale", "center"} & set(node.fields):
        return np.eye(4)

    def vector(name: str, default: tuple[float, ...]) -> np.ndarray:
        numbers = file.numbers(node, name, len(default))
        return np.array(default) if numbers is None else numbers

    center = vector("center", (0.0, 0.0, 0.0))
    S = file.rotation(node, "scaleOrientation")
    R = file.rotation(node, "rotation")
    linear = R @ S @ np.diag(vector("scale", (1.0, 1.0, 1.0))) @ S.T
    moved = vector("translation", (0.0, 0.0, 0.0)) + center - linear @ center
    return assembly.affine(linear, moved)


def _chosen(file: Vrml, node: Node) -> list[Node]:
    """Return the child of a Switch or LOD that is shown, if any."""
    if node.type == "LOD":
        return node.nodes("level")[:1]
    choice = int(file.number(node, "whichChoice", -1.0))
    return node.nodes("choice")[choice : choice + 1] if choice >= 0 else []


def vrml_shapes(
    file: Vrml, nodes: list[Node], T: np.ndarray, notes: Notes, depth: int = 0, inlined: int = 0
) -> list[ShapeData]:
    """Return the shapes of nodes, and of all nodes inside, in the frame that T (4, 4) maps to."""
    result: list[ShapeData] = []
    for node in nodes:
        if depth > limits.VRML_DEPTH:
            file.fail(node, f"nodes are more than {limits.VRML_DEPTH} deep (VRML_DEPTH)")
        if node.type == "Shape":
            result += _shape(file, node, T, notes)
        elif node.type == "Inline":
            result += _inline(file, node, T, notes, inlined)
        elif node.type in ("Switch", "LOD"):
            result += vrml_shapes(file, _chosen(file, node), T, notes, depth + 1, inlined)
        elif node.type in GROUPS or node.nodes("children"):
            if node.type not in GROUPS:
                notes.add(node.type, "its shapes alone are read")
            inner = T @ transform_of(file, node)
            result += vrml_shapes(file, node.nodes("children"), inner, notes, depth + 1, inlined)
        elif node.type not in _PASSED:
            notes.add(node.type, "not read")
    return result


def read_vrml_file(path: Path, T: np.ndarray, notes: Notes, inlined: int = 0) -> list[ShapeData]:
    """Return the shapes of a VRML97 file, moved by a transform T (4, 4).

    Raises ModelError if the file is invalid.
    """
    file = parsed(read_source(path)[0], path, notes)
    return vrml_shapes(file, file.nodes, T, notes, 0, inlined)


def named_vrml_shapes(path: Path, name: str, T: np.ndarray, notes: Notes) -> list[ShapeData]:
    """Return the shapes of the node with the DEF name `name` in a file, as Choreonoid does.

    T (4, 4) places the node's origin. Rotations and scales of the transforms above the node still
    apply to the node. Translations above the node do not.
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
            return vrml_shapes(file, shapes, T @ assembly.affine(inner, np.zeros(3)), notes)
        names += [node.name] if node.name else []
        pending += [(child, inner) for child in reversed(node.nodes("children"))]
    raise ModelError(f"{path}: {unknown_name('node', name, names)}")


def parsed(text: str, path: Path, notes: Notes) -> Vrml:
    """Parse a VRML97 file. Add a note for each field that is given twice in a node."""
    file = Vrml(text, path)
    for lines in file.repeated.values():
        notes.add(f"{lines[0]}: given twice", "the last one holds", times=len(lines))
    return file


def _inline(file: Vrml, node: Node, T: np.ndarray, notes: Notes, inlined: int) -> list[ShapeData]:
    url = file.text(node, "url")
    path = file.path.parent / url
    if path.suffix.lower() in assembly.MESH_SUFFIXES:  # Choreonoid reads these, too
        shape = assembly.mesh_file_shape(path, T, None)
        if not os.path.isfile(path):
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
    result = []
    for geometry in node.nodes("geometry"):
        kind = geometry.type
        if kind == "IndexedFaceSet":
            result += _faces(file, geometry, T, color)
        elif kind == "Box":
            size = file.numbers(geometry, "size", 3)
            sizes = [2.0, 2.0, 2.0] if size is None else size.tolist()
            result.append(assembly.primitive(kind, _positive(file, geometry, sizes), T, color))
        elif kind in _SIZES:
            sizes = [file.number(geometry, k, _DEFAULT_SIZES[k]) for k in _SIZES[kind]]
            result.append(assembly.primitive(kind, _positive(file, geometry, sizes), T, color))
        else:
            notes.add(f"geometry {kind}", "left out")
    return result


def _positive(file: Vrml, node: Node, sizes: list[float]) -> list[float]:
    if min(sizes) <= 0.0:
        file.fail(node, f"sizes {sizes} must be positive")
    return sizes


def _faces(file: Vrml, node: Node, T: np.ndarray, color: assembly.Color | None) -> list[ShapeData]:
    coordinates = node.nodes("coord")
    points = file.numbers(coordinates[0], "point") if coordinates else None
    indices = file.numbers(node, "coordIndex")
    if points is None or indices is None:
        return []
    if len(points) % 3:
        file.fail(coordinates[0], f"point: must be triples of numbers, got {len(points)} numbers")
    vertices = points.reshape(-1, 3)
    faces = assembly.triangles_of(indices, len(vertices))
    if faces is None:
        file.fail(
            node, f"coordIndex names a point that does not exist. There are {len(vertices)} points"
        )
    if not len(faces):
        return []
    if node.fields.get("ccw") is False:
        faces = faces[:, ::-1]
    return [assembly.mesh_shape(node.name or file.path.stem, vertices, faces, T, color)]


def _color(file: Vrml, node: Node) -> assembly.Color | None:
    for appearance in node.nodes("appearance"):
        for material in appearance.nodes("material"):
            diffuse = file.numbers(material, "diffuseColor", 3)
            r, g, b = (0.8, 0.8, 0.8) if diffuse is None else (float(part) for part in diffuse)
            return r, g, b, 1.0 - file.number(material, "transparency", 0.0)
    return None


def read_wrl(text: str, path: Path) -> RobotData:
    """Return the robot of a VRML97 file. ModelError names file, line and node."""
    notes = Notes()
    file = parsed(text, path, notes)
    humanoids = [node for node in file.nodes if node.type == "Humanoid"]
    if len(humanoids) != 1:
        raise ModelError(
            f"{path}: a robot needs one Humanoid node, but the file has {len(humanoids)}. A .wrl"
            " without this node is a shape"
        )
    reader = _Reader(file, notes)
    humanoid = humanoids[0]
    roots = [node for node in humanoid.nodes("humanoidBody") if node.type == "Joint"]
    if len(roots) != 1:
        file.fail(humanoid, f"humanoidBody must contain one Joint, got {len(roots)}")
    reader.joint(roots[0], None, 0)
    name = humanoid.name or path.stem
    return assembly.assembled(
        name, reader.parts, [], reader.notes, lambda cause: file.fail(humanoid, cause)
    )


class _Reader:
    """Collects the parts of a robot."""

    def __init__(self, file: Vrml, notes: Notes) -> None:
        self.file, self.notes = file, notes
        self.parts: list[assembly.LinkAssembly] = []
        self._segments: dict[str, Node] = {}

    def joint(self, node: Node, parent: str | None, depth: int) -> None:
        """Add the part of a Joint and the parts below."""
        file = self.file
        if len(self.parts) >= limits.LINKS:
            file.fail(node, f"{limits.excess('LINKS', 'links')}")
        if depth > limits.VRML_DEPTH:
            file.fail(node, limits.excess("VRML_DEPTH", "nested joints"))
        kind = file.text(node, "jointType")
        if kind in ("crawler", "pseudoContinuousTrack"):
            self.notes.add(f"Joint of type {kind}", "fixed")
            kind = "fixed"
        if kind not in _TYPES:
            file.fail(node, unknown_name("jointType", kind, _TYPES))
        joint_type = _TYPES[kind]
        name = node.name or file.text(node, "name") or f"joint{len(self.parts)}"
        T = transform_of(file, node)
        part = assembly.LinkAssembly(
            *(name, parent, joint_type.name, assembly.placement_of(T)), self._axis(node, joint_type)
        )
        self._describe(node, part)
        self.parts.append(part)
        self._content(node, part, np.eye(4), depth)

    def _axis(self, node: Node, joint_type: JointType) -> np.ndarray:
        joint_axis = node.fields.get("jointAxis", "Z")
        if isinstance(joint_axis, str):
            if joint_axis.upper() in _AXES:
                return np.array(_AXES[joint_axis.upper()])
            if joint_type.needs_axis:
                self.file.fail(node, unknown_name("jointAxis", joint_axis, _AXES))
            return np.array(_AXES["Z"])
        axis = self.file.numbers(node, "jointAxis", 3)
        if axis is None or not axis.any():
            if joint_type.needs_axis:
                self.file.fail(node, "jointAxis is zero")
            return np.array(_AXES["Z"])
        return axis

    def _describe(self, node: Node, part: assembly.LinkAssembly) -> None:
        file = self.file
        part.joint_id = int(max(min(file.number(node, "jointId", -1.0), 1e6), -1.0))
        part.lower = file.number(node, "llimit", -math.inf)
        part.upper = file.number(node, "ulimit", math.inf)
        if part.lower > part.upper:
            file.fail(node, f"llimit {part.lower:g} is above ulimit {part.upper:g}")
        rates = [file.number(node, key, math.inf) for key in ("lvlimit", "uvlimit")]
        part.velocity = max(map(abs, rates))
        gear, rotor = file.number(node, "gearRatio", 1.0), file.number(node, "rotorInertia", 0.0)
        stated = file.number(node, "equivalentInertia", 0.0)
        part.rotor_inertia = stated or gear * gear * rotor
        if part.rotor_inertia < 0.0:
            file.fail(node, "rotorInertia is negative")
        current = file.numbers(node, "climit")
        if current is not None:
            torque = file.number(node, "torqueConst", 1.0)
            part.effort = float(np.abs(current).max()) * abs(torque * gear)

    def _content(self, node: Node, part: assembly.LinkAssembly, T: np.ndarray, depth: int) -> None:
        """Read the children of a Joint, Segment or group. T (4, 4) maps their frame to the link."""
        file = self.file
        if depth > limits.VRML_DEPTH:
            file.fail(node, f"nodes are more than {limits.VRML_DEPTH} deep (VRML_DEPTH)")
        for child in node.nodes("children", "humanoidBody"):
            if child.type == "Joint":
                self._require_no_transform(child, T)
                self.joint(child, part.name, depth + 1)
            elif child.type == "Segment":
                self._segment(child, part, T, depth)
            elif child.type in _DEVICES:
                self.notes.add(child.type, "not simulated")
            elif child.type == "Surface":
                part.visuals += self._shapes(child.nodes("visual"), T)
                part.collisions += self._shapes(child.nodes("collision"), T)
            elif child.type in _SENSORS or child.type in _HANDLES:
                self._add_sensor(child, part, T)
                self._content(child, part, T, depth + 1)
            elif self._holds_parts(child):
                self._content(child, part, T @ self._motion_of(child), depth + 1)
            else:
                part.shapes += self._shapes([child], T)

    def _require_no_transform(self, joint: Node, T: np.ndarray) -> None:
        if not np.array_equal(T, np.eye(4)):
            self.file.fail(
                joint, "a Joint must not be inside a Transform. Move the Transform into the Joint"
            )

    def _add_sensor(self, node: Node, part: assembly.LinkAssembly, T: np.ndarray) -> None:
        """Add a sensor to a link. A mouse handle is not a sensor."""
        if node.type not in _SENSORS:
            return
        R = self.file.rotation(node, "rotation")
        p = _or(self.file.numbers(node, "translation", 3), (0.0, 0.0, 0.0))
        placement = assembly.placement_of(T @ assembly.affine(R, np.array(p)))
        label = node.name or f"{part.name}_{node.type}"
        part.sensors.append((label, _SENSORS[node.type], placement))

    def _motion_of(self, group: Node) -> np.ndarray:
        """Return the transform (4, 4) of a group that holds parts of a robot."""
        if group.type not in GROUPS:
            self.file.fail(
                group,
                f"a {group.type} contains joints, segments or sensors, which is not supported. "
                f"Supported: {', '.join((*GROUPS, *_HANDLES))}",
            )
        return transform_of(self.file, group)

    def _segment(self, node: Node, part: assembly.LinkAssembly, T: np.ndarray, depth: int) -> None:
        file = self.file
        mass = file.number(node, "mass", 0.0)
        if mass < 0.0:
            file.fail(node, f"the mass {mass:g} kg is negative")
        if node.name and self._segments.setdefault(node.name, node) is not node:
            self.notes.add(f"a second Segment {node.name!r}, line {node.line}", "both have mass")
        com = np.array(_or(file.numbers(node, "centerOfMass", 3), (0.0, 0.0, 0.0)))
        moments = np.array(_or(file.numbers(node, "momentsOfInertia", 9), np.zeros(9)))
        inertia = moments.reshape(3, 3)
        if mass or inertia.any():
            part.masses.append(assembly.placed_mass(mass, com, 0.5 * (inertia + inertia.T), T))
        self._content(node, part, T, depth + 1)

    def _holds_parts(self, node: Node, depth: int = 0) -> bool:
        """Return whether a node holds joints, segments or sensors, and not only shapes."""
        kinds = ("Joint", "Segment", "Surface", *_SENSORS, *_DEVICES, *_HANDLES)
        return depth < limits.VRML_DEPTH and any(
            child.type in kinds or self._holds_parts(child, depth + 1)
            for child in node.nodes("children")
        )

    def _shapes(self, nodes: list[Node], T: np.ndarray) -> list[ShapeData]:
        return vrml_shapes(self.file, nodes, T, self.notes)


def _or(value, default):
    return default if value is None else value
