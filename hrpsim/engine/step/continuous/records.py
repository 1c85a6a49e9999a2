# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of continuous collision detection."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array, state

CONTINUOUS_STATE = np.dtype(
    [
        ("passes", "i8"),  # how often the step began again with more speculative contacts
        ("speculative_count", "i8"),  # speculative contacts
        ("ballistic", "i8"),  # whether shapes are marked ballistic or not
        ("start_force", "i8"),  # whether the forces on any body act at the start of the step
    ]
)

# per body; `earliest` and `timed` of a tree are those of its root
CONTINUOUS_BODY = np.dtype(
    [
        ("start_force", "i8"),  # whether the forces on the body act at the start of the step
        ("timed", "i8"),  # 1: impacts on a single body have exact times; 2: one has happened
        ("earliest", "f8"),  # fraction of the step until the tree's first time of impact
        ("cluster", "i8"),  # cluster that the body's tree stops with; -1: the world
        ("since", "f8"),  # time at which the cluster began [s]
        ("stopped", "i8"),  # whether the cluster has stopped
    ]
)


class ContinuousDetection(NamedTuple):
    """State of continuous collision detection."""

    state: np.ndarray = state("counts of continuous collision detection", CONTINUOUS_STATE, 1)
    bodies: np.ndarray = array("time of impact of each body", CONTINUOUS_BODY, Axis.BODY)
    q_swept: np.ndarray = array(
        "start of the motion that is checked for impacts", "f8", Axis.POSITION
    )
    q_carried: np.ndarray = array(
        "positions at the end of the motion, or reached so far", "f8", Axis.POSITION
    )
    carried: np.ndarray = array("velocity of the motion", "f8", Axis.DOF)
