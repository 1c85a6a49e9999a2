# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Speculative contacts: contacts at the time of impact of shapes that would penetrate.

If the solved motion leads one shape into another, the step begins again with contacts for these
shapes. Points, normal and arms are evaluated at the time of impact. The gap is the distance that
the shapes approach along the normal until that time. The rows of these contacts are solved with all
others, so velocities change by equal and opposite impulses. The bodies touch at the end of the
step. Contacts are added, and the step is repeated, until no shape passes through another or a limit
is reached (.fast_motion).
"""

import math

from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import usual_reach
from hrpsim.engine.collision.time_of_impact import STRIDE, TOUCH, meeting_points, separation
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Body,
    Contact,
    Counts,
    Index,
    Indices,
    Kinematics,
    Mat3,
    Records,
    Scene,
    Shape,
    Speculative,
    Vec3,
)
from hrpsim.engine.compile.lazy_kernels import lazy_kernel
from hrpsim.engine.spatial.vector import speed_along
from hrpsim.engine.step.continuous.records import ContinuousDetection
from hrpsim.engine.step.continuous.swept_motion import (
    FAR,
    both_fly,
    bounce_in_flight,
    is_ballistic,
    is_penalty,
    may_meet,
    meeting_of,
    root_of,
)
from hrpsim.engine.step.scene.status import DONE, MORE_CONTACTS, RESOLVED, WIDER_SEARCH
from hrpsim.model.shapes.geometry import MESH, PLANE

_SAME = 1e-9  # share of the step within which two impacts are simultaneous
_OF_PAIR = 16  # speculative contacts of a pair, at most
_ALIKE = 1e-3  # largest difference of the normals of equal contacts


@lazy_kernel()
def find_flying(s: Scene) -> int:
    """Mark shapes as ballistic. Impacts of ballistic shapes happen at exact times in this step.

    For ballistic shapes, all contacts in reach are detected, and solved at their closing times. If
    this fails for a shape, its mark is cleared for the rest of the step.
    """
    shapes = s.collision.shapes
    for k in range(shapes.shape[0]):
        shape = shapes[k]
        if shape.ballistic == 0 and shape.kind != PLANE and shape.kind != MESH:
            shape.ballistic = 1 if is_ballistic(s.forest, shape.body, shape) else 0
    for i in range(s.continuous.bodies.shape[0]):
        s.continuous.bodies[i].timed = 0
    s.continuous.state[0].ballistic = 1
    return DONE


@inner_kernel
def _mark_far(s: Scene) -> None:
    """Give contacts of two ballistic shapes beyond the usual distance the gap offset FAR.

    These contacts have effect only if the impacts happen at exact times.
    """
    settings, shapes = s.settings[0], s.collision.shapes
    for c in range(s.counts[0].contact_count):
        contact = s.collision.contacts[c]
        a, b = shapes[contact.shape_a], shapes[contact.shape_b]
        if not both_fly(s.continuous, a, b):
            continue
        near = settings.contact_margin + usual_reach(settings, s.forest, s.kinematics, a, b)
        if contact.gap > near:
            contact.gap_offset = FAR


@lazy_kernel()
def add_speculative_contacts(s: Scene) -> int:
    """Merge speculative contacts with the detected contacts, sorted by pair.

    Contacts with gap offset FAR have effect only if the impacts happen at exact times.
    """
    counts = s.counts[0]
    contacts = s.collision.contacts
    if s.continuous.state[0].ballistic:
        _mark_far(s)
    for k in range(s.continuous.state[0].speculative_count):
        speculative = s.collision.speculative_contacts[k]
        if speculative.barred:
            continue
        feature, c = _known_contact(contacts, counts.contact_count, speculative, -1 - k)
        if c == counts.contact_count:
            while c > 0 and _comes_before(speculative, contacts[c - 1]):
                contacts[c] = contacts[c - 1]
                c -= 1
            counts.contact_count += 1
        _write_contact(s.kinematics, s.collision.shapes, speculative, feature, contacts[c])
    return DONE


@inlined_kernel
def _known_contact(
    contacts: Records[Contact], contact_count: int, speculative: Speculative, other_feature: int
) -> tuple[int, int]:
    """Find the contact that a speculative contact replaces.

    Returns:
        (feature of the speculative contact, index of the replaced contact). The feature is
        `other_feature` if another contact has the same feature. The index is `contact_count` if no
        contact is replaced.
    """
    feature, c = speculative.feature, contact_count
    for at in range(contact_count):
        there = contacts[at]
        if there.shape_a == speculative.shape_a and there.shape_b == speculative.shape_b:
            if there.feature == feature and there.gap_offset == FAR:
                c = at
            elif there.feature == feature:
                feature = other_feature
    return feature, c


@inlined_kernel
def _comes_before(speculative: Speculative, contact: Contact) -> bool:
    """Return whether the pair of a speculative contact sorts before the pair of a contact."""
    if speculative.shape_a != contact.shape_a:
        return speculative.shape_a < contact.shape_a
    return speculative.shape_b < contact.shape_b


@inner_kernel
def _write_contact(
    kinematics: Records[Kinematics],
    shapes: Records[Shape],
    speculative: Speculative,
    feature: int,
    contact: Contact,
) -> None:
    """Write the CONTACT record of a speculative contact."""
    contact.shape_a, contact.shape_b = speculative.shape_a, speculative.shape_b
    contact.body_a, contact.body_b = (
        shapes[speculative.shape_a].body,
        shapes[speculative.shape_b].body,
    )
    contact.feature, contact.gap = feature, speculative.gap
    contact.gap_offset = contact.push_out = 0.0
    for r in range(3):
        contact.point[r], contact.normal[r] = speculative.point[r], speculative.normal[r]
        contact.point_a[r], contact.point_b[r] = speculative.arm_a[r], speculative.arm_b[r]
        contact.impulse[r] = contact.impact_impulse[r] = 0.0
        if contact.body_a >= 0:
            contact.point_a[r] += kinematics[contact.body_a].p[r]
        if contact.body_b >= 0:
            contact.point_b[r] += kinematics[contact.body_b].p[r]


@inner_kernel
def list_speculative_contacts(s: Scene, queries_left: int) -> tuple[int, int]:
    """List contacts where shapes would penetrate, for each tree the first contact in time.

    s.kinematics and collision.motions must belong to the solved motion.

    Args:
        s: the scene.
        queries_left: number of distance queries left.

    Returns:
        (number of queries left, status). The status is DONE if no shape would pass, WIDER_SEARCH if
        the step must be repeated, MORE_CONTACTS if the contact array is full, and RESOLVED if more
        contacts cannot prevent a passage.
    """
    collision, continuous, saved = s.collision, s.continuous.state[0], s.continuous.bodies
    if _bar_pairs(collision, s.continuous):
        return queries_left, WIDER_SEARCH
    for i in range(saved.shape[0]):
        saved[i].earliest = 2.0
    first = continuous.speculative_count
    unmade = again = 0
    for c in range(s.search[0].candidate_count):
        if not may_meet(s.forest.bodies, collision, c):
            continue
        queries_left, status = _list_pair(s, c, queries_left)
        if status == MORE_CONTACTS:
            return queries_left, status
        again |= int(status == WIDER_SEARCH)
        unmade |= int(status == RESOLVED)
    _keep_earliest(s.forest.bodies, collision, s.continuous, first)
    if again or continuous.speculative_count > first:
        return queries_left, WIDER_SEARCH
    return queries_left, RESOLVED if unmade else DONE


@inner_kernel
def _list_pair(s: Scene, c: int, queries_left: int) -> tuple[int, int]:
    """List a contact if the shapes of candidate pair c would pass into each other.

    Returns:
        (number of queries left, status). The status is the same as of `list_speculative_contacts`,
        except that new contacts give DONE.
    """
    collision, pair = s.collision, s.collision.pairs[c]
    a, b = collision.shapes[pair[0]], collision.shapes[pair[1]]
    if _has_time(s.continuous, a, b):
        return queries_left, _leave_the_air(s.continuous, a, b)
    fraction, queries_left, cut = meeting_of(
        s.settings[0], s.step_stats[0], collision, c, 0.0, TOUCH, queries_left
    )
    if fraction < 1.0 and _have_contact(s.counts[0], collision.contacts, pair[0], pair[1]):
        if is_penalty(s.solver_choice, a, b):
            return queries_left, DONE
        fraction, queries_left, cut = meeting_of(
            s.settings[0], s.step_stats[0], collision, c, TOUCH, TOUCH, queries_left
        )
    if bounce_in_flight(s.materials, s.continuous, a, b):
        if fraction == 1.0 and separation(pair, 0.0, 1.0, collision) >= 0.0:
            return queries_left, DONE
        a.ballistic = b.ballistic = -1
        return queries_left, WIDER_SEARCH
    if cut:
        return queries_left, RESOLVED
    return queries_left, _list_passage(s, c, fraction) if fraction < 1.0 else DONE


@inlined_kernel
def _list_passage(s: Scene, c: int, fraction: float) -> int:
    """List the contacts of candidate pair c, whose shapes meet at `fraction` of the motion.

    Returns:
        RESOLVED if no contact is new, MORE_CONTACTS if the contact array is full, else DONE.
    """
    collision, pair, continuous = s.collision, s.collision.pairs[c], s.continuous
    before = continuous.state[0].speculative_count
    if not _list_points(s.kinematics, collision, continuous, s.work.directions, c, fraction):
        s.failure[0].needed = collision.speculative_contacts.shape[0]
        return MORE_CONTACTS
    for side in range(2):
        root = root_of(s.forest.bodies, collision.shapes[pair[side]])
        if root >= 0:
            continuous.bodies[root].earliest = min(continuous.bodies[root].earliest, fraction)
    return RESOLVED if continuous.state[0].speculative_count == before else DONE


@inner_kernel
def _bar_pairs(collision: Collision, continuous: ContinuousDetection) -> bool:
    """Exclude pairs that passed their speculative contacts. Return whether there are any.

    A shape that is hit off its centre rotates. After many turns in a long step, it passes the
    contacts at the time of impact. These pairs stop relative to each other instead (.standstill).
    """
    speculative_contacts = collision.speculative_contacts
    result = False
    for k in range(continuous.state[0].speculative_count):
        if speculative_contacts[k].barred or not _is_behind(collision, speculative_contacts[k]):
            continue
        result = True
        for other in range(continuous.state[0].speculative_count):
            same = speculative_contacts[other].shape_a == speculative_contacts[k].shape_a
            if same and speculative_contacts[other].shape_b == speculative_contacts[k].shape_b:
                speculative_contacts[other].barred = 1
    return result


@inner_kernel
def _is_behind(collision: Collision, speculative: Speculative) -> bool:
    """Return whether the smaller shape ends behind the contact plane of the time of impact."""
    a, b = collision.shapes[speculative.shape_a], collision.shapes[speculative.shape_b]
    motion_a, motion_b = (
        collision.motions[speculative.shape_a],
        collision.motions[speculative.shape_b],
    )
    height = square = 0.0
    for r in range(3):
        n, away = speculative.normal[r], motion_a.p_end[r] - motion_b.p_end[r]
        if a.radius <= b.radius:
            height += n * (away - speculative.offset_b[r])
            square += speculative.offset_b[r] ** 2
        else:
            height += n * (away + speculative.offset_a[r])
            square += speculative.offset_a[r] ** 2
    turn = motion_b.angle if a.radius <= b.radius else motion_a.angle
    reach = min(a.radius, b.radius) + min(a.thickness, b.thickness)
    return height < -reach - turn * math.sqrt(square)


@inlined_kernel
def _has_time(continuous: ContinuousDetection, a: Shape, b: Shape) -> bool:
    """Return whether one of two shapes had impacts at exact times in this step."""
    body_states = continuous.bodies
    if not continuous.state[0].ballistic:
        return False
    timed_a = a.body >= 0 and body_states[a.body].timed == 2
    return timed_a or (b.body >= 0 and body_states[b.body].timed == 2)


@inlined_kernel
def _leave_the_air(continuous: ContinuousDetection, a: Shape, b: Shape) -> int:
    """Unmark both shapes of a pair as ballistic, unless both are ballistic.

    A ballistic shape that may touch a shape without this mark no longer flies freely.

    Returns:
        DONE if both are ballistic, else WIDER_SEARCH.
    """
    if both_fly(continuous, a, b):
        return DONE
    if a.ballistic > 0:
        a.ballistic = -1
    if b.ballistic > 0:
        b.ballistic = -1
    return WIDER_SEARCH


@inner_kernel
def _have_contact(
    counts: Counts, contacts: Records[Contact], number_a: Index, number_b: Index
) -> bool:
    """Return whether the solved motion has contacts between two shapes."""
    for k in range(counts.contact_count):
        contact = contacts[k]
        if contact.shape_a == number_a and contact.shape_b == number_b and contact.gap_offset < FAR:
            return True
    return False


@inner_kernel
def _list_points(
    kinematics: Records[Kinematics],
    collision: Collision,
    continuous: ContinuousDetection,
    directions: Mat3,
    c: int,
    fraction: float,
) -> bool:
    """List the contacts of candidate pair c at the time of impact.

    Returns:
        False if the contact array is full.
    """
    speculative_contacts, work = collision.speculative_contacts, collision.manifold[0]
    pair = collision.pairs[c]
    a, b = collision.shapes[pair[0]], collision.shapes[pair[1]]
    count = (
        meeting_points(pair, fraction, collision) if _may_help(collision, continuous, pair) else 0
    )
    for k in range(count):
        if continuous.state[0].speculative_count == speculative_contacts.shape[0]:
            return False
        speculative = speculative_contacts[continuous.state[0].speculative_count]
        for r in range(3):
            speculative.normal[r], speculative.point[r] = work.normal[k, r], work.point[k, r]
            speculative.offset_a[r] = speculative.point[r] - work.p_a[r]
            speculative.offset_b[r] = speculative.point[r] - work.p_b[r]
        _find_arm(a, work.R_a, work.p_a, speculative.point, speculative.arm_a)
        _find_arm(b, work.R_b, work.p_b, speculative.point, speculative.arm_b)
        rate = _rate_of(kinematics, directions, a.body, speculative.arm_a, speculative.normal)
        rate -= _rate_of(kinematics, directions, b.body, speculative.arm_b, speculative.normal)
        if not rate < 0.0:
            continue
        speculative.shape_a, speculative.shape_b = pair[0], pair[1]
        speculative.feature, speculative.fraction = work.feature[k], fraction
        speculative.barred = 0
        speculative.gap = max(work.gap[k] - fraction * rate, 0.0)
        if not _is_known(collision, continuous, speculative, min(a.thickness, b.thickness)):
            continuous.state[0].speculative_count += 1
    return True


@inner_kernel
def _may_help(collision: Collision, continuous: ContinuousDetection, pair: Indices) -> bool:
    """Return whether a pair may have more speculative contacts.

    The pair must have fewer than the limit, and must not be excluded.
    """
    count = 0
    for k in range(continuous.state[0].speculative_count):
        speculative = collision.speculative_contacts[k]
        if speculative.shape_a == pair[0] and speculative.shape_b == pair[1]:
            count += _OF_PAIR if speculative.barred else 1
    return count < _OF_PAIR


@inner_kernel
def _is_known(
    collision: Collision,
    continuous: ContinuousDetection,
    speculative: Speculative,
    thickness: float,
) -> bool:
    """Return whether the list already contains an equal speculative contact."""
    for k in range(continuous.state[0].speculative_count):
        other = collision.speculative_contacts[k]
        if other.shape_a != speculative.shape_a or other.shape_b != speculative.shape_b:
            continue
        alike = other.feature == speculative.feature
        alike = alike and abs(other.gap - speculative.gap) < 2.0 * TOUCH * thickness
        for r in range(3):
            alike = alike and abs(other.normal[r] - speculative.normal[r]) < _ALIKE
            alike = alike and abs(other.arm_a[r] - speculative.arm_a[r]) < STRIDE * thickness
            alike = alike and abs(other.arm_b[r] - speculative.arm_b[r]) < STRIDE * thickness
        if alike:
            return True
    return False


@inner_kernel
def _find_arm(shape: Shape, R: Mat3, p: Vec3, point: Vec3, arm_out: Vec3) -> None:
    """Write the vector from the origin of a shape's body to a point.

    Args:
        shape: the SHAPE record.
        R: rotation of the shape (3, 3).
        p: origin of the shape (3,) [m].
        point: the point (3,) [m].
        arm_out: the vector (3,) [m], written.
    """
    L, t = shape.placement_R, shape.placement_p
    for r in range(3):
        arm_out[r] = point[r]
    if shape.body < 0:
        return
    for r in range(3):
        arm_out[r] -= p[r]
        for k in range(3):
            arm_out[r] += R[r, k] * (L[0, k] * t[0] + L[1, k] * t[1] + L[2, k] * t[2])


@inner_kernel
def _rate_of(
    kinematics: Records[Kinematics], directions: Mat3, body: Index, arm: Vec3, normal: Vec3
) -> float:
    """Return the displacement in one step, along a normal, of a point on a body [m].

    Args:
        kinematics: KINEMATICS records, with the displacement in the step as velocity.
        directions: work (3, 3).
        body: index of the body, negative for the world.
        arm: from the body's origin to the point (3,) [m].
        normal: unit vector (3,).
    """
    if body < 0:
        return 0.0
    link, point = kinematics[body], directions[0]
    for r in range(3):
        point[r] = link.p[r] + arm[r]
    return speed_along(link.v, point, normal)


@inner_kernel
def _keep_earliest(
    bodies: Records[Body], collision: Collision, continuous: ContinuousDetection, first: Index
) -> None:
    """Remove all but the earliest contact of each tree among the contacts from index `first` on."""
    speculative_contacts, shapes = collision.speculative_contacts, collision.shapes
    end = first
    for k in range(first, continuous.state[0].speculative_count):
        speculative = speculative_contacts[k]
        limit = -math.inf
        for shape in (speculative.shape_a, speculative.shape_b):
            root = root_of(bodies, shapes[shape])
            if root >= 0:
                limit = max(limit, continuous.bodies[root].earliest)
        if speculative.fraction <= limit + _SAME:
            if end != k:
                speculative_contacts[end] = speculative
            end += 1
    continuous.state[0].speculative_count = end


@inner_kernel
def forget_speculative_contacts(shapes: Records[Shape], continuous: ContinuousDetection) -> None:
    """Remove all speculative contacts before the next step."""
    continuous.state[0].speculative_count = 0
    if continuous.state[0].ballistic:
        continuous.state[0].ballistic = 0
        for k in range(shapes.shape[0]):
            shapes[k].ballistic = 0
