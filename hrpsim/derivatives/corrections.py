# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The position correction of a step: the rows that hold in it, and their impulses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.derivatives.differentiate import contact_changes
from hrpsim.derivatives.room import TakenStep
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.constraints.impact_rows import CLOSED
from hrpsim.engine.constraints.joint_rows import PARAMETERS_OF_ROW
from hrpsim.engine.constraints.rows import (
    JOINT_FRICTION,
    LOWER_LIMIT,
    MIMIC,
    UPPER_LIMIT,
    VELOCITY_LIMIT,
)
from hrpsim.engine.constraints.solver_table import ITERATIVE

_contact_changes = prepared(contact_changes)


class Corrections(NamedTuple):
    """Rows (k,) that take part in the position correction."""

    numbers: np.ndarray  # (k,) among the rows of the step
    wanted: np.ndarray  # (k,) rate
    two_sided: np.ndarray  # (k,) whether they hold in any case
    by_q: np.ndarray  # (k, nv) change of the wanted rate less that of J w
    by_velocity: np.ndarray  # (k, nv)
    softening: np.ndarray  # (k, nv) change of the compliance by q


def joined(found: list[Corrections]) -> Corrections:
    """Return all rows together."""
    return Corrections(*(np.concatenate(parts) for parts in zip(*found)))


def find_impulses(
    found: Corrections, J: np.ndarray, compliance: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """Return the impulses l (k,) of the position correction, not negative for one-sided rows.

    Rows with an impulse reach the wanted rate J w + S l, with w = M^-1 J' l. The impulses minimise
    |C l - y|^2 with C' C = J M^-1 J' + S and C' y = the wanted rates.
    """
    from scipy.optimize import nnls  # whose import takes longer than that of hrpsim

    both = found.two_sided
    whitened = np.linalg.solve(np.linalg.cholesky(mass), J.T)
    C = np.concatenate([whitened, np.diag(np.sqrt(compliance))])
    y = np.linalg.lstsq(C.T, found.wanted, rcond=None)[0]
    solved, _ = nnls(np.concatenate([C, -C[:, both]], axis=1), y)
    impulses = solved[: len(both)].copy()
    impulses[both] -= solved[len(both) :]
    return impulses


def taking_part(rows, numbers, takes_part, two_sided, *changes) -> Corrections:
    """Return the rows of these numbers (k,) that take part. `changes` are the last three fields."""
    at = np.flatnonzero(takes_part)
    wanted = rows["correction_velocity"][numbers[at]]
    return Corrections(numbers[at], wanted, two_sided[at], *(of[at] for of in changes))


def of_contacts(step: TakenStep) -> Corrections:
    """Return the normals that may hold in the position correction."""
    scene, settings, w = step.scene, step.scene.settings[0], step.room.whole
    count, nv = len(step.contacts), len(w.velocity)
    turned, gaps = np.empty((count, nv)), np.empty((count, nv))
    _contact_changes(step.reference, step.room, step.coordinates, w.correction, turned, gaps)
    normals, gap = step.rows[: 3 * count : 3], step.contacts["gap"]
    material = scene.collision.shapes["material"]
    pairs = scene.materials[material[step.contacts["shape_a"]], material[step.contacts["shape_b"]]]
    closed = np.where(normals["solver"] == ITERATIVE, CLOSED, max(CLOSED, settings["slop"]))
    closing = np.where(gap > 2.0 * CLOSED, 1.0, 2.0) * (gap > closed)
    deep = gap < -settings["slop"]
    deep &= normals["correction_velocity"] < settings["correction_speed"]
    slope = settings["correction_rate"] * deep + closing
    slope = np.where(pairs["damping_time"] < 0.0, slope, gap > 0.0)
    by_q, all_of = -slope[:, None] / step.time_step * gaps - turned, np.ones(count, dtype=bool)
    numbers, none = 3 * np.arange(count), np.zeros_like(by_q)
    return taking_part(step.rows, numbers, all_of, ~all_of, by_q, none, w.softening[:count])


def _rigid_joint_rows(step: TakenStep, rows: np.ndarray) -> np.ndarray:
    """Return which rows (k,) of joints have neither compliance nor damping."""
    kind = np.where(rows["kind"] == VELOCITY_LIMIT, LOWER_LIMIT, rows["kind"])
    columns = PARAMETERS_OF_ROW[kind - LOWER_LIMIT]
    return step.scene.joint_parameters["damping_time"][rows["source"], columns] < 0.0


def of_joints(step: TakenStep, first: int, jacobians: np.ndarray) -> Corrections:
    """Return the rows of joints, from number `first` on, that may hold in the correction."""
    rows, settings, q = step.rows[first:], step.scene.settings[0], step.room.whole.q
    kind, wanted = rows["kind"], rows["correction_velocity"]
    dofs = step.scene.forest.dofs[rows["source"]]
    at = q[np.maximum(dofs["q_index"], 0)]
    lower, upper = kind == LOWER_LIMIT, kind == UPPER_LIMIT
    room = np.where(lower, at - dofs["lower"], np.where(upper, dofs["upper"] - at, 0.0))
    takes_part = (kind != VELOCITY_LIMIT) & (kind != JOINT_FRICTION) & (rows["compliance"] == 0.0)
    takes_part &= np.abs(rows["impulse"]) < rows["upper"]
    inside = _rigid_joint_rows(step, rows) & (np.abs(wanted) < settings["correction_speed"])
    share = (inside & ((kind == MIMIC) | lower | upper)) * settings["correction_rate"]
    slope = -np.where((lower | upper) & (room > 0.0), 1.0, share) / step.time_step
    by_q, numbers = slope[:, None] * jacobians[first:], first + np.arange(len(rows))
    none = np.zeros_like(by_q)
    return taking_part(step.rows, numbers, takes_part, rows["lower"] != 0.0, by_q, none, none)
