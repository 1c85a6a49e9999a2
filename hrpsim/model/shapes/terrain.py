# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Ground to walk on: stairs, ramps, rubble, stepping stones and rough ground.

All begin at the frame's origin, lead along x with their middle at y = 0, and stand on z = 0.
Random ones depend only on `seed`: the same seed gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hrpsim import limits
from hrpsim.errors import ModelError
from hrpsim.model.shapes.compound import Compound
from hrpsim.model.shapes.convex_hull import ConvexHull
from hrpsim.model.shapes.geometry import Box
from hrpsim.model.shapes.height_field import HeightField, check_size

_SMALLEST_STONE = 0.5  # part of the size of a stone
_LOWEST_STONE = 0.25  # part of the height of rubble
_WAVES = 12


def stairs(count: int, rise: float, run: float, width: float, landing: float = 0.0) -> Compound:
    """Return `count` steps up, each `rise` high and `run` deep; lengths in m.

    The tread of step k = 1, 2, ... lies at k * rise between (k - 1) * run and k * run; the last one
    is `landing` longer.
    """
    _check("stairs", rise=rise, run=run, width=width)
    _check_count("stairs", count)
    parts = []
    for k in range(count):
        depth = run + (landing if k == count - 1 else 0.0)
        height = (k + 1) * rise
        parts.append((Box((depth, width, height)), (k * run + 0.5 * depth, 0.0, 0.5 * height)))
    return Compound(parts)


def ramp(length: float, rise: float, width: float, landing: float = 0.0) -> Compound:
    """Return a slope that rises by `rise` over `length`, and a landing on top; lengths in m."""
    _check("ramp", length=length, rise=rise, width=width)
    y = 0.5 * width
    corners = [(0.0, s * y, 0.0) for s in (-1, 1)]
    corners += [(length, s * y, z) for s in (-1, 1) for z in (0.0, rise)]
    parts: list = [ConvexHull(corners)]
    if landing > 0.0:
        parts.append((Box((landing, width, rise)), (length + 0.5 * landing, 0.0, 0.5 * rise)))
    return Compound(parts)


def rubble(length: float, width: float, height: float, stone: float, seed: int = 0) -> Compound:
    """Return scattered flat stones, one in each square of `stone` by `stone`; lengths in m.

    Each is a box of half to all of `stone` along each edge, turned at random within its square, and
    a quarter to all of `height` high.
    """
    _check("rubble", length=length, width=width, height=height, stone=stone)
    nx, ny = max(_whole(length / stone), 1), max(_whole(width / stone), 1)
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


def stepping_stones(
    count: int,
    spacing: float,
    aside: float,
    size: float,
    height: float,
    uneven: float = 0.0,
    seed: int = 0,
) -> Compound:
    """Return square stones, left and right in turn; lengths in m.

    The middle of stone k = 1, 2, ... is at x = k * spacing and y = aside or -aside, the first on
    the left; its top is at `height`, or up to `uneven` lower.
    """
    _check("stepping_stones", spacing=spacing, size=size, height=height)
    _check_count("stepping_stones", count)
    if not 0.0 <= uneven < height:
        raise ModelError(f"stepping_stones: uneven must be from 0 to below height, got {uneven!r}")
    lower = uneven * np.random.default_rng(seed).random(count)
    parts = []
    for k in range(count):
        tall = height - float(lower[k])
        side = aside if k % 2 == 0 else -aside
        parts.append((Box((size, size, tall)), ((k + 1) * spacing, side, 0.5 * tall)))
    return Compound(parts)


def rough_ground(
    length: float, width: float, height: float, wave: float, spacing: float = 0.05, seed: int = 0
) -> HeightField:
    """Return smooth hills from 0 to `height`, none shorter than `wave`; lengths in m.

    Twelve waves of random directions, phases and lengths from `wave` to twice that are summed over
    a grid of `spacing`, and scaled so that the lowest point is at 0 and the highest at `height`.
    """
    _check("rough_ground", length=length, width=width, height=height, wave=wave, spacing=spacing)
    nx, ny = _whole(length / spacing) + 1, _whole(width / spacing) + 1
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
    "stepping_stones": stepping_stones,
    "rough_ground": rough_ground,
}


def _whole(ratio: float) -> int:
    """Return the number of whole parts; 5.999999999 by rounding is 6."""
    return int(ratio + 1e-9)


def _check(owner: str, **lengths: float) -> None:
    for name, value in lengths.items():
        if not (np.isfinite(value) and value > 0.0):
            raise ModelError(f"{owner}: {name} must be positive and finite, got {value!r}")


def _check_count(owner: str, count: int) -> None:
    if not 1 <= count <= limits.COMPOUND_PARTS:
        raise ModelError(
            f"{owner}: {count} parts; 1 to {limits.COMPOUND_PARTS} are allowed (COMPOUND_PARTS)"
        )
