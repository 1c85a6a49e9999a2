# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The first surface that each of many rays meets in a scene of targets.

A ray from outside meets a solid at its entry, with the normal against the ray. A ray that starts
inside meets the surface from within, with the normal along the ray. A start on the surface is a hit
at distance 0. Meshes and height fields are surfaces, which rays meet from both sides.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import (
    Flags,
    Index,
    Indices,
    Matrix,
    Scanner,
    Target,
    Vector,
)
from hrpsim.engine.kinematics.forward import update_poses
from hrpsim.engine.rays.box_tree import (
    FARTHEST,
    build_tree,
    enter_children,
    inverse_of,
    next_pending,
    refit_tree,
)
from hrpsim.engine.rays.height_field import field_normal, meet_field
from hrpsim.engine.rays.records import HEIGHT_FIELD, RayScene
from hrpsim.engine.rays.shapes import (
    meet_mesh,
    meet_plane,
    meet_primitive,
    primitive_normal,
    triangle_normal,
)
from hrpsim.engine.spatial.vector import matrix_times, transposed_times
from hrpsim.model.shapes.geometry import MESH

# The tree is built again where its boxes have grown by so much since it was.
_GROWTH = 1.5


@inlined_kernel
def place_frame(s: RayScene, frame: Scanner | Target) -> None:
    """Write the pose R (3, 3) and p (3,) [m] of a frame in the world.

    The frame has local_R and local_p in its body. Body -1 is the world.
    """
    L, t = frame.local_R, frame.local_p
    for r in range(3):
        if frame.body < 0:
            frame.p[r] = t[r]
            for c in range(3):
                frame.R[r, c] = L[r, c]
            continue
        link = s.kinematics[frame.body]
        origin = s.kinematics[s.forest.bodies[frame.body].root].origin
        x, y, z = link.R[r, 0], link.R[r, 1], link.R[r, 2]
        frame.p[r] = origin[r] + (link.p[r] + (x * t[0] + y * t[1] + z * t[2]))
        for c in range(3):
            frame.R[r, c] = x * L[0, c] + y * L[1, c] + z * L[2, c]


@inner_kernel
def place_targets(s: RayScene) -> None:
    """Write the poses of all targets, and refit the tree to the targets if any body has moved.

    The configuration s.q is compared with s.placed_q, the configuration of the last call.
    """
    moved = s.tree[0].count == 0
    for k in range(s.q.shape[0]):
        moved = moved or not s.q[k] == s.placed_q[k]
        s.placed_q[k] = s.q[k]
    if not moved:
        return
    update_poses(s.forest, s.q, s.kinematics)
    for k in range(s.targets.shape[0]):
        target = s.targets[k]
        place_frame(s, target)
    for k in range(s.bounded.shape[0]):
        target = s.targets[s.bounded[k]]
        h, m = target.half, target.middle
        for r in range(3):
            x, y, z = target.R[r, 0], target.R[r, 1], target.R[r, 2]
            middle = target.p[r] + x * m[0] + y * m[1] + z * m[2]
            reach = abs(x) * h[0] + abs(y) * h[1] + abs(z) * h[2]
            reach += 1e-12 + 4e-16 * abs(middle)
            s.lower[k, r], s.upper[k, r] = middle - reach, middle + reach
    tree = s.tree[0]
    if tree.count > 0:
        tree.area = refit_tree(s.lower, s.upper, s.order, tree.count, s.nodes)
    if tree.count == 0 or not tree.area <= _GROWTH * tree.built_area:
        tree.count = build_tree(s.lower, s.upper, 1, s.order, s.ranges, s.bins, s.nodes)
        tree.built_area = refit_tree(s.lower, s.upper, s.order, tree.count, s.nodes)


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _meet(
    s: RayScene, skipped: Flags, number: Index, x: float, y: float, z: float, dx: float, dy: float,
    dz: float, limit: float,
) -> tuple[float, int]:  # fmt: skip
    """Return (distance [m], triangle or -1) at which a ray in the world meets a bounded target.

    The distance is infinite if there is no hit, or if rays pass through the target (`skipped`).
    """
    if skipped[number] != 0:
        return math.inf, np.int64(-1)
    target = s.targets[number]
    R, p = target.R, target.p
    lx, ly, lz = transposed_times(R, x - p[0], y - p[1], z - p[2])
    mx, my, mz = transposed_times(R, dx, dy, dz)
    if target.kind == HEIGHT_FIELD:
        field = s.fields[target.geometry]
        return meet_field(s, field, lx, ly, lz, mx, my, mz, limit), np.int64(-1)
    if target.kind == MESH:
        return meet_mesh(s, s.surfaces[target.geometry], lx, ly, lz, mx, my, mz, limit)
    return meet_primitive(target.kind, target.size, lx, ly, lz, mx, my, mz), np.int64(-1)


@inner_kernel  # many parameters: vectors as three numbers stay in registers
def first_hit(
    s: RayScene, skipped: Flags, x: float, y: float, z: float, dx: float, dy: float, dz: float,
    limit: float,
) -> tuple[float, int, int]:  # fmt: skip
    """Find the first target that a ray hits.

    If a ray hits several targets at the same distance, the first target counts.

    skipped: whether the ray passes through each target (n,). x, y, z: start of the ray in the world
    [m]. dx, dy, dz: unit vector along the ray, in the world. limit: largest distance [m].

    Returns:
        (distance [m], index of the target, index of the triangle or -1), or (infinity, -1, -1) for
        no hit.
    """
    best, target = _first_endless(s, skipped, x, y, z, dx, dy, dz, min(limit, FARTHEST))
    part = np.int64(-1)
    ix, iy, iz = inverse_of(dx), inverse_of(dy), inverse_of(dz)
    stack, waiting = s.stack, 0
    at = np.int64(0)
    while True:
        node = s.nodes[at]
        near, far, side = enter_children(node, x, y, z, ix, iy, iz, best)
        after = np.int64(-1)
        for _ in range(2):
            if near <= best:
                child = node.child[side]
                if node.count[side] == 0:
                    if after < 0:
                        after = child
                    else:
                        stack[waiting].node, stack[waiting].enter = child, near
                        waiting += 1
                else:
                    number = s.bounded[s.order[child]]
                    along, triangle = _meet(s, skipped, number, x, y, z, dx, dy, dz, best)
                    if _comes_first(along, number, best, target):
                        best, target, part = along, number, triangle
            near, side = far, 1 - side
        if after < 0:
            after, waiting = next_pending(stack, waiting, best)
        if after < 0:
            return (best, target, part) if target >= 0 else (math.inf, target, part)
        at = after


@inlined_kernel
def _comes_first(along: float, number: Index, best: float, found: int) -> bool:
    """Return whether a hit is nearer than the best hit, or equally near with a lower number."""
    return along < best or (along == best and (found < 0 or number < found))


@inlined_kernel  # many parameters: vectors as three numbers stay in registers
def _first_endless(
    s: RayScene, skipped: Flags, x: float, y: float, z: float, dx: float, dy: float, dz: float,
    limit: float,
) -> tuple[float, int]:  # fmt: skip
    """Return (distance [m], target) of the first plane that a ray hits, (limit, -1) if none."""
    best, target = limit, np.int64(-1)
    for k in range(s.endless.shape[0]):
        number = s.endless[k]
        if skipped[number] == 0:
            R, p = s.targets[number].R, s.targets[number].p
            height = R[0, 2] * (x - p[0]) + R[1, 2] * (y - p[1]) + R[2, 2] * (z - p[2])
            along = meet_plane(height, R[0, 2] * dx + R[1, 2] * dy + R[2, 2] * dz)
            if along <= best and (target < 0 or along < best):
                best, target = along, number
    return best, target


@inner_kernel
def surface_normal(
    s: RayScene, number: Index, triangle: Index, x: float, y: float, z: float
) -> tuple[float, float, float]:
    """Return the outward unit normal of a target at a point on its surface, in the world.

    number: index of the target.
    triangle: index of the triangle that was hit, or -1.
    x, y, z: point on the surface, in the world [m].
    """
    target = s.targets[number]
    R, p = target.R, target.p
    lx, ly, lz = transposed_times(R, x - p[0], y - p[1], z - p[2])
    if target.kind == HEIGHT_FIELD:
        nx, ny, nz = field_normal(s, s.fields[target.geometry], lx, ly)
    elif target.kind == MESH:
        nx, ny, nz = triangle_normal(s.mesh_triangles[triangle])
    else:
        nx, ny, nz = primitive_normal(target.kind, target.size, lx, ly, lz)
    return matrix_times(R, nx, ny, nz)


@kernel
def cast(
    s: RayScene,
    skipped: Flags,
    origins: Matrix,
    directions: Matrix,
    limit: float,
    distances: Vector,
    normals: Matrix,
    links: Indices,
) -> int:
    """Cast k rays and write the distance, normal and link of each first hit.

    Args:
        s: the scene.
        skipped: whether the rays pass through each target (n,).
        origins: starts in the world (k, 3) [m].
        directions: directions in the world (k, 3), of any length but 0.
        limit: largest distance [m].
        distances: distance of each first hit (k,) [m], written. A distance is infinite if nothing
            is within `limit`.
        normals: outward unit normals (k, 3), written. A normal is zero if nothing is hit.
        links: indices of links (k,), written. An index is -1 if nothing is hit.
    """
    place_targets(s)
    for k in range(origins.shape[0]):
        o, d, n = origins[k], directions[k], normals[k]
        dx, dy, dz = _unit(d)
        t, number, triangle = first_hit(s, skipped, o[0], o[1], o[2], dx, dy, dz, limit)
        distances[k], links[k] = t, -1
        n[0] = n[1] = n[2] = 0.0
        if number >= 0:
            links[k] = s.targets[number].link
            x, y, z = o[0] + t * dx, o[1] + t * dy, o[2] + t * dz
            n[0], n[1], n[2] = surface_normal(s, number, triangle, x, y, z)
    return 0


@inlined_kernel
def _unit(d: Vector) -> tuple[float, float, float]:
    """Return the unit vector along d (3,), even if the squares of d overflow."""
    x, y, z = d[0], d[1], d[2]
    squared = x * x + y * y + z * z
    if not (squared > 1e-280 and squared < 1e280):
        scale = max(abs(x), abs(y), abs(z))
        x, y, z = x / scale, y / scale, z / scale
        squared = x * x + y * y + z * z
    inverse = 1.0 / math.sqrt(squared)
    return x * inverse, y * inverse, z * inverse
