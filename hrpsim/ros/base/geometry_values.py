# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Conversions between geometry messages and numbers. ROS is imported only if needed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hrpsim.model.shapes.placement import Placement, quaternion_of
from hrpsim.ros.base.entities import Refusal
from hrpsim.world.objects.body import rotation_matrix

if TYPE_CHECKING:
    from geometry_msgs.msg import Pose, Vector3
    from sensor_msgs.msg import PointField

_FARTHEST = 1e4  # [m], positions then have a rounding error of 2e-12 m


def placement_of(pose: Pose) -> Placement:
    """Return a pose as a placement. Refusal INVALID_POSE for an invalid pose."""
    p, quaternion = np.split(pose_of(pose), [3])
    return Placement(rotation_matrix(quaternion / np.linalg.norm(quaternion)), p)


def pose_of(pose: Pose) -> np.ndarray:
    """Return position [m] and quaternion x y z w (7,). Refusal INVALID_POSE for an invalid pose."""
    p, quaternion = numbers_of(pose.position), numbers_of(pose.orientation)
    if not (np.abs(p) <= _FARTHEST).all():
        raise Refusal(
            "INVALID_POSE", f"the position must be finite, with coordinates up to {_FARTHEST:g} m"
        )
    length = np.linalg.norm(quaternion)
    if not abs(length - 1.0) < 1e-2:
        raise Refusal("INVALID_POSE", f"the quaternion must have length 1, got {length:.6g}")
    return np.concatenate([p, quaternion])


def fill_pose(pose: Pose, placement: Placement) -> None:
    """Write a placement to a pose."""
    fill(pose.position, placement.p)
    fill(pose.orientation, quaternion_of(placement.R))


def numbers_of(message) -> np.ndarray:
    """Return x, y, z of a vector (3,), or x, y, z, w of a quaternion (4,)."""
    return np.array([getattr(message, axis) for axis in "xyzw" if hasattr(message, axis)])


def fill(message, numbers: Sequence[float] | np.ndarray) -> None:
    """Write three or four numbers to x, y, z and w of a message."""
    for axis, number in zip("xyzw", numbers):
        setattr(message, axis, float(number))


def vector_of(numbers: Sequence[float] | np.ndarray) -> Vector3:
    """Return a Vector3 message of three numbers."""
    from geometry_msgs.msg import Vector3

    x, y, z = map(float, numbers)
    return Vector3(x=x, y=y, z=z)


def point_fields(kind: np.dtype) -> list[PointField]:
    """Return the fields of a PointCloud2 with points of a structured type."""
    from sensor_msgs.msg import PointField

    datatypes = {"f4": PointField.FLOAT32, "f8": PointField.FLOAT64}
    datatypes |= {"u2": PointField.UINT16, "u4": PointField.UINT32}
    result = []
    for name, (part, offset, *_) in (kind.fields or {}).items():
        count, datatype = math.prod(part.shape), datatypes[part.base.str[1:]]
        result.append(PointField(name=name, offset=offset, datatype=datatype, count=count))
    return result
