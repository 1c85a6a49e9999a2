# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Legs as kernels read them, whether their inverse has a closed form or is searched for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.control.motion.leg_kinematics import JOINT_COUNT, LEG, LegKinematics, solve_leg
from hrpsim.control.motion.numerical_leg import SEARCH, NumericalLeg, search_leg
from hrpsim.jit.compiled import inlined_kernel
from hrpsim.kinematics.chain_inverse import CHAIN_WORK, LINK


class Legs(NamedTuple):
    """The legs of a robot, n of them; of the last four only those of the leg's kind count."""

    closed: np.ndarray  # (n,) whether the inverse has a closed form
    forms: np.ndarray  # (n,) LEG
    searches: np.ndarray  # (n,) SEARCH
    links: np.ndarray  # (n, 7) LINK
    work: np.ndarray  # (n,) CHAIN_WORK


def legs_of(legs: Sequence[LegKinematics | NumericalLeg]) -> Legs:
    """Return the records of some legs, in arrays of their own."""
    n = len(legs)
    made = Legs(
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=LEG),
        np.zeros(n, dtype=SEARCH),
        np.zeros((n, JOINT_COUNT + 1), dtype=LINK),
        np.zeros(n, dtype=CHAIN_WORK),
    )
    for k, leg in enumerate(legs):
        if isinstance(leg, LegKinematics):
            made.closed[k], made.forms[k] = 1, leg.record[0]
        else:
            made.searches[k], made.links[k] = leg.search[0], leg.links
    return made


@inlined_kernel
def place_foot(legs, k, target, angles_out):
    """Write the angles (6,) of leg `k` with its foot at `target`, or as near as it comes.

    target: a LINK record in the waist's frame.
    """
    if legs.closed[k] != 0:
        solve_leg(legs.forms[k], target, angles_out)
    else:
        search_leg(legs.links[k], legs.searches[k], target, legs.work[k], angles_out)
