# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measure the overlap of solids by coal from the poses alone."""

from __future__ import annotations

import coal
import numpy as np

from evidence.benchmarks.bin_scene import BinScene, rotations, walls


class Overlap:
    """The convex parts of a scene and the bin."""

    def __init__(self, scene: BinScene) -> None:
        self.owner = np.array([k for k, solid in enumerate(scene.solids) for _ in solid.parts])
        parts = [part for solid in scene.solids for part in solid.parts]
        self._corners = np.concatenate(parts)
        sizes = np.array([len(part) for part in parts])
        self._first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        self._corner_owner = np.repeat(self.owner, sizes)
        self._shapes = [_convex(part) for part in parts]
        self._walls = [
            (coal.Box(*box.lengths), coal.Transform3s(np.eye(3), center), box, center)
            for box, center in walls()
        ]
        self._request = coal.DistanceRequest()
        # With tolerances of 1e-9 some touching shapes seem to overlap by decimetres.
        self._request.gjk_tolerance = self._request.epa_tolerance = 1e-7
        self._request.gjk_max_iterations = self._request.epa_max_iterations = 1000

    def deepest(self, positions, quaternions) -> float:
        """Return the deepest overlap between two solids, or between a solid and the bin [m].

        The overlap is the smallest translation that separates two convex parts, 0 if none overlap.
        """
        R = rotations(quaternions)
        corners = np.einsum("nij,nj->ni", R[self._corner_owner], self._corners)
        corners += positions[self._corner_owner]
        low = np.minimum.reduceat(corners, self._first)
        high = np.maximum.reduceat(corners, self._first)
        poses = [coal.Transform3s(turn, p) for turn, p in zip(R, positions)]
        least = 0.0
        near = (low[:, None] <= high[None]).all(axis=2)
        near &= near.T & (self.owner[:, None] < self.owner[None])
        for i, j in np.argwhere(near):
            a, b = poses[self.owner[i]], poses[self.owner[j]]
            least = min(least, self._apart(self._shapes[i], a, self._shapes[j], b))
        for wall, pose, box, center in self._walls:
            half = 0.5 * np.array(box.lengths)
            for k in np.flatnonzero(((low <= center + half) & (high >= center - half)).all(axis=1)):
                least = min(least, self._apart(self._shapes[k], poses[self.owner[k]], wall, pose))
        return -least

    def _apart(self, shape_a, pose_a, shape_b, pose_b) -> float:
        result = coal.DistanceResult()
        return coal.distance(shape_a, pose_a, shape_b, pose_b, self._request, result)


def _convex(corners):
    points = coal.StdVec_Vec3s()
    for corner in corners:
        points.append(corner)
    return coal.Convex.convexHull(points, False, "")
