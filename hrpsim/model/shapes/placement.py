# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The placement of one frame in another, read from URDF origins and axes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import StateError
from hrpsim.common.values import finite_vector


class Placement(NamedTuple):
    """Frame b in frame a: p_a = R p_b + p."""

    R: np.ndarray  # (3, 3)
    p: np.ndarray  # (3,) [m]

    def then(self, inner: Placement) -> Placement:
        """Transform the placement `inner` from this frame to this frame's parent."""
        return Placement(self.R @ inner.R, self.R @ inner.p + self.p)

    def inverse(self) -> Placement:
        """Return the inverse placement: the parent frame, relative to this frame."""
        return Placement(self.R.T, -(self.R.T @ self.p))


IDENTITY = Placement(np.eye(3), np.zeros(3))


def rotation_from_rpy(rpy: Sequence[float]) -> np.ndarray:
    """Return R = Rz(yaw) Ry(pitch) Rx(roll), the URDF's fixed-axis angles [rad], shape (3, 3)."""
    (sr, cr), (sp, cp), (sy, cy) = ((math.sin(a), math.cos(a)) for a in rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def from_origin(xyz: Sequence[float] | None, rpy: Sequence[float] | None) -> Placement:
    """Return the placement of a URDF <origin>. None means zeros."""
    R = np.eye(3) if rpy is None or not any(rpy) else rotation_from_rpy(rpy)
    return Placement(R, np.zeros(3) if xyz is None else np.array(xyz, dtype=np.float64))


def rotation_with_z_along(axis: Iterable[float]) -> np.ndarray:
    """Return a rotation (3, 3) with the unit vector of `axis` (not zero) as third column.

    The rotation is the identity along +z. Along any coordinate axis the entries are exactly 0 and
    1.
    """
    z = np.array(axis, dtype=np.float64)
    z /= np.abs(z).max()  # first, so that squares of tiny numbers do not underflow
    z /= np.linalg.norm(z)
    if z[2] == 1.0:
        return np.eye(3)
    helper = np.zeros(3)
    helper[(int(np.argmax(np.abs(z))) + 1) % 3] = 1.0
    x = helper - (helper @ z) * z
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def rotation_matrix(quaternion: Iterable[float]) -> np.ndarray:
    """Return R (3, 3) of a unit quaternion x y z w."""
    x, y, z, w = quaternion
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_of(what: str, quaternion: ArrayLike) -> np.ndarray:
    """Return R (3, 3) of a quaternion x y z w (4,) of any length but 0.

    `what` names the quaternion in the StateError about invalid values.
    """
    values = finite_vector(what, quaternion, 4)
    length = float(np.linalg.norm(values))
    if length < 1e-6:
        raise StateError(f"{what} must be a quaternion of length 1, got length {length:g}")
    return rotation_matrix(values / length)


def quaternion_of(R: np.ndarray) -> np.ndarray:
    """Return the unit quaternion (x, y, z, w), w >= 0, of a rotation matrix, shape (4,)."""
    # The symmetric 4x4 matrix whose dominant eigenvector is the quaternion: no case distinction.
    K = np.empty((4, 4))
    K[:3, :3] = R + R.T - np.trace(R) * np.eye(3)
    K[:3, 3] = K[3, :3] = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    K[3, 3] = np.trace(R)
    q = np.linalg.eigh(K)[1][:, -1]
    q = q + 0.0
    return -q if q[3] < 0.0 else q
