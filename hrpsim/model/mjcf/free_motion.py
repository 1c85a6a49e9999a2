# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Poses and velocities of bodies that move freely, from MuJoCo's coordinates and back."""

from __future__ import annotations

import numpy as np

from hrpsim.model.mjcf.tree import rotation_of

_UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


class FreeMotion:
    """Pose and velocity of a body with `free_joints` (tree.py), and its part of qpos and qvel.

    `m` is an MjcfModel or a mujoco.MjModel. `qpos` and `qvel` are the first of the seven and six
    entries: positions, then a quaternion w x y z; rates, then the angular velocity in the body.
    """

    def __init__(self, m, body: int):
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        self.qpos, self.qvel = int(m.jnt_qposadr[first]), int(m.jnt_dofadr[first])
        self.axes, self.turn = np.eye(3), _UNTURNED
        self.origin = self.anchor = np.zeros(3)
        if count > 1:
            self.turn = np.array(m.body_quat[body])
            R = rotation_of(self.turn)
            self.axes = R @ np.transpose(m.jnt_axis[first : first + 3])
            self.anchor = np.array(m.jnt_pos[first + 3])  # of the ball, in the body
            start = self.axes @ m.qpos0[self.qpos : self.qpos + 3]
            self.origin = m.body_pos[body] + R @ self.anchor - start

    def pose(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion w x y z (4,) of the body at qpos (nq,)."""
        turn = _product(self.turn, qpos[self.qpos + 3 : self.qpos + 7])
        moved = self.origin + self.axes @ qpos[self.qpos : self.qpos + 3]
        return moved - rotation_of(turn) @ self.anchor, turn

    def velocity(self, turn: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity of the body's origin in the world, and of its rotation in the body.

        turn: its quaternion, from `pose`. Both (3,) [m/s, rad/s].
        """
        spin, R = qvel[self.qvel + 3 : self.qvel + 6], rotation_of(turn)
        return self.axes @ qvel[self.qvel : self.qvel + 3] - R @ np.cross(spin, self.anchor), spin


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quaternion w x y z of rotation a after rotation b."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.append(a[0] * b[0] - a[1:] @ b[1:], vector)
