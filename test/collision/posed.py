# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the collision tests share: colliding two posed shapes, random shapes, and support planes."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

import hrpsim.engine.step.step  # noqa: F401  which declares the lazily compiled kernels
from hrpsim import Box, Capsule, Cylinder, Plane, Sphere
from hrpsim.engine.collision.contacts import meet_convex
from hrpsim.engine.collision.manifold import collide_simple
from hrpsim.engine.collision.records import MANIFOLD, SHAPE
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.lazy_kernels import NEEDS_KERNEL, new_lazy_kernels, provide_requested
from hrpsim.model.shapes.geometry import BOX, CAPSULE, CYLINDER, PLANE, SPHERE

KINDS = {"plane": PLANE, "sphere": SPHERE, "box": BOX, "capsule": CAPSULE, "cylinder": CYLINDER}
PAIRS = [f"{a}-{b}" for i, a in enumerate(KINDS) for b in list(KINDS)[: i + 1] if a != "plane"]


class Posed(NamedTuple):
    shape: object
    R: np.ndarray = np.eye(3)
    p: tuple = (0.0, 0.0, 0.0)


class Manifold(NamedTuple):
    points: np.ndarray
    normals: np.ndarray
    gaps: np.ndarray
    features: np.ndarray

    @property
    def count(self):
        return len(self.gaps)

    @property
    def nearest(self):
        k = int(np.argmin(self.gaps))
        return self.gaps[k], self.normals[k], self.points[k]


class Pair(NamedTuple):
    """What a step's collision detection reads of two shapes, and writes."""

    manifold: np.ndarray
    shapes: np.ndarray


@kernel
def run_meet(lazy_kernels, manifold, shapes, near):
    a, b, work = shapes[0], shapes[1], manifold[0]
    if min(a.kind, b.kind) > SPHERE:
        return meet_convex(lazy_kernels, manifold, shapes, near)
    return collide_simple(
        a.kind, a.size, work.R_a, work.p_a, b.kind, b.size, work.R_b, work.p_b, near, work
    )


def meet(a: Posed, b: Posed, margin=0.01) -> Manifold:
    pair = Pair(posed_manifold(a, b), np.zeros(2, SHAPE))
    for shape, record in ((a.shape, pair.shapes[0]), (b.shape, pair.shapes[1])):
        record["kind"], record["size"] = shape.kind, shape.size
    count = called(run_meet, *pair, margin, collision=pair)
    return manifold_of(pair.manifold[0], count)


_LAZY = new_lazy_kernels()


def called(run, *arguments, **parts):
    """Return what a kernel with lazily compiled ones returns; `parts` of a scene are theirs.

    They are those of the step, so that tests compile no other.
    """
    while (found := run(_LAZY, *arguments)) == NEEDS_KERNEL:
        provide_requested(SimpleNamespace(lazy_kernels=_LAZY, **parts))
    return found


def posed_manifold(a: Posed, b: Posed) -> np.ndarray:
    """Return a MANIFOLD record (1,) of two poses, in which no point is written yet."""
    found = np.zeros(1, MANIFOLD)
    for name in ("point", "normal", "gap"):
        found[name] = np.nan
    found["shape_a"], found["shape_b"] = 0, 1
    found["R_a"], found["p_a"], found["R_b"], found["p_b"] = a.R, a.p, b.R, b.p
    return found


def manifold_of(found: np.void, n: int) -> Manifold:
    """Return the first n points of a MANIFOLD record."""
    return Manifold(*(found[name][:n].copy() for name in ("point", "normal", "gap", "feature")))


def turn(axis, angle):
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def random_rotation(rng):
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q if np.linalg.det(Q) > 0 else -Q


def random_shape(rng, kind):
    if kind == PLANE:
        return Plane()
    if kind == SPHERE:
        return Sphere(rng.uniform(0.05, 0.2))
    if kind == BOX:
        return Box(tuple(rng.uniform(0.05, 0.4, 3)))
    if kind == CAPSULE:
        return Capsule(rng.uniform(0.03, 0.1), rng.uniform(0.05, 0.4))
    return Cylinder(rng.uniform(0.03, 0.2), rng.uniform(0.05, 0.4))


def random_pair(rng, pair):
    """Return two shapes of the kinds "a-b", near each other, turned at random."""
    a, b = (random_shape(rng, KINDS[name]) for name in pair.split("-"))
    return (
        Posed(a, random_rotation(rng), rng.uniform(-0.3, 0.3, 3)),
        Posed(b, random_rotation(rng), rng.uniform(-0.1, 0.1, 3)),
    )


def random_pairs(pair, seed, count):
    """Yield so many of `random_pair`."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        yield random_pair(rng, pair)


def check_features_stay(meeting, a, b, motion, rounds):
    """Check that contacts of a shape that jitters by `motion` [rad, m] keep feature and place."""
    still = meeting(a, b)
    known = dict(zip(still.features, still.points))
    assert len(known) == still.count
    rng = np.random.default_rng(1)
    for _ in range(rounds):
        R = turn(rng.normal(size=3), rng.uniform(-motion, motion)) @ a.R
        m = meeting(Posed(a.shape, R, a.p + rng.uniform(-motion, motion, 3)), b)
        assert set(m.features) == set(known)
        for feature, point in zip(m.features, m.points):
            assert np.abs(point - known[feature]).max() < 1e-5


def reach(posed: Posed, n):
    """Return the largest n . x over the points x of a shape: its support plane along n."""
    shape, p = posed.shape, np.asarray(posed.p)
    c = posed.R.T @ n
    if shape.kind == PLANE:
        return n @ p if c[2] > 1 - 1e-12 else np.inf
    if shape.kind == SPHERE:
        return n @ p + shape.radius
    if shape.kind == BOX:
        return n @ p + np.abs(c) @ shape.size
    sine = np.hypot(c[0], c[1])
    radial = shape.radius * (sine if shape.kind == CYLINDER else 1.0)
    return n @ p + abs(c[2]) * shape.length / 2 + radial


def separation(a: Posed, b: Posed, n):
    """Return the gap between the support planes of a and b across n, which points from b to a."""
    return -reach(a, -n) - reach(b, n)
