# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bounds on the relative motion of two shapes in a step, and the largest gap of contacts.

Two shapes touch inside the bounding ball of the smaller shape. In this ball, the relative speed of
the bodies is at most the relative speed at the ball's centre, plus the ball's radius times the
relative angular speed. A common motion of both bodies does not count.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel
from hrpsim.engine.compile.kernel_types import (
    Kinematics,
    Records,
    Seconds,
    Settings,
    Shape,
    Vec3,
    Vec6,
)
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.spatial.vector import point_velocity
from hrpsim.model.shapes.geometry import PLANE

# A shape is fast if it moves more than this part of its thickness in a step: contacts look no
# further ahead, lest it be stopped by shapes that it would have missed. Two moving shapes are fast
# if their relative motion is more than this part of the smaller thickness.
FAST = 0.25


@inlined_kernel
def relative_speed(
    v_a: Vec6, origin_a: Vec3, v_b: Vec6, origin_b: Vec3, a: Shape, b: Shape
) -> float:
    """Return a bound on the relative speed of two moving shapes in the ball where they meet [m/s].

    v_a, v_b (6,) are the bodies' twists about origin_a, origin_b (3,) [m].
    """
    p, q, r = v_a[0] - v_b[0], v_a[1] - v_b[1], v_a[2] - v_b[2]
    turning = math.sqrt(p * p + q * q + r * r) * min(a.radius, b.radius)
    if a.radius < b.radius:
        return turning + _speed_at(a.center, v_a, origin_a, v_b, origin_b)
    speed = _speed_at(b.center, v_a, origin_a, v_b, origin_b)
    if a.radius == b.radius:  # the less of both, whichever comes first
        speed = min(speed, _speed_at(a.center, v_a, origin_a, v_b, origin_b))
    return turning + speed


@inlined_kernel
def _speed_at(place: Vec3, v_a: Vec6, origin_a: Vec3, v_b: Vec6, origin_b: Vec3) -> float:
    """Return the relative speed of two bodies at a point `place` (3,) [m/s]."""
    x, y, z = place[0] - origin_a[0], place[1] - origin_a[1], place[2] - origin_a[2]
    x, y, z = point_velocity(v_a, x, y, z)
    u, v, w = place[0] - origin_b[0], place[1] - origin_b[1], place[2] - origin_b[2]
    u, v, w = point_velocity(v_b, u, v, w)
    x, y, z = x - u, y - v, z - w
    return math.sqrt(x * x + y * y + z * z)


@inlined_kernel
def relative_way(
    forest: Forest, kinematics: Records[Kinematics], a: Shape, b: Shape, time_step: Seconds
) -> float:
    """Return a bound on the distance by which two moving shapes approach in a step [m]."""
    origin_a = kinematics[forest.bodies[a.body].root].origin
    origin_b = kinematics[forest.bodies[b.body].root].origin
    v_a, v_b = kinematics[a.body].v, kinematics[b.body].v
    return time_step * relative_speed(v_a, origin_a, v_b, origin_b, a, b)


@inlined_kernel
def mark_swift(
    settings: Settings, forest: Forest, kinematics: Records[Kinematics], a: Shape, b: Shape
) -> float:
    """Set the flag `swift` of two shapes if their relative motion is fast.

    Fast shapes move by more than a fraction of the thinner shape's thickness. Only settings with
    continuous collision detection set the flag.

    Returns:
        A bound on the relative motion in the step [m], including the effect of impacts.
    """
    way = relative_way(forest, kinematics, a, b, settings.time_step) + a.driven + b.driven
    if settings.continuous and way > FAST * min(a.thickness, b.thickness):
        a.swift = b.swift = 1
    return way


@inlined_kernel
def usual_reach(
    settings: Settings, forest: Forest, kinematics: Records[Kinematics], a: Shape, b: Shape
) -> float:
    """Return the distance that two shapes are expected to close in the step [m].

    Contacts count up to the margin plus this distance. For fast shapes the distance is limited to a
    fraction of the thinner shape's thickness.
    """
    if a.body < 0 or b.body < 0:
        return a.reach + b.reach
    way = mark_swift(settings, forest, kinematics, a, b)
    if settings.continuous and way > FAST * min(a.thickness, b.thickness):
        return min(way, 2.0 * FAST * min(a.thickness, b.thickness))
    return way


@inlined_kernel
def look_ahead(
    settings: Settings, forest: Forest, kinematics: Records[Kinematics], a: Shape, b: Shape
) -> float:
    """Return the largest gap up to which the contacts of two shapes count [m].

    The gap is the contact margin plus a distance. With a plane, or with two ballistic shapes, whose
    impact times are exact, the distance is the whole motion in the step. For other fast shapes the
    distance is limited (`usual_reach`).
    """
    margin = settings.contact_margin
    if not (a.kind == PLANE or b.kind == PLANE or (a.ballistic > 0 and b.ballistic > 0)):
        return margin + usual_reach(settings, forest, kinematics, a, b)
    if a.body < 0 or b.body < 0:
        return margin + a.travel + b.travel
    return margin + mark_swift(settings, forest, kinematics, a, b)
