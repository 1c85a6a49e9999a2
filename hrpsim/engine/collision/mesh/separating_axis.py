# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The separating axis of two convex solids, which is cached from step to step.

For any unit vector n from b to a, the distance of the solids is at least d(n) = min(n . x) over a,
minus max(n . y) over b. Both ends are found by hill climbing along edges, from the vertices of the
last step. If d(n) is larger than the reach of contacts in the step, there are no contacts. If the
cached axis does not show this, the distance iteration of Gilbert, Johnson and Keerthi (1988) looks
for an axis.

If no such axis exists, three facts limit the features that may have contacts. The facts hold for
every axis.

- Points that meet in the step are in a slab. The slab lies between the lowest point of a and the
  highest point of b, widened by the motion along the axis.
- The solids overlap no deeper than along the axis.
- In a contact, one of both features lies over the other, along a normal of the other feature.
"""

import math

from hrpsim.engine.collision.mesh.clearance import allowance
from hrpsim.engine.collision.mesh.contact_order import RIMS
from hrpsim.engine.collision.mesh.expanding_polytope import find_penetration
from hrpsim.engine.collision.primitives.simplex import keep_spanning, nearest_weights
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.solids.tree_queries import climb, farthest_point, first_hit_of_convex
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Separation, Solid, SolidNode, SolidPair
from hrpsim.engine.spatial.vector import matrix_times, transposed_times

# Rounds of the distance iteration. Without a result the contacts are searched for.
_ROUNDS = 24
# Angle between a contact's normal and the line between its features, at most: faces that lie on
# each other, and flat edges (hrpsim.engine.collision.mesh.edge_contacts, vertex_contacts) [rad].
ASIDE = 0.025
# Solids of more triangles are dense. Of these only vertices meet faces that would be the lowest
# after a turn by this angle, the widest slope of engine.collision.mesh.contact_choice [rad].
_DENSE, _LEAST_LEAN = 64, 0.05
# Chord of the angle between the axis and the normal of a contact of dense solids, at most: the cone
# of a patch (hrpsim.engine.collision.mesh.contact_reduction), 18 degrees.
_CAP = 0.3129
# Largest slope against the axis of the distance of dense solids at a contact, over the angle by
# which a face may lean there: the derivative of the tangent at the end of the cone.
_SPREAD = 1.2


@inlined_kernel
def copy_separation(kept: Separation, separation_out: Separation) -> None:
    """Copy a SEPARATION record."""
    separation_out.known, separation_out.turned = kept.known, kept.turned
    separation_out.touches = kept.touches
    separation_out.vertex[0], separation_out.vertex[1] = kept.vertex[0], kept.vertex[1]
    separation_out.entered[0], separation_out.entered[1] = kept.entered[0], kept.entered[1]
    for r in range(3):
        separation_out.axis[r], separation_out.place[r] = kept.axis[r], kept.place[r]


@inlined_kernel
def _take_shortest_way_out(polyhedra: Polyhedra, m: SolidPair, a: Solid, b: Solid) -> None:
    """Set the axis to the direction of least penetration, if the solids overlap deeply."""
    if m.apart < -RIMS * m.rim and find_penetration(polyhedra, m):
        n = m.separation.axis
        for r in range(3):
            n[r] = -m.polytope.out[r]
        m.apart = _extend(polyhedra, m, n[0], n[1], n[2])
        m.margin = _margin_along(m, a, b, n[0], n[1], n[2])


@inner_kernel
def are_apart(polyhedra: Polyhedra, m: SolidPair) -> bool:
    """Return whether two convex solids are certainly too far apart for contacts in this step.

    The result is False for other solids. If the result is False for convex solids, m.separation has
    a separating axis, and m.apart has the distance along this axis [m]. A cylinder is replaced by a
    prism, whose error is a fraction of the radius.
    """
    a, b, separation = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]], m.separation
    if not (a.is_convex and b.is_convex):
        separation.known = 0
        return False
    if not separation.known:
        _begin(polyhedra, m, a, b)
    x, y, z = separation.axis[0], separation.axis[1], separation.axis[2]
    m.margin, m.apart = _margin_along(m, a, b, x, y, z), _extend(polyhedra, m, x, y, z)
    if m.apart > m.margin:
        separation.touches = 0
    elif separation.touches or not _search(polyhedra, m, a, b):
        return False
    separation.clear = m.apart
    return True


@inner_kernel
def limit_contacts(polyhedra: Polyhedra, m: SolidPair) -> None:
    """Write limits of the contacts of two convex solids that may touch, after `are_apart`.

    - m.separation: the axis.
    - m.apart: distance along the axis [m].
    - m.margin: distance within which the solids may touch [m].
    - m.farthest: largest distance of features with contacts [m].
    - m.deepest: largest depth of features with contacts [m].
    - m.aside: largest distance of features perpendicular to the normal [m].
    - m.lean: sine by which a face may lean against the surface around a touching vertex.
    - m.cap: largest chord between the axis and the normal of a contact.
    - m.rise, m.spread: largest height of features over the lowest point of their solid, and its
      increase with the distance from the contact of the last step (dense solids).
    """
    a, b, separation = polyhedra.solids[m.solid[0]], polyhedra.solids[m.solid[1]], m.separation
    is_round = a.cylinder_radius + b.cylinder_radius > 0.0
    dense = min(a.triangle_count, b.triangle_count) > _DENSE and not is_round
    n = separation.axis
    if dense and not separation.touches:
        _take_shortest_way_out(polyhedra, m, a, b)
    x, y, z = transposed_times(m.R[0], n[0], n[1], n[2])
    m.axis_of_a[0], m.axis_of_a[1], m.axis_of_a[2] = x, y, z
    if not separation.touches:  # after a search, the ends are of another axis
        _extend(polyhedra, m, n[0], n[1], n[2])
    overlap = max(-m.apart, 0.0)
    m.farthest = m.near + m.rounding[0] + m.rounding[1]
    m.deepest = overlap + RIMS * m.rim
    m.aside = RIMS * m.rim + (ASIDE + m.turn) * (m.farthest + m.deepest)
    m.rise = math.inf
    if separation.touches:
        _limit_to_nearest(polyhedra, m, a, b)
    if dense:
        m.lean = _LEAST_LEAN + m.turn
        m.cap = _CAP + m.lean
        m.spread = _SPREAD * m.lean
        if separation.touches:
            m.rise = _gap_at_place(polyhedra, m, a, b) - m.apart + m.aside
    p = polyhedra.vertices[separation.vertex[1]].position
    m.highest = n[0] * p[0] + n[1] * p[1] + n[2] * p[2]
    m.margin += overlap + RIMS * m.rim


@inner_kernel
def _limit_to_nearest(polyhedra: Polyhedra, m: SolidPair, a: Solid, b: Solid) -> None:
    """Reduce the limits of a ball: only the features nearest to its centre have contacts.

    The distance of the centre from the other solid is at most the distance along the axis.
    """
    n, t, x, y, z = m.separation.axis, m.t[0], m.axis_of_a[0], m.axis_of_a[1], m.axis_of_a[2]
    entered = m.separation.entered
    if _is_ball(b):
        p = matrix_times(m.R[1], b.lower[0], b.lower[1], b.lower[2])
        p = p[0] + m.t[1, 0], p[1] + m.t[1, 1], p[2] + m.t[1, 2]
        least, hit = first_hit_of_convex(
            polyhedra, m.solid[0], entered[0], p[0], p[1], p[2], x, y, z, m.stack
        )
        if hit >= 0:
            entered[0] = hit
    elif _is_ball(a):
        p = matrix_times(m.R[0], a.lower[0], a.lower[1], a.lower[2])
        least, hit = first_hit_of_convex(
            polyhedra, m.solid[1], entered[1], p[0] + t[0], p[1] + t[1], p[2] + t[2],
            -n[0], -n[1], -n[2], m.stack,
        )  # fmt: skip
        if hit >= 0:
            entered[1] = hit
    else:
        return
    m.farthest = min(m.farthest, least + RIMS * m.rim)
    m.margin = min(m.margin, m.farthest)


@inlined_kernel
def _is_ball(solid: Solid) -> bool:
    """Return whether the core of a solid is one point."""
    s, t = solid.lower, solid.upper
    return solid.rounding > 0.0 and s[0] == t[0] and s[1] == t[1] and s[2] == t[2]


@inner_kernel
def _gap_at_place(polyhedra: Polyhedra, m: SolidPair, a: Solid, b: Solid) -> float:
    """Return the gap of two convex solids along the axis, at the contact of the last step [m].

    The gap is infinite if this line misses a solid. The gap is a convex function of the position
    perpendicular to the axis. At a contact of dense solids, its slope is at most m.spread. The gap
    at a contact is therefore at most the result, plus m.spread times the distance of the contact
    from this line. The same bound holds for the rise of the tangent planes of both solids.
    """
    n, p, R, t = m.separation.axis, m.separation.place, m.R[0], m.t[0]
    entered = m.separation.entered
    away = 2.0 * (a.ball + b.ball + abs(t[0]) + abs(t[1]) + abs(t[2]))
    x, y, z = p[0] + away * n[0], p[1] + away * n[1], p[2] + away * n[2]
    to_b, hit_b = first_hit_of_convex(
        polyhedra, m.solid[1], entered[1], x, y, z, -n[0], -n[1], -n[2], m.stack
    )
    x, y, z = p[0] - away * n[0] - t[0], p[1] - away * n[1] - t[1], p[2] - away * n[2] - t[2]
    x, y, z = transposed_times(R, x, y, z)
    nx, ny, nz = transposed_times(R, n[0], n[1], n[2])
    to_a, hit_a = first_hit_of_convex(
        polyhedra, m.solid[0], entered[0], x, y, z, nx, ny, nz, m.stack
    )
    if hit_a >= 0 and hit_b >= 0:
        entered[0], entered[1] = hit_a, hit_b
    return to_a + to_b - 2.0 * away


@inner_kernel
def _margin_along(m: SolidPair, a: Solid, b: Solid, x: float, y: float, z: float) -> float:
    """Return the largest distance along an axis at which the cores may still touch in the step [m].

    The approach along the axis is bounded for all points of a, and for all points near b. The
    smaller bound counts. The points of a solid are in the ball about the centre of its box.
    """
    w, v, R, t = m.spin[0], m.drift[0], m.R[0], m.t[0]
    px, py, pz = w[1] * z - w[2] * y, w[2] * x - w[0] * z, w[0] * y - w[1] * x
    turning = math.sqrt(px * px + py * py + pz * pz)
    at_origin = -(x * v[0] + y * v[1] + z * v[2])
    cx, cy, cz, size_a = _middle(a)
    cx, cy, cz = matrix_times(R, cx, cy, cz)
    at_a = at_origin + px * (cx + t[0]) + py * (cy + t[1]) + pz * (cz + t[2])
    cx, cy, cz, size_b = _middle(b)
    at_b = at_origin + px * cx + py * cy + pz * cz
    closing = min(at_a + turning * size_a, at_b + turning * (size_b + m.near))
    return min(m.near, m.calm + max(closing, 0.0) * m.time_step) + allowance(m, a, b)


@inlined_kernel
def _middle(solid: Solid) -> tuple[float, float, float, float]:
    """Return the centre of a solid's box, and half the diagonal of the box [m]."""
    low, high = solid.lower, solid.upper
    x, y, z = high[0] - low[0], high[1] - low[1], high[2] - low[2]
    half = 0.5 * math.sqrt(x * x + y * y + z * z)
    return 0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0.5 * (low[2] + high[2]), half


@inlined_kernel
def _begin(polyhedra: Polyhedra, m: SolidPair, a: Solid, b: Solid) -> None:
    """Initialise the axis with the line between the centres of both solids."""
    separation, R, t = m.separation, m.R[0], m.t[0]
    separation.known, separation.touches = 1, 0
    separation.vertex[0] = polyhedra.triangles[a.first_triangle].vertices[0]
    separation.vertex[1] = polyhedra.triangles[b.first_triangle].vertices[0]
    separation.entered[0], separation.entered[1] = a.first_triangle, b.first_triangle
    x, y, z, _ = _middle(a)
    x, y, z = matrix_times(R, x, y, z)
    cx, cy, cz, _ = _middle(b)
    x, y, z = x - cx + t[0], y - cy + t[1], z - cz + t[2]
    length = math.sqrt(x * x + y * y + z * z)
    axis = separation.axis
    if length > 0.0:
        axis[0], axis[1], axis[2] = x / length, y / length, z / length
    else:
        axis[0], axis[1], axis[2] = 1.0, 0.0, 0.0


@inner_kernel
def _extend(polyhedra: Polyhedra, m: SolidPair, x: float, y: float, z: float) -> float:
    """Write the ends of both solids along an axis of b's frame, and return their distance [m].

    The point of their difference becomes the first point of m.simplex.
    """
    separation, R, t = m.separation, m.R[0], m.t[0]
    ax, ay, az = transposed_times(R, x, y, z)
    separation.vertex[0] = climb(polyhedra, separation.vertex[0], -ax, -ay, -az)
    separation.vertex[1] = climb(polyhedra, separation.vertex[1], x, y, z)
    p = polyhedra.vertices[separation.vertex[0]].position
    q = polyhedra.vertices[separation.vertex[1]].position
    px, py, pz = matrix_times(R, p[0], p[1], p[2])
    px, py, pz = px + t[0], py + t[1], pz + t[2]
    px, py, pz = px - q[0], py - q[1], pz - q[2]
    m.simplex[0, 0], m.simplex[0, 1], m.simplex[0, 2] = px, py, pz
    return x * px + y * py + z * pz


@inner_kernel
def _search(polyhedra: Polyhedra, m: SolidPair, a: Solid, b: Solid) -> bool:
    """Search for an axis along which the solids stay apart in the step, from the cached axis on.

    The best axis so far becomes the cached axis.

    Returns:
        Whether the solids stay apart along the axis found.
    """
    separation, W = m.separation, m.simplex
    x, y, z = W[0, 0], W[0, 1], W[0, 2]
    squared, count = x * x + y * y + z * z, 1
    least = m.calm + m.rounding[0] + m.rounding[1]
    for _ in range(_ROUNDS):
        if squared <= least * least:  # the solids are no further apart than that
            break
        length = math.sqrt(squared)
        nx, ny, nz = x / length, y / length, z / length
        for r in range(3):
            W[3, r] = W[0, r]
        apart = _extend(polyhedra, m, nx, ny, nz)
        if apart > m.apart:
            m.apart, m.margin = apart, _margin_along(m, a, b, nx, ny, nz)
            separation.axis[0], separation.axis[1], separation.axis[2] = nx, ny, nz
            if apart > m.margin:
                return True
        # `_extend` put the new point first: move the new point last, and restore the first point
        wx, wy, wz = W[0, 0], W[0, 1], W[0, 2]
        for r in range(3):
            W[0, r] = W[3, r]
        if length - apart <= 1e-9 * length:
            break
        W[count, 0], W[count, 1], W[count, 2] = wx, wy, wz
        w0, w1, w2, w3, nearer = nearest_weights(W, count + 1)
        if not nearer < squared * (1.0 - 1e-12):
            break
        squared = nearer
        count, x, y, z = keep_spanning(W, count + 1, (w0, w1, w2, w3))
        if count > 3:
            break
    return False


@inlined_kernel
def turns_away(node: SolidNode, x: float, y: float, z: float, cap: float) -> bool:
    """Return whether all surface normals in a tree node differ from a direction by more than `cap`.

    `cap` is the length of the chord between unit vectors.
    """
    least, most = node.least_normal, node.most_normal
    return (
        x < least[0] - cap or x > most[0] + cap
        or y < least[1] - cap or y > most[1] + cap
        or z < least[2] - cap or z > most[2] + cap
    )  # fmt: skip


@inner_kernel
def is_outside_slab(m: SolidPair, side: int, node: SolidNode) -> bool:
    """Return whether the surface in a tree node of one solid is outside the slab of contacts.

    Args:
        m: SOLID_PAIR record, after `limit_contacts`.
        side: 0 if the node belongs to solid a, 1 for solid b.
        node: NODE record.
    """
    n, c, h, t = m.separation.axis, node.skin_center, node.skin_half, m.t[0]
    if side == 0:
        n = m.axis_of_a
        low = n[0] * c[0] + n[1] * c[1] + n[2] * c[2]
        low -= abs(n[0]) * h[0] + abs(n[1]) * h[1] + abs(n[2]) * h[2]
        n = m.separation.axis
        return low + n[0] * t[0] + n[1] * t[1] + n[2] * t[2] > m.highest + m.margin
    high = n[0] * c[0] + n[1] * c[1] + n[2] * c[2]
    high += abs(n[0]) * h[0] + abs(n[1]) * h[1] + abs(n[2]) * h[2]
    return high < m.highest + m.apart - m.margin


@inner_kernel
def near_along_axis(m: SolidPair, node_a: SolidNode, node_b: SolidNode) -> bool:
    """Return whether surfaces in two tree nodes face each other and are near along the axis.

    Surfaces that are not near cannot touch in this step.
    """
    n, t, of_a = m.separation.axis, m.t[0], m.axis_of_a
    x, y, z = of_a[0], of_a[1], of_a[2]
    if turns_away(node_a, -x, -y, -z, m.cap) or turns_away(node_b, n[0], n[1], n[2], m.cap):
        return False
    c, h, d, g = node_a.skin_center, node_a.skin_half, node_b.skin_center, node_b.skin_half
    low = x * c[0] + y * c[1] + z * c[2] - abs(x) * h[0] - abs(y) * h[1] - abs(z) * h[2]
    low += n[0] * t[0] + n[1] * t[1] + n[2] * t[2]
    high = n[0] * d[0] + n[1] * d[1] + n[2] * d[2]
    high += abs(n[0]) * g[0] + abs(n[1]) * g[1] + abs(n[2]) * g[2]
    if low > m.highest + m.margin or high < m.highest + m.apart - m.margin:
        return False
    return low - high <= m.farthest + m.deepest


@inner_kernel
def may_lie_over(m: SolidPair, side: int, node: SolidNode, own: SolidNode) -> bool:
    """Return whether points of the surface in `own` may have a contact with the surface in `node`.

    Such a point lies along a normal of the surface in `node`, at most m.farthest outside and
    m.deepest inside.
    """
    R, t, c, h = m.R[side], m.t[side], own.skin_center, own.skin_half
    for i in range(3):
        least, most = node.least_normal[i], node.most_normal[i]
        up = max(max(m.farthest * most, -m.deepest * least), 0.0) + m.aside
        down = min(min(m.farthest * least, -m.deepest * most), 0.0) - m.aside
        reach, away = node.skin_half[i], t[i] - node.skin_center[i]
        for j in range(3):
            reach += abs(R[i, j]) * h[j]
            away += R[i, j] * c[j]
        if away > reach + up or away < down - reach:
            return False
    return True


@inner_kernel
def may_face(m: SolidPair, node_a: SolidNode, node_b: SolidNode, slack: float) -> bool:
    """Return whether nodes of a and b may hold opposite surface normals, within `slack` [rad]."""
    R = m.R[0]
    for i in range(3):
        middle, reach = 0.0, slack
        for j in range(3):
            least, most = node_a.least_normal[j], node_a.most_normal[j]
            middle -= R[i, j] * 0.5 * (least + most)
            reach += abs(R[i, j]) * 0.5 * (most - least)
        if middle - reach > node_b.most_normal[i] or middle + reach < node_b.least_normal[i]:
            return False
    return True


@inlined_kernel
def end_along(
    polyhedra: Polyhedra, m: SolidPair, side: int, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return the farthest point of a core along a direction, both in its frame [m].

    In a convex solid the search begins at the end along the axis.
    """
    if m.separation.known == 0 or polyhedra.solids[m.solid[side]].cylinder_radius > 0.0:
        return farthest_point(polyhedra, m.solid[side], x, y, z, m.stack)
    p = polyhedra.vertices[climb(polyhedra, m.separation.vertex[side], x, y, z)].position
    return p[0], p[1], p[2]
