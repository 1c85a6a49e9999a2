# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of impacts."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array, state

IMPACT_STATE = np.dtype(
    [
        ("had_impacts", "i8"),  # whether the step began with impacts
        ("had_before", "i8"),  # whether the one before did
        ("wider_searches", "i8"),  # how often contacts were searched further away
        ("updates", "i8"),  # of contacts and rows, in all passes of a step
    ]
)

# per body: what the impacts at the start of the step did
IMPACT_BODY = np.dtype(
    [
        ("wrench", "f8", (6,)),  # [Nms and Ns]
        ("motion", "f8", (6,)),  # [rad/s and m/s]
    ]
)

# per body: a free ball that may be struck; -1 ends lists
BALL = np.dtype(
    [
        ("first_contact", "i8"),  # as a row
        ("next_ball", "i8"),  # of those of its island
        ("next_struck", "i8"),  # of those that an impact concerns
        ("struck", "i8"),  # whether it is one of these
        ("next_impact", "f8"),  # when one of its contacts strikes or comes to rest next [s]
    ]
)


class Impacts(NamedTuple):
    """State of the impacts of a step."""

    state: np.ndarray = state("counts of impacts", IMPACT_STATE, 1)
    bodies: np.ndarray = array("each body: its impacts", IMPACT_BODY, Axis.BODY)
    balls: np.ndarray = array("each body: its contacts as a ball", BALL, Axis.BODY)
