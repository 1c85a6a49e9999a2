# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Changes of a robot's inertias and joint properties relative to its description."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning, StateError, WorldError
from hrpsim.common.values import (
    LARGEST,
    POSITIVE,
    as_numbers,
    finite_vector,
    not_negative,
    number,
    several,
)
from hrpsim.engine.kinematics.forest import Forest, forest_of
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.features import use_features
from hrpsim.model.model import Model
from hrpsim.model.system import System
from hrpsim.world.objects.plausibility import JointLimits, far_point, idle_joint

_LIMITS = ("velocity_limit", "effort_limit")


class RobotProperties:
    """Properties of a Robot that may differ between worlds with the same joints.

    The properties are not part of the state: a reset or a snapshot keeps the new values. `model` is
    the changed robot, `described` the robot that was added to the world. The class uses only the
    robot's public parts: world, indices in the world, and `joint_index`.
    """

    model: Model
    described: Model
    system: System
    forest: Forest
    limits: JointLimits

    def scale_inertias(self, factors: ArrayLike, links: str | Sequence[str] | None = None) -> None:
        """Set masses and inertias to the values of `described` times a factor.

        Links that are fixed to a scaled link are scaled as well. Centres of mass do not change.

        Args:
            factors: one number, or one for each link.
            links: links to scale. The default is the whole robot. Other links do not change.

        Raises:
            WorldError: a factor is not positive, a link is fixed to the world, or two links belong
                to the same body.
            ModelError: unknown link.
        """
        system, described = self.system, self.described.system
        names = None if links is None else several(links)
        bodies = np.arange(len(system.mass))
        if names is not None:
            bodies = np.array([self.model.frame(name).body for name in names], dtype=np.int64)
            for k, body in enumerate(bodies):
                if body < 0:
                    raise WorldError(f"link {names[k]!r} of {self.name!r} is fixed to the world")
                if body in bodies[:k]:
                    first = names[list(bodies).index(body)]
                    raise WorldError(
                        f"links {first!r} and {names[k]!r} of {self.name!r} belong to the same body"
                    )
        label = f"factors of inertias of {self.name!r}"
        scale = not_negative(label, factors, len(bodies))
        if (scale == 0.0).any() or (scale * described.mass[bodies] > LARGEST).any():
            raise WorldError(f"{label} must be positive, and masses at most {LARGEST:g}")
        mass, inertia = system.mass.copy(), system.inertia.copy()
        mass[bodies] = scale * described.mass[bodies]
        inertia[bodies] = scale[:, None, None] * described.inertia[bodies]
        self._use_system(system._replace(mass=mass, inertia=inertia))

    def deform_link(
        self,
        link: str,
        mass_factor: float = 1.0,
        shift: ArrayLike = (0.0, 0.0, 0.0),
        deformation: ArrayLike = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    ) -> None:
        """Set mass, centre of mass and inertia by a deformation of the `described` link.

        The matter of the link, and of all that is fixed to the link, moves from c + x to c + shift
        + deformation x. c is the centre of mass of the link. The inertia is therefore always
        physically possible. Upper triangular deformations with positive diagonals reach every such
        inertia exactly once, as the log-Cholesky parameters do (Rucker and Wensing, 2022). Shapes
        do not change.

        Args:
            link: the link to deform.
            mass_factor: factor of the mass, positive.
            shift: displacement of the centre of mass (3,) [m], in the frame of the link.
            deformation: (3, 3), not singular, in the frame of the link.

        Raises:
            WorldError: the link is fixed to the world, values are not finite, or no mass or no
                inertia is left.
            ModelError: unknown link.
        """
        system, described = self.system, self.described.system
        frame = self.model.frame(link)
        body, R = frame.body, frame.R
        if body < 0:
            raise WorldError(f"link {link!r} of {self.name!r} is fixed to the world")
        mass_factor = number("mass_factor", mass_factor, POSITIVE)
        A, moved = as_numbers("deformation", deformation), finite_vector("shift", shift, 3)
        if text := far_point("the shifted centre of mass", moved, link):
            warnings.warn(text, ModelWarning, stacklevel=2)
        if A.shape != (3, 3):
            raise WorldError(
                f"link {link!r}: deformation must have the shape (3, 3), got {A.shape}"
            )
        A, moment = R @ A @ R.T, described.inertia[body]
        second = mass_factor * A @ (0.5 * np.trace(moment) * np.eye(3) - moment) @ A.T
        mass, com, inertia = system.mass.copy(), system.com.copy(), system.inertia.copy()
        mass[body] = mass_factor * described.mass[body]
        com[body] = described.com[body] + R @ moved
        inertia[body] = np.trace(second) * np.eye(3) - second
        sound = np.isfinite(com[body]).all() and 0.0 < mass[body] <= LARGEST
        if not (sound and np.isfinite(inertia[body]).all() and np.linalg.det(A) != 0.0):
            raise WorldError(
                f"link {link!r}: no solid has the inertia that mass factor, shift and deformation "
                "give"
            )
        self._use_system(system._replace(mass=mass, com=com, inertia=inertia))

    def set_joint_properties(
        self,
        names: str | Sequence[str] | None = None,
        *,
        friction: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        rotor_inertia: ArrayLike | None = None,
    ) -> None:
        """Set properties of joints. None does not change a property.

        Args:
            names: joints. The default is all joints. Each property is one number or one for each
                joint.
            friction: dry friction [Nm or N].
            damping: viscous damping of the joints [Nms/rad or Ns/m].
            stiffness: stiffness of the joint springs [Nm/rad or N/m].
            rotor_inertia: inertia of the rotor, reflected to the joint [kg m^2 or kg].

        Raises:
            WorldError: a value is negative or not finite.
            StateError: unknown joint, or no property is given.
        """
        indices = self.joint_index.indices(names)
        values = {
            "friction": friction,
            "damping": damping,
            "stiffness": stiffness,
            "rotor_inertia": rotor_inertia,
        }
        changed = {}
        for field, value in values.items():
            if value is not None:
                new = getattr(self.system, field).copy()
                label = f"{field.replace('_', ' ')} of joints of {self.name!r}"
                new[self.joint_index.v[indices]] = not_negative(label, value, len(indices))
                changed[field] = new
        if not changed:
            raise StateError(f"no property of joints is given. Give one of: {', '.join(values)}")
        self._use_system(self.system._replace(**changed))
        if {"friction", "rotor_inertia"} & changed.keys():
            self._warn_of_idle(indices)

    def _warn_of_idle(self, indices: np.ndarray) -> None:
        """Warn of joints that cannot move at their limits."""
        system = self.system
        columns = system.friction, system.rotor_inertia, system.effort_limit, system.velocity_limit
        for k, name in zip(self.joint_index.v[indices], np.array(self.joint_names)[indices]):
            if text := idle_joint(str(name), *(float(column[k]) for column in columns)):
                warnings.warn(f"robot {self.name!r}: {text}", ModelWarning, stacklevel=3)

    def use_properties_of(self, model: Model) -> None:
        """Take inertias and joint properties of a model with the same bodies and joints.

        The joint properties are friction, damping, stiffness, rotor_inertia, and the limits of
        effort and velocity.

        Raises:
            WorldError: the model has other joints or another number of bodies.
        """
        new = model.system
        joints, others = ([joint.name for joint in each.joints] for each in (self.model, model))
        if joints != others or len(new.mass) != len(self.system.mass):
            raise WorldError(
                f"{model.name!r} must have the same joints and bodies as {self.name!r}"
            )
        fields = ("mass", "com", "inertia", "friction", "damping", "stiffness", "rotor_inertia")
        fields += _LIMITS
        self._use_system(self.system._replace(**{name: getattr(new, name) for name in fields}))

    def joint_properties(self) -> dict[str, np.ndarray]:
        """Return the present friction, damping, stiffness and rotor_inertia of all joints."""
        fields = ("friction", "damping", "stiffness", "rotor_inertia")
        return {field: getattr(self.system, field)[self.joint_index.v] for field in fields}

    def _refit_actuators(self, scene: Scene) -> None:
        """Update actuators after a change of the joints' properties (RobotActuators)."""

    def _use_system(self, system: System) -> None:
        """Replace the robot's constants by `system`, also in the arrays of the world."""
        self.world.wake(self)
        scene, before = self.world.scene, (self.system.mass, self.system.inertia)
        self.system, self.forest = system, forest_of(system)
        self.model = replace(self.model, system=system)
        at = slice(self.first_body, self.first_body + len(system.parent))
        for field in ("mass", "com", "inertia"):
            scene.forest.bodies[field][at] = self.forest.bodies[field]
        at = slice(self.first_v, self.first_v + self.nv)
        for field in (
            *("rotor_inertia", "own_inertia", "turns_freely"),
            *("stiffness", "damping", "friction", *_LIMITS),
        ):
            scene.forest.dofs[field][at] = self.forest.dofs[field]
        self.limits = JointLimits(system, self.model.joints)
        self._refit_actuators(scene)
        use_features(scene)
        self.forget_momentum_of(before)
