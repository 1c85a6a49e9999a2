# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What lies beneath a foot's force sensor: the shapes on its child side."""

from __future__ import annotations

import numpy as np

from hrpsim.collision.bounds import shape_aabb
from hrpsim.kinematics.forest import forest_of
from hrpsim.kinematics.forward import new_kinematics, update_poses
from hrpsim.model.model import Model, Sensor


def sole_box(model: Model, sensor: Sensor) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lower and upper corner (3,) [m] of the box about all that a foot can touch with.

    Along the axes of the sensor frame, from its origin, with all joints at zero; the shapes are
    those of the bodies that the sensor carries. None where these have no shapes.
    """
    below = {sensor.body}
    for body in range(sensor.body + 1, model.body_count):
        if int(model.system.parent[body]) in below:
            below.add(body)
    kinematics = new_kinematics(model.body_count)
    update_poses(forest_of(model.system), model.neutral(), kinematics)
    R, p = kinematics["R"], kinematics["p"]
    R_sensor = R[sensor.body] @ sensor.R
    p_sensor = p[sensor.body] + R[sensor.body] @ sensor.p
    lower, upper = np.full(3, np.inf), np.full(3, -np.inf)
    low, high = np.empty((2, 3))
    for shape in model.shapes:
        if shape.body in below:
            at = p[shape.body] + R[shape.body] @ shape.p
            R_shape = np.ascontiguousarray(R_sensor.T @ R[shape.body] @ shape.R)
            size = np.array(shape.geometry.size)
            p_shape = R_sensor.T @ (at - p_sensor)
            shape_aabb(shape.geometry.kind, size, R_shape, p_shape, low, high)
            lower, upper = np.minimum(lower, low), np.maximum(upper, high)
    return (lower, upper) if np.isfinite(lower).all() else None


def sole_depth(model: Model, sensor: Sensor) -> float:
    """Return how far the lowest point beneath a sensor is below its origin, along its z axis [m].

    That is with all joints at zero; 0 where nothing on the child side can touch anything.
    """
    box = sole_box(model, sensor)
    return 0.0 if box is None else float(-box[0][2])
