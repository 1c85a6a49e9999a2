# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows of joints that hold in a step: limits, friction, mimics, locks, motors, top speeds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hrpsim.constraints.joint_rows import PARAMETERS_OF_ROW
from hrpsim.constraints.rows import (
    JOINT_FRICTION,
    LOCK,
    LOWER_LIMIT,
    MIMIC,
    UPPER_LIMIT,
    VELOCITY_LIMIT,
)
from hrpsim.world.linearization.corrections import Corrections, taking_part
from hrpsim.world.linearization.result import ConstraintEdge
from hrpsim.world.linearization.solve import HoldingRows
from hrpsim.world.linearization.stop_law import stop_derivatives
from hrpsim.world.linearization.taken_step import TakenStep, edges_of, sides_of

_MET_WITHIN = "is met within the step, which is not differentiated"


class JointSides:
    """The rows of joints (k,) from row `first` on, and which hold."""

    def __init__(self, step: TakenStep, first: int):
        self.step, self.rows = step, step.rows[first:]
        dofs, rows, count = step.scene.forest.dofs, self.rows, len(self.rows)
        self.jacobians = np.zeros((count, len(dofs)))
        self.jacobians[np.arange(count), rows["source"]] = rows["J_a"][:, 0]
        follows = np.flatnonzero(rows["at_b"] >= 0)
        leaders = dofs["mimic_dof"][rows["source"][follows]]
        self.jacobians[follows, leaders] = rows["J_b"][follows, 0]
        self.depends_on_inertia = False  # whether any target depends on an effective mass
        self.refused: list[tuple[str, int]] = []  # reasons, and rows that have them
        self.holding, self._distance = sides_of(rows, self.jacobians @ step.end_velocity)

    def edges(self, name: Callable[[int], str]) -> list[ConstraintEdge]:
        """Return the rows near another side; `name` is that of a row of these."""
        return edges_of(self.holding, self._distance, self.step.margin, name)

    def add_to(self, rows: HoldingRows, mass: np.ndarray, gradients: Callable) -> None:
        """Add the rows that hold; `mass` is M, `gradients` of velocities those of v' M v by q."""
        found, J, h = self.rows[self.holding], self.jacobians[self.holding], self.step.time_step
        kind = found["kind"]
        is_limit, by_q = np.isin(kind, (LOWER_LIMIT, UPPER_LIMIT)), np.zeros_like(J)
        own = self._own()[self.holding]
        soft = own["damping_time"] >= 0.0
        springs = soft & np.isin(kind, (MIMIC, LOCK))
        share = np.where(springs, 1.0 / (1.0 + 4.0 * own["damping_time"] / h), 0.0)
        gap_slope, rate_slope = -4.0 * share / h, share
        room = self._room()[self.holding]
        gap_slope[is_limit & ~soft & (room > 0.0)] = -1.0 / h
        at = np.flatnonzero(is_limit & soft)
        if len(at):
            rates, pairs = J[at] @ self.step.velocity, own[at]
            target, compliance, other = stop_derivatives(found[at], room[at], rates, pairs, h)
            numbers = np.flatnonzero(self.holding)[at[other]] + len(self.step.rows) - len(self.rows)
            self.refused += [(_MET_WITHIN, int(number)) for number in numbers]
            self.depends_on_inertia = True
            change = target - compliance * found["impulse"][at]
            gap_slope[at], rate_slope[at] = change[:2]
            by_q[at] -= change[2][:, None] * gradients(np.linalg.solve(mass, J[at].T).T)
        by_q += gap_slope[:, None] * J
        numbers = np.flatnonzero(self.holding) + len(self.step.rows) - len(self.rows)
        by_v, compliance = rate_slope[:, None] * J, found["compliance"]
        rows.add(numbers, J, J, compliance, found["inverse_mass"], by_q, by_v)

    def _own(self) -> np.ndarray:
        """Return the parameters of each row's kind of constraint; of a limit for a top speed."""
        kind = np.where(self.rows["kind"] == VELOCITY_LIMIT, LOWER_LIMIT, self.rows["kind"])
        columns = PARAMETERS_OF_ROW[kind - LOWER_LIMIT]
        return self.step.scene.joint_parameters[self.rows["source"], columns]

    def _room(self) -> np.ndarray:
        """Return the distances to the limits of the rows of limits, zero elsewhere."""
        kind, dofs = self.rows["kind"], self.step.scene.forest.dofs[self.rows["source"]]
        q = self.step.q_middle[np.maximum(dofs["q_index"], 0)]
        room = np.where(kind == LOWER_LIMIT, q - dofs["lower"], 0.0)
        return np.where(kind == UPPER_LIMIT, dofs["upper"] - q, room)

    @property
    def corrects_errors(self) -> bool:
        """Whether the position correction removes any error of a row, however small."""
        return bool(((self.rows["kind"] == MIMIC) & (self._own()["damping_time"] < 0.0)).any())

    def corrections(self, rate: np.ndarray) -> Corrections:
        """Return the rows that may hold in the position correction, whose rate is (nv,)."""
        step, rows, settings = self.step, self.rows, self.step.scene.settings[0]
        kind, wanted, room = rows["kind"], rows["correction_velocity"], self._room()
        bound = kind == VELOCITY_LIMIT
        takes_part = ~bound & (kind != JOINT_FRICTION) & (rows["compliance"] == 0.0)
        takes_part &= np.abs(rows["impulse"]) < rows["upper"]
        is_limit = np.isin(kind, (LOWER_LIMIT, UPPER_LIMIT))
        rigid = self._own()["damping_time"] < 0.0
        inside = np.abs(wanted) < settings["correction_speed"]
        share = (rigid & inside & ((kind == MIMIC) | is_limit)) * settings["correction_rate"]
        slope = -np.where(is_limit & (room > 0.0), 1.0, share) / step.time_step
        by_q, first = slope[:, None] * self.jacobians, len(step.rows) - len(rows)
        two_sided, none = rows["lower"] != 0.0, np.zeros_like(by_q)
        numbers, J = first + np.arange(len(rows)), self.jacobians
        return taking_part(step.rows, numbers, takes_part, J, two_sided, by_q, none, none)
