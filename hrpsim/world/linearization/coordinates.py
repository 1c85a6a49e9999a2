# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tangents of the state: rotations of free bases, and between the public layout and the kernels'.

Matrices have a row for each degree of freedom and a column for each perturbation. A free base turns
by (R <- exp(d) R) in the kernels' layout, along the world's axes, its angular part first; in the
public layout by (R <- R exp(d)), along its own axes, linear part first.
"""

from __future__ import annotations

import numpy as np

from hrpsim.kinematics.forest import Forest
from hrpsim.model.system import FREE


def skew(v: np.ndarray) -> np.ndarray:
    """Return the matrices (..., 3, 3) of the cross products v x of vectors (..., 3)."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out


def exponential(rotation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return exp of rotation vectors (k, 3) [rad] and its left Jacobian, (k, 3, 3) each."""
    cross = skew(rotation)
    square, angle = cross @ cross, np.linalg.norm(rotation, axis=1)[:, None, None]
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    a = np.where(small, 1.0 - angle**2 / 6.0, np.sin(safe) / safe)
    b = np.where(small, 0.5 - angle**2 / 24.0, (1.0 - np.cos(safe)) / safe**2)
    c = np.where(small, 1.0 / 6.0 - angle**2 / 120.0, (safe - np.sin(safe)) / safe**3)
    return np.eye(3) + a * cross + b * square, np.eye(3) + b * cross + c * square


class FreeBases:
    """The degrees of freedom of the free bases of a forest, in both layouts."""

    def __init__(self, forest: Forest):
        bodies = forest.bodies
        free = bodies["joint_type"] == FREE
        first = bodies["v_index"][free][:, None] + np.arange(3)
        self.angular, self.linear = first, first + 3  # (k, 3) each, kernels' layout
        self._quaternions = bodies["q_index"][free][:, None] + np.arange(3, 7)
        self.bodies = np.flatnonzero(free)

    def rotations(self, q: np.ndarray) -> np.ndarray:
        """Return the rotations (k, 3, 3) of the bases."""
        u = q[self._quaternions]
        u = u / np.linalg.norm(u, axis=1, keepdims=True)
        cross = skew(u[:, :3])
        return np.eye(3) + 2.0 * (u[:, 3, None, None] * cross + cross @ cross)

    def to_public(self, R: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return rows (nv, ...) of the kernels' layout turned into the public one."""
        out, inverse = rows.copy(), R.swapaxes(1, 2)
        out[self.angular], out[self.linear] = (
            _times(inverse, rows[self.linear]),
            _times(inverse, rows[self.angular]),
        )
        return out

    def from_public(self, R: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Return rows (nv, ...) of the public layout turned into the kernels' one."""
        out = rows.copy()
        out[self.linear] = _times(R, rows[self.angular])
        out[self.angular] = _times(R, rows[self.linear])
        return out

    def turn_velocity(self, velocity: np.ndarray, dq: np.ndarray, sign: float) -> np.ndarray:
        """Return `sign` times d x v of both velocities of bases that turn by d (rows of dq)."""
        out = np.zeros_like(dq)
        for part in (self.angular, self.linear):
            out[part] = -sign * _times(skew(velocity[part]), dq[self.angular])
        return out

    def carry(self, velocity: np.ndarray, duration: float, dq: np.ndarray, dv: np.ndarray):
        """Return how q that moved with `velocity` for `duration` changes with dq and dv."""
        out = dq + duration * dv
        turn, jacobian = exponential(duration * velocity[self.angular])
        out[self.angular] = _times(turn, dq[self.angular]) + duration * _times(
            jacobian, dv[self.angular]
        )
        return out


def _times(matrices: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return products of matrices (k, 3, 3) and rows (k, 3, ...)."""
    if rows.ndim == 2:
        return np.matmul(matrices, rows[:, :, None])[:, :, 0]
    return np.matmul(matrices, rows)
