# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The impulses of an island, noted and taken back."""

from __future__ import annotations

from hrpsim.jit.compiled import inner_kernel
from hrpsim.solvers.impulses import apply_impulse


@inner_kernel
def keep_impulses(rows, span):
    """Note the impulses of an island."""
    for k in range(span.first, span.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < span.contact_end else 1)):
            rows.rows[number].kept_impulse = rows.rows[number].impulse


@inner_kernel
def take_back_impulses(sites, rows, span):
    """Return to the impulses that were noted."""
    for k in range(span.first, span.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < span.contact_end else 1)):
            row = rows.rows[number]
            change = row.kept_impulse - row.impulse
            row.impulse = row.kept_impulse
            apply_impulse(row, change, rows.response, sites.velocity)


@inner_kernel
def exchange_impulses(sites, rows, span):
    """Return to the impulses that were noted, and note those that there are."""
    for k in range(span.first, span.end):
        first = rows.island_rows[k]
        for number in range(first, first + (3 if k < span.contact_end else 1)):
            row = rows.rows[number]
            row.impulse, row.kept_impulse = row.kept_impulse, row.impulse
            change = row.impulse - row.kept_impulse
            apply_impulse(row, change, rows.response, sites.velocity)
