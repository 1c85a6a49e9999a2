# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Small operations on vectors."""

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Mat3, Vec3, Vec6, Vector


@inner_kernel
def copy_vector(source: Vector, target_out: Vector) -> None:
    """Copy `source` (n,) to the start of `target_out` (n or more,). The arrays must not overlap."""
    for k in range(source.shape[0]):
        target_out[k] = source[k]


@inlined_kernel
def dot(a: Vec3, b: Vector) -> float:
    """Return the scalar product a . b of vectors (3,). The unit is the product of both units."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined_kernel
def dot_spatial(a: Vec6, b: Vec6) -> float:
    """Return the scalar product a . b of spatial vectors (6,).

    A force [Nm, N] and a twist [rad/s, m/s] give a power [W]. Three partial sums are computed in
    parallel.
    """
    return (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]) + (a[4] * b[4] + a[5] * b[5])


@inlined_kernel
def matrix_times(M: Mat3, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the product M (x, y, z) of a matrix (3, 3) and a vector of any unit.

    M = R_ab takes the components of the vector from frame b to frame a.
    """
    return (
        M[0, 0] * x + M[0, 1] * y + M[0, 2] * z,
        M[1, 0] * x + M[1, 1] * y + M[1, 2] * z,
        M[2, 0] * x + M[2, 1] * y + M[2, 2] * z,
    )


@inlined_kernel
def transposed_times(M: Mat3, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the product M^T (x, y, z) of a matrix (3, 3) and a vector of any unit.

    M = R_world_body takes the components of the vector from world axes to body axes.
    """
    return (
        M[0, 0] * x + M[1, 0] * y + M[2, 0] * z,
        M[0, 1] * x + M[1, 1] * y + M[2, 1] * z,
        M[0, 2] * x + M[1, 2] * y + M[2, 2] * z,
    )


@inlined_kernel
def placed_point(R: Mat3, p: Vec3, t: Vec3) -> tuple[float, float, float]:
    """Return the point p + R t [m] for a point given in a frame.

    Args:
        R: axes of the frame (3, 3).
        p: origin of the frame (3,) [m].
        t: point in the frame (3,) [m].
    """
    return (
        p[0] + R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2],
        p[1] + R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2],
        p[2] + R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2],
    )


@inlined_kernel
def point_velocity(v: Vec6, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return the linear velocity (x, y, z) of a body's point [m/s].

    v: twist of the body about the origin (6,), angular part first. x, y, z: position of the point
    from that origin [m].
    """
    return v[3] + v[1] * z - v[2] * y, v[4] + v[2] * x - v[0] * z, v[5] + v[0] * y - v[1] * x


@inner_kernel
def speed_along(v: Vec6, point: Vec3, direction: Vec3) -> float:
    """Return the velocity of a body's point along a direction [m/s].

    Args:
        v: twist of the body about the origin (6,), angular part first.
        point: position from that origin (3,) [m].
        direction: unit vector (3,).
    """
    x, y, z = point_velocity(v, point[0], point[1], point[2])
    return x * direction[0] + y * direction[1] + z * direction[2]


@inlined_kernel
def triple_product(a: Vec3, b: Vec3, c: Vec3) -> float:
    """Return the triple product a . (b x c) of vectors (3,).

    The unit is the product of the three units.
    """
    x = b[1] * c[2] - b[2] * c[1]
    y = b[2] * c[0] - b[0] * c[2]
    z = b[0] * c[1] - b[1] * c[0]
    return a[0] * x + a[1] * y + a[2] * z
