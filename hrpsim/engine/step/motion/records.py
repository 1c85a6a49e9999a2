# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of integration: free bodies at midpoints, stages of rk4, momenta of trees."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, Life, array, state
from hrpsim.engine.dynamics.tree_momentum import SUBTREE

# per body: a free body that turns by itself
SPIN = np.dtype(
    [
        ("turns_far", "i8"),  # whether it does in an rk4 step
        ("connections", "i8"),  # those of the body; one to a body that moves counts twice
        ("ahead", "f8"),  # for how long moments act before the middle of a step, as predicted [s]
    ]
)

# per body: constraint forces held through the stages, where body and tree origin were
HELD_FORCE = np.dtype(
    [
        ("wrench", "f8", (6,)),
        ("p", "f8", (3,)),
        ("origin", "f8", (3,)),
        ("change", "f8", (3, 6)),  # at the start, middle and end of the step [Nm, N]
    ]
)

# per body: a free body in an rk4 step (.free_rotation)
FREE_TURN = np.dtype(
    [
        ("momentum", "f8", (3,)),  # angular, at the start of the step [Nms]
        ("free_orientation", "f8", (3, 4)),  # at the start, middle, end, without moments
        ("free_velocity", "f8", (3, 3)),  # angular, in its own axes, then [rad/s]
        ("deviation", "f8", (4, 3)),  # change of its rate by moments, at the stages [rad/s^2]
        ("predicted", "i8"),  # whether its rotation is (.free_rotation)
        ("end_rate", "f8", (3,)),  # its angular velocity after the moments then [rad/s]
    ]
)

# per body: how its contact points slip in an rk4 step (.stick_drift)
BODY_SLIP = np.dtype(
    [
        ("center", "f8", (3,)),  # of mass, at the start of the step, from the tree's origin [m]
        ("spin", "f8", (3, 3)),  # rotation by the start, middle and end of a step [rad]
    ]
)

# per body: a floating tree, in its root
TREE_MOMENTUM = np.dtype(
    [
        ("momentum", "f8", (3,)),  # linear, after a step [Ns]
        ("is_known", "i8"),  # whether it is that of the present state
        ("expected", "f8", (3,)),  # after this step [Ns]
        ("moves", "i8"),  # whether it is not at rest, at either end of the step
    ]
)


class Rk4(NamedTuple):
    """State of an rk4 step. The records of bodies are empty in worlds without rk4."""

    q_start: np.ndarray = array("where a step starts after its impacts", "f8", Axis.POSITION)
    rate: np.ndarray = array("of positions, at the stages", "f8", 4, Axis.POSITION)
    acceleration: np.ndarray = array("at the stages", "f8", 4, Axis.DOF)
    held: np.ndarray = array("each body: constraint forces", HELD_FORCE, Axis.RK4_BODY)
    turns: np.ndarray = array("each body: how it turns", FREE_TURN, Axis.RK4_BODY, life=Life.CACHE)
    slips: np.ndarray = array("each body: how its contacts slip", BODY_SLIP, Axis.RK4_BODY)


class Momentum(NamedTuple):
    """Linear momenta of floating trees."""

    trees: np.ndarray = state(
        "each tree, at its root", TREE_MOMENTUM, Axis.BODY, carries=("momentum", "is_known")
    )
    subtrees: np.ndarray = array("masses and moments of subtrees", SUBTREE, Axis.BODY)
