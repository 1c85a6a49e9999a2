# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contents of a world, which all components share: entities, connections, materials."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from hrpsim.common.errors import ModelWarning, NamedParts, WorldError, require_name
from hrpsim.common.values import RANGES, name_of, number
from hrpsim.engine.constraints.connection_rows import CONNECTION_RECORD
from hrpsim.engine.constraints.contact_rows import MATERIAL_PAIR
from hrpsim.engine.constraints.impact_rows import SEQUENTIAL, SIMULTANEOUS
from hrpsim.model.model import CollisionShape
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.connection import Connection
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.plausibility import long_lever, too_rough
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.sensor_view import SampledView
from hrpsim.world.objects.solver_rules import SolverRules
from hrpsim.world.objects.world_frame import WorldFrame

IMPACT_LAWS = {"simultaneous": SIMULTANEOUS, "sequential": SEQUENTIAL}


def impact_law_code(name) -> int:
    """Return the code of an impact law. Raises WorldError if the name is unknown."""
    require_name("impact_law", name, IMPACT_LAWS)
    return IMPACT_LAWS[name]


def _place_of(shape: CollisionShape) -> tuple:
    """Return a key that is equal for equal shapes at the same pose."""
    geometry = shape.geometry
    placement = (shape.R + 0.0).tobytes(), (shape.p + 0.0).tobytes()  # -0.0 is 0.0
    return geometry.kind, getattr(geometry, "digest", geometry.size), *placement


def check_names(*names) -> None:
    """Raise an error if a name of a material or a shape is invalid."""
    for name in names:
        name_of("a name", name)


class MaterialTable:
    """Materials by name. A pair whose properties were not set has the default properties.

    `impact_law` applies to pairs without a separate law.
    """

    def __init__(self, impact_law: str) -> None:
        law = impact_law_code(impact_law)
        self.default = (0.8, 0.8, 0.0, 0.0, 0.0, law, 0.0, -1.0, np.inf, 0.0, 0.2, -1.0)
        self.index: dict[str, int] = {"default": 0}
        self._pairs: dict[frozenset[str], dict[str, float]] = {}
        self.named: set[str] = set()  # names in pairs, since the last check of their shapes

    def add(self, name: str) -> None:
        """Add a material called `name`, unless the table has it."""
        self.index.setdefault(name, len(self.index))

    def set_pair(
        self,
        a: str,
        b: str,
        static: float,
        kinetic: float,
        restitution: float,
        impact_law: str | None = None,
        torsional: float = 0.0,
        rolling: float = 0.0,
    ) -> None:
        """Set the coefficients between two materials.

        impact_law None means the law of the table. Raises WorldError if values are not physical.
        """
        pair = f"of {a!r} on {b!r}"
        static = number(f"static friction {pair}", static, RANGES["friction"])
        kinetic = number(f"kinetic friction {pair}", kinetic, RANGES["friction"])
        if kinetic > static:
            raise WorldError(
                f"kinetic friction of {a!r} on {b!r} ({kinetic}) must not exceed static ({static})"
            )
        restitution = number(f"restitution {pair}", restitution, RANGES["restitution"])
        law = self.default[5] if impact_law is None else impact_law_code(impact_law)
        if text := too_rough(f"friction {pair}", static):
            warnings.warn(text, ModelWarning, stacklevel=3)
        lengths = {"torsional": torsional, "rolling": rolling}
        for name, value in lengths.items():
            what = f"{name} friction {pair}"
            lengths[name] = number(what, value, RANGES["friction_length"])
            if text := long_lever(what, lengths[name]):
                warnings.warn(text, ModelWarning, stacklevel=3)
        values = {"static": static, "kinetic": kinetic, "restitution": restitution, **lengths}
        self.change(a, b, **values, sequential=law)

    def change(self, a: str, b: str, **values: float) -> None:
        """Set fields of the MATERIAL_PAIR of two materials, without a check of the values."""
        check_names(a, b)
        self.add(a)
        self.add(b)
        self.named |= {a, b}
        self._pairs.setdefault(frozenset((a, b)), {}).update(values)

    def table(self) -> np.ndarray:
        """Return the (k, k) MATERIAL_PAIR records for the kernels."""
        k = len(self.index)
        table = np.empty((k, k), dtype=MATERIAL_PAIR)
        table[:] = self.default
        for pair, values in self._pairs.items():
            names = tuple(pair)
            i, j = self.index[names[0]], self.index[names[-1]]
            for name, value in values.items():
                table[name][i, j] = table[name][j, i] = value
        return table


class Watcher(Protocol):
    """The interface of objects that read the world at steps of their own choice."""

    def next_step(self, now: int) -> int:
        """Return the number of the next step, `now` or later, before which `update` is due."""

    def update(self, now: int) -> None:
        """Read the world before the step `now`, if a reading is due.

        The method may be called again for the same step, because each call of `World.step` calls
        it.
        """


class Contents:
    """The settings, clock, entities, fixed shapes, materials, connections and rules of a world."""

    def __init__(self, settings: np.ndarray, integrator: str, impact_law: str, solver) -> None:
        self.settings, self.integrator = settings, integrator
        self._time_step = float(settings["time_step"][0])
        self.clock = np.zeros(1, dtype=np.int64)  # number of steps, counted by the compiled step
        self.entities: list[Entity] = []
        self.named: dict[str, Entity] = NamedParts("robot or body", {})  # internal
        self.entities_ever = 0
        self.samplers: tuple[SampledView, ...] = ()  # samplers of all robots
        self.watchers: tuple[Watcher, ...] = ()  # not in copies
        self.fixed: list[CollisionShape] = []
        self.fixed_numbers: list[int] = []  # number of each among all that the world has had
        self.fixed_ever = 0
        self._fixed_places: dict[tuple, list[str]] = {}  # names of the shapes at each place
        self.materials = MaterialTable(impact_law=impact_law)
        self.connections: dict[str, Connection] = NamedParts("connection", {})
        self.connections_ever = 0
        self.frames: dict[str, WorldFrame] = NamedParts("frame", {})
        self.connection_records = np.zeros(
            0, dtype=CONNECTION_RECORD
        )  # the array of the scene after the first assembly
        model = int(settings["friction_model"][0])
        self.solver_rules = SolverRules(solver, integrator, model)
        self.is_stepping = False
        self.placed: set[Entity] = set()  # entities placed since the last step
        self.reported: dict[str, set[str]] = {}  # kinds of warnings of placed entities, by name
        self.audited = bool(settings["audit"][0])

    @property
    def time_step(self) -> float:
        """Duration of a step [s]."""
        return self._time_step

    def add_fixed(self, shapes: Sequence[CollisionShape]) -> str:
        """Add fixed shapes. Return a warning if an equal shape has the same pose, or ""."""
        warning = ""
        for shape in shapes:
            others = self._fixed_places.setdefault(_place_of(shape), [])
            if others and not warning:
                kind = type(shape.geometry).__name__
                warning = (
                    f"{shape.name!r} is a {kind} with the same size and pose as {others[0]!r}. "
                    "Two equal shapes double each contact. Remove one of them"
                )
            others.append(shape.name)
        self.fixed += shapes
        end = self.fixed_ever + len(shapes)
        self.fixed_numbers += range(self.fixed_ever, end)
        self.fixed_ever = end
        return warning

    def drop_fixed(self, first: int, count: int) -> None:
        """Remove fixed shapes. The shapes after them move forward."""
        gone = slice(first, first + count)
        for shape in self.fixed[gone]:
            place = _place_of(shape)
            self._fixed_places[place].remove(shape.name)
            if not self._fixed_places[place]:
                del self._fixed_places[place]
        del self.fixed[gone], self.fixed_numbers[gone]

    def add(self, entity: Entity) -> None:
        """Add an entity after all others."""
        entity.stand_after(self.entities[-1] if self.entities else None)
        self.entities_ever += 1
        entity.number = self.entities_ever
        self.entities.append(entity)
        self.named[entity.name] = entity
        if isinstance(entity, Robot):
            self.find_samplers()

    def drop(self, entity: Entity) -> None:
        """Remove an entity. The entities after it move forward."""
        at = self.entities.index(entity)
        del self.entities[at], self.named[entity.name]
        last = self.entities[at - 1] if at else None
        for other in self.entities[at:]:
            other.stand_after(last)
            last = other
        if isinstance(entity, Robot):
            self.find_samplers()

    def places_of(self, entity: Entity) -> tuple[int, int]:
        """Return the position of an entity in the scene's arrays.

        Returns:
            (index of the first shape, index of the first sensor).
        """
        shape, sensor = len(self.fixed), 0
        for other in self.entities[: self.entities.index(entity)]:
            shape += len(other.shapes)
            if isinstance(other, Robot):
                sensor += len(other.model.sensors)
        return shape, sensor

    @property
    def by_name(self) -> dict[str, Entity]:
        """Robots and bodies by name."""
        return NamedParts("robot or body", {entity.name: entity for entity in self.entities})

    @property
    def robots(self) -> MappingProxyType:
        """Robots by name."""
        robots = {e.name: e for e in self.entities if isinstance(e, Robot)}
        return MappingProxyType(NamedParts("robot", robots))

    @property
    def bodies(self) -> MappingProxyType:
        """Free bodies by name."""
        bodies = {e.name: e for e in self.entities if isinstance(e, Body)}
        return MappingProxyType(NamedParts("body", bodies))

    @property
    def with_initial_state(self) -> tuple:
        """Return all objects with an initial state, which `reset` restores."""
        return (*self.entities, *self.connections.values(), *self.frames.values())

    def first_sensor(self, entity: Entity) -> int:
        """Return the index in the scene of an entity's first sensor, if it has any."""
        before = 0
        for other in self.entities:
            if other is entity:
                return before
            if isinstance(other, Robot):
                before += len(other.model.sensors)
        raise WorldError(f"{entity.name!r} is not in this world")

    def find_samplers(self) -> None:
        """Find the sensors with a separate rate, after entities were added or removed."""
        self.samplers = tuple(s for robot in self.robots.values() for s in robot.samplers)

    @property
    def pauses(self) -> bool:
        """Whether steps pause for any sensor or watcher with a rate of its own."""
        return bool(self.samplers or self.watchers)

    def sample(self) -> None:
        """Take the samples of all sensors that are due now, then call the watchers."""
        step = self.clock.item()
        for sampler in self.samplers:
            sampler.update(step)
        for watcher in self.watchers:
            watcher.update(step)

    def steps_to_sample(self, most: int) -> int:
        """Return the number of steps until a sensor or watcher is due next, at most `most`."""
        step = self.clock.item()
        steps = [s.next_step(step) - step for s in self.samplers if s.enabled]
        steps += [watcher.next_step(step) - step for watcher in self.watchers]
        return min([max(k, 1) for k in steps], default=most)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the watchers, which belong to this world alone."""
        return self.__dict__ | {"watchers": ()}

    def refuse_while_stepping(self) -> None:
        """Raise WorldError during a call of `step`, when data can be neither changed nor read."""
        if self.is_stepping:
            raise WorldError(
                "another thread is using the world. Use a world from one thread at a time, or "
                "step copies in parallel by hrpsim.Batch"
            )
