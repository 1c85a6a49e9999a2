# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Separation certificate: time for which two moving shapes certainly stay apart along a normal.

For any direction n, the shapes lie between supporting planes perpendicular to n. The distance of
the shapes is at least the gap between these planes. The planes approach each other only by the
shapes' motion along n. A shape that turns about n, or slides perpendicular to n, does not move its
plane. A shape that slides on a plate or grazes the plate therefore has a long certificate. A bound
by the shape's full speed would allow only tiny advances.
"""

import math

from hrpsim.engine.collision.mesh.mesh_contacts import mesh_contacts
from hrpsim.engine.collision.primitives.support import surface_reach
from hrpsim.engine.collision.solids.polyhedra import Polyhedra
from hrpsim.engine.collision.solids.tree_queries import farthest_point
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Collision, Index, Indices, Mat3, Shape, ShapeMotion
from hrpsim.engine.spatial.vector import transposed_times
from hrpsim.model.shapes.geometry import CAPSULE, CYLINDER, MESH, SPHERE


@inner_kernel
def separated_until(
    pair: Indices, fraction: float, gap: float, touch: float, least: float, collision: Collision
) -> float:
    """Return a fraction of the motion up to which two shapes certainly stay apart, or 0 if unknown.

    Call this function after `separation` (time_of_impact), whose work records are read.

    Args:
        pair: numbers of the shapes (2,).
        fraction: fraction of the motion at which the shapes are placed.
        gap: gap at `fraction` [m].
        touch: tolerance of the gap [m]. The gap of the nearest contact may exceed `gap` by half of
            `touch`.
        least: smallest permitted distance of the shapes [m].
        collision: shapes and contacts of the world.
    """
    a, b = collision.shapes[pair[0]], collision.shapes[pair[1]]
    work = collision.manifold[0]
    with_mesh = a.kind == MESH or b.kind == MESH
    k = _nearest_contact(with_mesh, gap, touch, collision)
    if k < 0:
        return 0.0
    nx, ny, nz = work.normal[k, 0], work.normal[k, 1], work.normal[k, 2]
    apart = 0.0
    for r in range(3):
        apart += work.normal[k, r] * (work.p_a[r] - work.p_b[r])
    if with_mesh:
        polyhedra, stack = collision.polyhedra, collision.solid_pair[0].stack
        apart += _lowest_of_solid(polyhedra, a.solid, work.R_a, nx, ny, nz, stack)
        apart += _lowest_of_solid(polyhedra, b.solid, work.R_b, -nx, -ny, -nz, stack)
    else:
        apart -= surface_reach(a.kind, a.size, work.R_a, nx, ny, nz)
        apart -= surface_reach(b.kind, b.size, work.R_b, nx, ny, nz)
    if not apart > least:
        return 0.0
    closing = _closing_way(pair, nx, ny, nz, collision)
    return fraction + (apart - least) / closing


@inner_kernel
def _nearest_contact(with_mesh: bool, gap: float, touch: float, collision: Collision) -> int:
    """Return the index of a contact whose gap is `gap` to within touch / 2, or -1 for none.

    A search that found two solids separated wrote no contacts. The result is then -1.
    """
    work, m = collision.manifold[0], collision.solid_pair[0]
    count = work.gap.shape[0]
    if with_mesh and gap > 0.0:
        m.near = m.calm = gap + touch
        count = mesh_contacts(
            collision.polyhedra, m, collision.solid_pair_candidates,
            work,
        )  # fmt: skip
    for k in range(count):
        if work.gap[k] <= gap + 0.5 * touch:
            length = 0.0
            for r in range(3):
                length += work.normal[k, r] * work.normal[k, r]
            if abs(length - 1.0) < 1e-6:
                return k
    return -1


@inner_kernel
def _lowest_of_solid(
    polyhedra: Polyhedra, number: Index, R: Mat3, nx: float, ny: float, nz: float, stack: Indices
) -> float:
    """Return the minimum of n . x over the points x of a solid, relative to its origin [m]."""
    x, y, z = transposed_times(R, nx, ny, nz)
    px, py, pz = farthest_point(polyhedra, number, -x, -y, -z, stack)
    return x * px + y * py + z * pz - polyhedra.solids[number].rounding


@inner_kernel
def _closing_way(pair: Indices, nx: float, ny: float, nz: float, collision: Collision) -> float:
    """Return a bound on the distance by which two shapes approach along n in a step [m]."""
    motion_a, motion_b = collision.motions[pair[0]], collision.motions[pair[1]]
    way = 0.0
    for r in range(3):
        n = nx if r == 0 else (ny if r == 1 else nz)
        way -= n * (motion_a.p_end[r] - motion_a.p_start[r])
        way += n * (motion_b.p_end[r] - motion_b.p_start[r])
    way = max(way, 0.0)
    way += _turning_along(collision.shapes[pair[0]], motion_a, nx, ny, nz)
    return way + _turning_along(collision.shapes[pair[1]], motion_b, nx, ny, nz)


@inlined_kernel
def turning_way(shape: Shape, motion: ShapeMotion) -> float:
    """Return a bound on the displacement of a shape's surface by the rotation of a step [m].

    Rotation about its own axis does not move a cylinder or capsule. No rotation moves a ball.
    """
    if shape.kind == SPHERE or not motion.angle > 0.0:
        return 0.0
    way = motion.angle * shape.radius
    if shape.kind == CYLINDER or shape.kind == CAPSULE:
        R, e = motion.R_start, motion.axis
        way *= math.sqrt(_cross_square(e[0], e[1], e[2], R[0, 2], R[1, 2], R[2, 2]))
    return way


@inlined_kernel
def _turning_along(shape: Shape, motion: ShapeMotion, nx: float, ny: float, nz: float) -> float:
    """Return a bound on the displacement along n of a shape's surface by a step's rotation [m]."""
    if not motion.angle > 0.0:
        return 0.0
    e = motion.axis
    along = motion.angle * shape.radius * math.sqrt(_cross_square(nx, ny, nz, e[0], e[1], e[2]))
    return min(along, turning_way(shape, motion))


@inlined_kernel
def _cross_square(x: float, y: float, z: float, a: float, b: float, c: float) -> float:
    """Return the square of the cross product of (x, y, z) and (a, b, c)."""
    return (y * c - z * b) ** 2 + (z * a - x * c) ** 2 + (x * b - y * a) ** 2
