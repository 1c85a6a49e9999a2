# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The active rows of the position correction of a step, and their impulses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.derivatives.differentiate import contact_changes, correction_slopes
from hrpsim.derivatives.room import TakenStep
from hrpsim.engine.compile.compiled import prepared
from hrpsim.engine.constraints.rows import JOINT_FRICTION, VELOCITY_LIMIT

_contact_changes = prepared(contact_changes)
_correction_slopes = prepared(correction_slopes)


class Corrections(NamedTuple):
    """The k rows that enter the position correction, and their derivatives."""

    numbers: np.ndarray  # (k,) indices of the rows in the step
    wanted: np.ndarray  # (k,) intended rate of each row
    two_sided: np.ndarray  # (k,) whether impulses of both signs are possible
    by_q: np.ndarray  # (k, nv) derivative of (intended rate - J w) by q
    by_velocity: np.ndarray  # (k, nv)
    softening: np.ndarray  # (k, nv) derivative of the compliance by q


def joined(found: list[Corrections]) -> Corrections:
    """Concatenate the rows of several `Corrections`."""
    return Corrections(*(np.concatenate(parts) for parts in zip(*found)))


def find_impulses(
    found: Corrections, J: np.ndarray, compliance: np.ndarray, mass: np.ndarray
) -> np.ndarray:
    """Solve for the impulses l (k,) of the position correction.

    Rows with an impulse reach their intended rate `found.wanted` = J w + S l, where w = M^-1 J^T l.
    One-sided rows have l >= 0. The impulses minimise |C l - y|^2, where C^T C = J M^-1 J^T + S and
    C^T y is the intended rate.

    Args:
        found: the k rows, of which `wanted` and `two_sided` are read.
        J: Jacobian of the rows (k, nv).
        compliance: diagonal of S (k,).
        mass: M (nv, nv).

    Returns:
        The impulses l (k,).
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
    """Return the `Corrections` of the rows that enter the position correction.

    Args:
        rows: all ROW records of the step.
        numbers: numbers of the candidate rows (k,).
        takes_part: whether each candidate enters the correction (k,).
        two_sided: whether impulses of both signs are possible (k,).
        changes: `by_q`, `by_velocity` and `softening` of the candidates (k, nv).
    """
    at = np.flatnonzero(takes_part)
    velocities = rows["correction_velocity"][numbers[at]]
    return Corrections(numbers[at], velocities, two_sided[at], *(of[at] for of in changes))


def slopes_of(step: TakenStep, first: int) -> np.ndarray:
    """Return the derivative of each row's correction rate with respect to its gap or error [1/s].

    The result has one entry for each row (rows,). first: number of the first joint row.
    """
    slopes = np.empty(len(step.rows))
    _correction_slopes(step.reference, step.room, first, slopes)
    return slopes


def of_contacts(step: TakenStep, slopes: np.ndarray) -> Corrections:
    """Return the normal rows of contacts that may be active in the position correction.

    slopes: derivatives from `slopes_of` (rows,) [1/s].
    """
    w, count = step.room.whole, len(step.contacts)
    turned, gaps = np.empty((2, count, len(w.velocity)))
    _contact_changes(step.reference, step.room, step.coordinates, w.correction, turned, gaps)
    by_q, all_of = slopes[: 3 * count : 3, None] * gaps - turned, np.ones(count, dtype=bool)
    numbers, none = 3 * np.arange(count), np.zeros_like(by_q)
    return taking_part(step.rows, numbers, all_of, ~all_of, by_q, none, w.softening[:count])


def of_joints(
    step: TakenStep, slopes: np.ndarray, first: int, jacobians: np.ndarray
) -> Corrections:
    """Return the joint rows that may be active in the position correction.

    Args:
        step: the step.
        slopes: derivatives from `slopes_of` (rows,) [1/s].
        first: number of the first joint row.
        jacobians: J of all rows (rows, nv).
    """
    rows = step.rows[first:]
    takes_part = (rows["kind"] != VELOCITY_LIMIT) & (rows["kind"] != JOINT_FRICTION)
    takes_part &= (rows["compliance"] == 0.0) & (np.abs(rows["impulse"]) < rows["upper"])
    by_q, numbers = slopes[first:, None] * jacobians[first:], first + np.arange(len(rows))
    none = np.zeros_like(by_q)
    return taking_part(step.rows, numbers, takes_part, rows["lower"] != 0.0, by_q, none, none)
