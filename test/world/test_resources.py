# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step compiles once, allocates nothing, and grows its arrays when a scene needs it."""

import tracemalloc

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, contact_force, one_joint, show
from world.scripted import everything, pile

from hrpsim import Box, Sphere, World
from hrpsim.engine.compile.fields import Axis, declared_fields, replaced
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.step import advance


def crowd(count: int) -> World:
    """Boxes in loose layers that fall on a plane and on each other."""
    world = World()
    world.add_ground()
    random = np.random.default_rng(1)
    for k in range(count):
        layer, place = divmod(k, 36)
        x, y = divmod(place, 6)
        world.add_body(
            Box((0.2, 0.2, 0.2)),
            1.0,
            position=(0.23 * x, 0.23 * y, 0.12 + 0.25 * layer),
            angular_velocity=random.uniform(-0.5, 0.5, 3),
        )
    return world


def with_room(world: World, room: int) -> World:
    """Give every array that can grow `room` entries."""
    axes = (Axis.CONTACT, Axis.PAIR, Axis.BLOCK, Axis.ROW, Axis.RESPONSE)
    arrays = {}
    for path, field in declared_fields(Scene):
        if set(axes) & set(field.shape):
            shape = [room if axis in axes else axis for axis in field.shape]
            arrays[path] = np.full(shape, field.fill, field.dtype)
    world._scenes.present = replaced(world.scene, arrays)
    return world


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_three_hundred_boxes_fall_alike_however_small_the_arrays_began():
    """Arrays that had to grow in the middle of a step give the same bits as large ones."""
    grown, roomy = with_room(crowd(300), 1), with_room(crowd(300), 400_000)
    grown.step(250)
    roomy.step(250)
    assert (grown.scene.q == roomy.scene.q).all()
    assert (grown.scene.velocity == roomy.scene.velocity).all()
    show("300 boxes: contacts, time", grown.stats.contact_count, grown.time)
    assert grown.stats.contact_count > 600
    assert len(grown.scene.collision.contacts) >= grown.stats.contact_count
    assert len(roomy.scene.collision.contacts) == 400_000


def test_a_push_lasts_through_growth():
    """An array that grows in the middle of a call does not end the push of that call."""
    world = World(gravity=(0, 0, 0))
    bodies = [
        world.add_body(Sphere(0.1), 1.0, position=(0.5 * k, 0, 0), name=f"ball{k}")
        for k in range(20)
    ]
    for body in bodies:  # more pushes than there is room for at first
        body.apply_wrench(force=(0, 1.0, 0))
        body.apply_wrench(force=(0, 1.0, 0))
    world.step(100)
    for body in bodies:
        assert body.velocity[1] == pytest.approx(0.2, rel=1e-12)


def test_every_scene_runs_on_one_compilation():
    """Robots, bodies, fixed and free bases, empty worlds, all integrators: one signature."""
    World().step(3)
    for integrator in (*INTEGRATORS, "euler"):
        world = everything(integrator)
        world.step(20)
        robot = world.robots["hrp2_like"]
        robot.q = robot.q
        robot.v = robot.v
        robot.tau = np.zeros(robot.nv)
        world.step(2)
        world.restore(world.snapshot())
        world.reset()
        world.step(2)
    only_robot = World(gravity=[0, 0, -1])
    only_robot.add_robot(one_joint())
    only_robot.step(np.int64(3))
    only_robot.step(np.uint8(1))
    only_bodies = World()
    pile(only_bodies, 3)
    only_bodies.step(5)
    show("signatures of advance", len(advance.codes))
    assert len(advance.codes) == 1


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_hundred_thousand_steps_take_no_memory(integrator):
    """Python's memory after 1e5 steps, one by one and at once, is what it was."""
    world = World(integrator=integrator)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1))
    world.step(100)
    tracemalloc.start()
    try:
        for _ in range(2000):
            world.step()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(10_000):
            world.step()
        world.step(90_000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    show(f"memory grown in 1e5 steps, {integrator} [bytes]", grown)
    # lists of free tuples fill up; an object lost at every call would take 160 kB
    assert grown < 40_000
    assert contact_force(world, "box")[2] == pytest.approx(GRAVITY, rel=1e-6)


def test_the_arrays_stay_where_they_are():
    """A step writes into the same arrays; nothing is replaced once they are large enough."""
    world = everything("semi_implicit")
    world.step(500)
    arrays = {name: value for name, value in world.scene._asdict().items()}
    world.step(200)
    for name, value in world.scene._asdict().items():
        if isinstance(value, np.ndarray):
            assert value is arrays[name]


def test_a_body_at_rest_rests_for_a_hundred_seconds():
    """1e5 steps: no creep, no sinking, no heat."""
    world = World()
    world.add_ground()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1))
    world.step(1000)
    start = box.q
    world.step(100_000)
    show("moved in 100 s [m]", np.abs(box.q - start).max())
    assert np.abs(box.q - start).max() < 1e-10
