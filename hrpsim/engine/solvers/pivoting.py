# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Block principal pivoting: find the direct solver's active rows and the rows at a bound.

An active row reaches its target velocity. For any other row, the impulse is at a bound. All rows
that violate their state change the state at once. If the number of these rows does not fall for a
while, only the last of them changes. This rule terminates for every positive definite system
(Judice and Pires 1994, Murty). Sticking friction is active together with its normal. A contact that
closes starts without friction. The search then only concerns the states of normals, and terminates.
The contact's friction cone is checked later.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Records, Row, Vector
from hrpsim.engine.constraints.friction_laws import friction_bound, friction_holds, tangent_count
from hrpsim.engine.constraints.rows import CONTACT_ROW, row_velocity
from hrpsim.engine.constraints.solver_table import DIRECT, ITERATIVE
from hrpsim.engine.solvers.active_rows import (
    find_velocity,
    leave_disagreements,
    may_disagree,
    restore_targets,
    set_side,
    solve_active_rows,
)
from hrpsim.engine.solvers.block_ldl import factor_work, factorise
from hrpsim.engine.solvers.direct_system import DirectSystem

_ITERATION_LIMIT = 8
_PIVOTS = 60

# Multiplications that the search for states may take in a step of the world (about 0.2 s). Where a
# factorisation takes much of that, each solution has _FEWEST nevertheless, up to _MOST_WORK in a
# step (about 1 s). A choice of states takes _OF_ROW for each row, besides its factorisation.
_WORK, _MOST_WORK, _FEWEST, _OF_ROW = 400_000_000, 2_000_000_000, 8, 1000


@inner_kernel
def allowed_work(done: int, row_count: int, system: DirectSystem) -> int:
    """Return the number of multiplications beyond which no factorisation may begin in this step.

    The number is larger if a factorisation of the initial active rows takes more multiplications.
    Eight such factorisations are then possible, up to a fixed limit.

    Args:
        done: multiplications done for direct rows in this step so far.
        row_count: number of rows.
        system: system of the direct solver, with the initial active rows.
    """
    first = factor_work(system.elimination, system.active, system.factor) + _OF_ROW * row_count
    return max(_WORK, min(done + _FEWEST * first, _MOST_WORK))


@inlined_kernel
def _is_off_bounds(row: Row, tolerance: float, velocity: Vector) -> bool:
    """Return whether the impulse of a row is between its bounds, or should leave a bound."""
    return row.lower < row.impulse < row.upper or wants_off_bound(row, tolerance, velocity)


@inner_kernel
def choose_active(
    rows: Records[Row],
    row_count: int,
    has_cones: bool,
    tolerance: float,
    velocity: Vector,
    system: DirectSystem,
) -> None:
    """Choose initial active rows from the impulses of the last step and the present velocity."""
    slides = system.slides
    for number in range(row_count):
        row = rows[number]
        slides[number] = 0
        is_active = 1 if _may_change(row) and _is_off_bounds(row, tolerance, velocity) else 0
        if has_cones and row.kind == CONTACT_ROW:
            if number % 3 == 0:
                slides[number] = _slid_before(row, rows[number + 1], rows[number + 2])
            else:
                at_normal = number - number % 3
                sticks = _may_stick(rows[at_normal]) and not slides[at_normal]
                is_active = 1 if sticks and system.active[at_normal] else 0
        set_side(number, is_active, system)


@inlined_kernel
def _may_change(row: Row) -> bool:
    """Return whether the direct solver can change the impulse of a row."""
    return row.solver > ITERATIVE and row.lower < row.upper and row.inverse_mass > 0.0


@inlined_kernel
def _may_stick(normal: Row) -> bool:
    """Return whether the friction of a contact can be part of the direct block."""
    has_friction = normal.friction > 0.0 and tangent_count(normal.friction_model) == 2
    return normal.solver == DIRECT and has_friction


@inlined_kernel
def _slid_before(normal: Row, x: Row, y: Row) -> int:
    """Return 1 if the friction of the last step was at its bound, else 0."""
    return 1 if friction_bound(normal) > 0.0 and not friction_holds(normal, x, y, 0.999999) else 0


@inlined_kernel
def wants_off_bound(row: Row, tolerance: float, velocity: Vector) -> bool:
    """Return whether a row at a bound of its impulse must become active.

    A row becomes active if its velocity error would change the impulse away from the bound.
    """
    lean = row.target - row_velocity(row, velocity) - row.compliance * row.impulse
    if row.impulse <= row.lower:
        return lean > tolerance
    return lean < -tolerance


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def settle_active_rows(
    rows: Records[Row], row_count: int, has_cones: bool, response: Vector, tolerance: float,
    work: int, limit: int, velocity: Vector, system: DirectSystem,
) -> tuple[bool, int, int]:  # fmt: skip
    """Solve the active rows, and change the active set until no row contradicts its state.

    If the search converges, impulses are within the bounds. A row whose pivot is not positive is
    moved to the iterative solver, because nothing can move along the row.

    Every change of the active set resets the impulses to the initial impulses. Without the reset,
    redundant contacts would retain wrong impulses. The impulses of contradictory rows may reach 1e7
    Ns before one of these rows is released.

    Args:
        rows: ROW records (row capacity,).
        row_count: number of rows.
        has_cones: whether friction cones bound the tangential impulses of contacts. If not, each
            tangential row has bounds of its own.
        response: responses of all rows.
        tolerance: accepted change of a velocity [m/s].
        work: number of multiplications done in the step before.
        limit: largest number of multiplications. A factorisation that would exceed the limit is not
            begun.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        system: system of the direct solver.

    Returns:
        (whether the search converged, number of factorisations, `work` at the end).
    """
    for number in range(row_count):
        system.before[number] = rows[number].impulse
    fewest, iteration_limit, factorisations = row_count + 1, _ITERATION_LIMIT, 0
    for _ in range(_PIVOTS):
        if system.stale[0]:
            more = factor_work(system.elimination, system.active, system.factor)
            more += _OF_ROW * row_count
            if work + more > limit:
                break
            work += more
            factorisations += 1
            system.stale[0] = 0
            failed = factorise(system.elimination, system.active, system.matrix, system.factor)
            if failed >= 0:
                leave_to_iteration(rows, failed, system)
                continue
            restore_targets(rows, row_count, system)
        disagree, too_far = solve_active_rows(
            rows, row_count, True, response, tolerance, velocity, system
        )
        if too_far:
            system.factor.blur[0], system.stale[0] = 0.0, 1  # release none from here on
            continue
        wrong, last = _find_contradictions(rows, row_count, has_cones, tolerance, velocity, system)
        if wrong == 0 and disagree and may_disagree(rows, row_count, system):
            leave_disagreements(rows, row_count, response, tolerance, velocity, system)
            wrong, last = _find_contradictions(
                rows, row_count, has_cones, tolerance, velocity, system
            )
        if wrong == 0:
            return True, factorisations, work
        if wrong < fewest:
            fewest, iteration_limit = wrong, _ITERATION_LIMIT
        else:
            iteration_limit -= 1
        _change_sides(rows, row_count, has_cones, iteration_limit < 0, last, system)
        find_velocity(rows, row_count, response, velocity, system)
    return False, factorisations, work


@inlined_kernel
def leave_to_iteration(rows: Records[Row], number: Index, system: DirectSystem) -> None:
    """Move a direct row, and all rows of its contact, to the iterative solver for this step.

    Args:
        rows: ROW records (row capacity,).
        number: number of the row.
        system: system of the direct solver.
    """
    first, end = number, number + 1
    if rows[number].kind == CONTACT_ROW:
        first = number - number % 3
        end = first + 3
    for r in range(first, end):
        rows[r].solver = ITERATIVE
        set_side(r, 0, system)


@inlined_kernel
def _is_held_tangent(row: Row, number: Index, has_cones: bool) -> bool:
    """Return whether a row is friction in a cone, whose state depends on its normal's state."""
    return has_cones and row.kind == CONTACT_ROW and number % 3 != 0


@inner_kernel
def _find_contradictions(
    rows: Records[Row],
    row_count: int,
    has_cones: bool,
    tolerance: float,
    velocity: Vector,
    system: DirectSystem,
) -> tuple[int, int]:
    """Mark the rows with a wrong state in system.flips.

    Returns:
        (number of these rows, number of the last of them).
    """
    wrong, last = 0, -1
    for number in range(row_count):
        row = rows[number]
        system.flips[number] = 0
        if not _may_change(row):
            continue
        if _is_held_tangent(row, number, has_cones):
            continue
        if system.active[number]:
            bad = row.impulse < row.lower or row.impulse > row.upper
        else:
            bad = wants_off_bound(row, tolerance, velocity)
        if bad:
            system.flips[number] = 1
            wrong += 1
            last = number
    return wrong, last


@inner_kernel
def _change_sides(
    rows: Records[Row],
    row_count: int,
    has_cones: bool,
    one_only: bool,
    last: int,
    system: DirectSystem,
) -> None:
    """Change the state of rows with a wrong state. Restore other active rows' initial impulses.

    one_only: whether only the row `last` changes its state.
    """
    for number in range(row_count):
        row = rows[number]
        if not system.flips[number]:
            if system.active[number]:
                row.impulse = system.before[number]
            continue
        row.impulse = min(max(row.impulse, row.lower), row.upper)
        if one_only and number != last:
            continue
        set_side(number, 0 if system.active[number] else 1, system)
        if has_cones and row.kind == CONTACT_ROW:
            system.slides[number] += system.active[number]
            for tangent in range(number + 1, number + 3):
                set_side(tangent, 0, system)
                rows[tangent].impulse = 0.0
