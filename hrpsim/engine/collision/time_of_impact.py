# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Time of the first impact of two moving shapes in a step: conservative advancement.

The distance of two shapes, divided by a bound on their approach speed, is a time within which the
shapes cannot meet (Mirtich 1996). Repeated advances lead to the first impact, or to the end of the
step.

Grazing shapes would need ever shorter advances. Advances therefore have a minimum, which is too
short to pass through the thinner shape. If many advances would follow, the bound is taken along the
normal between the shapes (engine.collision.separation_certificate). A shape that slides along a
plate does not approach the plate along this normal. Two balls have a closed form.

The number of distance queries is bounded. If the queries do not suffice, the shapes stop where the
last query found a gap.
"""

import math

import numpy as np

from hrpsim.engine.collision.distance import shape_distance
from hrpsim.engine.collision.manifold import collide
from hrpsim.engine.collision.mesh.contact_reduction import reduce_candidates
from hrpsim.engine.collision.mesh.hidden_sides import put_back_hidden
from hrpsim.engine.collision.mesh.mesh_contacts import mesh_contacts
from hrpsim.engine.collision.mesh.solid_pair import (
    DEEP,
    is_of_wholes,
    move_solid_pair,
    place_solid_pair,
)
from hrpsim.engine.collision.pair_order import is_turned, turn_contacts, turn_pair
from hrpsim.engine.collision.primitives.hidden_sides import FLUSH
from hrpsim.engine.collision.separation_certificate import separated_until, turning_way
from hrpsim.engine.collision.solids.collision_proxies import PRISM_ERROR
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Collision,
    Indices,
    Mat3,
    Metres,
    Shape,
    ShapeMotion,
    Vec3,
    Vector,
)
from hrpsim.model.shapes.geometry import CYLINDER, MESH, SPHERE

# Motion of a shape in a step: its pose goes from start to end, with a constant axis and rate.
MOTION = np.dtype(
    [
        ("R_start", "f8", (3, 3)),
        ("p_start", "f8", (3,)),  # [m]
        ("p_end", "f8", (3,)),
        ("R_end", "f8", (3, 3)),
        ("axis", "f8", (3,)),  # of the turn, in the world
        ("angle", "f8"),  # [rad], 0..pi
    ]
)

# A speculative contact: where two shapes would pass into each other in a step.
SPECULATIVE = np.dtype(
    [
        ("shape_a", "i8"),
        ("shape_b", "i8"),
        ("feature", "i8"),  # as in CONTACT
        ("fraction", "f8"),  # of the step's motion after which they meet
        ("point", "f8", (3,)),  # where they do, in the world [m]
        ("arm_a", "f8", (3,)),  # the same from the origin of the body, where that is then [m]
        ("arm_b", "f8", (3,)),
        ("offset_a", "f8", (3,)),  # the same from the origin of the shape [m]
        ("offset_b", "f8", (3,)),
        ("normal", "f8", (3,)),  # from b to a
        ("barred", "i8"),  # whether its pair passed its contacts, and gets no more
        ("gap", "f8"),  # their approach until then, with the velocities found [m]
    ]
)

TOUCH = 1e-2  # parts of the thinner shape's thickness: at this distance shapes touch
STRIDE = 0.25  # parts of it that are the least stride
_ANYWHERE = 1e12  # a margin within which everything lies [m]
_MANY = 8.0  # strides to the end of the step above which the normal is used
_QUERIES = 256  # at one pair in a search


@kernel
def find_turn(R_start: Mat3, R_end: Mat3, axis_out: Vec3) -> float:
    """Find the axis and the angle of the shortest rotation between two orientations.

    Args:
        R_start: rotation at the start (3, 3).
        R_end: rotation at the end (3, 3).
        axis_out: unit vector (3,), written.

    Returns:
        The angle [rad].
    """
    # The turn is T = R_end R_start'; its antisymmetric part is sin(angle) times the axis.
    x = y = z = trace = 0.0
    for k in range(3):
        x += R_end[2, k] * R_start[1, k] - R_end[1, k] * R_start[2, k]
        y += R_end[0, k] * R_start[2, k] - R_end[2, k] * R_start[0, k]
        z += R_end[1, k] * R_start[0, k] - R_end[0, k] * R_start[1, k]
        for r in range(3):
            trace += R_end[r, k] * R_start[r, k]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    angle = math.atan2(sine, 0.5 * (trace - 1.0))
    if sine > 1e-9:
        axis_out[0], axis_out[1], axis_out[2] = 0.5 * x / sine, 0.5 * y / sine, 0.5 * z / sine
        return angle
    axis_out[0], axis_out[1], axis_out[2] = 0.0, 0.0, 1.0
    if angle < 1.0:
        return 0.0
    _find_half_turn(R_start, R_end, axis_out)
    return angle


@inlined_kernel
def _find_half_turn(R_start: Mat3, R_end: Mat3, axis_out: Vec3) -> None:
    """Write the axis of half a turn between two rotations.

    The turn is T = 2 axis axis' - 1, so its longest column points along the axis.
    """
    best = 0.0
    for column in range(3):
        t0 = t1 = t2 = 0.0
        for k in range(3):
            t0 += R_end[0, k] * R_start[column, k]
            t1 += R_end[1, k] * R_start[column, k]
            t2 += R_end[2, k] * R_start[column, k]
        t0 += 1.0 if column == 0 else 0.0
        t1 += 1.0 if column == 1 else 0.0
        t2 += 1.0 if column == 2 else 0.0
        length = math.sqrt(t0 * t0 + t1 * t1 + t2 * t2)
        if length > best:
            best = length
            axis_out[0], axis_out[1], axis_out[2] = t0 / length, t1 / length, t2 / length


@kernel
def pose_at(motion: ShapeMotion, fraction: float, R_out: Mat3, p_out: Vec3) -> None:
    """Write the pose of a shape after a fraction 0..1 of its motion."""
    s, c = math.sin(fraction * motion.angle), math.cos(fraction * motion.angle)
    x, y, z = motion.axis[0], motion.axis[1], motion.axis[2]
    R = motion.R_start
    for r in range(3):
        p_out[r] = motion.p_start[r] + fraction * (motion.p_end[r] - motion.p_start[r])
        u, v, w = R[0, r], R[1, r], R[2, r]
        along = (1.0 - c) * (x * u + y * v + z * w)
        R_out[0, r] = c * u + s * (y * w - z * v) + along * x
        R_out[1, r] = c * v + s * (z * u - x * w) + along * y
        R_out[2, r] = c * w + s * (x * v - y * u) + along * z


@inner_kernel
def separation(pair: Indices, fraction: float, at_most: float, collision: Collision) -> float:
    """Return the signed distance of two shapes after a fraction of the step [m].

    The result is minus infinity if a mesh penetrates so deeply that its depth is unknown. The poses
    of the shapes, and the contacts of shapes without a mesh, are written to collision.manifold.

    Args:
        pair: numbers of the shapes (2,).
        fraction: fraction of the step.
        at_most: upper limit of the result [m].
        collision: shapes and contacts of the world.
    """
    work, m = collision.manifold[0], collision.solid_pair[0]
    a, b = collision.shapes[pair[0]], collision.shapes[pair[1]]
    pose_at(collision.motions[pair[0]], fraction, work.R_a, work.p_a)
    pose_at(collision.motions[pair[1]], fraction, work.R_b, work.p_b)
    if a.kind != MESH and b.kind != MESH:
        count = collide(
            a.kind, a.size, work.R_a, work.p_a, b.kind, b.size, work.R_b, work.p_b, _ANYWHERE,
            work,
        )  # fmt: skip
        return _least(count, work.gap)
    apart = shape_distance(
        collision.polyhedra, a.kind, a.size, a.solid, work.R_a, work.p_a,
        b.kind, b.size, b.solid, work.R_b, work.p_b, at_most, work, m,
    )  # fmt: skip
    error = max(_error_of_prism(a), _error_of_prism(b))
    if apart > error:
        return apart
    count = _meet(a, b, 2.0 * error, collision)
    if count > 0:
        return _least(count, work.gap)
    if apart > 0.0:
        return apart
    is_flush = m.count > 0 and collision.solid_pair_candidates[0].how != DEEP
    return 0.0 if is_flush else -math.inf


@inlined_kernel
def _error_of_prism(shape: Shape) -> float:
    """Return the largest error of a shape's distance from a mesh [m], 0 except for cylinders."""
    return PRISM_ERROR * shape.size[0] if shape.kind == CYLINDER else 0.0


@inner_kernel
def _meet(a: Shape, b: Shape, near: float, collision: Collision) -> int:
    """Write the contacts of a mesh and another shape up to the gap `near` [m]. Return their number.

    The shapes have the poses in collision.manifold, and do not move. Contacts of deep overlap
    (mesh.deep_contacts) are left out, because a solid on its way out of another solid must not be
    stopped.
    """
    work, m = collision.manifold[0], collision.solid_pair[0]
    place_solid_pair(
        collision.polyhedra, a.solid, work.R_a, work.p_a, b.solid, work.R_b, work.p_b, m
    )
    for r in range(3):
        work.spin[r] = work.drift[r] = 0.0
    move_solid_pair(work.spin, work.drift, m)
    m.near = m.calm = near
    count = mesh_contacts(
        collision.polyhedra, m, collision.solid_pair_candidates,
        work,
    )  # fmt: skip
    is_deep = count > 0 and is_of_wholes(work.feature[0]) and work.gap[0] < -FLUSH
    return 0 if is_deep else count


@inner_kernel
def meeting_points(pair: Indices, fraction: float, collision: Collision) -> int:
    """Write the points at which two shapes meet after a fraction of the step.

    The points are contacts in collision.manifold. Their gaps exceed the smallest gap by at most a
    fraction of the thinner shape's thickness. Contacts with hidden sides are removed, unless no
    other contacts remain.

    Args:
        pair: numbers of the shapes (2,).
        fraction: fraction of the step.
        collision: shapes and contacts of the world.

    Returns:
        The number of points.
    """
    work, m = collision.manifold[0], collision.solid_pair[0]
    a, b = collision.shapes[pair[0]], collision.shapes[pair[1]]
    gap = separation(pair, fraction, _ANYWHERE, collision)
    near = max(gap, 0.0) + STRIDE * min(a.thickness, b.thickness)
    with_mesh = a.kind == MESH or b.kind == MESH
    turned = is_turned(a, b, work)
    if turned:
        turn_pair(work)
        a, b = collision.shapes[pair[1]], collision.shapes[pair[0]]
    if with_mesh:
        count = _meet(a, b, near, collision)
        if count == 0 and put_back_hidden(m, collision.solid_pair_candidates):
            count = reduce_candidates(
                collision.polyhedra, m, collision.solid_pair_candidates,
                work,
            )  # fmt: skip
    else:
        count = collide(
            a.kind, a.size, work.R_a, work.p_a, b.kind, b.size, work.R_b, work.p_b, near,
            work,
        )  # fmt: skip
    if turned:
        turn_pair(work)
        turn_contacts(with_mesh, count, work)
    return count


@inner_kernel
def _least(count: int, gap: Vector) -> float:
    """Return the minimum of the first `count` gaps, infinity if there are none."""
    least = math.inf
    for k in range(count):
        least = min(least, gap[k])
    return least


@inner_kernel
def way_bound(a: Shape, b: Shape, motion_a: ShapeMotion, motion_b: ShapeMotion) -> float:
    """Return a bound on the distance by which two shapes approach each other during the step [m].

    motion_a, motion_b: poses of the shapes at both ends of the step.
    """
    square = 0.0
    for r in range(3):
        u = motion_a.p_end[r] - motion_a.p_start[r]
        v = motion_b.p_end[r] - motion_b.p_start[r]
        square += (u - v) * (u - v)
    return math.sqrt(square) + turning_way(a, motion_a) + turning_way(b, motion_b)


@inner_kernel
def first_closing(
    pair: Indices, depth: Metres, held_depth: Metres, allowed: int, collision: Collision
) -> tuple[float, int, bool]:
    """Find the fraction of the motion after which two shapes meet.

    Shapes that are apart at the start meet when the surfaces touch. A touch counts only if the
    penetration later exceeds `depth`. Shapes that overlap at the start meet at a penetration of
    `held_depth`, or `depth` deeper than at the start, as long as they have not separated. If the
    shapes never meet, the fraction is 1. After 256 or `allowed` queries, the search ends at the
    fraction up to which the motion is free.

    Args:
        pair: numbers of the shapes (2,).
        depth: penetration that is not permitted, for shapes apart at the start [m].
        held_depth: penetration that is not permitted, for shapes in contact at the start [m].
        allowed: largest number of queries.
        collision: shapes and contacts of the world.

    Returns:
        (fraction, number of distance queries, whether the search was cut off).
    """
    a, b = collision.shapes[pair[0]], collision.shapes[pair[1]]
    motion_a, motion_b = collision.motions[pair[0]], collision.motions[pair[1]]
    if a.kind == SPHERE and b.kind == SPHERE:
        return _balls_meet(a, b, motion_a, motion_b, depth, held_depth), 1, False
    if allowed < 1:
        return 0.0, 0, True
    speed = way_bound(a, b, motion_a, motion_b)
    thickness = min(a.thickness, b.thickness)
    return _surfaces_meet(pair, speed, thickness, depth, held_depth, allowed, collision)


@inlined_kernel
def _surfaces_meet(
    pair: Indices,
    speed: float,
    thickness: float,
    depth: Metres,
    held_depth: Metres,
    allowed: int,
    collision: Collision,
) -> tuple[float, int, bool]:
    """Find the fraction of the motion after which two shapes meet, by queries of the separation.

    `first_closing` has the same results, and explains the other arguments.

    speed: bound on the distance by which the shapes approach each other in the motion [m].
    thickness: thickness of the thinner shape [m].
    """
    touch, stride = TOUCH * thickness, STRIDE * thickness
    # A shape farther away than the rest of the motion and a touch is not met.
    gap = separation(pair, 0.0, speed + 2.0 * touch, collision)
    free = gap > touch
    level, speculative = 0.0, -depth
    if not free:
        level = speculative = min(-held_depth, gap - depth)
    fraction, last, queries, limit = 0.0, 0.0, 1, min(_QUERIES, allowed)
    while True:
        if queries >= limit:
            return fraction, queries, True
        if last >= 1.0 or not speed > 0.0:
            return 1.0, queries, False
        ahead = max(gap - 0.5 * touch, stride) if free else stride
        following = last + ahead / speed
        if following + (_MANY - 1.0) * ahead / speed < 1.0:
            apart = separated_until(pair, last, gap, touch, speculative, collision)
            following = max(following, apart)
        if not following < 1.0:
            following = 1.0
        gap_limit = (1.0 - following) * speed + 2.0 * touch
        gap = separation(pair, following, gap_limit, collision)
        queries += 1
        if gap < speculative:
            break
        last = following
        if gap > touch:
            free, level, speculative = True, 0.0, -depth
        if gap >= level:
            fraction = following
    exact = max(0.25 * min(touch, max(depth, 1e-3 * touch)), 1e-12 * speed)
    fraction, halvings = _halve(pair, fraction, following, speed, level, touch, exact, collision)
    return fraction, queries + halvings, False


@inlined_kernel
def _halve(
    pair: Indices,
    fraction: float,
    following: float,
    speed: float,
    level: float,
    touch: float,
    exact: float,
    collision: Collision,
) -> tuple[float, int]:
    """Narrow the time at which two shapes meet by bisection.

    Times are fractions of the motion.

    Args:
        pair: numbers of the shapes (2,).
        fraction: time up to which the shapes are apart.
        following: time at which the shapes have met.
        speed: bound on the distance by which the shapes approach each other in the motion [m].
        level: separation at which the shapes meet [m].
        touch: distance at which shapes count as touching [m].
        exact: largest motion between the result and the true time [m].
        collision: shapes and contacts of the world.

    Returns:
        (time up to which the shapes are apart, number of distance queries).
    """
    queries = 0
    while (following - fraction) * speed > exact:
        middle = 0.5 * (fraction + following)
        if middle == fraction or middle == following:
            break
        queries += 1
        if separation(pair, middle, 2.0 * touch, collision) < level:
            following = middle
        else:
            fraction = middle
    return fraction, queries


@inner_kernel
def _balls_meet(
    a: Shape,
    b: Shape,
    motion_a: ShapeMotion,
    motion_b: ShapeMotion,
    depth: Metres,
    held_depth: Metres,
) -> float:
    """Return the fraction of the motion after which two balls meet, as `first_closing` does."""
    xx = xw = ww = 0.0
    for r in range(3):
        x = motion_a.p_start[r] - motion_b.p_start[r]
        w = (motion_a.p_end[r] - motion_b.p_end[r]) - x
        xx, xw, ww = xx + x * x, xw + x * w, ww + w * w
    both = a.size[0] + b.size[0]
    gap = math.sqrt(xx) - both
    level, speculative = 0.0, -depth
    if gap <= TOUCH * min(a.thickness, b.thickness):
        level = speculative = min(-held_depth, gap - depth)
    if not (xw < 0.0 and ww > 0.0):
        return 1.0
    nearest = min(-xw / ww, 1.0)
    if math.sqrt(max(xx + nearest * (2.0 * xw + nearest * ww), 0.0)) - both >= speculative:
        return 1.0
    outside = xx - (both + level) ** 2
    root = math.sqrt(max(xw * xw - ww * outside, 0.0))
    return min(max(outside / (root - xw), 0.0), nearest)
