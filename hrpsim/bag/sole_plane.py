"""How far below a foot's force sensor its sole is, from the shapes on the sensor's child side."""

from __future__ import annotations

import numpy as np

import hrpsim
from hrpsim.collision.bounds import shape_aabb
from hrpsim.model.model import Model, Sensor


def sole_depth(model: Model, sensor: Sensor) -> float:
    """Return how far the lowest point beneath a sensor is below its origin, along its z axis [m].

    That is with all joints at zero; 0 where nothing on the child side can touch anything.
    """
    below = {sensor.body}
    for body in range(sensor.body + 1, model.body_count):
        if int(model.system.parent[body]) in below:
            below.add(body)
    p_sensor, R_sensor = _body_pose(model, sensor.link)
    p_sensor, R_sensor = p_sensor + R_sensor @ sensor.p, R_sensor @ sensor.R
    lower, upper = np.empty((2, 3))
    depths = []
    for shape in model.shapes:
        if shape.body in below:
            p, R = _body_pose(model, shape.link)
            R_shape = np.ascontiguousarray(R_sensor.T @ R @ shape.R)
            p_shape = R_sensor.T @ (p + R @ shape.p - p_sensor)
            size = np.array(shape.geometry.size)
            shape_aabb(shape.geometry.kind, size, R_shape, p_shape, lower, upper)
            depths.append(-lower[2])
    return float(max(depths, default=0.0))


def _body_pose(model: Model, link: str) -> tuple[np.ndarray, np.ndarray]:
    """Return position and rotation of the body that carries a link, with all joints at zero."""
    frame = model.frame(link)
    p, R = hrpsim.link_pose(model, model.neutral(), link)
    R_body = R @ frame.R.T
    return p - R_body @ frame.p, R_body
