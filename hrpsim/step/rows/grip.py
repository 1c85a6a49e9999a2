"""Where contacts begin to slip although another division of the normal forces would hold them."""

from __future__ import annotations

from hrpsim.constraints.contact_rows import friction_holds
from hrpsim.constraints.point_rows import point_velocity
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, late_kernel
from hrpsim.jit.late import DIRECT_ISLAND, GRIP, call_with_scene
from hrpsim.solvers.cone_projection import has_free_cone, solve_cones
from hrpsim.solvers.impulses import apply_impulse
from hrpsim.solvers.projected_gauss_seidel import solve
from hrpsim.step.scene.islands import allowed_sweeps
from hrpsim.step.scene.status import DONE, NEEDS_KERNEL

# Share of its bound, squared, up to which friction is not at it.
_BOUND = 1.0 - 1e-9

# Share of the largest normal impulse of its island from which on a contact is loaded.
_LOADED = 1e-3

# Slip up to so many tolerances is none: it is what the sweeps leave.
_SLIP = 10.0


@inlined_kernel
def hold_what_slips(s):
    """Look for a division of normal forces that holds what begins to slip.

    It is looked for in the first step in which a contact slips slower than the threshold, and again
    after 2, 4, 8 ... steps of that.
    """
    tally, due = s.tally[0], False
    for k in range(tally.island_count):
        if k != tally.direct_island or tally.split_rows == 0:  # split contacts are divided evenly
            due = _begins_to_slip(s, s.islands.spans[k]) or due
    if not due:
        return DONE
    if s.late[GRIP] == 0:
        tally.needed = GRIP
        return NEEDS_KERNEL
    return call_with_scene(s, GRIP, ())


@inlined_kernel
def _begins_to_slip(s, span):
    """Count for how many steps each contact of an island has slipped; return whether one is due."""
    rows, contacts, velocity = s.rows.rows, s.collision.contacts, s.ports.velocity
    span.slips = 0
    for k in range(span.first, span.contact_end):
        n = s.rows.units[k]
        contact, normal, x, y = contacts[n // 3], rows[n], rows[n + 1], rows[n + 2]
        if normal.impulse == 0.0 or friction_holds(normal, x, y, _BOUND):
            contact.slipping = 0
        elif _slips(s, span, contact, normal, x, y, velocity):
            contact.slipping += 1
            if span.converged and contact.slipping & (contact.slipping - 1) == 0:
                span.slips = 1
        else:
            contact.slipping = 0
    return span.slips != 0


@inner_kernel
def _slips(s, span, contact, normal, x, y, velocity):
    """Return whether a loaded contact at its bound of friction slips, but not from the start on."""
    if contact.slides or not has_free_cone(normal):
        return False
    for k in range(span.first, span.contact_end):
        if normal.impulse < _LOADED * s.rows.rows[s.rows.units[k]].impulse:
            return False
    _, slip_x, slip_y = point_velocity(normal, x, y, velocity)
    least = _SLIP * s.settings[0].tolerance
    return slip_x * slip_x + slip_y * slip_y > least * least


@late_kernel
def seek_grip(s):
    """Give the islands that begin to slip impulses that hold them, where such are found."""
    tally, settings = s.tally[0], s.settings[0]
    for k in range(tally.island_count):
        span = s.islands.spans[k]
        if not span.slips:
            continue
        residual, converged = tally.residual, tally.converged
        left = allowed_sweeps(span, settings) - span.sweeps
        _keep_impulses(s, span)
        found = solve_cones(
            s.rows.rows,
            s.rows.units,
            span,
            s.rows.response,
            settings.tolerance,
            left // 2,
            s.ports.velocity,
            s.rows.descent,
        )
        span.sweeps += found
        if k == tally.direct_island:
            call_with_scene(s, DIRECT_ISLAND, (settings.tolerance,))
        else:
            _sweep_on(s, span, left - found)
        tally.sweeps = max(tally.sweeps, span.sweeps)
        if not span.converged or _any_slips(s, span):
            _take_back(s, span)
            tally.residual, tally.converged = residual, converged
    return DONE


@inlined_kernel
def _sweep_on(s, span, sweep_limit):
    """Go on with the sweeps of an island."""
    count, change, span.converged = solve(
        s.rows.rows,
        s.tally[0].row_count,
        s.rows.units,
        span,
        s.rows.response,
        s.settings[0].tolerance,
        0.0,
        sweep_limit,
        s.ports.velocity,
        s.rows.descent,
    )
    span.sweeps += count
    s.tally[0].residual = max(s.tally[0].residual, change)


@inlined_kernel
def _any_slips(s, span):
    """Return whether a contact of an island slips that did not from the start on."""
    rows = s.rows.rows
    for k in range(span.first, span.contact_end):
        n = s.rows.units[k]
        normal, x, y = rows[n], rows[n + 1], rows[n + 2]
        if normal.impulse == 0.0 or friction_holds(normal, x, y, _BOUND):
            continue
        if _slips(s, span, s.collision.contacts[n // 3], normal, x, y, s.ports.velocity):
            return True
    return False


@inner_kernel
def _keep_impulses(s, span):
    """Note the impulses of an island."""
    for k in range(span.first, span.end):
        first = s.rows.units[k]
        for number in range(first, first + (3 if k < span.contact_end else 1)):
            s.rows.rows[number].kept_impulse = s.rows.rows[number].impulse


@inner_kernel
def _take_back(s, span):
    """Return to the impulses that were noted."""
    for k in range(span.first, span.end):
        first = s.rows.units[k]
        for number in range(first, first + (3 if k < span.contact_end else 1)):
            row = s.rows.rows[number]
            change = row.kept_impulse - row.impulse
            row.impulse = row.kept_impulse
            apply_impulse(row, change, s.rows.response, s.ports.velocity)
