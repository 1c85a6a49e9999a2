# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of a shape (a) with a half-space that fills z <= 0 of its frame, or a sphere (b).

hrpsim.engine.collision.manifold.collide explains the arguments and the output.
"""

import math

from hrpsim.engine.collision.primitives.contact_row import END, NO_POINTS, SURFACE, write_contact
from hrpsim.engine.collision.primitives.cylinder_cap import FACING_COSINE
from hrpsim.engine.collision.primitives.generatrix import MEANINGFUL_SINE
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Manifold, Mat3, Metres, Vec3
from hrpsim.engine.spatial.vector import matrix_times, transposed_times

# A centre nearer than this to a point or an axis [m] leaves no direction to measure.
_COINCIDENT = 1e-14


@inlined_kernel
def _height(R_b: Mat3, p_b: Vec3, x: float, y: float, z: float) -> float:
    """Return the height of a point above the plane [m]."""
    return R_b[0, 2] * (x - p_b[0]) + R_b[1, 2] * (y - p_b[1]) + R_b[2, 2] * (z - p_b[2])


@inlined_kernel
def _touch(
    k: Index,
    x: float,
    y: float,
    z: float,
    gap: float,
    margin: Metres,
    code: int,
    R_b: Mat3,
    out: Manifold,
) -> int:
    """Write the contact of a surface point at the height `gap` over the plane, if within margin."""
    # many parameters: vectors as three numbers stay in registers
    if gap > margin:
        return k
    nx, ny, nz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    half = 0.5 * gap
    return write_contact(
        k, x - half * nx, y - half * ny, z - half * nz, nx, ny, nz, gap,
        code, SURFACE, out,
    )  # fmt: skip


@inlined_kernel
def sphere_on_plane(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, R_b: Mat3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the contact of a sphere with a half-space, and return 0 or 1."""
    radius = size_a[0]
    gap = _height(R_b, p_b, p_a[0], p_a[1], p_a[2]) - radius
    return _touch(
        NO_POINTS,
        p_a[0] - radius * R_b[0, 2],
        p_a[1] - radius * R_b[1, 2],
        p_a[2] - radius * R_b[2, 2],
        gap, margin, SURFACE, R_b, out,
    )  # fmt: skip


@inner_kernel
def box_on_plane(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, R_b: Mat3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the box vertices within margin of a half-space, and return the number of contacts."""
    nx, ny, nz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    hx, hy, hz = size_a[0], size_a[1], size_a[2]
    rise_x = hx * (nx * R_a[0, 0] + ny * R_a[1, 0] + nz * R_a[2, 0])
    rise_y = hy * (nx * R_a[0, 1] + ny * R_a[1, 1] + nz * R_a[2, 1])
    rise_z = hz * (nx * R_a[0, 2] + ny * R_a[1, 2] + nz * R_a[2, 2])
    height = _height(R_b, p_b, p_a[0], p_a[1], p_a[2])
    if height - abs(rise_x) - abs(rise_y) - abs(rise_z) > margin:
        return 0
    count = NO_POINTS
    for vertex in range(8):
        sx = 1.0 if vertex & 1 else -1.0
        sy = 1.0 if vertex & 2 else -1.0
        sz = 1.0 if vertex & 4 else -1.0
        gap = height + sx * rise_x + sy * rise_y + sz * rise_z
        if gap <= margin:
            x, y, z = sx * hx, sy * hy, sz * hz
            count = _touch(
                count,
                p_a[0] + R_a[0, 0] * x + R_a[0, 1] * y + R_a[0, 2] * z,
                p_a[1] + R_a[1, 0] * x + R_a[1, 1] * y + R_a[1, 2] * z,
                p_a[2] + R_a[2, 0] * x + R_a[2, 1] * y + R_a[2, 2] * z,
                gap, margin, vertex, R_b, out,
            )  # fmt: skip
    return count


@inner_kernel
def capsule_on_plane(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, R_b: Mat3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the ends of a capsule within margin of a half-space. Return the number of contacts."""
    radius = size_a[0]
    count = NO_POINTS
    for end in range(2):
        along = size_a[1] if end else -size_a[1]
        x = p_a[0] + along * R_a[0, 2]
        y = p_a[1] + along * R_a[1, 2]
        z = p_a[2] + along * R_a[2, 2]
        count = _touch(
            count, x - radius * R_b[0, 2], y - radius * R_b[1, 2], z - radius * R_b[2, 2],
            _height(R_b, p_b, x, y, z) - radius, margin, END + end,
            R_b, out,
        )  # fmt: skip
    return count


@inner_kernel
def cylinder_on_plane(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, R_b: Mat3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the rim points of a cylinder within margin of a half-space. Return their number.

    Each cap gives its deepest point. This point changes with the tilt, so the cylinder rolls on its
    side or on its rim. If a cap faces the plane and is completely within the margin, four points
    fixed to the cylinder are added. These points persist while the cylinder stands. On a tilted cap
    these points would turn with the spin, and brake the spin like the corners of a prism.
    """
    radius, half = size_a[0], size_a[1]
    ax, ay, az = R_a[0, 2], R_a[1, 2], R_a[2, 2]
    nx, ny, nz = R_b[0, 2], R_b[1, 2], R_b[2, 2]
    cosine = nx * ax + ny * ay + nz * az
    dx, dy, dz = cosine * ax - nx, cosine * ay - ny, cosine * az - nz
    sine = math.sqrt(dx * dx + dy * dy + dz * dz)
    height = _height(R_b, p_b, p_a[0], p_a[1], p_a[2])
    count = NO_POINTS
    if sine > MEANINGFUL_SINE:
        reach = radius / sine
        for end in range(2):
            along = half if end else -half
            count = _touch(
                count,
                p_a[0] + along * ax + reach * dx,
                p_a[1] + along * ay + reach * dy,
                p_a[2] + along * az + reach * dz,
                height + along * cosine - radius * sine, margin, END + end,
                R_b, out,
            )  # fmt: skip
    if abs(cosine) > FACING_COSINE and height - half * abs(cosine) + radius * sine <= margin:
        cap = 0 if cosine > 0.0 else 1
        along = half if cap else -half
        for k in range(4):
            column = k % 2
            reach = radius if k < 2 else -radius
            ux, uy, uz = R_a[0, column], R_a[1, column], R_a[2, column]
            count = _touch(
                count,
                p_a[0] + along * ax + reach * ux,
                p_a[1] + along * ay + reach * uy,
                p_a[2] + along * az + reach * uz,
                height + along * cosine + reach * (nx * ux + ny * uy + nz * uz), margin,
                4 * cap + k, R_b, out,
            )  # fmt: skip
    return count


@inner_kernel
def _touch_sphere(
    nx: float,
    ny: float,
    nz: float,
    distance: float,
    size_b: Vec3,
    p_b: Vec3,
    margin: Metres,
    out: Manifold,
) -> int:
    """Write the contact of a shape with a sphere.

    n: unit vector from the sphere to the shape.
    distance: distance of the sphere's centre from the shape [m].
    """
    gap = distance - size_b[0]
    if gap > margin:
        return 0
    middle = size_b[0] + 0.5 * gap
    return write_contact(
        NO_POINTS, p_b[0] + middle * nx, p_b[1] + middle * ny, p_b[2] + middle * nz,
        nx, ny, nz, gap,
        SURFACE, SURFACE, out,
    )  # fmt: skip


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def _touch_local(
    nx: float, ny: float, nz: float, distance: float, R_a: Mat3, size_b: Vec3, p_b: Vec3,
    margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contact with a sphere, as `_touch_sphere`.

    n: unit vector from shape a to the sphere, in the frame of a.
    """
    nx, ny, nz = matrix_times(R_a, nx, ny, nz)
    return _touch_sphere(-nx, -ny, -nz, distance, size_b, p_b, margin, out)


@inner_kernel
def _to_frame(R: Mat3, p: Vec3, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Convert the world point x, y, z to the frame with origin p and axes R."""
    return transposed_times(R, x - p[0], y - p[1], z - p[2])


@inner_kernel
def _direction(
    x: float, y: float, z: float, length: float, else_x: float, else_z: float
) -> tuple[float, float, float]:
    """Return the unit vector along x, y, z, or (else_x, 0, else_z) if the length is zero."""
    if length > _COINCIDENT:
        return x / length, y / length, z / length
    return else_x, 0.0, else_z


@inner_kernel
def sphere_on_sphere(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, size_b: Vec3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the contact of two spheres, and return 0 or 1.

    If the centres coincide, the normal is the world's z axis.
    """
    x, y, z = p_a[0] - p_b[0], p_a[1] - p_b[1], p_a[2] - p_b[2]
    distance = math.sqrt(x * x + y * y + z * z)
    nx, ny, nz = _direction(x, y, z, distance, 0.0, 1.0)
    return _touch_sphere(nx, ny, nz, distance - size_a[0], size_b, p_b, margin, out)


@inner_kernel
def box_on_sphere(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, size_b: Vec3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the contact of a box with a sphere, and return 0 or 1."""
    x, y, z = _to_frame(R_a, p_a, p_b[0], p_b[1], p_b[2])
    out_x, out_y, out_z = abs(x) - size_a[0], abs(y) - size_a[1], abs(z) - size_a[2]
    nx, ny, nz = max(out_x, 0.0), max(out_y, 0.0), max(out_z, 0.0)
    distance = math.sqrt(nx * nx + ny * ny + nz * nz)
    if distance > _COINCIDENT:
        nx, ny, nz = nx / distance, ny / distance, nz / distance
    else:
        distance = max(out_x, out_y, out_z)
        nx = 1.0 if out_x == distance else 0.0
        ny = 1.0 if out_y == distance and nx == 0.0 else 0.0
        nz = 1.0 - nx - ny
    return _touch_local(
        math.copysign(nx, x), math.copysign(ny, y), math.copysign(nz, z), distance,
        R_a, size_b, p_b, margin, out,
    )  # fmt: skip


@inner_kernel
def capsule_on_sphere(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, size_b: Vec3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the contact of a capsule with a sphere, and return 0 or 1."""
    x, y, z = _to_frame(R_a, p_a, p_b[0], p_b[1], p_b[2])
    z -= min(max(z, -size_a[1]), size_a[1])
    distance = math.sqrt(x * x + y * y + z * z)
    x, y, z = _direction(x, y, z, distance, 1.0, 0.0)
    return _touch_local(
        x, y, z, distance - size_a[0],
        R_a, size_b, p_b, margin, out,
    )  # fmt: skip


@inner_kernel
def cylinder_on_sphere(
    size_a: Vec3, R_a: Mat3, p_a: Vec3, size_b: Vec3, p_b: Vec3, margin: Metres, out: Manifold
) -> int:
    """Write the contact of a cylinder with a sphere, and return 0 or 1."""
    x, y, z = _to_frame(R_a, p_a, p_b[0], p_b[1], p_b[2])
    radial = math.sqrt(x * x + y * y)
    if radial > _COINCIDENT:
        x, y = x / radial, y / radial
    else:
        x, y = 1.0, 0.0
    out_radial, out_axial = radial - size_a[0], abs(z) - size_a[1]
    n_radial, n_axial = max(out_radial, 0.0), max(out_axial, 0.0)
    distance = math.sqrt(n_radial * n_radial + n_axial * n_axial)
    if distance > _COINCIDENT:
        n_radial, n_axial = n_radial / distance, n_axial / distance
    else:
        distance = max(out_radial, out_axial)
        n_radial = 1.0 if out_radial == distance else 0.0
        n_axial = 1.0 - n_radial
    return _touch_local(
        n_radial * x, n_radial * y, math.copysign(n_axial, z), distance,
        R_a, size_b, p_b, margin, out,
    )  # fmt: skip
