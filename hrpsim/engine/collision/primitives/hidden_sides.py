# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Remove contacts with hidden sides (internal edges), so that shapes slide over seams.

The nearest points of a box and of the next tile of a floor lie on the tile's hidden side. The
contact normal then points sideways. But the box cannot hit that side while the box is above the
tile's top face. A contact therefore counts only if the shapes overlap along the normals of all
other faces, by more than a tolerance, when they meet. This is the separating axis test for moving
shapes (Eberly, Dynamic Collision Detection using Oriented Bounding Boxes, 1999). Flush shapes count
as separated.

A body with penalty contacts sinks into the shapes that bear it. This body counts as flush with a
face if the body is no deeper in this face than in the others.
"""

import numpy as np

from hrpsim.engine.collision.primitives.support import surface_reach
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import (
    Index,
    Manifold,
    Mat3,
    Metres,
    Seconds,
    Shape,
    Vec3,
    Vector,
)
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, MESH, PLANE, SPHERE

# Shapes are flush with a face if they overlap by no more than this along its normal [m], or than
# this part of the thinner one.
FLUSH = 1e-5
FLUSH_SHARE = 1e-2

# Cosine with a face's normal above which a contact normal is that of the face.
ON_FACE = 1.0 - 5e-10
# Cosine below which a contact normal points sideways, however the shapes move.
SIDEWAYS = 0.5


@inlined_kernel
def span_a_patch(p: Vec3, q: Vec3, r: Vec3, n: Vec3) -> bool:
    """Return whether three points, seen along n, form a triangle wider than the tolerance FLUSH."""
    x, y, z = q[0] - p[0], q[1] - p[1], q[2] - p[2]
    u, v, w = r[0] - p[0], r[1] - p[1], r[2] - p[2]
    area = n[0] * (y * w - z * v) + n[1] * (z * u - x * w) + n[2] * (x * v - y * u)
    squares = x * x + y * y + z * z + u * u + v * v + w * w
    return area * area > 4.0 * FLUSH * FLUSH * squares


@inlined_kernel
def _is_on_face(shape: Shape, R: Mat3, n: Vector) -> bool:
    """Return whether a contact normal is the normal of a face of a shape."""
    cosine = abs(n[0] * R[0, 2] + n[1] * R[1, 2] + n[2] * R[2, 2])
    if shape.kind == BOX:
        for axis in range(2):
            along = n[0] * R[0, axis] + n[1] * R[1, axis] + n[2] * R[2, axis]
            cosine = max(cosine, abs(along))
    return cosine > ON_FACE and (shape.kind == BOX or shape.kind == CYLINDER)


@inlined_kernel
def may_hide_sides(a: Shape, b: Shape, count: int, work: Manifold) -> bool:
    """Return, by a fast test, whether a face may make a contact of two primitives impossible.

    The result is False if the `count` contacts span a patch, because both shapes overlap in the
    patch. Penalty contacts are always tested, because their patch may be as narrow as the body is
    deep. A round shape overlaps all around its contact with a face. Contacts of a round shape with
    different normals span no patch.
    """
    if count < 1 or a.kind == PLANE or b.kind == PLANE or a.kind == MESH or b.kind == MESH:
        return False
    n = work.normal[0]
    if max(a.kind, b.kind) > BOX:
        for k in range(1, count):
            w = work.normal[k]
            if n[0] * w[0] + n[1] * w[1] + n[2] * w[2] < ON_FACE:
                return True
    if a.kind == SPHERE or a.kind == CAPSULE:
        return (b.kind == BOX or b.kind == CYLINDER) and not _is_on_face(b, work.R_b, n)
    if b.kind == SPHERE or b.kind == CAPSULE:
        return not _is_on_face(a, work.R_a, n)
    if count < 3 or work.spring_count > 0:
        return True
    return not span_a_patch(work.point[0], work.point[1], work.point[2], n)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def passes_over(
    gap: float, nx: float, ny: float, nz: float, on_face: bool, separation: float, fx: float,
    fy: float, fz: float, vx: float, vy: float, vz: float, time_step: Seconds, tolerance: float,
) -> bool:  # fmt: skip
    """Return whether a contact along n is impossible because the shapes pass over a face.

    The shapes pass over the face if they are still separated along the face's normal f when the gap
    along n closes. The contact is removed if the shapes are flush with the face, or if the gap
    closes within the step. If n is nearly f, as at a ball, the contact is removed only if a motion
    along the face closes the gap within the step. A shape at rest then lies on an edge. n and f
    point from b to a.

    gap: gap along n [m].
    nx, ny, nz: unit vector n.
    on_face: whether n is the normal of another face.
    separation: distance along f [m], negative for an overlap.
    fx, fy, fz: unit vector f.
    vx, vy, vz: velocity of a relative to b at the contact [m/s].
    tolerance: overlap along f that counts as flush [m].
    """
    cosine = nx * fx + ny * fy + nz * fz
    if cosine > (SIDEWAYS if on_face else ON_FACE):
        return False
    approach, along = -(vx * nx + vy * ny + vz * nz), vx * fx + vy * fy + vz * fz
    time = time_step
    if approach * time_step > gap:
        time = max(gap, 0.0) / approach
    if separation + min(along, 0.0) * time < -tolerance:
        return False
    if cosine < SIDEWAYS:
        return separation <= tolerance or approach * time_step > gap - tolerance
    return gap > 0.0 and (approach + along * cosine) * time_step > gap


@inlined_kernel
def depth_in_springs(sink: float, along: float, time_step: float) -> float:
    """Return a bound on the depth that a body can reach in a face by the end of the step [m].

    Penalty contacts let the body sink into the shapes that bear it.

    Args:
        sink: depth in other penalty contacts at the start of the last step [m].
        along: velocity of the body along the outward normal of this face [m/s].
        time_step: [s].
    """
    return sink + 2.0 * time_step * max(-along, 0.0)


@inner_kernel
def _face(shape: Shape, R: Mat3, axis: int) -> tuple[bool, float, float, float]:
    """Return whether a shape has faces perpendicular to an axis, and x, y, z of this axis."""
    some = shape.kind == BOX or (shape.kind == CYLINDER and axis == 2)
    return some, R[0, axis], R[1, axis], R[2, axis]


@inner_kernel
def _velocity_of_core(
    work: Manifold, k: Index, shape: Shape, R: Mat3, sign: float
) -> tuple[float, float, float]:
    """Return the velocity of a relative to b at the point of a core nearest to contact k [m/s].

    `sign` selects the core: 1 for the core of a, -1 for the core of b. `shape` and R are of the
    same shape. The core of a round shape is its axis, or its centre. Rotation about axis or centre
    does not move the surface.
    """
    p = work.point[k]
    x, y, z = p[0], p[1], p[2]
    if shape.kind != BOX:
        c = work.p_a if sign > 0.0 else work.p_b
        along = (x - c[0]) * R[0, 2] + (y - c[1]) * R[1, 2] + (z - c[2]) * R[2, 2]
        along = min(max(along, -shape.size[1]), shape.size[1])
        x, y, z = c[0] + along * R[0, 2], c[1] + along * R[1, 2], c[2] + along * R[2, 2]
    w, d = work.spin, work.drift
    return d[0] + w[1] * z - w[2] * y, d[1] + w[2] * x - w[0] * z, d[2] + w[0] * y - w[1] * x


@inlined_kernel
def _velocity_over_face(
    work: Manifold, k: Index, a: Shape, b: Shape, face: int
) -> tuple[float, float, float]:
    """Return the velocity of a relative to b at contact k [m/s].

    `face` is the face over which a shape passes: 0..2 of b, 3..5 of a.
    """
    if face < 3:
        return _velocity_of_core(work, k, a, work.R_a, 1.0)
    return _velocity_of_core(work, k, b, work.R_b, -1.0)


@inlined_kernel
def _flush_within(sink: float, parting: float, time_step: Seconds, tolerance: Metres) -> float:
    """Return the depth up to which shapes count as flush with a face [m].

    The depth includes the penetration of penalty contacts (`depth_in_springs`).
    """
    if sink > 0.0:
        return tolerance + depth_in_springs(sink, parting, time_step)
    return tolerance


@inner_kernel
def _is_hidden(
    a: Shape, b: Shape, work: Manifold, k: Index, time_step: Seconds, tolerance: float
) -> bool:
    """Return whether a face of one of two shapes makes contact k of the manifold impossible."""
    n = work.normal[k]
    tx, ty, tz = work.p_a[0] - work.p_b[0], work.p_a[1] - work.p_b[1], work.p_a[2] - work.p_b[2]
    on_face = _is_on_face(a, work.R_a, n) or _is_on_face(b, work.R_b, n)
    for face in range(6):
        some, x, y, z = _face(b, work.R_b, face) if face < 3 else _face(a, work.R_a, face - 3)
        if not some:
            continue
        if x * tx + y * ty + z * tz < 0.0:
            x, y, z = -x, -y, -z
        apart = x * tx + y * ty + z * tz
        apart -= surface_reach(a.kind, a.size, work.R_a, x, y, z)
        apart -= surface_reach(b.kind, b.size, work.R_b, x, y, z)
        if apart < -tolerance and work.sink == 0.0:
            continue
        vx, vy, vz = _velocity_over_face(work, k, a, b, face)
        flush = _flush_within(work.sink, vx * x + vy * y + vz * z, time_step, tolerance)
        if apart >= -flush and passes_over(
            work.gap[k], n[0], n[1], n[2], on_face, apart, x, y, z, vx, vy, vz, time_step, flush
        ):
            return True
    return False


@inner_kernel
def drop_hidden(a: Shape, b: Shape, count: int, work: Manifold, time_step: Seconds) -> int:
    """Drop contacts of two primitives on hidden sides (see the docstring of the module).

    work.spin and work.drift are the angular and linear velocity of a relative to b. work.sink is
    the depth of both bodies in penalty contacts.

    Args:
        a: SHAPE record of a.
        b: SHAPE record of b.
        count: number of contacts.
        work: MANIFOLD record with both shapes.
        time_step: time step [s].

    Returns:
        The number of remaining contacts.
    """
    tolerance = min(FLUSH, FLUSH_SHARE * min(a.thickness, b.thickness))
    remaining = np.int64(0)
    for k in range(count):
        if _is_hidden(a, b, work, k, time_step, tolerance):
            continue
        if remaining < k:
            work.gap[remaining], work.feature[remaining] = work.gap[k], work.feature[k]
            for r in range(3):
                work.point[remaining, r] = work.point[k, r]
                work.normal[remaining, r] = work.normal[k, r]
        remaining += 1
    return remaining
