# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What would pass through something meets it: the centre of mass and momentum of all stay exact."""

from itertools import pairwise, product

import numpy as np
import pytest
from meshes import box as box_mesh
from world.test_momentum import chain, momentum_and_scale

import hrpsim
from hrpsim import Box, Mesh, Sphere, World
from hrpsim.engine.kinematics.forward import new_kinematics, update_poses
from hrpsim.world.objects.body import rotation_matrix

BALLS, RADIUS, MASS = 6, 0.5, 10.0


def centre(world):
    """Return the common centre of mass (3,) of all bodies [m]."""
    scene = world.scene
    bodies = scene.forest.bodies
    poses = new_kinematics(len(bodies))
    update_poses(scene.forest, scene.q, poses)
    places = [
        poses[body["root"]]["origin"] + here["p"] + here["R"] @ body["com"]
        for body, here in zip(bodies, poses, strict=True)
    ]
    return np.average(places, axis=0, weights=bodies["mass"])


def crowd(time_step, restitution, continuous, **options):
    """216 balls of 0.5 m with 0.2 m between them that fly in on each other at 10 m/s."""
    rng = np.random.default_rng(0)
    options = {"gravity": (0.0, 0.0, 0.0), "sleeping": False, **options}
    world = World(time_step, continuous=continuous, **options)
    world.set_friction("default", "default", 0.0, restitution=restitution)
    for place in product(range(BALLS), repeat=3):
        out = np.array(place) - 0.5 * (BALLS - 1)
        world.add_body(
            Sphere(RADIUS),
            MASS,
            1.2 * out + rng.uniform(-0.06, 0.06, 3),
            velocity=-10.0 * out / np.linalg.norm(out) + rng.normal(size=3) * 3.0,
        )
    return world


def depth(world):
    """Return how deep the deepest two balls are in each other [m]."""
    places = world.scene.q.reshape(-1, 7)[:, :3]
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    return 2.0 * RADIUS - (apart + 10.0 * np.eye(len(places))).min()


@pytest.mark.quick_cases("1.0-0.01", "0.0-0.004")
@pytest.mark.parametrize("time_step", [4e-3, 1e-2, 4e-2, 1e-1])
@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_a_crowd_of_balls_keeps_its_centre_and_momentum(restitution, time_step):
    """The centre goes on its line, and no two balls come deeper than contacts alone let them."""
    deepest = {}
    for continuous in (True, False):
        world = crowd(time_step, restitution, continuous)
        start, (momentum, scale) = centre(world), momentum_and_scale(world)
        energy = (world.scene.velocity**2).sum()
        deepest[continuous] = 0.0
        steps = round(min(0.2, 8 * time_step) / time_step)
        for step in range(1, steps + 1):
            world.step()
            deepest[continuous] = max(deepest[continuous], depth(world))
            line = start + momentum / (MASS * BALLS**3) * step * time_step
            assert np.abs(centre(world) - line).max() < 1e-9
            assert np.abs(momentum_and_scale(world)[0] - momentum).max() < 1e-12 * scale
        if continuous and restitution == 1.0 and time_step < 0.1:
            # What impacts below the restitution threshold lose, and nothing else.
            assert (world.scene.velocity**2).sum() == pytest.approx(energy, rel=1e-5)
    assert deepest[True] <= deepest[False]


def test_a_crowd_falls_on_the_parabola_of_its_centre():
    """Plastic balls at 40 ms under gravity: c + v t + g t^2 / 2, however they meet."""
    world = crowd(4e-2, 0.0, True, gravity=(0.0, 0.0, -9.81))
    start, (momentum, _) = centre(world), momentum_and_scale(world)
    for step in range(1, 8):
        world.step()
        time = step * 4e-2
        fall = np.array([0.0, 0.0, -0.5 * 9.81 * time**2])
        line = start + momentum / (MASS * BALLS**3) * time + fall
        assert np.abs(centre(world) - line).max() < 1e-9


FLOWN = {
    "boxes": (Box((0.1, 0.2, 0.15)), Box((0.2, 0.1, 0.1))),
    "bullet and plate": (Sphere(0.005), Box((0.005, 1.0, 1.0))),
    "box and plate": (Box((0.01, 0.02, 0.01)), Box((0.005, 1.0, 1.0))),
    "capsule and ball": (hrpsim.Capsule(0.02, 0.3), Sphere(0.05)),
}


THICKNESS = {
    "boxes": 0.1,
    "bullet and plate": 0.005,
    "box and plate": 0.005,
    "capsule and ball": 0.04,
}

# What tumbles by a radian a step gains energy without bounds in explicit Euler, and rk4 guides it
# (engine.step.motion.free_rotation): its centre is then off by dt / 2 of what contacts change.
CASES = [
    case
    for case in product(FLOWN, (1.0, 10.0, 100.0, 300.0), ("semi_implicit", "rk4", "euler"))
    if case[2] == "semi_implicit" or "plate" in case[0]
]


@pytest.mark.quick_cases("*-10.0-*-0.5", "*-300.0-*-0.0")
@pytest.mark.parametrize("restitution", [0.0, 0.5])
@pytest.mark.parametrize("pair, speed, integrator", CASES)
def test_two_bodies_meet_and_keep_their_centre(pair, speed, integrator, restitution):
    """At 1, 10 and 40 ms, from several distances: the one stays on its side of the other."""
    shot, target = FLOWN[pair]
    for time_step, away in product((1e-3, 1e-2, 4e-2), (0.3, 0.55)):
        world = World(time_step, gravity=(0, 0, 0), integrator=integrator, sleeping=False)
        world.set_friction("default", "default", 0.3, restitution=restitution)
        away = away + 2.3 * speed * time_step
        left = world.add_body(shot, 0.3, (-away, 0.02, 0.01), velocity=(speed, 0, 0))
        right = world.add_body(target, 1.0, velocity=(-0.1 * speed, 0, 0))
        start, (momentum, scale) = centre(world), momentum_and_scale(world)
        for step in range(1, 9):
            world.step()
            line = start + momentum / 1.3 * step * time_step
            assert np.abs(centre(world) - line).max() < (1e-4 if integrator == "rk4" else 1e-9)
            assert np.abs(momentum_and_scale(world)[0] - momentum).max() < 1e-12 * scale
            seen = rotation_matrix(right.orientation).T @ (left.position - right.position)
            if "plate" in pair:
                assert seen[0] < 0.0 or np.abs(seen[1:]).max() > 0.5
            # Explicit Euler moves with the velocity before the impact: up to a quarter.
            deepest = (0.25 if integrator == "euler" else 0.01) * THICKNESS[pair] + 1e-6
            assert all(c.gap > -deepest for c in world.contacts)


@pytest.mark.parametrize(
    "speed, time_step", [(3.0, 1e-3), (3.0, 4e-2), *product((30.0, 300.0), (1e-3, 1e-2, 4e-2))]
)
def test_a_row_of_plates_is_not_passed(speed, time_step):
    """A shot flies at ten loose plates of 5 mm: their order stays, and the centre of all."""
    world = World(time_step, gravity=(0, 0, 0), sleeping=False)
    away = -0.4 * speed * time_step - 0.1
    shot = world.add_body(Sphere(0.02), 0.5, (away, 0, 0), velocity=(speed, 0, 0))
    plates = [world.add_body(Box((0.005, 0.5, 0.5)), 0.2, (0.03 * k, 0, 0)) for k in range(10)]
    start, (momentum, scale) = centre(world), momentum_and_scale(world)
    for step in range(1, 13):
        world.step()
        line = start + momentum / 2.5 * step * time_step
        assert np.abs(centre(world) - line).max() < 1e-9
        assert np.abs(momentum_and_scale(world)[0] - momentum).max() < 1e-12 * scale
        for near, far in pairwise([shot, *plates]):
            seen = rotation_matrix(far.orientation).T @ (near.position - far.position)
            assert seen[0] < 0.0 or np.abs(seen[1:]).max() > 0.25


@pytest.mark.parametrize("speed", [5.0, 50.0])
def test_two_robots_that_fly_into_each_other(speed):
    """Two chains of three links: meeting moves the centre by no more than the step truncates.

    A tree that turns by w dt in a step moves its centre of mass by up to (w dt)^2 / 2 of its reach
    beside the line, whatever it meets; momentum is exact. A step that lost time would lose up to
    speed dt.
    """
    dt, reach = 1e-3, 1.5
    world = World(dt, gravity=(0, 0, 0), sleeping=False)
    first = world.add_robot(chain(3), name="first")
    q = np.array([0.3, 0.02, 0.06 + 4.5 * speed * dt, 0, 0, 0, 1, 0.1, -0.1])
    second = world.add_robot(chain(3), q=q, name="second", v=[0, 0, -speed, 0, 0, 0, 0, 0])
    momentum, scale = momentum_and_scale(world)
    mass, touched = world.scene.forest.bodies["mass"].sum(), 0
    for _ in range(10):
        before = centre(world)
        turning = sum(np.abs(robot.v[3:]).sum() for robot in (first, second))
        world.step()
        turning = max(turning, sum(np.abs(robot.v[3:]).sum() for robot in (first, second)))
        touched += len(world.contacts) > 0
        assert np.abs(momentum_and_scale(world)[0] - momentum).max() < 1e-12 * scale
        beside = np.abs(centre(world) - before - dt * momentum / mass).max()
        assert beside < 1e-9 + 0.5 * reach * (turning * dt) ** 2
    assert touched


@pytest.mark.parametrize("make", [Box, lambda lengths: Mesh(*box_mesh(lengths))])
@pytest.mark.parametrize("speed", [10.0, 100.0])
@pytest.mark.parametrize("off", [0.0, 1e-5])
@pytest.mark.parametrize("aslant", [0.05, 1.0])
def test_cubes_whose_edges_meet_exactly_do_not_pass(make, speed, off, aslant):
    """At the meeting both faces of the edge are flush, and behind it the straight way overlaps."""
    world = World(1e-2, gravity=(0, 0, 0))
    world.add_static(make((0.2, 0.2, 0.2)))
    ahead = np.array([-1.0, -aslant, 0.0]) / np.hypot(1.0, aslant)
    start = np.array([0.2, 0.2 + off, 0.0]) - 0.011 * ahead
    moving = world.add_body(make((0.2, 0.2, 0.2)), 1.0, start, velocity=speed * ahead)
    world.step()
    assert np.abs(moving.velocity[:3] - speed * ahead).max() > 0.01 * speed
