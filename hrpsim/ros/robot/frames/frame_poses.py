# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where chosen frames of a robot are, all of them found at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from hrpsim.kinematics.forward import new_kinematics, update_poses


class Placed(Protocol):
    """A frame fixed to a body (-1: the world): hrpsim.model.model Frame and Sensor."""

    body: int
    R: np.ndarray
    p: np.ndarray


class FramePoses:
    """Positions and rotation matrices of `frames` in the world, for the robot's present q.

    They are found when they are first asked for after `forget`, and kept until the next one.
    """

    def __init__(self, robot, frames: Sequence[Placed]):
        self._robot = robot
        # The last record is the world, so that body -1 finds it.
        kinematics = new_kinematics(robot.model.body_count + 1)
        kinematics["R"][-1] = np.eye(3)
        self._records = kinematics[:-1]
        self._R_bodies, self._p_bodies, self._origins = (
            kinematics[field] for field in ("R", "p", "origin")
        )
        self._bodies = np.array([frame.body for frame in frames], dtype=int)
        self._roots = np.array(
            [robot.system.root[frame.body] if frame.body >= 0 else -1 for frame in frames],
            dtype=int,
        )
        self._R = np.array([frame.R for frame in frames]).reshape(-1, 3, 3)
        self._p = np.array([frame.p for frame in frames]).reshape(-1, 3, 1)
        self._rotations: np.ndarray | None = None
        self._positions: np.ndarray | None = None

    def forget(self) -> None:
        """Let the poses be found anew: the robot has moved."""
        self._rotations = self._positions = None

    @property
    def rotations(self) -> np.ndarray:
        """R_world_frame (k, 3, 3)."""
        if self._rotations is None:
            robot = self._robot
            q = robot.world.scene.q[robot.first_q : robot.first_q + robot.nq].copy()
            update_poses(robot.forest, q, self._records)
            self._rotations = self._R_bodies[self._bodies] @ self._R
        return self._rotations

    @property
    def positions(self) -> np.ndarray:
        """Origins of the frames (k, 3) [m]."""
        if self._positions is None:
            self.rotations  # noqa: B018  finds where the bodies are
            positions = (self._R_bodies[self._bodies] @ self._p)[:, :, 0]
            positions += self._p_bodies[self._bodies]
            positions += self._origins[self._roots]
            self._positions = positions
        return self._positions
