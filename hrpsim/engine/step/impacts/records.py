# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of impacts."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array, state

IMPACT_STATE = np.dtype(
    [
        ("had_impacts", "i8"),  # whether the step began with impacts
        ("had_before", "i8"),  # whether the last step began with impacts
        ("wider_searches", "i8"),  # number of contact searches at a larger distance
        ("updates", "i8"),  # of contacts and rows, in all passes of a step
    ]
)

# per body: effect of the impacts at the start of the step
IMPACT_BODY = np.dtype(
    [
        ("wrench", "f8", (6,)),  # impulse [Nms and Ns]
        ("motion", "f8", (6,)),  # change of the twist [rad/s and m/s]
    ]
)

# per body: lists of a free ball, each ended by -1
BALL = np.dtype(
    [
        ("first_contact", "i8"),  # normal row of the ball's first contact
        ("next_ball", "i8"),  # next ball of the island
        ("next_struck", "i8"),  # next ball in the present impact
        ("struck", "i8"),  # whether the ball is in the present impact
        ("next_impact", "f8"),  # time of the next event of the ball's contacts [s]
    ]
)


class Impacts(NamedTuple):
    """State of the impacts of a step."""

    state: np.ndarray = state("counts of impacts", IMPACT_STATE, 1)
    bodies: np.ndarray = array("impacts of each body", IMPACT_BODY, Axis.BODY)
    balls: np.ndarray = array("contacts of each ball", BALL, Axis.BODY)
