# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A growing pool of solids with spare capacity. Adding a solid rarely copies the others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hrpsim.engine.collision.solids.collision_proxies import proxy, solid_key
from hrpsim.engine.collision.solids.polyhedra import TILE_ROOM, Polyhedra, shift
from hrpsim.model.shapes.geometry import Geometry


def lasting_arrays(polyhedra: Polyhedra) -> list[np.ndarray]:
    """Return the arrays of solids that no search writes. Several scenes may share these arrays.

    Searches write the records of tiles, so most arrays of height fields are left out.
    """
    written = (*TILE_ROOM, "grids", "tiles", "slots") if len(polyhedra.grids) else ()
    return [array for name, array in polyhedra._asdict().items() if name not in written]


class SolidPool:
    """The solids of a world's shapes.

    Args:
        polyhedra: existing solids.
        geometries: geometries of the world's shapes.
        solids: index of each geometry's solid in `polyhedra`, -1 for none.
    """

    def __init__(
        self, polyhedra: Polyhedra, geometries: Iterable[Geometry], solids: np.ndarray
    ) -> None:
        self.polyhedra = polyhedra
        self._used = {name: len(array) for name, array in polyhedra._asdict().items()}
        self._numbers = {
            solid_key(geometry): solid
            for geometry, solid in zip(geometries, solids.tolist(), strict=True)
            if solid >= 0
        }

    @property
    def count(self) -> int:
        """Number of solids."""
        return self._used["solids"]

    def number_of(self, geometry: Geometry) -> int:
        """Return the number of a shape's solid, made if necessary, or -1 if no solid is needed."""
        key = solid_key(geometry)
        if key is None:
            return -1
        if key not in self._numbers:
            self._numbers[key] = self.count
            self._append(proxy(geometry))
        return self._numbers[key]

    def _append(self, part: Polyhedra) -> None:
        first, arrays = dict(self._used), {}
        for name, more in part._asdict().items():
            pool, begin = getattr(self.polyhedra, name), first[name]
            self._used[name] = end = begin + len(more)
            if end > len(pool):
                larger = np.zeros(2 * end, dtype=pool.dtype)
                larger[:begin] = pool[:begin]
                self.polyhedra, pool = self.polyhedra._replace(**{name: larger}), larger
            pool[begin:end] = more
            arrays[name] = pool[begin:end]
        shift(Polyhedra(**arrays), first)
