# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`World.linearize`: do a step, differentiate the step, and restore the state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.common.errors import WorldError, require_names
from hrpsim.common.values import several
from hrpsim.derivatives.outputs import OUTPUTS, refused_sensor
from hrpsim.derivatives.parameters import KD, Changes, Entry, changes_by_paths, unit_slope
from hrpsim.derivatives.room import TakenStep
from hrpsim.derivatives.sides import (
    CUT,
    EFFORT,
    OF_CONTACTS,
    OF_STEPS,
    OF_WORLDS,
    RELEASE,
    SIDES,
    SPEED,
    UNCONVERGED,
    find_refused_step,
    find_refused_world,
)
from hrpsim.derivatives.step_derivatives import (
    INPUTS,
    ConstraintEdge,
    Differentiator,
    Linearization,
    OutputDerivatives,
    StepDerivatives,
)
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.arrays.assemble import joined_system
from hrpsim.world.parameter_paths import entries_by_path
from hrpsim.world.parts.part import Core, Part
from hrpsim.world.parts.results import Naming
from hrpsim.world.parts.stepping import Stepping

_TOLERANCE = 1e-9  # tolerance of the differentiated step, see SETTINGS

_find_refused_world = prepared(find_refused_world)
_find_refused_step = prepared(find_refused_step)


class _Sides(dict[tuple[int, int, int, int, int], tuple[str, str, str]]):
    """Names for the constraints near a switch between two states, such as stick and slip.

    A value has three texts: the name of the constraint or actuator, its present state, and the
    state beyond the switch. A key has the integers of an entry of NEAR, without the distance.
    Missing entries are made at first use.
    """

    def __init__(self, naming: Callable[[], Naming]) -> None:
        super().__init__()
        self._naming = naming

    def __missing__(self, key: tuple[int, int, int, int, int]) -> tuple[str, str, str]:
        *constraint, kind, side = key
        name = self._naming().name(*constraint)
        if kind in (EFFORT, SPEED):
            name = name.replace("velocity limit", "actuator")
        elif kind in (RELEASE, CUT):
            name = f"position correction of {name}"
        self[key] = result = name, SIDES[kind][side], SIDES[kind][1 - side]
        return result


class _Known(NamedTuple):
    """Data that are shared by all linearizations of one scene."""

    differentiator: Differentiator
    joints: tuple[tuple[str, str], ...]  # robot and joint
    dofs: np.ndarray  # their degrees of freedom
    entities: dict[str, slice]
    inputs: dict[tuple[str, ...], tuple[tuple[str, str, str], ...]]  # columns of B, by kinds
    outputs: dict[str, tuple[tuple[str, str, str], ...]]  # rows, by kind
    sides: _Sides


class Linearizing(Part):
    """Component of a world that does a step and differentiates the step."""

    def __init__(self, core: Core, stepping: Stepping) -> None:
        super().__init__(core)
        self._stepping = stepping
        self._known: _Known | None = None  # results for the last scene
        self._parameters: tuple[Scene, int, dict[str, Entry]] | None = None
        self._constant: dict[tuple[str, ...], Changes] = {}  # of paths with constant derivatives

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the arrays, which can be computed again."""
        return self.__dict__ | {"_known": None, "_parameters": None, "_constant": {}}

    def parameters(self) -> Mapping[str, Entry]:
        """Return the differentiable parameters by path, updated if the arrays have changed."""
        scene, contents = self._scenes.scene, self._contents
        materials, last = contents.materials.index, self._parameters
        if last is None or last[0] is not scene or last[1] != len(materials):
            known = entries_by_path(scene, contents.robots, contents.bodies, materials)
            last, self._constant = (scene, len(materials), known), {}
            self._parameters = last
        return last[2]

    def linearize(
        self,
        inputs: str | Iterable[str],
        parameters: str | Iterable[str],
        outputs: str | Iterable[str],
        margin: float | None,
    ) -> Linearization:
        """Return the derivatives of the next step (see `World.linearize`)."""
        kinds, paths, requested = several(inputs), several(parameters), several(outputs)
        require_names("input", kinds, INPUTS)
        require_names("output", requested, OUTPUTS)
        scene, contents = self._scenes.scene, self._contents
        changes = self._changes_by(paths) if paths else None
        if not len(scene.velocity):
            nothing, by_paths = np.zeros((0, 0)), np.zeros((0, len(paths)))
            none = OutputDerivatives((), nothing, nothing, by_paths)
            return Linearization(nothing, nothing, {}, (), by_paths, paths, (), none)
        self._refuse_world(kinds, changes)
        tolerance = _TOLERANCE * STANDARD_GRAVITY * contents.time_step
        with self._stepping.tried_step(tolerance) as scene:
            known = self._known_of(scene)
            column_count = len(kinds) * len(known.joints) + len(paths)
            step = known.differentiator.read(margin or 0.0, column_count)
            self._refuse_step(step)
            self._refuse_outputs(step, requested)
            derivatives = StepDerivatives(step, known.differentiator.search)
            every = derivatives.matrices(
                kinds, known.dofs, changes, requested, known.differentiator.sensor_paths
            )
            self._refuse_found(derivatives)
            near = () if margin is None else derivatives.near_sides()
            edges = tuple(ConstraintEdge(*known.sides[entry[:5]], entry[5]) for entry in near)
        if kinds not in known.inputs:
            known.inputs[kinds] = tuple((kind, *joint) for kind in kinds for joint in known.joints)
        size, own = 2 * len(scene.velocity), known.inputs[kinds]
        A, B, C = np.split(every, [size, size + len(own)], axis=1)
        names = tuple(name for kind in requested for name in known.outputs[kind])
        of = OutputDerivatives(names, A[size:], B[size:], C[size:])
        return Linearization(
            A[:size], B[:size], known.entities.copy(), own, C[:size], paths, edges, of
        )

    def _changes_by(self, paths: tuple[str, ...]) -> Changes:
        """Return the derivatives with respect to parameters that are named by paths."""
        known = self.parameters()
        if (found := self._constant.get(paths)) is None:
            found = changes_by_paths(self._scenes.scene, paths, known)
            if all(known[path][2] is unit_slope for path in paths):
                self._constant[paths] = found
        return found

    def _refuse_world(self, kinds: tuple[str, ...], changes: Changes | None) -> None:
        """Raise WorldError if the world contains something that cannot be differentiated."""
        scene = self._scenes.scene
        if self._sleep.asleep:
            name = self._sleep.asleep[0]
            subject = f"sleeping bodies ({name!r}) are not"
            raise WorldError(f"linearize: {subject} differentiated. Set world.sleeping = False")
        if len(units := scene.actuators.units):
            late = units["dof"][units["slots"] > 0]
            by_kd = "kd" in kinds or (changes is not None and changes.joints[:, KD, late].any())
            if by_kd and len(late):
                raise WorldError("linearize: kd of actuators with a delay is not differentiated")
        lifted = [robot.name for robot in self._contents.robots.values() if robot.model.lifts]
        if lifted:
            subject = f"compensation of gravity (robot {lifted[0]!r}) is not"
            raise WorldError(f"linearize: {subject} differentiated")
        if (refused := _find_refused_world(self._stepping.reference())) >= 0:
            raise WorldError(f"linearize: {OF_WORLDS[refused]} differentiated")

    def _refuse_step(self, step: TakenStep) -> None:
        """Raise WorldError if the step contains something that cannot be differentiated."""
        of_step, of_contact, number = _find_refused_step(step.reference)
        if of_step >= 0:
            cause = (
                f"the step did not converge at {self._scenes.naming().worst_of_step(step.scene)}"
            )
            if of_step != UNCONVERGED:
                cause = OF_STEPS[of_step]
            raise WorldError(f"linearize: {cause}, which is not differentiated")
        if of_contact >= 0:
            name = self._scenes.naming().name(*step.constraint_of(3 * number))
            raise WorldError(f"linearize: {name} {OF_CONTACTS[of_contact]}")

    def _sensors(self) -> list[tuple[str, str]]:
        """Return robot and name of each sensor of the scene."""
        robots = self._contents.robots.values()
        return [(robot.name, sensor.name) for robot in robots for sensor in robot.model.sensors]

    def _refuse_outputs(self, step: TakenStep, wanted: tuple[str, ...]) -> None:
        """Raise WorldError for an output that is not differentiated."""
        if "efforts" in wanted and step.scene.control["limiting"].any():
            raise WorldError("linearize: efforts at a velocity limit are not differentiated")
        for sensor, (robot, name) in zip(step.scene.sensors, self._sensors()):
            reason = refused_sensor(step, sensor) if "sensors" in wanted else ""
            if reason:
                raise WorldError(f"linearize: sensor {name!r} of {robot!r} {reason}")

    def _refuse_found(self, found: StepDerivatives) -> None:
        """Raise WorldError for a constraint, sensor or body without derivatives. Name it."""
        for reason, number in found.refused:
            name = self._scenes.naming().name(*found.step.constraint_of(number))
            raise WorldError(f"linearize: {name} {reason}")
        for number in found.exchanging:
            robot, name = self._sensors()[number]
            reason = "carries a load that redundant contacts share, which is not differentiated"
            raise WorldError(f"linearize: sensor {name!r} of {robot!r} {reason}")
        for body in _stiffened_bodies(found.step.scene):
            name = [entity.name for entity in self._contents.entities if entity.first_body <= body][
                -1
            ]
            reason = "is light between heavily loaded connections"
            raise WorldError(f"linearize: {name!r} {reason}, which is not differentiated")

    def _known_of(self, scene: Scene) -> _Known:
        """Return the `_Known` data of a scene, renewed after a new layout of the scene."""
        if self._known is None or self._known.differentiator.scene is not scene:
            entities = self._contents.entities
            robots = self._contents.robots.values()
            dofs = [robot.first_v + robot.joint_index.v for robot in robots]
            joints = tuple((robot.name, joint) for robot in robots for joint in robot.joint_names)
            self._known = _Known(
                Differentiator(scene, self._stepping.reference(), joined_system(entities)),
                joints,
                np.concatenate([np.zeros(0, dtype=np.int64), *dofs]),
                {
                    entity.name: slice(entity.first_v, entity.first_v + entity.nv)
                    for entity in entities
                },
                {},
                {
                    "efforts": tuple(("efforts", *joint) for joint in joints),
                    "sensors": tuple(
                        ("sensors", *sensor) for sensor in self._sensors() for _ in range(6)
                    ),
                },
                _Sides(self._scenes.naming),
            )
        return self._known


def _stiffened_bodies(scene: Scene) -> np.ndarray:
    """Return the bodies whose inertia is below the geometric stiffness of their connections."""
    if not len(scene.connections):
        return np.zeros(0, dtype=np.int64)
    own = scene.forest.bodies["inertia"].diagonal(axis1=1, axis2=2).min(axis=1)
    return np.flatnonzero(scene.work.geometric_stiffness[:, :3].sum(axis=1) > own)
