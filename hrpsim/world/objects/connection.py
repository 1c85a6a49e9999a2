# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A connection in a world: its ends, constrained axes, motors and constraint wrench."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from hrpsim.common.closed import Closed
from hrpsim.common.errors import ModelError, WorldError, require_name, unknown_name
from hrpsim.common.values import Range, flag, not_negative, number, positive
from hrpsim.engine.constraints.connection_rows import CONNECTION_RECORD, DRIVEN, LOCKED
from hrpsim.engine.constraints.connection_state import measure_errors
from hrpsim.engine.constraints.placed_connection import PLACED_CONNECTION
from hrpsim.engine.constraints.rows import refuse_undamped
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.engine.step.scene.status import LARGEST_COMMAND
from hrpsim.model.described import AXES
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.entity import Entity, WorldState, _frozen, part_of
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.solver_rules import SolverRules, solver_code, solver_name
from hrpsim.world.objects.world_frame import WorldFrame


@dataclass(frozen=True)
class End:
    """One end of a connection: an entity, or None for the world, and the frame of a link."""

    entity: Entity | None
    link: str
    body: int  # index in the entity, -1: fixed to the world
    frame: Placement  # frame of the link in the body
    anchor: WorldFrame | None = None  # frame of the world, for a fixed end

    @property
    def owner(self) -> tuple[str, str]:
        """(entity name, link name), as in contacts."""
        return ("world", self.link) if self.entity is None else (self.entity.name, self.link)

    @property
    def body_of_scene(self) -> int:
        """Number of the body in the scene, -1 for the world."""
        return self.entity.first_body + self.body if self.body >= 0 else -1

    def pose(self, world: WorldState) -> Placement:
        """Return the present placement of the link's frame."""
        if self.anchor is not None:
            return self.anchor.placement
        if self.body < 0:
            return self.frame
        entity = self.entity
        poses = new_kinematics(len(entity.system.parent))
        update_poses(entity.forest, world.present_q(entity), poses)
        body, root = poses[self.body], poses[entity.system.root[self.body]]
        return Placement(body["R"].copy(), root["origin"] + body["p"]).then(self.frame)


EndLike: TypeAlias = Entity | WorldFrame | tuple[Entity | str, str] | str | None
_WORLD = End(None, "world", -1, IDENTITY)


def _entity_of(world: WorldState, given: Any) -> tuple[Any, str | None]:
    """Return the entity and the link that an argument names. The link may be None."""
    entity, link = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
    if not isinstance(entity, str):
        return entity, link
    return _split(world, entity) if link is None else (world.entities[entity], link)


def find_end(world: WorldState, given: EndLike) -> End:
    """Return the end of a connection that an argument names. WorldError lists the existing names.

    The argument is a Body, a WorldFrame, a Robot with one moving link, (Robot, "link"), "entity",
    "entity/link", or None or "world". Robots, bodies and frames are given as objects or by name.
    """
    if given is None or (isinstance(given, str) and given == "world"):
        return _WORLD
    anchor = world.frames.get(given) if isinstance(given, str) else given
    if isinstance(anchor, WorldFrame):
        if anchor.world is not world:
            raise WorldError(f"frame {anchor.name!r} is in another world")
        return End(None, anchor.name, -1, anchor.placement, anchor)
    entity, link = _entity_of(world, given)
    if not isinstance(entity, Entity):
        raise WorldError(
            'an end of a connection must be a body, (robot, "link"), "entity/link", or None for the'
            f" world, got {given!r}"
        )
    if entity.world is not world:
        raise WorldError(f"{entity.name!r} is in another world")
    return _end_of(entity, link)


def _end_of(entity: Entity, link: str | None) -> End:
    if isinstance(entity, Body):
        if link not in (None, entity.name):
            raise WorldError(f"{entity.name!r} is a body. Its only link has the same name")
        return End(entity, entity.name, 0, IDENTITY)
    if link is None:
        link = _only_link(entity)
    try:
        frame = entity.model.frame(link)
    except (ModelError, TypeError) as error:
        names = entity.model.link_names
        raise WorldError(f"{entity.name!r}: {unknown_name('link', str(link), names)}") from error
    return End(entity, link, frame.body, Placement(frame.R, frame.p))


def _only_link(robot: Robot) -> str:
    moving = [frame.name for frame in robot.model.frames.values() if frame.body >= 0]
    if len(moving) != 1:
        raise WorldError(
            f'{robot.name!r} has {len(moving)} moving links. Name one, as "{robot.name}/link". '
            f"Available: {', '.join(moving[:12])}"
        )
    return moving[0]


def _split(world: WorldState, text: str) -> tuple[Entity, str | None]:
    """Return entity and link of "entity" or "entity/link"."""
    entities = world.entities
    if text in entities:
        return entities[text], None
    owners = [name for name in entities if text.startswith(f"{name}/")]
    if not owners:
        raise WorldError(unknown_name("robot or body", text, entities))
    name = max(owners, key=len)
    return entities[name], text[len(name) + 1 :]


def _per_axis(field: str, what: str, finite: bool = True) -> Any:
    """Return a property for six numbers of the record, one for each axis, none negative.

    field: name of the record's field. what: first sentence of the property's docstring.
    """

    def read(connection: Connection) -> np.ndarray:
        return _frozen(connection._record()[field].copy())

    def change(connection: Connection, value) -> None:
        numbers = not_negative(field, value, 6, finite=finite)
        softness = {name: connection._record()[name] for name in ("compliance", "damping_time")}
        if field in softness:
            softness[field] = numbers
            refuse_undamped(**softness, time_step=connection.world.time_step)
        connection._changing()
        connection._set(field, numbers)

    return property(read, change, doc=f"{what}. Assign one number for all axes, or six")


class Connection(Closed):
    """A joint between two frames that constrains or drives some of the six relative motions.

    The axes belong to frame a: "x", "y", "z", "rx", "ry", "rz". `World.connect` makes connections.
    The values of a connection are stored in the world's arrays.
    """

    def __init__(
        self,
        world: WorldState,
        name: str,
        kind: str,
        ends: tuple[End, End],
        frames: tuple[Placement, Placement],
        collide: bool,
        number: int,
    ) -> None:
        self.world = world
        self.name = name
        self.kind = kind
        self.ends = ends
        self.collide = collide
        self.frames = frames  # frames in the links at both ends
        self.number = number  # number among all connections that the world has had
        self.index = -1  # index in the world's arrays, -1 outside the world
        self._initial = np.zeros(1, dtype=CONNECTION_RECORD)
        self._own_solver: str | None = None

    def __repr__(self) -> str:
        a, b = ("/".join(end.owner) for end in self.ends)
        return f"<Connection {self.name!r}: {self.kind} of {a} and {b}>"

    def _record(self) -> np.void:
        if self.index < 0:
            raise WorldError(f"connection {self.name!r} was removed from the world")
        return self.world.connection_records[self.index]

    def initialise(self) -> None:
        """Restore the state at creation, or the state saved by `keep_as_initial`."""
        present = self._record()
        for field in ("body_a", "body_b"):  # body numbers change if others leave the world
            self._initial[field] = present[field]
        self.world.connection_records[self.index] = self._initial[0]

    def follow(self, anchor: WorldFrame) -> None:
        """Update the target pose, if the connection ends at the WorldFrame `anchor`."""
        for side, end, frame in zip("ab", self.ends, self.frames, strict=True):
            if end.anchor is anchor:
                record = self._changing()
                record[f"R_{side}"], record[f"p_{side}"] = anchor.placement.then(frame)

    def _changing(self) -> np.void:
        """Return the record, to be changed by the user. Wake the two connected bodies."""
        self._record()
        ends = [end.entity for end in self.ends if end.entity is not None]
        self.world.wake(*ends)
        return self._record()

    @property
    def a(self) -> tuple[str, str]:
        """(entity, link) of the first end."""
        return self.ends[0].owner

    @property
    def b(self) -> tuple[str, str]:
        """(entity, link) of the second end."""
        return self.ends[1].owner

    @property
    def axes(self) -> tuple[str, ...]:
        """The constrained axes."""
        return tuple(np.array(AXES)[self._record()["axes"] == LOCKED].tolist())

    @property
    def enabled(self) -> bool:
        """Whether the connection acts. Assign False to disconnect, and True to connect again."""
        return bool(self._record()["enabled"])

    @enabled.setter
    def enabled(self, value: bool) -> None:
        enabled, record = flag("enabled", value), self._changing()
        if bool(record["enabled"]) != enabled:
            record["enabled"] = enabled
            record["impulse"] = record["impact_impulse"] = 0.0
            self.world.refresh_exclusions()

    compliance = _per_axis("compliance", "Compliance (6,) [m/N or rad/Nm]")
    damping_time = _per_axis("damping_time", "Damping time (6,) [s]")
    force_limit = _per_axis(
        "force_limit", "The most that each axis may exert (6,) [N or Nm]", False
    )

    def _set(self, field: str, value) -> None:
        """Change a property that a reset does not restore."""
        self._record()[field] = value
        self._initial[field] = value

    @property
    def solver(self) -> str:
        """Solver of the connection, "iterative" or "direct".

        After an assignment of None, the world's rules choose the solver.
        """
        return solver_name(int(self._record()["solver"]))

    @solver.setter
    def solver(self, name: str | None) -> None:
        if name is not None:
            solver_code(name, "connection")
        self._own_solver = name
        self._changing()
        self.choose_solver(self.world.solver_rules)

    def choose_solver(self, rules: SolverRules) -> None:
        """Use the solver that the user assigned, or else the solver that the rules choose."""
        own = self._own_solver
        chosen = (
            rules.of_connection(self.a, self.b) if own is None else solver_code(own, "connection")
        )
        self._set("solver", chosen)

    @property
    def length(self) -> float:
        """Constrained length [m] of a connection of kind "distance".

        Assign a number to change the length.
        """
        self._refuse_unless(self.kind == "distance", "has no length")
        return float(self._record()["length"])

    @length.setter
    def length(self, value: float) -> None:
        self._refuse_unless(self.kind == "distance", "has no length")
        length = positive("length", value)
        self._changing()["length"] = length

    def drive(self, axis: str, velocity: float, force_limit: float) -> None:
        """Drive a free axis by a motor.

        The motor keeps the velocity of b relative to a, along or about the axis.

        Args:
            axis: name of the axis.
            velocity: target of the motor [m/s or rad/s].
            force_limit: largest force or torque of the motor [N or Nm].
        """
        k = self._free_axis(axis)
        if self.kind == "distance" and k < 3:
            raise WorldError(
                f"connection {self.name!r} keeps a distance and has no axis {axis!r}. Set its "
                "length"
            )
        velocity = number("velocity", velocity, Range(-LARGEST_COMMAND, LARGEST_COMMAND))
        force_limit = not_negative("force_limit", force_limit, 1, finite=False)[0]
        record = self._changing()
        record["axes"][k], record["speed"][k] = DRIVEN, velocity
        record["force_limit"][k] = force_limit

    def release(self, axis: str) -> None:
        """Remove the motor of an axis."""
        k = self._free_axis(axis)
        record = self._changing()
        record["axes"][k] = 0
        record["impulse"][k] = record["impact_impulse"][k] = record["speed"][k] = 0.0

    def _free_axis(self, axis: str) -> int:
        require_name("axis", axis, AXES, where=f"connection {self.name!r}")
        k = AXES.index(axis)
        if self._record()["axes"][k] == LOCKED:
            free = [name for name in AXES if name not in self.axes]
            raise WorldError(
                f"connection {self.name!r} constrains axis {axis!r}. Free axes: "
                f"{', '.join(free) or 'none'}"
            )
        return k

    def _refuse_unless(self, condition: bool, why: str) -> None:
        if not condition:
            raise WorldError(f"connection {self.name!r} is of kind {self.kind!r} and {why}")

    @property
    def error(self) -> np.ndarray:
        """Errors of the constrained axes in the present state (6,) [m or rad], 0 for free axes."""
        scene = self.world.scene
        kinematics = new_kinematics(len(scene.forest.bodies))
        update_poses(scene.forest, scene.q, kinematics)
        joined, errors = np.zeros(1, dtype=PLACED_CONNECTION), np.empty(6)
        self._record()
        measure_errors(scene.forest, kinematics, scene.connections, self.index, joined, errors)
        return _frozen(errors)

    @property
    def wrench(self) -> np.ndarray:
        """Wrench of the connection on b in the last step (6,): force [N], then torque [Nm].

        The wrench is a mean over the step, impacts included. It is along the world's axes and about
        the origin of frame b. The opposite wrench acts on a at the same point.
        """
        self._record()
        reader, wrench = self.world.reader, np.empty(6)
        reader.read_wrench(reader.connections, self.index, wrench)
        return _frozen(wrench)

    force = part_of(
        "wrench", slice(3), "Force on b in the last step, along the world's axes (3,) [N]."
    )
    torque = part_of(
        "wrench",
        slice(3, None),
        "Torque on b in the last step about frame b's point, along the world's axes (3,) [Nm].",
    )

    def keep_as_initial(self) -> None:
        """Save the present state (enabled, motors, values) as the state that a reset restores."""
        self._initial[0] = self._record()
        self._initial["impulse"] = self._initial["impact_impulse"] = 0.0

    def start_disabled(self) -> None:
        """Let `reset` disable the connection, because the connection was made after the start."""
        self._initial["enabled"] = False
