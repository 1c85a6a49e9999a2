# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Saving and restoring the impulses of an island."""

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.solvers.impulses import apply_impulse


@inner_kernel
def keep_impulses(rows, island):
    """Save the impulses of an island."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            rows.rows[number].saved_impulse = rows.rows[number].impulse


@inner_kernel
def restore_impulses(constrained, rows, island):
    """Restore the saved impulses."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            row = rows.rows[number]
            change = row.saved_impulse - row.impulse
            row.impulse = row.saved_impulse
            apply_impulse(row, change, rows.response, constrained.velocity)


@inner_kernel
def exchange_impulses(constrained, rows, island):
    """Exchange the saved impulses of an island's rows with the present impulses."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            row = rows.rows[number]
            row.impulse, row.saved_impulse = row.saved_impulse, row.impulse
            change = row.impulse - row.saved_impulse
            apply_impulse(row, change, rows.response, constrained.velocity)
