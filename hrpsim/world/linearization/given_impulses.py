# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impulses along the degrees of freedom that have the effect of changed parameters.

docs/explanation/linearization.md, "Parameters".
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.joint_rows import FRICTION_PARAMETERS
from hrpsim.constraints.rows import JOINT_FRICTION
from hrpsim.dynamics.joint_forces import STICKS
from hrpsim.jit.compiled import kernel, prepared
from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.inertia_changes import CORRECTION, MOMENTUM, MOTION, inertia_changes
from hrpsim.world.linearization.parameters import (
    DAMPING,
    DELAY,
    FRICTION,
    KD,
    KINETIC,
    KP,
    ROTOR_INERTIA,
    STATIC,
    STIFFNESS,
    Changes,
)
from hrpsim.world.linearization.room import FORCE, TakenStep

COMMANDS = ("efforts", "positions", "velocities")

_inertia_changes = prepared(inertia_changes)


class GivenImpulses(NamedTuple):
    """What each of p inputs or parameters gives."""

    motion: np.ndarray  # (p, nv) to the velocity
    correction: np.ndarray  # (p, nv) to the rate of the position correction
    momentum: np.ndarray  # (p, nv) to floating trees, besides constraint forces: at linear rows


@kernel
def write_commands(s, kind, joints, impulses_out):
    """Write the impulses (k, nv) by one of COMMANDS to joints (k,), where zeros were."""
    for k in range(joints.shape[0]):
        control, slope = s.control[joints[k]], 1.0
        if kind > 0:
            slope = control.kp if kind == 1 else control.kd
        if control.saturated == 0:
            impulses_out[k, joints[k]] = s.settings[0].time_step * slope
        for number in range(s.actuators.units.shape[0]):
            unit = s.actuators.units[number]
            if unit.dof == joints[k]:
                impulses_out[k, unit.dof] *= 0.0 if unit.delay_steps > 0 else 1.0 - unit.delay_part


def of_efforts(impulses: np.ndarray) -> GivenImpulses:
    """Return impulses (p, nv) of joints' efforts."""
    none = np.zeros_like(impulses)
    return GivenImpulses(impulses, none, none)


def joined(given: list[GivenImpulses], nv: int) -> GivenImpulses:
    """Return all together."""
    if len(given) < 2:
        return given[0] if given else of_efforts(np.zeros((0, nv)))
    return GivenImpulses(*(np.concatenate(parts) for parts in zip(*given)))


def of_parameters(
    step: TakenStep, held: np.ndarray, acceleration: np.ndarray, changes: Changes
) -> GivenImpulses:
    """Return the impulses by parameters.

    Args:
        step: after its derivatives by the state were found.
        held: (k,) HELD_ROW that hold in it.
        acceleration: (nv,) but for what the midpoint rule adds to it.
        changes: of the world's constants.
    """
    w, h, (p, _, nv) = step.room.whole, step.time_step, changes.joints.shape
    inertia, force = _joint_changes(step, changes)
    soft = np.flatnonzero((held["slope"] != 0.0) | (held["softening"] != 0.0))
    rows, responses = held[soft], w.responses[soft]
    forces, energies = np.zeros((p, 3, nv)), np.zeros((p, len(soft)))
    if len(at := np.flatnonzero(changes.bodies.any(axis=1))):
        of_bodies, of_rows, given = forces[at], energies[at], changes.bodies[at]
        _inertia_changes(
            step.reference, step.room, given, acceleration, responses, of_bodies, of_rows
        )
        forces[at], energies[at] = of_bodies, of_rows
    motion = -h * (forces[:, MOTION] + inertia * acceleration - force)
    correction = -forces[:, CORRECTION] - inertia * w.correction
    if len(soft):
        # With S dl = b - J dv, a row of another target or compliance pushes by b / S more.
        mass = -(energies + inertia @ (responses**2).T) / rows["compliance"]
        motion += mass * rows["slope"] @ step.jacobians(rows, "F")
        pushes = w.impulses[rows["number"]] * rows["softening"]  # impulses are of the correction
        correction -= mass * pushes @ step.jacobians(rows)
    if changes.friction.any() or changes.joints[:, FRICTION].any():
        motion += _friction_changes(step, changes)
    return GivenImpulses(motion, correction, h * forces[:, MOTION] + forces[:, MOMENTUM])


def _joint_changes(step: TakenStep, changes: Changes) -> tuple[np.ndarray, np.ndarray]:
    """Return the changes (p, nv) of the inertia that joints see, and of their efforts.

    Springs and dampers add to the inertia of a joint (hrpsim.dynamics.joint_forces).
    """
    scene, w, h = step.scene, step.room.whole, step.time_step
    dofs, control, dry = scene.forest.dofs, scene.control, scene.work.friction
    follows = (control["saturated"] == 0).astype(float)
    position, rate, present = control["target_position"] - control["ahead"], 0.0, control["kd"]
    if len(units := scene.actuators.units):
        at, now = units["dof"], scene.actuators.steps["command"]
        position, present, rate = position.copy(), present.copy(), np.zeros(len(dofs))
        position[at], present[at] = now["target"], now["kd"] + units["viscous"]
        if scene.actuators.commands.size:
            rate[at] = _command_rates(scene)
    damping, own = h * (dofs["damping"] + follows * present), dofs["own_inertia"]
    least = np.where(own > 0.0, own, 1.0)
    total = (2.0 * least + damping) ** 2
    by_damping = h * (2.0 * least**2 + 4.0 * least * damping + damping**2) / total
    by_own = damping**2 / total
    q = w.q[np.maximum(dofs["q_index"], 0)]
    slides = np.where(dry["mark"] == STICKS, 0, dry["mark"]) * (dry["bound"] == dofs["friction"])
    inertia, force = by = np.zeros((2, *changes.joints.shape[1:]))
    inertia[KP], force[KP] = 0.25 * h * h * follows, (position - q) * follows
    inertia[KD] = by_damping * follows
    force[KD] = (control["target_velocity"] - w.velocity) * follows
    inertia[STIFFNESS], force[STIFFNESS] = 0.25 * h * h, dofs["rest"] - q
    inertia[DAMPING], force[DAMPING] = by_damping, -w.velocity
    inertia[ROTOR_INERTIA], force[FRICTION], force[DELAY] = 1.0 - by_own, -slides, rate
    of_inertia, of_force = np.einsum("pfv,kfv->kpv", changes.joints, by)
    if changes.bodies.any():
        of_inertia -= by_own * changes.bodies[:, dofs["body"]] * (own - dofs["rotor_inertia"])
    return of_inertia, of_force


def _command_rates(scene: Scene) -> np.ndarray:
    """Return by which delays change the efforts that actuators are commanded (k,) [Nm/s]."""
    units, stored = scene.actuators.units, scene.actuators.commands["constant"]
    slots = np.maximum(units["slots"], 1)
    newer = (scene.actuators.states["slot"] - 1 - units["delay_steps"]) % slots
    row = np.arange(len(units))
    found = stored[row, (newer - 1) % slots] - stored[row, newer]
    return found / scene.settings["time_step"][0] * (units["slots"] > 0)


def _friction_changes(step: TakenStep, changes: Changes) -> np.ndarray:
    """Return impulses (p, nv) by friction that constraints have at its bound."""
    scene, w, rows = step.scene, step.room.whole, step.rows
    out = np.zeros_like(changes.joints[:, 0])
    dofs, limit = scene.forest.dofs, scene.joint_parameters["force_limit"][:, FRICTION_PARAMETERS]
    dry = (rows["kind"] == JOINT_FRICTION) & (w.row_holds[: len(rows)] == 0)
    dry &= dofs["friction"][rows["source"]] <= limit[rows["source"]]
    for row in rows[dry]:
        k = row["source"]
        out[:, k] += np.sign(row["impulse"]) * step.time_step * changes.joints[:, FRICTION, k]
    shapes = scene.collision.shapes
    for c, contact in enumerate(step.contacts if changes.friction.any() else ()):
        J = step.jacobians(w.local[3 * c + 1 : 3 * c + 3])
        slip, bound = J @ w.end_velocity, rows["friction"][3 * c] * rows["impulse"][3 * c]
        impulse = rows["impulse"][3 * c + 1 : 3 * c + 3]
        speed, spare = np.linalg.norm(slip), bound - np.linalg.norm(impulse)
        if w.sides[c, FORCE] and speed > spare * rows["inverse_mass"][3 * c + 1 : 3 * c + 3].max():
            kind = KINETIC if contact["slides"] else STATIC
            a, b = shapes["material"][[contact["shape_a"], contact["shape_b"]]]
            push = rows["impulse"][3 * c] / speed * (slip @ J)
            out -= changes.friction[:, kind, a, b][:, None] * push
    return out
