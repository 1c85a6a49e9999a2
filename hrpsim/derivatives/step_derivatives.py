# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of one step with respect to initial state, commands and parameters.

docs/explanation/linearization.md gives an overview and names the pages with the equations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hrpsim.derivatives import corrections, given_impulses
from hrpsim.derivatives.balance import read_step
from hrpsim.derivatives.connection_sides import ConnectionSides
from hrpsim.derivatives.contact_bends import bends_of, subtract_bends
from hrpsim.derivatives.corrections import Corrections
from hrpsim.derivatives.differentiate import differentiate, differentiate_correction
from hrpsim.derivatives.finish import write_ends
from hrpsim.derivatives.motion_derivatives import PANEL
from hrpsim.derivatives.outputs import StepSensors, effort_rows
from hrpsim.derivatives.parameters import Changes, changes_by_joints, joined_changes, no_changes
from hrpsim.derivatives.room import BY_Q, MASS, TakenStep, new_room
from hrpsim.derivatives.sensor_slopes import SensorPaths, sensor_paths
from hrpsim.derivatives.sides import BOUND, CUT, NOTICED, RELEASE, SHARE, list_near
from hrpsim.derivatives.solve import solve
from hrpsim.engine.collision.records import CONTACT
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.kinematics.own_inertia import OwnInertia, own_inertia
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.system import System

_read_step = prepared(read_step)
_differentiate = prepared(differentiate)
_differentiate_correction = prepared(differentiate_correction)
_solve = prepared(solve)
_write_ends = prepared(write_ends)
_list_near = prepared(list_near)
_write_commands = prepared(given_impulses.write_commands)

_CUT_SHORT = 1e-6  # error of a position correction that was not solved
_SINGULAR = 1e-8  # share of the largest response that is rounding of zero
_SHARE = 1e-3  # of the largest change of an impulse
_NO_NUMBERS = np.zeros(0, dtype=np.int64)

PARAMETERS = ("kp", "kd", "stiffness", "damping")
INPUTS = (*given_impulses.COMMANDS, *PARAMETERS)
"""What a step may be differentiated by: commands of actuators, parameters of joints."""


class ConstraintEdge(NamedTuple):
    """A constraint that is about to switch, so the derivatives are valid in one direction only.

    A constraint is on one of two sides, such as "open" or "closed", "sticking" or "sliding". The
    derivatives were computed for `side`. `other` is the side to which the constraint may switch.
    `distance` is the change of velocity at which it switches [m/s or rad/s].
    """

    name: str
    side: str
    other: str
    distance: float


class OutputDerivatives(NamedTuple):
    """The derivatives of outputs y of one step: y = A x + B u + C p for small changes.

    x, u and p are as in `Linearization`. An effort has one row. A sensor has six rows in the order
    of its reading: force and torque, or angular velocity and specific force.
    """

    names: tuple[tuple[str, str, str], ...]  # name of each row: "efforts" or "sensors", robot, name
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray

    def rows(self, kind: str, robot: str, name: str) -> np.ndarray:
        """Return the numbers of the rows of a joint's effort, or of a sensor.

        Args:
            kind: "efforts" or "sensors".
            robot: name of the robot.
            name: name of the joint or of the sensor.
        """
        return np.flatnonzero([own == (kind, robot, name) for own in self.names])


@dataclass(frozen=True)
class Linearization:
    """The derivatives of one step: x' = A x + B u + C p for small changes.

    x are changes of the state, u of the inputs, p of the parameters. x (2 nv,) has the changes of
    all positions, then of all velocities. Robots and bodies follow each other in the order of
    `World.entities`. The changes of a free base are along and about the axes of the base: linear
    part first [m], then angular [rad], as for `Robot.v`. The rotation R of the base becomes R
    exp(x).
    """

    A: np.ndarray
    B: np.ndarray
    entities: Mapping[str, slice]  # entries of each robot or body among the nv positions
    inputs: tuple[tuple[str, str, str], ...]  # columns of B: kind, robot and joint
    C: np.ndarray
    parameters: tuple[str, ...]  # columns of C, by their paths
    on_edge: tuple[ConstraintEdge, ...]
    outputs: OutputDerivatives


class Differentiator:
    """Prepares the last step of a scene for differentiation, with reusable work arrays."""

    def __init__(self, scene: Scene, reference: TupleReference, system: System) -> None:
        self.scene, self.reference, self._system = scene, reference, system
        capacity = len(scene.collision.contacts)
        self.search = TupleReference(
            scene.collision._replace(
                pairs=np.zeros((capacity + 1, 2), dtype=np.int64),
                contacts=np.zeros(capacity, dtype=CONTACT),
            )
        )
        self.sensor_paths, self._constants = sensor_paths(scene), (b"", b"")
        self._make_room(0, 0, 0, 0)

    def read(self, margin: float, given: int) -> TakenStep:
        """Return the last step, with work arrays that are large enough.

        Args:
            margin: distance below which a constraint counts as about to switch [m/s or rad/s].
            given: number of inputs and parameters.
        """
        m, k, c, p = self._sizes
        coordinates, rows, contacts, between = _read_step(self.reference, self._room)
        if k < rows or c < contacts or p < given:
            self._make_room(m, max(k, 2 * rows), max(c, 2 * contacts), max(p, given))
            coordinates = _read_step(self.reference, self._room)[0]
        if m < coordinates:
            self._make_room(2 * coordinates, *self._sizes[1:])
            _read_step(self.reference, self._room)
        scene = self.scene
        return TakenStep(
            scene,
            self.reference,
            self._room,
            coordinates,
            between,
            float(scene.settings["time_step"][0]),
            scene.rows.rows[:rows],
            scene.collision.contacts[:contacts],
            self._own_inertia(),
            margin,
        )

    def _own_inertia(self) -> OwnInertia:
        """Return the least inertias of joints, found again only if a constant has changed."""
        forest = self.scene.forest
        constants = forest.bodies.tobytes(), forest.dofs.tobytes()
        if constants != self._constants:
            self._constants, self._own = constants, own_inertia(forest.bodies, forest.dofs)
        return self._own

    def _make_room(self, *sizes: int) -> None:
        scene, self._sizes = self.scene, sizes
        self._room = TupleReference(new_room(self._system, scene.forest, len(scene.q), *sizes))


class StepDerivatives:
    """The derivatives of one step, and the constraints that are about to switch."""

    def __init__(self, step: TakenStep, search: TupleReference) -> None:
        w, m = step.room.whole, step.coordinates
        self.step, nv = step, len(w.velocity)
        self.mass = w.balance[MASS]
        self._acceleration = w.acceleration.copy()
        work = np.empty((nv, -(-3 * nv // PANEL) * PANEL))
        findings = _differentiate(step.reference, step.room, search, work, m)
        self.count, self.slides, self._corrects, met_within = findings
        self.refused: list[tuple[str, int]] = []  # reasons, and rows that have them
        self.cut_short: list[tuple[int, int, int, int, int, float]] = []  # NEAR
        if met_within >= 0:
            reason = "is met within the step, which is not differentiated"
            self.refused.append((reason, met_within))
        bends = bends_of(step)
        subtract_bends(step, bends, w.held[: self.count], w.target[: self.count])
        first, rows = 3 * len(step.contacts), step.connection_rows
        self.first_joint_row = first + rows
        self.connections = None
        if rows:
            self.connections = ConnectionSides(step, first, rows)
            self.refused += self.connections.refused
            w.balance[BY_Q][:] += self.connections.force_changes
            w.linear[:] += self.connections.force_changes
            tail = slice(self.count, None)
            self.count += self.connections.add_to(w.held[tail], w.target[tail], w.responses[tail])
            self._corrects = self._corrects or self.connections.corrects_errors
        self.held, self.released = w.held[: self.count], _NO_NUMBERS
        self.exchanging = _NO_NUMBERS  # sensors whose readings redundant rows leave undetermined

    def matrices(
        self,
        inputs: tuple[str, ...],
        joints: np.ndarray,
        parameters: Changes | None,
        outputs: tuple[str, ...],
        paths: SensorPaths,
    ) -> np.ndarray:
        """Return derivatives of the state after the step, then of outputs (2 nv + r, 2 nv + k + p).

        Columns are derivatives with respect to the state, k inputs, and p parameters.

        Args:
            inputs: kinds of inputs, from INPUTS.
            joints: degrees of freedom that have these inputs.
            parameters: derivatives of the world's constants with respect to p parameters. None: p =
                0.
            outputs: kinds of outputs, from OUTPUTS. "efforts" are the efforts of `joints`.
            paths: result of `sensor_paths` for the scene.
        """
        step, nv = self.step, len(self.mass)
        changes = [self._changes_of(kind, joints) for kind in inputs]
        every = joined_changes(
            [*changes, *([] if parameters is None else [parameters])], step.scene
        )
        sensors = None
        if "sensors" in outputs:
            sensors = StepSensors(step, paths, self.held, self._acceleration, every.bodies)
        corrected = self._corrected_rows() if self._corrects else None
        impulses = given_impulses.of_parameters(step, self.held, self._acceleration, every)
        commands = self._commands(inputs, joints, len(impulses.motion))
        impulses.motion[:] += commands
        rates = None if corrected is None else self._correction(corrected, impulses.correction)
        columns = self._solved(self.count, step.room.whole.balance, impulses.motion)
        width = 2 * nv + len(impulses.motion)
        rows = [np.empty((2 * nv, width))]
        for kind in outputs:
            if kind == "efforts":
                own = columns[:, :width], commands, every
                rows.append(effort_rows(step, joints, self._acceleration, *own))
            elif sensors is not None:
                rows.append(sensors.rows(columns[:, :width], impulses))
                self.exchanging = sensors.exchanging
        ends = np.concatenate(rows)
        corrects, rates = rates is not None, columns if rates is None else rates
        _write_ends(step.reference, step.room, columns, corrects, rates, impulses.momentum, ends)
        return ends

    def _changes_of(self, kind: str, joints: np.ndarray) -> Changes:
        """Return the derivatives of constants with respect to one kind of input of joints.

        They are zero for a command.
        """
        scene = self.step.scene
        if kind in PARAMETERS:
            return changes_by_joints(scene, kind, joints)
        return no_changes(scene, len(joints))

    def _commands(self, inputs: tuple[str, ...], joints: np.ndarray, count: int) -> np.ndarray:
        """Return the impulses (count, nv) for unit changes of the commands.

        The rows of other inputs and parameters are zero.
        """
        impulses, k = np.zeros((count, len(self.mass))), len(joints)
        for number, kind in enumerate(inputs):
            if kind not in PARAMETERS:
                own = impulses[number * k : (number + 1) * k]
                _write_commands(
                    self.step.reference, given_impulses.COMMANDS.index(kind), joints, own
                )
        return impulses

    def _solved(self, count: int, balance: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Solve for the derivatives of v' (nv, 2 nv + p or more) with the first `count` rows."""
        step, nv = self.step, len(self.mass)
        width = 2 * nv + len(given)
        columns = np.empty((nv, -(-width // PANEL) * PANEL))
        _solve(step.room, step.coordinates, count, balance, given, columns)
        return columns

    def _corrected_rows(self) -> tuple[Corrections, np.ndarray]:
        """Return the rows of the position correction and their Jacobian J. Write their impulses l.

        The correction moves the positions at the rate w, with M w = J' l. J w is the intended rate
        of the active rows.
        """
        step, w = self.step, self.step.room.whole
        jacobians = step.jacobians(w.local[: len(step.rows)])
        slopes = corrections.slopes_of(step, self.first_joint_row)
        sides = [corrections.of_contacts(step, slopes)]
        sides.append(corrections.of_joints(step, slopes, self.first_joint_row, jacobians))
        if self.connections is not None:
            sides.append(self.connections.corrections(w.correction))
        rows = corrections.joined(sides)
        J, soft = jacobians[rows.numbers], step.rows["compliance"][rows.numbers]
        impulses = w.impulses[: len(step.rows)]
        impulses[:] = 0.0
        impulses[rows.numbers] = corrections.find_impulses(rows, J, soft, self.mass)
        return rows, J

    def _correction(
        self, corrected: tuple[Corrections, np.ndarray], given: np.ndarray
    ) -> np.ndarray:
        """Return the derivatives of the correction's rate w (nv, 2 nv + p or more)."""
        (rows, J), step, w = corrected, self.step, self.step.room.whole
        rate, saved_rows, target, nv = w.correction, w.held.copy(), w.target.copy(), len(self.mass)
        local, impulses = w.local[: len(step.rows)], w.impulses[: len(step.rows)]
        balance, linear = np.empty_like(w.balance), np.empty_like(w.linear)
        work = np.empty((nv, -(-3 * nv // PANEL) * PANEL))
        _differentiate_correction(
            step.reference, step.room, work, step.coordinates, balance, linear
        )
        if self.connections is not None:
            between = impulses[3 * len(step.contacts) : self.first_joint_row]
            balance[BY_Q] += self.connections.changes(between, [rate])[1]
        own = impulses[rows.numbers]
        at = rows.two_sided | (own > 0.0)
        count = int(at.sum())
        w.held[:count] = local[rows.numbers[at]]
        w.held["F"][:count] = w.held["J"][:count]
        w.target[:count, :nv] = (rows.by_q - own[:, None] * rows.softening)[at]
        w.target[:count, nv:] = rows.by_velocity[at]
        columns = self._solved(count, balance, given)
        w.held[:], w.target[:] = saved_rows, target
        exact = np.linalg.solve(self.mass, J.T @ own)
        cut = float(np.abs(exact - rate).max())
        if cut > _CUT_SHORT * np.abs(exact).max():
            self.cut_short.append((*step.constraint_of(rows.numbers[0]), CUT, 0, cut))
        moved = np.abs(J @ columns[:, :nv] - rows.by_q).max(axis=1, initial=0.0)
        near = J @ rate - rows.wanted < step.margin
        self.released = rows.numbers[~at & near & (moved > NOTICED)]
        return columns

    def indeterminate_rows(self) -> np.ndarray:
        """Return rows of redundant contacts that leave the motion undetermined.

        Redundant contacts that slide in different directions may share the load in several ways.
        The impulses of two such solutions differ by l, and the velocities differ by y = M^-1 F' l.
        Both solutions satisfy all rows: J y + S l = 0. If y is not 0, the rows with nonzero l leave
        the motion undetermined.
        """
        numbers, compliance = self.held["number"], self.held["compliance"]
        if not self.slides:
            return _NO_NUMBERS
        J, F = self.step.coefficients(self.held), self.step.coefficients(self.held, "F")
        Z, soft = self.step.room.whole.Z[: self.step.coordinates], compliance > 0.0
        mass = self.mass + Z.T @ (F[soft].T @ (J[soft] / compliance[soft, None])) @ Z
        axes, lengths = np.linalg.qr(np.linalg.solve(mass, Z.T))
        motions, size, loads = np.linalg.svd(lengths @ F[~soft].T, full_matrices=False)
        regular = size > _SINGULAR * size.max(initial=0.0)
        moved = J[~soft] @ (Z @ axes @ motions[:, regular])
        _, left, mixed = np.linalg.svd(moved, full_matrices=False)
        free = mixed[left <= _SINGULAR * left.max(initial=0.0)].T / size[regular, None]
        shares = np.abs(loads[regular].T @ free).max(axis=1, initial=0.0)
        return numbers[~soft][shares > _SHARE * shares.max(initial=0.0)]

    def near_sides(self) -> list[tuple[int, int, int, int, int, float]]:
        """Return the constraints that are about to switch, as tuples of the fields of NEAR."""
        step, w, margin = self.step, self.step.room.whole, self.step.margin
        count = _list_near(step.reference, step.room, self.count, self.first_joint_row, margin)
        near = w.near[:count].tolist()
        for numbers, kind in ((self.released, RELEASE), (self.indeterminate_rows(), SHARE)):
            near += [(*step.constraint_of(number), kind, 0, 0.0) for number in numbers]
        sides = self.connections
        for k in [] if sides is None else np.flatnonzero(sides.distance < margin):
            constraint = step.constraint_of(sides.first + k)
            near.append((*constraint, BOUND, int(sides.holding[k]), float(sides.distance[k])))
        return near + self.cut_short
