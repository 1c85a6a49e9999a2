# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records that all stages of a step use: settings, counts, results, failures, wrenches."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array
from hrpsim.engine.constraints.contact_rows import CONTACT_PARAMETERS
from hrpsim.engine.constraints.joint_rows import JOINT_ROW_COUNT
from hrpsim.engine.step.scene.features import FEATURES

# Number of past accelerations that are stored.
MEMORY = 3

# Extent of a solution of the rows: complete; one attempt per island; the rest after these attempts.
WHOLE, FIRST_ATTEMPTS, REMAINDER = range(3)

SETTINGS = np.dtype(
    [
        ("time_step", "f8"),  # [s]
        ("gravity", "f8", (3,)),  # [m/s^2]
        # properties of the integrator (hrpsim.engine.step.scene.integrators)
        ("integrator", "i8"),
        ("order", "i8"),
        ("staged", "i8"),  # whether a step computes its forces several times
        ("horizon", "f8"),  # time over which springs and gains are implicit [s]; 0: explicit
        ("damping", "i8"),  # rule of springs, dampers and gains over the horizon
        ("as_mujoco", "i8"),  # whether floating trees turn by MuJoCo's rule
        ("drift", "f8"),  # time from the start of a step to where its forces act [s]
        ("lead", "f8"),  # time from `drift` to the middle of the step, for compliant rows [s]
        ("sweep_limit", "i8"),
        ("cold_sweep_limit", "i8"),  # maximum number of sweeps with new contacts
        ("tolerance", "f8"),  # largest change of a row's velocity in the last sweep [m/s]
        ("relative_tolerance", "f8"),  # change of all impulses in the last sweep; 0: unused
        ("contact_margin", "f8"),  # largest gap of a contact point [m]
        ("skin", "f8"),  # distance shapes may move before pairs are listed again [m]
        ("projection", "i8"),  # whether the errors of rigid connections are projected to 0
        ("continuous", "i8"),  # whether continuous collision detection is on
        ("audit", "i8"),  # whether the energy of each step is audited
        *CONTACT_PARAMETERS,
        ("rest_steps", "i8"),  # number of steps at rest before a free body may sleep; 0: never
        *FEATURES,
    ]
)

# results of the last step for users (hrpsim.world.parts.results.StepStats)
STEP_STATS = np.dtype(
    [
        ("sweeps", "i8"),
        ("residual", "f8"),  # [m/s]
        ("converged", "i8"),  # whether the sweeps converged
        ("worst_row", "i8"),  # the row with the largest residual, if it was computed
        ("direct_rows", "i8"),  # rows for the direct solver
        ("split_rows", "i8"),
        ("factorisations", "i8"),
        ("fell_back", "i8"),  # whether the iteration replaced the direct solver
        ("direct_work", "i8"),  # multiplications of the direct solver
        ("newton_islands", "i8"),  # islands solved by Newton's method
        ("newton_factorisations", "i8"),
        ("handed_over", "i8"),  # islands that another solver than the chosen one solved
        ("asleep", "i8"),  # free bodies that sleep
        ("impact_rounds", "i8"),  # rounds in which impacts with restitution were solved
        ("impacts_lowered", "i8"),  # rounds with less restitution, to avoid an energy gain
        ("impacts_left", "i8"),  # gaps that still closed after the maximum number of rounds
        ("ccd_queries", "i8"),  # searches for the time of impact of a pair
        ("impacts_cut", "i8"),  # searches that stopped at a limit, since the last reset
    ]
)

# number of used entries of the arrays in a step
COUNTS = np.dtype(
    [
        ("contact_count", "i8"),
        ("new_count", "i8"),  # contacts that the last step did not have
        ("previous_count", "i8"),
        ("born_count", "i8"),  # contacts that were new in any step before
        ("row_count", "i8"),
        ("connection_rows", "i8"),
        ("turning_rows", "i8"),  # rows against spin and rolling of contacts, after all others
        ("moment_count", "i8"),  # contacts of the last step with `turning_rows`
        ("newton_rows", "i8"),  # rows for Newton's method
        ("constrained_count", "i8"),
        ("island_count", "i8"),
        ("direct_island", "i8"),  # island with direct and split rows; -1: none
        ("wrench_count", "i8"),
        ("friction_revisions", "i8"),  # number of repeated solutions with other frictions
    ]
)

# results of the contact search; a step that fails does not restore them
SEARCH = np.dtype(
    [
        ("candidate_count", "i8"),  # -1: no list of candidate pairs yet
        ("calm", "i8"),  # whether no shape is fast, or far from its pose at the last listing
        ("found_count", "i8"),  # contacts that the last step found, complete or not
    ]
)

# cause of a failed step
FAILURE = np.dtype(
    [
        ("needed", "i8"),  # required capacity, or the body that failed
        ("kind", "i8"),  # kind of the row that failed; -1: none
        ("source", "i8"),  # source of the row as in ROW, or the first shape of a contact
        ("other", "i8"),  # second shape of a contact
        ("stiffness", "f8"),  # largest (k dt^2 + 2 c dt) / m of new penalty contacts
        ("load", "f8"),  # xx + yy + zz that connections add to a body's inertia [kg m^2]
        ("contact_stiffness", "f8"),  # stiffness of the penalty contact that failed [N/m]
        ("due", "i8"),  # status of the last step that requires an action before the next one
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


class Start(NamedTuple):
    """The saved start of a step, restored if the step fails."""

    q: np.ndarray = array("positions at the start of the step", "f8", Axis.POSITION)
    velocity: np.ndarray = array("velocities at the start of the step", "f8", Axis.DOF)
    step_stats: np.ndarray = array("results of the last step", STEP_STATS, 1)
    counts: np.ndarray = array("counts of the last step", COUNTS, 1)
    joint_impact_impulses: np.ndarray = array(
        "`joint_impact_impulses` at the start of the step", "f8", Axis.DOF, JOINT_ROW_COUNT
    )
