# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Path of the contact point over a round shape that touches a surface of fixed normal.

The normal n points from the surface into the body. The shape turns with the angular velocity w, and
its axis a changes by da/dt = w x a. The arm p points from the shape's centre to the contact point.

- Sphere and capsule: the radius to the point stays along n, so dp/dt = w x (p + rho n).
- Cylinder: the point is the lowest point of a rim, p = s a - rho m / |m|, where m = n - (n . a) a
  is the part of n across the axis. Then dp/dt = s da/dt - rho (dm/dt - u (u . dm/dt)) / |m| with u
  = m / |m| and dm/dt = -(n . da/dt) a - (n . a) da/dt.

`path_rate` takes real or complex numbers. A complex step through the function gives the
derivatives.
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import Index, Kinematics, Matrix, Shape, Vec3, Vector
from hrpsim.engine.spatial.vector import matrix_times, placed_point
from hrpsim.model.shapes.geometry import CAPSULE, CYLINDER, SPHERE

# Share of the normal across a cylinder's axis below which a cap lies on the surface. Then no point
# of the rim is the lowest.
_UPRIGHT = 0.05
_STEP = 1e-30  # of the complex step

# Components (x, y, z) along world axes, real, or complex for derivatives.
Components = tuple[complex, complex, complex]


@inlined_kernel
def arm_rate(
    shape: Shape, link: Kinematics, arm: Vec3, normal: Vec3, sign: float
) -> tuple[float, float, float]:
    """Return the velocity of a contact point relative to the material of its shape [m/s].

    The rate of the point's arm is the sum of this velocity and of w x arm. The point of a shape
    that is not round is fixed to the material.

    Args:
        shape: SHAPE record.
        link: KINEMATICS record of the shape's body. `R`, `p` and `v` are read.
        arm: the contact point, from the origin of the tree (3,) [m].
        normal: normal of the contact (3,) [1].
        sign: 1 if the normal points into the body, -1 if the normal points out of the body.

    Returns:
        (x, y, z) along world axes.
    """
    w, kind, own = link.v, shape.kind, shape.placement_R
    if kind != SPHERE and kind != CAPSULE and kind != CYLINDER:
        return 0.0, 0.0, 0.0
    x, y, z = placed_point(link.R, link.p, shape.placement_p)
    return path_rate(
        kind,
        shape.size[0],
        (w[0], w[1], w[2]),
        (sign * normal[0], sign * normal[1], sign * normal[2]),
        matrix_times(link.R, own[0, 2], own[1, 2], own[2, 2]),
        (arm[0] - x, arm[1] - y, arm[2] - z),
    )


@inlined_kernel
def path_rate(
    kind: Index, radius: float, w: Components, n: Components, a: Components, p: Components
) -> Components:
    """Return the velocity of the contact point relative to the material of a round shape [m/s].

    Args:
        kind: kind of the shape: SPHERE, CAPSULE or CYLINDER.
        radius: radius of the shape [m].
        w: angular velocity (x, y, z) [rad/s].
        n: normal of the surface, into the body (x, y, z) [1].
        a: axis of the shape (x, y, z) [1].
        p: the point, from the centre of the shape (x, y, z) [m].
    """
    if kind != CYLINDER:
        x, y, z = w[1] * n[2] - w[2] * n[1], w[2] * n[0] - w[0] * n[2], w[0] * n[1] - w[1] * n[0]
        return radius * x, radius * y, radius * z
    c, s = a[0] * n[0] + a[1] * n[1] + a[2] * n[2], a[0] * p[0] + a[1] * p[1] + a[2] * p[2]
    mx, my, mz = n[0] - c * a[0], n[1] - c * a[1], n[2] - c * a[2]
    qx, qy, qz = p[0] - s * a[0], p[1] - s * a[1], p[2] - s * a[2]
    square = mx * mx + my * my + mz * mz
    if square.real < _UPRIGHT * _UPRIGHT:  # only rotation about the axis keeps the point
        spin = w[0] * a[0] + w[1] * a[1] + w[2] * a[2]
        x, y, z = a[1] * qz - a[2] * qy, a[2] * qx - a[0] * qz, a[0] * qy - a[1] * qx
        return -spin * x, -spin * y, -spin * z
    size = math.sqrt(square.real)
    size = 0.5 * (size + square / size)  # Newton's iteration for the imaginary part
    mx, my, mz = mx / size, my / size, mz / size
    bx, by, bz = w[1] * a[2] - w[2] * a[1], w[2] * a[0] - w[0] * a[2], w[0] * a[1] - w[1] * a[0]
    b = bx * n[0] + by * n[1] + bz * n[2]
    tx, ty, tz = -b * a[0] - c * bx, -b * a[1] - c * by, -b * a[2] - c * bz
    t, k = tx * mx + ty * my + tz * mz, -(qx * mx + qy * my + qz * mz) / size
    x, y, z = w[1] * qz - w[2] * qy, w[2] * qx - w[0] * qz, w[0] * qy - w[1] * qx
    return -x - k * (tx - t * mx), -y - k * (ty - t * my), -z - k * (tz - t * mz)


@inlined_kernel
def _stepped(v: Vec3, k: Index) -> Components:
    """Return the vector v (3,) with a complex step in component k, if k is 0, 1 or 2."""
    return (
        v[0] + (1j * _STEP if k == 0 else 0j),
        v[1] + (1j * _STEP if k == 1 else 0j),
        v[2] + (1j * _STEP if k == 2 else 0j),
    )


@kernel
def path_slopes(
    kind: Index, radius: float, w: Vector, n: Vector, a: Vector, p: Vector, slopes_out: Matrix
) -> None:
    """Write the derivatives of `path_rate` with respect to w, n, a and p.

    Args:
        kind: as for `path_rate`.
        radius: as for `path_rate` [m].
        w: as for `path_rate` (3,) [rad/s].
        n: as for `path_rate` (3,) [1].
        a: as for `path_rate` (3,) [1].
        p: as for `path_rate` (3,) [m].
        slopes_out: a row for each component of w, n, a and p (12, 3), written.
    """
    for k in range(12):
        x, y, z = path_rate(
            kind, radius, _stepped(w, k), _stepped(n, k - 3), _stepped(a, k - 6), _stepped(p, k - 9)
        )
        slopes_out[k, 0], slopes_out[k, 1] = x.imag / _STEP, y.imag / _STEP
        slopes_out[k, 2] = z.imag / _STEP
