# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`World.linearize`: take a step, differentiate it, return to where it began."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.constraints.friction_laws import CONE
from hrpsim.constraints.rows import CONTACT_ROW, VELOCITY_LIMIT
from hrpsim.constraints.solver_table import PENALTY
from hrpsim.errors import WorldError, unknown_name
from hrpsim.step.arrays import Scene
from hrpsim.step.scene.records import SEMI_IMPLICIT
from hrpsim.world.arrays.assemble import joined_system
from hrpsim.world.linearization.result import ConstraintEdge, Linearization
from hrpsim.world.linearization.step_derivatives import (
    COMMANDS,
    INPUTS,
    PARAMETERS,
    Room,
    StepDerivatives,
    middle_of,
    stiffened_bodies,
)
from hrpsim.world.linearization.taken_step import TakenStep
from hrpsim.world.parts.contents import Contents
from hrpsim.world.parts.part import Core, Part
from hrpsim.world.parts.results import Naming
from hrpsim.world.parts.stepping import Stepping

_TOLERANCE = 1e-9  # of the step that is differentiated, see SETTINGS
_CONVERGED = 1e-9  # residual with which it may end [m/s]


class Linearizing(Part):
    """Takes the steps of a world that are differentiated."""

    def __init__(self, core: Core, stepping: Stepping):
        super().__init__(core)
        self._stepping = stepping
        self._room: Room | None = None  # of the scene that was differentiated last

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the room, which can be made again."""
        return self.__dict__ | {"_room": None}

    def linearize(self, inputs: str | Iterable[str], margin: float) -> Linearization:
        """Return the derivatives of the next step; see `World.linearize`."""
        kinds = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        for kind in kinds:
            if kind not in INPUTS:
                raise WorldError(unknown_name("input", str(kind), INPUTS))
        if not len(self._scenes.scene.velocity):
            nothing = np.zeros((0, 0))
            return Linearization(nothing, nothing, {}, (), ())
        _refuse_world(self._contents, self._scenes.scene, self._sleep.asleep)
        time_step, entities = self._contents.time_step, self._contents.entities
        robots = self._contents.robots.values()
        joints = [(robot.name, joint) for robot in robots for joint in robot.joint_names]
        places = [robot.first_v + robot.joint_index.v for robot in robots]
        with self._stepping.tried_step(_TOLERANCE * STANDARD_GRAVITY * time_step) as scene:
            step, naming = _taken_step(scene, margin), self._scenes.naming()
            _refuse_step(step, naming)
            found = StepDerivatives(step, self._room_for(scene))
            self._refuse_found(found, naming)
            if found.depends_on_joint_inertia and set(kinds) & set(PARAMETERS):
                raise WorldError(
                    f"linearize: with damped compliant contacts or limits, or a position "
                    f"correction, in the step only {COMMANDS} are differentiated, not {kinds}"
                )
            at = np.concatenate([np.zeros(0, dtype=np.int64), *places])
            columns = found.input_columns(kinds, at)
            A, B = found.matrices(columns)
            edges = _edges(found, naming)
        return Linearization(
            A,
            B,
            {one.name: slice(one.first_v, one.first_v + one.nv) for one in entities},
            tuple((kind, *joint) for kind in kinds for joint in joints),
            tuple(edges),
        )

    def _refuse_found(self, found: StepDerivatives, naming: Naming) -> None:
        """Raise WorldError where the derivatives found what they do not cover, by name."""
        for reason, number in found.refused:
            name = _row_name(found.step, naming, found.step.rows[number])
            raise WorldError(f"linearize: {name} {reason}")
        for bodies, reason in (
            (found.spins.unsolved, "turns too far in a step"),
            (stiffened_bodies(found.step.scene), "is light between heavily loaded connections"),
        ):
            for body in bodies:
                name = [one.name for one in self._contents.entities if one.first_body <= body][-1]
                raise WorldError(f"linearize: {name!r} {reason}, which is not differentiated")

    def _room_for(self, scene: Scene) -> Room:
        """Return room for a scene, made again where it was laid out again."""
        if self._room is None or self._room.scene is not scene:
            system = joined_system(self._contents.entities)
            self._room = Room(scene, self._stepping.reference(), system)
        return self._room


def _taken_step(scene: Scene, margin: float) -> TakenStep:
    """Return the step that was just taken."""
    counts, work, h = scene.counts[0], scene.work, float(scene.settings["time_step"][0])
    velocity = scene.start.velocity.copy()
    velocity[np.isinf(work.joint_inertia)] = 0.0
    return TakenStep(
        scene,
        h,
        middle_of(scene),
        velocity,
        work.velocity_middle.copy(),
        velocity + h * (work.dv + work.change),
        scene.rows.rows[: counts["row_count"]].copy(),
        scene.collision.contacts[: counts["contact_count"]].copy(),
        margin,
    )


def _refuse_world(contents: Contents, scene: Scene, asleep: tuple[str, ...]) -> None:
    """Raise WorldError where the world has what is not differentiated."""
    settings, what = scene.settings[0], ""
    if settings["integrator"] != SEMI_IMPLICIT:
        what = f"the integrator {contents.integrator!r} is not: only 'semi_implicit' is"
    elif settings["relative_tolerance"] > 0.0:
        what = "steps with stop='relative_change', which end before the solution, are not"
    elif asleep:
        what = f"bodies that sleep are not ({asleep[0]!r}): set world.sleeping = False"
    elif scene.counts["wrench_count"][0]:
        what = "pushes are not: linearise before apply_wrench"
    elif len(scene.tendons.joints):
        what = "driven tendons are not"
    elif settings["projection"] and len(scene.connections):
        what = "position_projection is not"
    if what:
        raise WorldError(f"linearize: {what} differentiated")


def _refuse_step(step: TakenStep, naming: Naming) -> None:
    """Raise WorldError where the step has what is not differentiated, by name."""
    scene, rows = step.scene, step.rows
    stats, what = scene.step_stats[0], ""
    if not (stats["converged"] or stats["residual"] <= _CONVERGED):
        what = f"the step did not converge at {naming.worst_of_step(scene)}"
    elif scene.impacts.state["had_impacts"][0]:
        what = "the step has impacts with restitution"
    elif any(scene.continuous.state[0][name] for name in ("start_force", "passes")):
        what = "the step has bodies so fast that contacts are found along their way"
    if what:
        raise WorldError(f"linearize: {what}, which is not differentiated")
    for reason, at in _refused_rows(step):
        if len(at):
            row = rows[at[0]]
            raise WorldError(f"linearize: {_row_name(step, naming, row)} {reason}")


def _refused_rows(step: TakenStep) -> list[tuple[str, np.ndarray]]:
    """Return reasons to refuse a step, and the rows that have them."""
    rows, count = step.rows, len(step.contacts)
    is_normal = (rows["kind"] == CONTACT_ROW) & (np.arange(len(rows)) % 3 == 0)
    is_normal &= np.arange(len(rows)) < 3 * count
    laws = is_normal & (rows["friction_model"] != CONE) & (rows["friction"] > 0.0)
    c = step.contacts
    moved = np.flatnonzero((c["gap_offset"] != 0.0) | (c["push_out"] > 0.0))
    return [
        ("is moved by impacts within the step, which are not differentiated", 3 * moved),
        ("has a friction law without derivative", np.flatnonzero(laws)),
        (
            "is a penalty contact, which is not differentiated",
            np.flatnonzero(rows["choice"] == PENALTY),
        ),
    ]


def _row_name(step: TakenStep, naming: Naming, row) -> str:
    source, other = int(row["source"]), -1
    if row["kind"] == CONTACT_ROW:
        contact = step.contacts[source]
        source, other = int(contact["shape_a"]), int(contact["shape_b"])
    return naming.name(int(row["kind"]), source, other)


def _edges(found: StepDerivatives, naming: Naming) -> list[ConstraintEdge]:
    """Return the constraints and actuators near another side."""
    step, count = found.step, 3 * len(found.step.contacts)
    edges = found.contacts.edges(lambda c: _row_name(step, naming, step.rows[3 * c]))
    if found.connections is not None:
        edges += found.connections.edges(lambda k: _row_name(step, naming, step.rows[count + k]))
        count += len(found.connections.rows)
    edges += found.joints.edges(lambda k: _row_name(step, naming, step.rows[count + k]))
    for numbers, before, side, other in (
        (found.contradicting_rows(), "", "agrees with others", "contradicts others"),
        (found.released_rows(), "position correction of ", "released", "pressed"),
        (found.indeterminate_rows(), "", "shares a load", "shares it in another way"),
    ):
        for number in numbers:
            name = before + _row_name(step, naming, step.rows[number])
            edges.append(ConstraintEdge(name, side, other, 0.0))
    for k, side, other, distance in found.actuator_edges():
        name = naming.name(VELOCITY_LIMIT, int(k), -1).replace("velocity limit", "actuator")
        edges.append(ConstraintEdge(name, side, other, distance))
    return edges
