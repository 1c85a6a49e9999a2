# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Arrays for ray casting: targets at their present poses, the tree of targets, geometry."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import new_array
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import new_kinematics
from hrpsim.engine.rays.box_tree import NODE, PENDING, STACK_DEPTH, new_bins
from hrpsim.engine.rays.height_field import FIELD, pooled_field
from hrpsim.engine.rays.shapes import SURFACE, TRIANGLE, mesh_tree
from hrpsim.model.shapes.geometry import PLANE, Geometry, Mesh
from hrpsim.model.shapes.terrain import HeightField

HEIGHT_FIELD = 100  # the kind of a target whose mesh is one

TARGET = np.dtype(
    [
        ("kind", "i8"),  # kind of the geometry, or HEIGHT_FIELD
        ("size", "f8", (3,)),
        ("body", "i8"),  # -1: the world
        ("local_R", "f8", (3, 3)),  # rotation in the body frame
        ("local_p", "f8", (3,)),  # position in the body frame [m]
        ("half", "f8", (3,)),  # half sizes of the bounding box, in the frame of the target [m]
        ("middle", "f8", (3,)),  # centre of the bounding box, in the frame of the target [m]
        ("geometry", "i8"),  # index in the mesh surfaces, or in the height fields
        ("link", "i8"),  # index in World.link_names
        ("R", "f8", (3, 3)),  # present rotation in the world
        ("p", "f8", (3,)),  # present position in the world [m]
    ]
)

# The state of the tree over the targets.
TREE = np.dtype([("count", "i8"), ("area", "f8"), ("built_area", "f8")])


class RayScene(NamedTuple):
    """The n targets of rays, and the data structures to find the first target of a ray."""

    forest: Forest
    q: np.ndarray  # (nq,)
    placed_q: np.ndarray  # (nq,) for which the targets were placed
    kinematics: np.ndarray  # KINEMATICS, work
    targets: np.ndarray  # (n,) TARGET
    endless: np.ndarray  # indices of the planes
    bounded: np.ndarray  # indices of all others, the items of the tree
    lower: np.ndarray  # (bounded, 3) their boxes in the world [m]
    upper: np.ndarray
    tree: np.ndarray  # (1,) TREE
    nodes: np.ndarray  # NODE
    order: np.ndarray  # the items, as the leaves have them
    ranges: np.ndarray  # work
    bins: np.ndarray  # BIN, work
    stack: np.ndarray  # PENDING, work
    surfaces: np.ndarray  # SURFACE of each mesh
    mesh_nodes: np.ndarray  # NODE
    mesh_triangles: np.ndarray  # TRIANGLE
    mesh_stack: np.ndarray  # PENDING, work
    fields: np.ndarray  # FIELD of each height field
    heights: np.ndarray  # [m]
    blocks: np.ndarray  # (b, 2) [m]


class Target(NamedTuple):
    """A shape that rays meet, in the frame of its body (-1: the world)."""

    geometry: Geometry
    body: int
    R: np.ndarray  # (3, 3)
    p: np.ndarray  # (3,) [m]
    link: int


def new_ray_scene(forest: Forest, q: np.ndarray, targets: Sequence[Target]) -> RayScene:
    """Return the ray scene of these targets. `q` (nq,) is the configuration of their bodies."""
    records = new_array((len(targets),), TARGET)
    geometry = _Pools()
    for record, target in zip(records, targets, strict=True):
        geometry.add(target.geometry, record)
        record["body"], record["link"] = target.body, target.link
        record["local_R"], record["local_p"] = target.R, target.p
    bounded = np.flatnonzero(records["kind"] != PLANE)
    n = len(bounded)
    return RayScene(
        forest,
        q,
        np.full_like(q, np.nan),
        new_kinematics(len(forest.bodies)),
        records,
        np.flatnonzero(records["kind"] == PLANE),
        bounded,
        np.zeros((n, 3)),
        np.zeros((n, 3)),
        np.zeros(1, dtype=TREE),
        new_array((max(n, 1),), NODE),
        np.zeros(n, dtype=np.int64),
        np.zeros((max(n, 1), 3), dtype=np.int64),
        new_bins(),
        np.zeros(STACK_DEPTH, dtype=PENDING),
        *geometry.joined(),
    )


class _Pools:
    """The geometry of all targets in arrays. Each mesh is stored once."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # by the identity of the mesh
        self._surfaces, self._nodes, self._triangles = [], [], []
        self._fields, self._heights, self._blocks = [], [], []
        self._first = [0, 0]

    def add(self, geometry: Geometry, record) -> None:
        """Write the geometry's part of a TARGET record."""
        record["kind"], record["size"] = geometry.kind, geometry.size
        record["half"], record["middle"] = _box_of(geometry)
        if not isinstance(geometry, Mesh):
            return
        is_field = isinstance(geometry, HeightField)
        if is_field:
            record["kind"] = HEIGHT_FIELD
        if id(geometry) not in self._numbers:
            add = self._add_field if is_field else self._add_mesh
            self._numbers[id(geometry)] = add(geometry)
        record["geometry"] = self._numbers[id(geometry)]

    def _add_field(self, field: HeightField) -> int:
        self._fields.append(pooled_field(field, self._heights, self._blocks))
        return len(self._fields) - 1

    def _add_mesh(self, mesh: Mesh) -> int:
        tree = mesh_tree(mesh)
        self._surfaces.append(tuple(self._first))
        self._nodes.append(tree.nodes)
        self._triangles.append(tree.triangles)
        self._first = [self._first[0] + len(tree.nodes), self._first[1] + len(tree.triangles)]
        return len(self._surfaces) - 1

    def joined(self) -> tuple[np.ndarray, ...]:
        """Return the concatenated geometry arrays, which are the last fields of a RayScene."""
        stack = np.zeros(STACK_DEPTH, dtype=PENDING)
        return (
            np.array(self._surfaces, dtype=SURFACE),
            np.concatenate([np.zeros(0, dtype=NODE), *self._nodes]),
            np.concatenate([np.zeros(0, dtype=TRIANGLE), *self._triangles]),
            stack,
            np.array(self._fields, dtype=FIELD),
            np.concatenate([np.zeros(0), *self._heights]),
            np.concatenate([np.zeros((0, 2)), *self._blocks]),
        )


def _box_of(geometry: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Return half lengths and centre of a shape's bounding box in the shape's frame [m]."""
    if isinstance(geometry, Mesh):
        is_field = isinstance(geometry, HeightField)
        ends = geometry.bounds if is_field else geometry.vertices
        low, high = ends.min(axis=0), ends.max(axis=0)
        return 0.5 * (high - low), 0.5 * (high + low)
    first, second, third = geometry.size
    half = {"Box": (first, second, third), "Sphere": (first, first, first)}.get(
        type(geometry).__name__, (first, first, second)
    )
    if type(geometry).__name__ == "Capsule":
        half = first, first, first + second
    return np.array(half), np.zeros(3)
