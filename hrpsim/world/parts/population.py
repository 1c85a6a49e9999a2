# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Add robots and bodies to a world, and remove robots and bodies."""

from __future__ import annotations

import warnings

from numpy.typing import ArrayLike

from hrpsim.common.errors import ModelWarning, WorldError, require_name, shown_value
from hrpsim.common.values import flag, name_of
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.scene.integrators import INTEGRATORS
from hrpsim.model.model import Model
from hrpsim.model.placed import put_at
from hrpsim.model.readers.robot_data import free_name
from hrpsim.model.shapes.compound import Compound
from hrpsim.model.shapes.geometry import Geometry
from hrpsim.world.arrays.change import indices_without, renumbered
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.plausibility import STATE_SLACK, listed
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.connections import Connections
from hrpsim.world.parts.failure import too_stiff_for_rk4


class Population(Connections):
    """Mixin of World: adds and removes robots and free bodies."""

    def add_robot(
        self,
        model: Model,
        q: ArrayLike | None = None,
        name: str | None = None,
        v: ArrayLike | None = None,
        self_collision: bool = False,
        *,
        position: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
    ) -> Robot:
        """Add a robot to the world, and return the new Robot.

        Connections of the description become connections of the world, called "robot
        name/connection name". A ModelWarning names a joint with springs too stiff for the time step
        of rk4. Without `q` a ModelWarning also names joints that start beyond their limits.

        Args:
            model: model of the robot.
            q: configuration (nq,). The default is `Model.starting`.
            name: unique in the world. The default is the model's name.
            v: velocity (nv,). The default is zero.
            self_collision: whether links of the robot collide with each other. Links that are fixed
                to each other, or connected by a joint, never collide. The same holds for links
                connected by several joints if the intermediate links have no shape. The SRDF of the
                model and `disable_collisions` exclude more pairs.
            position: position of the base link in the world (3,) [m]. The default is the position
                in q. For a fixed base, the default is the position in the description.
            orientation: orientation of the base link, quaternion x y z w (4,), with the same
                defaults.
        """
        if not isinstance(model, Model):
            raise WorldError(
                f"add_robot needs a Model, got {shown_value(model)}. `load_model` reads a file or "
                "a text"
            )
        flag("self_collision", self_collision)
        model, q = put_at(model, q, position, orientation)
        name = self._free_name(model.name if name is None else name, name is not None)
        integrator = INTEGRATORS[self._contents.integrator]
        for kind, parts in {"actuator of joint": model.actuators, "tendon": model.tendons}.items():
            if parts and not integrator.is_implicit:
                raise WorldError(
                    f"the {kind} {next(iter(parts))!r} of {name!r} needs the integrator"
                    f" semi_implicit, not {self._contents.integrator}"
                )
        robot = Robot(self._world, name, model, q, v, self_collision)
        self._add(robot)
        if integrator.is_staged and (note := too_stiff_for_rk4(robot, self._contents.time_step)):
            warnings.warn(note, ModelWarning, stacklevel=2)
        self._connect_described(robot)
        start = {"positions": robot.joint_positions}
        if q is None and (beyond := robot.limits.beyond(robot.joint_names, start, STATE_SLACK)):
            where = f"{robot.name!r} starts beyond the limits of its joints: {listed(beyond)}"
            warnings.warn(
                f"{where} [rad or m]. Give a q within the limits", ModelWarning, stacklevel=2
            )
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
        color: ArrayLike | None = None,
    ) -> Body:
        """Add a rigid body to the world, and return the new Body.

        The origin of the body frame is the centre of mass. A Mesh or Compound is shifted, and not
        rotated, so that its centre of mass is the origin.

        Args:
            geometry: shape of uniform density. All parts of a Compound have one density.
            mass: mass of the body [kg].
            position: position of the centre of mass in the world (3,) [m].
            orientation: quaternion x y z w (4,).
            velocity: velocity of the centre of mass in the world (3,) [m/s].
            angular_velocity: angular velocity along the world's axes (3,) [rad/s].
            material: name of the material.
            name: unique in the world. The default is a generated name.
            inertia: inertia about the centre of mass in the body's frame (3, 3) [kg m^2]. The
                default is the inertia of the uniform solid.
            color: red, green, blue from 0 to 1 (3,), for pictures. Each body has another default.

        Raises:
            ModelError: a mesh is open, flat or inside out, so that no solid has this surface.
        """
        own = type(geometry).__name__.lower() if name is None else name
        name = self._free_name(own, name is not None)
        state = position, orientation, velocity, angular_velocity
        return self._add(Body(self._world, name, geometry, mass, *state, material, inertia, color))

    def _free_name(self, name: str, insist: bool) -> str:
        if insist:
            name_of("name of an entity", name)
        taken = {"world": None, **self._contents.named, **self._contents.frames}
        if insist and (name == "world" or name.startswith("world/")):
            raise WorldError(
                f"an entity cannot have the name {name!r}: 'world' is the fixed frame, and its "
                "shapes have names world/NAME. Give another name"
            )
        if insist and name in taken:
            raise WorldError(f"the world already has an entity with the name {name!r}")
        return free_name(name, taken)

    def _add(self, entity):
        contents = self._contents
        self._sleep.wake()
        for shape in entity.shapes:
            contents.materials.add(shape.material)
        contents.add(entity)
        contents.placed.add(entity)
        contents.reported.pop(entity.name, None)
        self._scenes.expect_more()
        return entity

    def remove(self, entity: Entity | str) -> None:
        """Remove a robot or body from the world permanently, with its contacts and connections.

        Everything else keeps its state, the forces of its last step and its commands, bit for bit.
        Bodies that leaned on the removed entity fall. The name is free again. Afterwards, the
        entity and its connections raise WorldError, and so does `restore` of earlier snapshots. If
        the entity is not in this world, a WorldError lists the existing names.
        """
        entity, contents = self._present(entity), self._contents
        self._sleep.wake()
        old = self._scenes.scene
        for connection in list(contents.connections.values()):
            if any(end.entity is entity for end in connection.ends):
                self.disconnect(connection)
        first_shape, first_sensor = contents.places_of(entity)
        indices = indices_without(entity, first_shape, first_sensor, old)
        contents.drop(entity)
        contents.placed.discard(entity)
        contents.connection_records = renumbered(
            contents.connection_records, Scene._field_defaults["connections"], indices
        )
        self._scenes.take_out(entity, indices, first_shape)
        entity.leave()

    def _present(self, entity: Entity | str) -> Entity:
        known = self._contents.named
        if isinstance(entity, Entity):
            if known.get(entity.name) is not entity:
                raise WorldError(f"{entity.name!r} is not in this world")
            return entity
        require_name("robot or body", entity, known)
        return known[entity]
