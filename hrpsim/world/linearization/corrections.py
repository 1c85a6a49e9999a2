# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The position correction of a step: which rows hold in it, and with which impulses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.world.linearization.taken_step import TakenStep


class Corrections(NamedTuple):
    """Rows (k,) that take part in the position correction."""

    numbers: np.ndarray  # (k,) among the rows of the step
    jacobians: np.ndarray  # (k, nv)
    compliance: np.ndarray  # (k,)
    wanted: np.ndarray  # (k,) rate
    two_sided: np.ndarray  # (k,) whether they hold in any case
    by_q: np.ndarray  # (k, nv) change of the wanted rate less that of J w
    by_velocity: np.ndarray  # (k, nv)
    softening: np.ndarray  # (k, nv) change of the compliance by q


def is_corrected(step: TakenStep) -> bool:
    """Return whether the step has a position correction (displacement.asks_for_displacement)."""
    rows = step.rows
    wanted, is_contact = rows["correction_velocity"], rows["kind"] == CONTACT_ROW
    normal = is_contact & (np.arange(len(rows)) % 3 == 0)
    return bool((wanted[normal] > 0.0).any()) or bool(
        ((wanted > 0.0) | ((wanted != 0.0) & (rows["lower"] < 0.0)))[~is_contact].any()
    )


def joined(found: list[Corrections]) -> Corrections:
    """Return all rows together."""
    return Corrections(*(np.concatenate(parts) for parts in zip(*found)))


def find_impulses(found: Corrections, mass: np.ndarray) -> np.ndarray:
    """Return the impulses l (k,) of the position correction, not negative where one-sided.

    J w + S l is the wanted rate, w = M^-1 J' l, of rows with an impulse: the least of
    |C l - y|^2 with C' C = J M^-1 J' + S and C' y = the wanted rates.
    """
    from scipy.optimize import nnls  # whose import takes longer than that of hrpsim

    both = found.two_sided
    whitened = np.linalg.solve(np.linalg.cholesky(mass), found.jacobians.T)
    C = np.concatenate([whitened, np.diag(np.sqrt(found.compliance))])
    y = np.linalg.lstsq(C.T, found.wanted, rcond=None)[0]
    solved, _ = nnls(np.concatenate([C, -C[:, both]], axis=1), y)
    impulses = solved[: len(both)].copy()
    impulses[both] -= solved[len(both) :]
    return impulses


def taking_part(
    rows: np.ndarray, numbers: np.ndarray, takes_part: np.ndarray, J, two_sided, *changes
):
    """Return the rows of these numbers (k,) that take part; `changes` are the last three fields."""
    at = np.flatnonzero(takes_part)
    own = rows[numbers[at]]
    wanted, changes = own["correction_velocity"], tuple(of[at] for of in changes)
    return Corrections(numbers[at], J[at], own["compliance"], wanted, two_sided[at], *changes)
