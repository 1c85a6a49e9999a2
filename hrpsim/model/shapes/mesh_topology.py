# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Topology of a mesh: edges, connected parts, closedness, convexity."""

from __future__ import annotations

import numpy as np

from hrpsim.model.shapes.mesh_integrals import doubled_areas

_FEW = 1000  # things that are joined without SciPy
_RISE = 1e-7  # of a convex mesh's triangle over its neighbour's plane, in extents of the mesh


def directed_edges(triangles: np.ndarray) -> np.ndarray:
    """Return the edges (3 m, 2) of triangles (m, 3). Triangle k has the edges 3 k to 3 k + 2."""
    return triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)


def shared_edges(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the undirected edge of each directed edge, and the use of each undirected edge.

    Returns:
        (index of the undirected edge (3 m,), number of directed edges for each undirected edge).
    """
    edges = directed_edges(triangles)
    low, high = edges.min(axis=1), edges.max(axis=1)
    keys = low * (int(triangles.max(initial=0)) + 1) + high
    _, number, uses = np.unique(keys, return_inverse=True, return_counts=True)
    return number.reshape(-1), uses


def why_open(triangles: np.ndarray) -> str | None:
    """Return the reason why triangles (m, 3) bound no solid, or None for a closed surface.

    In a closed surface every edge belongs to two triangles that run along the edge in opposite
    directions.
    """
    number, uses = shared_edges(triangles)
    lone, crowded = int((uses == 1).sum()), int((uses > 2).sum())
    if lone:
        return f"it is open: {lone} of its {len(uses)} edges belong to one triangle only"
    if crowded:
        return f"{crowded} of its {len(uses)} edges are shared by more than two triangles"
    clashing = int((_surplus(triangles, number) != 0.0).sum())
    if clashing:
        return f"its triangles are wound in different directions at {clashing} edges"
    return None


def closed_parts(triangles: np.ndarray, count: int, part: np.ndarray) -> np.ndarray:
    """Return which edge-connected parts of a mesh are closed surfaces (count,).

    In a closed surface every edge belongs to two triangles that run along the edge in opposite
    directions.

    Args:
        triangles: indices of the vertices (m, 3).
        count: number of parts.
        part: part of each triangle (m,), as from `parts_of`.
    """
    number, uses = shared_edges(triangles)
    broken = (uses != 2) | (_surplus(triangles, number) != 0.0)
    closed = np.ones(count, dtype=bool)
    closed[np.repeat(part, 3)[broken[number]]] = False
    return closed


def _surplus(triangles: np.ndarray, number: np.ndarray) -> np.ndarray:
    """Return the number of triangles in one direction minus the number in the other, by edge.

    `number` (3 m,) is the undirected edge of each directed edge, from `shared_edges`.
    """
    edges = directed_edges(triangles)
    return np.bincount(number, weights=np.where(edges[:, 0] < edges[:, 1], 1.0, -1.0))


def joined_sides(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the opposite directed edge (3 m,) of each directed edge, in the adjacent triangle.

    A directed edge without an adjacent triangle is paired with itself. Two triangles are adjacent
    if they run along an edge in opposite directions. If more than two triangles share an edge, two
    triangles that are neighbours around the edge and have the solid between them are paired. Each
    edge of the result therefore has one or two triangles, even in a non-manifold mesh.
    """
    number, uses = shared_edges(triangles)
    edges = directed_edges(triangles)
    forward = edges[:, 0] < edges[:, 1]
    low, high = edges.min(axis=1), edges.max(axis=1)
    along = vertices[high] - vertices[low]
    outward = vertices[np.roll(triangles, 1, axis=1).ravel()] - vertices[low]
    least = np.eye(3)[np.abs(along).argmin(axis=1)]
    across = np.cross(along, least)
    upward = np.cross(along, across) / np.linalg.norm(along, axis=1, keepdims=True)
    angle = np.arctan2(
        np.einsum("ei,ei->e", outward, upward), np.einsum("ei,ei->e", outward, across)
    )
    # The solid lies behind a triangle that runs forward. Of two in one place, folded on each
    # other, it comes first: then each continues another one, not its own back.
    order = np.lexsort((~forward, angle, number))
    last = np.cumsum(uses) - 1
    following = np.arange(1, len(order) + 1)
    following[last] = last + 1 - uses
    current, there = order, order[following]
    joined = ~forward[current] & forward[there]
    partner = np.arange(len(order))
    partner[current[joined]], partner[there[joined]] = there[joined], current[joined]
    return partner


def edge_neighbours(triangles: np.ndarray) -> np.ndarray:
    """Return pairs (k, 2) of directed edges that coincide, for edges with two triangles."""
    number, uses = shared_edges(triangles)
    order = np.argsort(number, kind="stable")
    start = np.cumsum(uses) - uses
    first = start[uses == 2]
    return np.stack([order[first], order[first + 1]], axis=1)


def parts_of(triangles: np.ndarray) -> tuple[int, np.ndarray]:
    """Find the edge-connected parts of a mesh.

    Returns:
        (number of parts, part of each triangle (m,)).
    """
    number, _ = shared_edges(triangles)
    count = len(triangles)
    owner = np.repeat(np.arange(count), 3)
    order = np.argsort(number, kind="stable")
    same = number[order][1:] == number[order][:-1]
    a, b = owner[order][:-1][same], owner[order][1:][same]
    return connected(a, b, count)


def connected(a: np.ndarray, b: np.ndarray, count: int) -> tuple[int, np.ndarray]:
    """Find the connected components of a graph.

    The graph has `count` nodes, and an edge from node a[k] to node b[k]. Components are numbered by
    their first node.

    Returns:
        (number of components, component of each node (count,)).
    """
    if count <= _FEW:
        return _few_connected(a.tolist(), b.tolist(), count)
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # SciPy 1.11.0 to 1.11.2 take no 64-bit indices here.
    joined = (a.astype(np.int32), b.astype(np.int32))
    graph = coo_array((np.ones(len(a), dtype=np.int8), joined), shape=(count, count))
    return connected_components(graph, directed=False)


def _few_connected(a: list[int], b: list[int], count: int) -> tuple[int, np.ndarray]:
    """Return the result of `connected` without SciPy, which takes longer to import."""
    first = list(range(count))

    def first_of(k: int) -> int:
        while first[k] != k:
            first[k] = k = first[first[k]]
        return k

    for node, other in zip(a, b, strict=True):
        node, other = first_of(node), first_of(other)
        first[max(node, other)] = min(node, other)
    labels, part = np.unique([first_of(k) for k in range(count)], return_inverse=True)
    return len(labels), part


def is_convex(vertices: np.ndarray, triangles: np.ndarray) -> bool:
    """Return whether a closed surface bounds one convex solid.

    The test is local: at each edge, the smaller triangle must not rise above the plane of the
    larger triangle by more than rounding errors. The plane of the larger triangle is more accurate.
    A closed surface bounds a convex solid if it consists of one part, passes the test at all edges,
    and has the Euler characteristic 2.
    """
    used = np.unique(triangles)
    normals = doubled_areas(vertices[triangles])
    lengths = np.linalg.norm(normals, axis=1)
    extent = float(np.ptp(vertices[used], axis=0).max())
    if not (lengths > 0.0).all():
        return False
    normals = normals / lengths[:, None]
    pairs = edge_neighbours(triangles)
    swapped = lengths[pairs[:, 0] // 3] < lengths[pairs[:, 1] // 3]
    edges, there = np.where(swapped[:, None], pairs[:, ::-1], pairs).T
    opposite = triangles[there // 3, (there % 3 + 2) % 3]
    rise = vertices[opposite] - vertices[triangles[edges // 3, 0]]
    if (np.einsum("ij,ij->i", rise, normals[edges // 3]) > _RISE * extent).any():
        return False
    if len(used) - len(pairs) + len(triangles) != 2:
        return False
    return parts_of(triangles)[0] == 1
