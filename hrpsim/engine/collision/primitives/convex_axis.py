# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The separation axis of two convex cores: the normal along which the gap is largest.

If the cores are apart, the axis is the direction between the nearest points. The distance iteration
of Gilbert, Johnson and Keerthi (1988) finds this direction. Overlapping or nearly touching
cylinders are first shrunk until the cylinders are apart. The direction is then refined for the true
shapes.

For a cylinder (a) and a box, segment or cylinder (b) Newton's method refines the axis. t is the
centre of a relative to the centre of b. Along a unit vector n from b to a the separation of the
cores is

    F(n) = t . n - sum over edges h |n . e| - sum over rims r sqrt(1 - (n . axis)^2)

An edge is a direction e along which a core extends by +-h: three for a box, the axis for a cylinder
or a segment. A rim is a circle of radius r about an axis of a cylinder. If the contact is on the
middle of an edge, n . e = 0. There F has a kink, called a ridge below. The other terms are smooth
there. The best n on the unit sphere, along its ridges, follows from the gradient G and the
curvature of the smooth terms. The curvature is r / sine for each rim, along the rim's tangent, and
F for the sphere itself. Functions number the edges: 0 is the axis of cylinder a, 1..3 are the
edges of b.
"""

import math

from hrpsim.engine.collision.primitives.contact_row import NO_POINTS, nearest_on_axes
from hrpsim.engine.collision.primitives.simplex import nearest_weights, weight_of
from hrpsim.engine.collision.primitives.support import (
    core_reach,
    extent_sum,
    radial_direction,
    support,
)
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Mat3, Matrix, Vec3
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER

_MAX_STEPS = 60
_LONGEST_STEP = 0.2
_CONVERGED = 1e-12
# Cosine below which a direction lies on a ridge, and below which a first guess is moved onto it.
_RIDGE = 1e-12
_NEAR_RIDGE = 1e-3
# Sine below which a direction is a cap's normal; squared sine of edges that count as parallel.
_CAP = 1e-6
_PARALLEL = 1e-12
_MAX_VERTICES = 60
# Relative error of the distance at which the iteration ends, without and with a polish to follow.
_EXACT = 4e-16
_ROUGH = 1e-7
# Cylinders nearer than this part of the smaller shape are shrunk before their direction is taken.
_CLEARANCE = 1e-3


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def separation_along(
    kind_a: int, size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float,
    ty: float, tz: float, nx: float, ny: float, nz: float,
) -> float:  # fmt: skip
    """Return the separation of two cores along the unit vector n from b to a [m]."""
    reach_a = core_reach(kind_a, size_a, R_a, nx, ny, nz)
    return tx * nx + ty * ny + tz * nz - reach_a - core_reach(kind_b, size_b, R_b, nx, ny, nz)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _nearest_direction(
    kind_a: int, size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float,
    ty: float, tz: float, nx: float, ny: float, nz: float, shrink: float, tolerance: float,
    scratch: Matrix,
) -> tuple[float, ...]:  # fmt: skip
    """Find the nearest points of two cores, which must be apart along the first guess n.

    shrink: distance by which both cores are first shrunk [m]. tolerance: relative error of the
    distance at which the iteration ends. scratch: work (8, 3). The first four rows hold the simplex
    of the difference of the cores, and the other rows hold the simplex points on a.

    Returns:
        (nx, ny, nz, ax, ay, az, distance): unit vector from b to a, nearest point of a relative to
        the centre of b [m], distance [m].
    """
    count = NO_POINTS
    squared = math.inf
    ax = ay = az = 0.0
    for _ in range(_MAX_VERTICES):
        px, py, pz = support(kind_a, size_a, R_a, shrink, -nx, -ny, -nz)
        qx, qy, qz = support(kind_b, size_b, R_b, shrink, nx, ny, nz)
        px, py, pz = px + tx, py + ty, pz + tz
        wx, wy, wz = px - qx, py - qy, pz - qz
        if count > 0:
            distance = math.sqrt(squared)
            if distance - (nx * wx + ny * wy + nz * wz) <= tolerance * distance:
                break
        scratch[count, 0], scratch[count, 1], scratch[count, 2] = wx, wy, wz
        scratch[4 + count, 0], scratch[4 + count, 1], scratch[4 + count, 2] = px, py, pz
        w0, w1, w2, w3, nearer = nearest_weights(scratch, count + 1)
        if not nearer < squared:
            break
        squared = nearer
        vx = vy = vz = 0.0
        ax = ay = az = 0.0
        vertex_count = NO_POINTS
        for k in range(count + 1):
            weight = weight_of(k, (w0, w1, w2, w3))
            if weight > 0.0:
                for column in range(3):
                    scratch[vertex_count, column] = scratch[k, column]
                    scratch[4 + vertex_count, column] = scratch[4 + k, column]
                vx += weight * scratch[vertex_count, 0]
                vy += weight * scratch[vertex_count, 1]
                vz += weight * scratch[vertex_count, 2]
                ax += weight * scratch[4 + vertex_count, 0]
                ay += weight * scratch[4 + vertex_count, 1]
                az += weight * scratch[4 + vertex_count, 2]
                vertex_count += 1
        count = vertex_count
        norm = math.sqrt(vx * vx + vy * vy + vz * vz)
        if norm == 0.0 or count > 3:
            break
        nx, ny, nz = vx / norm, vy / norm, vz / norm
    return nx, ny, nz, ax, ay, az, math.sqrt(squared)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def refine_axis(
    kind_a: int, size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float,
    ty: float, tz: float, nx: float, ny: float, nz: float, separation: float, scratch: Matrix,
) -> tuple[float, ...]:  # fmt: skip
    """Improve the separation axis from a first guess n.

    The guess is returned if nothing better is found. Without a cylinder the cores must be apart. If
    there is a cylinder, a must be a cylinder.

    tx, ty, tz: centre of a relative to the centre of b [m]. nx, ny, nz: first guess, a unit vector
    from b to a. separation: separation along the guess [m]. scratch: work (8, 3).

    Returns:
        (nx, ny, nz, separation, ax, ay, az): best axis, separation [m], and the point of core a in
        contact, relative to the centre of b [m].
    """
    if kind_a == CAPSULE and kind_b == CAPSULE:
        s, _ = nearest_on_axes(R_a, size_a[1], R_b, size_b[1], tx, ty, tz)
        return nx, ny, nz, separation, tx + s * R_a[0, 2], ty + s * R_a[1, 2], tz + s * R_a[2, 2]
    if kind_a != CYLINDER:
        mx, my, mz, ax, ay, az, distance = _nearest_direction(
            kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, 0.0, _EXACT, scratch
        )
        better = separation_along(kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, mx, my, mz)
        apart = separation > 0.0
        if better > separation:
            nx, ny, nz, separation = mx, my, mz, better
        if apart:
            # Rounding turns the direction between near points of large shapes: the distance holds.
            separation = max(separation, distance)
        return nx, ny, nz, separation, ax, ay, az
    clearance = _CLEARANCE * min(extent_sum(size_a), extent_sum(size_b))
    shrink = max(clearance - separation, 0.0)
    if kind_b != CAPSULE:
        shrink *= 0.5
    mx, my, mz, _, _, _, _ = _nearest_direction(
        kind_a, size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz, shrink, _ROUGH, scratch
    )
    mx, my, mz, better = polish_axis(size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, mx, my, mz)
    if better < separation:
        mx, my, mz, better = polish_axis(size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz)
    if better > separation:
        nx, ny, nz, separation = mx, my, mz, better
    ax, ay, az = contact_point(size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz)
    return nx, ny, nz, separation, ax, ay, az


@inner_kernel
def _edge(
    k: Index, size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3
) -> tuple[float, float, float, float]:
    """Return the unit direction and half length (ex, ey, ez, h) of edge k."""
    if k == 0:
        return R_a[0, 2], R_a[1, 2], R_a[2, 2], size_a[1]
    if kind_b == BOX:
        return R_b[0, k - 1], R_b[1, k - 1], R_b[2, k - 1], size_b[k - 1]
    return R_b[0, 2], R_b[1, 2], R_b[2, 2], size_b[1] if k == 1 else 0.0


@inner_kernel
def _rim(R: Mat3, radius: float, nx: float, ny: float, nz: float) -> tuple[float, ...]:
    """Return value, gradient (3), tangent (3) and curvature of a rim's term r sqrt(1 - c^2)."""
    gx, gy, gz, sine = radial_direction(R, nx, ny, nz)
    if sine < _CAP:
        return radius * sine, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    ax, ay, az = R[0, 2], R[1, 2], R[2, 2]
    return (
        radius * sine, radius * gx, radius * gy, radius * gz,
        ay * gz - az * gy, az * gx - ax * gz, ax * gy - ay * gx, radius / sine,
    )  # fmt: skip


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _smooth_terms(
    size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float, ty: float, tz: float,
    nx: float, ny: float, nz: float,
) -> tuple[float, float, float, float, int, int]:  # fmt: skip
    """Return F and the gradient of the smooth terms at n, and the edges whose ridges contain n.

    Returns:
        (F, Gx, Gy, Gz, first edge, second edge) [m]. An edge is -1 if there is none.
    """
    value, Gx, Gy, Gz, _, _, _, _ = _rim(R_a, size_a[0], nx, ny, nz)
    Gx, Gy, Gz = tx - Gx, ty - Gy, tz - Gz
    value = tx * nx + ty * ny + tz * nz - value
    if kind_b == CYLINDER:
        rim, gx, gy, gz, _, _, _, _ = _rim(R_b, size_b[0], nx, ny, nz)
        value -= rim
        Gx, Gy, Gz = Gx - gx, Gy - gy, Gz - gz
    edges = 4 if kind_b == BOX else 2
    for k in range(edges):
        ex, ey, ez, h = _edge(k, size_a, R_a, kind_b, size_b, R_b)
        cosine = nx * ex + ny * ey + nz * ez
        value -= h * abs(cosine)
        if abs(cosine) > _RIDGE:
            h = math.copysign(h, cosine)
            Gx, Gy, Gz = Gx - h * ex, Gy - h * ey, Gz - h * ez
    first, second = -1, -1
    for k in range(edges):
        ex, ey, ez, h = _edge(k, size_a, R_a, kind_b, size_b, R_b)
        if abs(nx * ex + ny * ey + nz * ez) <= _RIDGE:
            along_second = Gx * ex + Gy * ey + Gz * ez
            if first == 0:
                # Contact places on both edges at once: where the line between them is along n.
                fx, fy, fz, h_first = _edge(first, size_a, R_a, kind_b, size_b, R_b)
                cosine = ex * fx + ey * fy + ez * fz
                across = 1.0 - cosine * cosine
                if across < _PARALLEL:
                    continue
                slope = Gx * fx + Gy * fy + Gz * fz
                along_first = (slope - cosine * along_second) / across
                if abs(along_first) > h_first:
                    h_first = math.copysign(h_first, along_first)
                    Gx, Gy, Gz = Gx - h_first * fx, Gy - h_first * fy, Gz - h_first * fz
                    first = -1
                    along_second = Gx * ex + Gy * ey + Gz * ez
                else:
                    along_second -= cosine * along_first
            if abs(along_second) > h:
                h = math.copysign(h, along_second)
                Gx, Gy, Gz = Gx - h * ex, Gy - h * ey, Gz - h * ez
            elif first < 0:
                first = k
            else:
                second = k
    return value, Gx, Gy, Gz, first, second


@inlined_kernel
def _farthest_axis(nx: float, ny: float, nz: float) -> tuple[float, float, float]:
    """Return the coordinate axis that makes the largest angle with n."""
    ex = 1.0 if abs(nx) <= abs(ny) and abs(nx) <= abs(nz) else 0.0
    ey = 1.0 if ex == 0.0 and abs(ny) <= abs(nz) else 0.0
    return ex, ey, 1.0 - ex - ey


@inlined_kernel
def _limited_step(u: float, v: float, concave: bool) -> tuple[float, float]:
    """Limit a step (u, v) to the longest length. If F is not concave, extend it to this length."""
    length = math.sqrt(u * u + v * v)
    if length > _LONGEST_STEP or (length > 0.0 and not concave):
        return u * _LONGEST_STEP / length, v * _LONGEST_STEP / length
    return u, v


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _ascent_step(
    size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, nx: float, ny: float, nz: float,
    value: float, Gx: float, Gy: float, Gz: float, ridge: int,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the tangent step from n toward the best axis, along ridge `ridge` if >= 0."""
    if ridge >= 0:
        ex, ey, ez, _ = _edge(ridge, size_a, R_a, kind_b, size_b, R_b)
    else:
        ex, ey, ez = _farthest_axis(nx, ny, nz)
    ux, uy, uz = ny * ez - nz * ey, nz * ex - nx * ez, nx * ey - ny * ex
    norm = math.sqrt(ux * ux + uy * uy + uz * uz)
    ux, uy, uz = ux / norm, uy / norm, uz / norm
    vx, vy, vz = ny * uz - nz * uy, nz * ux - nx * uz, nx * uy - ny * ux
    Huu, Huv, Hvv = value, 0.0, value
    for shape in range(2):
        if shape == 0:
            _, _, _, _, x, y, z, curvature = _rim(R_a, size_a[0], nx, ny, nz)
        elif kind_b == CYLINDER:
            _, _, _, _, x, y, z, curvature = _rim(R_b, size_b[0], nx, ny, nz)
        else:
            continue
        along_u = x * ux + y * uy + z * uz
        along_v = x * vx + y * vy + z * vz
        Huu += curvature * along_u * along_u
        Huv += curvature * along_u * along_v
        Hvv += curvature * along_v * along_v
    step_u = Gx * ux + Gy * uy + Gz * uz
    step_v = Gx * vx + Gy * vy + Gz * vz
    if ridge >= 0:
        step_v, Huv, Hvv = 0.0, 0.0, 1.0
    determinant = Huu * Hvv - Huv * Huv
    concave = Huu > 0.0 and determinant > 0.0
    if concave:
        step_u, step_v = (
            (step_u * Hvv - step_v * Huv) / determinant,
            (step_v * Huu - step_u * Huv) / determinant,
        )
    step_u, step_v = _limited_step(step_u, step_v, concave)
    return step_u * ux + step_v * vx, step_u * uy + step_v * vy, step_u * uz + step_v * vz


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _moved(
    size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, nx: float, ny: float, nz: float,
    dx: float, dy: float, dz: float, near: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the unit vector along n + d. If n would cross a ridge, return the point on this ridge.

    If `near` > 0, n is instead moved onto every ridge within this distance.
    """
    scale = 1.0
    for k in range(4):
        ex, ey, ez, h = _edge(k, size_a, R_a, kind_b, size_b, R_b)
        if h == 0.0:
            continue
        start = nx * ex + ny * ey + nz * ez
        if near > 0.0:
            if abs(start) < near:
                nx, ny, nz = nx - start * ex, ny - start * ey, nz - start * ez
        elif abs(start) > _RIDGE:
            rate = dx * ex + dy * ey + dz * ez
            if start * (start + scale * rate) < 0.0:
                scale = -start / rate
    nx, ny, nz = nx + scale * dx, ny + scale * dy, nz + scale * dz
    norm = math.sqrt(nx * nx + ny * ny + nz * nz)
    if norm == 0.0:
        return 0.0, 0.0, 1.0
    return nx / norm, ny / norm, nz / norm


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def polish_axis(
    size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float, ty: float, tz: float,
    nx: float, ny: float, nz: float,
) -> tuple[float, float, float, float]:  # fmt: skip
    """Find the local maximum of the separation near the guess n, by Newton's method.

    Shape a is a cylinder. t is the centre of a relative to the centre of b [m]. n points from b to
    a.

    Returns:
        (nx, ny, nz, separation): unit vector and separation [m].
    """
    nx, ny, nz = _moved(size_a, R_a, kind_b, size_b, R_b, nx, ny, nz, 0.0, 0.0, 0.0, _NEAR_RIDGE)
    value, Gx, Gy, Gz, first, second = _smooth_terms(
        size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, nx, ny, nz
    )
    dx, dy, dz = _ascent_step(
        size_a, R_a, kind_b, size_b, R_b, nx, ny, nz, value, Gx, Gy, Gz, first
    )
    for _ in range(_MAX_STEPS):
        if second >= 0 or abs(dx) + abs(dy) + abs(dz) < _CONVERGED:
            break
        mx, my, mz = _moved(size_a, R_a, kind_b, size_b, R_b, nx, ny, nz, dx, dy, dz, 0.0)
        higher, gx, gy, gz, first_there, second_there = _smooth_terms(
            size_a, R_a, kind_b, size_b, R_b, tx, ty, tz, mx, my, mz
        )
        if higher > value:
            nx, ny, nz, value, first, second = mx, my, mz, higher, first_there, second_there
            dx, dy, dz = _ascent_step(
                size_a, R_a, kind_b, size_b, R_b, nx, ny, nz, value, gx, gy, gz, first
            )
        else:
            dx, dy, dz = 0.5 * dx, 0.5 * dy, 0.5 * dz
    return nx, ny, nz, value


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def contact_point(
    size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, tx: float, ty: float, tz: float,
    nx: float, ny: float, nz: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Return the point of cylinder a that is nearest to b along the axis n.

    Returns:
        (x, y, z), relative to the centre of b [m].
    """
    _, rx, ry, rz, _, _, _, _ = _rim(R_a, size_a[0], nx, ny, nz)
    ex, ey, ez, h = _edge(0, size_a, R_a, kind_b, size_b, R_b)
    cosine = nx * ex + ny * ey + nz * ez
    if abs(cosine) > _RIDGE:
        place = math.copysign(h, cosine)
    else:
        place = _place_on_side(
            size_a, R_a, kind_b, size_b, R_b, tx - rx, ty - ry, tz - rz, nx, ny, nz
        )
    return tx - rx - place * ex, ty - ry - place * ey, tz - rz - place * ez


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _place_on_side(
    size_a: Vec3, R_a: Mat3, kind_b: int, size_b: Vec3, R_b: Mat3, Gx: float, Gy: float, Gz: float,
    nx: float, ny: float, nz: float,
) -> float:  # fmt: skip
    """Return the position along the axis of cylinder a at which its generatrix is nearest to b [m].

    n is perpendicular to the axis. G is the centre of the generatrix relative to the centre of b.
    If b has one edge perpendicular to n, the positions x, y on generatrix and edge minimise |G - x
    e - y f|. If a face of b or an edge along the axis is nearest, the whole interval is equally
    near. The middle of the interval is then returned.
    """
    ex, ey, ez, h = _edge(0, size_a, R_a, kind_b, size_b, R_b)
    if kind_b == CYLINDER:
        _, gx, gy, gz, _, _, _, _ = _rim(R_b, size_b[0], nx, ny, nz)
        Gx, Gy, Gz = Gx - gx, Gy - gy, Gz - gz
    edges, edge, lower, upper = 0, 0, -h, h
    for k in range(1, 4 if kind_b == BOX else 2):
        fx, fy, fz, half = _edge(k, size_a, R_a, kind_b, size_b, R_b)
        cosine = nx * fx + ny * fy + nz * fz
        if abs(cosine) > _RIDGE:
            half = math.copysign(half, cosine)
            Gx, Gy, Gz = Gx - half * fx, Gy - half * fy, Gz - half * fz
        else:
            edges, edge = edges + 1, k
    along = Gx * ex + Gy * ey + Gz * ez
    if edges == 0:
        return min(max(along, -h), h)
    fx, fy, fz, half = _edge(edge, size_a, R_a, kind_b, size_b, R_b)
    cosine = ex * fx + ey * fy + ez * fz
    across = 1.0 - cosine * cosine
    if edges == 1 and across >= _PARALLEL:
        other = Gx * fx + Gy * fy + Gz * fz
        x = min(max((along - cosine * other) / across, -h), h)
        y = other - cosine * x
        if abs(y) <= half:
            return x
        return min(max(along - cosine * math.copysign(half, y), -h), h)
    for k in range(1, 4 if kind_b == BOX else 2):
        fx, fy, fz, half = _edge(k, size_a, R_a, kind_b, size_b, R_b)
        cosine = ex * fx + ey * fy + ez * fz
        if abs(nx * fx + ny * fy + nz * fz) <= _RIDGE and abs(cosine) > _RIDGE:
            middle, reach = (Gx * fx + Gy * fy + Gz * fz) / cosine, half / abs(cosine)
            lower, upper = max(lower, middle - reach), min(upper, middle + reach)
    return min(max(0.5 * (lower + upper), -h), h)
