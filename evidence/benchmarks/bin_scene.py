# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A bin with falling boxes of many sizes, or with falling meshes, some of them concave.

A concave solid is the union of convex prisms that share whole faces. Engines that support meshes
use the triangles, and engines that support convex parts use the same prisms.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from hrpsim import Box, Mesh
from hrpsim.model.shapes.mesh_integrals import solid_moments

GRAVITY = 9.80665
TIME_STEP = 1e-3
FRICTION = 0.5
DENSITY = 500.0
HALF_WIDTH = 0.35  # half of the inner width of the bin [m]
_WALL, _HEIGHT = 0.05, 1.5  # half thickness and height of the walls [m]
_GAP = 0.23  # distance between the initial centres [m]
_SIDE = 3  # number of bodies in a row, and of rows in a layer


@dataclass(frozen=True)
class Solid:
    """A falling solid, about the centre of mass and along the principal axes.

    Attributes:
        parts: corners (n, 3) of the convex parts [m].
        moments: moments of inertia (3,) [kg m^2].
    """

    shape: Box | Mesh
    parts: tuple[np.ndarray, ...]
    mass: float
    moments: np.ndarray

    @property
    def radius(self) -> float:
        """Radius of the smallest ball around the solid, about the centre of mass [m]."""
        return max(float(np.linalg.norm(part, axis=1).max()) for part in self.parts)


@dataclass(frozen=True)
class BinScene:
    """Solids and their initial poses. Quaternions are x y z w."""

    solids: tuple[Solid, ...]
    positions: np.ndarray  # (n, 3) [m]
    quaternions: np.ndarray  # (n, 4)


def walls() -> list[tuple[Box, np.ndarray]]:
    """Return the boxes that form floor and walls of the bin, with their centres [m]."""
    outer = 2.0 * HALF_WIDTH + 4.0 * _WALL
    away = HALF_WIDTH + _WALL
    shapes = [(Box((outer, outer, 2.0 * _WALL)), np.array([0.0, 0.0, -_WALL]))]
    for sign in (-1.0, 1.0):
        shapes += [
            (Box((2.0 * _WALL, outer, _HEIGHT)), np.array([sign * away, 0.0, 0.5 * _HEIGHT])),
            (Box((outer, 2.0 * _WALL, _HEIGHT)), np.array([0.0, sign * away, 0.5 * _HEIGHT])),
        ]
    return shapes


def boxes(count: int, seed: int = 3) -> BinScene:
    """Return boxes with edges of 0.06 to 0.12 m."""
    random = np.random.default_rng(seed)
    return _let_go([_box(random.uniform(0.06, 0.12, 3)) for _ in range(count)], random)


def meshes(count: int, seed: int = 5) -> BinScene:
    """Return concave meshes (L, U, ring, heart) and convex meshes (brick, hexagon), alternately."""
    kinds = [prisms(outlines, half) for outlines, half in _OUTLINES.values()]
    random = np.random.default_rng(seed)
    return _let_go([kinds[k % len(kinds)] for k in range(count)], random)


def _let_go(solids, random) -> BinScene:
    count = len(solids)
    k = np.arange(count)
    grid = np.column_stack([k % _SIDE - 1.0, k // _SIDE % _SIDE - 1.0, k // _SIDE**2])
    positions = _GAP * grid + [0.0, 0.0, 0.15]
    positions[:, :2] += random.uniform(-0.01, 0.01, (count, 2))
    quaternions = random.normal(size=(count, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    return BinScene(tuple(solids), positions, quaternions)


def _box(lengths) -> Solid:
    mass = DENSITY * float(np.prod(lengths))
    squares = np.square(lengths)
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    moments = mass / 12.0 * (squares.sum() - squares)
    return Solid(Box(tuple(lengths)), (0.5 * corners * lengths,), mass, moments)


def prisms(outlines, half: float) -> Solid:
    """Return a solid made of prisms with convex outlines (n, 2), from z = -half to half [m].

    Outlines are counter-clockwise. If outlines touch, they must share whole edges exactly.
    """
    points: dict[tuple[float, float], int] = {}
    rings = [[points.setdefault(tuple(p), len(points)) for p in o.tolist()] for o in outlines]
    flat = np.array(list(points))
    n = len(flat)
    vertices = np.concatenate([np.column_stack([flat, np.full(n, z)]) for z in (-half, half)])
    triangles = _faces(rings, n)
    volume, center, inertia = solid_moments(vertices, triangles)
    moments, axes = np.linalg.eigh(DENSITY * inertia)
    axes[:, 2] *= np.linalg.det(axes)
    vertices = (vertices - center) @ axes
    parts = tuple(vertices[[*ring, *(n + k for k in ring)]] for ring in rings)
    return Solid(Mesh(vertices, triangles), parts, DENSITY * volume, moments)


def _faces(rings: list[list[int]], n: int) -> np.ndarray:
    """Return the outer triangles (m, 3) of prisms.

    Args:
        rings: outlines, as corner indices k at one end. The other end has the corners k + n.
        n: number of corners at one end.
    """
    directed = [(r[k - 1], r[k]) for r in rings for k in range(len(r))]
    shared = Counter(frozenset(edge) for edge in directed)
    triangles = [(r[0], r[k + 1], r[k]) for r in rings for k in range(1, len(r) - 1)]
    triangles += [(n + a, n + c, n + b) for a, b, c in triangles]
    for a, b in directed:
        if shared[frozenset((a, b))] == 1:
            triangles += [(a, b, n + b), (a, n + b, n + a)]
    return np.array(triangles)


def _rectangle(x_0, y_0, x_1, y_1):
    return [(x_0, y_0), (x_1, y_0), (x_1, y_1), (x_0, y_1)]


def _ring(count: int, inner: float, outer: float):
    angles = 2.0 * np.pi * np.arange(count) / count
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    return [
        [outer * circle[k - 1], outer * circle[k], inner * circle[k], inner * circle[k - 1]]
        for k in range(count)
    ]


_HALF_HEART = [(0.0, -5.0), (4.5, 0.5), (4.9, 2.5), (3.9, 4.0), (2.2, 4.2), (0.0, 2.6)]


def _scaled(outlines, unit: float) -> list[np.ndarray]:
    return [unit * np.array(outline, float) for outline in outlines]


_OUTLINES = {
    "L": (
        _scaled([_rectangle(-2, -2, 0, 0), _rectangle(0, -2, 2, 0), _rectangle(-2, 0, 0, 2)], 0.03),
        0.035,
    ),
    "U": (
        _scaled(
            [
                *[_rectangle(x, -2, x + 2, 0) for x in (-3, -1, 1)],
                *[_rectangle(x, 0, x + 2, 2) for x in (-3, 1)],
            ],
            0.025,
        ),
        0.03,
    ),
    "ring": (_scaled(_ring(8, 3.5, 6.0), 0.012), 0.025),
    "heart": (_scaled([_HALF_HEART, [(-x, y) for x, y in reversed(_HALF_HEART)]], 0.014), 0.03),
    "brick": (_scaled([_rectangle(-1.2, -0.8, 1.2, 0.8)], 0.05), 0.05),
    "hexagon": (
        _scaled([[(np.cos(a), np.sin(a)) for a in np.arange(6) * np.pi / 3]], 0.055),
        0.045,
    ),
}


def energies(scene: BinScene, positions, quaternions, velocities, spins) -> tuple[float, float]:
    """Return the total energies of all solids.

    Linear and angular velocities are in world axes.

    Returns:
        (kinetic energy, potential energy) [J].
    """
    mass = np.array([solid.mass for solid in scene.solids])
    moments = np.array([solid.moments for solid in scene.solids])
    own = np.einsum("nji,nj->ni", rotations(quaternions), spins)
    kinetic = 0.5 * mass @ (velocities**2).sum(axis=1) + 0.5 * (moments * own**2).sum()
    return float(kinetic), float(GRAVITY * mass @ positions[:, 2])


def rotations(quaternions) -> np.ndarray:
    """Convert quaternions x y z w (n, 4) to rotation matrices (n, 3, 3)."""
    x, y, z, w = np.asarray(quaternions).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), 2, 0)
