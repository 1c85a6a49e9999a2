# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a stabiliser follows, as its kernel reads it: a reference's samples and supports."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from hrpsim.control.balance.walk_reference import WalkReference
from hrpsim.control.pattern.support_polygon import inset


class Course(NamedTuple):
    """Samples as in `WalkReference`, n of them, of j joints; m phases of support."""

    joint_positions: np.ndarray  # (n, j)
    joint_efforts: np.ndarray  # (n, j)
    waist_R: np.ndarray  # (n, 3, 3)
    com: np.ndarray  # (n, 3)
    com_velocity: np.ndarray  # (n, 3)
    zmp: np.ndarray  # (n, 2)
    vertical_force: np.ndarray  # (n,)
    sole_p: np.ndarray  # (n, 2, 3)
    sole_R: np.ndarray  # (n, 2, 3, 3)
    sole_yaw: np.ndarray  # (n, 2)
    contact: np.ndarray  # (n, 2) bool
    phase: np.ndarray  # (n,)
    pivots: np.ndarray  # of the feet from the waist, along the world's axes (n, 2, 3) [m]
    corners: np.ndarray  # of where the ZMP may be in each phase, counter-clockwise (m, k, 2)
    corner_counts: np.ndarray  # how many of these count (m,); none where no sole stands


_KEPT = 4  # courses of a reference
_courses: WeakKeyDictionary[WalkReference, dict[float, Course]] = WeakKeyDictionary()


def course_of(reference: WalkReference, margin: float) -> Course:
    """Return the course of a reference; the ZMP keeps `margin` [m] from the support's edge.

    It is kept with the reference for whoever follows it next, and not to be written to.
    """
    known = _courses.setdefault(reference, {})
    if margin not in known:
        while len(known) >= _KEPT:
            del known[next(iter(known))]
        known[margin] = _new_course(reference, margin)
    return known[margin]


def _new_course(reference: WalkReference, margin: float) -> Course:
    heights = np.array([[foot.pivot_height] for foot in reference.feet])
    pivots = reference.sole_p + heights * reference.sole_R[:, :, :, 2]
    pivots -= reference.waist_p[:, None]
    supports = [
        np.empty((0, 2)) if polygon is None else inset(polygon, margin)
        for polygon in reference.polygons
    ]
    corners = np.zeros((len(supports), max(map(len, supports)), 2))
    for row, support in zip(corners, supports):
        row[: len(support)] = support
    shared = [np.ascontiguousarray(getattr(reference, name)) for name in Course._fields[:12]]
    return Course(*shared, pivots, corners, np.array([len(support) for support in supports]))
