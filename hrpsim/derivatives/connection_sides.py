# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of the constraint rows of connections (welds, hinges and other joints).

Central differences give the derivatives of each row's error, its curvature (the velocity product of
the row) and its rate J v. A row is "active" if its rate is at its target, and is "at its bound" if
its impulse is at a limit. The two sides of a row are these two states.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.derivatives.contact_rows import respond
from hrpsim.derivatives.corrections import Corrections, taking_part
from hrpsim.derivatives.room import DerivativeArrays, TakenStep
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel, prepared
from hrpsim.engine.compile.kernel_types import Connection, Index, Matrix, Records, Tensor, Vector
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.constraints.compliant_law import held_factors
from hrpsim.engine.constraints.connection_rows import HASTE, LOCKED, bending_of, find_direction
from hrpsim.engine.constraints.placed_connection import PLACED_CONNECTION, place_moving_frames
from hrpsim.engine.constraints.rows import write_force
from hrpsim.engine.constraints.solver_table import ITERATIVE
from hrpsim.engine.dynamics.spin import TURNING
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses, update_velocities
from hrpsim.engine.spatial.vector import dot_spatial
from hrpsim.engine.step.motion.carry import move
from hrpsim.engine.step.motion.half_turns import (
    expect_free_turn,
    turns_freely,
    write_free_acceleration,
)
from hrpsim.model.system import FIXED, FREE

ERROR, CURVATURE, RATES = range(3)  # columns of values; RATES is the first of several
STEP = 1e-5  # of the differences [m, rad, m/s or rad/s]
_ALMOST = 0.999  # share of a bound from which on it acts
PATTERN = np.dtype([("body_a", "i8"), ("body_b", "i8"), ("J_a", "f8", (6,)), ("J_b", "f8", (6,))])


@kernel
def connection_derivatives(
    w: DifferenceRoom,
    connections: Records[Connection],
    q: Vector,
    velocity: Vector,
    others: Matrix,
    impulses: Vector,
    values_out: Tensor,
    forces_out: Matrix,
) -> int:
    """Write the derivatives of the rows of connections with respect to q and velocity.

    Args:
        w: work arrays.
        connections: CONNECTION_RECORD records of the world (k,).
        q: configuration (nq,).
        velocity: velocity at which curvatures are evaluated (nv,) [rad/s, m/s].
        others: velocities v whose rates J v along the rows are differentiated (j, nv).
        impulses: impulses l of the rows (rows,). J' l is differentiated.
        values_out: derivatives (nv, 2, rows, 2 + j), written. The second index is q or velocity.
            The last index is error, curvature, then the rates.
        forces_out: derivatives of J' l (nv, nv), written. Row k is the derivative with respect to
            q[k].
    """
    values_out[:, :, :, :] = 0.0
    forces_out[:, :] = 0.0
    for k in range(velocity.shape[0]):
        for direction in range(2):
            sign = 1.0 - 2.0 * direction
            weight = sign / (2.0 * STEP)
            for r in range(w.direction.shape[0]):
                w.direction[r] = 0.0
            w.direction[k] = 1.0
            for r in range(q.shape[0]):
                w.q[r] = q[r]
            move(w.forest, w.direction, sign * STEP, w.q)
            update_poses(w.forest, w.q, w.kinematics)
            _evaluate(w, connections, velocity, weight, values_out[k, 0])
            _add_forces(w, impulses, weight, forces_out[k])
            for j in range(others.shape[0]):
                _add_rates(w, others[j], weight, values_out[k, 0, :, RATES + j])
            for r in range(q.shape[0]):
                w.q[r] = q[r]
            update_poses(w.forest, q, w.kinematics)
            for r in range(velocity.shape[0]):
                w.direction[r] = velocity[r]
            w.direction[k] += sign * STEP
            _evaluate(w, connections, w.direction, weight, values_out[k, 1])
    return 0


@inner_kernel
def _evaluate(
    w: DifferenceRoom,
    connections: Records[Connection],
    velocity: Vector,
    share: float,
    values_out: Matrix,
) -> None:
    """Add `share` times error and curvature of each row to `values_out`.

    The force directions of the rows are written to `patterns` of w.
    """
    update_velocities(w.forest, velocity, w.kinematics)
    for i in range(w.forest.bodies.shape[0]):
        if turns_freely(w.forest, i):
            write_free_acceleration(w.forest.bodies[i].inertia, w.kinematics[i])
            h, motion = w.time_step[0], w.kinematics[i]
            kick = h - w.spins[i].ahead
            expect_free_turn(w.forest.bodies[i], w.q, w.past, kick, 0.5 * h, w.turning, motion)
    placed, number = w.placed[0], 0
    for c in range(connections.shape[0]):
        connection = connections[c]
        if not connection.enabled:
            continue
        place_moving_frames(w.forest, w.kinematics, connection, placed)
        for axis in range(6):
            if not connection.axes[axis]:
                continue
            pattern, d = w.patterns[number], placed.direction
            values_out[number, ERROR] += share * find_direction(connection, axis, placed)
            values_out[number, CURVATURE] += share * bending_of(connection, axis, placed)
            pattern.body_a, pattern.body_b = connection.body_a, connection.body_b
            write_force(placed.point_a, d, 1.0, axis >= 3, pattern.J_a)
            write_force(placed.point_b, d, -1.0, axis >= 3, pattern.J_b)
            number += 1


@inner_kernel
def _add_rates(w: DifferenceRoom, velocity: Vector, share: float, rates_out: Vector) -> None:
    """Add `share` times the rate of each row at the velocity (nv,) to `rates_out`."""
    update_velocities(w.forest, velocity, w.kinematics)
    for number in range(rates_out.shape[0]):
        pattern, rate = w.patterns[number], 0.0
        if pattern.body_a >= 0:
            rate += dot_spatial(pattern.J_a, w.kinematics[pattern.body_a].v)
        if pattern.body_b >= 0:
            rate += dot_spatial(pattern.J_b, w.kinematics[pattern.body_b].v)
        rates_out[number] += share * rate


@inlined_kernel
def _write_wrenches(w: DifferenceRoom, impulses: Vector) -> None:
    """Write the impulsive wrench on each body that impulses (rows,) of the rows exert."""
    w.wrenches[: w.forest.bodies.shape[0], :6] = 0.0
    for number in range(impulses.shape[0]):
        pattern, impulse = w.patterns[number], impulses[number]
        for r in range(6):
            if pattern.body_a >= 0:
                w.wrenches[pattern.body_a, r] += impulse * pattern.J_a[r]
            if pattern.body_b >= 0:
                w.wrenches[pattern.body_b, r] += impulse * pattern.J_b[r]


@inner_kernel
def _add_forces(w: DifferenceRoom, impulses: Vector, share: float, force_out: Vector) -> None:
    """Add `share` times the generalised impulse (nv,) of the rows' impulses to `force_out`."""
    wrenches, bodies = w.wrenches, w.forest.bodies
    _write_wrenches(w, impulses)
    for i in range(bodies.shape[0] - 1, -1, -1):
        body, k = bodies[i], bodies[i].v_index
        if body.joint_type == FREE:
            for r in range(6):
                force_out[k + r] += share * wrenches[i, r]
        elif body.joint_type != FIXED:
            force_out[k] += share * dot_spatial(w.kinematics[i].S, wrenches[i])
        if body.parent >= 0:
            for r in range(6):
                wrenches[body.parent, r] += wrenches[i, r]


@kernel
def respond_to(w: DerivativeArrays, number: Index) -> int:
    """Write `response` and `gradient` of row `number` (see `respond`)."""
    respond(w, w.local[number].J, w.local[number].at)
    return 0


_connection_derivatives = prepared(connection_derivatives)
_held_factors = prepared(held_factors)
_respond_to = prepared(respond_to)


class DifferenceRoom(NamedTuple):
    """Work arrays for the central differences of connection rows with respect to q and velocity."""

    forest: Forest
    kinematics: np.ndarray  # (n,) KINEMATICS
    placed: np.ndarray  # (1,) PLACED_CONNECTION
    patterns: np.ndarray  # (rows,) PATTERN
    wrenches: np.ndarray  # (n, 6)
    q: np.ndarray  # (nq,)
    direction: np.ndarray  # (nv,)
    past: np.ndarray  # (nv, 2) accelerations of the previous steps
    spins: np.ndarray  # (n,) SPIN
    time_step: np.ndarray  # (1,)
    turning: np.ndarray  # TURNING


class ConnectionSides:
    """The k constraint rows of connections in a step, which begin at row `first`."""

    def __init__(self, step: TakenStep, first: int, count: int) -> None:
        self.step, self.rows, self.first = step, step.rows[first : first + count], first
        w, scene = step.room.whole, step.scene
        self.records = scene.connections[self.rows["source"]]
        self._place(w.local[first : first + count], w.body_at)
        self.jacobians = step.jacobians(w.local[first : first + count])
        self.holding, self.distance = _sides_of(self.rows, self.jacobians @ w.end_velocity)
        self.refused = self._bounded_errors()
        n, nv = len(scene.forest.bodies), len(w.velocity)
        self._room = TupleReference(
            DifferenceRoom(
                scene.forest,
                new_kinematics(n),
                np.zeros(1, dtype=PLACED_CONNECTION),
                np.zeros(count, dtype=PATTERN),
                np.zeros((n, 6)),
                np.zeros(len(w.q)),
                np.zeros(nv),
                np.ascontiguousarray(scene.past_accelerations[:, 1:]),
                scene.spins,
                np.array([step.time_step]),
                np.zeros(TURNING),
            )
        )
        values, self.force_changes = self.changes(
            self.rows["impulse"], [w.end_velocity, w.velocity]
        )
        self.errors, self._curvatures, self._turned, self._starting = values[:, 0]
        self._curving = values[CURVATURE, 1]

    def _place(self, local: np.ndarray, body_at: np.ndarray) -> None:
        """Write the Jacobian J and the constants of all rows to `local`."""
        swapped = (self.records["body_a"] < 0)[:, None]  # its row acts on b alone
        a, b = self.rows["J_a"], np.where(swapped, self.rows["J_a"], self.rows["J_b"])
        for half, (J, name) in enumerate(((np.where(swapped, 0.0, a), "body_a"), (b, "body_b"))):
            at = body_at[self.records[name]]
            local["at"][:, half] = at
            local["J"][:, 6 * half : 6 * half + 6] = np.where(at[:, None] >= 0, J, 0.0)
        local["F"], local["number"] = local["J"], self.first + np.arange(len(local))
        for name in ("compliance", "inverse_mass"):
            local[name] = self.rows[name]

    def changes(self, impulses: np.ndarray, velocities: list) -> tuple[np.ndarray, np.ndarray]:
        """Return the derivatives of the rows and of the generalised force J' l.

        Args:
            impulses: impulses l of the rows (k,).
            velocities: j velocities v (nv,) whose rates J v are differentiated.

        Returns:
            (derivatives of errors, curvatures and rates (2 + j, 2, k, nv), derivative of J' l (nv,
            nv)). The second index of the first array selects the derivative with respect to q or
            velocity. J' l is differentiated with respect to q.
        """
        step, w, nv = self.step, self.step.room.whole, self.jacobians.shape[1]
        others = np.array(velocities)
        values = np.empty((nv, 2, len(self.rows), RATES + len(others)))
        force = np.empty((nv, nv))
        _connection_derivatives(
            self._room,
            step.scene.connections,
            w.q,
            w.middle_velocity,
            others,
            np.ascontiguousarray(impulses),
            values,
            force,
        )
        return values.transpose(3, 1, 2, 0), force.T

    def add_to(self, held: np.ndarray, target: np.ndarray, responses: np.ndarray) -> int:
        """Write the active rows, and the derivatives of their targets.

        Args:
            held: HELD_ROW records, written.
            target: derivatives of the targets with respect to q, then with respect to velocity
                (rows, 2 nv), written.
            responses: M^-1 J' of rows that depend on their inverse mass (rows, nv), written.

        Returns:
            The number of rows written.
        """
        h, records, axis, w = self.step.time_step, self.records, self._axes(), self.step.room.whole
        k, nv = np.arange(len(axis)), self.jacobians.shape[1]
        locked = records["axes"][k, axis] == LOCKED
        damping, give = records["damping_time"][k, axis], records["compliance"][k, axis]
        springs = locked & ((give > 0.0) | (records["solver"] != ITERATIVE))
        own = self.rows["inverse_mass"] - self.rows["compliance"]
        c, d, dc, dd = factors = np.empty((4, len(axis)))
        _held_factors(own, give, damping, h, factors)
        bend = np.where(locked, 0.5 * h, 0.0)
        # Rate and error of the row are J v - b and g - h b / 4 at the path's curvature b.
        by_rate, by_error = np.where(springs, c * d, 0.0), np.where(springs, -4.0 / h * c, 0.0)
        by_bend = -bend * (1.0 + by_rate + 0.25 * h * by_error)
        by_q = by_rate[:, None] * self._starting + by_error[:, None] * self.errors
        by_q += by_bend[:, None] * self._curvatures - self._turned
        by_v = by_rate[:, None] * self.jacobians + by_bend[:, None] * self._curving
        at, count = self.holding, int(self.holding.sum())
        held[:count] = w.local[self.first : self.first + len(at)][at]
        for r in np.flatnonzero(springs & at & (give > 0.0) & (damping > 0.0)).tolist():
            rate, error = self.jacobians[r] @ w.velocity, records["error"][r, axis[r]]
            curving = by_rate[r] * rate + by_error[r] * error - self.rows["target"][r]
            curving /= 1.0 + by_rate[r] + 0.25 * h * by_error[r]
            rate, error = rate - curving, error - 0.25 * h * curving
            softening = 4.0 * give[r] / h**2 * dc[r]
            slope = dc[r] * (d[r] * rate - 4.0 / h * error) + c[r] * dd[r] * rate
            slope -= softening * self.rows["impulse"][r]
            response, change = self._inverse_mass_change(r)
            number = int(at[:r].sum())
            held["slope"][number], held["softening"][number] = slope, softening
            responses[number], by_q[r] = response, by_q[r] + slope * change
        target[:count, :nv], target[:count, nv:] = by_q[at], by_v[at]
        return count

    def _inverse_mass_change(self, r: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the response of row `r`, and the derivative of its inverse mass.

        Returns:
            (M^-1 J' (nv,), derivative of J M^-1 J' with respect to q (nv,)).
        """
        w = self.step.room.whole
        _respond_to(self.step.room, self.first + r)
        response, gradient = w.response[0].copy(), w.gradient[0].copy()
        turned = self.changes(np.zeros(len(self.rows)), [response])[0][RATES, 0, r]
        return response, 2.0 * turned - gradient

    def _corrected_axes(self) -> np.ndarray:
        """Return which rows (k,) have errors that the position correction removes."""
        axis, records = self._axes(), self.records
        k = np.arange(len(axis))
        locked = (records["axes"][k, axis] == LOCKED) & (records["solver"] == ITERATIVE)
        return locked & (records["compliance"][k, axis] == 0.0)

    @property
    def corrects_errors(self) -> bool:
        """Whether any row is subject to the position correction, even if its error is 0."""
        return bool(self._corrected_axes().any())

    def _bounded_errors(self) -> list[tuple[str, int]]:
        """Return the rows whose error has no derivative, as (reason, row number).

        The speed of correction, or the angle, of these rows is at its bound.
        """
        axis, k, records, step = self._axes(), np.arange(len(self.rows)), self.records, self.step
        error = np.abs(records["error"][k, axis])
        damping, rigid = records["damping_time"][k, axis], records["compliance"][k, axis] == 0.0
        reach = 0.25 * step.time_step + damping
        most = np.where(rigid, HASTE * step.scene.settings["correction_speed"][0] * reach, np.inf)
        turned = np.linalg.norm(self.rows["J_a"][:, :3], axis=1)
        beyond = (error > _ALMOST * most) | ((axis >= 3) & (error > _ALMOST * turned))
        beyond &= (records["axes"][k, axis] == LOCKED) & ~self._corrected_axes()
        reason = "has an error that is corrected at a bounded speed"
        return [(reason, self.first + int(number)) for number in np.flatnonzero(beyond)]

    def corrections(self, rate: np.ndarray) -> Corrections:
        """Return the rows that may be active in the position correction.

        rate: displacement rate of the position correction (nv,) [rad/s, m/s].
        """
        step, rows, settings = self.step, self.rows, self.step.scene.settings[0]
        h, velocity = step.time_step, rows["correction_velocity"]
        takes_part = (rows["compliance"] == 0.0) & (np.abs(rows["impulse"]) < rows["upper"])
        inside = self._corrected_axes() & (np.abs(velocity) < settings["correction_speed"])
        slope = -settings["correction_rate"] / h * inside[:, None]
        turned = self.changes(np.zeros(len(rows)), [rate])[0][RATES, 0]
        by_q = slope * (self.errors - 0.125 * h * h * self._curvatures) - turned
        by_v = -0.125 * h * h * slope * self._curving
        two_sided, numbers = np.ones(len(rows), dtype=bool), self.first + np.arange(len(rows))
        return taking_part(step.rows, numbers, takes_part, two_sided, by_q, by_v, 0.0 * by_q)

    def _axes(self) -> np.ndarray:
        """Return the constrained axis (0 to 5) of the connection for each row (k,)."""
        axes = [
            axis
            for connection in self.step.scene.connections
            if connection["enabled"]
            for axis in range(6)
            if connection["axes"][axis]
        ]
        return np.array(axes, dtype=np.int64)


def _sides_of(rows: np.ndarray, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows (k,) are active, and the distance of each from switching [m/s or rad/s].

    Rows along which nothing can move (inverse mass 0) are not active, and never switch.
    """
    impulse, mass = rows["impulse"], rows["inverse_mass"]
    moves = mass > 0.0
    room = np.minimum(impulse - rows["lower"], rows["upper"] - impulse)
    spare = np.where(moves, room, 0.0) * mass
    left = np.abs(rates + rows["compliance"] * impulse - rows["target"])
    return moves & (spare > left), np.where(moves, np.maximum(spare, left), np.inf)
