# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order of solvers for an island: the first solver, and the next ones after a failure.

`MOTION` is the order for velocities and forces, `POSITIONS` the order for position corrections.
Most islands, such as a standing or walking robot, converge in a few sweeps and need only one
attempt. `solver_table` lists the rows that each solver accepts.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Island, Scene
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.constraints.solver_table import NEWTON
from hrpsim.engine.solvers.projected_gauss_seidel import FEW_SWEEPS
from hrpsim.engine.step.rows.attempts import (
    ALWAYS,
    ASKS_FOR_NEWTON,
    IS_DENSE,
    IS_DIRECT,
    IS_LONE,
    MAY_SWEEP_ON,
    TAKES_NEWTON,
    WAS_AT_REST,
    WAS_DIRECT,
    WAS_NEWTON,
    Attempt,
    SolverTask,
    order_of,
)
from hrpsim.engine.step.rows.direct_island import (
    is_direct_island,
    solve_all_rows_directly,
    solve_all_rows_directly_again,
    solve_chosen_rows_directly,
    solve_positions_directly,
)
from hrpsim.engine.step.rows.newton_island import (
    NOT_AT_ALL,
    SOON,
    continue_briefly_by_newton,
    continue_by_newton,
    follow_direct_solver,
    goes_to_newton,
    precede_direct_solver,
    start_again_by_newton,
    start_by_newton,
    start_by_newton_as_chosen,
)
from hrpsim.engine.step.rows.row_sweeps import (
    sweep_as_long_as_newton,
    sweep_at_rest,
    sweep_few_times,
    sweep_positions,
    sweep_to_limit,
)
from hrpsim.engine.step.rows.solver_memory import (
    DIRECT_FIRST,
    NEWTON_AT_REST,
    begins_by_newton,
    recall_memory,
)
from hrpsim.engine.step.scene.islands import allowed_sweeps
from hrpsim.engine.step.scene.records import REMAINDER, WHOLE
from hrpsim.engine.step.scene.status import DONE


@inlined_kernel
def _conditions(s: Scene, k: Index, task: SolverTask) -> int:
    """Return the conditions that an island meets, without those that need every row."""
    state, met = s.islands.ranges[k].memory.state, is_direct_island(s, k, task)
    if task.sweep_limit >= FEW_SWEEPS:
        met |= MAY_SWEEP_ON
    if s.counts[0].newton_rows > 0 and _has_choice(s.rows, s.islands.ranges[k], NEWTON):
        met |= ASKS_FOR_NEWTON
    if state == DIRECT_FIRST:
        met |= WAS_DIRECT
    if begins_by_newton(s.islands.ranges[k].memory):
        met |= WAS_NEWTON
    return met | WAS_AT_REST if state == NEWTON_AT_REST else met


@inlined_kernel
def _conditions_by_rows(s: Scene, k: Index) -> int:
    """Return the conditions on Newton's method that an island meets. They need every row."""
    when = goes_to_newton(s.settings[0], s.forest, s.constrained, s.rows, s.islands.ranges[k])
    if when == NOT_AT_ALL:
        return 0
    return TAKES_NEWTON | (IS_DENSE if when == SOON else IS_LONE)


@inner_kernel
def _has_choice(rows: Rows, island: Island, solver: int) -> bool:
    """Return whether a solver was chosen for any row of an island."""
    result = False
    for k in range(island.first, island.end):
        result = result or rows.rows[rows.island_rows[k]].choice == solver
    return result


_CONTINUES_BY_NEWTON = WAS_NEWTON | MAY_SWEEP_ON | TAKES_NEWTON

# The first attempts: the first one whose conditions are met is made.
_AT_LAST = "first sweeps", "few sweeps"
FIRST = ("direct again", "newton before direct", "direct, chosen", "newton, chosen")
FIRST += ("sweeps at rest", "newton again", *_AT_LAST)

MOTION = {
    "direct again": Attempt(
        solve_all_rows_directly_again,
        "The direct solver solved the island in the last step, and Newton's method did not.",
        when=WAS_DIRECT | MAY_SWEEP_ON | TAKES_NEWTON,
        next=("direct, chosen", "newton, chosen", *_AT_LAST),
        helps=ALWAYS,
    ),
    "newton before direct": Attempt(
        precede_direct_solver,
        "The direct solver's rounds did not end in the last steps.",
        when=IS_DIRECT | _CONTINUES_BY_NEWTON | IS_LONE,
        next=("direct, chosen",),
        helps=ALWAYS,
    ),
    "direct, chosen": Attempt(
        solve_chosen_rows_directly,
        "Rows of the island are for the direct solver.",
        when=IS_DIRECT,
        next=("newton after direct",),
    ),
    "newton after direct": Attempt(
        follow_direct_solver,
        "Rounds of the direct solver do not end where contacts change between sticking and "
        "slipping, or where swept contacts jam a closed loop.",
        when=TAKES_NEWTON,
        next=("direct",),
        helps=ALWAYS,
    ),
    "newton, chosen": Attempt(
        start_by_newton_as_chosen,
        "Newton's method was chosen for rows of the island.",
        when=ASKS_FOR_NEWTON | TAKES_NEWTON,
        next=("direct",),
        if_too_large=(),
        goes_on=IS_LONE,
    ),
    "sweeps at rest": Attempt(
        sweep_at_rest,
        "One or two sweeps solve a robot that rests, unless they change too much.",
        when=WAS_AT_REST | _CONTINUES_BY_NEWTON,
        next=("newton again",),
    ),
    "newton again": Attempt(
        start_by_newton,
        "Sweeps would stall, as in the last steps.",
        when=_CONTINUES_BY_NEWTON,
        next=("direct",),
        if_too_large=("first sweeps",),
        goes_on=IS_LONE,
    ),
    "first sweeps": Attempt(
        sweep_as_long_as_newton,
        "Over a lone robot a factorisation costs as much as a few sweeps, which suffice as a rule.",
        when=MAY_SWEEP_ON,
        next=("newton, briefly", "few sweeps"),
        if_too_large=("few sweeps",),
        helps=ASKS_FOR_NEWTON,
        is_trial=True,
    ),
    "newton, briefly": Attempt(
        continue_briefly_by_newton,
        "One or two factorisations suffice as a rule.",
        when=IS_LONE,
        next=("all sweeps",),
    ),
    "few sweeps": Attempt(
        sweep_few_times,
        "Sweeps stall where bodies push each other. Some rules and laws are for sweeps alone.",
        next=("newton, early", "all sweeps"),
        helps=ASKS_FOR_NEWTON,
    ),
    "newton, early": Attempt(
        continue_by_newton,
        "Sweeps stall where bodies push each other.",
        when=MAY_SWEEP_ON | IS_DENSE,
        next=("direct",),
        if_too_large=("all sweeps",),
    ),
    "all sweeps": Attempt(
        sweep_to_limit,
        "Sweeps over a lone robot are cheap. In a dense island Newton's method takes too long.",
        when=MAY_SWEEP_ON,
        next=("newton, late",),
        helps=ASKS_FOR_NEWTON,
    ),
    "newton, late": Attempt(
        start_again_by_newton,
        "Sweeps that stall leave the left foot other impulses than the right one.",
        when=IS_LONE,
        next=("direct",),
        if_too_large=(),
    ),
    "direct": Attempt(
        solve_all_rows_directly,
        "No penalty of Newton's method is large enough in a jammed loop, or where a body carries "
        "1e9 times its own mass: the scaled problem has an eigenvalue of 4e-10. The direct solver "
        "needs no penalty.",
        helps=ALWAYS,
    ),
}


POSITIONS = {
    "direct": Attempt(
        solve_positions_directly, "Rows of the island are for the direct solver.", when=IS_DIRECT
    ),
    "sweeps": Attempt(
        sweep_positions, "A few sweeps suffice: later steps correct the remaining errors."
    ),
}

_first_attempt, _second_attempt, _attempt = order_of(
    MOTION, FIRST, _conditions, _conditions_by_rows
)
_first_correction, _, _correct = order_of(POSITIONS, tuple(POSITIONS), is_direct_island)


@inlined_kernel
def solve_island(s: Scene, k: Index, extent: int) -> int:
    """Solve island `k`, and count it if the chosen solver failed and another solver succeeded.

    `extent` is WHOLE, FIRST_ATTEMPTS, or REMAINDER after the first attempts.

    Returns:
        DONE, or the status of the array that is too small.
    """
    island, settings = s.islands.ranges[k], s.settings[0]
    task = SolverTask(extent, allowed_sweeps(island, settings), settings.tolerance)
    if extent == REMAINDER:
        if island.converged or task.sweep_limit < FEW_SWEEPS:
            return DONE
        return _attempt(_second_attempt(island.attempt, s, k, task), s, k, task)
    recall_memory(s.collision.contacts, s.rows, island)
    island.converged = island.sweeps = 0
    return _attempt(_first_attempt(s, k, task), s, k, task)


@inlined_kernel
def correct_island(s: Scene, k: Index) -> int:
    """Solve island `k` for the position correction.

    Returns:
        DONE, or the status of the array that is too small.
    """
    settings = s.settings[0]
    task = SolverTask(WHOLE, settings.sweep_limit, settings.tolerance)
    return _correct(_first_correction(s, k, task), s, k, task)
