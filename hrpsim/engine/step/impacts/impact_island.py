# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Islands with impacts: whether impacts are possible, and the motion before and after them.

The contact search considers the velocities at the start of the step. After an impact, a ball that
was at rest may reach another ball in the same step. The contact search is then repeated with a
larger distance.
"""

import math

from hrpsim.engine.collision.contacts import far_apart
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import FAST, look_ahead, relative_way
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Counts,
    Impact,
    Index,
    Island,
    MaterialPair,
    Records,
    Row,
    Scene,
    Settings,
    Shape,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.impact_rows import ABSENT, CLOSED, OPEN, RESTING, is_at_rest
from hrpsim.engine.constraints.rows import (
    CONTACT_ROW,
    LOWER_LIMIT,
    Rows,
    is_one_sided,
    row_velocity,
)
from hrpsim.engine.constraints.solver_table import ITERATIVE, PENALTY
from hrpsim.engine.dynamics.constraint_bodies import ConstraintBodies
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.solvers.impulses import apply_impulse
from hrpsim.engine.spatial.vector import point_velocity
from hrpsim.engine.step.continuous.swept_motion import FAR
from hrpsim.engine.step.impacts.impact_place import NEVER, drifted
from hrpsim.engine.step.impacts.impact_round import begin_choice, choose, solve_listed
from hrpsim.engine.step.impacts.records import Impacts
from hrpsim.model.shapes.geometry import PLANE

# Factor of the distance of the wider search, so that this search suffices.
_AMPLE = 1.2
# Maximum number of searches in a step. Later contacts are found in the next step.
_MOST_SEARCHES = 40


@inlined_kernel
def _materials_of(
    shapes: Records[Shape], materials: Records[MaterialPair], contact: Contact
) -> MaterialPair:
    """Return the MATERIAL_PAIR of a contact."""
    return materials[shapes[contact.shape_a].material, shapes[contact.shape_b].material]


@inner_kernel
def _gap_of(
    settings: Settings,
    forest: Forest,
    q: Vector,
    collision: Collision,
    materials: Records[MaterialPair],
    row: Row,
) -> tuple[float, float]:
    """Return the gap of a one-sided row, and the largest gap at which the row rests [m or rad]."""
    if row.kind == CONTACT_ROW:
        contact = collision.contacts[row.source]
        rigid = _materials_of(collision.shapes, materials, contact).damping_time < 0.0
        closed = settings.slop if row.solver != ITERATIVE and rigid else CLOSED
        return contact.gap, max(closed, CLOSED)
    dof = forest.dofs[row.source]
    position = q[dof.q_index]
    if row.kind == LOWER_LIMIT:
        return position - dof.lower, CLOSED
    return dof.upper - position, CLOSED


@inlined_kernel
def _is_beyond(contacts: Records[Contact], island: Island, row: Row) -> bool:
    """Return whether a row belongs to a distant contact (FAR) without effect in this island.

    Distant contacts have effect only if impacts happen at exact times.
    """
    if island.timed or row.kind != CONTACT_ROW:
        return False
    return contacts[row.source].gap_offset == FAR


@inner_kernel
def bounces(
    collision: Collision, materials: Records[MaterialPair], rows: Rows, island: Island
) -> bool:
    """Return whether any contact of an island has a coefficient of restitution above 0."""
    for k in range(island.first, island.contact_end):
        contact = collision.contacts[rows.island_rows[k] // 3]
        if _materials_of(collision.shapes, materials, contact).restitution > 0.0:
            return True
    return False


@inner_kernel
def may_have_impacts(
    settings: Settings,
    forest: Forest,
    q: Vector,
    collision: Collision,
    materials: Records[MaterialPair],
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
) -> bool:
    """Return whether an island has restitution, and a gap that may close fast in this step.

    Other islands have no impacts with restitution.
    """
    bounces = closes = False
    for k in range(island.first, island.end):
        row = rows.rows[rows.island_rows[k]]
        if not is_one_sided(row) or row.solver == PENALTY:
            continue
        if _is_beyond(collision.contacts, island, row):
            continue
        if row.kind == CONTACT_ROW:
            pair = _materials_of(collision.shapes, materials, collision.contacts[row.source])
            bounces = bounces or pair.restitution > 0.0
        gap, closed = _gap_of(settings, forest, q, collision, materials, row)
        closes = closes or _may_close(settings, constrained, row, gap, closed)
    return bounces and closes


@inlined_kernel
def _may_close(
    settings: Settings, constrained: ConstraintBodies, row: Row, gap: float, closed: float
) -> bool:
    """Return whether a gap may close in this step, faster than the restitution threshold.

    Args:
        settings: settings of the step.
        constrained: constraint bodies of the step.
        row: ROW record.
        gap: gap of the row [m].
        closed: largest gap at which the row rests [m].
    """
    dt, threshold = settings.time_step, settings.restitution_threshold
    before = row_velocity(row, constrained.velocity)
    after = before + dt * row_velocity(row, constrained.acceleration)
    rests = gap <= closed and abs(before) <= threshold
    fastest = min(before, after)
    return not rests and fastest < -threshold and gap + dt * fastest <= CLOSED


@inner_kernel
def needs_support(
    settings: Settings,
    forest: Forest,
    q: Vector,
    collision: Collision,
    materials: Records[MaterialPair],
    constrained: ConstraintBodies,
    rows: Rows,
    island: Island,
) -> bool:
    """Return whether constraints act on an island before its first impact.

    Args:
        settings: settings of the step.
        forest: constants of the bodies and joints.
        q: configuration (nq,).
        collision: shapes and contacts of the world.
        materials: records of pairs of materials.
        constrained: constraint bodies of the step.
        rows: rows of the step.
        island: record of the island, with a range of `island_rows`.
    """
    if island.contact_end != island.end:
        return True
    for k in range(island.first, island.contact_end):
        if _supports(
            settings, forest, q, collision, materials, constrained, rows.rows[rows.island_rows[k]]
        ):
            return True
    return False


@inlined_kernel
def _supports(
    settings: Settings,
    forest: Forest,
    q: Vector,
    collision: Collision,
    materials: Records[MaterialPair],
    constrained: ConstraintBodies,
    row: Row,
) -> bool:
    """Return whether a row acts from the start of the step, and not only after its gap closes."""
    if not is_one_sided(row):
        return True
    gap, closed = _gap_of(settings, forest, q, collision, materials, row)
    rate = row_velocity(row, constrained.velocity)
    rests = gap <= closed and abs(rate) <= settings.restitution_threshold
    return rests and row.solver != PENALTY


@inlined_kernel
def _choose_supports(s: Scene, island: Island) -> None:
    """List the rows that act at the start of the step, and set all other impulses to zero."""
    rows, constrained = s.rows.rows, s.constrained
    begin_choice(s.islands)
    for k in range(island.first, island.end):
        number = s.rows.island_rows[k]
        row, impact = rows[number], s.rows.impacts[number]
        impact.lower, impact.upper, impact.chosen = row.lower, row.upper, 0
        if _supports(s.settings[0], s.forest, s.q, s.collision, s.materials, constrained, row):
            choose(s.rows, s.islands, number)
            if island.timed:
                row.target += min(row_velocity(row, constrained.velocity), 0.0)
        else:
            row.impulse = 0.0
            if row.kind == CONTACT_ROW:
                rows[number + 1].impulse = rows[number + 2].impulse = 0.0


@inner_kernel
def find_support(s: Scene, island_number: Index) -> None:
    """Add the effect of the constraints at the start of the step to an island's acceleration.

    For example, a ball on the floor must not fall until another ball strikes it. If impacts have
    exact times, slowly closing gaps are not stopped here. They come to rest in a round of impacts.
    """
    settings = s.settings[0]
    island, rows, constrained = s.islands.ranges[island_number], s.rows.rows, s.constrained
    dt = settings.time_step
    _choose_supports(s, island)
    for k in range(constrained.velocity.shape[0]):
        constrained.gap_offset[k] = constrained.velocity[k]
        constrained.velocity[k] += dt * constrained.acceleration[k]
    chosen = s.islands.chosen[0]
    for k in range(chosen.end):
        number = s.rows.chosen[k]
        for tangent in range(number, number + (3 if rows[number].kind == CONTACT_ROW else 1)):
            row = rows[tangent]
            apply_impulse(row, row.impulse, s.rows.response, constrained.velocity)
    solve_listed(s, island_number, settings.tolerance)
    for k in range(island.first, island.end):
        number = s.rows.island_rows[k]
        impact = s.rows.impacts[number]
        rows[number].lower, rows[number].upper = impact.lower, impact.upper
    for k in range(constrained.velocity.shape[0]):
        constrained.acceleration[k] = (constrained.velocity[k] - constrained.gap_offset[k]) / dt
        constrained.velocity[k] = constrained.gap_offset[k]
        constrained.gap_offset[k] = 0.0


@inner_kernel
def begin_island(s: Scene, island: Island) -> None:
    """Write the initial gaps and rates of an island's rows for the impacts of the step."""
    contacts = s.collision.contacts
    for k in range(island.first, island.end):
        number = s.rows.island_rows[k]
        row, impact = s.rows.rows[number], s.rows.impacts[number]
        impact.lower, impact.upper, impact.chosen = row.lower, row.upper, 0
        impact.state = ABSENT
        drift = drifted(s.settings[0], contacts, s.continuous, island, number)
        impact.placed = 0.0 if drift == 0.0 else NEVER
        impact.restitution, impact.sequential = 0.0, 0
        impact.settled = impact.floor = 0.0
        if is_one_sided(row) and not _is_beyond(contacts, island, row):
            _begin_gap(s, row, impact, island.timed, drift)


@inlined_kernel
def _begin_gap(s: Scene, row: Row, impact: Impact, timed: int, drift: float) -> None:
    """Write the initial gap and rate of a one-sided row. Skip compliant rows without restitution.

    Args:
        s: the scene.
        row: ROW record.
        impact: IMPACT record of the row.
        timed: whether impacts happen at exact times.
        drift: time from the poses at which impacts begin to the poses of the contact [s].
    """
    settings, threshold = s.settings[0], s.settings[0].restitution_threshold
    gap, closed = _gap_of(settings, s.forest, s.q, s.collision, s.materials, row)
    yields = row.compliance > 0.0
    if row.kind == CONTACT_ROW:
        yields = _read_material(s, row, impact, gap <= closed) or yields
    if row.solver == PENALTY or (yields and impact.restitution == 0.0):
        return
    impact.rate = row_velocity(row, s.constrained.velocity)
    impact.offset = impact.gap = gap - drift * impact.rate
    impact.acceleration = row_velocity(row, s.constrained.acceleration)
    if not timed and impact.restitution == 0.0 and gap > closed:
        impact.floor = -gap / settings.time_step
    rests = abs(impact.rate) <= threshold and (not timed or is_at_rest(impact.rate, threshold))
    impact.state = RESTING if rests and gap <= closed else OPEN


@inlined_kernel
def _read_material(s: Scene, row: Row, impact: Impact, is_closed: bool) -> bool:
    """Write the restitution of a contact. Return whether the contact is closed and compliant."""
    pair = _materials_of(s.collision.shapes, s.materials, s.collision.contacts[row.source])
    impact.restitution = pair.restitution
    impact.sequential = pair.sequential if pair.restitution > 0.0 else 0
    return pair.damping_time >= 0.0 and is_closed


@inlined_kernel
def _any_comes_near(s: Scene) -> bool:
    """Return whether impacts bring two shapes without a contact near each other."""
    collision, contacts = s.collision, s.collision.contacts
    for c in range(s.search[0].candidate_count):
        number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
        a, b = collision.shapes[number_a], collision.shapes[number_b]
        if a.gained + b.gained <= a.driven + b.driven:
            continue
        near, more = _look_further(s, a, b)
        if more > 0.0 and not far_apart(a, b, near + more):
            if not _have_contact(s.counts[0], contacts, number_a, number_b):
                return True
    return False


@inner_kernel
def widen_search(s: Scene) -> bool:
    """Compute the displacement of each shape by impacts.

    The displacements are written to the field `driven` of SHAPE records [m].

    Returns:
        Whether the contact search must be repeated.
    """
    collision, shapes = s.collision, s.collision.shapes
    if s.impacts.state[0].wider_searches >= _MOST_SEARCHES or not _find_gained(s):
        return False
    result = _any_comes_near(s)
    for k in range(collision.moving.shape[0]):
        shape = shapes[collision.moving[k]]
        if shape.gained > shape.driven:
            shape.driven = _AMPLE * shape.gained
            result = result or shape.driven > shape.listed_slack
    s.impacts.state[0].wider_searches += 1
    return result


@inner_kernel
def _look_further(s: Scene, a: Shape, b: Shape) -> tuple[float, float]:
    """Return the distance of the contact search of two shapes, and its increase by impacts [m]."""
    settings = s.settings[0]
    near = look_ahead(settings, s.forest, s.kinematics, a, b)
    reach, way = near - settings.contact_margin, a.travel + b.travel
    further = way + max(0.0, a.gained - a.driven) + max(0.0, b.gained - b.driven)
    bounded = settings.continuous and min(a.kind, b.kind) != PLANE
    bounded = bounded and not (a.ballistic > 0 and b.ballistic > 0)
    if a.body < 0 or b.body < 0:
        if bounded:
            further = min(further, FAST * (b.thickness if a.body < 0 else a.thickness))
        return near, further - reach
    way = relative_way(s.forest, s.kinematics, a, b, settings.time_step)
    further = min(_way_after_impacts(s, a, b), way + a.gained + b.gained)
    if bounded and further > FAST * min(a.thickness, b.thickness):
        further = min(further, 2.0 * FAST * min(a.thickness, b.thickness))
    return near, further - reach


@inner_kernel
def _way_after_impacts(s: Scene, a: Shape, b: Shape) -> float:
    """Return a bound on the relative motion of two shapes in a step after impacts [m]."""
    if a.radius < b.radius:
        return _way_at(s, a, b, a.center)
    way = _way_at(s, a, b, b.center)
    if a.radius == b.radius:  # the minimum, so that the order does not matter
        way = min(way, _way_at(s, a, b, a.center))
    return way


@inlined_kernel
def _way_at(s: Scene, a: Shape, b: Shape, center: Vec3) -> float:
    """Return the bound on the relative motion, for points in the smaller shape's bounding ball [m].

    Args:
        s: the scene.
        a: SHAPE record of the first shape.
        b: SHAPE record of the second shape.
        center: centre of the ball (3,) [m].
    """
    x, y, z, p, q, r = _motion_after_impacts(s, a.body, center)
    u, v, w, d, e, f = _motion_after_impacts(s, b.body, center)
    turning = math.hypot(math.hypot(p - d, q - e), r - f)
    speed = math.hypot(math.hypot(x - u, y - v), z - w)
    return s.settings[0].time_step * (speed + turning * min(a.radius, b.radius))


@inner_kernel
def _motion_after_impacts(s: Scene, body: Index, point: Vec3) -> tuple[float, ...]:
    """Return the velocity of a body's point, and the angular velocity, after the impacts.

    Returns:
        (x, y, z of the velocity [m/s], x, y, z of the angular velocity [rad/s]).
    """
    origin = s.kinematics[s.forest.bodies[body].root].origin
    x, y, z = point[0] - origin[0], point[1] - origin[1], point[2] - origin[2]
    number = s.constrained.supports[body].constraint_body
    if number < 0:
        twist = s.kinematics[body].v
        x, y, z = point_velocity(twist, x, y, z)
        return x, y, z, twist[0], twist[1], twist[2]
    at, v = s.constrained.bodies[number].offset, s.constrained.velocity
    p, q, r = v[at], v[at + 1], v[at + 2]
    return v[at + 3] + q * z - r * y, v[at + 4] + r * x - p * z, v[at + 5] + p * y - q * x, p, q, r


@inner_kernel
def _find_gained(s: Scene) -> bool:
    """Write the displacement that impacts add to each shape. Return whether any is positive."""
    collision, constrained, dt = s.collision, s.constrained, s.settings[0].time_step
    any_gained = False
    for k in range(collision.moving.shape[0]):
        shape = collision.shapes[collision.moving[k]]
        shape.gained = 0.0
        number = constrained.supports[shape.body].constraint_body
        if number < 0:
            continue
        origin = s.kinematics[s.forest.bodies[shape.body].root].origin
        before, v = s.kinematics[shape.body].v, constrained.velocity
        at, p = constrained.bodies[number].offset, shape.center
        a, b, c = v[at] - before[0], v[at + 1] - before[1], v[at + 2] - before[2]
        x, y, z = p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]
        u = v[at + 3] - before[3] + b * z - c * y
        w = v[at + 5] - before[5] + a * y - b * x
        speed = math.hypot(math.hypot(u, v[at + 4] - before[4] + c * x - a * z), w)
        speed += shape.radius * math.sqrt(a * a + b * b + c * c)
        change = 0.0
        for r in range(at, at + 6):
            change = max(change, abs(constrained.acceleration[r]) * (shape.radius + 1.0))
        shape.gained = max(0.0, dt * (speed - dt * change))
        any_gained = any_gained or shape.gained > 0.0
    return any_gained


@inner_kernel
def _have_contact(counts: Counts, contacts: Records[Contact], a: int, b: int) -> bool:
    """Return whether two shapes have a contact."""
    for c in range(counts.contact_count):
        contact = contacts[c]
        if contact.shape_a == a and contact.shape_b == b:
            return True
    return False


@inner_kernel
def forget_driven(collision: Collision, impacts: Impacts) -> None:
    """Reset the distances by which impacts move shapes, at the end of a step."""
    impacts.state[0].wider_searches = 0
    for k in range(collision.moving.shape[0]):
        collision.shapes[collision.moving[k]].driven = 0.0
