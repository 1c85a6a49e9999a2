# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Saving and restoring the impulses of an island."""

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Island
from hrpsim.engine.constraints.rows import Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.solvers.impulses import apply_impulse


@inner_kernel
def keep_impulses(rows: Rows, island: Island) -> None:
    """Store the impulses of an island's rows in `saved_impulse` of the rows."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            rows.rows[number].saved_impulse = rows.rows[number].impulse


@inner_kernel
def restore_impulses(constrained: ConstraintBodies, rows: Rows, island: Island) -> None:
    """Restore the stored impulses of an island's rows.

    constrained.velocity is changed accordingly.
    """
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            row = rows.rows[number]
            change = row.saved_impulse - row.impulse
            row.impulse = row.saved_impulse
            apply_impulse(row, change, rows.response, constrained.velocity)


@inner_kernel
def exchange_impulses(constrained: ConstraintBodies, rows: Rows, island: Island) -> None:
    """Exchange the stored impulses of an island's rows with the present impulses.

    constrained.velocity is changed accordingly.
    """
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            row = rows.rows[number]
            row.impulse, row.saved_impulse = row.saved_impulse, row.impulse
            change = row.impulse - row.saved_impulse
            apply_impulse(row, change, rows.response, constrained.velocity)
