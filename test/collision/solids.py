# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the tests of meshes share: two posed shapes as solids, their contacts, and meshes to try."""

import functools
import itertools

import numpy as np
from collision.posed import Manifold, Posed, called, manifold_of, posed_manifold
from scipy.spatial import ConvexHull

from hrpsim import Box, Mesh, Sphere, World
from hrpsim.engine.collision.contacts import meet_meshes
from hrpsim.engine.collision.mesh.solid_pair import A_SOLID, SEPARATION, SOLID_PAIR
from hrpsim.engine.collision.records import CONTACT, SHAPE
from hrpsim.engine.collision.solids.collision_proxies import solids_of
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.model.shapes.mesh_integrals import doubled_areas


@kernel
def run_meshes(lazy_kernels, forest, kinematics, collision, near, margin, time_step, known):
    return meet_meshes(lazy_kernels, forest, kinematics, collision, near, margin, time_step, known)


@functools.cache
def two_bodies():
    """Return the scene of two free bodies."""
    world = World()
    for name in "ab":
        world.add_body(Sphere(0.1), 1.0, name=name)
    return world.scene


@functools.lru_cache(16)
def pool_of(shape_a, shape_b):
    """Return the polyhedra of two shapes, and their numbers."""
    return solids_of([shape_a, shape_b, CUBE_MESH])


def are_of_wholes(names) -> bool:
    """Return whether these are names of contacts of two solids as wholes, not of features."""
    return any(int(name) % 4 == A_SOLID for name in names)


def meet_solids(
    a: Posed,
    b: Posed,
    margin=0.01,
    drift=(0, 0, 0),
    time_step=1e-3,
    memory: dict | None = None,
    separation: np.ndarray | None = None,
    as_convex: bool = True,
) -> Manifold:
    """Return the contacts; `drift` is the velocity of a against b.

    `memory` holds the contacts of the step before: {feature: normal impulse}; `separation` (1,)
    what is kept of their axis, SEPARATION. Without `as_convex` convex solids are taken for others.
    """
    known, scene = memory or {}, two_bodies()
    pool, (solid_a, solid_b, _) = pool_of(a.shape, b.shape)
    if not as_convex:
        pool = pool._replace(solids=pool.solids.copy())
        pool.solids["is_convex"] = 0
    shapes, previous = np.zeros(2, SHAPE), np.zeros(len(known), CONTACT)
    shapes["body"], shapes["solid"] = (0, 1), (solid_a, solid_b)
    previous["shape_b"], previous["feature"] = 1, list(known)
    previous["warm"][:, 0] = list(known.values())
    kinematics = np.zeros_like(scene.kinematics)
    kinematics["v"][0, 3:] = drift
    collision = scene.collision._replace(
        polyhedra=pool,
        shapes=shapes,
        pairs=np.array([(0, 1)], scene.collision.pairs.dtype),
        previous=previous,
        manifold=posed_manifold(a, b),
        solid_pair=np.zeros(1, SOLID_PAIR),
        separations=np.zeros(1, SEPARATION) if separation is None else separation,
    )
    near = margin + time_step * float(np.linalg.norm(drift))
    count = called(
        run_meshes, TupleReference(scene.forest), kinematics, TupleReference(collision), near,
        float(margin), float(time_step), len(known),
        forest=scene.forest, kinematics=kinematics, collision=collision,
    )  # fmt: skip
    return manifold_of(collision.manifold[0], count)


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
