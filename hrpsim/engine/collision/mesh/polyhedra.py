# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Polyhedral solids as flat pools for the kernels: vertices, edges, triangles, bounding boxes.

Sphere, capsule, box and cylinder have proxies here for their contacts with meshes. A sphere is a
point and a capsule a segment, each with a rounding radius. A box is the box itself. A cylinder
keeps its radius and half length, from which engine.collision.mesh.cylinder_contacts makes features.
A prism replaces the cylinder in searches of distances.
"""

from typing import NamedTuple

import numpy as np

CONVEX, FLAT, CONCAVE = (np.int64(k) for k in range(3))

VERTEX = np.dtype(
    [
        ("position", "f8", (3,)),  # in the solid's frame, as all here [m]
        ("first_spoke", "i8"),
        ("last_spoke", "i8"),  # one past
    ]
)

# A direction in which the surface leaves a vertex, the normals of the faces at it, and the vertex
# at its end, -1 for the wall beneath a boundary.
SPOKE = np.dtype([("direction", "f8", (3,)), ("normals", "f8", (2, 3)), ("to", "i8")])

EDGE = np.dtype(
    [
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
        ("vertices", "i8", (3,)),
        ("edges", "i8", (3,)),  # edge k goes from vertex k to the next
        ("normal", "f8", (3,)),
        ("outward", "f8", (3, 3)),  # unit vectors in the plane, across each edge
        ("bend", "i8", (3,)),  # CONVEX, FLAT or CONCAVE, at each edge
        ("beyond", "f8", (3, 3)),  # normals of the triangles beyond the edges
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
        ("child", "i8"),  # the first of two children, the other one follows it; -1: a leaf
        ("triangle", "i8"),
        ("least_normal", "f8", (3,)),
        ("most_normal", "f8", (3,)),
        ("center", "f8", (3,)),
        ("half", "f8", (3,)),
    ]
)

SOLID = np.dtype(
    [
        ("root", "i8"),
        ("first_vertex", "i8"),
        ("first_edge", "i8"),
        ("first_triangle", "i8"),
        ("triangle_count", "i8"),
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
    "solids": SOLID,
}


class Polyhedra(NamedTuple):
    """A pool of one or more solids; indices count from the start of each array."""

    vertices: np.ndarray  # VERTEX
    spokes: np.ndarray  # SPOKE
    edges: np.ndarray  # EDGE
    triangles: np.ndarray  # TRIANGLE
    nodes: np.ndarray  # NODE
    solids: np.ndarray  # SOLID


def joined_polyhedra(parts: list[Polyhedra]) -> Polyhedra:
    """Return one pool of all parts, with shifted indices."""
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
    """Shift the indices of a part for a place after `first` entries."""
    vertices, spokes, _, triangles, nodes, solids = part
    vertices["first_spoke"] += first["spokes"]
    vertices["last_spoke"] += first["spokes"]
    spokes["to"] += np.where(spokes["to"] >= 0, first["vertices"], 0)
    triangles["vertices"] += first["vertices"]
    triangles["edges"] += first["edges"]
    nodes["child"] += np.where(nodes["child"] >= 0, first["nodes"], 0)
    nodes["triangle"] += np.where(nodes["triangle"] >= 0, first["triangles"], 0)
    solids["root"] += first["nodes"]
    solids["first_vertex"] += first["vertices"]
    solids["first_edge"] += first["edges"]
    solids["first_triangle"] += first["triangles"]
