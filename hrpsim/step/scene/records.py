# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of a step: settings, counts, wrenches, what it knows of each body."""

from __future__ import annotations

import numpy as np

from hrpsim.constraints.contact_rows import CONTACT_PARAMETERS

# Past accelerations that are kept.
MEMORY = 3

SEMI_IMPLICIT, EULER, RK4 = range(3)

SETTINGS = np.dtype(
    [
        ("time_step", "f8"),  # [s]
        ("gravity", "f8", (3,)),  # [m/s^2]
        ("integrator", "i8"),
        ("sweep_limit", "i8"),
        ("cold_sweep_limit", "i8"),  # of an island with contacts that begin
        ("tolerance", "f8"),  # largest change of a row's velocity in the last sweep [m/s]
        ("relative_tolerance", "f8"),  # of all impulses in the last sweep; 0: that rule is not used
        ("contact_margin", "f8"),  # distance at which contact points are kept [m]
        ("skin", "f8"),  # distance shapes may move before pairs are looked for again [m]
        ("projection", "i8"),  # whether rigid connections are brought back onto their error 0
        ("continuous", "i8"),  # whether fast shapes pass through nothing
        *CONTACT_PARAMETERS,
        ("rest_steps", "i8"),  # how long a loose body is at rest before it may sleep; 0: none does
    ]
)

# what a step counts and measures, and what it leaves for the next
STEP_STATS = np.dtype(
    [
        ("candidate_count", "i8"),  # -1: no list of candidate pairs yet
        ("calm", "i8"),  # whether no shape is fast, nor far from where candidates were listed
        ("contact_count", "i8"),
        ("found_count", "i8"),  # contacts that the last step found, done or not
        ("new_count", "i8"),  # contacts that the last step did not have
        ("previous_count", "i8"),
        ("born_count", "i8"),  # contacts that were new in any step before
        ("row_count", "i8"),
        ("connection_rows", "i8"),
        ("site_count", "i8"),
        ("wrench_count", "i8"),
        ("due", "i8"),  # status that asks for something to be done before the next step
        ("had_impacts", "i8"),  # whether the step began with impacts
        ("impact_rounds", "i8"),  # rounds in which impacts with restitution were solved
        ("looks", "i8"),  # how often contacts were looked for further away, for impacts
        ("passes", "i8"),  # how often the step was begun anew for what would pass through something
        ("passage_count", "i8"),  # contacts that are made for that
        ("flies", "i8"),  # whether shapes say whether they fly
        ("undrifted", "i8"),  # whether any body takes its forces at the start of the step
        ("impact_looks", "i8"),  # how often a pair was looked at for its time of impact
        ("impacts_cut", "i8"),  # searches for one that were cut off, since the last reset
        ("impact_updates", "i8"),  # of contacts and rows, in all passes of a step
        ("impacts_lowered", "i8"),  # rounds with less restitution, as friction would give energy
        ("impacts_left", "i8"),  # gaps that still closed when there were too many rounds
        ("leaks", "i8"),  # whether the momentum of floating trees needs to be kept in this step
        ("corrects_position", "i8"),  # whether work.correction_velocity is to be applied
        ("direct_rows", "i8"),  # for the direct solver
        ("split_rows", "i8"),
        ("island_count", "i8"),
        ("direct_island", "i8"),  # the one with direct and split rows, -1 for none
        ("asleep", "i8"),  # loose bodies that sleep
        ("factorisations", "i8"),
        ("direct_work", "i8"),  # multiplications of the direct solver, in all passes of a step
        ("newton_rows", "i8"),  # that ask for Newton's method
        ("newton_islands", "i8"),  # that it solved
        ("newton_factorisations", "i8"),
        ("handed_over", "i8"),  # islands that another solver than the chosen one solved
        ("fell_back", "i8"),  # whether the direct solver gave its rows to the iteration
        ("sweeps", "i8"),
        ("residual", "f8"),  # [m/s]
        ("worst_row", "i8"),  # the row furthest from its law, if they were looked at
        ("worst_residual", "f8"),  # of the steps of a call that did not converge [m/s]
        ("worst_kind", "i8"),  # of the worst row of all steps of a call; -1: not known
        ("worst_source", "i8"),  # what it belongs to, as in ROW; of a contact, its first shape
        ("worst_other", "i8"),  # of a contact, its second shape
        ("converged", "i8"),  # whether the sweeps came to their end
        ("stiffness", "f8"),  # largest (k dt^2 + 2 c dt) / m of penalty contacts that began
        ("needed", "i8"),  # capacity asked for, or the body at fault, when a step cannot be done
        ("fault_kind", "i8"),  # row that is to blame when a step cannot be done; -1: none
        ("fault_source", "i8"),  # what it belongs to, as in `worst_source`
        ("fault_other", "i8"),
        ("fault_stiffness", "f8"),  # of a penalty contact that is to blame [N/m]
    ]
)

# a force that a user applies
WRENCH = np.dtype(
    [
        ("body", "i8"),
        ("point", "f8", (3,)),  # in the body frame [m]
        ("force", "f8", (3,)),  # in the world [N]
        ("torque", "f8", (3,)),  # in the world, about the point [Nm]
    ]
)

# per body: constraint forces that RK4 holds through its stages, where body and tree origin were
PER_BODY = np.dtype(
    [
        ("constraint_wrench", "f8", (6,)),
        ("p", "f8", (3,)),
        ("origin", "f8", (3,)),
        ("center", "f8", (3,)),  # of mass, at the start of an rk4 step, from the tree's origin [m]
        ("spin", "f8", (3, 3)),  # what the start, middle and end of a step add to its turn [rad]
        ("momentum", "f8", (3,)),  # angular, of a loose body at the start of an rk4 step [Nms]
        ("free_orientation", "f8", (3, 4)),  # at the start, middle, end, did no moment act on it
        ("free_velocity", "f8", (3, 3)),  # angular, in its own axes, then [rad/s]
        ("deviation", "f8", (4, 3)),  # what moments add to its rate, at rk4's stages [rad/s^2]
        ("turns_far", "i8"),  # whether the midpoint rule of spin foretells how a loose body turns
        ("gyroscopic", "f8", (3,)),  # what that adds to its angular acceleration [rad/s^2]
        ("connections", "i8"),  # of a loose body, each to a body that moves counted twice
        ("spin_acceleration", "f8", (3,)),  # all that the gyroscopic torque does to it [rad/s^2]
        ("midpoint_predicted", "i8"),  # whether it turns so in an rk4 step (loose_rotation)
        ("end_rate", "f8", (3,)),  # its angular velocity at the end then [rad/s]
        ("tree_momentum", "f8", (3,)),  # of a floating tree, in its root: expected after the step
        ("fastest", "f8"),  # of its velocities, at both ends of the step
        ("impact_wrench", "f8", (6,)),  # what the impacts at the start of the step did [Ns]
        ("impact_motion", "f8", (6,)),  # [m/s]
        ("undrifted", "i8"),  # whether it takes its forces at the start of a step (drift)
        ("timed", "i8"),  # whether impacts on a body that is alone happen at their times; 2: did so
        ("first_contact", "i8"),  # of a free ball that may be struck, as a row; -1 ends such lists
        ("next_ball", "i8"),  # of those of its island
        ("next_struck", "i8"),  # of those that an impact concerns
        ("struck", "i8"),  # whether it is one of these
        ("next_impact", "f8"),  # when one of its contacts strikes or comes to rest next [s]
        ("earliest", "f8"),  # of a tree, in its root: fraction of the step after which it meets any
        ("cluster", "i8"),  # of a body: with whom its tree it stands still; -1: with the world
        ("since", "f8"),  # the same: since when it does [s]
        ("stopped", "i8"),  # the same: whether it does
        (
            "geometric_stiffness",
            "f8",
            (6,),
        ),  # inertia that loaded connections add: xx, yy, zz, xy, xz, yz
    ]
)
