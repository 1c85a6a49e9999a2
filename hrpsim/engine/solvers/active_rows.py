# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Solve for the impulses of the direct solver's active rows, which may be redundant.

Active rows must reach their target velocities. The factor of the active rows gives the impulses,
with iterative refinement. Linearly dependent rows share the load. If the targets of dependent rows
contradict each other slightly, the nearest consistent targets replace them
(docs/explanation/derivations/direct_rows.md, section 11). A "released" row is a dependent row that
the factor leaves out. The "leeway" is the largest contradiction that may be resolved in this way.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Records, Row, Vector
from hrpsim.engine.constraints.rows import CONNECTION, CONTACT_ROW, LOCK, MIMIC, row_velocity
from hrpsim.engine.solvers.block_ldl import solve
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


@inlined_kernel
def set_side(number: Index, side: int, system: DirectSystem) -> None:
    """Set whether a row is active (1) or not (0)."""
    if system.active[number] != side:
        system.active[number] = side
        system.stale[0] = 1


@inner_kernel
def save_start(rows: Records[Row], row_count: int, velocity: Vector, system: DirectSystem) -> None:
    """Save the initial impulses, targets and velocity of a solution."""
    system.adjusted[0] = 0
    for number in range(row_count):
        system.start[number] = rows[number].impulse
        system.asked[number] = rows[number].target
    for k in range(velocity.shape[0]):
        system.start_velocity[k] = velocity[k]


@inlined_kernel
def restore_targets(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Restore the original targets. With another active set, these targets may be consistent."""
    if system.adjusted[0]:
        for number in range(row_count):
            rows[number].target = system.asked[number]
        system.adjusted[0] = 0


@inner_kernel
def find_velocity(
    rows: Records[Row], row_count: int, response: Vector, velocity: Vector, system: DirectSystem
) -> None:
    """Compute the velocity from the initial velocity and the present impulses."""
    for k in range(velocity.shape[0]):
        velocity[k] = system.start_velocity[k]
    for number in range(row_count):
        change = rows[number].impulse - system.start[number]
        if change != 0.0:
            apply_impulse(rows[number], change, response, velocity)


@inner_kernel
def find_errors(
    rows: Records[Row], row_count: int, velocity: Vector, system: DirectSystem
) -> float:
    """Write each active row's velocity error into system.change, and return the largest [m/s]."""
    largest = 0.0
    for number in range(row_count):
        if system.active[number]:
            row = rows[number]
            lack = row.target - row_velocity(row, velocity) - row.compliance * row.impulse
            system.change[number] = lack
            largest = max(largest, abs(lack))
    return largest


@inlined_kernel
def _add_changes(
    rows: Records[Row], row_count: int, response: Vector, velocity: Vector, system: DirectSystem
) -> None:
    """Add `system.change` to the impulses of the active rows."""
    for number in range(row_count):
        if system.active[number]:
            row = rows[number]
            set_impulse(row, row.impulse + system.change[number], response, velocity)


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
    """Solve for the impulses with which all active rows reach their targets, by the present factor.

    Args:
        rows: ROW records (row capacity,).
        row_count: number of rows.
        may_agree: whether contradictory targets may be changed to consistent targets.
        response: responses of all rows.
        tolerance: accepted change of a velocity [m/s].
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
        system: system of the direct solver.

    Returns:
        (whether redundant rows contradict each other, whether released rows contradict others by
        more than the leeway). The errors that no impulses can remove are in `system.change`. If the
        second result is True, nothing is changed.
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
        _add_changes(rows, row_count, response, velocity, system)
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
    """Change the targets of redundant rows to the nearest consistent targets.

    `system.change` is the solution for the old targets, and becomes the solution for the new
    targets. Rows that do not correct a position keep their targets. Equations:
    docs/explanation/derivations/direct_rows.md, section 11.

    Returns:
        Whether the contradiction is within the leeway. Otherwise nothing is changed.
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


@inner_kernel
def _share_load(rows: Records[Row], row_count: int, system: DirectSystem) -> None:
    """Distribute the load among linearly dependent rows.

    Of all equivalent solutions `system.change`, this function chooses the solution with the
    smallest sum of squares, weighted by the inverse masses.
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
def _rounding(rows: Records[Row], row_count: int, system: DirectSystem) -> float:
    """Return the velocity error that rounding of the largest impulse may cause [m/s]."""
    largest = 0.0
    for number in range(row_count):
        if system.active[number]:
            largest = max(largest, abs(rows[number].impulse) * rows[number].inverse_mass)
    return _LAST_DIGIT * largest


@inlined_kernel
def may_disagree(rows: Records[Row], row_count: int, system: DirectSystem) -> bool:
    """Return whether the contradictions of redundant rows, `system.change`, may be resolved.

    A contradiction must be within the leeway, a velocity with which nothing moves farther than the
    slop in a step. If only contacts contradict each other, the result is False. The contacts then
    slide instead, because their friction is bounded.
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
def leave_disagreements(
    rows: Records[Row],
    row_count: int,
    response: Vector,
    tolerance: float,
    velocity: Vector,
    system: DirectSystem,
) -> None:
    """Change the targets of redundant rows to consistent targets, and solve again.

    The errors in `system.change`, which no impulses can remove, are subtracted from the targets.
    Without this change, the impulses of redundant rows would grow with each solution. Rows without
    position correction keep their targets and their errors. Equations:
    docs/explanation/derivations/direct_rows.md, section 11.
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


@inlined_kernel
def _holds_position(kind: int) -> bool:
    """Return whether rows of this kind correct a position by their targets."""
    return kind == CONNECTION or kind == LOCK or kind == MIMIC or kind == CONTACT_ROW
