# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Fast shapes stop where they first touch; nothing passes through, nothing is stopped by a miss."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hrpsim
from hrpsim.world.objects.body import rotation_matrix

DT = 1.0 / 50.0
CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
PLATE = hrpsim.ConvexHull(CORNERS * (0.5, 0.5, 0.0025))
BULLETS = {
    "mesh": hrpsim.ConvexHull(CORNERS * 0.005),
    "sphere": hrpsim.Sphere(0.005),
    "box": hrpsim.Box((0.01, 0.01, 0.01)),
    "capsule": hrpsim.Capsule(0.005, 0.01),
    "cylinder": hrpsim.Cylinder(0.005, 0.01),
}


def empty_world(**options):
    return hrpsim.World(time_step=DT, gravity=(0.0, 0.0, 0.0), **options)


def fly(world, body, steps=4):
    path = [body.position.copy()]
    for _ in range(steps):
        world.step()
        path.append(body.position.copy())
    return np.array(path)


@pytest.mark.quick_cases("*semi_implicit*")
@pytest.mark.parametrize("plate", [hrpsim.Box((1.0, 1.0, 0.005)), PLATE], ids=["box", "mesh"])
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "euler"])
@pytest.mark.parametrize("shape", BULLETS)
def test_a_bullet_stops_at_a_thin_plate(shape, integrator, plate):
    """10 mm at 300 m/s, 6 m in a step, against 5 mm: it comes to rest on the near side."""
    world = empty_world(integrator=integrator)
    world.add_static(plate)
    body = world.add_body(
        BULLETS[shape], mass=0.01, position=(0.1, 0.0, 2.5), velocity=(0.0, 0.0, -300.0)
    )
    path = fly(world, body)
    extent = 0.010 if shape == "capsule" else 0.005
    # Explicit Euler moves with the velocity before the impact: up to a quarter of the plate.
    depth = 1.5e-3 if integrator == "euler" else 2e-4
    assert path[1:, 2] == pytest.approx(0.0025 + extent, abs=depth)
    assert abs(body.velocity[2]) < 1e-3


@pytest.mark.long
@settings(max_examples=750)
@given(
    shape=st.sampled_from(sorted(BULLETS)),
    plate=st.sampled_from([hrpsim.Box((1.0, 1.0, 0.005)), PLATE]),
    aim=st.tuples(*[st.floats(-0.3, 0.3)] * 2),
    start=st.tuples(st.floats(-1.5, 1.5), st.floats(-1.5, 1.5), st.floats(0.03, 3.0)),
    speed=st.floats(20.0, 600.0),
    spin=st.tuples(*[st.floats(-100.0, 100.0)] * 3),
    turn=st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1),
)
def test_no_shot_at_a_plate_passes(shape, plate, aim, start, speed, spin, turn):
    world = empty_world()
    world.add_static(plate)
    way = np.array([*aim, 0.0]) - start
    velocity = speed * way / np.linalg.norm(way)
    body = world.add_body(
        BULLETS[shape],
        mass=0.01,
        position=start,
        orientation=turn,
        velocity=velocity,
        angular_velocity=spin,
    )
    assert not goes_through(fly(world, body))


def goes_through(path) -> bool:
    """Return whether a path from above comes below z = 0 within the plate, not past its edge."""
    for before, after in pairwise(path):
        if before[2] > 0.0 >= after[2]:
            share = before[2] / (before[2] - after[2])
            return np.abs(before + share * (after - before))[:2].max() < 0.5
    return False


@settings(max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_no_mesh_passes_a_loose_mesh(seed):
    """Random hulls shot at a plate of 5 mm that moves and spins: seen from it, on the near side."""
    rng = np.random.default_rng(seed)
    world = empty_world()
    plate = world.add_body(
        PLATE, mass=5.0, velocity=rng.normal(size=3) * 5.0, angular_velocity=rng.normal(size=3)
    )
    hull = hrpsim.ConvexHull(rng.normal(size=(10, 3)) * 0.004)
    start = np.array([*rng.uniform(-1.0, 1.0, 2), rng.uniform(0.2, 3.0)])
    way = np.array([*rng.uniform(-0.25, 0.25, 2), 0.0]) - start
    velocity = rng.uniform(50.0, 500.0) * way / np.linalg.norm(way)
    bullet = world.add_body(
        hull, 0.01, start, velocity=velocity, angular_velocity=rng.normal(size=3) * 50.0
    )
    for _ in range(6):
        world.step()
        seen = rotation_matrix(plate.orientation).T @ (bullet.position - plate.position)
        beside = np.abs(seen[:2]).max() > 0.5  # what flew past an edge may go below
        assert seen[2] > 0.0 or beside
        if beside:
            break


def test_without_it_fast_shapes_are_stopped_by_what_they_miss():
    """A shot 10 mm beside a post goes on as if there were none; contacts alone would stop it."""
    ends = {}
    for continuous in (True, False):
        world = empty_world(continuous=continuous)
        world.add_static(hrpsim.Capsule(0.01, 1.0))
        body = world.add_body(
            hrpsim.Sphere(0.005), mass=0.01, position=(-3.0, 0.025, 0.0), velocity=(250.0, 0.0, 0.0)
        )
        ends[continuous] = fly(world, body, 2)[-1]
    np.testing.assert_allclose(ends[True], (7.0, 0.025, 0.0), atol=1e-9)
    assert np.linalg.norm(ends[False] - ends[True]) > 0.1


def test_head_on_shots_meet_and_keep_their_momentum():
    world = empty_world()
    left = world.add_body(
        hrpsim.Sphere(0.005), mass=0.01, position=(-2.0, 0.0, 0.0), velocity=(300.0, 0.0, 0.0)
    )
    right = world.add_body(
        hrpsim.Box((0.01, 0.01, 0.01)), mass=0.02, position=(2.5, 0.0, 0.0), velocity=(-280.0, 0, 0)
    )
    for _ in range(4):
        world.step()
        assert left.position[0] < right.position[0]
        momentum = 0.01 * left.velocity + 0.02 * right.velocity
        np.testing.assert_allclose(momentum, (0.01 * 300 - 0.02 * 280, 0, 0), atol=1e-9)
    assert left.velocity[0] == pytest.approx((3.0 - 5.6) / 0.03, rel=1e-6)


def test_what_is_flung_at_a_plate_does_not_pass_it_either():
    """A heavy shot strikes a ball at rest, which crosses a plate's place in the same step."""
    world = empty_world()
    world.set_friction("steel", "steel", 0.0, restitution=1.0)
    world.add_static(hrpsim.Box((0.005, 1.0, 1.0)), position=(1.0, 0.0, 0.0), material="wood")
    world.add_body(
        hrpsim.Sphere(0.05),
        mass=10.0,
        position=(-0.2, 0, 0),
        velocity=(200.0, 0, 0),
        material="steel",
    )
    ball = world.add_body(hrpsim.Sphere(0.005), mass=0.01, material="steel")
    for _ in range(6):
        world.step()
        assert ball.position[0] < 1.0


def test_a_fast_door_does_not_sweep_through_a_post():
    """A blade that turns by 60 degrees in a step hits the post in its way, and stays before it."""
    world = empty_world()
    world.add_static(hrpsim.Cylinder(0.005, 0.2), position=(0.0, 0.4, 0.0))
    blade = world.add_body(hrpsim.Box((1.0, 0.004, 0.1)), mass=1.0, angular_velocity=(0, 0, 52.0))
    world.step()
    angle = 2.0 * np.arctan2(blade.orientation[2], blade.orientation[3])
    assert angle == pytest.approx(52.0 * DT, rel=1e-6)  # still on its way: 59.6 degrees
    for _ in range(5):
        world.step()
        post = rotation_matrix(blade.orientation).T @ ((0.0, 0.4, 0.0) - blade.position)
        # The axis of the post is still before the blade, until that has slid off it, tip first.
        assert post[1] > 0.005 or post[0] > 0.5
    assert blade.angular_velocity[2] < 0.8 * 52.0


def test_a_robot_swings_its_arm_no_further_than_the_wall():
    """The whole tree of a fast link stops at the touch, joints included."""
    urdf = """<robot name="arm"><link name="base"/><link name="arm">
      <inertial><origin xyz="0 0 -0.5"/><mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
      <collision><origin xyz="0 0 -0.5"/><geometry><box size="0.01 0.1 1.0"/></geometry></collision>
    </link><joint name="swing" type="continuous"><parent link="base"/><child link="arm"/>
      <axis xyz="0 1 0"/></joint></robot>"""
    world = empty_world()
    robot = world.add_robot(hrpsim.load_model(urdf, base="fixed"), v=[-50.0])
    world.add_static(hrpsim.Box((0.004, 1.0, 1.0)), position=(0.3, 0.0, -0.9))
    for _ in range(3):
        world.step()
        assert 0.0 < robot.q[0] * -1.0 < 0.6 or 0.0 < robot.q[0] < 0.6
