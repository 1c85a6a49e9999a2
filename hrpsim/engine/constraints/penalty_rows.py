# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Penalty contacts: springs with a maximum extension, and stick-slip friction (Kuroda, ch. 5).

A spring and a damper push a point that penetrates. Their force is known at the start of the step,
so the rows of the point have given impulses. Beyond the spring's maximum extension the normal row
also acts as a constraint. A point is in one of four phases:

- open: no force,
- stuck: a tangential spring acts, with its anchor where sticking began,
- sliding: the friction is the kinetic coefficient times the normal spring's force,
- creeping: the slip is slow compared with the deflection of the tangential spring. The point drags
  the anchor along, and the friction has the kinetic bound.
"""

import math

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Index,
    Kinematics,
    Mat3,
    MaterialPair,
    Records,
    Row,
    Scene,
    Seconds,
    Settings,
    Vec3,
    Vector,
)
from hrpsim.engine.constraints.contact_rows import contact_directions
from hrpsim.engine.constraints.point_rows import point_velocity
from hrpsim.engine.constraints.rows import coupling
from hrpsim.engine.constraints.solver_table import ITERATIVE, PENALTY
from hrpsim.engine.kinematics.forest import Forest

OPEN, SLIDING, STUCK, CREEPING = range(4)  # phases of a penalty contact

# A contact's default stiffness, in units of its mass over the time step squared; it is divided
# among more points between two shapes than so many.
STIFFNESS_SHARE = 0.5
_FULL_POINTS = 4.0
# Its default maximum extension, as a multiple of its deflection under the weight of its own mass.
_EXTENSION_SHARE = 4.0

# A point creeps that slips in a step by less than this share of its spring's deflection under the
# kinetic friction.
_CREEP = 0.1

# Symplectic Euler is stable while (k dt^2 + 2 c dt) / m is below this.
STABLE_BELOW = 4.0
_SAFE = 3.0  # what springs of the usual stiffness are softened to, from the next step on
_POWER_STEPS = 6

_UNBOUNDED = 1e30  # a cone that holds any given friction
_LEAST_SPEED = 1e-100  # [m/s]


@inlined_kernel
def _press_pair(s: Scene, pair: MaterialPair, first: Index, end: Index) -> tuple[bool, float]:
    """Write the impulses of the penalty contacts of two shapes.

    Returns:
        (whether any contact began to press, `share` that `_choose_spring` used for all contacts).
    """
    rows, contacts = s.rows.rows, s.collision.contacts
    stiffness_ratio = STIFFNESS_SHARE * min(1.0, _FULL_POINTS / (end - first))
    for number in range(first, end):
        stiffness_ratio = min(stiffness_ratio, STIFFNESS_SHARE * contacts[number].penalty.softening)
    begins = False
    for number in range(first, end):
        contact = contacts[number]
        was_open = contact.penalty.phase == OPEN
        normal, x, y = rows[3 * number], rows[3 * number + 1], rows[3 * number + 2]
        _press(s, contact, pair, stiffness_ratio, normal, x, y)
        begins = begins or (was_open and contact.penalty.phase != OPEN)
    return begins, stiffness_ratio


@inner_kernel
def write_penalty_rows(s: Scene) -> tuple[float, int]:
    """Write the impulses of penalty contacts' rows, and advance the friction state.

    `write_contact_rows` must have written the rows. constrained.velocity must be the velocity at
    the start of the step. A mode of a pair of shapes has the ratio (k dt^2 + 2 c dt) / m. The
    largest ratio shows how near the explicit springs are to instability.

    Returns:
        (largest ratio of all pairs, first contact of that pair). Only pairs in which a point began
        to press in this step count. Pairs whose stiffness the user did not choose are left out.
        Without any pair the ratio is 0.
    """
    rows, response, settings = s.rows.rows, s.rows.response, s.settings[0]
    contacts, contact_count = s.collision.contacts, s.counts[0].contact_count
    stiffest = 0.0
    c = stiffest_contact = np.int64(0)
    while c < contact_count:
        first, c = c, _end_of_pair(contacts, contact_count, c)
        shapes = s.collision.shapes
        a, b = shapes[contacts[first].shape_a], shapes[contacts[first].shape_b]
        if s.solver_choice[a.solver_class, b.solver_class] != PENALTY:
            for number in range(first, c):
                contacts[number].stiffness = contacts[number].damping = 0.0
            continue
        pair = s.materials[a.material, b.material]
        begins, stiffness_ratio = _press_pair(s, pair, first, c)
        if begins:
            ratio = _stiffness_of_modes(contacts, first, c, settings.time_step, rows, response)
            if pair.stiffness > 0.0 and ratio > stiffest:
                stiffest, stiffest_contact = ratio, first
            elif pair.stiffness == 0.0 and ratio > _SAFE:
                for number in range(first, c):
                    contacts[number].penalty.softening = (
                        stiffness_ratio / STIFFNESS_SHARE * (_SAFE / ratio) ** 2
                    )
    return stiffest, stiffest_contact


@inlined_kernel
def _end_of_pair(contacts: Records[Contact], contact_count: int, first: Index) -> int:
    """Return the index after the last contact of the pair of shapes that begins at `first`."""
    c = first
    while (
        c < contact_count
        and contacts[c].shape_a == contacts[first].shape_a
        and contacts[c].shape_b == contacts[first].shape_b
    ):
        c += 1
    return c


@inlined_kernel
def _choose_spring(
    contact: Contact, pair: MaterialPair, share: float, normal: Row, x: Row, time_step: Seconds
) -> float:
    """Write stiffness and damping of a point, and return the spring's maximum extension [m].

    share: stiffness in units of mass / time_step^2, if the material does not set a stiffness.
    """
    mass = 1.0 / max(normal.inverse_mass, x.inverse_mass)
    k = pair.stiffness
    if k == 0.0:
        k = share * mass / (time_step * time_step)
    contact.stiffness = k
    contact.damping = 2.0 * pair.damping_ratio * math.sqrt(k * mass)
    if pair.max_extension < 0.0:
        return _EXTENSION_SHARE * STANDARD_GRAVITY * mass / k
    return pair.max_extension


@inlined_kernel
def _change_phase(
    kinematics: Records[Kinematics],
    contact: Contact,
    settings: Settings,
    directions: Mat3,
    force: float,
    speed: float,
    before: float,
) -> None:
    """Update the phase of a point, except for the change between sticking and sliding in `_stick`.

    force: normal force [N]. speed: slip [m/s]. before < 0: the slip of the point has reversed.
    """
    if force == 0.0:
        contact.penalty.phase = OPEN
    elif contact.penalty.phase < STUCK and (
        speed < settings.slip_threshold or (contact.penalty.phase == SLIDING and before < 0.0)
    ):
        contact.penalty.phase = STUCK
        _anchor(kinematics, contact, directions, 0.0, 0.0)
    elif contact.penalty.phase == OPEN:
        contact.penalty.phase = SLIDING


@inlined_kernel  # many parameters: the data of the contact are passed in registers
def _stick(
    forest: Forest, kinematics: Records[Kinematics], contact: Contact, pair: MaterialPair,
    directions: Mat3, force: float, slip_x: float, slip_y: float, speed: float, time_step: Seconds,
) -> tuple[float, float]:  # fmt: skip
    """Return the friction of a sticking point along both tangents [N].

    If the friction exceeds its bound, the point creeps or slides, and the friction is kinetic.
    """
    k, c = contact.stiffness, contact.damping
    stretch_x, stretch_y = _stretch(forest, kinematics, contact, directions)
    along_x, along_y = -k * stretch_x - c * slip_x, -k * stretch_y - c * slip_y
    load = math.sqrt(along_x * along_x + along_y * along_y)
    kinetic = pair.kinetic * force
    bound = kinetic if contact.penalty.phase == CREEPING else pair.static * force
    contact.penalty.phase = STUCK if load <= bound else SLIDING
    if load > bound and k * speed * time_step < _CREEP * kinetic:
        contact.penalty.phase = CREEPING
        along_x, along_y = kinetic / load * along_x, kinetic / load * along_y
        stretch_x, stretch_y = -(along_x + c * slip_x) / k, -(along_y + c * slip_y) / k
    _anchor(kinematics, contact, directions, stretch_x, stretch_y)
    return along_x, along_y


@inner_kernel
def _press(
    s: Scene, contact: Contact, pair: MaterialPair, share: float, normal: Row, x: Row, y: Row
) -> None:
    """Write the rows of one penalty contact: normal force and friction."""
    kinematics, settings, directions = s.kinematics, s.settings[0], s.work.directions
    time_step = settings.time_step
    contact.stiffness = contact.damping = 0.0
    normal.solver = x.solver = y.solver = ITERATIVE
    if normal.inverse_mass <= 0.0:
        contact.penalty.phase = OPEN
        normal.lower = normal.upper = normal.impulse = 0.0
        return
    w = _choose_spring(contact, pair, share, normal, x, time_step)
    k, c = contact.stiffness, contact.damping
    approach, slip_x, slip_y = point_velocity(normal, x, y, s.constrained.velocity)
    force = max(0.0, -k * contact.gap - c * approach) if contact.gap < 0.0 else 0.0
    normal.upper = pair.force_limit * time_step
    normal.lower = min(force * time_step, normal.upper)
    normal.impulse = max(normal.impulse, normal.lower)
    left = contact.gap + w
    if left >= 0.0:
        normal.target = normal.correction_velocity = -left / time_step
    else:
        normal.target = 0.0
        normal.correction_velocity = min(
            -settings.correction_rate * left / time_step, settings.correction_speed
        )
    contact_directions(contact, directions)
    before = 0.0
    for r in range(3):
        slip = slip_x * directions[1, r] + slip_y * directions[2, r]
        before += slip * contact.penalty.slip[r]
        contact.penalty.slip[r] = slip
    speed = max(math.sqrt(slip_x * slip_x + slip_y * slip_y), _LEAST_SPEED)
    if left + time_step * approach <= 0.0:
        contact.penalty.phase = SLIDING  # deep: friction is the constraint's
        return
    _change_phase(kinematics, contact, settings, directions, force, speed, before)
    along_x = along_y = 0.0
    if contact.penalty.phase >= STUCK:
        along_x, along_y = _stick(
            s.forest, kinematics, contact, pair, directions, force, slip_x, slip_y, speed, time_step
        )
    if contact.penalty.phase == SLIDING:
        along_x = -pair.kinetic * force * slip_x / speed
        along_y = -pair.kinetic * force * slip_y / speed
    x.impulse, y.impulse = along_x * time_step, along_y * time_step
    for row in (x, y):
        row.mass = row.inverse_mass = 0.0
    normal.friction = _UNBOUNDED


@inlined_kernel
def _to_body(kinematics: Records[Kinematics], body: Index, point: Vec3, held_out: Vec3) -> None:
    """Convert a point relative to the tree's origin to the frame of its body."""
    for r in range(3):
        held_out[r] = point[r]
    if body >= 0:
        R, p = kinematics[body].R, kinematics[body].p
        x, y, z = point[0] - p[0], point[1] - p[1], point[2] - p[2]
        for r in range(3):
            held_out[r] = R[0, r] * x + R[1, r] * y + R[2, r] * z


@inlined_kernel
def _stretch(
    forest: Forest, kinematics: Records[Kinematics], contact: Contact, directions: Mat3
) -> tuple[float, float]:
    """Return the vector from anchor b to anchor a along both tangents [m]."""
    along_x = along_y = 0.0
    for end in range(2):
        body = contact.body_a if end == 0 else contact.body_b
        anchor = contact.penalty.anchor_a if end == 0 else contact.penalty.anchor_b
        sign = 1.0 if end == 0 else -1.0
        for r in range(3):
            at = anchor[r]
            if body >= 0:
                R = kinematics[body].R
                origin = kinematics[forest.bodies[body].root].origin[r]
                turned = R[r, 0] * anchor[0] + R[r, 1] * anchor[1] + R[r, 2] * anchor[2]
                at = origin + (kinematics[body].p[r] + turned)
            along_x += sign * at * directions[1, r]
            along_y += sign * at * directions[2, r]
    return along_x, along_y


@inlined_kernel
def _anchor(
    kinematics: Records[Kinematics],
    contact: Contact,
    directions: Mat3,
    stretch_x: float,
    stretch_y: float,
) -> None:
    """Anchor the spring at the present contact point, with given stretches along the tangents [m].

    The anchors therefore move along with a rolling point, and keep the slip accumulated so far.
    """
    point = contact.penalty.anchor_b
    for r in range(3):
        stretch = stretch_x * directions[1, r] + stretch_y * directions[2, r]
        point[r] = contact.point_b[r] - stretch
    _to_body(kinematics, contact.body_b, point, contact.penalty.anchor_b)
    _to_body(kinematics, contact.body_a, contact.point_a, contact.penalty.anchor_a)


@inner_kernel
def _stiffness_of_modes(
    contacts: Records[Contact],
    first: Index,
    end: Index,
    time_step: Seconds,
    rows: Records[Row],
    response: Vector,
) -> float:
    """Return the largest (k dt^2 + 2 c dt) / m of the modes of contacts first to end - 1.

    The result is the largest eigenvalue of J M^-1 J^T K by the power method, which never
    overestimates it.
    """
    largest = 0.0
    for number in range(3 * first, 3 * end):
        rows[number].saved_impulse = 1.0 + 0.3 * (number % 3) - 0.1 * ((number - 3 * first) % 7)
    for _ in range(_POWER_STEPS):
        size, product = 0.0, 0.0
        for number in range(3 * first, 3 * end):
            total = 0.0
            for other in range(3 * first, 3 * end):
                spring = contacts[other // 3]
                if spring.penalty.phase != OPEN:
                    k = time_step * (spring.stiffness * time_step + 2.0 * spring.damping)
                    pull = k * rows[other].saved_impulse
                    total += coupling(rows[number], rows[other], response) * pull
            rows[number].feedback = total
            spring = contacts[number // 3]
            k = time_step * (spring.stiffness * time_step + 2.0 * spring.damping)
            if spring.penalty.phase != OPEN:
                size += k * rows[number].saved_impulse * rows[number].saved_impulse
                product += k * rows[number].saved_impulse * total
        if size <= 0.0 or product <= 0.0:
            break
        largest = product / size
        for number in range(3 * first, 3 * end):
            rows[number].saved_impulse = rows[number].feedback / largest
    return largest
