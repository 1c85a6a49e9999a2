# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contacts between two shapes: one entry for every pair of kinds."""

from hrpsim.engine.collision.primitives.contact_row import MAX_POINTS, NO_POINTS
from hrpsim.engine.collision.primitives.convex_contacts import convex_on_convex
from hrpsim.engine.collision.primitives.simple_contacts import (
    box_on_plane,
    box_on_sphere,
    capsule_on_plane,
    capsule_on_sphere,
    cylinder_on_plane,
    cylinder_on_sphere,
    sphere_on_plane,
    sphere_on_sphere,
)
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Manifold, Mat3, Metres, Vec3
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, PLANE, SPHERE

__all__ = ["MAX_POINTS", "collide", "collide_box_and_plane", "collide_convex", "collide_simple"]


@kernel  # many parameters: two shapes, each by kind, size, rotation and position
def collide(
    kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, kind_b: int, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contacts of two shapes, and return the number of contacts (0..8).

    The contacts are rows of `out`, a MANIFOLD record. Rows past the number of contacts are work
    space.

    - point (k, 3): midpoint of the two surface points [m], world frame.
    - normal (k, 3): unit vector from b to a. A positive force pushes a along the normal and b in
      reverse.
    - gap (k,): separation along the normal [m], negative in penetration.
    - feature (k,): code of the touching features of a and b. The code stays the same from step to
      step while these features touch, and is unique within a manifold.

    Args:
        kind_a: kind of shape a (see hrpsim.model.shapes.geometry).
        size_a: size of shape a (3,) [m].
        R_a: rotation from the frame of shape a to the world (3, 3).
        p_a: position of shape a in the world (3,) [m].
        kind_b: kind of shape b.
        size_b: size of shape b (3,) [m].
        R_b: rotation from the frame of shape b to the world (3, 3).
        p_b: position of shape b in the world (3,) [m].
        margin: largest gap of a contact [m].
        out: MANIFOLD record, written.
    """
    if min(kind_a, kind_b) > SPHERE:
        return collide_convex(
            kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin, out,
        )  # fmt: skip
    return collide_simple(
        kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin, out,
    )  # fmt: skip


@inlined_kernel
def is_box_and_plane(kind_a: int, kind_b: int) -> bool:
    """Return whether one of two shapes is a box and the other is a plane."""
    return (kind_a == BOX and kind_b == PLANE) or (kind_a == PLANE and kind_b == BOX)


@inlined_kernel
def collide_box_and_plane(
    kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, size_b: Vec3, R_b: Mat3, p_b: Vec3,
    margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contacts of a box and a plane, in either order, and return the number of contacts.

    `collide` has the same arguments. kind_a decides which shape is the plane.
    """
    # many parameters: two shapes, each by size, rotation and position
    if kind_a == BOX:
        return box_on_plane(size_a, R_a, p_a, R_b, p_b, margin, out)
    count = box_on_plane(size_b, R_b, p_b, R_a, p_a, margin, out)
    _turn_round(count, out)
    return count


@inlined_kernel
def collide_simple(
    kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, kind_b: int, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contacts of two shapes if one shape is a plane or a sphere.

    `collide` has the same arguments and the same result.
    """
    # many parameters: two shapes, each by kind, size, rotation and position
    swapped = kind_a < kind_b
    if swapped:
        kind_a, kind_b = kind_b, kind_a
        size_a, size_b = size_b, size_a
        R_a, R_b = R_b, R_a
        p_a, p_b = p_b, p_a
    count = NO_POINTS
    if kind_b == PLANE:
        count = _on_plane(kind_a, size_a, R_a, p_a, R_b, p_b, margin, out)
    elif kind_b == SPHERE:
        count = _on_sphere(kind_a, size_a, R_a, p_a, size_b, p_b, margin, out)
    if swapped:
        _turn_round(count, out)
    return count


@inlined_kernel
def _on_plane(
    kind: int,
    size: Vec3,
    R: Mat3,
    p: Vec3,
    R_plane: Mat3,
    p_plane: Vec3,
    margin: Metres,
    out: Manifold,
) -> int:
    """Write the contacts of a shape with a plane, and return the number of contacts."""
    count = NO_POINTS
    if kind == BOX:
        count = box_on_plane(size, R, p, R_plane, p_plane, margin, out)
    elif kind == SPHERE:
        count = sphere_on_plane(size, R, p, R_plane, p_plane, margin, out)
    elif kind == CAPSULE:
        count = capsule_on_plane(size, R, p, R_plane, p_plane, margin, out)
    elif kind == CYLINDER:
        count = cylinder_on_plane(size, R, p, R_plane, p_plane, margin, out)
    return count


@inlined_kernel
def _on_sphere(
    kind: int,
    size: Vec3,
    R: Mat3,
    p: Vec3,
    size_sphere: Vec3,
    p_sphere: Vec3,
    margin: Metres,
    out: Manifold,
) -> int:
    """Write the contacts of a shape with a sphere, and return the number of contacts."""
    count = NO_POINTS
    if kind == SPHERE:
        count = sphere_on_sphere(size, R, p, size_sphere, p_sphere, margin, out)
    elif kind == BOX:
        count = box_on_sphere(size, R, p, size_sphere, p_sphere, margin, out)
    elif kind == CAPSULE:
        count = capsule_on_sphere(size, R, p, size_sphere, p_sphere, margin, out)
    elif kind == CYLINDER:
        count = cylinder_on_sphere(size, R, p, size_sphere, p_sphere, margin, out)
    return count


@inner_kernel  # many parameters: two shapes, each by kind, size, rotation and position
def collide_convex(
    kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, kind_b: int, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, margin: Metres, out: Manifold,
) -> int:  # fmt: skip
    """Write the contacts of two boxes, capsules or cylinders, and return the number of contacts.

    `collide` has the same arguments.
    """
    if kind_a >= kind_b:
        return convex_on_convex(
            kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin, out,
        )  # fmt: skip
    count = convex_on_convex(
        kind_b, size_b, R_b, p_b, kind_a, size_a, R_a, p_a, margin, out,
    )  # fmt: skip
    _turn_round(count, out)
    return count


@inner_kernel
def _turn_round(count: int, out: Manifold) -> None:
    for k in range(count):
        out.normal[k, 0] = -out.normal[k, 0]
        out.normal[k, 1] = -out.normal[k, 1]
        out.normal[k, 2] = -out.normal[k, 2]
