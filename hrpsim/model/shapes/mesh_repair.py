# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Repair the triangle soup of a file: weld, remove degenerate triangles, orient outwards."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import numpy as np

from hrpsim.common import limits
from hrpsim.common.errors import ModelError
from hrpsim.model.shapes import mesh_topology
from hrpsim.model.shapes.mesh_integrals import areas, signed_volumes

WELD = 1e-7  # vertices nearer than about this part of the mesh's extent are one
FLAT = 1e-7  # a triangle lower than this part of its longest side has no area


class Repaired(NamedTuple):
    """Vertices (n, 3), triangles (m, 3), and the repairs other than welding."""

    vertices: np.ndarray
    triangles: np.ndarray
    notes: tuple[str, ...]


def repaired(vertices: np.ndarray, triangles: np.ndarray) -> Repaired:
    """Return a mesh with shared vertices and with closed parts that face outwards.

    Vertices at the same position are merged. Triangles without area, repeated triangles and unused
    vertices are removed. Triangles of a part get a common orientation. A closed part that faces
    inwards is reversed, unless the part is inside another part and bounds a cavity.
    """
    vertices, triangles = _welded(vertices, triangles)
    triangles = _without_slivers(vertices, triangles)
    notes = []
    if len(triangles):
        triangles, unified = _wound_alike(triangles)
        if unified:
            notes.append(
                f"{unified} triangles were wound against their neighbours and have been reversed"
            )
        triangles, turned = _outward(vertices, triangles)
        if turned:
            notes.append(f"{turned} triangles of closed parts faced inwards and have been reversed")
        alone = mesh_topology.joined_sides(vertices, triangles) == np.arange(3 * len(triangles))
        number, uses = mesh_topology.shared_edges(triangles)
        if torn := len(np.unique(number[alone & (uses > 1)[number]])):
            notes.append(f"the surface is open at {torn} edges that several triangles share")
    used, numbers = np.unique(triangles, return_inverse=True)
    return Repaired(vertices[used], numbers.reshape(triangles.shape), tuple(notes))


def _welded(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge vertices at one position.

    Drop repeated triangles and triangles with under three corners.
    """
    low = vertices.min(axis=0)
    cell = max(WELD * float(np.ptp(vertices, axis=0).max()), np.finfo(float).tiny)
    grid = np.round((vertices - low) / cell).astype(np.int64)
    order = np.lexsort(grid.T)
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (grid[order][1:] != grid[order][:-1]).any(axis=1)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    triangles = number[triangles]
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    # A repeated triangle counts once, whichever corner it begins with.
    first = triangles.argmin(axis=1)
    turned = np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1)
    _, unique = np.unique(turned, axis=0, return_index=True)
    return vertices[order[is_new]], triangles[np.sort(unique)]


def _without_slivers(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Remove triangles with collinear corners (slivers), without opening holes.

    The neighbour at the longest side of a sliver is cut in two at the sliver's middle corner.
    """
    for _ in range(8):
        flat = np.flatnonzero(_heights(vertices, triangles) < FLAT)
        if len(flat) == 0:
            return triangles
        number, _ = mesh_topology.shared_edges(triangles)
        holders = _holders(number, number.reshape(-1, 3)[flat])
        gone: set[int] = set()
        made: list[np.ndarray] = [np.zeros((0, 3), dtype=np.int64)]
        for k in flat.tolist():
            corners = vertices[triangles[k]]
            sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
            longest = 3 * k + int(sides.argmax())
            others = [edge for edge in holders[int(number[longest])] if edge // 3 != k]
            if len(others) > 1 or not gone.isdisjoint({k, *(edge // 3 for edge in others)}):
                continue
            gone.add(k)
            for edge in others:
                gone.add(edge // 3)
                made.append(_cut_in_two(triangles, edge, triangles[k][(longest % 3 + 2) % 3]))
        if not gone:
            break
        remaining = np.delete(triangles, sorted(gone), axis=0)
        triangles = np.concatenate([remaining, *made])
    return triangles[_heights(vertices, triangles) >= FLAT]


def _holders(number: np.ndarray, wanted: np.ndarray) -> dict[int, list[int]]:
    """Return {edge: directed edges that lie on it} for the wanted undirected edges.

    number: undirected edge of each directed edge, from `shared_edges`.
    """
    holders: dict[int, list[int]] = {}
    for edge in np.flatnonzero(np.isin(number, wanted)):
        holders.setdefault(int(number[edge]), []).append(int(edge))
    return holders


def _cut_in_two(triangles: np.ndarray, edge: int, middle: int) -> np.ndarray:
    """Return the two triangles (2, 3) of a triangle that is cut at an edge.

    A part without three different corners is left out.
    """
    p, q, apex = triangles[edge // 3][(edge % 3 + np.arange(3)) % 3]
    parts = np.array([(p, middle, apex), (middle, q, apex)], dtype=np.int64)
    return parts[[len(set(part.tolist())) == 3 for part in parts]]


def _heights(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    """Return the height of each triangle over its longest side, divided by this side."""
    corners = vertices[triangles]
    sides = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2).max(axis=1, initial=0.0)
    return 2.0 * areas(vertices, triangles) / np.maximum(sides, np.finfo(float).tiny) ** 2


def _wound_alike(triangles: np.ndarray) -> tuple[np.ndarray, int]:
    """Give the triangles of each connected part a consistent winding.

    Return all triangles, and the number of triangles whose winding changed.
    """
    pairs = mesh_topology.edge_neighbours(triangles)
    edges = mesh_topology.directed_edges(triangles)
    clash = edges[pairs[:, 0], 0] == edges[pairs[:, 1], 0]
    if not clash.any():
        return triangles, 0
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in triangles]
    for (a, b), turns in zip((pairs // 3).tolist(), clash.tolist(), strict=True):
        neighbours[a].append((b, turns))
        neighbours[b].append((a, turns))
    turned = np.zeros(len(triangles), dtype=bool)
    reached = np.zeros(len(triangles), dtype=bool)
    for start in range(len(triangles)):
        if reached[start]:
            continue
        part, waiting = [start], deque([start])
        reached[start] = True
        while waiting:
            triangle = waiting.popleft()
            for there, turns in neighbours[triangle]:
                if not reached[there]:
                    reached[there] = True
                    turned[there] = turned[triangle] ^ turns
                    part.append(there)
                    waiting.append(there)
        if 2 * turned[part].sum() > len(part):  # the majority was right
            turned[part] = ~turned[part]
    return np.where(turned[:, None], triangles[:, ::-1], triangles), int(turned.sum())


def _outward(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, int]:
    """Reverse the winding of closed parts that face inwards, except for cavities.

    Return all triangles, and the number of triangles whose winding changed.
    """
    volumes = signed_volumes(vertices, triangles)
    count, part = mesh_topology.parts_of(triangles)
    of_part = np.bincount(part, weights=volumes, minlength=count)
    if (of_part >= 0.0).all():
        return triangles, 0
    turn = np.zeros(count, dtype=bool)
    closed = mesh_topology.closed_parts(triangles, count, part)
    order = np.argsort(part, kind="stable")
    ends = np.cumsum(np.bincount(part, minlength=count))
    starts = np.concatenate([[0], ends[:-1]])
    corners = vertices[triangles[order]]
    low = np.minimum.reduceat(corners.min(axis=1), starts)
    high = np.maximum.reduceat(corners.max(axis=1), starts)
    looks = 0
    for k in np.flatnonzero((of_part < 0.0) & closed):
        point = corners[starts[k]].mean(axis=0)
        near = closed & ((low <= point) & (point <= high)).all(axis=1)
        near[k] = False
        around = False
        for j in np.flatnonzero(near):
            looks += 100 + ends[j] - starts[j]
            if looks > limits.MESH_PARTS:
                raise ModelError(
                    "too many closed parts lie inside each other and face inwards (limit "
                    "MESH_PARTS in hrpsim.common.limits)"
                )
            if _holds(corners[starts[j] : ends[j]], point):
                around = True
                break
        turn[k] = not around
    turned = turn[part]
    return np.where(turned[:, None], triangles[:, ::-1], triangles), int(turned.sum())


def _holds(corners: np.ndarray, point: np.ndarray) -> bool:
    """Return whether a closed surface, of triangles (m, 3, 3), encloses a point.

    The solid angles of the triangles then sum to 4 pi at the point.
    """
    corners = corners - point
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
    dot = np.einsum
    below = la * lb * lc + dot("ij,ij->i", a, b) * lc
    below += dot("ij,ij->i", b, c) * la + dot("ij,ij->i", c, a) * lb
    angles = 2.0 * np.arctan2(dot("ij,ij->i", a, np.cross(b, c)), below)
    return abs(float(angles.sum())) > 2.0 * np.pi
