# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Poses and velocities of all links at once, against Pinocchio and what bodies say themselves."""

import numpy as np
import pinocchio
import pytest
from dynamics.oracle import pinocchio_q, robot_pair
from world.joined import random_turn

from hrpsim import Box, Sphere, World
from hrpsim.model.shapes.placement import rotation_matrix


def scattered(seed: int, base: str = "free"):
    """A world with a humanoid at a random state between two bodies, and its oracle."""
    rng = np.random.default_rng(seed)
    pair = robot_pair("hrp2_like", base)
    model = pair.model
    world = World(gravity=(0, 0, 0))
    world.add_ground(-100.0)
    bodies = [
        world.add_body(
            shape,
            1.0,
            rng.uniform(5, 9, 3),
            random_turn(rng),
            rng.normal(size=3),
            rng.normal(size=3),
            name=name,
        )
        for name, shape in (("box", Box((0.1, 0.2, 0.3))), ("ball", Sphere(0.1)))
    ]
    q = model.neutral()
    if base == "free":
        q[:3], q[3:7] = rng.uniform(-1, 1, 3), random_turn(rng)
        q[7:] = rng.uniform(-0.5, 0.5, model.nq - 7)
    else:
        q = rng.uniform(-0.5, 0.5, model.nq)
    robot = world.add_robot(model, q=q, v=rng.normal(size=model.nv))
    pinocchio.forwardKinematics(pair.oracle, pair.data, pinocchio_q(pair.oracle, robot.q), robot.v)
    pinocchio.updateFramePlacements(pair.oracle, pair.data)
    return world, robot, bodies, pair


@pytest.mark.parametrize("base", ["free", "fixed"])
def test_links_are_and_move_as_in_pinocchio(base):
    _, robot, _, pair = scattered(3, base)
    positions, orientations = robot.link_poses()
    linear, angular = robot.link_velocities()
    assert positions.shape == linear.shape == angular.shape == (len(robot.model.link_names), 3)
    along_world = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    for k, link in enumerate(robot.model.link_names):
        frame = pair.frame_ids[link]
        place = pair.data.oMf[frame]
        motion = pinocchio.getFrameVelocity(pair.oracle, pair.data, frame, along_world)
        assert positions[k] == pytest.approx(place.translation, abs=1e-12)
        assert rotation_matrix(orientations[k]) == pytest.approx(place.rotation, abs=1e-12)
        assert orientations[k, 3] >= 0.0
        assert linear[k] == pytest.approx(motion.linear, abs=1e-12)
        assert angular[k] == pytest.approx(motion.angular, abs=1e-12)
        position, orientation = robot.link_pose(link)
        assert position == pytest.approx(positions[k], abs=1e-12)
        assert orientation == pytest.approx(orientations[k], abs=1e-12)


def test_the_world_has_all_links_in_one_order():
    world, robot, (box, ball), _ = scattered(4)
    names = world.link_names
    assert names == (
        ("box", "box"),
        ("ball", "ball"),
        *((robot.name, link) for link in robot.model.link_names),
        ("world", "ground"),
    )
    world.step(3)
    positions, orientations = world.link_poses()
    linear, angular = world.link_velocities()
    for k, body in enumerate((box, ball)):
        assert (positions[k] == body.position).all()
        assert rotation_matrix(orientations[k]) == pytest.approx(
            rotation_matrix(body.orientation), abs=1e-12
        )
        assert (linear[k] == body.velocity).all() and (angular[k] == body.angular_velocity).all()
    for ours, theirs in zip((positions, orientations), robot.link_poses(), strict=True):
        assert (ours[2:-1] == theirs).all()
    for ours, theirs in zip((linear, angular), robot.link_velocities(), strict=True):
        assert (ours[2:-1] == theirs).all()
    assert positions[-1].tolist() == [0, 0, -100] and not linear[-1].any()


def test_sleepers_and_those_that_come_and_go_keep_their_places():
    """What sleeps stands elsewhere in the arrays, and still in its place here."""
    world = World()
    world.add_ground()
    for k in range(4):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (k, 0, 0.05 if k % 2 else 20.0), name=f"b{k}")
    world.step(1200)
    assert set(world.asleep) == {"b1", "b3"}

    def check():
        positions, linear = world.link_poses()[0], world.link_velocities()[0]
        for k, (name, _) in enumerate(world.link_names[: len(world.bodies)]):
            body = world.bodies[name]
            assert (positions[k] == body.position).all() and (linear[k] == body.velocity).all()

    check()
    copied = world.copy()
    world.remove("b0")
    check()
    world.step(5)
    check()
    world.bodies["b1"].apply_wrench(force=(0, 0, 30.0))
    world.step(10)
    check()
    world = copied
    check()
    world.step(10)
    check()
