# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bounding boxes of entities, and which of them overlap a region. Needs no ROS."""

from __future__ import annotations

import numpy as np

from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, MESH, SPHERE
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.world.objects.entity import Entity


def bounding_box(entity: Entity, frame: Placement = IDENTITY) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners (3,) [m] of a box along `frame` around all shapes, or else its origin."""
    poses = new_kinematics(len(entity.system.parent))
    update_poses(entity.forest, entity.q.copy(), poses)
    lower, upper = [], []
    for shape in entity.shapes:
        placed = Placement(shape.R, shape.p)
        if shape.body >= 0:
            here, root = poses[shape.body], poses[entity.system.root[shape.body]]
            placed = Placement(here["R"], root["origin"] + here["p"]).then(placed)
        centre = frame.R.T @ (placed.p - frame.p)
        reach = np.abs(frame.R.T @ placed.R) @ half_lengths(shape.geometry)
        lower.append(centre - reach)
        upper.append(centre + reach)
    if not lower:
        here = poses[0]["origin"] + poses[0]["p"] if len(poses) else np.zeros(3)
        here = frame.R.T @ (here - frame.p)
        return here, here
    return np.min(lower, axis=0), np.max(upper, axis=0)


def half_lengths(geometry) -> np.ndarray:
    """Return the half edges (3,) [m] of a shape's bounding box, along its own axes."""
    if geometry.kind == MESH:
        return np.abs(geometry.vertices).max(axis=0)
    a, b, c = geometry.size
    return np.array(
        {BOX: (a, b, c), SPHERE: (a, a, a), CYLINDER: (a, a, b), CAPSULE: (a, a, a + b)}[
            geometry.kind
        ]
    )


def meets_box(box: tuple[np.ndarray, np.ndarray], lower: np.ndarray, upper: np.ndarray) -> bool:
    """Return whether two boxes along the same axes overlap."""
    return bool((box[0] <= upper).all() and (box[1] >= lower).all())


def meets_sphere(box: tuple[np.ndarray, np.ndarray], centre: np.ndarray, radius: float) -> bool:
    """Return whether a box and a sphere overlap."""
    nearest = np.clip(centre, *box)
    return float(np.linalg.norm(nearest - centre)) <= radius


def meets_hull(box: tuple[np.ndarray, np.ndarray], points: np.ndarray) -> bool:
    """Return whether a box and the convex hull of points (n, 3) overlap.

    A linear programme: do weights >= 0 of sum 1 exist with which the points' mean is in the box?
    """
    from scipy.optimize import linprog  # slow to import and rarely used

    if not meets_box(box, points.min(axis=0), points.max(axis=0)):
        return False
    found = linprog(
        np.zeros(len(points)),
        A_ub=np.vstack([points.T, -points.T]),
        b_ub=np.concatenate([box[1], -box[0]]),
        A_eq=np.ones((1, len(points))),
        b_eq=[1.0],
    )
    return found.status == 0
