# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of one step by the state before it and by inputs of actuators.

docs/explanation/linearization.md has the equations, in this order.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.jit.compiled import prepared
from hrpsim.jit.reference import Reference
from hrpsim.kinematics.forward import update_velocities
from hrpsim.model.system import System
from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.body_motions import carry, energy_gradients
from hrpsim.world.linearization.connection_sides import ConnectionSides
from hrpsim.world.linearization.contact_rows import ContactRoom, ContactRows
from hrpsim.world.linearization.contact_sides import ContactSides
from hrpsim.world.linearization.corrections import find_impulses, is_corrected, joined
from hrpsim.world.linearization.dynamics import Derivatives, Dynamics
from hrpsim.world.linearization.joint_sides import JointSides
from hrpsim.world.linearization.motions import Motions
from hrpsim.world.linearization.solve import HoldingRows, solve_rows
from hrpsim.world.linearization.spin import spins_of
from hrpsim.world.linearization.taken_step import TakenStep, row_patterns

_carry = prepared(carry)
_energy_gradients = prepared(energy_gradients)
_update_velocities = prepared(update_velocities)

_LOCKED = 1e30  # inertia of a joint that its dry friction locks [kg or kg m^2]

# Change of a row's rate by a change of the state that is not rounding [1/s, or 1].
_NOTICED = 1e-5

_CUT_SHORT = 0.05  # error of a position correction that was not solved
_SINGULAR = 1e-8  # share of the largest response that is rounding of zero
_SHARE = 1e-3  # of the largest change of an impulse

COMMANDS, PARAMETERS = ("efforts", "positions", "velocities"), ("kp", "kd", "stiffness", "damping")
INPUTS = (*COMMANDS, *PARAMETERS)
"""What a step may be differentiated by: commands of actuators, parameters of joints."""


def stiffened_bodies(scene: Scene) -> np.ndarray:
    """Return free bodies whose inertia the tension of connections raises in the step."""
    if not len(scene.connections):
        return np.zeros(0, dtype=np.int64)
    own = scene.forest.bodies["inertia"].diagonal(axis1=1, axis2=2).min(axis=1)
    return np.flatnonzero(scene.work.geometric_stiffness[:, :3].sum(axis=1) > own)


class Balance(NamedTuple):
    """M dv' - F' dl = momentum: M, and the derivatives of the right-hand side, (nv, nv) each."""

    mass: np.ndarray
    by_q: np.ndarray
    by_velocity: np.ndarray
    linear: np.ndarray  # of the constraint forces on trees, at rows of free bases


class Room:
    """Room for the derivatives of the steps of a scene."""

    def __init__(self, scene: Scene, reference: Reference, system: System):
        self.scene, self.dynamics = scene, Dynamics(system)
        self.contacts = ContactRoom(scene, reference, self.dynamics.space.kinematics.copy())


class StepDerivatives:
    """The derivatives of a step that was taken."""

    def __init__(self, step: TakenStep, room: Room):
        scene, self.dynamics = step.scene, room.dynamics
        inertia = self.dynamics.space.rotor_inertia
        inertia[:] = scene.work.joint_inertia
        self.locked = np.isinf(inertia)
        inertia[self.locked] = 0.0
        self.step, self.bases = step, self.dynamics.bases
        self.spins = spins_of(step, self.bases)
        found = self._at_middle()
        self.dynamics.moving[:] = self.dynamics.space.kinematics
        room.contacts.kinematics[:] = self.dynamics.space.kinematics
        _update_velocities(scene.forest, step.velocity_middle, room.contacts.kinematics)
        records = step.contacts
        pairs = [of[end] for of in (records, scene.connections) for end in ("body_a", "body_b")]
        bodies = np.unique(np.concatenate(pairs))
        motions = Motions(self.dynamics, bodies[bodies >= 0])
        first, count = 3 * len(records), int(scene.counts["connection_rows"][0])
        self.contacts = ContactSides(ContactRows(step, motions, room.contacts))
        self.connections = ConnectionSides(step, motions, first, count) if count else None
        self.joints = JointSides(step, first + count)
        self.balance = self._balance(found)
        self.rows = self._holding_rows()
        self.refused: list[tuple[str, int]] = []  # reasons, and rows that have them
        self.correction = self._correction()
        for side in self._sides():
            self.refused += side.refused

    def _at_middle(self) -> Derivatives:
        """Return the derivatives of inverse dynamics where the forces of the step act."""
        step, scene, spins = self.step, self.step.scene, self.spins
        velocity = step.velocity_middle.copy()
        acceleration = (step.end_velocity - step.velocity) / step.time_step
        velocity[spins.angular] = velocity[spins.angular + 3] = 0.0
        acceleration[spins.angular] -= spins.acceleration
        external = self._wrenches(step.rows["impulse"] / step.time_step)
        external += scene.articulated["external"]
        return self.dynamics.derivatives(
            step.q_middle, velocity, acceleration, scene.settings["gravity"][0], external
        )

    def _wrenches(self, impulses: np.ndarray) -> np.ndarray:
        """Return the spatial forces (n, 6) of contacts on bodies for impulses (k,) of all rows."""
        rows, constrained = self.step.rows, self.step.scene.constrained.bodies
        out = np.zeros((len(self.step.scene.articulated), 6))
        for numbers, pattern in zip(("constrained_a", "constrained_b"), row_patterns(rows)):
            at = (rows["kind"] == CONTACT_ROW) & (rows[numbers] >= 0)
            pushed = constrained["body"][rows[numbers][at]]
            np.add.at(out, pushed, pattern[at] * impulses[at, None])
        return out

    def _balance(self, found: Derivatives) -> Balance:
        """Return M (v' - v) + dt (c - tau) - J' l = 0, differentiated."""
        scene, h, spins = self.step.scene, self.step.time_step, self.spins
        dofs, control = scene.forest.dofs, scene.control
        follows = control["saturated"] == 0
        force, linear = self.contacts.found.force_changes(self.contacts.found.impulses)
        if self.connections is not None:
            force = force + self.connections.force_changes
            linear = linear + self.connections.force_changes
        by_q, by_velocity = force - h * found.by_q, found.mass - h * found.by_velocity
        k = np.arange(len(dofs))
        by_q[k, k] -= h * (dofs["stiffness"] + follows * control["kp"])
        by_velocity[k, k] -= h * (dofs["damping"] + follows * control["kd"])
        for angular, turn, rate in zip(spins.angular, spins.by_turn, spins.by_rate):
            by_q[:, angular] += h * found.mass[:, angular] @ turn
            by_velocity[:, angular] += h * found.mass[:, angular] @ rate
        mass = found.mass
        mass[self.locked] = mass[:, self.locked] = 0.0
        mass[self.locked, self.locked] = _LOCKED
        return Balance(mass, by_q, by_velocity, linear)

    def _holding_rows(self) -> tuple[np.ndarray, ...]:
        rows = HoldingRows()
        self.contacts.add_to(rows, self.balance.mass, self._gradients)
        if self.connections is not None:
            self.connections.add_to(rows)
        self.joints.add_to(rows, self.balance.mass, self._gradients)
        return rows.stacked(len(self.balance.mass))

    def _sides(self) -> list[ContactSides | JointSides | ConnectionSides]:
        """Return the rows of contacts, joints and connections."""
        more = [] if self.connections is None else [self.connections]
        return [self.contacts, self.joints, *more]

    def _correction(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Return how the displacement rate of the position correction changes, (nv, nv) each.

        By q and by the velocity; None without one. M w = J' l, and J w is the wanted rate of the
        rows that hold.
        """
        step, rate = self.step, self.step.scene.work.correction_velocity
        sides = self._sides()
        self._released = np.zeros(0, dtype=np.int64)
        if not is_corrected(step) and not any(side.corrects_errors for side in sides):
            return None
        mass, points, nv = self.balance.mass, 3 * len(step.contacts), len(rate)
        found = joined([side.corrections(rate) for side in sides])
        impulses = np.zeros(len(step.rows))
        impulses[found.numbers] = find_impulses(found, mass)
        none, wrenches = np.zeros_like(rate), self._wrenches(impulses)
        force, _ = self.contacts.found.force_changes(impulses[:points].reshape(-1, 3))
        if self.connections is not None:
            end = points + len(self.connections.rows)
            force = force + self.connections.changes(impulses[points:end], [rate])[1]
        at = found.two_sided | (impulses[found.numbers] > 0.0)
        J, own = found.jacobians[at], step.rows["inverse_mass"][found.numbers[at]]
        dynamics = self.dynamics.derivatives(step.q_middle, none, rate, none[:3].copy(), wrenches)
        momentum = np.concatenate([force - dynamics.by_q, np.zeros((nv, nv))], axis=1)
        by_q = found.by_q - impulses[found.numbers][:, None] * found.softening
        target = np.concatenate([by_q[at], found.by_velocity[at]], axis=1)
        soft = step.rows["compliance"][found.numbers[at]]
        change, _, _ = solve_rows(mass, J, J, soft, own, momentum, target)
        exact = np.linalg.solve(mass, found.jacobians.T @ impulses[found.numbers])
        if np.abs(exact - rate).max() > _CUT_SHORT * np.abs(exact).max():
            self.refused.append(("has a position correction that was cut short", found.numbers[0]))
        by_q, by_v = change[:, :nv], change[:, nv:]
        moved = np.abs(found.jacobians @ by_q - found.by_q).max(axis=1, initial=0.0)
        near = found.jacobians @ rate - found.wanted < step.margin
        self._released = found.numbers[~at & near & (moved > _NOTICED)]
        return by_q, by_v

    def contradicting_rows(self) -> np.ndarray:
        """Return the rows that hold but, being redundant, cannot all go on to do so.

        A change of the state lets them contradict each other, so that some slide or open.
        """
        left = np.abs(self._left).max(axis=1, initial=0.0)
        return np.unique(self.rows[0][left > _NOTICED])

    def indeterminate_rows(self) -> np.ndarray:
        """Return the rows whose load redundant contacts may share so that the motion differs.

        Where contacts slide in different directions: changes of impulses that leave the rows as
        they are, but not the velocities, have y = M^-1 F' l other than 0, and J y + S l = 0.
        """
        numbers, J, F, compliance, *_ = self.rows
        if not self.contacts.sliding.any():
            return numbers[:0]
        soft = compliance > 0.0
        mass = self.balance.mass + F[soft].T @ (J[soft] / compliance[soft, None])
        response = np.linalg.solve(mass, F[~soft].T)
        motions, size, _ = np.linalg.svd(response, full_matrices=False)
        motions = motions[:, size > _SINGULAR * size.max(initial=0.0)]
        _, size, mixed = np.linalg.svd(J[~soft] @ motions, full_matrices=False)
        free = motions @ mixed[size <= _SINGULAR * size.max(initial=0.0)].T
        shares = np.abs(np.linalg.lstsq(response, free, rcond=_SINGULAR)[0]).max(
            axis=1, initial=0.0
        )
        return numbers[~soft][shares > _SHARE * shares.max(initial=0.0)]

    def released_rows(self) -> np.ndarray:
        """Return the rows that some change of the state would press in the position correction."""
        return self._released

    def _gradients(self, velocities: np.ndarray) -> np.ndarray:
        """Return the derivatives (k, nv) by q of v' M v for rows of velocities (k, nv)."""
        out = np.empty_like(velocities)
        _energy_gradients(self.dynamics.reference, np.ascontiguousarray(velocities), out)
        return out

    def input_columns(self, inputs: tuple[str, ...], joints: np.ndarray) -> np.ndarray:
        """Return the momentum (nv, k) that inputs give joints (degrees of freedom) in the step."""
        slopes, places = self._input_slopes(), np.arange(len(joints))
        out = np.zeros((len(self.step.velocity), len(inputs), len(joints)))
        for number, kind in enumerate(inputs):
            out[joints, number, places] = self.step.time_step * slopes[kind][joints]
        return out.reshape(len(out), -1)

    def _input_slopes(self) -> dict[str, np.ndarray]:
        """Return the derivatives (nv,) of the joints' efforts by each kind of input.

        Springs and dampers add to the inertia of a joint as well (joint_forces).
        """
        scene, h = self.step.scene, self.step.time_step
        dofs, control = scene.forest.dofs, scene.control
        follows = (control["saturated"] == 0).astype(float)
        q = self.step.q_middle[np.maximum(dofs["q_index"], 0)]
        acceleration = (self.step.end_velocity - self.step.velocity) / h
        damping, own = h * (dofs["damping"] + follows * control["kd"]), dofs["own_inertia"]
        inertia = np.where(own > 0.0, own, 1.0)
        share = 2.0 * inertia**2 + 4.0 * inertia * damping + damping**2
        damped = h * share / (2.0 * inertia + damping) ** 2 * acceleration
        sprung = 0.25 * h * h * acceleration
        return {
            "efforts": follows,
            "positions": follows * control["kp"],
            "velocities": follows * control["kd"],
            "kp": follows * (control["target_position"] - q - control["ahead"] - sprung),
            "kd": follows * (control["target_velocity"] - self.step.velocity - damped),
            "stiffness": dofs["rest"] - q - sprung,
            "damping": -self.step.velocity - damped,
        }

    @property
    def depends_on_joint_inertia(self) -> bool:
        """Whether rows or a position correction depend on the inertia that a joint sees."""
        soft = self.contacts.depends_on_inertia or self.joints.depends_on_inertia
        return soft or self.correction is not None

    def matrices(self, inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return A (2 nv, 2 nv) and B (2 nv, k) for columns of momentum (nv, k)."""
        step, bases, h = self.step, self.bases, self.step.time_step
        start, nv = step.scene.start, len(step.velocity)
        base = bases.from_public(bases.rotations(start.q), np.eye(nv))
        none, no_inputs = np.zeros((nv, nv)), np.zeros_like(inputs)
        dq = np.concatenate([base, none, no_inputs], axis=1)
        dv = np.concatenate(
            [bases.turn_velocity(start.velocity, base, 1.0), base, no_inputs], axis=1
        )
        middle = bases.carry(start.velocity, 0.5 * h, dq, dv)
        balance, (_, J, F, compliance, own, row_by_q, row_by_v) = self.balance, self.rows
        momentum = balance.by_q @ middle + balance.by_velocity @ dv
        momentum[:, 2 * nv :] += inputs
        target = row_by_q @ middle + row_by_v @ dv
        dv_end, impulses, self._left = solve_rows(
            balance.mass, J, F, compliance, own, momentum, target
        )
        dq_end = bases.carry(step.end_velocity, 0.5 * h, middle, dv_end)
        if self.correction is not None:
            velocity = step.scene.work.correction_velocity
            by_q, by_v = self.correction
            dq_end = bases.carry(velocity, h, dq_end, by_q @ middle + by_v @ dv)
        force = balance.linear @ middle + F.T @ impulses
        self._keep_momentum(dq, dv, force, dq_end, dv_end)
        R, end = bases.rotations(step.scene.q), step.scene.velocity
        dv_end = bases.to_public(R, dv_end + bases.turn_velocity(end, dq_end, -1.0))
        found = np.concatenate([bases.to_public(R, dq_end), dv_end])
        return found[:, : 2 * nv], found[:, 2 * nv :]

    def _keep_momentum(self, dq, dv, force, dq_end, dv_end) -> None:
        """Add the change of the velocity by which floating trees keep their linear momentum."""
        scene, bases = self.step.scene, self.bases
        root = scene.forest.bodies["root"]
        floating = np.bincount(root, minlength=len(root))[bases.bodies] > 1
        if not floating.any():
            return
        before = self.dynamics.momentum(scene.start.q, scene.start.velocity)
        after = self.dynamics.momentum(scene.q, self.step.end_velocity)
        for row in bases.linear[floating]:
            change = before.by_q[row] @ dq + before.mass[row] @ dv + force[row]
            change -= after.by_q[row] @ dq_end + after.mass[row] @ dv_end
            dv_end[row] += change / after.mass[row[0], row[0]]

    def actuator_edges(self) -> list[tuple[int, str, str, float]]:
        """Return actuators (degrees of freedom) near a limit: which, both sides, how far."""
        step, scene, h = self.step, self.step.scene, self.step.time_step
        dofs, control, out = scene.forest.dofs, scene.control, []
        q = step.q_middle[np.maximum(dofs["q_index"], 0)] + control["ahead"]
        wanted = control["effort"] + control["kp"] * (control["target_position"] - q)
        wanted += control["kd"] * (control["target_velocity"] - step.velocity)
        acceleration = (step.end_velocity - step.velocity) / h
        wanted -= scene.work.actuator_inertia * acceleration
        joint = (dofs["q_index"] >= 0) & ~self.locked
        own = np.diagonal(self.balance.mass)
        effort = np.abs(np.abs(wanted) - dofs["effort_limit"]) * h / own
        speed = np.abs(np.abs(step.end_velocity) - dofs["velocity_limit"])
        speed[control["limiting"] != 0] = np.inf  # its row says how far it is
        at_effort, at_speed = control["saturated"] != 0, control["limiting"] != 0
        for distance, beyond, word in (
            (effort, at_effort, "effort"),
            (speed, at_speed, "velocity"),
        ):
            sides = f"within its {word} limit", f"at its {word} limit"
            for k in np.flatnonzero(joint & (distance < step.margin)):
                here = int(beyond[k])
                out.append((int(k), sides[here], sides[1 - here], float(distance[k])))
        return out


def middle_of(scene: Scene) -> np.ndarray:
    """Return the positions (nq,) where the forces of the last step acted."""
    q = scene.start.q.copy()
    _carry(scene.forest, scene.start.velocity, 0.5 * float(scene.settings["time_step"][0]), q)
    return q
