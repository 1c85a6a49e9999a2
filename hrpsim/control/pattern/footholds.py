# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Choose footsteps on measured ground: the flattest foothold near the planned foothold."""

import numpy as np

from hrpsim.control.pattern.footsteps import Footstep

_SPACING = 0.02  # distance between the compared footholds [m]
_PER_DISTANCE = 0.05  # gap beneath the sole that compensates a longer distance to a foothold [m/m]
_INWARD = 0.02  # [m]
_FEWEST = 4  # least number of points beneath a sole for the height of the ground


def flattest_foothold(
    nominal: Footstep,
    points,
    outline,
    standing: Footstep | None = None,
    *,
    reach=(0.08, 0.06),
    margin: float = 0.01,
    clearance: float = 1.0,
) -> Footstep:
    """Return the flattest foothold near `nominal`, at the height of the ground.

    A level sole rests on the highest point below it. The flattest ground has the smallest mean gap
    to the sole. Each 20 mm of distance from the nominal foothold counts as much as 1 mm of gap. The
    result is `nominal` if there are no points of the ground near the foothold.

    Args:
        nominal: the planned foothold.
        points: points of the ground, of a height scan for instance (n, 3) [m]. Points that are not
            finite are left out.
        outline: corners of the sole in its frame (k, 2) [m]. The enclosing rectangle is used.
        standing: the standing foot. If given, the moving foot must also clear the ground on its
            path. The checked path begins as far behind the standing foot as the foothold is ahead.
            None: only footholds are checked.
        reach: largest displacement of the foothold along the sole and outward [m]. Inward, the
            limit is 20 mm, because the other foot is there.
        margin: enlargement of the rectangle on each side [m]. Use at least the spacing of the
            points. With less, the sole may meet the corner of a stone between the points.
        clearance: height above obstacles, as a multiple of the gait's step height. Used if
            `standing` is given.
    """
    points = np.asarray(points, dtype=np.float64)
    points = points[np.isfinite(points).all(axis=1)]
    low, high = np.min(outline, axis=0) - margin, np.max(outline, axis=0) + margin
    x, y = _seen_from(nominal, points[:, :2])
    outward = 1.0 if nominal.side == "left" else -1.0
    across = [shift for shift in _shifts(reach[1]) if outward * shift >= -_INWARD - 1e-9]
    best, least = nominal, np.inf
    for dx in _shifts(reach[0]):
        for dy in across:
            inside = (x >= low[0] + dx) & (x <= high[0] + dx)
            beneath = points[inside & (y >= low[1] + dy) & (y <= high[1] + dy), 2]
            if len(beneath) < _FEWEST:
                continue
            cost = beneath.max() - beneath.mean() + _PER_DISTANCE * np.hypot(dx, dy)
            if cost < least:
                least, at = cost, nominal.point((dx, dy))
                best = nominal._replace(x=float(at[0]), y=float(at[1]), z=float(beneath.max()))
    if standing is None:
        return best
    ahead, aside = _seen_from(standing, (best.x, best.y))
    start = _seen_from(best, standing.point((-ahead, aside)))
    low, high = low + np.minimum(start, 0.0), high + np.maximum(start, 0.0)
    x, y = _seen_from(best, points[:, :2])
    passed = points[(x >= low[0]) & (x <= high[0]) & (y >= low[1]) & (y <= high[1]), 2]
    obstacle = float(passed.max(initial=best.z) - best.z)
    return best._replace(obstacle=obstacle, clearance=clearance)


def ground_in_plan(points, position, yaw: float, standing: Footstep) -> np.ndarray:
    """Transform measured points of the ground to the coordinates of a plan (n, 3) [m].

    The transform maps the measured pose of the standing sole to its planned pose. It removes the
    robot's drift from the plan, also in height.

    Args:
        points: measured positions (n, 3) [m].
        position: measured position of the standing sole (3,) [m].
        yaw: measured yaw of the standing sole [rad].
        standing: planned pose of the standing sole.
    """
    away = np.asarray(points, dtype=np.float64) - position
    turned = Footstep(standing.side, 0.0, 0.0, -yaw).point(away[:, :2])
    return np.column_stack([standing.point(turned), away[:, 2] + standing.z])


def _seen_from(sole: Footstep, points) -> np.ndarray:
    """Return x and y (2, ...) [m] of points (..., 2) in the frame of a sole."""
    c, s = np.cos(sole.yaw), np.sin(sole.yaw)
    return np.array([[c, s], [-s, c]]) @ np.subtract(points, (sole.x, sole.y)).T


def _shifts(reach: float) -> np.ndarray:
    """Return shifts from -reach to reach [m], the smallest first."""
    count = int(reach / _SPACING + 1e-9)
    shifts = np.arange(-count, count + 1) * _SPACING
    return shifts[np.argsort(np.abs(shifts), kind="stable")]
