# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Friction redistribution: find normal impulses with which contacts do not slip.

With many contacts, the normal impulses are not unique. Other impulses may give a slipping contact
enough friction to stick. Dense islands are excluded. Some contact of a dense island begins to slip
in every step, and the sweeps would exceed their limit.
"""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Island,
    Records,
    Row,
    Scene,
    Settings,
    Vector,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.constraints.friction_laws import friction_holds
from hrpsim.engine.constraints.point_rows import point_velocity
from hrpsim.engine.constraints.rows import VELOCITY, Rows
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.solvers.cone_projection import has_free_cone, least_load, solve_cones
from hrpsim.engine.solvers.projected_gauss_seidel import FEW_SWEEPS
from hrpsim.engine.step.rows.direct_island import solve_direct_island
from hrpsim.engine.step.rows.newton_island import AFTER_ALL_SWEEPS, goes_to_newton
from hrpsim.engine.step.rows.row_sweeps import sweep
from hrpsim.engine.step.rows.saved_impulses import keep_impulses, restore_impulses
from hrpsim.engine.step.scene.islands import allowed_sweeps, summarise, sweeps_in_time
from hrpsim.engine.step.scene.status import DONE

# Friction is below its bound up to this fraction of the bound, squared.
_BOUND = 1.0 - 1e-9

# Number of sweeps over a lone robot after which the slip must be smaller.
_PERIOD = 20

# Slip below this multiple of the tolerance counts as zero, since sweeps leave such an error.
_SLIP = 10.0


@inlined_kernel
def redistribute_friction(s: Scene) -> int:
    """Search for other normal impulses in islands with contacts that begin to slip.

    The search runs in the first step in which a contact slips more slowly than the threshold, and
    again after 2, 4, 8 ... such steps.
    """
    due = False
    for k in range(s.counts[0].island_count):
        island = s.islands.ranges[k]
        island.slips = 0
        if (
            k == s.counts[0].direct_island and s.step_stats[0].split_rows > 0
        ):  # the split solver distributes the impulses evenly
            continue
        if sweeps_in_time(island) >= FEW_SWEEPS:
            due = (
                _begins_to_slip(s.settings[0], s.collision.contacts, s.constrained, s.rows, island)
                or due
            )
    if not due:
        return DONE
    return seek_grip(s)


@inlined_kernel
def _begins_to_slip(
    settings: Settings,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
) -> bool:
    """Count the steps of slip of each contact of an island. Return whether a search is due."""
    velocity = constrained.velocity
    island.slips = 0
    for k in range(island.first, island.contact_end):
        n = rows.island_rows[k]
        contact, normal, x, y = contacts[n // 3], rows.rows[n], rows.rows[n + 1], rows.rows[n + 2]
        if normal.impulse == 0.0 or friction_holds(normal, x, y, _BOUND):
            contact.slipping = 0
        elif _slips(settings, rows, island, contact, normal, x, y, velocity):
            contact.slipping += 1
            if island.converged and contact.slipping & (contact.slipping - 1) == 0:
                island.slips = 1
        else:
            contact.slipping = 0
    return island.slips != 0


@inner_kernel
def _slips(
    settings: Settings,
    rows: Rows,
    island: Island,
    contact: Contact,
    normal: Row,
    x: Row,
    y: Row,
    velocity: Vector,
) -> bool:
    """Return whether a loaded contact slips that did not slip at the start of the step."""
    if contact.slides or not has_free_cone(normal):
        return False
    if normal.impulse < least_load(rows.rows, rows.island_rows, island):
        return False
    _, slip_x, slip_y = point_velocity(normal, x, y, velocity)
    least = _SLIP * settings.tolerance
    return slip_x * slip_x + slip_y * slip_y > least * least


@lazy_kernel()
def seek_grip(s: Scene) -> int:
    """Apply impulses without slip in the islands that begin to slip, if such impulses are found."""
    counts = s.counts[0]
    settings = s.settings[0]
    for k in range(counts.island_count):
        island = s.islands.ranges[k]
        if not island.slips:
            continue
        residual, converged = island.residual, island.converged
        left = min(allowed_sweeps(island, settings) - island.sweeps, sweeps_in_time(island))
        keep_impulses(s.rows, island)
        when = goes_to_newton(settings, s.forest, s.constrained, s.rows, island)
        is_lone = when == AFTER_ALL_SWEEPS
        sweep_count, may_rest = solve_cones(
            s.collision.contacts,
            s.rows.rows,
            s.rows.island_rows,
            island,
            s.rows.response,
            settings.tolerance,
            left // 2,
            _PERIOD if is_lone else left,
            s.constrained.velocity,
            s.rows.descent,
        )
        island.sweeps += sweep_count
        if not may_rest:
            island.converged = 0
        elif k == counts.direct_island:
            solve_direct_island(s, settings.tolerance, VELOCITY)
        else:
            before, island.sweeps = island.sweeps, 0
            sweep(settings, counts, s.constrained, s.rows, island, left - sweep_count)
            island.sweeps += before
        if not island.converged or _any_slips(
            settings, s.collision.contacts, s.constrained, s.rows, island
        ):
            restore_impulses(s.constrained, s.rows, island)
            island.residual, island.converged = residual, converged
    summarise(counts, s.step_stats[0], s.constrained, s.rows, s.islands.ranges)
    return DONE


@inlined_kernel
def _any_slips(
    settings: Settings,
    contacts: Records[Contact],
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
) -> bool:
    """Return whether a contact of an island slips that did not slip at the start of the step."""
    for k in range(island.first, island.contact_end):
        n = rows.island_rows[k]
        normal, x, y = rows.rows[n], rows.rows[n + 1], rows.rows[n + 2]
        if normal.impulse == 0.0 or friction_holds(normal, x, y, _BOUND):
            continue
        if _slips(settings, rows, island, contacts[n // 3], normal, x, y, constrained.velocity):
            return True
    return False
