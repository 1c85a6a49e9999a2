# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A damped spring between a point of a body and the user's hand: an external wrench."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.errors import WorldError
from hrpsim.world.objects.body import Body, rotation_matrix
from hrpsim.world.objects.robot import Robot

FARTHEST = 1e4  # [m]
_RATE = 2.0 * math.pi * 1.5  # of the whole robot or body on the spring [rad/s]
_STIFFEST = 0.1  # stiffness times period^2 over the mass of the dragged part: stable in a step
_MOST_DAMPED = 0.5  # damping times period over that mass, likewise


class Grip:
    """Pull a point of a body, fixed in the body, towards `target` [m] in the world.

    The spring carries the entity's whole mass at 1.5 Hz, critically damped, and is softer where
    the dragged part alone is too light for that at this period. `period` [s] is how long each call
    of `pull` lasts. Raises WorldError for a link that is fixed to the world.
    """

    def __init__(self, entity: Robot | Body, link: str, point, period: float):
        self.entity = entity
        self.link = link
        self.period = period
        origin, R = self._pose()
        self.local_point = R.T @ (np.asarray(point, dtype=np.float64) - origin)
        self.target = self.point
        mass = float(entity.system.mass.sum())
        part = mass
        if isinstance(entity, Robot):
            body = entity.model.frame(link).body
            if body < 0:
                raise WorldError(f"link {link!r} of {entity.name!r} is fixed to the world")
            part = float(entity.system.mass[body])
        self.stiffness = min(mass * _RATE**2, _STIFFEST * part / period**2)  # [N/m]
        self.damping = min(2.0 * mass * _RATE, _MOST_DAMPED * part / period)  # [Ns/m]
        self._last_point: np.ndarray | None = None

    def move_to(self, target) -> None:
        """Set the hand's position `target` (3,) [m]; WorldError if it is not within FARTHEST."""
        target = np.asarray(target, dtype=np.float64)
        if target.shape != (3,) or not (np.abs(target) <= FARTHEST).all():
            raise WorldError(f"a hand can be {FARTHEST:g} m from the origin at most, got {target}")
        self.target = target

    @property
    def point(self) -> np.ndarray:
        """Position of the gripped point in the world (3,) [m]."""
        origin, R = self._pose()
        return origin + R @ self.local_point

    def pull(self) -> np.ndarray:
        """Apply the spring's force until the next step ends; return it (3,) [N], world axes."""
        point = self.point
        last = point if self._last_point is None else self._last_point
        self._last_point = point
        force = self.stiffness * (self.target - point) - self.damping * (point - last) / self.period
        if isinstance(self.entity, Robot):
            self.entity.apply_wrench(self.link, force=force, point=self.local_point)
        else:
            self.entity.apply_wrench(force=force, point=point)
        return force

    def _pose(self) -> tuple[np.ndarray, np.ndarray]:
        if isinstance(self.entity, Robot):
            origin, orientation = self.entity.link_pose(self.link)
        else:
            origin, orientation = self.entity.position, self.entity.orientation
        return origin, rotation_matrix(orientation)


class Grabbing:
    """The user's hand with the grabbed body."""

    grip: Grip | None = None

    def drag_to(self, target) -> None:
        """Move the hand to `target` (3,) [m] in the world, as far as FARTHEST from the origin."""
        if self.grip is not None:
            self.grip.move_to(target)

    def release(self) -> None:
        """Release the grabbed body."""
        self.grip = None
