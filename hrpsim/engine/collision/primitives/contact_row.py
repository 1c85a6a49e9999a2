# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One entry of a contact manifold, and codes for the features of the shapes that touch.

Points are projected obliquely, along the contact normal, onto a box face or a cylinder cap. The
shape with this plane is the bearing shape, with centre p and axes R. The plane is perpendicular to
the axis `axis`, at the distance `half` from the centre, on the side given by the sign of `cosine` =
n . axis. The unit vector n points from the bearing shape to the other shape. The gap of a point is
the distance that it travels along n to the plane. Plane coordinates (X, Y) [m] run along the next
two axes from the middle of the plane. Positions are relative to p.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inner_kernel
from hrpsim.engine.compile.kernel_types import Index, Manifold, Mat3, Metres, Vec3

MAX_POINTS = 8
MAX_MESH_POINTS = 32

# Constants passed to kernels are numpy integers: numba compiles a function once more for
# every plain integer constant it is called with.
NO_POINTS = np.int64(0)

# A feature is a number below FEATURES on each shape; the identity of a contact is the pair of them.
# Boxes: vertices 0..7 (bit k set: positive side of axis k), edges 8..19, any face SURFACE.
# Capsules, generatrices of cylinders: ends END + 0 (negative z), END + 1, between them SURFACE.
# Cylinders: fixed points of the rim 0..3 (negative z cap) and 4..7, rim crossings CROSSING + 0..3.
FEATURES = np.int64(64)
BOX_EDGE = np.int64(8)
END = np.int64(20)
CROSSING = np.int64(22)
SURFACE = np.int64(62)
NEAREST = np.int64(63)
# A point that misses a face or a cap by less than this part of its half width still counts, and is
# moved onto it: aligned shapes then keep their corners as features while they jitter.
RIM_TOLERANCE = 1e-4
Z_AXIS = np.int64(2)
# Squared sine below which segments count as parallel.
_PARALLEL = 1e-20


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def write_contact(
    k: Index, x: float, y: float, z: float, nx: float, ny: float, nz: float, gap: float,
    code_a: int, code_b: int, out: Manifold,
) -> int:  # fmt: skip
    """Write contact `k` of a manifold, and return k + 1.

    x, y, z: midpoint of the two surface points [m].
    nx, ny, nz: unit normal from b to a.
    gap: separation along the normal, negative in penetration [m].
    code_a, code_b: codes of the touching features.
    """
    out.point[k, 0] = x
    out.point[k, 1] = y
    out.point[k, 2] = z
    out.normal[k, 0] = nx
    out.normal[k, 1] = ny
    out.normal[k, 2] = nz
    out.gap[k] = gap
    out.feature[k] = code_a * FEATURES + code_b
    return k + 1


@inner_kernel
def clamp(value: float, half: float) -> float:
    """Return the value within -half..half that is nearest to `value`."""
    return min(max(value, -half), half)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def project_direction(
    x: float, y: float, z: float, axis: int, cosine: float, R: Mat3, nx: float, ny: float, nz: float
) -> tuple[float, float, float]:
    """Return the change of a point's plane coordinates and gap when the point is displaced.

    x, y, z: displacement [m].

    Returns:
        (X, Y, gap): changes [m].
    """
    gap = (x * R[0, axis] + y * R[1, axis] + z * R[2, axis]) / cosine
    x, y, z = x - gap * nx, y - gap * ny, z - gap * nz
    u = (axis + 1) % 3
    v = (axis + 2) % 3
    return (x * R[0, u] + y * R[1, u] + z * R[2, u], x * R[0, v] + y * R[1, v] + z * R[2, v], gap)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def project_point(
    x: float, y: float, z: float, axis: int, cosine: float, half: float, R: Mat3, nx: float,
    ny: float, nz: float,
) -> tuple[float, float, float]:  # fmt: skip
    """Project a point along n onto the plane of the bearing shape.

    x, y, z: position relative to p [m].

    Returns:
        (X, Y, gap): coordinates in the plane and gap along n [m].
    """
    height = half if cosine > 0.0 else -half
    return project_direction(
        x - height * R[0, axis], y - height * R[1, axis], z - height * R[2, axis],
        axis, cosine, R, nx, ny, nz,
    )  # fmt: skip


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def write_over_plane(
    k: Index, X: float, Y: float, gap: float, code_other: int, code_bearing: int, axis: int,
    cosine: float, half: float, R: Mat3, p: Vec3, sign: float, nx: float, ny: float, nz: float,
    margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contact at (X, Y) in the plane if the gap is within `margin` [m].

    k: number of contacts written before. code_other, code_bearing: feature codes of both shapes.
    sign: +1 if the bearing shape is b, -1 if the bearing shape is a.

    Returns:
        The number of contacts.
    """
    if gap > margin or k >= MAX_POINTS:
        return k
    u = (axis + 1) % 3
    v = (axis + 2) % 3
    height = half if cosine > 0.0 else -half
    rise = 0.5 * gap
    if sign < 0.0:
        code_other, code_bearing = code_bearing, code_other
    return write_contact(
        k,
        p[0] + (R[0, axis] * height + R[0, u] * X + R[0, v] * Y + rise * nx),
        p[1] + (R[1, axis] * height + R[1, u] * X + R[1, v] * Y + rise * ny),
        p[2] + (R[2, axis] * height + R[2, u] * X + R[2, v] * Y + rise * nz),
        sign * nx, sign * ny, sign * nz, gap, code_other, code_bearing, out,
    )  # fmt: skip


@inner_kernel
def nearest_on_axes(
    R_a: Mat3, half_a: float, R_b: Mat3, half_b: float, tx: float, ty: float, tz: float
) -> tuple[float, float]:
    """Return the positions at which two segments along the z axes of a and b are nearest [m].

    The segments reach from -half_a to half_a, and from -half_b to half_b [m]. For parallel
    segments, the nearest points are in the middle of the overlap.

    tx, ty, tz: centre of a relative to the centre of b [m].

    Returns:
        (position along the axis of a, position along the axis of b), from the centres.
    """
    cosine = R_a[0, 2] * R_b[0, 2] + R_a[1, 2] * R_b[1, 2] + R_a[2, 2] * R_b[2, 2]
    along_a = tx * R_a[0, 2] + ty * R_a[1, 2] + tz * R_a[2, 2]
    along_b = tx * R_b[0, 2] + ty * R_b[1, 2] + tz * R_b[2, 2]
    cx = R_a[1, 2] * R_b[2, 2] - R_a[2, 2] * R_b[1, 2]
    cy = R_a[2, 2] * R_b[0, 2] - R_a[0, 2] * R_b[2, 2]
    cz = R_a[0, 2] * R_b[1, 2] - R_a[1, 2] * R_b[0, 2]
    sine_squared = cx * cx + cy * cy + cz * cz
    if sine_squared > _PARALLEL:
        s = clamp((cosine * along_b - along_a) / sine_squared, half_a)
    else:
        # The ends of b along the axis of a, cut to a's own length.
        lower = max(-along_a - half_b, -half_a)
        upper = min(-along_a + half_b, half_a)
        s = clamp(0.5 * (lower + upper), half_a)
    t = along_b + cosine * s
    if abs(t) > half_b:
        t = clamp(t, half_b)
        s = clamp(cosine * t - along_a, half_a)
    return s, t


@inner_kernel
def axis_offset(
    R_a: Mat3, s: float, R_b: Mat3, t: float, tx: float, ty: float, tz: float
) -> tuple[float, float, float, float]:
    """Return the vector between two points on the z axes of a and b.

    The vector leads from position t on axis b to position s on axis a.

    Returns:
        (x, y, z, norm) [m].
    """
    x = tx + s * R_a[0, 2] - t * R_b[0, 2]
    y = ty + s * R_a[1, 2] - t * R_b[1, 2]
    z = tz + s * R_a[2, 2] - t * R_b[2, 2]
    return x, y, z, math.sqrt(x * x + y * y + z * z)
