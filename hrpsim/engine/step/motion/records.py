# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of integration: free bodies at midpoints, stages of rk4, momenta of trees."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, Life, array, state
from hrpsim.engine.dynamics.tree_momentum import SUBTREE

# per body: rotation of a single free body
SPIN = np.dtype(
    [
        ("turns_far", "i8"),  # whether the rotation is too large for the stages of rk4
        ("connections", "i8"),  # number of connections; one to a moving body counts twice
        ("ahead", "f8"),  # predicted duration of the moments before the middle of a step [s]
    ]
)

# per body: constraint wrench for all stages, with the origins of body and tree at its time
HELD_FORCE = np.dtype(
    [
        ("wrench", "f8", (6,)),
        ("p", "f8", (3,)),
        ("origin", "f8", (3,)),
        ("change", "f8", (3, 6)),  # at the start, middle and end of the step [Nm, N]
        ("energy", "f8"),  # kinetic energy at the start, if the body rolls; else inf [J]
    ]
)

# per body: a free body in an rk4 step (.free_rotation)
FREE_TURN = np.dtype(
    [
        ("momentum", "f8", (3,)),  # angular momentum at the start of the step [Nms]
        ("free_orientation", "f8", (3, 4)),  # without moments, at the start, middle and end
        ("free_velocity", "f8", (3, 3)),  # its angular velocity, in the axes of the body [rad/s]
        ("deviation", "f8", (4, 3)),  # rate of d (.free_rotation) at the stages [rad/s^2]
        ("predicted", "i8"),  # whether the rotation is predicted (.free_rotation)
        ("end_rate", "f8", (3,)),  # predicted angular velocity after the moments [rad/s]
    ]
)

# per body: motion for the slip of contact points in an rk4 step (.stick_drift)
BODY_SLIP = np.dtype(
    [
        ("center", "f8", (3,)),  # centre of mass at the start, from the origin of the tree [m]
        ("spin", "f8", (3, 3)),  # parts of the rotation at the start, middle and end [rad]
    ]
)

# per body: momentum of a floating tree, at its root
TREE_MOMENTUM = np.dtype(
    [
        ("momentum", "f8", (3,)),  # linear momentum after the last step [Ns]
        ("is_known", "i8"),  # whether `momentum` belongs to the present state
        ("expected", "f8", (3,)),  # linear momentum after this step [Ns]
        ("moves", "i8"),  # whether the tree is not at rest at the start or the end of the step
    ]
)


class Rk4(NamedTuple):
    """State of an rk4 step. The records of bodies are empty in worlds without rk4."""

    q_start: np.ndarray = array(
        "positions at the start of the step, after impacts", "f8", Axis.POSITION
    )
    rate: np.ndarray = array("rates of positions at the stages", "f8", 4, Axis.POSITION)
    acceleration: np.ndarray = array("accelerations at the stages", "f8", 4, Axis.DOF)
    held: np.ndarray = array("constraint forces of each body", HELD_FORCE, Axis.RK4_BODY)
    turns: np.ndarray = array("rotation of each body", FREE_TURN, Axis.RK4_BODY, life=Life.CACHE)
    slips: np.ndarray = array("slip of the contacts of each body", BODY_SLIP, Axis.RK4_BODY)


class Momentum(NamedTuple):
    """Linear momenta of floating trees."""

    trees: np.ndarray = state(
        "momentum of each tree, at the root",
        TREE_MOMENTUM,
        Axis.BODY,
        carries=("momentum", "is_known"),
    )
    subtrees: np.ndarray = array("masses and moments of subtrees", SUBTREE, Axis.BODY)
