# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Position correction: solve the constraint rows for a displacement instead of a velocity.

The correction reduces penetration, limit violation and errors of connections. The target of a row
is a displacement rate, which is never added to the state's velocity. The correction therefore adds
no kinetic energy. Friction, springs, velocity limits, and rows that slipped at a force limit are
ignored. Velocity servos lock their joints.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Indices, Island, Records, Row, Vector
from hrpsim.engine.constraints.rows import CONTACT_ROW, row_velocity, takes_time

# Bound on the speed of contact points, as a multiple of the largest target of a row of the island.
# Levers move them faster; for contradictory rows, an approximate solution would throw bodies out.
_LEVERAGE = 10.0


@inner_kernel
def asks_for_displacement(rows: Records[Row], contact_count: int, row_count: int) -> bool:
    """Return whether any row needs a position correction."""
    for c in range(contact_count):
        if rows[3 * c].correction_velocity > 0.0 or rows[3 * c].bilateral:
            return True
    for number in range(3 * contact_count, row_count):
        row = rows[number]
        if row.correction_velocity > 0.0 or (row.correction_velocity != 0.0 and row.lower < 0.0):
            return True
    return False


@inner_kernel
def turn_to_displacement(rows: Records[Row], row_count: int) -> None:
    """Set the target of every row to the displacement rate [m/s or rad/s], and clear the impulses.

    `turn_to_motion` restores target, bounds and impulse.
    """
    for number in range(row_count):
        row = rows[number]
        row.saved_impulse, row.impulse = row.impulse, 0.0
        row.kept_target, row.target = row.target, row.correction_velocity
        row.kept_lower, row.kept_upper = row.lower, row.upper
        if row.kind == CONTACT_ROW:
            is_normal = number % 3 == 0
            row.lower = -math.inf if row.bilateral else 0.0
            row.upper = math.inf if row.bilateral or is_normal else 0.0
        elif _takes_no_part(row):
            row.lower = row.upper = 0.0
        else:
            row.lower = row.lower if row.lower == 0.0 else -math.inf
            row.upper = math.inf


@inner_kernel
def bound_displacement(
    rows: Records[Row], island_rows: Indices, island: Island, velocity: Vector
) -> None:
    """Scale down an island's impulses so that no contact point moves faster than a limit.

    The limit is a multiple (_LEVERAGE) of the largest target of the island's rows. Only
    `impulse` of the rows is changed, not `velocity`.

    Args:
        rows: ROW records (row capacity,).
        island_rows: numbers of the rows, island by island.
        island: record of the island, with a range of `island_rows`.
        velocity: displacement rates of the constraint bodies (columns,) [rad/s, m/s] that the rows'
            impulses caused.
    """
    largest_target, fastest = 0.0, 0.0
    for entry in range(island.first, island.end):
        number = island_rows[entry]
        if entry >= island.contact_end:
            largest_target = max(largest_target, abs(rows[number].target))
            continue
        square = 0.0
        for r in range(number, number + 3):
            largest_target = max(largest_target, abs(rows[r].target))
            rate = row_velocity(rows[r], velocity)
            square += rate * rate
        fastest = max(fastest, square)
    fastest = math.sqrt(fastest)
    if fastest > _LEVERAGE * largest_target:
        scale = _LEVERAGE * largest_target / fastest
        for entry in range(island.first, island.end):
            number = island_rows[entry]
            rows[number].impulse *= scale
            if entry < island.contact_end:
                rows[number + 1].impulse *= scale
                rows[number + 2].impulse *= scale


@inner_kernel
def turn_to_motion(rows: Records[Row], row_count: int) -> None:
    """Restore target, bounds and impulse of every row from before `turn_to_displacement`."""
    for number in range(row_count):
        row = rows[number]
        row.impulse, row.target = row.saved_impulse, row.kept_target
        row.lower, row.upper = row.kept_lower, row.kept_upper


@inlined_kernel
def _takes_no_part(row: Row) -> bool:
    if takes_time(row) or row.compliance > 0.0:
        return True
    return abs(row.saved_impulse) >= row.upper
