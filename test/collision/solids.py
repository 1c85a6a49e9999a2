# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of meshes share: two posed shapes as solids, their contacts, and meshes to try."""

import itertools

import numpy as np
from collision.posed import Manifold, Posed, manifold_of, no_points
from scipy.spatial import ConvexHull

from hrpsim import Box, Mesh
from hrpsim.collision.mesh.collision_proxies import solids_of
from hrpsim.collision.mesh.mesh_contacts import mesh_contacts
from hrpsim.collision.mesh.solid_pair import (
    CANDIDATE,
    CANDIDATE_COUNT,
    SOLID_PAIR,
    move_solid_pair,
    place_solid_pair,
)
from hrpsim.jit.compiled import kernel
from hrpsim.model.shapes.mesh_integrals import doubled_areas


@kernel
def collide_solids(
    polyhedra, solid_a, R_a, p_a, solid_b, R_b, p_b, margin, spin, drift, time_step, known, loads,
    solid_pair, candidates, out,
):  # fmt: skip
    m = solid_pair[0]
    place_solid_pair(polyhedra, solid_a, R_a, p_a, solid_b, R_b, p_b, m)
    m.memory_count = known.shape[0]
    for k in range(known.shape[0]):
        m.memory_feature[k], m.memory_load[k] = known[k], loads[k]
    move_solid_pair(spin, drift, m)
    speed = np.sqrt(drift[0] ** 2 + drift[1] ** 2 + drift[2] ** 2)
    m.calm, m.near, m.time_step = margin, margin + time_step * speed, time_step
    return mesh_contacts(polyhedra, m, candidates, out)


def meet_solids(
    a: Posed, b: Posed, margin=0.01, drift=(0, 0, 0), time_step=1e-3, memory: dict | None = None
) -> Manifold:
    """Return the contacts; `drift` is the velocity of a against b.

    `memory` holds the contacts of the step before: {feature: normal impulse}.
    """
    known = memory or {}
    pool, numbers = solids_of([a.shape, b.shape, CUBE_MESH])
    found = no_points()
    n = collide_solids(
        pool, numbers[0], np.array(a.R, float), np.array(a.p, float),
        numbers[1], np.array(b.R, float), np.array(b.p, float), float(margin), np.zeros(3),
        np.array(drift, float), float(time_step), np.array(list(known), np.int64),
        np.array(list(known.values()), float), np.zeros(1, SOLID_PAIR),
        np.zeros(CANDIDATE_COUNT, CANDIDATE), found,
    )  # fmt: skip
    return manifold_of(found, n)


def box_mesh(lengths) -> Mesh:
    """Return a box as a mesh of 12 triangles."""
    vertices = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * lengths
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    triangles = [(q[0], q[k], q[k + 1]) for q in quads for k in (1, 2)]
    return Mesh(vertices, np.array(triangles))


CUBE_MESH = box_mesh((1.0, 1.0, 1.0))


def prism_mesh(outline, half) -> Mesh:
    """Return the mesh of a simple outline (n, 2), counter-clockwise, from z -half to half."""
    outline = np.asarray(outline, float)
    n = len(outline)
    k = np.arange(n)
    following = (k + 1) % n
    vertices = np.concatenate([np.column_stack([outline, np.full(n, z)]) for z in (-half, half)])
    caps = np.array(ears(outline))
    triangles = np.concatenate(
        [
            np.column_stack([k, following, n + following]),
            np.column_stack([k, n + following, n + k]),
            caps[:, ::-1],
            n + caps,
        ]
    )
    return Mesh(vertices, triangles)


def ears(outline):
    """Return the triangles of a simple polygon, counter-clockwise, by cutting off ears."""

    def area(i, j, k):
        (ax, ay), (bx, by), (cx, cy) = outline[i], outline[j], outline[k]
        return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)

    left, triangles = list(range(len(outline))), []
    while len(left) > 3:
        for c in range(len(left)):
            i, j, k = left[c - 1], left[c], left[(c + 1) % len(left)]
            if area(i, j, k) > 0 and not any(
                area(i, j, p) >= 0 and area(j, k, p) >= 0 and area(k, i, p) >= 0
                for p in left
                if p not in (i, j, k)
            ):
                triangles.append((i, j, k))
                left.remove(j)
                break
    return [*triangles, tuple(left)]


L_OUTLINE = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.0), (0.0, 0.0), (0.0, 0.1), (-0.1, 0.1)]
U_OUTLINE = [
    *[(-0.15, -0.1), (0.15, -0.1), (0.15, 0.1), (0.05, 0.1)],
    *[(0.05, 0.0), (-0.05, 0.0), (-0.05, 0.1), (-0.15, 0.1)],
]


def grid_mesh(cells, size) -> Mesh:
    """Return a level square floor of 2 cells^2 triangles, its middle at the origin."""
    x = np.linspace(-0.5 * size, 0.5 * size, cells + 1)
    X, Y = np.meshgrid(x, x)
    vertices = np.column_stack([X.ravel(), Y.ravel(), np.zeros(X.size)])
    n = cells + 1
    corner = (np.arange(cells)[:, None] * n + np.arange(cells)).ravel()
    return Mesh(
        vertices,
        np.concatenate(
            [
                np.column_stack([corner, corner + 1, corner + n + 1]),
                np.column_stack([corner, corner + n + 1, corner + n]),
            ]
        ),
    )


def ball_mesh(radius, rounds=2) -> Mesh:
    """Return an octahedron whose triangles are split `rounds` times in four, on a sphere."""
    vertices = [tuple(map(float, v)) for v in np.concatenate([np.eye(3), -np.eye(3)])]
    triangles = [
        (i, j, k) if np.linalg.det([vertices[i], vertices[j], vertices[k]]) > 0 else (i, k, j)
        for i in (0, 3)
        for j in (1, 4)
        for k in (2, 5)
    ]
    for _ in range(rounds):
        middle, finer = {}, []

        def between(a, b, middle=middle):
            key = (min(a, b), max(a, b))
            if key not in middle:
                m = np.add(vertices[a], vertices[b])
                vertices.append(tuple(m / np.linalg.norm(m)))
                middle[key] = len(vertices) - 1
            return middle[key]

        for i, j, k in triangles:
            ij, jk, ki = between(i, j), between(j, k), between(k, i)
            finer += [(i, ij, ki), (ij, j, jk), (ki, jk, k), (ij, jk, ki)]
        triangles = finer
    return Mesh(radius * np.array(vertices), np.array(triangles))


def as_mesh(shape):
    """Return a box as a mesh."""
    return box_mesh(shape.lengths) if isinstance(shape, Box) else shape


def sole_mesh(heights, count: int = 500, half=(0.12, 0.06), thickness: float = 0.05) -> Mesh:
    """Return a foot with an elliptic sole of `count` vertices, higher by `heights` [m] or flat."""
    turn = 2.0 * np.pi * np.arange(count) / count
    rim = np.column_stack([half[0] * np.cos(turn), half[1] * np.sin(turn)])
    low = np.column_stack([rim, np.broadcast_to(heights, count)])
    top = np.column_stack([0.5 * rim[:: count // 4], np.full(4, thickness)])
    points = np.concatenate([low, top])
    hull = ConvexHull(points)
    triangles = hull.simplices.copy()
    normals = doubled_areas(points[triangles])
    inward = (normals * hull.equations[:, :3]).sum(axis=1) < 0.0
    triangles[inward] = triangles[inward, ::-1]
    return Mesh(points, triangles)
