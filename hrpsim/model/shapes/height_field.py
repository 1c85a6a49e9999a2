# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terrain: heights over a grid, as a mesh that is solid beneath."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.errors import ModelError
from hrpsim.model.shapes.geometry import Mesh
from hrpsim.model.shapes.mesh_files import TRIANGLE_LIMIT


class HeightField(Mesh):
    """A surface z = heights[i, j] [m] over a rectangular grid, solid beneath; for static shapes.

    heights (nx, ny), i along x and j along y. The distance of neighbours along x and y [m] is
    `spacing` (one number or two); or `size` is the length and width of the whole field [m].
    `origin` (3,) [m] is where heights[0, 0] = 0 would be; by default the grid is centred about the
    frame's z axis. Each cell is two triangles, cut from [i, j] to [i + 1, j + 1].
    """

    heights: np.ndarray

    def __init__(
        self,
        heights: ArrayLike,
        spacing: ArrayLike | None = None,
        size: ArrayLike | None = None,
        origin: ArrayLike | None = None,
    ):
        heights = np.array(heights, dtype=np.float64)
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ModelError(
                f"HeightField: heights must have shape (nx, ny), both at least 2: {heights.shape}"
            )
        nx, ny = heights.shape
        check_size("HeightField", nx, ny)
        bad = np.argwhere(~np.isfinite(heights))
        if len(bad):
            i, j = bad[0]
            raise ModelError(f"HeightField: heights[{i}, {j}] is {heights[i, j]}, not a number")
        if (spacing is None) == (size is None):
            raise ModelError("HeightField: give either spacing or size")
        if spacing is None:
            steps = _two("size", size) / (nx - 1, ny - 1)
        else:
            steps = _two("spacing", spacing)
        if origin is None:
            start = np.append(-0.5 * steps * (nx - 1, ny - 1), 0.0)
        else:
            start = np.array(origin, dtype=np.float64)
            if start.shape != (3,) or not np.isfinite(start).all():
                raise ModelError(f"HeightField: origin must be three numbers, got {origin!r}")
        x, y = np.meshgrid(np.arange(nx) * steps[0], np.arange(ny) * steps[1], indexing="ij")
        vertices = np.stack([x, y, heights], axis=-1).reshape(-1, 3) + start
        a = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
        b, c, d = a + ny, a + ny + 1, a + 1
        cells = [np.stack(corners, axis=1) for corners in ((a, b, c), (a, c, d))]
        super().__init__(vertices, np.stack(cells, axis=1).reshape(-1, 3))
        heights.flags.writeable = False
        object.__setattr__(self, "heights", heights)


def check_size(owner: str, nx: int, ny: int) -> None:
    """Raise ModelError where a grid of nx by ny heights is no field, or too large a one."""
    if min(nx, ny) < 2:
        raise ModelError(f"{owner}: {nx} x {ny} heights; at least 2 x 2 are needed")
    if 2 * (nx - 1) * (ny - 1) > TRIANGLE_LIMIT:
        raise ModelError(
            f"{owner}: {nx} x {ny} heights make {2 * (nx - 1) * (ny - 1)} triangles, and"
            f" {TRIANGLE_LIMIT} are the limit: give fewer heights, or several fields"
        )


def _two(name: str, given) -> np.ndarray:
    values = np.broadcast_to(np.array(given, dtype=np.float64), (2,))
    if not (np.isfinite(values).all() and (values > 0.0).all()):
        raise ModelError(f"HeightField: {name} must be positive and finite, got {given!r}")
    return values
