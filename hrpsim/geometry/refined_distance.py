# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances of convex shapes to a bound that is proved, from those that fcl finds.

fcl may stop early: by millimetres between boxes and meshes whose edges are parallel. The planes
through the support points across a direction n are a proof: no two points are closer than the
shapes' supports along n are. Where that bound is too far below, Gilbert, Johnson and Keerthi's
algorithm goes on (A fast procedure for computing the distance between complex objects in
three-dimensional space, 1988). Spheres and capsules are points and segments with a radius.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from hrpsim.geometry.fcl_shapes import farthest_against
from hrpsim.model.shapes.geometry import Capsule, Geometry, Mesh, Plane, Sphere

TOLERANCE = 1e-6  # [m]: by so much a distance may be too large
_MOST_ROUNDS = 200
_ROUNDING = 1e-12  # [m]: cores that are no farther apart overlap
_ALL = 4  # corners of a whole simplex
_SUBSETS = {
    size: [list(one) for k in range(1, size + 1) for one in combinations(range(size), k)]
    for size in range(1, 5)
}
Pose = tuple[np.ndarray, np.ndarray]  # rotation (3, 3), position (3,) [m]


def is_convex(geometry: Geometry) -> bool:
    """Return whether a shape is a bounded convex one."""
    return geometry.is_convex if isinstance(geometry, Mesh) else not isinstance(geometry, Plane)


def refined(
    a: Geometry, pose_a: Pose, b: Geometry, pose_b: Pose, distance: float, points: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return distance [m] and nearest points (2, 3) of two convex shapes that are apart.

    `distance` and `points` are a first guess: of points on both, farther apart than necessary. The
    distance is 0 where the shapes overlap after all.
    """
    radii = _radius(a) + _radius(b)
    v = points[1] - points[0]
    ends = _supports(a, pose_a, b, pose_b, v)
    if distance - (v @ (ends[1] - ends[0]) / np.linalg.norm(v) - radii) <= TOLERANCE:
        return distance, points
    corners = ends[None]  # of the simplex, on both (k, 2, 3)
    weights = np.ones(1)
    for _ in range(_MOST_ROUNDS):
        v = weights @ (corners[:, 1] - corners[:, 0])
        length = float(np.linalg.norm(v))
        if length <= radii + _ROUNDING:
            return 0.0, points
        if len(weights) == _ALL:  # flat, to rounding: no other corner brings it nearer
            break
        ends = _supports(a, pose_a, b, pose_b, v)
        if length - v @ (ends[1] - ends[0]) / length <= 0.1 * TOLERANCE:
            break
        corners, weights, nearer = _nearest_of(np.concatenate([corners, ends[None]]))
        if nearer >= length:
            break
    near = np.einsum("k,kpx->px", weights, corners)
    v = near[1] - near[0]
    length = float(np.linalg.norm(v))
    if length - radii >= distance:
        return distance, points
    n = v / length
    return length - radii, near + np.outer([_radius(a), -_radius(b)], n)


def _nearest_of(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the face of a simplex that is nearest to the origin, its weights and its distance."""
    w = corners[:, 1] - corners[:, 0]
    best, face, weights = np.inf, [0], np.ones(1)
    for subset in _SUBSETS[len(w)]:
        first, edges = w[subset[0]], w[subset[1:]] - w[subset[0]]
        try:
            others = np.linalg.solve(edges @ edges.T, -edges @ first)
        except np.linalg.LinAlgError:
            continue
        shares = np.append(1.0 - others.sum(), others)
        length = float(np.linalg.norm(first + others @ edges))
        if shares.min() >= 0.0 and length < best:
            best, face, weights = length, subset, shares
    return corners[face], weights, best


def _supports(a: Geometry, pose_a: Pose, b: Geometry, pose_b: Pose, v: np.ndarray) -> np.ndarray:
    """Return the points of the cores of a and b that are farthest along v and against it (2, 3)."""
    return np.array([_support(a, pose_a, -v), _support(b, pose_b, v)])


def _support(geometry: Geometry, pose: Pose, v: np.ndarray) -> np.ndarray:
    """Return the point (3,) of a shape's core that lies least far along v."""
    R, p = pose
    if isinstance(geometry, Sphere):
        return p
    d = R.T @ v
    if isinstance(geometry, Capsule):
        return p - 0.5 * geometry.length * np.sign(d[2]) * R[:, 2]
    return p + R @ farthest_against(geometry, d)


def _radius(geometry: Geometry) -> float:
    return geometry.radius if isinstance(geometry, Sphere | Capsule) else 0.0
