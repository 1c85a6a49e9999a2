# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The order of solvers for an island: the first one, and the successors if it fails.

`MOTION` is the order for velocities and forces, and `POSITIONS` for position corrections. Islands
that converge in a few sweeps, as most standing or walking robots, make one attempt. `solver_table`
lists the rows that solvers accept.
"""

from __future__ import annotations

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Island, Scene
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.constraints.solver_table import NEWTON
from hrpsim.engine.solvers.projected_gauss_seidel import FEW_SWEEPS
from hrpsim.engine.step.rows.attempts import Attempt, Task, always, order_of
from hrpsim.engine.step.rows.direct_island import (
    is_direct_island,
    solve_all_rows_directly,
    solve_all_rows_directly_again,
    solve_chosen_rows_directly,
    solve_positions_directly,
)
from hrpsim.engine.step.rows.newton_island import (
    AFTER_ALL_SWEEPS,
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
def _when(s: Scene, k: Index) -> int:
    """Return when an island goes to Newton's method."""
    return goes_to_newton(s.settings[0], s.forest, s.constrained, s.rows, s.islands.ranges[k])


@inlined_kernel
def _takes_newton(s: Scene, k: Index, task: Task) -> bool:
    """Return whether Newton's method may solve an island."""
    return _when(s, k) != NOT_AT_ALL


@inlined_kernel
def _is_lone(s: Scene, k: Index, task: Task) -> bool:
    """Return whether an island is a lone robot: sweeps are cheap, and usually converge."""
    return _when(s, k) == AFTER_ALL_SWEEPS


@inlined_kernel
def _may_sweep_on(s: Scene, k: Index, task: Task) -> bool:
    """Return whether more than a few sweeps are allowed, and with them other solvers."""
    return task.sweep_limit >= FEW_SWEEPS


@inlined_kernel
def _is_dense(s: Scene, k: Index, task: Task) -> bool:
    """Return whether bodies push each other, and other solvers than sweeps are allowed."""
    return _may_sweep_on(s, k, task) and _when(s, k) == SOON


@inlined_kernel
def _was_solved_directly(s: Scene, k: Index, task: Task) -> bool:
    """Return whether the direct solver solved all rows of an island in the last step."""
    directly = s.islands.ranges[k].memory.state == DIRECT_FIRST
    return directly and _may_sweep_on(s, k, task) and _takes_newton(s, k, task)


@inlined_kernel
def _was_solved_by_newton(s: Scene, k: Index, task: Task) -> bool:
    """Return whether sweeps would stall again, or end a tolerance off the solution."""
    by_newton = begins_by_newton(s.islands.ranges[k].memory)
    return by_newton and _may_sweep_on(s, k, task) and _takes_newton(s, k, task)


@inlined_kernel
def _was_solved_at_rest(s: Scene, k: Index, task: Task) -> bool:
    """Return whether Newton's method solved a lone robot that nearly rests."""
    at_rest = s.islands.ranges[k].memory.state == NEWTON_AT_REST
    return at_rest and _was_solved_by_newton(s, k, task)


@inlined_kernel
def _is_lone_loop(s: Scene, k: Index, task: Task) -> bool:
    """Return whether Newton's method solved a lone robot with closed loops."""
    is_direct = is_direct_island(s, k, task)
    return is_direct and _was_solved_by_newton(s, k, task) and _is_lone(s, k, task)


@inlined_kernel
def _asks_for_newton(s: Scene, k: Index, task: Task) -> bool:
    """Return whether Newton's method was chosen for a row; most worlds choose it for none."""
    return s.counts[0].newton_rows > 0 and _has_choice(s.rows, s.islands.ranges[k], NEWTON)


@inner_kernel
def _has_choice(rows: Rows, island: Island, solver: int) -> bool:
    """Return whether a solver was chosen for a row of an island."""
    found = False
    for k in range(island.first, island.end):
        found = found or rows.rows[rows.island_rows[k]].choice == solver
    return found


@inlined_kernel
def _newton_is_chosen(s: Scene, k: Index, task: Task) -> bool:
    """Return whether Newton's method was chosen for a row, and may solve the island."""
    return _asks_for_newton(s, k, task) and _takes_newton(s, k, task)


# The first attempts: the first one that suits the island is made.
_AT_LAST = "first sweeps", "few sweeps"
FIRST = ("direct again", "newton before direct", "direct, chosen", "newton, chosen")
FIRST += ("sweeps at rest", "newton again", *_AT_LAST)

MOTION = {
    "direct again": Attempt(
        solve_all_rows_directly_again,
        "The direct solver solved the island in the last step, and Newton's method did not.",
        when=_was_solved_directly,
        next=("direct, chosen", "newton, chosen", *_AT_LAST),
        helps=always,
    ),
    "newton before direct": Attempt(
        precede_direct_solver,
        "The direct solver's rounds did not end in the last steps.",
        when=_is_lone_loop,
        next=("direct, chosen",),
        helps=always,
    ),
    "direct, chosen": Attempt(
        solve_chosen_rows_directly,
        "Rows of the island are for the direct solver.",
        when=is_direct_island,
        next=("newton after direct",),
    ),
    "newton after direct": Attempt(
        follow_direct_solver,
        "Rounds of the direct solver do not end where contacts change between sticking and "
        "slipping, or where swept contacts jam a closed loop.",
        when=_takes_newton,
        next=("direct",),
        helps=always,
    ),
    "newton, chosen": Attempt(
        start_by_newton_as_chosen,
        "Newton's method was chosen for rows of the island.",
        when=_newton_is_chosen,
        next=("direct",),
        if_too_large=(),
        goes_on=_is_lone,
    ),
    "sweeps at rest": Attempt(
        sweep_at_rest,
        "One or two sweeps solve a robot that rests, unless they change too much.",
        when=_was_solved_at_rest,
        next=("newton again",),
    ),
    "newton again": Attempt(
        start_by_newton,
        "Sweeps would stall, as in the last steps.",
        when=_was_solved_by_newton,
        next=("direct",),
        if_too_large=("first sweeps",),
        goes_on=_is_lone,
    ),
    "first sweeps": Attempt(
        sweep_as_long_as_newton,
        "Over a lone robot a factorisation costs as much as a few sweeps, which suffice as a rule.",
        when=_may_sweep_on,
        next=("newton, briefly", "few sweeps"),
        if_too_large=("few sweeps",),
        helps=_asks_for_newton,
        is_trial=True,
    ),
    "newton, briefly": Attempt(
        continue_briefly_by_newton,
        "One or two factorisations suffice as a rule.",
        when=_is_lone,
        next=("all sweeps",),
    ),
    "few sweeps": Attempt(
        sweep_few_times,
        "Sweeps stall where bodies push each other. Some rules and laws are for sweeps alone.",
        next=("newton, early", "all sweeps"),
        helps=_asks_for_newton,
    ),
    "newton, early": Attempt(
        continue_by_newton,
        "Sweeps stall where bodies push each other.",
        when=_is_dense,
        next=("direct",),
        if_too_large=("all sweeps",),
    ),
    "all sweeps": Attempt(
        sweep_to_limit,
        "Sweeps over a lone robot are cheap. In a dense island Newton's method takes too long.",
        when=_may_sweep_on,
        next=("newton, late",),
        helps=_asks_for_newton,
    ),
    "newton, late": Attempt(
        start_again_by_newton,
        "Sweeps that stall leave the left foot other impulses than the right one.",
        when=_is_lone,
        next=("direct",),
        if_too_large=(),
    ),
    "direct": Attempt(
        solve_all_rows_directly,
        "No penalty of Newton's method is large enough in a jammed loop, or where a body carries "
        "1e9 times its own mass: the scaled problem has an eigenvalue of 4e-10. The direct solver "
        "needs no penalty.",
        helps=always,
    ),
}


POSITIONS = {
    "direct": Attempt(
        solve_positions_directly,
        "Rows of the island are for the direct solver.",
        when=is_direct_island,
    ),
    "sweeps": Attempt(
        sweep_positions, "A few sweeps suffice: later steps correct the remaining errors."
    ),
}

_first_attempt, _second_attempt, _attempt = order_of(MOTION, FIRST)
_first_correction, _, _correct = order_of(POSITIONS, tuple(POSITIONS))


@inlined_kernel
def solve_island(s: Scene, k: Index, extent: int) -> int:
    """Solve island `k`; count the island if a solver other than the chosen one solved it.

    `extent` is WHOLE, FIRST_ATTEMPTS, or REMAINDER after the first attempts.

    Returns:
        DONE, or the status that names the missing capacity.
    """
    island, settings = s.islands.ranges[k], s.settings[0]
    task = Task(extent, allowed_sweeps(island, settings), settings.tolerance)
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
        DONE, or the status that names the missing capacity.
    """
    settings = s.settings[0]
    task = Task(WHOLE, settings.sweep_limit, settings.tolerance)
    return _correct(_first_correction(s, k, task), s, k, task)
