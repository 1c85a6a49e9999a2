# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`World.linearize`: take a step, differentiate it, return to where it began."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
from hrpsim.world.linearization.parameters import changes_by_paths
from hrpsim.world.linearization.result import ConstraintEdge, Linearization
from hrpsim.world.linearization.room import TakenStep
from hrpsim.world.linearization.step_derivatives import INPUTS, Differentiator, StepDerivatives
from hrpsim.world.parts.part import Core, Part
from hrpsim.world.parts.results import Naming
from hrpsim.world.parts.stepping import Stepping
from hrpsim.world.parts.world_contents import Contents

_TOLERANCE = 1e-9  # of the step that is differentiated, see SETTINGS
_CONVERGED = 1e-9  # residual with which it may end [m/s]
_SIDES = (  # of contacts, by the columns of Room.distances
    ("open", "closed"),
    ("sticking", "sliding"),
    ("gap closed", "gap open"),
    ("static", "kinetic"),
    ("found", "lost"),
)


class Linearizing(Part):
    """Takes the steps of a world that are differentiated."""

    def __init__(self, core: Core, stepping: Stepping):
        super().__init__(core)
        self._stepping = stepping
        self._differentiator: Differentiator | None = None  # of the last such scene

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the arrays, which can be made again."""
        return self.__dict__ | {"_differentiator": None}

    def linearize(
        self, inputs: str | Iterable[str], parameters: str | Iterable[str], margin: float
    ) -> Linearization:
        """Return the derivatives of the next step; see `World.linearize`."""
        kinds = (inputs,) if isinstance(inputs, str) else tuple(inputs)
        for kind in kinds:
            if kind not in INPUTS:
                raise WorldError(unknown_name("input", str(kind), INPUTS))
        paths = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        changes = changes_by_paths(
            self._scenes.scene,
            paths,
            self._contents.robots,
            self._contents.bodies,
            self._contents.materials.index,
        )
        if not len(self._scenes.scene.velocity):
            nothing = np.zeros((0, 0))
            return Linearization(nothing, nothing, {}, (), np.zeros((0, len(paths))), paths, ())
        _refuse_world(self._contents, self._scenes.scene, self._sleep.asleep)
        time_step, entities = self._contents.time_step, self._contents.entities
        robots = self._contents.robots.values()
        joints = [(robot.name, joint) for robot in robots for joint in robot.joint_names]
        places = [robot.first_v + robot.joint_index.v for robot in robots]
        with self._stepping.tried_step(_TOLERANCE * STANDARD_GRAVITY * time_step) as scene:
            differentiator = self._differentiator_for(scene)
            step = differentiator.read(margin)
            _refuse_step(step, self._scenes.naming)
            found = StepDerivatives(step, differentiator.search)
            self._refuse_found(found)
            dofs = np.concatenate([np.zeros(0, dtype=np.int64), *places])
            A, B, C = found.matrices(kinds, dofs, changes)
            edges = _edges(found, self._scenes.naming)
        return Linearization(
            A,
            B,
            {one.name: slice(one.first_v, one.first_v + one.nv) for one in entities},
            tuple((kind, *joint) for kind in kinds for joint in joints),
            C,
            paths,
            tuple(edges),
        )

    def _refuse_found(self, found: StepDerivatives) -> None:
        """Raise WorldError where the derivatives found what they do not cover, by name."""
        for reason, number in found.refused:
            name = _row_name(found.step, self._scenes.naming(), number)
            raise WorldError(f"linearize: {name} {reason}")
        for bodies, reason in (
            (found.unsolved, "turns too far in a step"),
            (_stiffened_bodies(found.step.scene), "is light between heavily loaded connections"),
        ):
            for body in bodies:
                name = [one.name for one in self._contents.entities if one.first_body <= body][-1]
                raise WorldError(f"linearize: {name!r} {reason}, which is not differentiated")

    def _differentiator_for(self, scene: Scene) -> Differentiator:
        """Return what differentiates a scene, made again where that was laid out again."""
        if self._differentiator is None or self._differentiator.scene is not scene:
            system = joined_system(self._contents.entities)
            self._differentiator = Differentiator(scene, self._stepping.reference(), system)
        return self._differentiator


def _stiffened_bodies(scene: Scene) -> np.ndarray:
    """Return free bodies whose inertia the tension of connections raises in the step."""
    if not len(scene.connections):
        return np.zeros(0, dtype=np.int64)
    own = scene.forest.bodies["inertia"].diagonal(axis1=1, axis2=2).min(axis=1)
    return np.flatnonzero(scene.work.geometric_stiffness[:, :3].sum(axis=1) > own)


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
    elif len(scene.actuators.units):
        what = "actuators with a model are not"
    elif settings["projection"] and len(scene.connections):
        what = "position_projection is not"
    if what:
        raise WorldError(f"linearize: {what} differentiated")


def _refuse_step(step: TakenStep, naming: Callable[[], Naming]) -> None:
    """Raise WorldError where the step has what is not differentiated, by name."""
    scene = step.scene
    stats, what = scene.step_stats[0], ""
    if not (stats["converged"] or stats["residual"] <= _CONVERGED):
        what = f"the step did not converge at {naming().worst_of_step(scene)}"
    elif scene.impacts.state["had_impacts"][0]:
        what = "the step has impacts with restitution"
    elif any(scene.continuous.state[0][name] for name in ("start_force", "passes")):
        what = "the step has bodies so fast that contacts are found along their way"
    if what:
        raise WorldError(f"linearize: {what}, which is not differentiated")
    normals, c = step.rows[: 3 * len(step.contacts) : 3], step.contacts
    for refused, reason in (
        (
            (c["gap_offset"] != 0.0) | (c["push_out"] > 0.0),
            "is moved by impacts within the step, which are not differentiated",
        ),
        (
            (normals["friction_model"] != CONE) & (normals["friction"] > 0.0),
            "has a friction law without derivative",
        ),
        (normals["choice"] == PENALTY, "is a penalty contact, which is not differentiated"),
    ):
        if refused.any():
            name = _row_name(step, naming(), 3 * int(np.argmax(refused)))
            raise WorldError(f"linearize: {name} {reason}")


def _row_name(step: TakenStep, naming: Naming, number: int) -> str:
    row = step.rows[number]
    source, other = int(row["source"]), -1
    if row["kind"] == CONTACT_ROW:
        contact = step.contacts[source]
        source, other = int(contact["shape_a"]), int(contact["shape_b"])
    return naming.name(int(row["kind"]), source, other)


def _edges(found: StepDerivatives, naming: Callable[[], Naming]) -> list[ConstraintEdge]:
    """Return the constraints and actuators near another side."""
    step, w, sides = found.step, found.step.room.whole, found.connections
    count, first = len(step.contacts), found.first_joint_row
    near = np.argwhere(w.distances[:count].T < step.margin)
    edges = [
        (3 * c, _SIDES[kind], w.sides[c, kind], w.distances[c, kind]) for kind, c in near.tolist()
    ]
    holding, distance = w.row_holds[first : len(step.rows)], w.row_distance[first : len(step.rows)]
    for start, holds, away in (
        *([] if sides is None else [(sides.first, sides.holding, sides.distance)]),
        (first, holding, distance),
    ):
        near = np.flatnonzero(away < step.margin).tolist()
        edges += [(start + k, ("at its bound", "holds"), holds[k], away[k]) for k in near]
    for numbers, words in (
        (found.contradicting_rows(), ("agrees with others", "contradicts others")),
        (found.released, ("released", "pressed")),
        (found.indeterminate_rows(), ("shares a load", "shares it in another way")),
    ):
        edges += [(number, words, 0, 0.0) for number in numbers]
    actuators, out = found.actuator_edges(), []
    names = naming() if edges or actuators else None
    a, b, known = step.contacts["shape_a"].tolist(), step.contacts["shape_b"].tolist(), {}
    for number, words, here, away in edges:
        key = (a[number // 3], b[number // 3]) if number < 3 * count else number
        if key not in known:
            known[key] = _row_name(step, names, number)
        name = known[key]
        name = f"position correction of {name}" if words[0] == "released" else name
        out.append(ConstraintEdge(name, words[int(here)], words[1 - int(here)], float(away)))
    for k, side, other, away in actuators:
        name = names.name(VELOCITY_LIMIT, k, -1).replace("velocity limit", "actuator")
        out.append(ConstraintEdge(name, side, other, away))
    return out
