# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The common base class of robots and free bodies."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike

from hrpsim.common.closed import Closed
from hrpsim.common.errors import StateError, WorldError
from hrpsim.common.sealing import Plain, plain_parts
from hrpsim.common.values import Range, finite_vector
from hrpsim.engine.collision.body_bounds import bounding_radius, thickness
from hrpsim.engine.collision.solids.collision_proxies import mesh_thickness
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.kinematics.forest import forest_of
from hrpsim.engine.kinematics.layout import velocity_from_kernel, velocity_to_kernel
from hrpsim.engine.step.scene.status import LARGEST_COMMAND, LARGEST_POSITION, LARGEST_SPEED
from hrpsim.model.model import CollisionShape, Frame
from hrpsim.model.shapes.geometry import Mesh
from hrpsim.model.system import FREE, System

if TYPE_CHECKING:
    from hrpsim.engine.step.arrays import Scene
    from hrpsim.world.objects.contact_arrays import ContactArrays
    from hrpsim.world.objects.solver_rules import SolverRules

_velocity_from_kernel = prepared(velocity_from_kernel)
_velocity_to_kernel = prepared(velocity_to_kernel)


def bounded_vector(name: str, values, length: int, limit: float) -> np.ndarray:
    """Return values as a finite vector. StateError if an entry's magnitude exceeds `limit`."""
    vector = finite_vector(name, values, length, Range(-np.inf, np.inf))
    k = int(np.argmax(np.abs(vector))) if length else 0
    if length and abs(vector[k]) > limit:
        raise StateError(f"{name}[{k}] must be at most {limit:g} in size, got {vector[k]:g}")
    return vector


class WorldState(Protocol):
    """The members of `World` that its objects use, so that the objects need not import `World`."""

    @property
    def connection_records(self) -> np.ndarray:
        """Records of the connections, indexed by Connection.index."""

    @property
    def solver_rules(self) -> SolverRules:
        """The rules by which solvers are chosen."""

    noise_world: int

    @property
    def time(self) -> float:
        """Simulated time [s]."""

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps."""

    @property
    def time_step(self) -> float:
        """Length of a step [s]."""

    @property
    def scene(self) -> Scene:
        """The arrays that steps work on, built first if the contents have changed."""

    @property
    def present_scene(self) -> Scene | None:
        """The arrays that steps work on, or None if the arrays must be built anew."""

    @property
    def entities(self) -> Mapping[str, Entity]:
        """Robots and bodies by name."""

    @property
    def frames(self) -> Mapping[str, Any]:
        """Fixed frames of the world by name. Only the user moves these frames."""

    @property
    def connections(self) -> Mapping[str, Any]:
        """Connections by name."""

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return the configuration of an entity."""

    def first_sensor(self, entity: Entity) -> int:
        """Return the index of an entity's first sensor."""

    def contacts_of(self, entity: Entity, link: str | None = None) -> ContactArrays:
        """Return the contacts of an entity, or of a link."""

    def note_placed(self, entity: Entity) -> None:
        """Record that an entity was placed. The next step checks the placement."""

    def lift_to_floor(self, entity: Entity) -> float:
        """Return the rise that puts an entity on the planes of the world [m]."""

    def forget_contacts(self) -> None:
        """Drop the impulses of the last step. The next step starts without a warm start."""

    def add_wrench(self, body: int, point, force, torque) -> None:
        """Apply a wrench to a body during the next call of step."""

    def wake(self, *entities: Entity) -> None:
        """Wake entities. Without arguments, wake all entities."""

    def sleeps(self, entity: Entity) -> bool:
        """Return whether an entity sleeps."""

    @property
    def reader(self) -> Any:
        """The reader of link states in the present arrays."""

    def ray_caster(self, geometry: str = "collision") -> Any:
        """Return an object that casts rays in the present arrays."""

    def rebuild_scene(self) -> None:
        """Build the arrays again. The state of present entities does not change."""

    def refresh_exclusions(self) -> None:
        """Update the pairs of shapes that connections exclude from collision."""


class Entity(Plain, Closed):
    """A robot or a body of the world. The state is stored in the world's arrays.

    `frames` are the links of the entity. `self_collision` is true if its bodies collide with each
    other. `first_body`, `first_q` and `first_v` are the first indices of the entity in the arrays.
    Arrays that properties return are read-only copies. Assign to the property to set the state.
    """

    def __init__(
        self,
        world: WorldState,
        name: str,
        system: System,
        shapes: tuple[CollisionShape, ...],
        frames: tuple[Frame, ...],
        q: np.ndarray,
        v: np.ndarray,
    ) -> None:
        self._world: WorldState | None = world
        self.number = -1  # number among all entities that the world has had
        self.name = name
        self.system = system
        self.forest = forest_of(system)
        self.shapes = shapes
        self.frames = frames
        self.initial_q = q
        self.initial_v = v
        self.self_collision = False
        self.first_body = self.first_q = self.first_v = 0

    @property
    def world(self) -> WorldState:
        """The world of the entity. WorldError after the entity was removed from the world."""
        if self._world is None:
            raise WorldError(f"{self.name!r} was removed from its world")
        return self._world

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the entity as a part of its world, which has a checksum."""
        return plain_parts(self) if self._world is None else (_entity_of, (self._world, self.name))

    def leave(self) -> None:
        """Detach the entity from the world."""
        self._world = None

    def stand_after(self, last: Entity | None) -> None:
        """Set the first indices of this entity in the scene's arrays.

        last: the entity directly before this entity, or None for the first entity.
        """
        place = vars(self)  # without checks of names, since worlds have many entities
        place["first_body"] = place["first_q"] = place["first_v"] = 0
        if last is not None:
            place["first_body"] = last.first_body + len(last.system.parent)
            place["first_q"] = last.first_q + len(last.initial_q)
            place["first_v"] = last.first_v + len(last.initial_v)

    @property
    def nq(self) -> int:
        """Length of q."""
        return len(self.initial_q)

    @property
    def nv(self) -> int:
        """Length of v."""
        return len(self.initial_v)

    def contact_arrays(self, link: str | None = None) -> ContactArrays:
        """Return the entity's contacts in the last step as arrays.

        Forces act on the entity and normals point to it. `ContactArrays` lists shapes and units. If
        `link` is given, only contacts of this link are returned. Shapes of links that are fixed to
        the link belong to those links. An unknown link raises WorldError, which lists the links.
        """
        return self.world.contacts_of(self, link)

    def _q(self) -> np.ndarray:
        return self.world.scene.q[self.first_q : self.first_q + self.nq]

    def _velocity(self) -> np.ndarray:
        return self.world.scene.velocity[self.first_v : self.first_v + self.nv]

    def _hold_moved(self, before: np.ndarray) -> None:
        """Make joints under position control that have moved hold their new positions.

        before: configuration (nq,) before the movement.
        """

    def _move_motors(self) -> None:
        """Set the velocities of the joints' motors after the joint velocities were set."""

    def _forget_past(self) -> None:
        scene = self.world.scene
        scene.past_accelerations[self.first_v : self.first_v + self.nv] = 0.0
        bodies = slice(self.first_body, self.first_body + len(self.system.parent))
        scene.momentum.trees["is_known"][bodies] = 0

    @property
    def q(self) -> np.ndarray:
        """Configuration (nq,). A free base comes first: x y z [m] and quaternion x y z w.

        An assignment acts at once. A joint under position control then holds the new position, with
        a target velocity of 0 and without feed-forward. All other commands stay.
        """
        return _frozen(self._q().copy())

    @q.setter
    def q(self, values) -> None:
        before = self._q().copy()
        self.place(values)
        self._hold_moved(before)

    def place(self, values: ArrayLike) -> None:
        """Set the configuration (nq,) at once. Unlike an assignment of `q`, all commands stay."""
        q = self._checked_q(values)
        self.world.wake(self)
        self._q()[:] = q
        self._forget_past()
        self.world.forget_contacts()
        self.world.note_placed(self)

    def place_on_floor(self) -> None:
        """Move the entity along z until its lowest point touches the planes of the world.

        Joints, orientation, velocity and commands stay. Raises WorldError for a fixed base, and in
        a world without a plane. Terrain, boxes and other entities are ignored.
        """
        if not len(self.system.joint_type) or self.system.joint_type[0] != FREE:
            raise WorldError(
                f"{self.name!r} has a fixed base, which does not move. Give `position` to "
                "`add_robot`"
            )
        q = self._q().copy()
        q[2] += self.world.lift_to_floor(self)
        self.place(q)

    @property
    def v(self) -> np.ndarray:
        """Velocity (nv,): base linear [m/s] and angular [rad/s] in the base frame, joint rates.

        Entries beyond 1e9 are refused, because a step cannot follow them.
        """
        v = np.empty(self.nv)
        _velocity_from_kernel(self.forest, self._q().copy(), self._velocity().copy(), v)
        return _frozen(v)

    @v.setter
    def v(self, values) -> None:
        v = bounded_vector(f"v of {self.name!r}", values, self.nv, LARGEST_SPEED)
        self.world.wake(self)
        _velocity_to_kernel(self.forest, self._q().copy(), v, v_out := np.empty(self.nv))
        self._velocity()[:] = v_out
        self._move_motors()
        self._forget_past()

    def _checked_q(self, values) -> np.ndarray:
        q = bounded_vector(f"q of {self.name!r}", values, self.nq, LARGEST_POSITION)
        for j in self.system.q_index[self.system.joint_type == FREE]:
            length = np.linalg.norm(q[j + 3 : j + 7])
            if not 1e-6 < length < 1e6:
                raise StateError(
                    f"q of {self.name!r}: the quaternion q[{j + 3}:{j + 7}] must have length 1, "
                    f"got {length:g}"
                )
            q[j + 3 : j + 7] /= length
        return q

    @property
    def _inertias(self) -> tuple[np.ndarray, np.ndarray]:
        """Masses (n,) [kg] and inertias (n, 3, 3) [kg m^2] of the bodies, read only."""
        return self.system.mass, self.system.inertia

    def forget_momentum_of(self, inertias: tuple[np.ndarray, np.ndarray]) -> None:
        """Drop the results of the last step if the inertias have changed.

        inertias: masses and inertias before the change.
        """
        if not same_inertias(inertias, self._inertias):
            self._forget_past()

    def keep_as_initial(self) -> None:
        """Save the present state as the state that `initialise` restores."""
        self.initial_q, self.initial_v = self._q().copy(), self.v.copy()

    def initialise(self) -> None:
        """Restore the state at addition, or the state saved by `keep_as_initial`."""
        self._q()[:] = self.initial_q
        self.v = self.initial_v

    def _apply(self, body: int, point, force, torque) -> None:
        point = bounded_vector("point", point, 3, LARGEST_POSITION)
        force = bounded_vector("force", force, 3, LARGEST_COMMAND)
        torque = bounded_vector("torque", torque, 3, LARGEST_COMMAND)
        self.world.wake(self)
        self.world.add_wrench(self.first_body + body, point, force, torque)


def same_inertias(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> bool:
    """Return whether masses and inertias are the same."""
    return all(x is y or np.array_equal(x, y) for x, y in zip(a, b))


def part_of(vector: str, entries: slice, doc: str) -> np.ndarray:
    """Make a read-only property that returns some entries of the property `vector`.

    Type checkers treat the property as its value.
    """

    def entries_of(whole: object) -> np.ndarray:
        return getattr(whole, vector)[entries]

    return cast(np.ndarray, property(entries_of, doc=doc))


def _entity_of(world: Any, name: str) -> Entity:
    entity: Entity = world.entities[name]
    return entity


def _frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def shape_radius(shape: CollisionShape) -> float:
    """Return the radius of the sphere about the shape's origin that encloses the shape [m]."""
    if isinstance(shape.geometry, Mesh):
        return shape.geometry.radius
    return _radius_of(shape.geometry.kind, tuple(shape.geometry.size))


def shape_thickness(shape: CollisionShape) -> float:
    """Return the least width of the shape [m]. Up to a tenth of a mesh's surface may be thinner."""
    if isinstance(shape.geometry, Mesh):
        return mesh_thickness(shape.geometry)
    return _thickness_of(shape.geometry.kind, tuple(shape.geometry.size))


@lru_cache(4096)
def _radius_of(kind: int, size: tuple[float, ...]) -> float:
    return float(bounding_radius(kind, np.array(size)))


@lru_cache(4096)
def _thickness_of(kind: int, size: tuple[float, ...]) -> float:
    return float(thickness(kind, np.array(size)))
