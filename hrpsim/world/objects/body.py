# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A free rigid body: one shape, or several shapes that move together."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning, WorldError, shown_value
from hrpsim.common.values import finite_vector
from hrpsim.engine.step.scene.status import LARGEST_SPEED
from hrpsim.model.body_inertia import check_mass, solid_system
from hrpsim.model.model import CollisionShape, Frame
from hrpsim.model.shapes.compound import Compound, require_shape
from hrpsim.model.shapes.geometry import Geometry
from hrpsim.model.shapes.placement import rotation_matrix
from hrpsim.model.shapes.solid_inertia import solid_inertia, solid_parts
from hrpsim.world.objects.entity import Entity, WorldState, _frozen, bounded_vector
from hrpsim.world.objects.plausibility import far_point


class Body(Entity):
    """A rigid body that moves freely. The origin of the frame is the centre of mass."""

    def __init__(  # many parameters: keyword arguments
        self,
        world: WorldState,
        name: str,
        geometry: Geometry | Compound,
        mass: float,
        position: ArrayLike,
        orientation: ArrayLike,
        velocity: ArrayLike,
        angular_velocity: ArrayLike,
        material: str,
        inertia: ArrayLike | None = None,
        color: ArrayLike | None = None,
    ) -> None:
        mass = check_mass(mass)
        self.color = None if color is None else _checked_color(name, color)
        if not isinstance(material, str):
            raise WorldError(f"material must be a name, got {shown_value(material)}")
        require_shape(geometry)
        if inertia is None:
            inertia = solid_inertia(geometry, mass)
        shapes = tuple(
            CollisionShape(name, name, 0, placement.R, placement.p, part, material)
            for part, placement in solid_parts(geometry)
        )
        system = solid_system(mass, inertia)
        frames = (Frame(name, 0, np.eye(3), np.zeros(3)),)
        super().__init__(world, name, system, shapes, frames, np.zeros(7), np.zeros(6))
        self.initial_q = self._checked_q(
            np.concatenate(
                [
                    finite_vector("position", position, 3),
                    finite_vector("orientation", orientation, 4),
                ]
            )
        )
        R = rotation_matrix(self.initial_q[3:])
        self.initial_v = np.concatenate(
            [
                R.T @ bounded_vector("velocity", velocity, 3, LARGEST_SPEED),
                R.T @ bounded_vector("angular_velocity", angular_velocity, 3, LARGEST_SPEED),
            ]
        )

    def __repr__(self) -> str:
        shapes = ", ".join(type(shape.geometry).__name__ for shape in self.shapes[:3])
        more = ", ..." if len(self.shapes) > 3 else ""
        return f"<Body {self.name!r}: {shapes}{more}, {self.mass:g} kg>"

    @property
    def asleep(self) -> bool:
        """Whether the body sleeps. Steps leave out a body at rest until something wakes it."""
        return self.world.sleeps(self)

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.system.mass[0])

    @property
    def position(self) -> np.ndarray:
        """Position of the centre of mass in the world (3,) [m]."""
        return self.q[:3]

    @position.setter
    def position(self, values) -> None:
        self.q = [*finite_vector(f"position of {self.name!r}", values, 3), *self.q[3:]]

    @property
    def orientation(self) -> np.ndarray:
        """Orientation as a quaternion x y z w (4,)."""
        return self.q[3:]

    @orientation.setter
    def orientation(self, values) -> None:
        self.q = [*self.q[:3], *finite_vector(f"orientation of {self.name!r}", values, 4)]

    @property
    def velocity(self) -> np.ndarray:
        """Velocity of the centre of mass in the world (3,) [m/s]."""
        return _frozen(self._velocity()[3:].copy())

    @velocity.setter
    def velocity(self, values) -> None:
        velocity = finite_vector(f"velocity of {self.name!r}", values, 3)
        self.v = [*rotation_matrix(self.orientation).T @ velocity, *self.v[3:]]

    @property
    def angular_velocity(self) -> np.ndarray:
        """Angular velocity along the world's axes (3,) [rad/s]."""
        return _frozen(self._velocity()[:3].copy())

    @angular_velocity.setter
    def angular_velocity(self, values) -> None:
        velocity = finite_vector(f"angular_velocity of {self.name!r}", values, 3)
        self.v = [*self.v[:3], *rotation_matrix(self.orientation).T @ velocity]

    def apply_wrench(
        self,
        force: ArrayLike = (0.0, 0.0, 0.0),
        torque: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike | None = None,
    ) -> None:
        """Push the body during the next call of World.step. Several pushes add up.

        Args:
            force: (3,) [N], in the world.
            torque: (3,) [Nm], in the world.
            point: point of the force (3,) [m], in the world. The default is the centre of mass. The
                point moves with the body during the call.
        """
        local = np.zeros(3)
        if point is not None:
            away = finite_vector("point", point, 3) - self.position
            local = rotation_matrix(self.orientation).T @ away
            if text := far_point("the point", away, self.name):
                warnings.warn(text, ModelWarning, stacklevel=2)
        self._apply(0, local, force, torque)


def _checked_color(name: str, color: ArrayLike) -> tuple[int, int, int]:
    """Convert red, green and blue from 0 to 1 to integers from 0 to 255, after a check."""
    parts = finite_vector(f"color of {name!r}", color, 3)
    if parts.min() < 0.0 or parts.max() > 1.0:
        raise WorldError(
            f"color of {name!r}: red, green and blue must be from 0 to 1, got {parts.tolist()}"
        )
    red, green, blue = np.rint(255.0 * parts).astype(int).tolist()
    return red, green, blue
