# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build a polyhedral solid with features (sharp vertices, convex edges, faces) from triangles.

Contacts are made between vertices and faces, and between edges. A vertex can touch first only if
the surface falls away from the vertex on all sides. An edge can touch first only if the edge is
convex. Flat and concave features never touch first (docs/explanation/collision.md).
"""

import numpy as np

from hrpsim.engine.collision.solids.polyhedra import (
    CONCAVE,
    CONVEX,
    CORNER,
    EDGE,
    FLAT,
    FLAT_ANGLE,
    NODE,
    SOLID,
    SPOKE,
    TRIANGLE,
    VERTEX,
    Polyhedra,
    no_grids,
)
from hrpsim.engine.collision.solids.sharp_vertices import find_sharp
from hrpsim.engine.collision.solids.tree_queries import measure_thickness, new_stack
from hrpsim.model.shapes.mesh_integrals import doubled_areas
from hrpsim.model.shapes.mesh_topology import directed_edges, is_convex, joined_sides, shared_edges

# Normals about a vertex are in all directions where their cosine with the middle one is less.
_WIDE = 0.2
# Features that miss each other by this part of the smaller solid still meet, as with boxes.
RIM = 1e-4


def polyhedron(vertices: np.ndarray, triangles: np.ndarray) -> Polyhedra:
    """Return the solid whose surface consists of the given triangles.

    Args:
        vertices: positions (n, 3) [m].
        triangles: indices of vertices (m, 3), counter-clockwise as seen from outside.
    """
    p = np.ascontiguousarray(vertices, dtype=np.float64)
    t = np.ascontiguousarray(triangles, dtype=np.int64)
    corners = p[t]
    normals = doubled_areas(corners)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    edges, ends, faces, edge_of = _edges(p, t, normals)
    angle = _angles(edges)

    faces_out = np.zeros(len(t), dtype=TRIANGLE)
    faces_out["number"], edges["number"] = np.arange(len(t)), np.arange(len(edges))
    faces_out["vertices"], faces_out["edges"] = t, edge_of
    faces_out["normal"], faces_out["is_face"] = normals, 1
    along = np.roll(corners, -1, axis=1) - corners
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    faces_out["outward"] = np.cross(along, normals[:, None, :])
    closed_convex = bool((faces[:, 1] >= 0).all()) and is_convex(p, t)
    # slivers of a convex hull rise above their neighbours by rounding
    dent = FLAT if closed_convex else CONCAVE
    bend = np.where(angle > FLAT_ANGLE, CONVEX, np.where(angle < -FLAT_ANGLE, dent, FLAT))
    faces_out["bend"] = bend[edge_of]
    across = np.where(faces[edge_of, 0] == np.arange(len(t))[:, None], 1, 0)
    faces_out["beyond"] = np.take_along_axis(
        edges["normals"][edge_of], across[:, :, None, None], axis=2
    )[:, :, 0, :]
    faces_out["beside"] = np.take_along_axis(faces[edge_of], across[:, :, None], axis=2)[:, :, 0]
    faces_out["facet"] = _facets(faces[bend == FLAT], len(t))

    points, spokes, sharp = _spokes(p, normals, ends, faces, bend)
    points["is_sharp"] = sharp
    _own_features(faces_out, sharp, bend == CONVEX)
    _find_hollows(edges, ends, faces, edge_of, normals, bend, sharp)

    lower, upper = corners.min(axis=1), corners.max(axis=1)
    size = np.ptp(p[t.ravel()], axis=0)
    solid = _solid(p[t.ravel()], RIM * 0.5 * smallest_extent(size))
    solid["triangle_count"] = len(t)
    solid["is_closed"] = bool((faces[:, 1] >= 0).all())
    solid["is_convex"] = closed_convex
    nodes = bounding_tree(lower, upper)
    owned = list_corners(nodes, faces_out, points)
    made = Polyhedra(points, spokes, edges, faces_out, nodes, owned, solid, *no_grids())
    thickness = np.zeros(len(t))
    measure_thickness(made, new_stack(), thickness)
    depth = np.minimum(0.5 * thickness, 0.5 * smallest_extent(size))
    faces_out["depth"] = depth
    other = np.where(faces[:, 1] >= 0, faces[:, 1], faces[:, 0])
    edges["depth"] = np.minimum(depth[faces[:, 0]], depth[other])
    inward = corners - (depth[:, None] * normals)[:, None, :]
    fit_boxes(nodes, np.minimum(lower, inward.min(axis=1)), np.maximum(upper, inward.max(axis=1)))
    least, most = _bound_normals(t, normals, len(p))
    nodes["least_normal"], nodes["most_normal"] = _within_nodes(nodes, least, most)
    return made


def core(points: np.ndarray, rounding: float) -> Polyhedra:
    """Return the solid of a ball or capsule: a point or segment with a rounding radius.

    Args:
        points: one point (1, 3) or the ends of the segment (2, 3) [m].
        rounding: radius [m].
    """
    p = np.asarray(points, dtype=np.float64)
    vertices = np.zeros(len(p), dtype=VERTEX)
    vertices["position"], vertices["number"] = p, np.arange(len(p))
    spokes = np.zeros(2 * (len(p) - 1), dtype=SPOKE)
    edges = np.zeros(1, dtype=EDGE)
    triangle = np.zeros(1, dtype=TRIANGLE)
    triangle["owned"], triangle["beside"] = 0b001, -1
    if len(p) == 2:
        edges["length"] = np.linalg.norm(p[1] - p[0])
        edges["start"], edges["direction"] = p[0], (p[1] - p[0]) / edges["length"]
        edges["depth"] = rounding
        spokes["direction"] = edges["direction"] * [[1.0], [-1.0]]
        spokes["to"] = [1, 0]
        vertices["first_spoke"], vertices["last_spoke"] = [0, 1], [1, 2]
        triangle["vertices"], triangle["owned"] = [0, 1, 1], 0b001011
    solid = _solid(p, RIM * rounding)
    solid["rounding"], solid["is_convex"] = rounding, 1
    solid["ball"] += rounding
    nodes = bounding_tree(p.min(axis=0)[None], p.max(axis=0)[None])
    nodes["triangle"] = 0
    owned = list_corners(nodes, triangle, vertices)
    return Polyhedra(vertices, spokes, edges, triangle, nodes, owned, solid, *no_grids())


def _solid(points: np.ndarray, rim: float) -> np.ndarray:
    solid = np.zeros(1, dtype=SOLID)
    solid["rim"], solid["grid"] = rim, -1
    solid["ball"] = np.linalg.norm(points, axis=1).max()
    solid["lower"], solid["upper"] = points.min(axis=0), points.max(axis=0)
    return solid


def smallest_extent(size: np.ndarray) -> float:
    """Return the smallest side of a box [m]. Sides of zero length do not count."""
    return float(size[size > 1e-9 * size.max()].min())


def _edges(p, t, normals):
    """Return EDGE records, end vertices (e, 2) and faces (e, 2), and the edges of triangles (m, 3).

    The second face of a boundary edge is a vertical wall, perpendicular to the only face, with the
    number -1. Each side that `joined_sides` does not pair also gets a vertical wall.
    """
    sides = directed_edges(t)
    number, _ = shared_edges(t)
    least = np.minimum(np.arange(len(sides)), joined_sides(p, t))
    _, first, edge_of = np.unique(
        number * len(sides) + least, return_index=True, return_inverse=True
    )
    owner = np.arange(len(sides)) // 3
    faces = np.full((len(first), 2), -1, dtype=np.int64)
    faces[:, 0] = owner[first]
    others = np.ones(len(sides), dtype=bool)
    others[first] = False
    faces[edge_of[others], 1] = owner[others]
    ends = sides[first]
    edges = np.zeros(len(first), dtype=EDGE)
    along = p[ends[:, 1]] - p[ends[:, 0]]
    edges["start"], edges["length"] = p[ends[:, 0]], np.linalg.norm(along, axis=1)
    d = edges["direction"] = along / edges["length"][:, None]
    n1 = normals[faces[:, 0]]
    in1 = np.cross(n1, d)
    wall = (faces[:, 1] < 0)[:, None]
    n2 = np.where(wall, -in1, normals[faces[:, 1]])
    edges["normals"][:, 0], edges["normals"][:, 1] = n1, n2
    edges["inward"][:, 0] = in1
    edges["inward"][:, 1] = np.where(wall, -n1, np.cross(n2, -d))
    return edges, ends, faces, edge_of.reshape(-1, 3)


def _angles(edges):
    """Return the angle between the normals of the faces at each edge [rad], positive if convex."""
    n1, n2 = edges["normals"][:, 0], edges["normals"][:, 1]
    sine = np.einsum("ei,ei->e", np.cross(n1, n2), edges["direction"])
    return np.arctan2(sine, np.einsum("ei,ei->e", n1, n2))


def _facets(joined: np.ndarray, count: int) -> np.ndarray:
    """Return the facet of each triangle: the smallest of its connected, coplanar triangles."""
    label = np.arange(count)
    while True:
        least = label.copy()
        low = np.minimum(label[joined[:, 0]], label[joined[:, 1]])
        np.minimum.at(least, joined[:, 0], low)
        np.minimum.at(least, joined[:, 1], low)
        np.minimum.at(least, label, least)
        least = least[least]
        if (least == label).all():
            return label
        label = least


def _spokes(p, normals, ends, faces, bend):
    """Return VERTEX and SPOKE records, and which vertices are sharp."""
    boundary = faces[:, 1] < 0
    # At a boundary the wall beneath leaves a vertex too: straight down.
    froms = np.concatenate([ends[:, 0], ends[:, 1], ends[boundary, 0], ends[boundary, 1]])
    along = p[ends[:, 1]] - p[ends[:, 0]]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    down = -normals[faces[boundary, 0]]
    directions = np.concatenate([along, -along, down, down])
    first, second = faces[:, 0], np.where(boundary, faces[:, 0], faces[:, 1])
    face = np.stack([first, second], axis=1)
    face = np.concatenate([face, face, face[boundary], face[boundary]])
    order = np.argsort(froms, kind="stable")
    spokes = np.zeros(len(froms), dtype=SPOKE)
    spokes["direction"], spokes["normals"] = directions[order], normals[face[order]]
    walls = np.full(2 * np.count_nonzero(boundary), -1)
    spokes["to"] = np.concatenate([ends[:, 1], ends[:, 0], walls])[order]
    points = np.zeros(len(p), dtype=VERTEX)
    points["position"], points["number"] = p, np.arange(len(p))
    points["first_spoke"] = np.searchsorted(froms[order], np.arange(len(p)))
    points["last_spoke"] = np.searchsorted(froms[order], np.arange(len(p)), side="right")
    convex = ends[bend == CONVEX].ravel()
    possible = np.bincount(convex, minlength=len(p)) >= 3
    possible |= np.isin(np.arange(len(p)), ends[boundary].ravel())
    sharp = np.zeros(len(p), dtype=np.int64)
    find_sharp(points, spokes, possible.astype(np.int64), np.zeros((4, 3)), sharp)
    return points, spokes, sharp.astype(bool)


def _find_hollows(edges, ends, faces, edge_of, normals, bend, sharp) -> None:
    """Mark ends at which a convex edge continues beneath a face, and write the normal of this face.

    At these ends one of the edge's two faces, or its flat continuation, ends at a concave edge. The
    vertex there has no contacts. If the edge continues beneath two faces, the steeper face counts.
    """
    hollow = np.zeros(len(sharp), dtype=bool)
    hollow[ends[bend == CONCAVE]] = True
    number, end = np.nonzero((bend == CONVEX)[:, None] & (hollow & ~sharp)[ends])
    steepest = np.zeros(edges["goes_on"].shape + (2,))
    for side in range(2):
        begun = faces[number, side] >= 0
        first, at = number[begun], end[begun]
        edge, face = first, faces[first, side]
        while len(edge):
            around = edge_of[face]
            touches_end = (ends[around] == ends[first, at][:, None, None]).any(axis=2)
            touches_end &= around != edge[:, None]
            edge = around[np.arange(len(around)), touches_end.argmax(axis=1)]
            face = faces[edge].sum(axis=1) - face
            out = edges["direction"][first] * np.where(at == 1, 1.0, -1.0)[:, None]
            rise = -np.einsum("ei,ei->e", out, normals[face])
            rises = (bend[edge] == CONCAVE) & (rise > steepest[first, at])
            steepest[first[rises], at[rises]] = rise[rises]
            edges["beyond"][first[rises], at[rises]] = normals[face[rises]]
            flat = bend[edge] == FLAT
            first, at, edge, face = first[flat], at[flat], edge[flat], face[flat]
    edges["goes_on"] = (steepest > 0.0) @ np.array([1, 2])


def _own_features(triangles, sharp, convex) -> None:
    """Assign each sharp vertex and each convex edge to one of the triangles around it."""
    owned = np.zeros((len(triangles), 6), dtype=np.int64)
    for first, features, is_feature in (
        (0, triangles["vertices"], sharp),
        (3, triangles["edges"], convex),
    ):
        names, where = np.unique(features, return_index=True)
        where = where[is_feature[names]]
        owned[where // 3, first + where % 3] = 1
    triangles["owned"] = owned @ (1 << np.arange(6))


def bounding_tree(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Build a balanced bounding tree over boxes, and return its NODE records, the root first.

    Every split halves the boxes by their centres along the axis of largest spread.

    lower, upper: corners of the boxes (n, 3) [m].
    """
    nodes = np.zeros(2 * len(lower) - 1, dtype=NODE)
    nodes["child"] = nodes["triangle"] = -1
    centers = 0.5 * (lower + upper)
    members, sizes = np.arange(len(lower)), np.array([len(lower)])
    first = 0  # of the nodes of this level, each of which has a run of members
    while len(sizes):
        starts, indices = np.cumsum(sizes) - sizes, first + np.arange(len(sizes))
        nodes["triangle"][indices[sizes == 1]] = members[starts[sizes == 1]]
        inner = sizes > 1
        nodes["child"][indices[inner]] = first + len(sizes) + 2 * np.arange(np.count_nonzero(inner))
        first += len(sizes)
        members, sizes = members[np.repeat(inner, sizes)], sizes[inner]
        if len(sizes):
            members = members[_by_spread(centers[members], sizes)]
        sizes = np.stack([sizes // 2, sizes - sizes // 2], axis=1).ravel()
    fit_boxes(nodes, lower, upper)
    nodes["skin_center"], nodes["skin_half"] = nodes["center"], nodes["half"]
    nodes["least_normal"], nodes["most_normal"] = -1.0, 1.0
    return nodes


def list_corners(nodes: np.ndarray, triangles: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Return the CORNER records of a solid, and write the corners of each node to NODE records.

    Corners are sharp vertices. The corners of a second child come before the corners of the first
    child, which is the order of a search.
    """
    is_owned = (triangles["owned"][:, None] & np.array([1, 2, 4])) > 0
    count, first = np.zeros((2, len(nodes)), dtype=np.int64)
    leaves = np.nonzero(nodes["child"] < 0)[0]
    count[leaves] = is_owned.sum(axis=1)[nodes["triangle"][leaves]]
    levels = [
        start + np.nonzero(nodes["child"][start:end] >= 0)[0] for start, end in _levels(nodes)
    ]
    for inner in reversed(levels):
        child = nodes["child"][inner]
        count[inner] = count[child] + count[child + 1]
    for inner in levels:
        child = nodes["child"][inner]
        first[child + 1], first[child] = first[inner], first[inner] + count[child + 1]
    nodes["first_corner"], nodes["corner_count"] = first, count
    leaves = leaves[count[leaves] > 0]
    members = nodes["triangle"][leaves[np.argsort(first[leaves])]]
    corners = np.zeros(count[0], dtype=CORNER)
    corners["vertex"] = triangles["vertices"][members][is_owned[members]]
    corners["position"] = vertices["position"][corners["vertex"]]
    return corners


def _by_spread(centers, sizes):
    """Return the order that sorts each run of points along the axis of the run's largest spread."""
    starts = np.cumsum(sizes) - sizes
    spread = np.maximum.reduceat(centers, starts) - np.minimum.reduceat(centers, starts)
    run = np.repeat(np.arange(len(sizes)), sizes)
    axis = np.argmax(spread, axis=1)[run]
    return np.lexsort((centers[np.arange(len(centers)), axis], run))


def fit_boxes(nodes: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> None:
    """Write the boxes of a tree's nodes around the boxes of the triangles.

    lower, upper: corners of the triangles' boxes (n, 3) [m].
    """
    low, high = _within_nodes(nodes, lower, upper)
    nodes["center"], nodes["half"] = 0.5 * (low + high), 0.5 * (high - low)


def _within_nodes(nodes, least, most):
    """Return the minimum and maximum of bounds (n, 3) over the triangles of each node."""
    low, high = np.empty((len(nodes), 3)), np.empty((len(nodes), 3))
    leaf = nodes["child"] < 0
    low[leaf], high[leaf] = least[nodes["triangle"][leaf]], most[nodes["triangle"][leaf]]
    for first, end in reversed(_levels(nodes)):
        inner = first + np.nonzero(nodes["child"][first:end] >= 0)[0]
        child = nodes["child"][inner]
        low[inner] = np.minimum(low[child], low[child + 1])
        high[inner] = np.maximum(high[child], high[child + 1])
    return low, high


def _levels(nodes):
    """Return the index ranges (first, end) of the nodes on each level of a tree, the root first."""
    levels, first, end = [], 0, 1
    while first < end:
        levels.append((first, end))
        first, end = end, end + 2 * int(np.count_nonzero(nodes["child"][first:end] >= 0))
    return levels


def _bound_normals(t, normals, count: int):
    """Return bounds on the contact normals of each triangle's features: lower (m, 3), upper (m, 3).

    A unit vector in the cone of unit vectors n_i is a sum of w_i n_i with w_i >= 0. The weights add
    up to at least 1. If n_i . m >= c for a unit vector m and all i, the sum of the weights is at
    most 1 / c.
    """
    corners, n = t.ravel(), np.repeat(normals, 3, axis=0)
    middle = np.zeros((count, 3))
    np.add.at(middle, corners, n)
    middle /= np.maximum(np.linalg.norm(middle, axis=1, keepdims=True), 1e-300)
    cosine, low, high = np.ones((count, 1)), np.ones((count, 3)), -np.ones((count, 3))
    np.minimum.at(cosine[:, 0], corners, np.einsum("ij,ij->i", n, middle[corners]))
    np.minimum.at(low, corners, n)
    np.maximum.at(high, corners, n)
    most = np.where(cosine > _WIDE, 1.0 / np.maximum(cosine, _WIDE), 1.0)
    low = np.where(cosine > _WIDE, np.where(low < 0.0, np.maximum(low * most, -1.0), low), -1.0)
    high = np.where(cosine > _WIDE, np.where(high > 0.0, np.minimum(high * most, 1.0), high), 1.0)
    return low[t].min(axis=1), high[t].max(axis=1)
