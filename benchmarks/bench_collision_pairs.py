"""Nanoseconds that `collide` takes for a pair, and coal's collision and contact patch beside it.

Run: python benchmarks/bench_collision_pairs.py
"""

from __future__ import annotations

import time

import numpy as np

from hrpsim.collision.manifold import MAX_POINTS, collide
from hrpsim.compiled import kernel
from hrpsim.model.geometry import PLANE, SPHERE, Box, Capsule, Cylinder, Plane, Sphere

ROUNDS = 7
CALLS = 20_000


@kernel
def repeat(
    calls, kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin,
    point_out, normal_out, gap_out, feature_out,
):  # fmt: skip
    """Collide one pair `calls` times, with a moved by rounding errors; return the contact count."""
    total = 0
    for k in range(calls):
        p_a[0] += 1e-15 if k % 2 else -1e-15
        total += collide(
            kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin,
            point_out, normal_out, gap_out, feature_out,
        )  # fmt: skip
    return total


def turn(axis, angle):
    x, y, z = np.asarray(axis) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


UPRIGHT = np.eye(3)
LYING = turn([1, 0, 0], np.pi / 2)
YAWED = turn([0, 0, 1], 0.7)
TILTED = turn([1, 2, 0], 0.6)
SLAB = Box((1.0, 1.0, 0.2))
CUBE = Box((0.2, 0.2, 0.2))
CAPSULE = Capsule(0.05, 0.3)
CYLINDER = Cylinder(0.1, 0.2)
BALL = Sphere(0.1)

# name, shape a, its rotation and height above b, shape b, its rotation
CASES = [
    ("sphere on plane", BALL, UPRIGHT, 0.1, Plane(), UPRIGHT),
    ("box on plane, 4 points", CUBE, UPRIGHT, 0.1, Plane(), UPRIGHT),
    ("capsule lying on plane", CAPSULE, LYING, 0.05, Plane(), UPRIGHT),
    ("cylinder standing on plane", CYLINDER, UPRIGHT, 0.1, Plane(), UPRIGHT),
    ("sphere on sphere", BALL, UPRIGHT, 0.2, BALL, UPRIGHT),
    ("box on sphere", CUBE, TILTED, 0.2, BALL, UPRIGHT),
    ("box on box, 4 points", CUBE, YAWED, 0.2, SLAB, UPRIGHT),
    ("box on box, 8 points", CUBE, YAWED, 0.2, CUBE, UPRIGHT),
    ("box on box, 1 vertex", CUBE, TILTED, 0.25, SLAB, UPRIGHT),
    ("capsule on capsule, crossing", CAPSULE, LYING, 0.1, CAPSULE, turn([0, 1, 0], 1.5)),
    ("capsule lying on box", CAPSULE, LYING, 0.15, SLAB, UPRIGHT),
    ("cylinder standing on box", CYLINDER, UPRIGHT, 0.2, SLAB, UPRIGHT),
    ("cylinder lying on box", CYLINDER, LYING, 0.2, SLAB, UPRIGHT),
    ("cylinder on box, rim on edge", CYLINDER, TILTED, 0.27, CUBE, LYING @ TILTED),
    ("cylinder on cylinder, stacked", CYLINDER, UPRIGHT, 0.2, CYLINDER, UPRIGHT),
    ("cylinder on cylinder, rims", CYLINDER, TILTED, 0.24, CYLINDER, LYING @ TILTED),
    ("capsule on cylinder", CAPSULE, LYING, 0.15, CYLINDER, UPRIGHT),
    ("box beside box, apart", CUBE, TILTED, 0.5, SLAB, UPRIGHT),
]
DEPTH = 1e-4


def ours(a, R_a, height, b, R_b):
    """Return the point count, the time [ns], and the place of a where it overlaps b by DEPTH."""
    p_a, p_b = np.array([0.01, 0.02, height]), np.zeros(3)
    point, normal = np.zeros((MAX_POINTS, 3)), np.zeros((MAX_POINTS, 3))
    gap, feature = np.zeros(MAX_POINTS), np.zeros(MAX_POINTS, np.int64)
    first = (a.kind, np.array(a.size), np.ascontiguousarray(R_a), p_a)
    second = (b.kind, np.array(b.size), np.ascontiguousarray(R_b), p_b)
    for _ in range(3):  # Until the overlap is DEPTH for curved shapes too.
        found = collide(*first, *second, 0.1, point, normal, gap, feature)
        if found:
            nearest = np.argmin(gap[:found])
            p_a -= (gap[nearest] + DEPTH) * normal[nearest]
    arguments = (*first, *second, 1e-3, point, normal, gap, feature)
    points = repeat(1, *arguments)
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        repeat(CALLS, *arguments)
        times.append(time.perf_counter() - start)
    return points, 1e9 * min(times) / CALLS, p_a


def coal_shape(coal, shape):
    if shape.kind == PLANE:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if shape.kind == SPHERE:
        return coal.Sphere(shape.radius)
    if isinstance(shape, Box):
        return coal.Box(*shape.lengths)
    kind = coal.Capsule if isinstance(shape, Capsule) else coal.Cylinder
    return kind(shape.radius, shape.length)


def theirs(coal, a, R_a, p_a, b, R_b, calls=2000):
    shapes = coal_shape(coal, a), coal_shape(coal, b)
    poses = (
        coal.Transform3s(R_a, p_a),
        coal.Transform3s(R_b, np.zeros(3)),
    )
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.security_margin = 1e-3
    patch_request, patches = coal.ContactPatchRequest(), coal.ContactPatchResult()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(calls):
            result.clear()
            patches.clear()
            if coal.collide(shapes[0], poses[0], shapes[1], poses[1], request, result):
                coal.computeContactPatch(
                    shapes[0], poses[0], shapes[1], poses[1], result, patch_request, patches
                )
        times.append(time.perf_counter() - start)
    points = patches.getContactPatch(0).size() if patches.numContactPatches() else 0
    return points, 1e9 * min(times) / calls


def main():
    try:
        import coal
    except ImportError:
        coal = None
    start = time.perf_counter()
    ours(*CASES[0][1:])
    print(f"compiled or loaded in {time.perf_counter() - start:.1f} s")
    print(
        f"{'pair':32} points  ns/pair" + ("   coal (from Python): points  ns/pair" if coal else "")
    )
    for name, *case in CASES:
        points, nanoseconds, place = ours(*case)
        line = f"{name:32} {points:6d} {nanoseconds:8.0f}"
        if coal:
            a, R_a, _, b, R_b = case
            points, nanoseconds = theirs(coal, a, R_a, place, b, R_b)
            line += f" {points:29d} {nanoseconds:8.0f}"
        print(line)


if __name__ == "__main__":
    main()
