# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One collision of two free bodies: what it depends on, and what it must not depend on."""

import itertools

import numpy as np
import pytest

from hrpsim import Box, Capsule, Compound, ConvexHull, Cylinder, Mesh, Sphere, World

CORNERS = np.array(list(itertools.product((-0.5, 0.5), repeat=3)))
SIZE = np.array([0.1, 0.12, 0.2])
SIDES = np.array(
    [
        *([0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1]),
        *([2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]),
    ]
)


def points(count, seed):
    """Return `count` points (count, 3) on an ellipsoid [m]."""
    v = np.random.default_rng(seed).standard_normal((count, 3))
    return v / np.linalg.norm(v, axis=1)[:, None] * (0.05, 0.05, 0.1)


def tetrahedron():
    """Return a mesh of four triangles."""
    corners = 0.08 * np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1.2)])
    return Mesh(corners, np.array([(0, 1, 2), (0, 3, 1), (0, 2, 3), (1, 3, 2)]))


SHAPES = {
    "box": Box((0.1, 0.1, 0.2)),
    "sphere": Sphere(0.06),
    "capsule": Capsule(0.05, 0.2),
    "cylinder": Cylinder(0.05, 0.2),
    "hull": ConvexHull(points(60, 3)),
    "mesh": tetrahedron(),
    "compound": Compound(
        [(Box((0.2, 0.05, 0.05)), (0.0, 0.0, 0.0)), (Sphere(0.05), (0.1, 0.0, 0.0))]
    ),
}
PAIRS = list(itertools.combinations_with_replacement(SHAPES, 2))
# The side line of a cylinder that lies on the face of a mesh may have one contact, at either end.
AT_EITHER_END = {("cylinder", "mesh")}
STEADY = [(k, pair) for k, pair in enumerate(PAIRS) if pair not in AT_EITHER_END]


def thrown(shapes, seed):
    """Return how two bodies fly at each other: shape, mass, pose and velocities of each."""
    rng = np.random.default_rng(seed)
    bodies = []
    for shape, place, speed in zip(shapes, (0.0, 0.3), (0.0, -1.5), strict=True):
        turn = rng.standard_normal(4)
        bodies.append(
            {
                "geometry": shape,
                "mass": rng.uniform(0.5, 2.0),
                "position": np.array([place, 0.0, 0.0]) + 0.01 * rng.standard_normal(3),
                "orientation": turn / np.linalg.norm(turn),
                "velocity": np.array([speed, 0.0, 0.0]) + 0.1 * rng.standard_normal(3),
                "angular_velocity": rng.standard_normal(3),
            }
        )
    return bodies


def collide(bodies, restitution, shared=(0, 0, 0), exchanged=False):
    """Let two bodies collide; return their relative position and velocity, and both spins."""
    world = World(1e-3, gravity=(0, 0, 0), sleeping=False)
    world.set_friction("default", "default", 0.5, restitution=restitution)
    made = [None, None]
    for k in (1, 0) if exchanged else (0, 1):
        body = {**bodies[k], "velocity": bodies[k]["velocity"] + np.array(shared, dtype=float)}
        made[k] = world.add_body(**body)
    world.step(300)
    a, b = made
    apart, drift = b.position - a.position, b.velocity - a.velocity
    return np.concatenate([apart, drift, a.angular_velocity, b.angular_velocity])


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_collision_does_not_depend_on_the_order_of_the_bodies(restitution):
    """Law: two bodies collide alike whichever of them was added first."""
    for seed, (a, b) in enumerate(PAIRS):
        bodies = thrown((SHAPES[a], SHAPES[b]), seed)
        first = collide(bodies, restitution)
        second = collide(bodies, restitution, exchanged=True)
        np.testing.assert_allclose(second, first, atol=1e-6, err_msg=f"{a} and {b}")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_collision_does_not_depend_on_a_velocity_that_both_share(restitution):
    """Law (Galileo): a velocity that both bodies share does not change how they collide."""
    for seed, (a, b) in STEADY:
        bodies = thrown((SHAPES[a], SHAPES[b]), seed)
        at_rest = collide(bodies, restitution)
        for shared in ((1e-9, 0, 0), (20, -13, 7)):
            moving = collide(bodies, restitution, shared)
            np.testing.assert_allclose(moving, at_rest, atol=1e-6, err_msg=f"{a} and {b}")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_collision_hardly_changes_with_its_start(restitution):
    """Law: a change of 1e-12 m in the start changes the end of one collision by less than 1e-6."""
    for seed, (a, b) in STEADY:
        bodies = thrown((SHAPES[a], SHAPES[b]), seed)
        first = collide(bodies, restitution)
        bodies[1]["position"] = bodies[1]["position"] + 1e-12 * np.array([0.3, -0.5, 0.8])
        second = collide(bodies, restitution)
        np.testing.assert_allclose(second, first, atol=1e-6, err_msg=f"{a} and {b}")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_box_collides_alike_as_a_box_a_hull_and_a_mesh(restitution):
    """Law: a box, the hull of its corners and the mesh of its sides collide alike."""
    described = (Box(tuple(SIZE)), ConvexHull(CORNERS * SIZE), Mesh(CORNERS * SIZE, SIDES))
    for seed in range(10):
        ends = [collide(thrown((box, box), seed), restitution) for box in described]
        np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-9)


@pytest.mark.parametrize("speed", [0.0, 1.0, 10.0])
def test_bodies_that_fly_side_by_side_have_the_contacts_that_they_have_at_rest(speed):
    """Law: the gap up to which contacts count depends on the relative motion alone."""
    world = World(1e-3, gravity=(0, 0, 0), sleeping=False)
    for x in (0.0, 0.105):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (x, 0, 0), velocity=(0, speed, 0))
    world.step(3)
    assert world.stats.contact_count == 0
    near = World(1e-3, gravity=(0, 0, 0), sleeping=False)
    for x in (0.0, 0.1005):
        near.add_body(Box((0.1, 0.1, 0.1)), 1.0, (x, 0, 0), velocity=(0, speed, 0))
    near.step(3)
    assert near.stats.contact_count == 4
