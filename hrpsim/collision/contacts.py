"""From shapes to contact points: candidate pairs, manifolds, and who is who since the last step."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.collision.manifold import collide_convex, collide_simple
from hrpsim.collision.mesh.contact_reduction import reduce_candidates
from hrpsim.collision.mesh.meeting import move_meeting, place_meeting
from hrpsim.collision.mesh.mesh_contacts import find_candidates
from hrpsim.collision.mesh.polyhedra import Polyhedra
from hrpsim.collision.primitives.contact_row import MAX_MESH_POINTS, MAX_POINTS
from hrpsim.jit.compiled import inlined_kernel, inner_kernel, late_kernel
from hrpsim.jit.late import CONVEX, MESHES, call_late
from hrpsim.model.shapes.geometry import MESH, PLANE, SPHERE

SHAPE = np.dtype(
    [
        ("kind", "i8"),
        ("size", "f8", (3,)),
        ("body", "i8"),  # -1: the world itself
        ("placement_R", "f8", (3, 3)),  # in the body frame
        ("placement_p", "f8", (3,)),  # [m]
        ("radius", "f8"),  # of the sphere about the shape's origin that holds it [m]
        ("solid", "i8"),  # among the polyhedra; -1: not there
        ("material", "i8"),
        ("asleep", "i8"),  # whether it belongs to the world only while its body sleeps
        ("solver_class", "i8"),  # shapes of one class have the same solvers against all others
        ("center", "f8", (3,)),  # shape origin in the world [m]
        ("thickness", "f8"),  # its least width [m]
        ("travel", "f8"),  # how far its surface can move in a step [m]
        ("reach", "f8"),  # how much of that its contacts look ahead [m]
        ("driven", "f8"),  # how far it moves in this step after impacts, where that is further [m]
        (
            "flies",
            "i8",
        ),  # 1: its impacts have exact times, all contacts in reach are found; -1: not
        ("listed_center", "f8", (3,)),  # the centre when the candidate list was made
        ("listed", "i8"),  # whether it is in a pair of the candidate list
        ("listed_slack", "f8"),  # how much nearer than listed it may come to others [m]
    ]
)

CONTACT = np.dtype(
    [
        ("shape_a", "i8"),
        ("shape_b", "i8"),
        ("feature", "i8"),  # stable identity within the pair
        ("body_a", "i8"),  # -1: the world
        ("body_b", "i8"),
        ("point_a", "f8", (3,)),  # relative to the origin of a's tree (world: absolute) [m]
        ("point_b", "f8", (3,)),  # the same point relative to the origin of b's tree [m]
        ("point", "f8", (3,)),  # the same point in the world, for users [m]
        ("normal", "f8", (3,)),  # from b to a: a force f >= 0 pushes a along +normal
        ("gap", "f8"),  # [m], negative inside
        ("is_new", "i8"),  # whether the last step did not have it
        ("impulse", "f8", (3,)),  # along the normal and the two tangents [Ns]
        ("warm", "f8", (3,)),  # the part of it that a next step starts from
        ("forgotten", "i8"),  # of the last step's: whether none starts from it, for a set state
        ("axis_angle", "f8"),  # of the friction pyramid's axes, drawn at the contact's birth [rad]
        ("turn", "f8", (2,)),  # cosine and sine between the tangents and the axes of its rows
        ("struck", "f8", (3,)),  # the part of it that came at once [Ns]
        ("lag", "f8"),  # what impacts within the step add to the gap that its row sees [m]
        ("rise", "f8"),  # displacement to where it came to rest within the step [m]
        ("held_a", "f8", (3,)),  # of a penalty contact: where it began to stick,
        ("held_b", "f8", (3,)),  # in the frames of the bodies [m]
        ("phase", "i8"),  # of a penalty contact: 0 open, or how its friction acts
        ("slip", "f8", (3,)),  # slip velocity of a penalty contact in its last step [m/s]
        ("softening", "f8"),  # of a penalty contact: share of the usual stiffness, for stability
        ("stiffness", "f8"),  # [N/m]
        ("damping", "f8"),  # [Ns/m]
        ("slides", "i8"),  # whether it slips faster than the threshold at the start of the step
        ("slipping", "i8"),  # for how many steps it has slipped more slowly
        ("has_slipped", "i8"),  # whether it stuck in an rk4 step and the rest here is known
        ("way", "f8", (3,)),  # that a slipped over b in it, had the point kept its arms [m]
        (
            "arm_a",
            "f8",
            (3,),
        ),  # the point from the bodies' centres of mass, along the world's axes [m]
        ("arm_b", "f8", (3,)),
        ("shift_a", "f8", (3, 3)),  # times the changes of the arms: what these add to the way
        ("shift_b", "f8", (3, 3)),
    ]
)

# work arrays for one pair of shapes
MANIFOLD = np.dtype(
    [
        ("R_a", "f8", (3, 3)),
        ("R_b", "f8", (3, 3)),
        ("p_a", "f8", (3,)),
        ("p_b", "f8", (3,)),
        ("spin", "f8", (3,)),  # of a against b [rad/s]
        ("drift", "f8", (3,)),  # of a's point at the reference against b's [m/s]
        ("point", "f8", (MAX_MESH_POINTS, 3)),
        ("normal", "f8", (MAX_MESH_POINTS, 3)),
        ("gap", "f8", (MAX_MESH_POINTS,)),
        ("feature", "i8", (MAX_MESH_POINTS,)),
    ]
)


class Collision(NamedTuple):
    """The shapes of a world and what is known of their meeting."""

    shapes: np.ndarray  # (s,) SHAPE
    group: np.ndarray  # (s,) shapes of one group never meet; -1: the fixed world
    lower: np.ndarray  # (s, 3) bounds when the candidate list was made [m]
    upper: np.ndarray  # (s, 3)
    moving: np.ndarray  # (k,) numbers of the shapes that have a body
    carriers: np.ndarray  # (b,) CARRIER, the bodies that have shapes
    order: np.ndarray  # (s,) kept by the broad phase
    pairs: np.ndarray  # (capacity, 2) candidates
    manifold: np.ndarray  # (1,) MANIFOLD
    polyhedra: Polyhedra
    meeting: np.ndarray  # (1,) MEETING, work for a pair with a mesh
    meeting_candidates: np.ndarray  # (CANDIDATE_COUNT,) CANDIDATE
    contacts: np.ndarray  # (capacity,) CONTACT, sorted by pair
    previous: np.ndarray  # (capacity,) the same of the last step, which a step leaves alone
    motions: np.ndarray  # (s,) MOTION of the step, where something is fast
    passages: np.ndarray  # (capacity,) PASSAGE, found so far in this step
    excluded: np.ndarray  # (k, 2) pairs a < b of shapes that never meet, ascending


@inlined_kernel
def place_shape(forest, kinematics, shape, reference, R_out, p_out):
    """Write the pose of a shape: rotation, and position relative to the point `reference`."""
    L, t = shape.placement_R, shape.placement_p
    if shape.body < 0:
        for r in range(3):
            p_out[r] = t[r] - reference[r]
            for k in range(3):
                R_out[r, k] = L[r, k]
        return
    here = kinematics[shape.body]
    origin = kinematics[forest.bodies[shape.body].root].origin
    R, p = here.R, here.p
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        p_out[r] = (origin[r] - reference[r]) + (p[r] + x * t[0] + y * t[1] + z * t[2])
        for k in range(3):
            R_out[r, k] = x * L[0, k] + y * L[1, k] + z * L[2, k]


@inlined_kernel
def far_apart(a, b, margin):
    """Return whether two shapes are certainly further apart than `margin`."""
    dx = b.center[0] - a.center[0]
    dy = b.center[1] - a.center[1]
    dz = b.center[2] - a.center[2]
    if a.kind == PLANE and a.body < 0:
        L = a.placement_R
        return dx * L[0, 2] + dy * L[1, 2] + dz * L[2, 2] > b.radius + margin
    if b.kind == PLANE and b.body < 0:
        L = b.placement_R
        return -(dx * L[0, 2] + dy * L[1, 2] + dz * L[2, 2]) > a.radius + margin
    reach = a.radius + b.radius + margin
    return dx * dx + dy * dy + dz * dz > reach * reach


@inlined_kernel
def look_ahead(a, b, margin):
    """Return up to what gap the contacts of two shapes are kept [m]."""
    if a.kind == PLANE or b.kind == PLANE:
        return margin + a.travel + b.travel  # however deep: nothing gets through
    if a.flies > 0 and b.flies > 0:
        return margin + a.travel + b.travel
    return margin + a.reach + b.reach


@inner_kernel
def detect(forest, kinematics, pair_count, margin, time_step, previous_count, late, collision):
    """Write the contact points of every candidate pair; return how many there are.

    Points within `margin` [m], plus what the pair can close in a step, are kept; which of many a
    mesh keeps may depend on the `previous_count` contacts of the last step. A return above the
    capacity means that the later ones were not written, one below zero (-1 - its place) that a
    late kernel is needed.
    """
    count = 0
    work = collision.manifold[0]
    for c in range(pair_count):
        number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
        a, b = collision.shapes[number_a], collision.shapes[number_b]
        near = look_ahead(a, b, margin)
        if far_apart(a, b, near):
            continue
        nearby = a.body if a.body >= 0 else b.body
        reference = kinematics[forest.bodies[nearby].root].origin
        place_shape(forest, kinematics, a, reference, work.R_a, work.p_a)
        place_shape(forest, kinematics, b, reference, work.R_b, work.p_b)
        if a.kind == MESH or b.kind == MESH:
            if late[MESHES] == 0:
                return -1 - MESHES
            found = call_late(
                late[MESHES],
                (forest, kinematics, collision, c, near, margin, time_step, previous_count),
            )
        elif min(a.kind, b.kind) > SPHERE:
            if late[CONVEX] == 0:
                return -1 - CONVEX
            found = call_late(
                late[CONVEX], (collision.manifold, collision.shapes, number_a, number_b, near)
            )
        else:
            found = collide_simple(
                a.kind,
                a.size,
                work.R_a,
                work.p_a,
                b.kind,
                b.size,
                work.R_b,
                work.p_b,
                near,
                work.point,
                work.normal,
                work.gap,
                work.feature,
            )
        for k in range(found):
            if count < collision.contacts.shape[0]:
                contact = collision.contacts[count]
                contact.shape_a, contact.shape_b = number_a, number_b
                contact.feature = work.feature[k]
                contact.body_a, contact.body_b = a.body, b.body
                contact.gap = work.gap[k]
                contact.lag = contact.rise = 0.0
                for r in range(3):
                    contact.point_a[r] = contact.point_b[r] = work.point[k, r]
                    contact.point[r] = reference[r] + work.point[k, r]
                    contact.normal[r] = work.normal[k, r]
                    contact.impulse[r] = contact.struck[r] = 0.0
                _move_point(forest, kinematics, reference, a.body, contact.point_a)
                _move_point(forest, kinematics, reference, b.body, contact.point_b)
            count += 1
    return count


@late_kernel
def meet_convex(manifold, shapes, number_a, number_b, near):
    """Write the contacts of two boxes, capsules or cylinders; return how many."""
    a, b, work = shapes[number_a], shapes[number_b], manifold[0]
    return collide_convex(
        a.kind,
        a.size,
        work.R_a,
        work.p_a,
        b.kind,
        b.size,
        work.R_b,
        work.p_b,
        near,
        work.point,
        work.normal,
        work.gap,
        work.feature,
    )


@late_kernel
def meet_meshes(forest, kinematics, collision, pair, near, margin, time_step, previous_count):
    """Write the contacts of a candidate pair with a mesh; return how many."""
    m, work = collision.meeting[0], collision.manifold[0]
    number_a, number_b = collision.pairs[pair, 0], collision.pairs[pair, 1]
    a, b = collision.shapes[number_a], collision.shapes[number_b]
    nearby = a.body if a.body >= 0 else b.body
    reference = kinematics[forest.bodies[nearby].root].origin
    _find_motion(forest, kinematics, reference, a.body, b.body, work)
    place_meeting(collision.polyhedra, a.solid, work.R_a, work.p_a, b.solid, work.R_b, work.p_b, m)
    move_meeting(work.spin, work.drift, m)
    m.near, m.calm, m.time_step = near, margin, time_step
    find_candidates(collision.polyhedra, m, collision.meeting_candidates)
    if m.count > MAX_POINTS:
        _recall_points(collision.previous, previous_count, number_a, number_b, m)
    return reduce_candidates(
        collision.polyhedra,
        m,
        collision.meeting_candidates,
        work.point,
        work.normal,
        work.gap,
        work.feature,
    )


@inner_kernel
def _recall_points(previous, previous_count, number_a, number_b, m_out):
    """Write which contacts two shapes had in the last step; `previous` is sorted by pair."""
    first, end = 0, previous_count
    while first < end:
        middle = (first + end) // 2
        a = previous[middle].shape_a
        if a < number_a or (a == number_a and previous[middle].shape_b < number_b):
            first = middle + 1
        else:
            end = middle
    count = 0
    while first < previous_count and count < MAX_MESH_POINTS:
        kept = previous[first]
        if kept.shape_a != number_a or kept.shape_b != number_b:
            break
        first += 1
        if not kept.forgotten:
            m_out.memory_feature[count], m_out.memory_load[count] = kept.feature, kept.warm[0]
            count += 1
    m_out.memory_count = count


@inner_kernel
def _find_motion(forest, kinematics, reference, body_a, body_b, work):
    """Write how body a moves against body b, at the point `reference`."""
    for r in range(3):
        work.spin[r] = work.drift[r] = 0.0
    for side in range(2):
        body, sign = (body_a, 1.0) if side == 0 else (body_b, -1.0)
        if body < 0:
            continue
        v = kinematics[body].v
        origin = kinematics[forest.bodies[body].root].origin
        x, y, z = reference[0] - origin[0], reference[1] - origin[1], reference[2] - origin[2]
        work.drift[0] += sign * (v[3] + v[1] * z - v[2] * y)
        work.drift[1] += sign * (v[4] + v[2] * x - v[0] * z)
        work.drift[2] += sign * (v[5] + v[0] * y - v[1] * x)
        for r in range(3):
            work.spin[r] += sign * v[r]


@inlined_kernel
def _move_point(forest, kinematics, reference, body, point):
    """Make a point relative to `reference` relative to the origin of the body's tree."""
    if body < 0:
        for r in range(3):
            point[r] += reference[r]
    else:
        origin = kinematics[forest.bodies[body].root].origin
        for r in range(3):
            point[r] += reference[r] - origin[r]


@inner_kernel
def recall_impulses(previous_count, previous, count, contacts, born):
    """Start every contact from the impulse it had in the last step; new ones start from zero.

    Both lists are sorted by pair, so one pass over both finds the partners. New contacts draw the
    axes of their friction, by their number among all since the start: `born` came before. Returns
    how many contacts are new.
    """
    new = 0
    k = 0
    for c in range(count):
        contact = contacts[c]
        a, b = contact.shape_a, contact.shape_b
        while k < previous_count and (
            previous[k].shape_a < a or (previous[k].shape_a == a and previous[k].shape_b < b)
        ):
            k += 1
        j = k
        is_new = True
        while j < previous_count and previous[j].shape_a == a and previous[j].shape_b == b:
            if previous[j].feature == contact.feature and not previous[j].forgotten:
                for r in range(3):
                    contact.impulse[r] = previous[j].warm[r]
                contact.axis_angle = previous[j].axis_angle
                copy_friction_state(previous[j], contact)
                copy_slip(previous[j], contact)
                contact.slipping = previous[j].slipping
                is_new = False
                break
            j += 1
        contact.is_new, contact.forgotten = (1 if is_new else 0), 0
        if is_new:
            contact.axis_angle = 0.5 * math.pi * _uniform(born + new)
            contact.phase, contact.softening = 0, 1.0
            contact.has_slipped = contact.slipping = 0
            new += 1
    return new


@inlined_kernel
def copy_friction_state(kept, contact_out):
    """Write whether and where a penalty contact sticks."""
    contact_out.phase, contact_out.softening = kept.phase, kept.softening
    for r in range(3):
        contact_out.held_a[r], contact_out.held_b[r] = kept.held_a[r], kept.held_b[r]
        contact_out.slip[r] = kept.slip[r]


@inlined_kernel
def copy_slip(kept, contact_out):
    """Write what a contact slipped while it stuck in an rk4 step."""
    contact_out.has_slipped = kept.has_slipped
    if kept.has_slipped:
        for r in range(3):
            contact_out.way[r] = kept.way[r]
            contact_out.arm_a[r], contact_out.arm_b[r] = kept.arm_a[r], kept.arm_b[r]
            for k in range(3):
                contact_out.shift_a[r, k] = kept.shift_a[r, k]
                contact_out.shift_b[r, k] = kept.shift_b[r, k]


@inner_kernel
def _uniform(number):
    """Return a number of [0, 1) that looks drawn at random: splitmix64 of `number`."""
    bits = (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) * 2.0**-53
