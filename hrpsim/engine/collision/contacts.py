# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""From shapes to contact points: pairs, manifolds, matching with the contacts of the last step."""

import math

import numpy as np

from hrpsim.engine.collision.manifold import (
    collide_box_and_plane,
    collide_convex,
    collide_simple,
    is_box_and_plane,
)
from hrpsim.engine.collision.mesh.clearance import keep_clearance, stay_apart
from hrpsim.engine.collision.mesh.contact_reduction import reduce_candidates
from hrpsim.engine.collision.mesh.mesh_contacts import find_candidates
from hrpsim.engine.collision.mesh.separating_axis import copy_separation
from hrpsim.engine.collision.mesh.solid_pair import SOLID_CODES, move_solid_pair, place_solid_pair
from hrpsim.engine.collision.pair_order import is_turned, turn_contacts, turn_pair, turned_feature
from hrpsim.engine.collision.primitives.contact_row import MAX_MESH_POINTS, NO_POINTS
from hrpsim.engine.collision.primitives.hidden_sides import drop_hidden, may_hide_sides
from hrpsim.engine.collision.records import Collision
from hrpsim.engine.collision.relative_motion import look_ahead
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Contact,
    Counts,
    Drift,
    Index,
    Kinematics,
    LazyKernels,
    Manifold,
    Mat3,
    Metres,
    Penalty,
    Records,
    Seconds,
    Settings,
    Shape,
    SolidPair,
    SolverMemory,
    StoredMemory,
    Vec3,
)
from hrpsim.engine.compile.lazy_kernels import NEEDS_KERNEL, lazy_kernel_of_parts
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import matrix_times, point_velocity
from hrpsim.model.shapes.geometry import CAPSULE, CYLINDER, MESH, PLANE, SPHERE

_NO_DEPTH = 1e-12  # of a body that does not press its springs [m]
# Margin beyond the largest gap of contacts, at which shapes certainly have none [m].
_ROUNDING = 1e-9


@inlined_kernel
def place_shape(
    forest: Forest,
    kinematics: Records[Kinematics],
    shape: Shape,
    reference: Vec3,
    R_out: Mat3,
    p_out: Vec3,
) -> None:
    """Write the pose of a shape from the pose of its body.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        shape: SHAPE record.
        reference: origin of the written position, in the world (3,) [m].
        R_out: rotation from the shape's frame to the world (3, 3), written.
        p_out: position relative to `reference`, along world axes (3,) [m], written.
    """
    L, t = shape.placement_R, shape.placement_p
    if shape.body < 0:
        for r in range(3):
            p_out[r] = t[r] - reference[r]
            for k in range(3):
                R_out[r, k] = L[r, k]
        return
    link = kinematics[shape.body]
    origin = kinematics[forest.bodies[shape.body].root].origin
    R, p = link.R, link.p
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        p_out[r] = (origin[r] - reference[r]) + (p[r] + x * t[0] + y * t[1] + z * t[2])
        for k in range(3):
            R_out[r, k] = x * L[0, k] + y * L[1, k] + z * L[2, k]


@inlined_kernel
def far_apart(a: Shape, b: Shape, margin: Metres) -> bool:
    """Return whether the bounding balls of two shapes are further apart than `margin` [m]."""
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
def clears_plane(kinematics: Records[Kinematics], a: Shape, b: Shape, margin: Metres) -> bool:
    """Return whether a capsule or cylinder is certainly farther than `margin` from a fixed plane.

    For these shapes the test is tighter than `far_apart`, whose bounding ball is much larger than a
    lying capsule. For all other pairs the result is False.
    """
    if a.kind == PLANE and a.body < 0:
        return _is_above(kinematics, a, b, margin)
    if b.kind == PLANE and b.body < 0:
        return _is_above(kinematics, b, a, margin)
    return False


@inlined_kernel
def _is_above(kinematics: Records[Kinematics], plane: Shape, shape: Shape, margin: Metres) -> bool:
    """Return whether a capsule or cylinder is certainly more than `margin` above a fixed plane."""
    if shape.body < 0 or (shape.kind != CAPSULE and shape.kind != CYLINDER):
        return False
    L, R, n = shape.placement_R, kinematics[shape.body].R, plane.placement_R
    x, y, z = matrix_times(R, L[0, 2], L[1, 2], L[2, 2])
    cosine = n[0, 2] * x + n[1, 2] * y + n[2, 2] * z
    half_height = shape.size[1] * abs(cosine) + shape.size[0]
    if shape.kind == CYLINDER:
        half_height += shape.size[0] * (math.sqrt(max(0.0, 1.0 - cosine * cosine)) - 1.0)
    height = 0.0
    for r in range(3):
        height += n[r, 2] * (shape.center[r] - plane.center[r])
    return height > half_height + margin + _ROUNDING


@inner_kernel
def detect(
    settings: Settings,
    forest: Forest,
    kinematics: Records[Kinematics],
    pair_count: int,
    previous_count: int,
    lazy_kernels: Records[LazyKernels],
    collision: Collision,
) -> int:
    """Write the contact points of every candidate pair, and return the number of points.

    Points count up to a gap of `contact_margin` [m] plus the distance that the pair can close in a
    step. The many points of a mesh are reduced to a few, which may depend on the contacts of the
    last step.

    Args:
        settings: settings of the step.
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        pair_count: number of candidate pairs.
        previous_count: number of contacts of the last step.
        lazy_kernels: addresses of the lazily compiled kernels.
        collision: shapes and contacts of the world.

    Returns:
        The number of contacts. If the number exceeds the capacity, later contacts were not written.
        NEEDS_KERNEL if a kernel is absent.
    """
    margin, count, work = settings.contact_margin, 0, collision.manifold[0]
    work.spring_count = previous_count if settings.penalty_contacts else 0
    for c in range(pair_count):
        number_a, number_b = collision.pairs[c, 0], collision.pairs[c, 1]
        a, b = collision.shapes[number_a], collision.shapes[number_b]
        farthest = margin + a.travel + b.travel
        if far_apart(a, b, farthest) or clears_plane(kinematics, a, b, farthest):
            continue
        near = look_ahead(settings, forest, kinematics, a, b)
        if near < farthest and far_apart(a, b, near):
            continue
        nearby = a.body if a.body >= 0 else b.body
        reference = kinematics[forest.bodies[nearby].root].origin
        place_shape(forest, kinematics, a, reference, work.R_a, work.p_a)
        place_shape(forest, kinematics, b, reference, work.R_b, work.p_b)
        work.shape_a, work.shape_b, work.pair = number_a, number_b, c
        for r in range(3):
            work.reference[r] = reference[r]
        work.turned = 1 if is_turned(a, b, work) else 0
        if work.turned:
            turn_pair(work)
        point_count = _find_points(
            settings, forest, kinematics, near, previous_count, lazy_kernels, collision
        )
        if point_count == NEEDS_KERNEL:
            return NEEDS_KERNEL
        if work.turned:
            turn_contacts(a.kind == MESH or b.kind == MESH, point_count, work)
        for k in range(point_count):
            if count < collision.contacts.shape[0]:
                contact = collision.contacts[count]
                contact.shape_a, contact.shape_b = number_a, number_b
                contact.body_a, contact.body_b = a.body, b.body
                _write_contact(work, k, reference, contact)
                _move_point(forest, kinematics, reference, a.body, contact.point_a)
                _move_point(forest, kinematics, reference, b.body, contact.point_b)
            count += 1
    return count


@inlined_kernel
def _find_points(
    settings: Settings,
    forest: Forest,
    kinematics: Records[Kinematics],
    near: float,
    previous_count: int,
    lazy_kernels: Records[LazyKernels],
    collision: Collision,
) -> int:
    """Write the contacts of the pair of shapes in collision.manifold, and return their number."""
    margin, dt, work = settings.contact_margin, settings.time_step, collision.manifold[0]
    a, b = collision.shapes[work.shape_a], collision.shapes[work.shape_b]
    if a.kind == MESH or b.kind == MESH:
        return meet_meshes(
            lazy_kernels, forest, kinematics, collision, near, margin, dt, previous_count
        )
    if is_box_and_plane(a.kind, b.kind):
        result = collide_box_and_plane(
            a.kind, a.size, work.R_a, work.p_a, b.size, work.R_b, work.p_b, near, work
        )
    elif min(a.kind, b.kind) > SPHERE:
        result = meet_convex(lazy_kernels, collision.manifold, collision.shapes, near)
    else:
        result = meet_simple(lazy_kernels, collision.manifold, collision.shapes, near)
    if may_hide_sides(a, b, result, work):
        return drop_impossible(lazy_kernels, forest, kinematics, collision, result, dt)
    return result


@inlined_kernel
def _write_contact(manifold: Manifold, k: Index, reference: Vec3, contact_out: Contact) -> None:
    """Write the k-th point of a manifold, relative to `reference`, as a contact without impulse."""
    contact_out.feature, contact_out.gap = manifold.feature[k], manifold.gap[k]
    contact_out.gap_offset = contact_out.push_out = 0.0
    for r in range(3):
        contact_out.point_a[r] = contact_out.point_b[r] = manifold.point[k, r]
        contact_out.point[r] = reference[r] + manifold.point[k, r]
        contact_out.normal[r] = manifold.normal[k, r]
        contact_out.impulse[r] = contact_out.impact_impulse[r] = 0.0


@lazy_kernel_of_parts(lambda s: (s.collision.manifold, s.collision.shapes, 0.0))
def meet_convex(manifold: Records[Manifold], shapes: Records[Shape], near: float) -> int:
    """Write the contacts of a pair of boxes, capsules or cylinders in the MANIFOLD record.

    Args:
        manifold: array (1,) of the MANIFOLD record with both poses, written.
        shapes: SHAPE records of the world.
        near: largest gap of a contact [m].

    Returns:
        The number of contacts.
    """
    work = manifold[0]
    a, b = shapes[work.shape_a], shapes[work.shape_b]
    return collide_convex(
        a.kind, a.size, work.R_a, work.p_a, b.kind, b.size, work.R_b, work.p_b, near, work
    )


@lazy_kernel_of_parts(lambda s: (s.collision.manifold, s.collision.shapes, 0.0))
def meet_simple(manifold: Records[Manifold], shapes: Records[Shape], near: float) -> int:
    """Write the contacts of a pair of shapes, one of them a plane or a sphere.

    `collide_box_and_plane` is faster for a box on a plane, as in every robot with flat feet.
    `meet_convex` has the same arguments.

    Returns:
        The number of contacts.
    """
    work = manifold[0]
    a, b = shapes[work.shape_a], shapes[work.shape_b]
    return collide_simple(
        a.kind, a.size, work.R_a, work.p_a, b.kind, b.size, work.R_b, work.p_b, near, work
    )


@lazy_kernel_of_parts(
    lambda s: (
        TupleReference(s.forest),
        s.kinematics,
        TupleReference(s.collision),
        0.0,
        0.0,
        0.0,
        0,
    )
)
def meet_meshes(
    forest: Forest,
    kinematics: Records[Kinematics],
    collision: Collision,
    near: float,
    margin: Metres,
    time_step: Seconds,
    previous_count: int,
) -> int:
    """Write the contacts of a pair of shapes in collision.manifold, one of them a mesh.

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        collision: shapes and contacts of the world.
        near: largest gap of a contact [m].
        margin: gap up to which contacts count even if the shapes do not approach [m].
        time_step: [s].
        previous_count: number of contacts of the last step.

    Returns:
        The number of contacts.
    """
    m, work = collision.solid_pair[0], collision.manifold[0]
    a, b = collision.shapes[work.shape_a], collision.shapes[work.shape_b]
    place_solid_pair(
        collision.polyhedra, a.solid, work.R_a, work.p_a, b.solid, work.R_b, work.p_b, m
    )
    m.near, m.calm, m.time_step = near, margin, time_step
    saved_separation = collision.separations[work.pair]
    if saved_separation.turned == work.turned:
        if stay_apart(collision.polyhedra, m, saved_separation):
            return NO_POINTS
        copy_separation(saved_separation, m.separation)
    _find_motion(forest, kinematics, a.body, b.body, work)
    move_solid_pair(work.spin, work.drift, m)
    m.sink = _sink(collision.previous, work.spring_count, a.body, b.body)
    find_candidates(collision.polyhedra, m, collision.solid_pair_candidates)
    m.separation.turned = work.turned
    copy_separation(m.separation, saved_separation)
    keep_clearance(m, saved_separation)
    if m.count > 1:
        _recall_points(collision.previous, previous_count, work, m)
    return reduce_candidates(collision.polyhedra, m, collision.solid_pair_candidates, work)


@lazy_kernel_of_parts(
    lambda s: (TupleReference(s.forest), s.kinematics, TupleReference(s.collision), 0, 0.0)
)
def drop_impossible(
    forest: Forest,
    kinematics: Records[Kinematics],
    collision: Collision,
    count: int,
    time_step: Seconds,
) -> int:
    """Drop contacts in collision.manifold that a face makes impossible (primitives.hidden_sides).

    Args:
        forest: constants of the bodies and joints.
        kinematics: KINEMATICS records of the bodies (n,).
        collision: shapes and contacts of the world.
        count: number of contacts.
        time_step: [s].

    Returns:
        The number of remaining contacts.
    """
    work = collision.manifold[0]
    a, b = collision.shapes[work.shape_a], collision.shapes[work.shape_b]
    _find_motion(forest, kinematics, a.body, b.body, work)
    work.sink = _sink(collision.previous, work.spring_count, a.body, b.body)
    return drop_hidden(a, b, count, work, time_step)


@inner_kernel
def _sink(previous: Records[Contact], count: int, body_a: int, body_b: int) -> float:
    """Return the sum of two bodies' penetration depths in the last step's penalty contacts [m].

    A body whose penalty contacts are all open counts with a depth just above 0.
    """
    sink = 0.0
    for body in (body_a, body_b):
        deepest = 0.0
        for k in range(count):
            spring = previous[k]
            if spring.stiffness > 0.0 and (spring.body_a == body or spring.body_b == body):
                deepest = max(deepest, -spring.gap, _NO_DEPTH)
        sink += deepest if body >= 0 else 0.0
    return sink


@inlined_kernel
def _first_of_pair(
    previous: Records[Contact], previous_count: int, number_a: Index, number_b: Index
) -> int:
    """Return the index of the first contact of a pair of shapes, or the index of the next pair."""
    first, end = 0, previous_count
    while first < end:
        middle = (first + end) // 2
        a = previous[middle].shape_a
        if a < number_a or (a == number_a and previous[middle].shape_b < number_b):
            first = middle + 1
        else:
            end = middle
    return first


@inner_kernel
def _recall_points(
    previous: Records[Contact], previous_count: int, work: Manifold, m_out: SolidPair
) -> None:
    """Write the last step's contacts of two shapes to `m_out`. `previous` is sorted by pair."""
    number_a, number_b, turned = work.shape_a, work.shape_b, work.turned != 0
    if turned:
        number_a, number_b = number_b, number_a
    first, count = _first_of_pair(previous, previous_count, number_a, number_b), 0
    while first < previous_count and count < MAX_MESH_POINTS:
        previous_contact = previous[first]
        if previous_contact.shape_a != number_a or previous_contact.shape_b != number_b:
            break
        first += 1
        if not previous_contact.forgotten:
            feature = previous_contact.feature
            feature = turned_feature(feature, SOLID_CODES) if turned else feature
            m_out.memory_feature[count] = feature
            m_out.memory_load[count] = previous_contact.warm[0]
            count += 1
    m_out.memory_count = count


@inner_kernel
def _find_motion(
    forest: Forest, kinematics: Records[Kinematics], body_a: Index, body_b: Index, work: Manifold
) -> None:
    """Write the motion of body a relative to body b, at the point work.reference."""
    reference = work.reference
    for r in range(3):
        work.spin[r] = work.drift[r] = 0.0
    for side in range(2):
        body, sign = (body_a, 1.0) if side == 0 else (body_b, -1.0)
        if body < 0:
            continue
        v = kinematics[body].v
        origin = kinematics[forest.bodies[body].root].origin
        x, y, z = reference[0] - origin[0], reference[1] - origin[1], reference[2] - origin[2]
        x, y, z = point_velocity(v, x, y, z)
        work.drift[0] += sign * x
        work.drift[1] += sign * y
        work.drift[2] += sign * z
        for r in range(3):
            work.spin[r] += sign * v[r]


@inlined_kernel
def _move_point(
    forest: Forest, kinematics: Records[Kinematics], reference: Vec3, body: Index, point: Vec3
) -> None:
    """Express a point relative to the origin of the body's tree, instead of `reference`."""
    if body < 0:
        for r in range(3):
            point[r] += reference[r]
    else:
        origin = kinematics[forest.bodies[body].root].origin
        for r in range(3):
            point[r] += reference[r] - origin[r]


@inner_kernel
def recall_impulses(counts: Counts, collision: Collision) -> int:
    """Match contacts with the contacts of the last step, and copy their impulses (warm start).

    New contacts start from zero. Both lists of contacts are sorted by pair, so one pass matches
    all. The friction axes of a new contact are turned by a pseudo-random angle. The angle depends
    on the number of earlier new contacts (counts.born_count).

    Returns:
        The number of new contacts.
    """
    previous, previous_count = collision.previous, counts.previous_count
    new = k = 0
    for c in range(counts.contact_count):
        contact = collision.contacts[c]
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
                copy_penalty(previous[j].penalty, contact.penalty)
                copy_drift(previous[j].drift, contact.gap, contact.drift)
                find_changes(previous[j], contact)
                contact.partner = j
                copy_memory(previous[j].memory, contact.memory)
                contact.slipping = previous[j].slipping
                contact.late = previous[j].late
                is_new = False
                break
            j += 1
        contact.is_new, contact.forgotten = (1 if is_new else 0), 0
        contact.drift.held_gap = contact.gap
        if is_new:
            contact.drift.missed_gap = math.inf
            contact.axis_angle = 0.5 * math.pi * _uniform(counts.born_count + new)
            contact.penalty.phase, contact.penalty.softening = 0, 1.0
            contact.memory.state = contact.memory.interval = contact.memory.remaining = 0
            contact.drift.has_slipped = contact.slipping = 0
            contact.late = 0.0
            new += 1
    return new


@inlined_kernel
def copy_memory(memory: SolverMemory | StoredMemory, memory_out: StoredMemory) -> None:
    """Copy the record that stores which solver the next step tries first."""
    memory_out.state, memory_out.interval = memory.state, memory.interval
    memory_out.remaining = memory.remaining


@inlined_kernel
def copy_penalty(kept: Penalty, penalty_out: Penalty) -> None:
    """Copy the friction state of a penalty contact from the last step: phase, anchors, slip.

    Args:
        kept: CONTACT record of the last step.
        penalty_out: record to write.
    """
    penalty_out.phase, penalty_out.softening = kept.phase, kept.softening
    for r in range(3):
        penalty_out.anchor_a[r], penalty_out.anchor_b[r] = kept.anchor_a[r], kept.anchor_b[r]
        penalty_out.slip[r] = kept.slip[r]


@inlined_kernel
def find_changes(before: Contact, contact_out: Contact) -> None:
    """Write the displacement of a contact point and the change of its normal since the last step.

    Args:
        before: CONTACT record of the last step.
        contact_out: CONTACT record of this step, changed.
    """
    for r in range(3):
        contact_out.moved_a[r] = contact_out.point_a[r] - before.point_a[r]
        contact_out.moved_b[r] = contact_out.point_b[r] - before.point_b[r]
        contact_out.turned[r] = contact_out.normal[r] - before.normal[r]
        contact_out.bend_before[r] = before.bend[r]


@inlined_kernel
def copy_drift(kept: Drift, gap: float, drift_out: Drift) -> None:
    """Copy the position errors of a contact that the rk4 integrator left for correction.

    The errors of the last step are the error of the gap, and the slip while the contact should have
    stuck.

    Args:
        kept: CONTACT record of the last step.
        gap: present gap [m].
        drift_out: record of the errors, written.
    """
    drift_out.missed_gap = kept.held_gap - gap
    drift_out.has_slipped = kept.has_slipped
    if kept.has_slipped:
        for r in range(3):
            drift_out.way[r] = kept.way[r]
            drift_out.arm_a[r], drift_out.arm_b[r] = kept.arm_a[r], kept.arm_b[r]
            for k in range(3):
                drift_out.shift_a[r, k] = kept.shift_a[r, k]
                drift_out.shift_b[r, k] = kept.shift_b[r, k]


@inner_kernel
def _uniform(number: Index) -> float:
    """Return a pseudo-random number in [0, 1) from an integer (splitmix64)."""
    bits = (np.uint64(number) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) * 2.0**-53
