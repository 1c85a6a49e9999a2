"""A world: robots, loose bodies and a ground that step together in time."""

from __future__ import annotations

import sys
import time
from types import MappingProxyType
from typing import Any

import numpy as np

from hrpsim.compiled import is_compiled
from hrpsim.constraints.rows import CONE, PYRAMID, SLIP_DIRECTION
from hrpsim.errors import StateError, WorldError, unknown_name
from hrpsim.model.geometry import Geometry, Plane
from hrpsim.model.model import CollisionShape, Model
from hrpsim.world import status as ended
from hrpsim.world.assemble import assemble
from hrpsim.world.body import Body, rotation_matrix
from hrpsim.world.capacity import carry_over, enlarged, grow
from hrpsim.world.connecting import Connecting
from hrpsim.world.entity import Entity, finite_vector
from hrpsim.world.failure import why_step_failed
from hrpsim.world.materials import MaterialTable
from hrpsim.world.results import Contact, StepStats, contact_of, stats_of
from hrpsim.world.robot import Robot
from hrpsim.world.scene import EULER, RK4, SEMI_IMPLICIT, SETTINGS, Scene
from hrpsim.world.settle import relax
from hrpsim.world.step import advance

INTEGRATORS = {"semi_implicit": SEMI_IMPLICIT, "euler": EULER, "rk4": RK4}
FRICTION_MODELS = {"cone": CONE, "pyramid": PYRAMID, "slip_direction": SLIP_DIRECTION}
STANDARD_GRAVITY = 9.80665
_SKIN = 0.05


class World(Connecting):
    """Robots and bodies that move and touch.

    time_step [s]; gravity (3,) [m/s^2]; integrator "semi_implicit" (symplectic Euler, joint
    springs, dampers and gains taken implicitly), "rk4" (fourth order, contact force solved once a
    step) or "euler". `sweep_limit` bounds the solver's sweeps; they stop when no constraint's
    velocity changes by more than `tolerance` times 9.80665 m/s^2 times the time step.
    friction_model "cone" bounds friction alike in all directions; "pyramid" bounds it along each of
    two axes, turned at random at every new contact point; "slip_direction" lets it act against the
    slip only where a point slips faster than `slip_threshold` [m/s], and is a pyramid elsewhere.
    """

    def __init__(
        self,
        time_step: float = 1e-3,
        gravity=(0.0, 0.0, -STANDARD_GRAVITY),
        integrator: str = "semi_implicit",
        *,
        tolerance: float = 1e-6,
        sweep_limit: int = 120,
        contact_margin: float = 2e-3,
        correction_rate: float = 0.2,
        correction_speed: float = 0.1,
        slop: float = 1e-6,
        slip_threshold: float = 1e-3,
        restitution_threshold: float = 0.01,
        friction_model: str = "cone",
    ):
        if integrator not in INTEGRATORS:
            raise WorldError(unknown_name("integrator", integrator, INTEGRATORS))
        if friction_model not in FRICTION_MODELS:
            raise WorldError(unknown_name("friction_model", str(friction_model), FRICTION_MODELS))
        for what, value in {"time_step": time_step, "tolerance": tolerance}.items():
            if not (np.isfinite(value) and value > 0.0):
                raise WorldError(f"{what} must be positive and finite, got {value!r}")
        if sweep_limit < 1:
            raise WorldError(f"sweep_limit must be at least 1, got {sweep_limit!r}")
        self.integrator = integrator
        self._settings = np.zeros(1, dtype=SETTINGS)
        self._settings[0] = (
            time_step,
            tuple(finite_vector("gravity", gravity, 3)),
            INTEGRATORS[integrator],
            sweep_limit,
            tolerance * STANDARD_GRAVITY * time_step,
            contact_margin,
            _SKIN,
            FRICTION_MODELS[friction_model],
            slip_threshold,
            restitution_threshold,
            correction_rate,
            correction_speed,
            slop,
        )
        super().__init__()
        self._entities: list[Entity] = []
        self._fixed: list[CollisionShape] = []
        self._materials = MaterialTable()
        self._owners: list[tuple[str, str]] = []
        self._scene: Scene | None = None
        self._kept: Scene | None = None  # the scene to go on from
        self._built = 0, 0  # entities and fixed shapes that it has
        self._steps_done = 0

    # -- building ---------------------------------------------------------------------------

    @property
    def time_step(self) -> float:
        """Duration of a step [s]."""
        return float(self._settings["time_step"][0])

    @property
    def time(self) -> float:
        """Simulated time since the start or the last reset [s]."""
        return self._steps_done * self.time_step

    @property
    def gravity(self) -> np.ndarray:
        """Gravity (3,) [m/s^2]; assign to change it."""
        return self._settings["gravity"][0].copy()

    @gravity.setter
    def gravity(self, values) -> None:
        self._settings["gravity"][0] = finite_vector("gravity", values, 3)

    @property
    def entities(self) -> dict[str, Entity]:
        """Robots and bodies by name."""
        return {entity.name: entity for entity in self._entities}

    @property
    def robots(self) -> MappingProxyType:
        """Robots by name."""
        return MappingProxyType({e.name: e for e in self._entities if isinstance(e, Robot)})

    @property
    def bodies(self) -> MappingProxyType:
        """Loose bodies by name."""
        return MappingProxyType({e.name: e for e in self._entities if isinstance(e, Body)})

    def add_ground(self, height: float = 0.0, normal=(0.0, 0.0, 1.0), material="default") -> None:
        """Add a fixed plane through (0, 0, height) [m] that is solid below its `normal`."""
        normal = finite_vector("normal", normal, 3)
        length = np.linalg.norm(normal)
        if length < 1e-9:
            raise WorldError("the normal of the ground must not be zero")
        z = normal / length
        x = np.cross((0.0, 1.0, 0.0) if abs(z[1]) < 0.9 else (0.0, 0.0, 1.0), z)
        x /= np.linalg.norm(x)
        R = np.column_stack([x, np.cross(z, x), z])
        self._add_fixed(Plane(), np.array([0.0, 0.0, float(height)]), R, material, "ground")

    def add_static(
        self,
        geometry: Geometry,
        position=(0.0, 0.0, 0.0),
        orientation=(0.0, 0.0, 0.0, 1.0),
        material: str = "default",
        name: str | None = None,
    ) -> None:
        """Add a shape that never moves; position [m] and quaternion x y z w in the world."""
        orientation = finite_vector("orientation", orientation, 4)
        length = np.linalg.norm(orientation)
        if length < 1e-6:
            raise StateError("the orientation of a static shape must not be zero")
        self._add_fixed(
            geometry,
            finite_vector("position", position, 3),
            rotation_matrix(orientation / length),
            material,
            name or f"static{len(self._fixed)}",
        )

    def _add_fixed(self, geometry, position, R, material, name) -> None:
        self._materials.add(material)
        self._fixed.append(
            CollisionShape(
                name=name, link=name, body=-1, R=R, p=position, geometry=geometry, material=material
            )
        )
        self._rebuild()

    def add_robot(self, model: Model, q=None, name: str | None = None, v=None) -> Robot:
        """Add a robot at configuration q (neutral by default) and velocity v; return it."""
        robot = Robot(self, self._free_name(name or model.name, name is not None), model, q, v)
        return self._add(robot)

    def add_body(
        self,
        geometry: Geometry,
        mass: float,
        position=(0.0, 0.0, 0.0),
        orientation=(0.0, 0.0, 0.0, 1.0),
        velocity=(0.0, 0.0, 0.0),
        angular_velocity=(0.0, 0.0, 0.0),
        material: str = "default",
        name: str | None = None,
        inertia=None,
    ) -> Body:
        """Add a uniform rigid body; SI units, world axes, quaternion x y z w; return it.

        `inertia` (3, 3) about the centre, in the body frame, replaces that of the uniform solid.
        """
        name = self._free_name(name or type(geometry).__name__.lower(), name is not None)
        body = Body(
            self,
            name,
            geometry,
            float(mass),
            position,
            orientation,
            velocity,
            angular_velocity,
            material,
            inertia,
        )
        return self._add(body)

    def _free_name(self, name: str, insist: bool) -> str:
        taken = self.entities
        if name not in taken:
            return name
        if insist:
            raise WorldError(f"the world already has an entity called {name!r}")
        k = 2
        while f"{name}_{k}" in taken:
            k += 1
        return f"{name}_{k}"

    def _add(self, entity):
        for shape in entity.shapes:
            self._materials.add(shape.material)
        entity.stand_after(self._entities[-1] if self._entities else None)
        self._entities.append(entity)
        self._rebuild()
        return entity

    def set_friction(self, a, b, static, kinetic=None, restitution=0.0) -> None:
        """Set friction coefficients (kinetic = static by default) and restitution of a pair."""
        kinetic = static if kinetic is None else kinetic
        self._materials.set_pair(a, b, float(static), float(kinetic), float(restitution))
        self._rebuild()

    # -- the arrays ---------------------------------------------------------------------------

    @property
    def scene(self) -> Scene:
        """The arrays that the compiled step works on, made when they are first needed."""
        if self._scene is None:
            self._build()
        return self._scene

    def _rebuild(self) -> None:
        """Make the arrays anew at the next use, keeping the state of what is there."""
        if self._scene is not None:
            self._kept, self._scene = self._scene, None

    def _build(self) -> None:
        self._scene, self._owners = assemble(
            self._settings,
            self._entities,
            self._fixed,
            self._materials.table(),
            self._materials.index,
            self.joins,
        )
        entities, fixed = self._built
        if self._kept is not None:
            added = len(self._fixed) - fixed
            self._scene = carry_over(self._kept, self._scene, fixed, added)
        self._kept, self._built = None, (len(self._entities), len(self._fixed))
        self.refresh_exclusions()
        for entity in self._entities[entities:]:
            entity.initialise()

    def present_q(self, entity: Entity) -> np.ndarray:
        """Return a robot's or body's configuration, without making arrays for it."""
        scene = self._scene or self._kept
        if scene is None or entity.first_q + entity.nq > len(scene.q):
            return entity.initial_q.copy()
        return scene.q[entity.first_q : entity.first_q + entity.nq].copy()

    def first_sensor(self, robot: Robot) -> int:
        """Return the place of a robot's first sensor in the scene."""
        before = 0
        for entity in self._entities:
            if entity is robot:
                return before
            if isinstance(entity, Robot):
                before += len(entity.model.sensors)
        raise WorldError(f"robot {robot.name!r} is not in this world")

    def forget_contacts(self) -> None:
        """Drop what is kept from the last step, after a state was set by hand."""
        scene = self.scene
        scene.tally["previous_count"] = 0
        scene.tally["candidate_count"] = -1
        scene.joint_impulses[:] = 0
        scene.connections["impulse"] = 0.0

    def push(self, body: int, point, force, torque) -> None:
        """Apply a wrench to a body of the scene during the next call of `step`."""
        k = int(self.scene.tally["wrench_count"][0])
        if k == len(self.scene.wrenches):
            self._scene = self._scene._replace(wrenches=enlarged(self._scene.wrenches, 2 * k))
        self.scene.wrenches[k] = (body, tuple(point), tuple(force), tuple(torque))
        self.scene.tally["wrench_count"] = k + 1

    # -- time ---------------------------------------------------------------------------

    def step(self, n: int = 1) -> None:
        """Advance by `n` steps. WorldError if a step cannot be done; its start is then kept."""
        if not (np.isfinite(n) and n >= 0 and n == int(n)):
            raise WorldError(f"the number of steps must be a whole number >= 0, got {n!r}")
        scene = self.scene
        announced = _announce_compilation()
        left = int(n)
        try:
            while left > 0:
                done, status = advance(scene, left)
                self._steps_done += done
                left -= done
                if status in (ended.SINGULAR, ended.DIVERGED):
                    raise WorldError(why_step_failed(scene, self._entities, status, self.time))
                if status != ended.DONE:
                    scene = self._scene = grow(scene, status)
        finally:
            scene.tally["wrench_count"] = 0
            if announced is not None:
                took = time.perf_counter() - announced
                print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)

    def settle(self, duration: float = 20.0, energy_tolerance: float = 1e-14) -> None:
        """Let everything come to rest under its present commands; time does not pass.

        What is at rest becomes the state that `reset` returns to. Raises WorldError, and changes
        nothing, if `duration` [s] of motion was not enough for the kinetic energy of a swing to
        fall to `energy_tolerance` [J].
        """
        start = self.snapshot()
        if not relax(self, int(duration / self.time_step), energy_tolerance):
            self.restore(start)
            raise WorldError(f"the world did not come to rest within {duration:g} s of motion")
        self._steps_done = start["steps"]
        for part in (*self._entities, *self._connections.values()):
            part.keep_as_initial()

    def reset(self) -> None:
        """Return everything to the state it was added with or settled to, and time to zero."""
        self.scene  # noqa: B018  builds the arrays that initialise writes to
        for part in (*self._entities, *self._connections.values()):
            part.initialise()
        self.refresh_exclusions()
        self.forget_contacts()
        self.scene.tally["wrench_count"] = 0
        self.scene.tally["contact_count"] = 0
        self.scene.tally["born_count"] = 0
        self.scene.sensors["reading"] = 0.0
        self._steps_done = 0

    def snapshot(self) -> dict[str, Any]:
        """Return all that the future depends on; `restore` continues from it bit for bit."""
        return {
            "parts": self._parts(),
            "steps": self._steps_done,
            "arrays": [array.copy() for array in self._lasting()],
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Return to a snapshot of this world; WorldError if anything came or went since."""
        if snapshot["parts"] != self._parts():
            raise WorldError(
                "the snapshot was taken with other robots, bodies or connections in the world"
            )
        for kept, array in zip(snapshot["arrays"], self._lasting(), strict=True):
            array[: len(kept)] = kept
        self._steps_done = snapshot["steps"]
        self.refresh_exclusions()

    def _parts(self) -> tuple:
        return (
            tuple(id(entity) for entity in self._entities),
            tuple(connection.number for connection in self._connections.values()),
        )

    def _lasting(self) -> tuple[np.ndarray, ...]:
        scene = self.scene
        return (
            scene.q,
            scene.velocity,
            scene.control,
            scene.joint_laws,
            scene.joint_holds,
            scene.joint_impulses,
            scene.connections,
            scene.kinematics,
            scene.collision.contacts,
            scene.collision.previous,
            scene.tally,
            scene.settings,
            scene.sensors,
            scene.wrenches,
        )

    # -- looking ---------------------------------------------------------------------------

    @property
    def contacts(self) -> list[Contact]:
        """The contact points of the last step with the forces that it used."""
        records = self.scene.collision.contacts[: int(self.scene.tally["contact_count"][0])]
        return [contact_of(self.scene, self._owners, record) for record in records]

    @property
    def stats(self) -> StepStats:
        """What the last step did."""
        return stats_of(self.scene)


_compilation_announced = False


def _announce_compilation() -> float | None:
    """Say once that a first run compiles; return when that began, or None if it need not."""
    global _compilation_announced
    if _compilation_announced or is_compiled():
        return None
    _compilation_announced = True
    print(
        "hrpsim: compiling the kernels, once after an install or a change (half a minute) ...",
        file=sys.stderr,
        flush=True,
    )
    return time.perf_counter()
