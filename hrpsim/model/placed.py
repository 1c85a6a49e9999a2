# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Move the base of a robot to another pose in the world."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.values import finite_vector
from hrpsim.model.model import CollisionShape, Frame, Model, Sensor
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.model.shapes.placement import Placement, quaternion_of, rotation_matrix, rotation_of
from hrpsim.model.system import FREE

_Part = TypeVar("_Part", Frame, CollisionShape, Sensor, SampledSensor)


def put_at(
    model: Model, q: ArrayLike | None, position: ArrayLike | None, orientation: ArrayLike | None
) -> tuple[Model, ArrayLike | None]:
    """Move the base link to a pose in the world.

    Args:
        model: model of the robot. A free base is moved in q, a fixed base in the model.
        q: configuration. The default is the start configuration of the description.
        position: (3,) [m]. None keeps the present position.
        orientation: quaternion x y z w (4,). None keeps the present orientation.

    Returns:
        (model, configuration (nq,)).

    Raises:
        StateError: a value is not finite, or a quaternion has length 0.
    """
    if position is None and orientation is None:
        return model, q
    if model.base == "free":
        posture = np.array(model.starting() if q is None else q, dtype=np.float64)
        if position is not None:
            posture[:3] = finite_vector("position", position, 3)
        if orientation is not None:
            posture[3:7] = finite_vector("orientation", orientation, 4)
        return model, posture
    base = model.frames[model.base_link]
    p = base.p if position is None else finite_vector("position", position, 3)
    R = base.R if orientation is None else rotation_of("orientation of a base", orientation)
    return placed(model, Placement(R, p)), q


def placed(model: Model, at: Placement) -> Model:
    """Return the model with its fixed base link at the placement `at` in the world.

    Shapes, frames and sensors that are fixed to the world move as well. The first joint of each
    tree, floating links and keyframes also move.
    """
    moved = Placement(model.frames[model.base_link].R, model.frames[model.base_link].p)
    at = at.then(moved.inverse())
    system = model.system
    placement_R, placement_p = system.placement_R.copy(), system.placement_p.copy()
    for body in np.flatnonzero(system.parent < 0):
        inner = Placement(placement_R[body], placement_p[body])
        placement_R[body], placement_p[body] = at.then(inner)
    return replace(
        model,
        system=system._replace(placement_R=placement_R, placement_p=placement_p),
        frames={name: _moved(frame, at) for name, frame in model.frames.items()},
        shapes=tuple(_moved(shape, at) for shape in model.shapes),
        sensors=tuple(_moved(sensor, at) for sensor in model.sensors),
        sampled_sensors=tuple(_moved(sensor, at) for sensor in model.sampled_sensors),
        keyframes={name: _moved_posture(model, q, at) for name, q in model.keyframes.items()},
    )


def _moved(part: _Part, at: Placement) -> _Part:
    """Return a shape, frame or sensor displaced by `at` if fixed to the world, else unchanged."""
    if part.body >= 0:
        return part
    R, p = at.then(Placement(part.R, part.p))
    return replace(part, R=R, p=p)


def _moved_posture(model: Model, q: np.ndarray, at: Placement) -> np.ndarray:
    q = q.copy()
    for joint in model.joints:
        if joint.joint_type == FREE:
            k = joint.q_index
            pose = at.then(Placement(rotation_matrix(q[k + 3 : k + 7]), q[k : k + 3]))
            q[k : k + 3], q[k + 3 : k + 7] = pose.p, quaternion_of(pose.R)
    return q
