# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The position correction of a step: which rows hold in it, and with which impulses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from hrpsim.constraints.rows import CONTACT_ROW
from hrpsim.world.linearization.taken_step import TakenStep

# Share of the largest wanted rate within which a row has it: the correction is solved to 1e-3.
_REACHED = 5e-3


class Corrections(NamedTuple):
    """Rows (k,) that may hold in the position correction."""

    numbers: np.ndarray  # (k,) among the rows of the step
    jacobians: np.ndarray  # (k, nv)
    two_sided: np.ndarray  # (k,) whether they hold in any case
    by_q: np.ndarray  # (k, nv) change of the wanted rate less that of J w
    by_velocity: np.ndarray  # (k, nv)


def is_corrected(step: TakenStep) -> bool:
    """Return whether the step has a position correction (displacement.asks_for_displacement)."""
    rows = step.rows
    wanted, is_contact = rows["correction_velocity"], rows["kind"] == CONTACT_ROW
    normal = is_contact & (np.arange(len(rows)) % 3 == 0)
    return bool((wanted[normal] > 0.0).any()) or bool(
        ((wanted > 0.0) | ((wanted != 0.0) & (rows["lower"] < 0.0)))[~is_contact].any()
    )


def candidates(
    step: TakenStep, first: int, stride: int, jacobians, takes_part, two_sided, rate, by_q, by_v
) -> Corrections:
    """Return the rows first, first + stride, ... that take part and may hold at a rate w (nv,)."""
    wanted = step.rows["correction_velocity"]
    numbers = first + stride * np.arange(len(jacobians))
    near = _REACHED * np.abs(wanted).max(initial=0.0)
    reached = jacobians @ rate - wanted[numbers] <= near
    at = np.flatnonzero(takes_part & (two_sided | reached))
    return Corrections(numbers[at], jacobians[at], two_sided[at], by_q[at], by_v[at])


def joined(found: list[Corrections]) -> Corrections:
    """Return all rows together."""
    return Corrections(*(np.concatenate(parts) for parts in zip(*found)))


def find_impulses(found: Corrections, momentum: np.ndarray) -> np.ndarray:
    """Return impulses (k,) with J' l = momentum, not negative where a row is one-sided."""
    J, both = found.jacobians.T, found.two_sided
    solved, _ = nnls(np.concatenate([J, -J[:, both]], axis=1), momentum)
    impulses = solved[: len(both)].copy()
    impulses[both] -= solved[len(both) :]
    return impulses
