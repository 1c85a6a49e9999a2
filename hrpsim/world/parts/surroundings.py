# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What is in a world: ground and fixed shapes, how surfaces meet, robots and bodies."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.constraints.rows import DAMPING_STEPS, refuse_undamped
from hrpsim.errors import ModelWarning, StateError, WorldError, require_name
from hrpsim.model.formats.robot_data import free_name
from hrpsim.model.model import CollisionShape, Model
from hrpsim.model.shapes.compound import Compound, centered_shape
from hrpsim.model.shapes.geometry import Geometry, Plane
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.step.arrays import Scene
from hrpsim.values import finite_vector, not_negative, setting
from hrpsim.world.arrays.change import indices_without, renumbered
from hrpsim.world.objects.body import Body, rotation_matrix
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.connections import Connections
from hrpsim.world.parts.failure import too_stiff_for_rk4
from hrpsim.world.parts.part import Part
from hrpsim.world.parts.world_contents import check_names


class Surroundings(Part):
    """Fixed shapes, and properties of pairs of materials."""

    def _changed(self) -> None:
        self._sleep.wake()
        self._scenes.rebuild()

    @property
    def fixed_shapes(self) -> tuple[CollisionShape, ...]:
        """Fixed shapes: ground and static shapes, in the order that they were added."""
        return tuple(self._contents.fixed)

    def add_ground(
        self, height: float = 0.0, normal: ArrayLike = (0.0, 0.0, 1.0), material: str = "default"
    ) -> None:
        """Add a fixed plane that is solid below its normal.

        Args:
            height: it passes through (0, 0, height) [m].
            normal: (3,) in the world, of any length.
            material: name of its material.
        """
        normal = finite_vector("normal", normal, 3)
        length = np.linalg.norm(normal)
        if length < 1e-9:
            raise WorldError("the normal of the ground must not be zero")
        z = normal / length
        x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (0.0, 0.0, 1.0), z)
        x /= np.linalg.norm(x)
        R = np.column_stack([x, np.cross(z, x), z])
        position = np.array([0.0, 0.0, setting("height", height)])
        self._add_fixed(Plane(), position, R, material, "ground")

    def add_static(
        self,
        geometry: Geometry | Compound,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        material: str = "default",
        name: str | None = None,
    ) -> None:
        """Add a shape that never moves.

        It is solid on the inner side of its surface, so that an open mesh, such as a HeightField,
        is possible too.

        Args:
            geometry: its shape; the parts of a Compound have one name.
            position: in the world (3,) [m].
            orientation: quaternion x y z w (4,).
            material: name of its material.
            name: unique among fixed shapes; made up by default.
        """
        orientation = finite_vector("orientation", orientation, 4)
        length = np.linalg.norm(orientation)
        if length < 1e-6:
            raise StateError("the orientation of a static shape must not be zero")
        self._add_fixed(
            geometry,
            finite_vector("position", position, 3),
            rotation_matrix(orientation / length),
            material,
            name or f"static{len(self._contents.fixed)}",
        )

    def _add_fixed(self, geometry, position, R, material, name) -> None:
        check_names(material, name)
        self._sleep.wake()
        self._contents.materials.add(material)
        placement = Placement(R, position)
        parts = [(geometry, IDENTITY)]
        if isinstance(geometry, Compound):
            parts = geometry.parts
        for part, at in parts:
            shape, (R, p) = centered_shape(part, placement.then(at))
            self._contents.fixed.append(CollisionShape(name, name, -1, R, p, shape, material))
        self._changed()

    def set_friction(
        self,
        a: str,
        b: str,
        static: float,
        kinetic: float | None = None,
        restitution: float = 0.0,
        impact_law: str | None = None,
    ) -> None:
        """Set friction and restitution of a pair of materials.

        Args:
            a: first material.
            b: second material.
            static: coefficient of static friction.
            kinetic: coefficient of kinetic friction; static by default.
            restitution: coefficient of restitution.
            impact_law: for contacts with restitution that are already closed at an impact,
                "simultaneous" or "sequential" (see `World`); by default the world's.
        """
        kinetic = static if kinetic is None else kinetic
        self._contents.materials.set_pair(a, b, static, kinetic, restitution, impact_law)
        self._sleep.wake()
        self._scenes.use_materials()

    def set_contact(
        self,
        a: str,
        b: str,
        compliance: float = 0.0,
        damping_time: float | None = None,
        force_limit: float = np.inf,
    ) -> None:
        """Set how contacts of a pair of materials yield along the normal.

        Penetration follows a spring and damper. With neither compliance nor damping time, as at
        first, contacts are rigid and penetration is corrected at a bounded speed.

        Args:
            a: first material.
            b: second material.
            compliance: of each contact point [m/N].
            damping_time: [s]; two time steps by default.
            force_limit: largest normal force of each point [N].
        """
        compliance = not_negative("compliance", compliance, 1)
        if damping_time is not None:
            damping_time = not_negative("damping_time", damping_time, 1)
        else:
            damping_time = np.where(
                compliance > 0.0, DAMPING_STEPS * self._contents.time_step, -1.0
            )
        refuse_undamped(compliance, damping_time, self._contents.time_step)
        force_limit = not_negative("force_limit", force_limit, 1, finite=False)
        self._contents.materials.change(
            a, b, compliance=compliance[0], damping_time=damping_time[0], force_limit=force_limit[0]
        )
        self._changed()

    def set_penalty(
        self,
        a: str,
        b: str,
        stiffness: float | None = None,
        damping_ratio: float = 0.2,
        max_extension: float | None = None,
    ) -> None:
        """Set the springs of a pair of materials where the solver of contacts is "penalty".

        With m the smallest effective mass of a point along its axes, the default stiffness is k =
        0.5 m / dt^2, less where the points of two shapes together would be too stiff for the step.
        A point that bears m g sinks by m g / k. `set_friction` sets how it slides; restitution has
        no effect.

        Args:
            a: first material.
            b: second material.
            stiffness: of each contact point, normal and, while it sticks, tangential [N/m].
            damping_ratio: of one point alone; n points that move together have sqrt(n) times as
                much.
            max_extension: beyond it penetration is a constraint [m]; infinite for none. By default
                four times the extension of such a spring under the weight of m, 4 * 9.80665 m / k.
        """
        given = 0.0 if stiffness is None else not_negative("stiffness", stiffness, 1)[0]
        if stiffness is not None and given == 0.0:
            raise WorldError(f"stiffness must be positive, got {stiffness!r}")
        ratio = not_negative("damping_ratio", damping_ratio, 1)[0]
        furthest = -1.0
        if max_extension is not None:
            furthest = not_negative("max_extension", max_extension, 1, finite=False)[0]
        self._contents.materials.change(
            a, b, stiffness=given, damping_ratio=ratio, max_extension=furthest
        )
        self._changed()


class Population(Connections):
    """Robots and free bodies."""

    def add_robot(
        self,
        model: Model,
        q: ArrayLike | None = None,
        name: str | None = None,
        v: ArrayLike | None = None,
        self_collision: bool = False,
    ) -> Robot:
        """Add a robot and return it.

        Connections of its description become the world's, called "robot name/connection name". A
        ModelWarning names a joint whose springs are too stiff for steps of rk4 this long.

        Args:
            model: of the robot.
            q: configuration (nq,); neutral by default.
            name: unique in the world; the model's by default.
            v: velocity (nv,); zero by default.
            self_collision: its links collide with each other, except links that are fixed to each
                other, those that a joint (or joints, where the links between them have no shape)
                connects, and pairs that the model's SRDF or `disable_collisions` exclude.
        """
        name = self._free_name(name or model.name, name is not None)
        if model.actuators and self._contents.integrator != "semi_implicit":
            joint = next(iter(model.actuators))
            raise WorldError(
                f"the actuator of joint {joint!r} of {name!r} needs the integrator semi_implicit,"
                f" not {self._contents.integrator}"
            )
        if model.tendons and self._contents.integrator != "semi_implicit":
            raise WorldError(
                f"the tendon {next(iter(model.tendons))!r} of {name!r} needs the integrator"
                f" semi_implicit, not {self._contents.integrator}"
            )
        robot = Robot(self._world, name, model, q, v, self_collision)
        self._add(robot)
        if self._contents.integrator == "rk4":
            note = too_stiff_for_rk4(robot, self._contents.time_step)
            if note:
                warnings.warn(note, ModelWarning, stacklevel=2)
        self._connect_described(robot)
        return robot

    def add_body(  # many parameters: keyword arguments
        self,
        geometry: Geometry | Compound,
        mass: float,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        velocity: ArrayLike = (0.0, 0.0, 0.0),
        angular_velocity: ArrayLike = (0.0, 0.0, 0.0),
        material: str = "default",
        name: str | None = None,
        inertia: ArrayLike | None = None,
    ) -> Body:
        """Add a rigid body and return it.

        Its frame has its origin at the centre of mass: a Mesh or Compound is moved there, its axes
        kept.

        Args:
            geometry: its shape, of uniform density; the parts of a Compound have one density.
            mass: [kg].
            position: of the centre of mass in the world (3,) [m].
            orientation: quaternion x y z w (4,).
            velocity: of the centre of mass in the world (3,) [m/s].
            angular_velocity: along the world's axes (3,) [rad/s].
            material: name of its material.
            name: unique in the world; made up by default.
            inertia: about the centre of mass in the body's frame (3, 3) [kg m^2], in place of that
                of the uniform solid.

        Raises:
            ModelError: for a mesh that is open, flat or inside out: no solid has that surface.
        """
        name = self._free_name(name or type(geometry).__name__.lower(), name is not None)
        state = position, orientation, velocity, angular_velocity
        return self._add(Body(self._world, name, geometry, mass, *state, material, inertia))

    def _free_name(self, name: str, insist: bool) -> str:
        taken = self._contents.by_name
        if insist and name in taken:
            raise WorldError(f"the world already has an entity called {name!r}")
        return free_name(name, taken)

    def _add(self, entity):
        contents = self._contents
        self._sleep.wake()
        for shape in entity.shapes:
            contents.materials.add(shape.material)
        entity.stand_after(contents.entities[-1] if contents.entities else None)
        contents.entities_ever += 1
        entity.number = contents.entities_ever
        contents.entities.append(entity)
        if isinstance(entity, Robot):
            contents.find_samplers()
        self._scenes.rebuild()
        return entity

    def remove(self, entity: Entity | str) -> None:
        """Take a robot or body out of the world for good, with its contacts and connections.

        The state of all else, the forces of its last step and its commands stay as they are, bit
        for bit; bodies that leaned on it fall. Its name is free again. The entity and its
        connections raise WorldError from then on, and so does `restore` of earlier snapshots.
        Raises WorldError, which names what exists, for anything that is not in this world.
        """
        entity, contents = self._present(entity), self._contents
        self._sleep.wake()
        old = self._scenes.scene
        for connection in list(contents.connections.values()):
            if any(end.entity is entity for end in connection.ends):
                self.disconnect(connection)
        before = contents.entities[: contents.entities.index(entity)]
        first_shape = len(contents.fixed) + sum(len(other.shapes) for other in before)
        indices = indices_without(entity, first_shape, contents.first_sensor(entity), old)
        contents.entities.remove(entity)
        contents.find_samplers()
        for last, other in zip((None, *contents.entities), contents.entities):
            other.stand_after(last)
        contents.connection_records = renumbered(
            contents.connection_records, Scene._field_defaults["connections"], indices
        )
        self._scenes.assemble(old, indices)
        entity.leave()

    def _present(self, entity: Entity | str) -> Entity:
        known = self._contents.by_name
        if isinstance(entity, Entity):
            if known.get(entity.name) is not entity:
                raise WorldError(f"{entity.name!r} is not in this world")
            return entity
        require_name("robot or body", entity, known)
        return known[entity]
