# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The engines of distances, coal and FCL, agree with each other and with closed forms."""

import sys
from itertools import combinations_with_replacement

import numpy as np
import pytest
from geometry.test_link_distances import SPHERE, robot

import hrpsim
from hrpsim import Box, Capsule, ConvexHull, Cylinder, HrpsimError, Mesh, Sphere

pytest.importorskip("coal")
pytest.importorskip("fcl")
from hrpsim.geometry import LinkDistances, check_motion

ENGINES = ("coal", "fcl")
KINDS = {
    "sphere": lambda random: Sphere(random.uniform(0.02, 0.3)),
    "box": lambda random: Box(tuple(random.uniform(0.04, 0.6, 3))),
    "cylinder": lambda random: Cylinder(*random.uniform(0.04, 0.4, 2)),
    "capsule": lambda random: Capsule(*random.uniform(0.04, 0.4, 2)),
    "hull": lambda random: ConvexHull(random.normal(0.0, 0.15, (30, 3))),
}
# An L of two boxes' faces: no convex solid.
CORNERS = [[x, y, z] for z in (0, 1) for x, y in ((0, 0), (3, 0), (3, 1), (1, 1), (1, 3), (0, 3))]
SIDES = [(k, (k + 1) % 6) for k in range(6)]
WALLS = [t for a, b in SIDES for t in ((a, b, b + 6), (a, b + 6, a + 6))]
FLOOR = [(0, 3, 1), (1, 3, 2), (0, 5, 3), (3, 5, 4)]
ROOF = [(a + 6, c + 6, b + 6) for a, b, c in FLOOR]
ANGLE = Mesh(0.1 * np.array(CORNERS, dtype=float), np.array(WALLS + FLOOR + ROOF))


def pairs(first, second, count=20):
    """Return the nearest points of random pairs of two shapes, by each engine."""
    random = np.random.default_rng(7)
    world = hrpsim.World()
    for k in range(count):
        for name, shape in (("a", first(random)), ("b", second(random))):
            world.add_static(
                shape,
                position=random.uniform(-0.35, 0.35, 3),
                orientation=random.normal(size=4),
                name=f"{name}{k}",
            )
    model = robot(SPHERE)
    by_engine = [LinkDistances(model, world.fixed_shapes, engine=name) for name in ENGINES]
    for k in range(count):
        yield [one.nearest([0.0], f"world/a{k}", f"world/b{k}") for one in by_engine]


@pytest.mark.parametrize(("a", "b"), list(combinations_with_replacement(KINDS, 2)))
def test_convex_shapes_are_as_far_apart_and_as_deep(a, b):
    """Law: FCL's distance is up to 1e-3 m more than coal's, depths agree, normals to 5 degrees."""
    apart = 0
    for exact, found in pairs(KINDS[a], KINDS[b]):
        assert -3e-6 < found.distance - exact.distance < (1e-3 if exact.distance > 0 else 3e-6)
        assert np.linalg.norm(np.diff(found.points, axis=0)) == pytest.approx(abs(found.distance))
        if exact.distance > 0.01:
            apart += 1
            n, m = ((one.points[1] - one.points[0]) / one.distance for one in (exact, found))
            assert n @ m > np.cos(np.radians(5.0))
    assert apart > 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [True, False])
def test_triangles_are_as_far_apart_and_overlap_alike(kind, first):
    """Law: in either order the distances agree, and overlaps are those that coal finds."""
    seen = {True: 0, False: 0}
    order = (lambda _: ANGLE, KINDS[kind])[:: 1 if first else -1]
    for exact, found in pairs(*order, count=60):
        seen[exact.distance > 0.0] += 1
        if exact.distance > 0.0:
            assert found.distance == pytest.approx(exact.distance, abs=1e-3)
            assert np.linalg.norm(np.diff(found.points, axis=0)) == pytest.approx(found.distance)
        else:
            assert found.distance == 0.0
    assert min(seen.values()) > 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("x", [0.0, 0.06, 0.12])
def test_a_ball_within_a_cylinder_is_as_deep_as_its_way_out(engine, x):
    """Law: the depth is the ball's radius and the shorter way of its centre to wall or end."""
    world = hrpsim.World()
    world.add_static(Cylinder(0.2, 0.5), name="drum")
    world.add_static(Sphere(0.1), position=(x, 0.0, 0.1), name="ball")
    distances = LinkDistances(robot(SPHERE), world.fixed_shapes, engine=engine)
    found = distances.nearest([0.0], "world/drum", "world/ball")
    assert found.distance == pytest.approx(-0.1 - min(0.2 - x, 0.15), abs=3e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_motion_is_checked_by_each_engine(engine):
    """Law: balls of 0.1 m from x = -1 to 1 in 1 s overlap from 0.4 to 0.6 s, within the error."""
    row = LinkDistances(robot(SPHERE, SPHERE), engine=engine)
    (found,) = check_motion(row, [0.0, 1.0], [[0.0, -1.0], [0.0, 1.0]])
    assert found.begin == pytest.approx(0.4, abs=row.error + 1e-4)
    assert found.end == pytest.approx(0.6, abs=2.0 * row.error + 3e-4)


def test_without_coal_fcl_is_the_default(monkeypatch):
    assert LinkDistances(robot(SPHERE)).error == 1e-6
    monkeypatch.setitem(sys.modules, "coal", None)
    assert LinkDistances(robot(SPHERE)).error == 1e-3
    with pytest.raises(
        HrpsimError, match=r"the package coal\. Install it: pip install 'hrpsim\[geometry\]'"
    ):
        LinkDistances(robot(SPHERE), engine="coal")
    monkeypatch.setitem(sys.modules, "fcl", None)
    with pytest.raises(
        HrpsimError, match=r"the package coal\. Install it: pip install 'hrpsim\[geometry\]'"
    ):
        LinkDistances(robot(SPHERE))
    with pytest.raises(
        HrpsimError, match=r"the package fcl\. Install it: pip install 'hrpsim\[fcl\]'"
    ):
        LinkDistances(robot(SPHERE), engine="fcl")


def test_an_unknown_engine_is_named():
    with pytest.raises(HrpsimError, match=r"engine 'bullet' does not exist.*coal, fcl"):
        LinkDistances(robot(SPHERE), engine="bullet")
