# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts of a shape (a) with a sphere (b): one point, the shape's nearest to the centre."""

import math

from hrpsim.collision.primitives.contact_row import NO_POINTS, SURFACE, write_contact
from hrpsim.jit.compiled import inner_kernel
from hrpsim.spatial.vector import matrix_times, transposed_times

# A centre nearer than this to a point or an axis [m] leaves no direction to measure.
_COINCIDENT = 1e-14


@inner_kernel
def _touch(nx, ny, nz, distance, size_b, p_b, margin, out):
    """Write the contact with a sphere whose centre is `distance` from the shape along unit n."""
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
def _touch_local(nx, ny, nz, distance, R_a, size_b, p_b, margin, out):
    """Write the contact whose outward surface normal, in the frame of a, is n."""
    nx, ny, nz = matrix_times(R_a, nx, ny, nz)
    return _touch(-nx, -ny, -nz, distance, size_b, p_b, margin, out)


@inner_kernel
def _to_frame(R, p, x, y, z):
    """Return the world point x, y, z in the frame at p with axes R."""
    return transposed_times(R, x - p[0], y - p[1], z - p[2])


@inner_kernel
def _direction(x, y, z, length, else_x, else_z):
    """Return the unit vector along x, y, z; that of no length is (else_x, 0, else_z)."""
    if length > _COINCIDENT:
        return x / length, y / length, z / length
    return else_x, 0.0, else_z


@inner_kernel
def sphere_on_sphere(size_a, R_a, p_a, size_b, p_b, margin, out):
    """Write the contact of two spheres; return 0 or 1. Coincident centres part along world z."""
    x, y, z = p_a[0] - p_b[0], p_a[1] - p_b[1], p_a[2] - p_b[2]
    distance = math.sqrt(x * x + y * y + z * z)
    nx, ny, nz = _direction(x, y, z, distance, 0.0, 1.0)
    return _touch(nx, ny, nz, distance - size_a[0], size_b, p_b, margin, out)


@inner_kernel
def box_on_sphere(size_a, R_a, p_a, size_b, p_b, margin, out):
    """Write the contact of a box with a sphere; return 0 or 1."""
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
def capsule_on_sphere(size_a, R_a, p_a, size_b, p_b, margin, out):
    """Write the contact of a capsule with a sphere; return 0 or 1."""
    x, y, z = _to_frame(R_a, p_a, p_b[0], p_b[1], p_b[2])
    z -= min(max(z, -size_a[1]), size_a[1])
    distance = math.sqrt(x * x + y * y + z * z)
    x, y, z = _direction(x, y, z, distance, 1.0, 0.0)
    return _touch_local(
        x, y, z, distance - size_a[0],
        R_a, size_b, p_b, margin, out,
    )  # fmt: skip


@inner_kernel
def cylinder_on_sphere(size_a, R_a, p_a, size_b, p_b, margin, out):
    """Write the contact of a cylinder with a sphere; return 0 or 1."""
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
