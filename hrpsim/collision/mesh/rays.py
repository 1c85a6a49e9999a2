"""Straight lines through polyhedra: where they first meet the surface, and from which side."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.jit.compiled import inner_kernel, kernel

STACK_DEPTH = 128

# A hit nearer than this part of the triangle's own size is where the ray began.
_AT_THE_START = 1e-9
# Rays through an edge hit one of its triangles: this part of the triangle is added around it.
_AROUND = 1e-9


@inner_kernel
def _reaches_box(node, x, y, z, dx, dy, dz):
    """Return whether the ray from x along d meets the box of a node."""
    enter, leave = 0.0, math.inf
    for axis in range(3):
        if axis == 0:
            away, rate = node.center[0] - x, dx
        elif axis == 1:
            away, rate = node.center[1] - y, dy
        else:
            away, rate = node.center[2] - z, dz
        half = node.half[axis] * (1.0 + 1e-9) + 1e-15
        if abs(rate) < 1e-300:
            if abs(away) > half:
                return False
            continue
        first, second = (away - half) / rate, (away + half) / rate
        enter, leave = max(enter, min(first, second)), min(leave, max(first, second))
    return enter <= leave


@inner_kernel
def _hit(polyhedra, triangle, x, y, z, dx, dy, dz):
    """Return how far along the unit ray it meets a triangle [m], or -1 (Moeller-Trumbore)."""
    corners = polyhedra.triangles[triangle].vertices
    a = polyhedra.vertices[corners[0]].position
    b = polyhedra.vertices[corners[1]].position
    c = polyhedra.vertices[corners[2]].position
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    px, py, pz = dy * vz - dz * vy, dz * vx - dx * vz, dx * vy - dy * vx
    volume = ux * px + uy * py + uz * pz
    if volume == 0.0:
        return -1.0
    sx, sy, sz = x - a[0], y - a[1], z - a[2]
    weight = (sx * px + sy * py + sz * pz) / volume
    if weight < -_AROUND or weight > 1.0 + _AROUND:
        return -1.0
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    other = (dx * qx + dy * qy + dz * qz) / volume
    if other < -_AROUND or weight + other > 1.0 + _AROUND:
        return -1.0
    along = (vx * qx + vy * qy + vz * qz) / volume
    return along if along > _AT_THE_START * (abs(ux) + abs(uy) + abs(uz)) else -1.0


@inner_kernel
def first_hit(polyhedra, solid, x, y, z, dx, dy, dz, stack):
    """Return (distance to the first hit, whether from inside) of a ray in the frame of a solid.

    Without a hit the distance is infinite. `stack` (STACK_DEPTH,) is work.
    """
    nearest, leaves = math.inf, False
    stack[0] = polyhedra.solids[solid].root
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = polyhedra.nodes[stack[waiting]]
        if not _reaches_box(node, x, y, z, dx, dy, dz):
            continue
        if node.child >= 0:
            stack[waiting], stack[waiting + 1] = node.child, node.child + 1
            waiting += 2
            continue
        along = _hit(polyhedra, node.triangle, x, y, z, dx, dy, dz)
        if along >= 0.0 and along < nearest:
            n = polyhedra.triangles[node.triangle].normal
            nearest, leaves = along, n[0] * dx + n[1] * dy + n[2] * dz > 0.0
    return nearest, leaves


@kernel
def measure_thickness(polyhedra, stack, thickness_out):
    """Write how thick the only solid is beneath each triangle [m]; infinite where it has no end.

    The least of four straight ways inward is taken. `stack` (STACK_DEPTH,) is work.
    """
    solid = np.int64(0)
    for k in range(polyhedra.triangles.shape[0]):
        triangle = polyhedra.triangles[k]
        n = triangle.normal
        a = polyhedra.vertices[triangle.vertices[0]].position
        b = polyhedra.vertices[triangle.vertices[1]].position
        c = polyhedra.vertices[triangle.vertices[2]].position
        least = math.inf
        for way in range(4):
            # From the middle, and from half way to each corner.
            wa = 2.0 / 3.0 if way == 1 else (1.0 / 3.0 if way == 0 else 1.0 / 6.0)
            wb = 2.0 / 3.0 if way == 2 else (1.0 / 3.0 if way == 0 else 1.0 / 6.0)
            wc = 1.0 - wa - wb
            nearest, _ = first_hit(
                polyhedra, solid,
                wa * a[0] + wb * b[0] + wc * c[0],
                wa * a[1] + wb * b[1] + wc * c[1],
                wa * a[2] + wb * b[2] + wc * c[2],
                -n[0], -n[1], -n[2], stack,
            )  # fmt: skip
            least = min(least, nearest)
        thickness_out[k] = least


def new_stack() -> np.ndarray:
    """Return work space for walks through one tree (STACK_DEPTH,)."""
    return np.zeros(STACK_DEPTH, dtype=np.int64)
