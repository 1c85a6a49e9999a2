# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts at the time of an impact, for balls in free flight.

Two balls on different paths do not touch at the points that were nearest at the start of the step.
Contacts are therefore recomputed at the time of the impact. Point and normal are then the same for
both bodies. Angular momentum is conserved, and a ball without friction gains no spin. All bodies
are balls (see `is_timed`), so that only their translation changes the contact.
"""

import math

from hrpsim.engine.collision.contacts import place_shape
from hrpsim.engine.collision.manifold import collide_simple
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Index,
    Island,
    Mat3,
    Records,
    Scene,
    Settings,
    Shape,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.contact_rows import move_contact_rows, tangents
from hrpsim.engine.constraints.impact_rows import OPEN, RESTING, gap_at, separates
from hrpsim.engine.constraints.rows import Rows, row_velocity
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.step.continuous.drift import takes_start_force
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.continuous.swept_motion import is_ballistic
from hrpsim.model.shapes.geometry import MESH, PLANE, SPHERE

# Time of a contact that was found with the poses in the middle of the step.
NEVER = -1.0


@inlined_kernel
def meets_sphere(a: Shape, b: Shape) -> bool:
    """Return whether a pair of shapes is a sphere and a shape with a closed form for spheres."""
    return min(a.kind, b.kind) == SPHERE and max(a.kind, b.kind) != MESH


@inner_kernel
def is_timed(forest: Forest, collision: Collision, rows: Rows, island: Island) -> bool:
    """Return whether the impacts of an island can happen at exact times within the step.

    All constraints must be contacts of balls, and each ball must be the only body of its tree. The
    balls then fly on parabolas between impacts, and their rotation changes no gap. Bodies with
    joints or corners would have to be moved back to the time of the impact. This would change
    energy and momentum.
    """
    shapes = collision.shapes
    if island.contact_end != island.end:
        return False
    for k in range(island.first, island.contact_end):
        contact = collision.contacts[rows.island_rows[k] // 3]
        a, b = shapes[contact.shape_a], shapes[contact.shape_b]
        if not (
            is_ballistic(forest, contact.body_a, a) and is_ballistic(forest, contact.body_b, b)
        ):
            return False
        if a.ballistic < 0 or b.ballistic < 0:
            return False
    return True


@inlined_kernel
def drifted(
    settings: Settings,
    contacts: Records[Contact],
    continuous: ContinuousDetection,
    island: Island,
    number: Index,
) -> float:
    """Return the time from the poses at which impacts begin to the poses of a contact [s].

    Impacts at exact times begin at the start of the step. Other impacts begin at the poses of the
    contact search, and the result is 0. `number` is the contact's normal row.
    """
    if not island.timed:
        return 0.0
    contact = contacts[number // 3]
    if takes_start_force(continuous, contact.body_a) or takes_start_force(
        continuous, contact.body_b
    ):
        return 0.0
    return settings.drift


@inner_kernel
def place_at_start(s: Scene, island: Island) -> None:
    """Recompute the contacts of an island of fast balls at the start of the step.

    In the middle of the step, the balls may have passed each other already. The gap of the contact
    is therefore computed for motion along a straight line.
    """
    for k in range(island.first, island.contact_end):
        number = s.rows.island_rows[k]
        row, impact = s.rows.rows[number], s.rows.impacts[number]
        impact.state, impact.gap = OPEN, math.inf
        impact.lower, impact.upper = row.lower, row.upper
        place_contact(s, number, 0.0)
        if impact.gap < math.inf:
            gap = (
                impact.gap
                + drifted(s.settings[0], s.collision.contacts, s.continuous, island, number)
                * impact.rate
            )
            s.collision.contacts[number // 3].gap = gap


@inner_kernel
def place_contact(s: Scene, number: Index, now: float) -> None:
    """Recompute the contact of normal row `number` at the time `now` [s], and write its rows.

    If the shapes do not touch at `now`, the contact does not change.
    """
    contact, impact = s.collision.contacts[number // 3], s.rows.impacts[number]
    a, b = s.collision.shapes[contact.shape_a], s.collision.shapes[contact.shape_b]
    impact.placed = now
    if min(a.kind, b.kind) == PLANE or not meets_sphere(a, b):
        return
    work = s.collision.manifold[0]
    reference = s.kinematics[contact.body_a if contact.body_a >= 0 else contact.body_b].origin
    place_shape(s.forest, s.kinematics, a, reference, work.R_a, work.p_a)
    place_shape(s.forest, s.kinematics, b, reference, work.R_b, work.p_b)
    for r in range(3):
        work.p_a[r] += _displacement(s, contact.body_a, r, now)
        work.p_b[r] += _displacement(s, contact.body_b, r, now)
    point_count = collide_simple(
        a.kind, a.size, work.R_a, work.p_a, b.kind, b.size, work.R_b, work.p_b, math.inf, work
    )
    for k in range(point_count):
        if work.feature[k] == contact.feature:
            _turn_impulse(contact, work.normal[k], s.work.directions)
            for r in range(3):
                contact.normal[r] = work.normal[k, r]
                contact.point[r] = work.point[k, r] + reference[r]
                contact.point_a[r] = contact.point_b[r] = contact.point[r]
            _from_origin(s, contact.body_a, now, contact.point_a)
            _from_origin(s, contact.body_b, now, contact.point_b)
            _start_from(s, number, now, work.gap[k])
            return


@inner_kernel
def _displacement(s: Scene, body: Index, axis: int, now: float) -> float:
    """Return the displacement of a body along an axis from the contact search to `now` [m].

    Contacts of a semi-implicit step are found in the middle of the step.
    """
    if body < 0:
        return 0.0
    constrained, settings = s.constrained, s.settings[0]
    k = constrained.bodies[constrained.supports[body].constraint_body].offset + 3 + axis
    moved = constrained.gap_offset[k] + now * (
        constrained.velocity[k] + 0.5 * constrained.acceleration[k] * now
    )
    if settings.drift > 0.0 and not takes_start_force(s.continuous, body):
        moved -= settings.drift * s.velocity[s.forest.bodies[body].v_index + 3 + axis]
    return moved


@inlined_kernel
def _from_origin(s: Scene, body: Index, now: float, point: Vec3) -> None:
    """Transform a point in the world to the vector from the origin of a body at the time `now`."""
    if body >= 0:
        for r in range(3):
            point[r] -= s.kinematics[body].origin[r] + _displacement(s, body, r, now)


@inner_kernel
def _turn_impulse(contact: Contact, normal: Vector, directions: Mat3) -> None:
    """Transform the impact impulse to components along a new normal and its tangents."""
    total = directions[0]
    n, impact_impulse = contact.normal, contact.impact_impulse
    x, y = directions[1], directions[2]
    tangents(n, x, y)
    f0, f1, f2 = impact_impulse[0], impact_impulse[1], impact_impulse[2]
    for r in range(3):
        total[r] = f0 * n[r] + f1 * x[r] + f2 * y[r]
    tangents(normal, x, y)
    impact_impulse[0] = total[0] * normal[0] + total[1] * normal[1] + total[2] * normal[2]
    impact_impulse[1] = total[0] * x[0] + total[1] * x[1] + total[2] * x[2]
    impact_impulse[2] = total[0] * y[0] + total[1] * y[1] + total[2] * y[2]


@inner_kernel
def _start_from(s: Scene, number: Index, now: float, gap: float) -> None:
    """Write the rows of a contact at the time `now` [s], and the subsequent motion of the gap."""
    rows, impact = s.rows.rows, s.rows.impacts[number]
    normal, x, y = rows[number], rows[number + 1], rows[number + 2]
    contact = s.collision.contacts[number // 3]
    move_contact_rows(
        s.forest, contact, s.work.directions, s.constrained, normal, x, y, s.rows.response
    )
    normal.lower, normal.upper = impact.lower, impact.upper
    before = impact.rate
    impact.rate = row_velocity(normal, s.constrained.velocity)
    impact.acceleration = row_velocity(normal, s.constrained.acceleration)
    if impact.state == RESTING:
        impact.settled += impact.rate - before
        if separates(impact, now, s.settings[0].restitution_threshold):
            impact.state = OPEN
    impact.offset = impact.gap = 0.0
    impact.gap = gap - gap_at(impact, now)
    impact.offset = impact.gap - row_velocity(normal, s.constrained.gap_offset)
