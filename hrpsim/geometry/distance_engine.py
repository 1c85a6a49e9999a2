# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of the libraries that compute distances."""

from abc import ABC, abstractmethod
from importlib import import_module
from typing import Any

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model.shapes.geometry import Box, Capsule, Cylinder, Geometry, Mesh, Sphere


class DistanceEngine(ABC):
    """Interface to a distance library, which works on objects with a shape and a pose.

    Raises:
        ImportError: if the library is not installed.
    """

    module: str
    error: float  # largest error of a distance between convex shapes [m]

    def __init__(self) -> None:
        self._library = import_module(self.module)

    def object_of(self, geometry: Geometry) -> Any:
        """Create the library's collision object for a bounded shape.

        A mesh becomes a convex solid or a set of triangles.
        """
        if isinstance(geometry, Sphere):
            # coal's depth of a Sphere in a Cylinder has errors up to 0.2 m, and FCL misses
            # triangles.
            shape = self._library.Capsule(geometry.radius, 0.0)
        elif isinstance(geometry, Box):
            shape = self._library.Box(*geometry.lengths)
        elif isinstance(geometry, Capsule):
            shape = self._library.Capsule(geometry.radius, geometry.length)
        elif isinstance(geometry, Cylinder):
            shape = self._library.Cylinder(geometry.radius, geometry.length)
        elif isinstance(geometry, Mesh):
            shape = self._mesh(geometry)
        else:
            raise ModelError(f"distances to a {type(geometry).__name__} cannot be computed")
        return self._library.CollisionObject(shape)

    @abstractmethod
    def place(self, placed: Any, R: np.ndarray, p: np.ndarray) -> None:
        """Move an object to the rotation R (3, 3) and the position p (3,) [m] in the world."""

    @abstractmethod
    def distance(self, a: Any, b: Any) -> tuple[float, np.ndarray]:
        """Return the signed distance of two objects [m] and the nearest points.

        A negative distance is the depth of an overlap of convex shapes. For overlapping triangles
        the distance is at most 0. The points (2, 3) are in the world frame [m].
        """

    @abstractmethod
    def _mesh(self, mesh: Mesh) -> Any: ...
