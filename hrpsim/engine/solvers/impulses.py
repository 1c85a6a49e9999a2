# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Apply impulses to rows, and change the velocities of the constraint bodies accordingly."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Records, Row, Vector
from hrpsim.engine.spatial.simd import LANES, load, plus_times, store


@inlined_kernel
def apply_impulse(row: Row, impulse: float, response: Vector, velocity: Vector) -> None:
    """Add the velocities that an impulse on `row` causes to the constraint bodies' velocities.

    Args:
        row: ROW record.
        impulse: additional impulse [Ns or Nms].
        response: responses of all rows.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
    """
    at = row.response_at
    _add_multiple(response, at, impulse, velocity, row.start_a, row.width_a)
    _add_multiple(response, at + row.width_a, impulse, velocity, row.start_b, row.width_b)


@inlined_kernel
def _add_multiple(
    response: Vector, at: Index, impulse: float, velocity: Vector, start: Index, width: int
) -> None:
    """Add an impulse times the response at `at` to the velocities of one tree's columns."""
    for k in range(0, width, LANES):
        total = plus_times(load(velocity, start + k), load(response, at + k), impulse)
        store(velocity, start + k, total)


@inner_kernel
def warm_start(
    rows: Records[Row], contact_count: int, row_count: int, response: Vector, velocity: Vector
) -> None:
    """Apply the initial impulses of all rows, and store them as `saved_impulse`."""
    for c in range(contact_count):
        normal, x, y = rows[3 * c], rows[3 * c + 1], rows[3 * c + 2]
        for row in (normal, x, y):
            row.saved_impulse = row.impulse
        if normal.impulse != 0.0:
            apply_three(normal, x, y, normal.impulse, x.impulse, y.impulse, response, velocity)
    for number in range(3 * contact_count, row_count):
        row = rows[number]
        row.saved_impulse = row.impulse
        if row.impulse != 0.0:
            apply_impulse(row, row.impulse, response, velocity)


@inlined_kernel
def apply_three(
    normal: Row,
    x: Row,
    y: Row,
    n_by: float,
    x_by: float,
    y_by: float,
    response: Vector,
    velocity: Vector,
) -> None:
    """Add the velocities that changes of a contact's three impulses cause.

    Args:
        normal: ROW record of the contact's normal.
        x: ROW record of the first tangent.
        y: ROW record of the second tangent.
        n_by: change of the normal impulse [Ns].
        x_by: change of the first friction impulse [Ns].
        y_by: change of the second friction impulse [Ns].
        response: responses of all rows.
        velocity: velocities of the constraint bodies (columns,) [m/s, rad/s].
    """
    n, first, second, width = normal.response_at, x.response_at, y.response_at, normal.width_a
    _apply_to_tree(n, first, second, n_by, x_by, y_by, response, normal.start_a, width, velocity)
    if normal.width_b > 0:
        n, first, second = n + width, first + width, second + width
        start, width = normal.start_b, normal.width_b
        _apply_to_tree(n, first, second, n_by, x_by, y_by, response, start, width, velocity)


@inlined_kernel  # many parameters: rows by places in flat arrays: no views in the inner loop
def _apply_to_tree(
    n: int, x: int, y: int, n_by: float, x_by: float, y_by: float, response: Vector, start: Index,
    width: int, velocity: Vector,
) -> None:  # fmt: skip
    """Add three impulses times the responses at n, x and y to the velocities of one tree."""
    for k in range(0, width, LANES):
        total = plus_times(load(velocity, start + k), load(response, n + k), n_by)
        total = plus_times(total, load(response, x + k), x_by)
        store(velocity, start + k, plus_times(total, load(response, y + k), y_by))
