# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Hulls put into each other come apart at the speed of corrections, and gain no energy by it."""

import numpy as np
import pytest
from scipy.optimize import nnls
from scipy.spatial import ConvexHull as Qhull
from scipy.spatial.transform import Rotation
from world.scenes import GRAVITY, show

from hrpsim import Box, Capsule, ConvexHull, Cylinder, Sphere, World
from hrpsim.engine.collision.solids.collision_proxies import proxy

CORRECTION_SPEED = 0.1  # a world's default [m/s]
LEVERAGE = (
    10.0  # by which corrections may move a point faster (hrpsim.engine.constraints.displacement)
)


class Hulls:
    """Random hulls in a world, and how deep they are in each other."""

    def __init__(self, world, seed, count, place, spread=0.06):
        rng = np.random.default_rng(seed)
        self.bodies, self.corners = [], []
        for _ in range(count):
            points = rng.normal(size=(rng.integers(6, 30), 3)) * rng.uniform(0.03, 0.12, 3)
            hull = ConvexHull(points)
            turn = Rotation.from_rotvec(rng.normal(size=3))
            start = np.add(place, rng.uniform(-spread, spread, 3))
            body = world.add_body(hull, 1.0, start, turn.as_quat())
            # A body's frame begins at its centre of mass, which tetrahedra about a point tell.
            p = hull.vertices[hull.triangles]
            volumes = np.linalg.det(p)
            center = (volumes[:, None] * p.sum(axis=1)).sum(axis=0) / (4.0 * volumes.sum())
            self.bodies.append(body)
            self.corners.append(hull.vertices - center)

    def placed(self):
        return [
            corners @ Rotation.from_quat(body.orientation).as_matrix().T + body.position
            for body, corners in zip(self.bodies, self.corners, strict=True)
        ]

    def deepest(self):
        """Return the deepest overlap of any two, by their Minkowski differences [m]."""
        placed = self.placed()
        return max(penetration(p, q) for k, p in enumerate(placed) for q in placed[:k])

    def speeds(self):
        return np.array([np.linalg.norm(body.velocity[:3]) for body in self.bodies])


def penetration(p, q):
    """Return how deep the hulls of points (n, 3) are in each other [m]; 0 if they are apart."""
    if (p.min(axis=0) > q.max(axis=0)).any() or (q.min(axis=0) > p.max(axis=0)).any():
        return 0.0
    return max(-Qhull((p[:, None] - q[None]).reshape(-1, 3)).equations[:, 3].max(), 0.0)


def distance(p, q):
    """Return how far the hulls of points (n, 3) are apart [m]."""
    differences = (p[:, None] - q[None]).reshape(-1, 3)
    weights, _ = nnls(np.vstack([differences.T, np.full(len(differences), 1e3)]), [0, 0, 0, 1e3])
    return np.linalg.norm(weights @ differences / weights.sum())


@pytest.mark.quick_cases("1", "3")
@pytest.mark.parametrize("seed", range(4))
def test_two_hulls_in_free_space_come_apart_without_a_speed(seed):
    """Corrections are displacements: no momentum, no energy, and no faster than they may be."""
    world = World(gravity=(0, 0, 0))
    hulls = Hulls(world, seed, 2, (0, 0, 0), 0.03)
    start = hulls.deepest()
    center = np.mean([body.position for body in hulls.bodies], axis=0)
    fastest = 0.0
    for _ in range(3000):
        before = [body.position.copy() for body in hulls.bodies]
        world.step()
        ways = [np.linalg.norm(b.position - p) for b, p in zip(hulls.bodies, before, strict=True)]
        fastest = max(fastest, *(way / world.time_step for way in ways))
        assert hulls.speeds().max() < 1e-9
    show("depth at the start, at the end, fastest", start, hulls.deepest(), fastest)
    assert start > 0.01
    assert hulls.deepest() < 2e-6
    assert fastest < CORRECTION_SPEED
    after = np.mean([body.position for body in hulls.bodies], axis=0)
    assert after == pytest.approx(center, abs=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2])
def test_a_heap_of_hulls_in_each_other_falls_apart_and_rests(seed):
    """Nothing gets faster than a fall from the top makes it; no overlap is left."""
    world = World()
    world.add_ground()
    hulls = Hulls(world, seed, 6, (0, 0, 0.4))
    start, top = hulls.deepest(), max(p[:, 2].max() for p in hulls.placed())
    fastest = corrected = 0.0
    for _ in range(4500):
        before, speeds = [body.position.copy() for body in hulls.bodies], hulls.speeds()
        world.step()
        ways = [np.linalg.norm(b.position - p) for b, p in zip(hulls.bodies, before, strict=True)]
        moved = np.array(ways) / world.time_step - np.maximum(speeds, hulls.speeds())
        fastest, corrected = max(fastest, hulls.speeds().max()), max(corrected, moved.max())
    below = -min(p[:, 2].min() for p in hulls.placed())
    show("depth at the start, at the end, in the floor", start, hulls.deepest(), below)
    show("fastest ever, at the end, by corrections", fastest, hulls.speeds().max(), corrected)
    assert start > 0.1
    assert fastest < np.sqrt(2.0 * GRAVITY * top)
    assert corrected < LEVERAGE * CORRECTION_SPEED
    assert hulls.speeds().max() < 0.02
    assert hulls.deepest() < 1e-4
    assert below < 1e-5


def rims(cylinder, count=2000):
    """Return points on both rims of a cylinder, whose chords are less than 1e-6 m inside."""
    turn = 2.0 * np.pi / count * np.arange(count)
    x, y = cylinder.radius * np.cos(turn), cylinder.radius * np.sin(turn)
    ends = [np.full(count, sign * 0.5 * cylinder.length) for sign in (-1.0, 1.0)]
    return np.vstack([np.column_stack([x, y, z]) for z in ends])


@pytest.mark.quick_cases("shape0", "shape2", "shape3")
@pytest.mark.parametrize(
    "shape", [Box((0.2, 0.3, 0.4)), Cylinder(0.1, 0.3), Capsule(0.08, 0.2), Sphere(0.12)]
)
def test_a_hull_leaves_a_primitive_that_it_is_put_into(shape):
    world = World(gravity=(0, 0, 0))
    world.add_static(shape)
    hulls = Hulls(world, 3, 1, (0.01, 0.02, 0.03), 0.0)
    solid = proxy(shape)
    core, rounding = solid.vertices["position"], float(solid.solids["rounding"][0])
    if isinstance(shape, Cylinder):
        core = rims(shape)
    world.step(6000)
    corners = hulls.placed()[0]
    show("speed at the end", hulls.speeds().max())
    assert hulls.speeds().max() < 1e-9
    if rounding > 0.0:
        assert distance(corners, core) > rounding - 2e-6
    else:
        assert penetration(corners, core) < 2e-6
