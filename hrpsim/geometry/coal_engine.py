# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Distances by coal."""

from typing import Any

import numpy as np

from hrpsim.geometry.distance_engine import DistanceEngine
from hrpsim.model.shapes.geometry import Mesh


class CoalEngine(DistanceEngine):
    """Distance engine that calls coal (https://github.com/coal-library/coal)."""

    module = "coal"
    error = 1e-6

    def __init__(self) -> None:
        super().__init__()
        self._request = self._library.DistanceRequest()
        self._request.gjk_tolerance = 0.1 * self.error

    def place(self, placed: Any, R: np.ndarray, p: np.ndarray) -> None:
        """Move an object to a pose."""
        placed.setTransform(self._library.Transform3s(R, p))

    def distance(self, a: Any, b: Any) -> tuple[float, np.ndarray]:
        """Return the distance and the nearest points."""
        result = self._library.DistanceResult()
        distance = self._library.distance(a, b, self._request, result)
        return distance, np.array([result.getNearestPoint1(), result.getNearestPoint2()])

    def _mesh(self, mesh: Mesh) -> Any:
        coal = self._library
        vertices, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        vertices.extend(list(mesh.vertices))
        triangles.extend([coal.Triangle(*corners) for corners in mesh.triangles.tolist()])
        if mesh.is_convex:
            return coal.Convex(vertices, triangles)
        model = coal.BVHModelOBBRSS()
        model.beginModel(len(triangles), len(vertices))
        model.addSubModel(vertices, triangles)
        model.endModel()
        return model
