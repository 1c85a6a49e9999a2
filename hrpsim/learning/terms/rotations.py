# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rotations of many worlds at once."""

from __future__ import annotations

import numpy as np


def rotation_matrices(quaternions: np.ndarray) -> np.ndarray:
    """Return the rotation matrices R_wb (n, 3, 3) of unit quaternions x y z w (n, 4)."""
    x, y, z, w = quaternions.T
    rows = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return rows.transpose(2, 0, 1)


def gravity_in_frame(rotations: np.ndarray) -> np.ndarray:
    """Return the unit direction of gravity (n, 3) in frames with rotation R_wb (n, 3, 3)."""
    return -rotations[:, 2]


def in_world(rotations: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors (n, 3) from frames with rotation R_wb (n, 3, 3) to the world."""
    return np.einsum("nij,nj->ni", rotations, vectors)


def in_frame(rotations: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Rotate vectors (n, 3) from the world to frames with rotation R_wb (n, 3, 3)."""
    return np.einsum("nij,ni->nj", rotations, vectors)


def headings(rotations: np.ndarray) -> np.ndarray:
    """Return the yaw angles (n,) [rad] of frames with rotation R_wb (n, 3, 3)."""
    return np.arctan2(rotations[:, 1, 0], rotations[:, 0, 0])


def turned_about_z(vectors: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Rotate vectors (n, 3) about z by angles (n,) [rad]."""
    c, s = np.cos(angles), np.sin(angles)
    x, y, z = vectors.T
    return np.column_stack([c * x - s * y, s * x + c * y, z])


def quaternions_from_rpy(angles: np.ndarray) -> np.ndarray:
    """Return quaternions x y z w (n, 4) of roll, pitch and yaw (n, 3) [rad], R = Rz Ry Rx."""
    (cr, cp, cy), (sr, sp, sy) = np.cos(0.5 * angles).T, np.sin(0.5 * angles).T
    return np.column_stack(
        [
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
            cr * cp * cy + sr * sp * sy,
        ]
    )


def quaternion_products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the products a b (n, 4) of quaternions x y z w (n, 4)."""
    v, w, u, s = a[:, :3], a[:, 3:], b[:, :3], b[:, 3:]
    vector = w * u + s * v + np.cross(v, u)
    return np.hstack([vector, w * s - (v * u).sum(axis=1, keepdims=True)])


def wrapped(angles: np.ndarray) -> np.ndarray:
    """Wrap angles [rad] to the range from -pi to below pi."""
    return (angles + np.pi) % (2.0 * np.pi) - np.pi
