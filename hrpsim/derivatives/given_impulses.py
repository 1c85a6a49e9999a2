# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives with respect to inputs and parameters, as impulses along the degrees of freedom.

A small change of a parameter acts on the step like an impulse. Forces, momenta and energies are
linear in the inertias, so the step's own algorithms evaluate their derivatives.
docs/explanation/linearization_solution.md, "Parameters", has the equations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.derivatives.parameters import (
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
from hrpsim.derivatives.room import FORCE, DerivativeArrays, TakenStep
from hrpsim.engine.actuators.commands import command_rate, present_share
from hrpsim.engine.compile.compiled import inner_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import Indices, Matrix, Tensor, Vector
from hrpsim.engine.constraints.joint_rows import FRICTION_PARAMETERS
from hrpsim.engine.constraints.rows import JOINT_FRICTION
from hrpsim.engine.dynamics.articulated import place_inertias
from hrpsim.engine.dynamics.joint_forces import STICKS, damping_slopes, demand_slope
from hrpsim.engine.dynamics.recursive import newton_euler
from hrpsim.engine.dynamics.tree_momentum import tree_momentum
from hrpsim.engine.kinematics.forward import update_poses, update_velocities
from hrpsim.engine.spatial.inertia import apply_inertia
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.system import FREE

MOTION, CORRECTION, MOMENTUM = range(3)
COMMANDS = ("efforts", "positions", "velocities")


@kernel
def inertia_changes(
    s: Scene,
    w: DerivativeArrays,
    shares: Matrix,
    acceleration: Vector,
    responses: Matrix,
    forces_out: Tensor,
    energies_out: Matrix,
) -> None:
    """Write derivatives of forces, momenta and energies with respect to p inertia parameters.

    Args:
        s: scene after the step.
        w: DerivativeArrays.
        shares: derivative of each body's mass and inertia, relative to its mass and inertia (p, n).
        acceleration: acceleration of the step (nv,), without the addition of the midpoint rule.
        responses: velocities r whose energies r' M r are differentiated (k, nv).
        forces_out: derivatives (p, 3, nv), written. MOTION is the force of inverse dynamics,
            CORRECTION is M times the rate of the position correction. MOMENTUM is the momentum of
            floating trees at the start, plus the impulse of gravity, minus the momentum at the end.
        energies_out: derivatives of r' M r (p, k), written.
    """
    forest, kinematics, articulated = w.changed, w.space.kinematics, w.space.articulated
    gravity, none, still = s.settings[0].gravity, w.products[0, :3], w.own_change
    none[:] = 0.0
    still[:] = 0.0
    update_poses(forest, w.q, kinematics)
    for j in range(shares.shape[0]):
        change_inertias(s, w, shares[j])
        update_velocities(forest, w.smooth_velocity, kinematics)
        newton_euler(forest, kinematics, acceleration, gravity, articulated, forces_out[j, MOTION])
        update_velocities(forest, still, kinematics)
        out = forces_out[j, CORRECTION]
        newton_euler(forest, kinematics, w.correction, none, articulated, out)
        for r in range(responses.shape[0]):
            energies_out[j, r] = 0.0
            update_velocities(forest, responses[r], kinematics)
            for i in range(forest.bodies.shape[0]):
                v, momentum = kinematics[i].v, articulated[i].p_A
                apply_inertia(articulated[i].inertia, v, momentum)
                energies_out[j, r] += dot_spatial(momentum, v)
        _write_momenta(s, w, forces_out[j, MOMENTUM])


@inner_kernel
def change_inertias(s: Scene, w: DerivativeArrays, shares: Vector) -> None:
    """Place the derivatives of all inertias with respect to one parameter, without forces.

    Args:
        s: scene after the step.
        w: DerivativeArrays. `changed`, and the records of bodies in `space` are written.
        shares: derivative of each body's mass and inertia, relative to its mass and inertia (n,).
    """
    forest, articulated = w.changed, w.space.articulated
    for i in range(forest.bodies.shape[0]):
        body, out = s.forest.bodies[i], forest.bodies[i]
        out.mass = shares[i] * body.mass
        for r in range(3):
            for k in range(3):
                out.inertia[r, k] = shares[i] * body.inertia[r, k]
        for r in range(6):
            articulated[i].external[r] = 0.0
    place_inertias(forest, w.space.kinematics, articulated)


@inner_kernel
def _write_momenta(s: Scene, w: DerivativeArrays, out: Vector) -> None:
    """Write the missing momentum of each floating tree [Ns].

    The value is the momentum at the start, plus the impulse of gravity, minus the momentum at the
    end.
    """
    forest, h, subtrees = w.changed, s.settings[0].time_step, s.momentum.subtrees
    start, end, n = w.products[0, 3:], w.products[1, 3:], forest.bodies.shape[0]
    out[:] = 0.0
    for root in range(n):
        body = forest.bodies[root]
        if body.joint_type == FREE and root + 1 < n and forest.bodies[root + 1].root == root:
            tree_momentum(forest, s.start.q, s.start.velocity, root, subtrees, start)
            tree_momentum(forest, s.q, s.velocity, root, subtrees, end)
            for r in range(3):
                weight = h * subtrees[root].mass * s.settings[0].gravity[r]
                out[body.v_index + 3 + r] = start[r] + weight - end[r]


class GivenImpulses(NamedTuple):
    """The impulses that are equivalent to unit changes of p inputs or parameters."""

    motion: np.ndarray  # (p, nv) impulses that change the velocity
    correction: np.ndarray  # (p, nv) impulses that change the rate of the position correction
    momentum: np.ndarray  # (p, nv) impulses on unconstrained floating trees, at bases' linear rows
    pushes: np.ndarray  # (p, k) part of `motion` that the active rows exert
    sliding: np.ndarray  # (p, m) part of `motion` that sliding contacts exert, on coordinates


@kernel
def write_commands(s: Scene, kind: int, joints: Indices, impulses_out: Matrix) -> None:
    """Write the impulse that a unit command exerts over the step, for each of several joints.

    Args:
        s: scene after the step.
        kind: kind of the command, as for `demand_slope`.
        joints: degrees of freedom (k,).
        impulses_out: impulses (k, nv) [Nms or Ns per unit of the command], written over zeros.
    """
    for k in range(joints.shape[0]):
        control = s.control[joints[k]]
        if control.saturated == 0:
            slope = demand_slope(control, kind)
            impulses_out[k, joints[k]] = s.settings[0].time_step * slope
        for number in range(s.actuators.units.shape[0]):
            actuator = s.actuators.units[number]
            if actuator.dof == joints[k]:
                impulses_out[k, actuator.dof] *= present_share(actuator)


@kernel
def write_command_rates(s, rates_out) -> None:
    """Write the derivative of each actuator's commanded effort with respect to its delay [Nm/s].

    Args:
        s: scene after the step.
        rates_out: derivatives (k,), written.
    """
    for number in range(s.actuators.units.shape[0]):
        actuator, state = s.actuators.units[number], s.actuators.states[number]
        rates_out[number] = 0.0
        if actuator.slots > 0:
            slot = state.slot - 1 if state.slot > 0 else actuator.slots - 1  # of the last step
            stored, dt = s.actuators.commands[number], s.settings[0].time_step
            rates_out[number] = command_rate(actuator, stored, slot, dt)


_inertia_changes = prepared(inertia_changes)
_write_command_rates = prepared(write_command_rates)


def of_parameters(
    step: TakenStep, held: np.ndarray, acceleration: np.ndarray, changes: Changes
) -> GivenImpulses:
    """Return the impulses that are equivalent to unit changes of parameters.

    Args:
        step: step whose derivatives with respect to the state are known.
        held: HELD_ROW records of the active rows of the step (k,).
        acceleration: acceleration of the step (nv,), without the addition of the midpoint rule.
        changes: derivatives of the world's constants with respect to the parameters.
    """
    w, h, (p, _, nv) = step.room.whole, step.time_step, changes.joints.shape
    inertia, force = _joint_changes(step, changes)
    soft = np.flatnonzero((held["slope"] != 0.0) | (held["softening"] != 0.0))
    rows, responses = held[soft], w.responses[soft]
    forces, energies = np.zeros((p, 3, nv)), np.zeros((p, len(soft)))
    if len(at := np.flatnonzero(changes.bodies.any(axis=1))):
        of_bodies, by_rows, body_changes = forces[at], energies[at], changes.bodies[at]
        _inertia_changes(
            step.reference, step.room, body_changes, acceleration, responses, of_bodies, by_rows
        )
        forces[at], energies[at] = of_bodies, by_rows
    motion = -h * (forces[:, MOTION] + inertia * acceleration - force)
    correction = -forces[:, CORRECTION] - inertia * w.correction
    of_rows, sliding = np.zeros((p, len(held))), np.zeros((p, step.coordinates))
    if len(soft):
        # With S dl = b - J dv, a row of another target or compliance pushes by b / S more.
        mass = -(energies + inertia @ (responses**2).T) / rows["compliance"]
        of_rows[:, soft] = mass * rows["slope"]
        motion += of_rows[:, soft] @ step.jacobians(rows, "F")
        pushes = w.impulses[rows["number"]] * rows["softening"]  # impulses are of the correction
        correction -= mass * pushes @ step.jacobians(rows)
    if changes.joints[:, FRICTION].any():
        motion += _joint_friction_changes(step, changes)
    if changes.friction.any():
        sliding = _contact_friction_changes(step, changes)
        motion += sliding @ w.Z[: step.coordinates]
    momentum = h * forces[:, MOTION] + forces[:, MOMENTUM]
    return GivenImpulses(motion, correction, momentum, of_rows, sliding)


class EffectiveCommands(NamedTuple):
    """The commands that act on the actuators in a step, by degree of freedom (nv,)."""

    target: np.ndarray  # position [rad or m]
    target_velocity: np.ndarray  # [rad/s or m/s]
    kp: np.ndarray  # 0 for a joint at its effort limit
    kd: np.ndarray
    damping: np.ndarray  # damping of the joint plus viscous friction of the actuator
    by_delay: np.ndarray  # derivative of the effort with respect to the delay [Nm/s or N/s]
    follows: np.ndarray  # 0 for a joint at its effort limit, else 1


def effective_commands(step: TakenStep) -> EffectiveCommands:
    """Return the commands that act in a step, after delays and at effort limits."""
    scene, control = step.scene, step.scene.control
    follows = (control["saturated"] == 0).astype(float)
    position, by_delay = control["target_position"] - control["ahead"], np.zeros(len(control))
    kp, kd, damping = (
        x.copy() for x in (control["kp"], control["kd"], scene.forest.dofs["damping"])
    )
    if len(units := scene.actuators.units):
        at, command = units["dof"], scene.actuators.steps["command"]
        position[at], kp[at], kd[at] = command["target"], command["kp"], command["kd"]
        damping[at] += units["viscous"]
        if scene.actuators.commands.size:
            rates = np.empty(len(units))
            _write_command_rates(step.reference, rates)
            by_delay[at] = rates
    speed = control["target_velocity"]
    return EffectiveCommands(
        position, speed, follows * kp, follows * kd, damping, by_delay, follows
    )


def own_inertia_changes(step: TakenStep, changes: Changes) -> np.ndarray:
    """Return the derivatives (p, nv) of the smallest inertia that each joint moves."""
    rotors = changes.joints[:, ROTOR_INERTIA]
    if not (changes.bodies.any() or rotors.any()):
        return np.zeros_like(rotors)
    return changes.bodies @ step.own.by_body.T + rotors @ step.own.by_rotor.T


def _joint_changes(step: TakenStep, changes: Changes) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of joint inertias and joint efforts with respect to p parameters.

    Springs and dampers add to the inertia of a joint (hrpsim.engine.dynamics.joint_forces).

    Returns:
        (derivatives of inertias (p, nv), derivatives of efforts (p, nv)).
    """
    scene, w, h = step.scene, step.room.whole, step.time_step
    dofs, dry, command = scene.forest.dofs, scene.work.friction, effective_commands(step)
    by_damping, by_own = damping_slopes(command.damping + command.kd, dofs["own_inertia"], h)
    q = w.q[np.maximum(dofs["q_index"], 0)]
    slides = np.where(dry["mark"] == STICKS, 0, dry["mark"]) * (dry["bound"] == dofs["friction"])
    inertia, force = by = np.zeros((2, *changes.joints.shape[1:]))
    inertia[KP], force[KP] = 0.25 * h * h * command.follows, (command.target - q) * command.follows
    inertia[KD] = by_damping * command.follows
    force[KD] = (command.target_velocity - w.velocity) * command.follows
    inertia[STIFFNESS], force[STIFFNESS] = 0.25 * h * h, dofs["rest"] - q
    inertia[DAMPING], force[DAMPING] = by_damping, -w.velocity
    inertia[ROTOR_INERTIA], force[FRICTION], force[DELAY] = 1.0, -slides, command.by_delay
    of_inertia, of_force = np.einsum("pfv,kfv->kpv", changes.joints, by)
    return of_inertia + by_own * own_inertia_changes(step, changes), of_force


def _joint_friction_changes(step: TakenStep, changes: Changes) -> np.ndarray:
    """Return the impulses (p, nv) for unit changes of the dry friction of slipping joints."""
    scene, w, rows = step.scene, step.room.whole, step.rows
    out = np.zeros_like(changes.joints[:, 0])
    dofs, limit = scene.forest.dofs, scene.joint_parameters["force_limit"][:, FRICTION_PARAMETERS]
    dry = (rows["kind"] == JOINT_FRICTION) & (w.row_holds[: len(rows)] == 0)
    dry &= dofs["friction"][rows["source"]] <= limit[rows["source"]]
    for row in rows[dry]:
        k = row["source"]
        out[:, k] += np.sign(row["impulse"]) * step.time_step * changes.joints[:, FRICTION, k]
    return out


def _contact_friction_changes(step: TakenStep, changes: Changes) -> np.ndarray:
    """Return the impulses (p, m) for unit changes of the friction of slipping contacts.

    The impulses are along the m coordinates.
    """
    w, rows, shapes = step.room.whole, step.rows, step.scene.collision.shapes
    out = np.zeros((len(changes.friction), step.coordinates))
    speeds = w.Z[: step.coordinates] @ w.end_velocity
    for c, contact in enumerate(step.contacts):
        J = step.coefficients(w.local[3 * c + 1 : 3 * c + 3])
        slip, bound = J @ speeds, rows["friction"][3 * c] * rows["impulse"][3 * c]
        impulse = rows["impulse"][3 * c + 1 : 3 * c + 3]
        speed, spare = np.linalg.norm(slip), bound - np.linalg.norm(impulse)
        if w.sides[c, FORCE] and speed > spare * rows["inverse_mass"][3 * c + 1 : 3 * c + 3].max():
            kind = KINETIC if contact["slides"] else STATIC
            a, b = shapes["material"][[contact["shape_a"], contact["shape_b"]]]
            push = rows["impulse"][3 * c] / speed * (slip @ J)
            out -= changes.friction[:, kind, a, b][:, None] * push
    return out
