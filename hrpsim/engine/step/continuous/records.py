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
        ("start_force", "i8"),  # whether any body takes its forces at the start of the step
    ]
)

# per body; of a tree in its root, where nothing else is said
CONTINUOUS_BODY = np.dtype(
    [
        ("start_force", "i8"),  # of any body: whether it takes its forces at the start of a step
        ("timed", "i8"),  # whether impacts on a body that is alone happen at their times; 2: did so
        ("earliest", "f8"),  # fraction of the step after which it meets any
        ("cluster", "i8"),  # of any body: that its tree stands still with; -1: the world
        ("since", "f8"),  # the same: since when [s]
        ("stopped", "i8"),  # the same: whether it stands still
    ]
)


class Continuous(NamedTuple):
    """State of continuous collision detection."""

    state: np.ndarray = state("counts of the search for what passes", CONTINUOUS_STATE, 1)
    bodies: np.ndarray = array("each body: how it meets others", CONTINUOUS_BODY, Axis.BODY)
    q_swept: np.ndarray = array(
        "start of the motion that is checked for impacts", "f8", Axis.POSITION
    )
    q_carried: np.ndarray = array("where it ends, or where it has come to", "f8", Axis.POSITION)
    carried: np.ndarray = array("its velocity", "f8", Axis.DOF)
