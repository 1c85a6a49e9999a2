# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Block principal pivoting: the direct solver's rows, each active or at a bound.

An active row has its target velocity. Any other row rests at a bound of its impulse. All rows that
contradict their state change state at once. If the number of these rows does not fall for a while,
only the last of them changes. This rule ends for every positive definite system (Judice and Pires
1994; Murty). Friction that sticks is active with its normal. A contact that closes starts without
friction, so the search is for the states of normals alone and ends. The contact's cone is checked
later.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Records, Row, Vector
from hrpsim.engine.constraints.friction_laws import friction_bound, friction_holds, tangent_count
from hrpsim.engine.constraints.rows import CONNECTION, CONTACT_ROW, LOCK, MIMIC, row_velocity
from hrpsim.engine.constraints.solver_table import DIRECT, ITERATIVE
from hrpsim.engine.solvers.block_ldl import factor_work, factorise, solve
from hrpsim.engine.solvers.direct_system import DirectSystem
from hrpsim.engine.solvers.free_impulses import project, project_solution, spread
from hrpsim.engine.solvers.impulses import apply_impulse
from hrpsim.engine.solvers.projected_gauss_seidel import set_impulse

_REFINEMENTS = 4
# Share of an error that a refinement leaves if no impulses change it; rounding of the largest push.
_UNCHANGED, _LAST_DIGIT = 0.9, 1e-15
_UNSHARED = 1e-12  # share of the largest load that is not spread, more than rounding
_ALIKE = 1e-7  # share of the tolerance up to which velocities are the same
_NOTICED = 1e-3  # share of the largest error of all rows, which is more than rounding
_ITERATION_LIMIT = 8
_PIVOTS = 60

# Multiplications that the search for states may take in a step of the world (about 0.2 s). Where a
# factorisation takes much of that, each solution has _FEWEST nevertheless, up to _MOST_WORK in a
# step (about 1 s). A choice of states takes _OF_ROW for each row, besides its factorisation.
_WORK, _MOST_WORK, _FEWEST, _OF_ROW = 400_000_000, 2_000_000_000, 8, 1000


@inner_kernel
def allowed_work(done: int, row_count: int, system: DirectSystem) -> int:
    """Return the limit of multiplications for a solution.

    Args:
        done: multiplications done in this step before.
        row_count: number of rows. The active rows at the start count.
        system: system of the direct solver.
    """
    first = factor_work(system.elimination, system.active, system.factor) + _OF_ROW * row_count
    return max(_WORK, min(done + _FEWEST * first, _MOST_WORK))


@inner_kernel
def choose_active(
    rows: Records[Row],
    row_count: int,
    has_cones: bool,
    tolerance: float,
    velocity: Vector,
    system: DirectSystem,
) -> None:
    """Guess the active rows from the impulses of the last step and the present velocity."""
    slides = system.slides
    for number in range(row_count):
        row = rows[number]
        slides[number] = 0
        side = 0
        if _may_change(row):
            if row.lower < row.impulse < row.upper or wants_off_bound(row, tolerance, velocity):
                side = 1
        if has_cones and row.kind == CONTACT_ROW:
            if number % 3 == 0:
                slides[number] = _slid_before(row, rows[number + 1], rows[number + 2])
            else:
                at_normal = number - number % 3
                sticks = _may_stick(rows[at_normal]) and not slides[at_normal]
                side = 1 if sticks and system.active[at_normal] else 0
        set_side(number, side, system)


@inlined_kernel
def _may_change(row: Row) -> bool:
    """Return whether the direct solver can change a row."""
    return row.solver > ITERATIVE and row.lower < row.upper and row.inverse_mass > 0.0


@inlined_kernel
def set_side(number: Index, side: int, system: DirectSystem) -> None:
    """Make a row active (1) or not (0)."""
    if system.active[number] != side:
        system.active[number] = side
        system.stale[0] = 1


@inlined_kernel
def _may_stick(normal: Row) -> bool:
    """Return whether friction at a normal row can be part of the direct block."""
    has_friction = normal.friction > 0.0 and tangent_count(normal.friction_model) == 2
    return normal.solver == DIRECT and has_friction


@inlined_kernel
def _slid_before(normal: Row, x: Row, y: Row) -> int:
    """Return whether the friction of the last step was at its bound."""
    return 1 if friction_bound(normal) > 0.0 and not friction_holds(normal, x, y, 0.999999) else 0


@inlined_kernel
def wants_off_bound(row: Row, tolerance: float, velocity: Vector) -> bool:
    """Return whether a row at a bound of its impulse would leave the bound."""
    lean = row.target - row_velocity(row, velocity) - row.compliance * row.impulse
    if row.impulse <= row.lower:
        return lean > tolerance
    return lean < -tolerance


@inner_kernel  # many parameters: names the parts of the scene that it reads, not the scene
def settle_active_rows(
    rows: Records[Row],
    row_count: int,
    has_cones: bool,
    response: Vector,
    tolerance: float,
    work: int,
    limit: int,
    velocity: Vector,
    system: DirectSystem,
) -> tuple[bool, int, int]:
    """Solve the active rows, and change the active set until no row contradicts its state.

    If the search converges, impulses end within their bounds. A row whose pivot is not positive is
    left to the iteration, because nothing can move along the row. Every new choice of states is
    solved from the impulses at the call. Contradictory rows press with 1e7 Ns or more until one of
    them is released, and redundant contacts would otherwise keep a part of these impulses.

    Args:
        rows: ROW records (row capacity,).
        row_count: number of rows.
        has_cones: whether cones bound the contacts' tangents, or their own bounds.
        response: responses of all rows.
        tolerance: accepted change of a velocity [m/s].
        work: multiplications done in the step before.
        limit: largest number of multiplications. A factorisation that would exceed the limit is not
            begun.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        system: system of the direct solver.

    Returns:
        (whether the search converged, factorisations done, work at the end).
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
            _ask_again(rows, row_count, system)
        disagree, too_far = solve_active_rows(
            rows, row_count, True, response, tolerance, velocity, system
        )
        if too_far:
            system.factor.blur[0], system.stale[0] = 0.0, 1  # release none from here on
            continue
        wrong, last = _find_contradictions(rows, row_count, has_cones, tolerance, velocity, system)
        if wrong == 0 and disagree and _may_disagree(rows, row_count, system):
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
    """Make a direct row and all rows of its contact iterative for the rest of the step.

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


@inner_kernel
def save_start(rows: Records[Row], row_count: int, velocity: Vector, system: DirectSystem) -> None:
    """Save the impulses, the targets and the velocity that a solution starts from."""
    system.adjusted[0] = 0
    for number in range(row_count):
        system.start[number] = rows[number].impulse
        system.asked[number] = rows[number].target
    for k in range(velocity.shape[0]):
        system.start_velocity[k] = velocity[k]


@inlined_kernel
def _ask_again(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Restore the targets that were asked for, on which rows of other states need not agree."""
    if system.adjusted[0]:
        for number in range(row_count):
            rows[number].target = system.asked[number]
        system.adjusted[0] = 0


@inner_kernel
def find_velocity(
    rows: Records[Row], row_count: int, response: Vector, velocity: Vector, system: DirectSystem
) -> None:
    """Write the velocity with the present impulses, computed from the velocity at the start."""
    for k in range(velocity.shape[0]):
        velocity[k] = system.start_velocity[k]
    for number in range(row_count):
        change = rows[number].impulse - system.start[number]
        if change != 0.0:
            apply_impulse(rows[number], change, response, velocity)


@inner_kernel
def solve_active_rows(
    rows: Records[Row],
    row_count: int,
    may_agree: bool,
    response: Vector,
    tolerance: float,
    velocity: Vector,
    system: DirectSystem,
) -> tuple[bool, bool]:
    """Give the active rows the impulses for their targets, by the present factor.

    Args:
        rows: ROW records (row capacity,).
        row_count: number of rows.
        may_agree: whether released rows and the others agree on other targets if they disagree.
        response: responses of all rows.
        tolerance: accepted change of a velocity [m/s].
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        system: system of the direct solver.

    Returns:
        (whether redundant rows disagree, whether released rows disagree by more than their leeway).
        If rows disagree, the remaining errors, `system.change`, are more than rounding, and no
        impulses change them. Beyond the leeway nothing changes.
    """
    before = find_errors(rows, row_count, velocity, system)
    for k in range(_REFINEMENTS):
        if before <= _ALIKE * tolerance:
            break
        solve(system.elimination, system.active, system.factor, system.change)
        if k == 0 and system.factor.released_count[0] > 0:
            if may_agree and not _agree(rows, row_count, tolerance, system):
                return True, True
            _share_load(rows, row_count, system)
        for number in range(row_count):
            if system.active[number]:
                row = rows[number]
                set_impulse(row, row.impulse + system.change[number], response, velocity)
        after = find_errors(rows, row_count, velocity, system)
        if after > 0.5 * before:
            if after <= _rounding(rows, row_count, system):
                break
            if after > _UNCHANGED * before:
                return after > tolerance, False
        before = after
    return False, False


@inner_kernel
def _agree(rows: Records[Row], row_count: int, tolerance: float, system: DirectSystem) -> bool:
    """Change the targets to the nearest on which released rows and the others agree.

    `system.change` is the solution for the targets before, and becomes the solution for the
    targets after. Rows that hold no position keep their targets. Equations:
    docs/explanation/derivations/direct_rows.md, section 11.

    Returns:
        Whether the rows disagree by no more than the leeway. Otherwise nothing changes.
    """
    largest = project_solution(row_count, system.change, system)
    if largest <= _ALIKE * tolerance or largest > system.leeway[0]:
        return largest <= system.leeway[0]
    spread(rows, row_count, system)
    system.adjusted[0] = 1
    for number in range(row_count):
        row = rows[number]
        system.moved[number] = 0.0
        if system.active[number] and _holds_position(row.kind):
            error = row.inverse_mass * system.spread[number]
            row.target -= error
            system.moved[number] = error
            system.left[0] = max(system.left[0], abs(error))
    solve(system.elimination, system.active, system.factor, system.moved)
    for number in range(row_count):
        if system.active[number]:
            system.change[number] -= system.moved[number]
    return True


@inlined_kernel
def _rounding(rows: Records[Row], row_count: int, system: DirectSystem) -> float:
    """Return the error that is rounding [m/s]: the last digit of the largest push."""
    largest = 0.0
    for number in range(row_count):
        if system.active[number]:
            largest = max(largest, abs(rows[number].impulse) * rows[number].inverse_mass)
    return _LAST_DIGIT * largest


@inlined_kernel
def _may_disagree(rows: Records[Row], row_count: int, system: DirectSystem) -> bool:
    """Return whether the errors of redundant rows, `system.change`, are within their leeway.

    The leeway is the velocity at which nothing moves farther than the slop in a step. If contacts
    alone disagree, their friction has a bound, and the contacts slide.
    """
    largest = of_others = 0.0
    for number in range(row_count):
        if system.active[number]:
            error = abs(system.change[number])
            largest = max(largest, error)
            if rows[number].kind != CONTACT_ROW:
                of_others = max(of_others, error)
    return of_others > _NOTICED * largest and largest <= system.leeway[0]


@inner_kernel
def _share_load(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Spread the load of released rows over all rows that can bear it.

    `system.change`, squared and weighed by the inverse masses, becomes as small as possible.
    """
    largest = 0.0
    for number in range(row_count):
        if system.active[number]:
            system.weighed[number] = rows[number].inverse_mass * system.change[number]
            largest = max(largest, abs(system.weighed[number]))
    if project(rows, row_count, system) <= _UNSHARED * largest:
        return
    spread(rows, row_count, system)
    for number in range(row_count):
        if system.active[number]:
            system.change[number] -= system.spread[number]


@inlined_kernel
def _holds_position(kind: int) -> bool:
    """Return whether the targets of rows of a kind correct a position."""
    return kind == CONNECTION or kind == LOCK or kind == MIMIC or kind == CONTACT_ROW


@inner_kernel
def leave_disagreements(
    rows: Records[Row],
    row_count: int,
    response: Vector,
    tolerance: float,
    velocity: Vector,
    system: DirectSystem,
) -> None:
    """Ask redundant rows that are not released for the nearest velocities, and solve them again.

    `system.change` has the errors that no impulses change. Each solution for these errors adds to
    the impulses of redundant rows, without end. Rows that hold no position keep their targets, and
    the errors that remain. Equations: docs/explanation/derivations/direct_rows.md, section 11.
    """
    released = system.factor.released
    for number in range(row_count):
        if system.active[number]:
            row = rows[number]
            row.impulse = system.start[number]
            if _holds_position(row.kind) and not released[number]:
                error = system.change[number]
                system.asked[number] -= error
                row.target -= error
                system.left[0] = max(system.left[0], abs(error))
    find_velocity(rows, row_count, response, velocity, system)
    solve_active_rows(rows, row_count, True, response, tolerance, velocity, system)


@inner_kernel
def find_errors(
    rows: Records[Row], row_count: int, velocity: Vector, system: DirectSystem
) -> float:
    """Write each active row's error of velocity into system.change, and return the largest."""
    largest = 0.0
    for number in range(row_count):
        if system.active[number]:
            row = rows[number]
            lack = row.target - row_velocity(row, velocity) - row.compliance * row.impulse
            system.change[number] = lack
            largest = max(largest, abs(lack))
    return largest


@inlined_kernel
def _is_held_tangent(row: Row, number: Index, has_cones: bool) -> bool:
    """Return whether the row is friction, which follows its normal and its cone."""
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
    """Mark rows with the wrong state in system.flips; return (their number, the last of them)."""
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
    """Change the state of wrong rows; restore the impulses of the others to the start."""
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
