# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ground to walk on: heights over a grid, and terrains by name, such as stairs and rubble.

Named terrains begin at the frame's origin, extend along x with the middle at y = 0, and stand on
z = 0. Random terrains depend only on `seed`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common import limits
from hrpsim.common.errors import ModelError
from hrpsim.common.values import LARGEST, as_numbers
from hrpsim.model.shapes.compound import Compound
from hrpsim.model.shapes.convex_hull import ConvexHull
from hrpsim.model.shapes.geometry import Box, Mesh, _positive

_SMALLEST_STONE = 0.5  # part of the size of a stone
_LOWEST_STONE = 0.25  # part of the height of rubble
_LOWEST_BOX = 0.05  # part of the height of boxes
_WAVES = 12
DRAWN_HEIGHTS = 100_000


class HeightField(Mesh):
    """A surface z = heights[i, j] [m] over a rectangular grid, solid beneath, for static shapes.

    heights is (nx, ny), with i along x and j along y. `spacing` (one number or two) is the distance
    of neighbours along x and y [m]. Alternatively, `size` is the length and width of the whole
    field [m]. `origin` (3,) [m] is the point below heights[0, 0] at height 0. By default the grid
    is centred about the frame's z axis. Each cell is two triangles, cut from [i, j] to [i + 1, j +
    1].

    Only the heights are stored. Each access to `vertices` or `triangles` makes a new array.
    """

    heights: np.ndarray
    start: np.ndarray  # (3,) point below heights[0, 0] at height 0 [m]
    steps: np.ndarray  # (2,) distance of neighbours along x and y [m]

    def __init__(
        self,
        heights: ArrayLike,
        spacing: ArrayLike | None = None,
        size: ArrayLike | None = None,
        origin: ArrayLike | None = None,
    ) -> None:
        heights = np.array(as_numbers("HeightField: heights", heights, ModelError), order="C")
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise ModelError(
                "HeightField: heights must have shape (nx, ny), both at least 2, got "
                f"{heights.shape}"
            )
        nx, ny = heights.shape
        check_size("HeightField", nx, ny)
        bad = np.argwhere(~np.isfinite(heights))
        if len(bad):
            i, j = bad[0]
            raise ModelError(
                f"HeightField: heights[{i}, {j}] is {heights[i, j]}. Every height must be finite"
            )
        if (spacing is None) == (size is None):
            raise ModelError("HeightField: give either spacing or size, not both")
        if spacing is None:
            steps = _two("size", size) / (nx - 1, ny - 1)
        else:
            steps = _two("spacing", spacing).copy()
        if origin is None:
            start = np.append(-0.5 * steps * (nx - 1, ny - 1), 0.0)
        else:
            start = as_numbers("HeightField: origin", origin, ModelError)
            if start.shape != (3,) or not (np.abs(start) <= LARGEST).all():
                raise ModelError(f"HeightField: origin must be three numbers, got {origin!r}")
        self._set(heights, start, steps)

    def _set(self, heights: np.ndarray, start: np.ndarray, steps: np.ndarray) -> None:
        for name, array in {"heights": heights, "start": start, "steps": steps}.items():
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __setstate__(self, state: dict) -> None:
        """Restore a field of another process. The restored arrays are read-only too."""
        self.__dict__.update(state)
        for array in (self.heights, self.start, self.steps):
            array.flags.writeable = False

    @property
    def vertices(self) -> np.ndarray:
        """The points of the surface, row by row (nx ny, 3) [m]."""
        nx, ny = self.heights.shape
        x, y = np.arange(nx) * self.steps[0], np.arange(ny) * self.steps[1]
        x, y = np.meshgrid(x, y, indexing="ij")
        return np.stack([x, y, self.heights], axis=-1).reshape(-1, 3) + self.start

    @property
    def triangles(self) -> np.ndarray:
        """Indices of the vertices of each triangle (2 (nx - 1) (ny - 1), 3)."""
        nx, ny = self.heights.shape
        a = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()
        b, c, d = a + ny, a + ny + 1, a + 1
        cells = [np.stack(corners, axis=1) for corners in ((a, b, c), (a, c, d))]
        return np.stack(cells, axis=1).reshape(-1, 3)

    @property
    def bounds(self) -> np.ndarray:
        """Lower and upper corner of the bounding box (2, 3) [m]."""
        length, width = self.steps * np.subtract(self.heights.shape, 1)
        low, high = self.heights.min(), self.heights.max()
        return np.array([[0.0, 0.0, low], [length, width, high]]) + self.start

    @cached_property
    def digest(self) -> str:
        """A hash of the surface."""
        hasher = hashlib.sha256(np.array(self.heights.shape).tobytes())
        for array in (self.heights, self.start, self.steps):
            hasher.update(array.tobytes())
        return hasher.hexdigest()[:40]

    @cached_property
    def why_open(self) -> str | None:
        """Reason why the triangles bound no solid."""
        nx, ny = self.heights.shape
        lone = 2 * (nx + ny - 2)
        count = nx * (ny - 1) + ny * (nx - 1) + (nx - 1) * (ny - 1)
        return f"it is open: {lone} of its {count} edges belong to one triangle only"

    @cached_property
    def radius(self) -> float:
        """Radius of the ball about the frame's origin that encloses the field [m]."""
        nx, ny = self.heights.shape
        x = self.start[0] + self.steps[0] * np.arange(nx)
        y = self.start[1] + self.steps[1] * np.arange(ny)
        squared = (self.heights + self.start[2]) ** 2
        squared += x[:, None] ** 2 + y**2
        return float(np.sqrt(squared.max()))

    @cached_property
    def centered(self) -> tuple[HeightField, np.ndarray]:
        """The same field relative to the middle of its bounds, and this middle (3,) [m]."""
        middle = 0.5 * self.bounds.sum(axis=0)
        return self.moved(-middle), middle

    def require_areas(self) -> None:
        """Do nothing: no triangle of a field is without area."""

    def moved(self, by: ArrayLike) -> HeightField:
        """Return the same field with every vertex moved by (3,) [m]."""
        field = object.__new__(HeightField)
        field._set(self.heights, self.start + np.asarray(by, dtype=np.float64), self.steps)
        return field

    def thinned(self, most: int = DRAWN_HEIGHTS) -> HeightField:
        """Return a coarser field over the same area with about `most` heights, for pictures.

        A field with `most` heights or fewer is returned unchanged, without a copy.
        """
        nx, ny = self.heights.shape
        if nx * ny <= most:
            return self
        ratio = (most / (nx * ny)) ** 0.5
        rows, columns = (max(int(n * ratio), 2) for n in (nx, ny))
        heights = _interpolated(_interpolated(self.heights, rows).T, columns).T
        return HeightField(heights, size=self.steps * (nx - 1, ny - 1), origin=self.start)


def check_size(owner: str, nx: int, ny: int) -> None:
    """Raise ModelError if a grid of nx by ny heights is too small or too large."""
    if min(nx, ny) < 2:
        raise ModelError(f"{owner}: must have at least 2 x 2 heights, got {nx} x {ny}")
    if nx * ny > limits.FIELD_HEIGHTS:
        raise ModelError(
            f"{owner}: {nx} x {ny} heights are {limits.excess('FIELD_HEIGHTS', 'heights')}. Give "
            "fewer"
            " heights, or several fields"
        )


def _interpolated(rows: np.ndarray, count: int) -> np.ndarray:
    """Return `count` rows, evenly spread from the first row to the last."""
    at = np.linspace(0.0, len(rows) - 1.0, count)
    low = np.minimum(at.astype(np.int64), len(rows) - 2)
    part = (at - low)[:, None]
    return (1.0 - part) * rows[low] + part * rows[low + 1]


def _two(name: str, given) -> np.ndarray:
    values = as_numbers(f"HeightField: {name}", given, ModelError)
    if values.shape not in ((), (1,), (2,)):
        raise ModelError(f"HeightField: {name} must be one number or two, got {given!r}")
    values = np.broadcast_to(values, (2,))
    if not ((values > 0.0) & (values <= LARGEST)).all():
        raise ModelError(f"HeightField: {name} must be positive and finite, got {given!r}")
    return values


def stairs(count: int, rise: float, run: float, width: float, landing: float = 0.0) -> Compound:
    """Return `count` steps up, each `rise` high and `run` deep, with lengths in m.

    The tread of step k = 1, 2, ... is at height k * rise between (k - 1) * run and k * run. The
    last tread is `landing` longer.
    """
    _positive("stairs", rise=rise, run=run, width=width)
    _check_count("stairs", count)
    parts = []
    for k in range(count):
        depth = run + (landing if k == count - 1 else 0.0)
        height = (k + 1) * rise
        parts.append((Box((depth, width, height)), (k * run + 0.5 * depth, 0.0, 0.5 * height)))
    return Compound(parts)


def ramp(length: float, rise: float, width: float, landing: float = 0.0) -> Compound:
    """Return a slope that rises by `rise` over `length`, with a landing on top.

    Lengths are in m.
    """
    _positive("ramp", length=length, rise=rise, width=width)
    y = 0.5 * width
    corners = [(0.0, s * y, 0.0) for s in (-1, 1)]
    corners += [(length, s * y, z) for s in (-1, 1) for z in (0.0, rise)]
    parts: list = [ConvexHull(corners)]
    if landing > 0.0:
        parts.append((Box((landing, width, rise)), (length + 0.5 * landing, 0.0, 0.5 * rise)))
    return Compound(parts)


def rubble(length: float, width: float, height: float, stone: float, seed: int = 0) -> Compound:
    """Return scattered flat stones, one in each square of `stone` by `stone`, with lengths in m.

    Each stone is a box with edges of half to all of `stone`, turned at random within the square.
    The stone is a quarter to all of `height` high.
    """
    _positive("rubble", length=length, width=width, height=height, stone=stone)
    nx, ny = max(_floor(length / stone), 1), max(_floor(width / stone), 1)
    _check_count("rubble", nx * ny)
    random = np.random.default_rng(seed).random((nx, ny, 6))
    parts = []
    for i in range(nx):
        for j in range(ny):
            u = random[i, j]
            sides = stone * (_SMALLEST_STONE + (1.0 - _SMALLEST_STONE) * u[:2])
            tall = height * (_LOWEST_STONE + (1.0 - _LOWEST_STONE) * u[2])
            x, y = (i + 0.5) * stone, (j + 0.5 - 0.5 * ny) * stone
            shift = (u[4:6] - 0.5) * (stone - sides)
            half = 0.5 * np.pi * u[3]
            position = (x + shift[0], y + shift[1], 0.5 * tall)
            turn = (0.0, 0.0, np.sin(half), np.cos(half))
            parts.append((Box((sides[0], sides[1], tall)), position, turn))
    return Compound(parts)


def boxes(length: float, width: float, height: float, size: float, seed: int = 0) -> Compound:
    """Return square columns side by side, `size` wide, up to `height` high, with lengths in m.

    The height of each column is random, from a twentieth of `height` to `height`.
    """
    _positive("boxes", length=length, width=width, height=height, size=size)
    nx, ny = max(_floor(length / size), 1), max(_floor(width / size), 1)
    _check_count("boxes", nx * ny)
    fraction = np.random.default_rng(seed).random((nx, ny))
    tall = height * (_LOWEST_BOX + (1.0 - _LOWEST_BOX) * fraction)
    parts = []
    for i in range(nx):
        for j in range(ny):
            position = ((i + 0.5) * size, (j + 0.5 - 0.5 * ny) * size, 0.5 * tall[i, j])
            parts.append((Box((size, size, tall[i, j])), position))
    return Compound(parts)


def waves(
    length: float, width: float, height: float, wave: float, spacing: float = 0.05
) -> HeightField:
    """Return waves across x from 0 to `height`, `wave` from crest to crest, with lengths in m.

    The first trough is at x = 0. The cosine is evaluated on a grid of `spacing`.
    """
    _positive("waves", length=length, width=width, height=height, wave=wave, spacing=spacing)
    nx, ny = _floor(length / spacing) + 1, _floor(width / spacing) + 1
    check_size("waves", nx, ny)
    profile = 0.5 * height * (1.0 - np.cos(2.0 * np.pi / wave * spacing * np.arange(nx)))
    heights = np.repeat(profile[:, None], ny, axis=1)
    return HeightField(heights, spacing=spacing, origin=(0.0, -0.5 * (ny - 1) * spacing, 0.0))


def stepping_stones(
    count: int,
    spacing: float,
    aside: float,
    size: float,
    height: float,
    uneven: float = 0.0,
    seed: int = 0,
) -> Compound:
    """Return square stones, left and right in turn, with lengths in m.

    The middle of stone k = 1, 2, ... is at x = k * spacing and y = aside or -aside, the first on
    the left. The top of a stone is at `height`, or up to `uneven` lower.
    """
    _positive("stepping_stones", spacing=spacing, size=size, height=height)
    _check_count("stepping_stones", count)
    if not 0.0 <= uneven < height:
        raise ModelError(f"stepping_stones: uneven must be from 0 to below height, got {uneven!r}")
    lower = uneven * np.random.default_rng(seed).random(count)
    parts = []
    for k in range(count):
        tall = height - float(lower[k])
        y = aside if k % 2 == 0 else -aside
        parts.append((Box((size, size, tall)), ((k + 1) * spacing, y, 0.5 * tall)))
    return Compound(parts)


def rough_ground(
    length: float, width: float, height: float, wave: float, spacing: float = 0.05, seed: int = 0
) -> HeightField:
    """Return smooth hills from 0 to `height`, none shorter than `wave`, with lengths in m.

    The sum of twelve waves is evaluated on a grid of `spacing`. Directions, phases and lengths
    (`wave` to twice `wave`) are random. The sum is scaled to a lowest point at 0 and a highest
    point at `height`.
    """
    _positive("rough_ground", length=length, width=width, height=height, wave=wave, spacing=spacing)
    nx, ny = _floor(length / spacing) + 1, _floor(width / spacing) + 1
    check_size("rough_ground", nx, ny)
    x, y = np.meshgrid(np.arange(nx) * spacing, np.arange(ny) * spacing, indexing="ij")
    total = np.zeros((nx, ny))
    for u in np.random.default_rng(seed).random((_WAVES, 3)):
        k = 2.0 * np.pi / (wave * (1.0 + u[0]))
        direction = 2.0 * np.pi * u[1]
        total += np.sin(k * (x * np.cos(direction) + y * np.sin(direction)) + 2.0 * np.pi * u[2])
    total -= total.min()
    if total.max() > 0.0:
        total *= height / total.max()
    return HeightField(total, spacing=spacing, origin=(0.0, -0.5 * (ny - 1) * spacing, 0.0))


TERRAINS: dict[str, Callable[..., Compound | HeightField]] = {
    "stairs": stairs,
    "ramp": ramp,
    "rubble": rubble,
    "boxes": boxes,
    "waves": waves,
    "stepping_stones": stepping_stones,
    "rough_ground": rough_ground,
}


def _floor(ratio: float) -> int:
    """Return a ratio rounded down, with a margin of 1e-9 for rounding errors."""
    return int(ratio + 1e-9)


def _check_count(owner: str, count: int) -> None:
    if not 1 <= count <= limits.COMPOUND_PARTS:
        raise ModelError(
            f"{owner}: must have 1 to {limits.COMPOUND_PARTS} parts (limit COMPOUND_PARTS in"
            f" hrpsim.common.limits), got {count}"
        )
