# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One collision of two free bodies: what it depends on, and what it must not depend on."""

import itertools

import numpy as np
import pytest

from hrpsim import Box, Capsule, Compound, ConvexHull, Cylinder, Mesh, Sphere, World, load_model

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


def cone():
    """Return the hull of a cone of 40 sides."""
    angles = 2.0 * np.pi * np.arange(40) / 40
    rim = np.column_stack([0.06 * np.cos(angles), 0.06 * np.sin(angles), np.full(40, -0.05)])
    return ConvexHull(np.vstack([rim, [[0.0, 0.0, 0.12]]]))


SHAPES = {
    "box": Box((0.1, 0.1, 0.2)),
    "sphere": Sphere(0.06),
    "capsule": Capsule(0.05, 0.2),
    "cylinder": Cylinder(0.05, 0.2),
    "hull": ConvexHull(points(60, 3)),
    "mesh": tetrahedron(),
    "cone": cone(),
    "brick": ConvexHull(CORNERS * SIZE),
    "compound": Compound(
        [(Box((0.2, 0.05, 0.05)), (0.0, 0.0, 0.0)), (Sphere(0.05), (0.1, 0.0, 0.0))]
    ),
}
PAIRS = list(itertools.combinations_with_replacement(SHAPES, 2))
INTEGRATORS = ("semi_implicit", "rk4", "euler")
# Seeds of collisions in which an edge comes to lie along a face while the solids overlap.
ALONG = {
    ("mesh", "brick"): (50575, 50443),
    ("mesh", "cone"): (50709, 50973, 50049),
    ("mesh", "mesh"): (50309,),
    ("cylinder", "cone"): (50036,),
    ("cone", "cone"): (50063, 50591),
    ("box", "mesh"): (51061,),
}


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


def collide(bodies, restitution, shared=(0, 0, 0), exchanged=False, integrator=INTEGRATORS[0]):
    """Let two bodies collide; return their relative position and velocity, and both spins."""
    world = World(1e-3, gravity=(0, 0, 0), sleeping=False, integrator=integrator)
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


def test_rounding_in_free_flight_does_not_choose_the_next_collision():
    """Law: exchange. The box and the compound collide, fly freely and collide again."""
    bodies = thrown((SHAPES["box"], SHAPES["compound"]), 1866)
    first, second = collide(bodies, 0.0), collide(bodies, 0.0, exchanged=True)
    np.testing.assert_allclose(second, first, atol=1e-6)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_collision_does_not_depend_on_a_velocity_that_both_share(restitution):
    """Law (Galileo): a velocity that both bodies share does not change how they collide."""
    for seed, (a, b) in enumerate(PAIRS):
        bodies = thrown((SHAPES[a], SHAPES[b]), seed)
        at_rest = collide(bodies, restitution)
        for shared in ((1e-9, 0, 0), (20, -13, 7)):
            moving = collide(bodies, restitution, shared)
            np.testing.assert_allclose(moving, at_rest, atol=1e-6, err_msg=f"{a} and {b}")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_collision_hardly_changes_with_its_start(restitution):
    """Law: a change of 1e-12 m in the start changes the end of one collision by less than 1e-6."""
    for seed, (a, b) in enumerate(PAIRS):
        bodies = thrown((SHAPES[a], SHAPES[b]), seed)
        first = collide(bodies, restitution)
        bodies[1]["position"] = bodies[1]["position"] + 1e-12 * np.array([0.3, -0.5, 0.8])
        second = collide(bodies, restitution)
        np.testing.assert_allclose(second, first, atol=1e-6, err_msg=f"{a} and {b}")


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_edges_along_faces_bear_at_both_ends(integrator):
    """Law: exchange, shared velocity and small changes do not choose one end of a line contact."""
    for (a, b), seeds in ALONG.items():
        for seed in seeds:
            bodies = thrown((SHAPES[a], SHAPES[b]), seed)
            ends = [
                collide(bodies, 0.0, integrator=integrator),
                collide(bodies, 0.0, exchanged=True, integrator=integrator),
                collide(bodies, 0.0, shared=(20, -13, 7), integrator=integrator),
            ]
            bodies[1]["position"] = bodies[1]["position"] + 1e-12 * np.array([0.3, -0.5, 0.8])
            ends.append(collide(bodies, 0.0, integrator=integrator))
            np.testing.assert_allclose(ends[1:], ends[:1] * 3, atol=1e-6, err_msg=f"{a} {b} {seed}")


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_box_collides_alike_as_a_box_a_hull_and_a_mesh(restitution):
    """Law: a box, the hull of its corners and the mesh of its sides collide alike."""
    described = (Box(tuple(SIZE)), ConvexHull(CORNERS * SIZE), Mesh(CORNERS * SIZE, SIDES))
    for seed in range(10):
        ends = [collide(thrown((box, box), seed), restitution) for box in described]
        np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-9)


GRIPPER = """<robot name="gripper"><link name="palm"><inertial><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="left"><inertial><mass value="0.1"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><cylinder radius="0.02" length="0.1"/></geometry></collision></link>
<link name="right"><inertial><mass value="0.1"/>
<inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size="0.04 0.04 0.1"/></geometry></collision></link>
<joint name="l" type="prismatic"><parent link="palm"/><child link="left"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="9" velocity="9"/></joint>
<joint name="r" type="prismatic"><parent link="palm"/><child link="right"/>
<origin xyz="0.041 0 0"/><axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="9" velocity="9"/>
</joint></robot>"""


def side_by_side(shape, gap, shared, continuous):
    """Return the contacts of two bodies side by side after a step: gaps and normals; and stats."""
    world = World(1e-3, gravity=(0, 0, 0), sleeping=False, continuous=continuous)
    width = 0.2 if shape == "compound" else 0.1
    bodies = [
        world.add_body(SHAPES[shape], 1.0, (x, 0, 0), velocity=shared) for x in (0.0, width + gap)
    ]
    bodies[1].angular_velocity = (0.3, -0.2, 0.1)
    world.step()
    found = [np.concatenate([[c.gap], c.normal]) for c in world.contacts]
    return np.array(found).reshape(-1, 4), world.stats.ccd_queries


@pytest.mark.parametrize("continuous", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_bodies_that_fly_side_by_side_have_the_contacts_that_they_have_at_rest(shape, continuous):
    """Law (Galileo): contacts, and searches for them, depend on the relative motion alone.

    A velocity of a power of two along an axis leaves places exact but for its motion in the step.
    """
    for gap in (1e-3, 5e-3, 0.03):
        at_rest, queries = side_by_side(shape, gap, (0, 0, 0), continuous)
        for shared in ((0, 1, 0), (0, 0, -8), (0, 128, 0)):
            moving, more = side_by_side(shape, gap, shared, continuous)
            assert more == queries
            np.testing.assert_allclose(moving, at_rest, atol=1e-13)


@pytest.mark.parametrize("continuous", [True, False])
def test_links_of_a_robot_that_falls_have_the_contacts_that_they_have_at_rest(continuous):
    """Law: so it is for links of one tree, whatever their robot's velocity."""
    counts = []
    for speed in (0.0, 1.0, 16.0, 128.0):
        world = World(1e-3, gravity=(0, 0, 0), continuous=continuous)
        robot = world.add_robot(load_model(GRIPPER, base="free"), self_collision=True)
        robot.v = (0, 0, -speed, 0, 0, 0, 0, 0)
        world.step(3)
        counts.append((world.stats.contact_count, world.stats.ccd_queries))
    assert counts == counts[:1] * 4
    assert counts[0][0] > 0
