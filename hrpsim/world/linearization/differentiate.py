# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The rows that hold in a step and its equations of motion, differentiated: one call of a kernel.

docs/explanation/linearization.md has the equations.
"""

from hrpsim.constraints.rows import MIMIC
from hrpsim.jit.compiled import inner_kernel, kernel
from hrpsim.world.linearization.balance import (
    add_force_turns,
    count_bodies,
    write_balance,
    write_coordinates,
    write_rates,
    write_twists,
    write_wrenches,
)
from hrpsim.world.linearization.body_motions import derivatives_in_world
from hrpsim.world.linearization.contact_geometry import contact_derivatives
from hrpsim.world.linearization.contact_rows import (
    add_gap_changes,
    add_rate_changes,
    place_contacts,
    write_contact_rows,
    write_turns,
)
from hrpsim.world.linearization.joint_rows import parameters_of, place_joint_rows, write_joint_rows
from hrpsim.world.linearization.room import BY_Q, OTHER


@kernel
def differentiate(s, w, search, columns, m):
    """Write `balance`, and the rows of contacts and joints that hold.

    Returns how many hold, whether any contact slides, whether there is a position correction, and
    the row of a stop that is met within the step, -1 for none.

    Args:
        s: scene after the step.
        w: Room, after `read_step`.
        search: a Collision whose pairs and contacts are overwritten.
        columns: (nv, 3 nv and to spare), work.
        m: how many coordinates there are.
    """
    counts, body_count = s.counts[0], count_bodies(w)
    first = 3 * counts.contact_count + counts.connection_rows
    w.findings[0].met_within, w.findings[0].slides = -1, 0
    write_balance(s, w, columns)
    write_coordinates(s, w, body_count)
    contact_derivatives(
        s,
        w.poses,
        w.moved,
        search,
        w.bodies[:body_count],
        counts.contact_count,
        w.geometry,
        w.found,
    )
    place_contacts(s, w)
    place_joint_rows(s, w, first)
    count = write_contact_rows(s, w, m, body_count)
    count = write_joint_rows(s, w, first, count)
    add_force_turns(s, w, m, w.balance[BY_Q], w.linear)
    corrects, found = _is_corrected(s, w, first), w.findings[0]
    return count, found.slides, corrects, found.met_within


@inner_kernel
def _is_corrected(s, w, first):
    """Return whether there is a position correction (displacement.asks_for_displacement).

    Mimic joints count, however small their errors.
    """
    for number in range(s.counts[0].row_count):
        row = s.rows.rows[number]
        wanted, normal = row.correction_velocity, number % 3 == 0
        if number < 3 * s.counts[0].contact_count:
            if normal and wanted > 0.0:
                return 1
        elif wanted > 0.0 or (wanted != 0.0 and row.lower < 0.0):
            return 1
        elif number >= first and row.kind == MIMIC:
            if parameters_of(s, w, row).damping_time < 0.0:
                return 1
    return 0


@kernel
def differentiate_correction(s, w, columns, m, balance_out, linear_out):
    """Write the derivative by q of what impulses of the position correction leave: J' l - M w.

    `impulses` of w are those, `columns` and `linear_out` (nv, nv) are work; balance_out (3, nv, nv)
    as `balance`.
    """
    gravity, none = w.products[0, :3], w.own_change
    gravity[:] = 0.0
    none[:] = 0.0
    write_wrenches(s, w, 1.0)
    for k in range(none.shape[0]):
        w.acceleration[k] = w.correction[k]
    derivatives_in_world(w.space, w.q, none, w.acceleration, gravity, columns, balance_out)
    for i in range(none.shape[0]):
        for j in range(none.shape[0]):
            balance_out[BY_Q, i, j] *= -1.0
    balance_out[1] = 0.0
    add_force_turns(s, w, m, balance_out[BY_Q], linear_out)


@kernel
def contact_changes(s, w, m, velocity, rates_out, gaps_out):
    """Write derivatives by q (c, nv) of gaps, and of their rates with a velocity."""
    write_rates(w, velocity, count_bodies(w), w.start_rates)
    write_twists(w, velocity, m, OTHER)
    for c in range(s.counts[0].contact_count):
        write_turns(s, w, c, w.twists[OTHER])
        rates_out[c] = 0.0
        gaps_out[c] = 0.0
        add_rate_changes(w, 3 * c, 0, 1.0, w.start_rates, rates_out[c])
        add_gap_changes(w, c, 1.0, gaps_out[c])
