# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The common interface of the solvers of an island, and tables of attempts.

A solver of an island has the signature `solve(s, k, task)`, with the scene, the number of the
island and a `Task`. The solver writes impulses, velocities, and `converged`, `residual` and
`sweeps` of the island. The result is DONE, TOO_LARGE if another solver is faster, or the status of
the array that is too small.

A table has an `Attempt` for each use of a solver. `order_of` makes kernels that try the attempts of
a table in order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

from hrpsim.engine.compile.compiled import Kernel, inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Scene
from hrpsim.engine.step.scene.records import FIRST_ATTEMPTS
from hrpsim.engine.step.scene.status import DONE, TOO_LARGE

_MOST = 14  # maximum number of attempts of a table

# Conditions of an island, as bits. An attempt is made only if all its conditions are met.
ALWAYS = 0
IS_DIRECT = 1 << 0  # has the rows for the direct or the split solver
MAY_SWEEP_ON = 1 << 1  # more than a few sweeps, and other solvers, are allowed
ASKS_FOR_NEWTON = 1 << 2  # Newton's method was chosen for a row
WAS_DIRECT = 1 << 3  # in the last step the direct solver solved all rows
WAS_NEWTON = 1 << 4  # the memory of the island gives Newton's method first
WAS_AT_REST = 1 << 5  # Newton's method solved a lone robot that nearly rests
TAKES_NEWTON = 1 << 6  # Newton's method accepts the island
IS_LONE = 1 << 7  # a lone robot: sweeps are cheap, and usually converge
IS_DENSE = 1 << 8  # bodies push each other
NEVER = 1 << 9
_BY_ROWS = TAKES_NEWTON | IS_LONE | IS_DENSE  # found only if needed: depend on every row


class SolverTask(NamedTuple):
    """A task for the solvers of an island.

    Attributes:
        extent: WHOLE, FIRST_ATTEMPTS or REMAINDER.
        sweep_limit: largest number of sweeps.
        tolerance: accepted error [m/s].
    """

    extent: int
    sweep_limit: int
    tolerance: float


@inlined_kernel
def no_conditions(s: Scene, k: Index) -> int:
    """Return 0. Tables whose attempts have no conditions on the rows use this function."""
    return 0


class Attempt(NamedTuple):
    """One use of a solver, and the attempts that follow it.

    Attributes:
        solve: the solver, a kernel `solve(s, k, task)`.
        why: reason for the attempt.
        when: conditions that an island must meet for the attempt.
        next: names of the attempts after a failure. The first attempt whose conditions are met is
            made. Without such an attempt, the island stays unchanged.
        if_too_large: list to use instead of `next` after TOO_LARGE. None: `next`.
        helps: conditions under which a success of this attempt is reported as a failure of the
            chosen solver.
        goes_on: conditions under which the attempt is made again after the FIRST_ATTEMPTS, which
            have lower limits.
        is_trial: whether the next attempt is also one of the FIRST_ATTEMPTS.
    """

    solve: Kernel
    why: str
    when: int = ALWAYS
    next: tuple[str, ...] = ()
    if_too_large: tuple[str, ...] | None = None
    helps: int = NEVER
    goes_on: int = NEVER
    is_trial: bool = False


class Order(NamedTuple):
    """The kernels of a table. An attempt is an index in the table, and `end` means none.

    Attributes:
        first: `first(s, k, task)` returns the first attempt.
        second: `second(attempt, s, k, task)` returns the attempt after the FIRST_ATTEMPTS.
        run: `run(attempt, s, k, task)` makes attempts until one solves the island. `run` returns
            DONE, or the status of the array that is too small.
    """

    first: Kernel
    second: Kernel
    run: Kernel


def order_of(
    table: dict[str, Attempt],
    first: tuple[str, ...],
    conditions: Kernel,
    conditions_by_rows: Kernel = no_conditions,
) -> Order:
    """Return the kernels of a table.

    Args:
        table: attempts by name.
        first: names of the attempts to begin with, as `next`.
        conditions: `conditions(s, k, task)` returns the conditions that an island meets.
        conditions_by_rows: `conditions_by_rows(s, k)` returns TAKES_NEWTON, IS_LONE and IS_DENSE.
    """
    attempts, end = tuple(table.values()), len(table)
    failed = [a.next for a in attempts]
    too_large = [a.next if a.if_too_large is None else a.if_too_large for a in attempts]
    choose = _choice(table, [*failed, *too_large, first], conditions, conditions_by_rows)
    solve = _switch([a.solve for a in attempts])
    helps, goes_on = tuple(a.helps for a in attempts), tuple(a.goes_on for a in attempts)
    is_trial = tuple(int(a.is_trial) for a in attempts)

    @inner_kernel
    def holds(needed: int, s: Scene, k: Index, task: SolverTask) -> bool:
        met = conditions(s, k, task)
        if needed & _BY_ROWS:
            met |= conditions_by_rows(s, k)
        return met & needed == needed

    @inlined_kernel
    def begin(s: Scene, k: Index, task: SolverTask) -> int:
        return choose(2 * end, s, k, task)

    @inlined_kernel
    def second(attempt: int, s: Scene, k: Index, task: SolverTask) -> int:
        if holds(goes_on[attempt], s, k, task):
            return attempt
        return choose(attempt, s, k, task)

    @inlined_kernel
    def run(attempt: int, s: Scene, k: Index, task: SolverTask) -> int:
        """Make attempts, beginning with `attempt`, until one succeeds. Return the status."""
        island = s.islands.ranges[k]
        while attempt != end:
            status = solve(attempt, s, k, task)
            if status == TOO_LARGE:
                attempt = choose(end + attempt, s, k, task)
                continue
            if status != DONE:
                return status
            if island.converged:
                if holds(helps[attempt], s, k, task):
                    s.step_stats[0].handed_over += 1
                return DONE
            if task.extent == FIRST_ATTEMPTS and not is_trial[attempt]:
                island.attempt = attempt
                return DONE
            attempt = choose(attempt, s, k, task)
        return DONE

    return Order(begin, second, run)


def _choice(
    table: dict[str, Attempt],
    lists: Sequence[tuple[str, ...]],
    conditions: Kernel,
    conditions_by_rows: Kernel,
) -> Kernel:
    """Return a kernel `choose(number, s, k, task)` that selects an attempt.

    It returns the first attempt of the list with that number whose conditions are met.
    """
    end, numbers = len(table), {name: number for number, name in enumerate(table)}
    needs = tuple(a.when for a in table.values())
    listed = (*(numbers[name] for names in lists for name in names), end)
    starts = (0, *itertools.accumulate(map(len, lists)))

    @inner_kernel
    def choose(number: Index, s: Scene, k: Index, task: SolverTask) -> int:
        met, are_all_found = conditions(s, k, task), False
        for place in range(starts[number], starts[number + 1]):
            attempt = listed[place]
            needed = needs[attempt]
            by_rows = needed & _BY_ROWS
            if by_rows and not are_all_found and (met | by_rows) & needed == needed:
                met, are_all_found = met | conditions_by_rows(s, k), True
            if met & needed == needed:
                return attempt
        return end

    return choose


@inlined_kernel
def _nothing(s: Scene, k: Index, task: SolverTask) -> int:
    """Do nothing, as the entry of a switch without an attempt."""
    return DONE


def _switch(kernels: Sequence[Kernel]) -> Kernel:
    """Return a kernel `call(number, s, k, task)` that calls the kernel with the given number.

    All cases are in one function, since nested functions compile more slowly.
    """
    a, b, c, d, e, f, g, h, i, j, m, n, o, p = (*kernels, *[_nothing] * (_MOST - len(kernels)))

    @inlined_kernel
    def call(number: Index, s: Scene, k: Index, task: SolverTask) -> int:
        """Call the kernel with the given number, and return its status."""
        if number < 7:
            if number == 0:
                return a(s, k, task)
            if number == 1:
                return b(s, k, task)
            if number == 2:
                return c(s, k, task)
            if number == 3:
                return d(s, k, task)
            if number == 4:
                return e(s, k, task)
            if number == 5:
                return f(s, k, task)
            return g(s, k, task)
        if number == 7:
            return h(s, k, task)
        if number == 8:
            return i(s, k, task)
        if number == 9:
            return j(s, k, task)
        if number == 10:
            return m(s, k, task)
        if number == 11:
            return n(s, k, task)
        if number == 12:
            return o(s, k, task)
        return p(s, k, task)

    return call
