# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`World.linearize`: take a step, differentiate it, return to where it began."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.constraints.friction_laws import CONE
from hrpsim.constraints.rows import CONTACT_ROW, VELOCITY_LIMIT
from hrpsim.constraints.solver_table import PENALTY
from hrpsim.errors import WorldError, unknown_name
from hrpsim.step.arrays import Scene
from hrpsim.step.scene.records import SEMI_IMPLICIT
from hrpsim.world.arrays.assemble import joined_system
from hrpsim.world.linearization.linearize import INPUTS, StepDerivatives, middle_of
from hrpsim.world.linearization.result import Edge, Linearization
from hrpsim.world.linearization.taken_step import TakenStep
from hrpsim.world.parts.results import Naming

if TYPE_CHECKING:
    from hrpsim.world.world import World

_TOLERANCE = 1e-9  # of the step that is differentiated, see SETTINGS
_CONVERGED = 1e-9  # residual with which it may end [m/s]


def linearize(
    world: World, names: Callable[[], Naming], inputs: str | Iterable[str], margin: float
) -> Linearization:
    """Return the derivatives of the next step of `world`; see `World.linearize`."""
    kinds = (inputs,) if isinstance(inputs, str) else tuple(inputs)
    for kind in kinds:
        if kind not in INPUTS:
            raise WorldError(unknown_name("input", str(kind), INPUTS))
    _refuse_world(world)
    joints = [
        (robot.name, joint.name, robot.first_v + joint.v_index)
        for robot in world.robots.values()
        for joint in robot.model.joints
        if joint.name in robot.joint_names
    ]
    start = world.snapshot()
    try:
        scene = world.scene
        exact = _TOLERANCE * STANDARD_GRAVITY * world.time_step
        scene.settings["tolerance"] = min(float(scene.settings["tolerance"][0]), exact)
        world.step()
        step, naming = _taken_step(world.scene, margin), names()
        _refuse_step(step, naming)
        found = StepDerivatives(step, joined_system(list(world.entities.values())))
        columns = found.input_columns(kinds, np.array([k for *_, k in joints], dtype=np.int64))
        A, B = found.matrices(columns)
        edges = _edges(found, naming)
    finally:
        world.restore(start)
    return Linearization(
        A,
        B,
        {e.name: slice(e.first_v, e.first_v + e.nv) for e in world.entities.values()},
        tuple((kind, robot, joint) for kind in kinds for robot, joint, _ in joints),
        tuple(edges),
    )


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


def _refuse_world(world: World) -> None:
    """Raise WorldError where the world has what is not differentiated."""
    scene = world.scene
    settings = scene.settings[0]
    what = ""
    if settings["integrator"] != SEMI_IMPLICIT:
        what = f"the integrator {world.integrator!r}: only steps of 'semi_implicit' are"
    elif settings["relative_tolerance"] > 0.0:
        what = "steps with stop='relative_change', which end before the solution, are not"
    elif world.asleep:
        what = f"bodies that sleep are not ({world.asleep[0]!r}): set world.sleeping = False"
    elif scene.counts["wrench_count"][0]:
        what = "pushes are not: step the world, or linearise before apply_wrench"
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
    elif any(scene.continuous.state[0][name] for name in ("start_force", "speculative_count")):
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
    penalty = rows["choice"] == PENALTY
    return [
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


def _edges(found: StepDerivatives, naming: Naming) -> list[Edge]:
    """Return the constraints and actuators near another side."""
    step, count = found.step, 3 * len(found.step.contacts)
    edges = found.contacts.edges(lambda c: _row_name(step, naming, step.rows[3 * c]))
    if found.connections is not None:
        edges += found.connections.edges(lambda k: _row_name(step, naming, step.rows[count + k]))
        count += len(found.connections.rows)
    edges += found.joints.edges(lambda k: _row_name(step, naming, step.rows[count + k]))
    for number in found.contradicting_rows():
        name = _row_name(step, naming, step.rows[number])
        edges.append(Edge(name, "agrees with others", "contradicts others", 0.0))
    for number in found.released_rows():
        name = f"position correction of {_row_name(step, naming, step.rows[number])}"
        edges.append(Edge(name, "released", "pressed", 0.0))
    for k, side, other, distance in found.actuator_edges():
        name = naming.name(VELOCITY_LIMIT, int(k), -1).replace("velocity limit", "actuator")
        edges.append(Edge(name, side, other, distance))
    return edges
