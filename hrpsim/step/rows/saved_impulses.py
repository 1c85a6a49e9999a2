# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The impulses of an island, noted and taken back."""

from __future__ import annotations

from hrpsim.jit.compiled import inner_kernel
from hrpsim.solvers.impulses import apply_impulse


@inner_kernel
def keep_impulses(rows, island):
    """Note the impulses of an island."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            rows.rows[number].saved_impulse = rows.rows[number].impulse


@inner_kernel
def restore_impulses(constrained, rows, island):
    """Return to the impulses that were noted."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            row = rows.rows[number]
            change = row.saved_impulse - row.impulse
            row.impulse = row.saved_impulse
            apply_impulse(row, change, rows.response, constrained.velocity)


@inner_kernel
def exchange_impulses(constrained, rows, island):
    """Return to the impulses that were noted, and note those that there are."""
    for k in range(island.first, island.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < island.contact_end else 1)):
            row = rows.rows[number]
            row.impulse, row.saved_impulse = row.saved_impulse, row.impulse
            change = row.impulse - row.saved_impulse
            apply_impulse(row, change, rows.response, constrained.velocity)
