# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Polyhedral solids as flat pools for the kernels: vertices, edges, triangles, bounding boxes.

Sphere, capsule, box and cylinder have proxies here for their contacts with meshes. A sphere is a
point and a capsule a segment, each with a rounding radius. A box is the box itself. A cylinder is
stored by radius and half length, from which engine.collision.mesh.cylinder_contacts makes features.
Distance searches replace the cylinder by a prism.
"""

from typing import NamedTuple

import numpy as np

CONVEX, FLAT, CONCAVE = (np.int64(k) for k in range(3))
# Faces that meet at less than this angle [rad] continue each other.
FLAT_ANGLE = 1e-3
# NODE.child of a leaf. Node of a tile of grid k: TILE - k, and its `triangle` is the tile's number.
LEAF, TILE = np.int64(-1), np.int64(-2)

VERTEX = np.dtype(
    [
        ("position", "f8", (3,)),  # in the solid's frame, as all here [m]
        ("number", "i8"),  # in the solid, part of a contact's name; as of edges and triangles
        ("first_spoke", "i8"),
        ("last_spoke", "i8"),  # one past
        ("is_sharp", "i8"),  # whether it is a feature; not of a height field
    ]
)

# A direction in which the surface leaves a vertex, the normals of the faces at it, and the vertex
# at its end, -1 for the wall beneath a boundary.
SPOKE = np.dtype([("direction", "f8", (3,)), ("normals", "f8", (2, 3)), ("to", "i8")])

EDGE = np.dtype(
    [
        ("number", "i8"),
        ("start", "f8", (3,)),
        ("direction", "f8", (3,)),  # unit vector
        ("length", "f8"),
        ("normals", "f8", (2, 3)),  # of the two faces; 0 for the core of a capsule
        ("inward", "f8", (2, 3)),  # unit vectors in the faces, across the edge; or 0
        ("depth", "f8"),  # how deep another edge may be inside [m]
        ("goes_on", "i8"),  # bits 0 and 1: start and end lie in a hollow, beneath a face beyond
        ("beyond", "f8", (2, 3)),  # the normals of those faces
        ("curved", "i8"),  # 1: the first of its two faces is the side of a cylinder
    ]
)

TRIANGLE = np.dtype(
    [
        ("number", "i8"),
        ("vertices", "i8", (3,)),
        ("edges", "i8", (3,)),  # edge k goes from vertex k to the next
        ("normal", "f8", (3,)),
        ("outward", "f8", (3, 3)),  # unit vectors in the plane, across each edge
        ("bend", "i8", (3,)),  # CONVEX, FLAT or CONCAVE, at each edge
        ("beyond", "f8", (3, 3)),  # normals of the triangles beyond the edges
        ("beside", "i8", (3,)),  # these triangles, -1 for none; not of a height field
        ("facet", "i8"),  # the same for triangles that continue each other flatly
        ("depth", "f8"),  # how deep a vertex may be inside, half the thickness [m]
        ("is_face", "i8"),  # 0: only carries a point or a segment
        ("owned", "i8"),  # bits 0..2: vertices, 3..5: edges that are features and met here
    ]
)

# The boxes of an inner node hold those of its two children. A leaf's box holds the triangle and
# what lies inward of it down to its depth, its skin the triangle alone. The node has the bounds of
# the normals of contacts with the triangle, its edges and its vertices.
NODE = np.dtype(
    [
        ("skin_center", "f8", (3,)),
        ("skin_half", "f8", (3,)),
        ("child", "i8"),  # the first of two children, the other one follows it; LEAF; a tile
        ("triangle", "i8"),
        ("least_normal", "f8", (3,)),
        ("most_normal", "f8", (3,)),
        ("center", "f8", (3,)),
        ("half", "f8", (3,)),
        ("first_corner", "i4"),  # of its corners, which follow each other; not of a tile's nodes
        ("corner_count", "i4"),
    ]
)

# A vertex that a triangle owns. The corners have the order in which a search comes to the leaves.
CORNER = np.dtype([("position", "f8", (3,)), ("vertex", "i8")])  # [m]

# A height field: heights over the points (i, j) of a grid, i along x. Tiles of cells are made into
# the records above when a search comes to them, in a slot each (solids.tiles).
TILE_SIDE = 8  # cells along each side of a tile
# Room for the records of a tile.
TILE_ROOM = {
    "vertices": (TILE_SIDE + 1) ** 2,
    "spokes": 8 * (TILE_SIDE + 1) ** 2,  # six edges, and two walls at a corner of the field
    "edges": 3 * (TILE_SIDE + 1) ** 2,
    "triangles": 2 * TILE_SIDE**2,
    "nodes": 4 * TILE_SIDE**2 - 1,
}
GRID = np.dtype(
    [
        ("cells", "i8", (2,)),  # along x and y
        ("start", "f8", (2,)),  # of point (0, 0) [m]
        ("step", "f8", (2,)),  # distance of neighbours [m]
        ("tiles", "i8", (2,)),  # along x and y
        ("first_height", "i8"),
        ("first_facet", "i8"),
        ("first_tile", "i8"),
        ("first_slot", "i8"),
        ("slot_count", "i8"),
        ("first_vertex", "i8"),  # of the first slot, as the next
        ("first_spoke", "i8"),
        ("first_edge", "i8"),
        ("first_triangle", "i8"),
        ("first_node", "i8"),
        ("clock", "i8"),  # number of searches that came to a tile
        ("held", "i8"),  # slot that must stay
        ("low", "f8"),  # least height [m]
        ("steepest", "f8"),  # largest slope
        ("depth", "f8"),  # largest depth of a triangle [m]
        ("edge", EDGE),  # work
        ("sharp", "i8", (TILE_ROOM["vertices"],)),  # work: whether each vertex of a tile is sharp
        ("simplex", "f8", (4, 3)),  # work
        ("parts", "i8", (TILE_ROOM["nodes"], 5)),  # work: cells of a tile's nodes
    ]
)

SLOT = np.dtype(
    [
        ("tile", "i8"),  # -1: none
        ("used", "i8"),  # `clock` at its last search
    ]
)

SOLID = np.dtype(
    [
        ("root", "i8"),
        ("first_vertex", "i8"),
        ("first_edge", "i8"),
        ("first_triangle", "i8"),
        ("triangle_count", "i8"),
        ("grid", "i8"),  # of a height field, whose records are made by tiles; -1: it is none
        ("is_closed", "i8"),  # 0: a surface with a boundary, or the core of a round shape
        ("is_convex", "i8"),  # 1: it is the convex hull of its vertices, rounded or not
        ("rounding", "f8"),  # radius about all of it [m]
        ("cylinder_radius", "f8"),  # of a cylinder about the z axis [m]; 0: it is none
        ("cylinder_half", "f8"),  # half the length of the cylinder [m]
        ("rim", "f8"),  # distance by which features must miss each other to count as missing [m]
        ("ball", "f8"),  # radius of the ball about the frame's origin that holds it [m]
        ("lower", "f8", (3,)),  # corners of its box, in its frame [m]
        ("upper", "f8", (3,)),
    ]
)

POOLS = {
    "vertices": VERTEX,
    "spokes": SPOKE,
    "edges": EDGE,
    "triangles": TRIANGLE,
    "nodes": NODE,
    "corners": CORNER,
    "solids": SOLID,
    "grids": GRID,
    "heights": np.dtype("f8"),
    "facets": np.dtype("i4"),
    "tiles": np.dtype("i4"),
    "slots": SLOT,
}

_FIRST = {  # fields that are indices into a pool
    "first_vertex": "vertices",
    "first_spoke": "spokes",
    "first_edge": "edges",
    "first_triangle": "triangles",
    "first_node": "nodes",
    "first_height": "heights",
    "first_facet": "facets",
    "first_tile": "tiles",
    "first_slot": "slots",
}


class Polyhedra(NamedTuple):
    """A pool of one or more solids. Indices count from the start of each array."""

    vertices: np.ndarray  # VERTEX
    spokes: np.ndarray  # SPOKE
    edges: np.ndarray  # EDGE
    triangles: np.ndarray  # TRIANGLE
    nodes: np.ndarray  # NODE
    corners: np.ndarray  # CORNER
    solids: np.ndarray  # SOLID
    grids: np.ndarray  # GRID of each height field
    heights: np.ndarray  # of these [m], row by row
    facets: np.ndarray  # of the triangles of these
    tiles: np.ndarray  # the slot of each tile of these; -1: its records are not made
    slots: np.ndarray  # SLOT of each place for the records of a tile


def no_grids() -> list[np.ndarray]:
    """Return empty height-field arrays, the last fields of a Polyhedra without height fields."""
    names = ("grids", "heights", "facets", "tiles", "slots")
    return [np.zeros(0, dtype=POOLS[name]) for name in names]


def joined_polyhedra(parts: list[Polyhedra]) -> Polyhedra:
    """Join several pools to one pool, and shift the indices accordingly."""
    joined = Polyhedra(
        **{
            name: np.concatenate([np.zeros(0, kind), *(getattr(part, name) for part in parts)])
            for name, kind in POOLS.items()
        }
    )
    first = dict.fromkeys(POOLS, 0)
    for part in parts:
        end = {name: at + len(getattr(part, name)) for name, at in first.items()}
        shift(Polyhedra(*(a[first[n] : end[n]] for n, a in joined._asdict().items())), first)
        first = end
    return joined


def shift(part: Polyhedra, first: dict[str, int]) -> None:
    """Shift the indices of a pool that is appended to another pool.

    Args:
        part: pool to append, changed.
        first: number of entries before this pool, for each array.
    """
    part.vertices["first_spoke"] += first["spokes"]
    part.vertices["last_spoke"] += first["spokes"]
    part.spokes["to"] += np.where(part.spokes["to"] >= 0, first["vertices"], 0)
    part.triangles["vertices"] += first["vertices"]
    part.triangles["edges"] += first["edges"]
    beside = part.triangles["beside"]
    beside += np.where(beside >= 0, first["triangles"], 0)
    child = part.nodes["child"]
    part.nodes["triangle"] += np.where(child == LEAF, first["triangles"], 0)
    child += np.where(child >= 0, first["nodes"], np.where(child <= TILE, -first["grids"], 0))
    part.nodes["first_corner"] += first["corners"]
    part.corners["vertex"] += first["vertices"]
    part.solids["root"] += first["nodes"]
    part.solids["grid"] += np.where(part.solids["grid"] >= 0, first["grids"], 0)
    for field_name, pool in _FIRST.items():
        for records in (part.solids, part.grids):
            if field_name in (records.dtype.names or ()):
                records[field_name] += first[pool]
