# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Collision of a pair of shapes: hrpsim's `collide`, and coal's collision and contact patch."""

from __future__ import annotations

import numpy as np

from evidence.benchmarks.results import Case, CaseResult
from evidence.benchmarks.timing import Effort, Subject
from hrpsim import Box, Capsule, Cylinder, Plane, Sphere
from hrpsim.engine.collision.manifold import collide
from hrpsim.engine.collision.records import MANIFOLD
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.kernel_types import Mat3, Metres, Vec3
from hrpsim.model.shapes.geometry import PLANE, SPHERE

OURS, COAL = "hrpsim", "coal, called from Python"


@kernel
def repeat(
    calls, kind_a: int, size_a: Vec3, R_a: Mat3, p_a: Vec3, kind_b: int, size_b: Vec3, R_b: Mat3,
    p_b: Vec3, margin: Metres, out,
):  # fmt: skip
    """Collide one pair `calls` times, each time with a slightly displaced shape a.

    Return the total number of contacts.
    """
    total = 0
    for k in range(calls):
        p_a[0] += 1e-15 if k % 2 else -1e-15
        total += collide(
            kind_a, size_a, R_a, p_a, kind_b, size_b, R_b, p_b, margin, out,
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

# name, shape a, rotation and height of a above b, shape b, rotation of b
PAIRS = [
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


class Pair:
    """Two shapes that overlap by DEPTH. `place` is the position of the first shape [m]."""

    def __init__(self, a, R_a, height, b, R_b) -> None:
        self.shapes, self.rotations = (a, b), (np.ascontiguousarray(R_a), np.ascontiguousarray(R_b))
        p_a = np.array([0.01, 0.02, height])
        manifold = np.zeros(1, MANIFOLD)[0]
        first = (a.kind, np.array(a.size), self.rotations[0], p_a)
        second = (b.kind, np.array(b.size), self.rotations[1], np.zeros(3))
        for _ in range(3):  # repeated so that curved shapes also overlap by DEPTH
            contact_count = collide(*first, *second, 0.1, manifold)
            if contact_count:
                nearest = np.argmin(manifold["gap"][:contact_count])
                p_a -= (manifold["gap"][nearest] + DEPTH) * manifold["normal"][nearest]
        self.place = p_a.copy()
        self.arguments = (*first, *second, 1e-3, manifold)
        self.points = repeat(1, *self.arguments)

    def ours(self) -> Subject:
        """Return a loop over hrpsim's kernel as a subject."""
        return Subject(OURS, lambda n: repeat(n, *self.arguments), ours=True)

    def coal(self, coal) -> tuple[Subject, int]:
        """Return coal's calls as a subject, and the number of contact points that coal finds."""
        shapes = [coal_shape(coal, shape) for shape in self.shapes]
        places = (self.place, np.zeros(3))
        poses = [coal.Transform3s(R, p) for R, p in zip(self.rotations, places)]
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        request.security_margin = 1e-3
        patch_request, patches = coal.ContactPatchRequest(), coal.ContactPatchResult()
        pair = (shapes[0], poses[0], shapes[1], poses[1])

        def run(count) -> None:
            for _ in range(count):
                result.clear()
                patches.clear()
                if coal.collide(*pair, request, result):
                    coal.computeContactPatch(*pair, result, patch_request, patches)

        run(1)
        points = patches.getContactPatch(0).size() if patches.numContactPatches() else 0
        return Subject(COAL, run), points


def coal_shape(coal, shape):
    if shape.kind == PLANE:
        return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
    if shape.kind == SPHERE:
        return coal.Sphere(shape.radius)
    if isinstance(shape, Box):
        return coal.Box(*shape.lengths)
    kind = coal.Capsule if isinstance(shape, Capsule) else coal.Cylinder
    return kind(shape.radius, shape.length)


def run(result: CaseResult, effort: Effort) -> None:
    """Time every pair of shapes in hrpsim and in coal, in turn."""
    try:
        import coal
    except ImportError:
        coal = None
    for name, *shapes in PAIRS[::3] if effort.quick else PAIRS:
        pair = Pair(*shapes)
        subjects, exact = [pair.ours()], {OURS: {"points": pair.points}}
        if coal is not None:
            subject, points = pair.coal(coal)
            subjects.append(subject)
            exact[COAL] = {"points": points}
        result.measure(name, subjects, effort, exact)
    result.notes += [
        f"Shapes overlap by {DEPTH} m. coal computes a patch if it finds a collision. Its times "
        "include two or four calls from Python per pair",
        "points: largest number of any pair",
    ]


CASE = Case("Pairs of shapes", run, unit="ns", scale=1e9)
