# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sleep beside springs, meshes and what is fast: anchors are kept, hits wake."""

import math

import numpy as np
import pytest
from meshes import angle_bracket, box
from world.scenes import GRAVITY, show
from world.scripted import bits

from hrpsim import Batch, Box, Mesh, Sphere, World, load_model
from robots import HRP2_LIKE

STIFFNESS = 2e4  # [N/m] of each point
SPRING = {"kind": "ball", "compliance": 1e-4}


def sprung(degrees=0.0, sleeping=True, **friction) -> World:
    """Penalty contacts on a slope that is made by turning gravity about y."""
    angle = math.radians(degrees)
    down = -math.cos(angle) * GRAVITY
    world = World(
        gravity=(math.sin(angle) * GRAVITY, 0.0, down), solver="penalty", sleeping=sleeping
    )
    world.set_friction("default", "default", **(friction or {"static": 0.8}))
    world.set_penalty("default", "default", STIFFNESS, 0.5, max_extension=0.1)
    world.add_ground()
    return world


def until_asleep(world: World, limit: int = 8000) -> int:
    for steps in range(0, limit, 100):
        if len(world.asleep) == len(world.bodies):
            return steps
        world.step(100)
    raise AssertionError(f"only {world.asleep} sleep after {limit} steps")


def test_what_hangs_on_anchors_sleeps_and_wakes_where_it_hung():
    """Asleep on a slope of 20 degrees and woken, a box does not move: its anchors were kept.

    Without them it would slip by m g sin / (n k), 42 micrometres, before they hold it again.
    """
    world = sprung(20.0)
    box = world.add_body(Box((0.4, 0.4, 0.1)), 1.0, position=(0, 0, 0.05))
    steps = until_asleep(world)
    place, forces = box.q.copy(), [c.force for c in world.contacts]
    weight = sum(forces)
    show("steps to sleep, force on the ground [N]", steps, *map(float, weight))
    np.testing.assert_allclose(weight, world.gravity, atol=1e-4)  # on the world
    world.step(1000)
    assert box.asleep and (box.q == place).all()
    world.wake()
    world.step(400)
    slip = np.linalg.norm(box.position - place[:3])
    show("moves after waking by [m]", float(slip))
    assert not box.asleep
    assert slip < 1e-8
    np.testing.assert_allclose([c.force for c in world.contacts], forces, atol=1e-4)
    assert until_asleep(world) <= 500


def test_a_penalty_contact_wakes_what_it_presses_on():
    """What falls on a sleeping box does what it does in a world without sleep; then both sleep."""
    ends = []
    for sleeping in (True, False):
        world = sprung(sleeping=sleeping)
        box = world.add_body(Box((0.4, 0.4, 0.1)), 2.0, position=(0, 0, 0.05))
        other = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(3, 0, 0.1))
        cube = world.add_body(Box((0.1, 0.1, 0.1)), 0.5, position=(6, 0, 0.05))
        world.step(4000)
        assert len(world.asleep) == (3 if sleeping else 0)
        before = box.position[2]
        cube.q = [0, 0, 0.25, 0, 0, 0, 1]
        assert box.asleep is other.asleep is sleeping
        world.step(300)
        assert not box.asleep and other.asleep is sleeping
        ends.append([*cube.position, *cube.velocity, *box.position, *box.velocity])
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)
    world.sleeping = True
    until_asleep(world)
    sunk = before - box.position[2]
    show("sinks by [m], theory", float(sunk), 0.5 * GRAVITY / 4 / STIFFNESS)
    assert sunk == pytest.approx(0.5 * GRAVITY / 4 / STIFFNESS, rel=1e-3)


def test_it_wakes_in_the_step_that_presses():
    world = sprung()
    box = world.add_body(Box((0.4, 0.4, 0.1)), 2.0, position=(0, 0, 0.05))
    ball = world.add_body(Sphere(0.1), 0.5, position=(2.0, 0, 0.1))
    until_asleep(world)
    ball.q = [0, 0, 0.22, 0, 0, 0, 1]
    assert world.asleep == ("box",)
    pressed = False
    while not pressed and world.time < 20.0:
        assert box.asleep
        world.step()
        pressed = any(
            {"box", "sphere"} == {c.a[0], c.b[0]} and c.force.any() for c in world.contacts
        )
    assert pressed and not box.asleep
    assert box.velocity[2] < 0.0


def hinged(sleeping: bool) -> World:
    """A tower and a ball that come to sleep among rods that swing on springs."""
    world = World(sleeping=sleeping)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1), name="low")
    rod = world.add_body(Box((0.1, 0.1, 0.5)), 2.0, position=(2, 0, 1.25), name="rod")
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.3), name="high")
    second = world.add_body(Box((0.1, 0.1, 0.5)), 2.0, position=(2, 0, 0.75), name="second")
    world.connect(None, rod, point=(2, 0, 1.5), **SPRING)
    world.connect(rod, second, point=(2, 0, 1.0), **SPRING)
    world.add_body(Sphere(0.1), 1.0, position=(-2, 0, 0.1), name="ball")
    swing(world)
    return world


def swing(world: World) -> None:
    world.bodies["rod"].v = [0, 0.3, 0, 0.6, 0, 0]


def test_springs_go_on_by_the_same_bits_beside_what_sleeps():
    """Bodies change their places in the arrays as others fall asleep, with their springs."""
    worlds = hinged(True), hinged(False)
    seen = set()
    for _ in range(30):
        for world in worlds:
            world.step(50)
        asleep, awake = worlds
        seen.add(asleep.asleep)
        for name in ("rod", "second"):
            one, other = asleep.bodies[name], awake.bodies[name]
            assert (one.q == other.q).all() and (one.v == other.v).all()
        for name, spring in asleep.connections.items():
            assert (spring.wrench == awake.connections[name].wrench).all()
    assert ("low", "high", "ball") in seen
    kept = asleep.snapshot()
    asleep.bodies["high"].apply_wrench(force=(1.0, 0, 0))
    asleep.step(300)
    after = bits(asleep)
    asleep.restore(kept)
    copy = asleep.copy()
    for world in (asleep, copy):
        world.bodies["high"].apply_wrench(force=(1.0, 0, 0))
        world.step(300)
        assert bits(world) == after
    asleep.reset()
    swing(asleep)
    fresh = hinged(True)
    for world in (asleep, fresh):
        world.step(200)
    assert (asleep.bodies["second"].q == fresh.bodies["second"].q).all()


@pytest.mark.parametrize("shape", ("box", "mesh"))
def test_what_would_fly_through_it_in_a_step_wakes_it(shape):
    """A plate 1 cm thick stands asleep; a ball comes at 0.1 m a step, stops at it and pushes it."""
    plate = Box((0.01, 0.6, 0.6))
    if shape == "mesh":
        plate = Mesh(*box((0.01, 0.6, 0.6)))
    world = World()
    world.add_ground()
    body = world.add_body(plate, 1.0, position=(0, 0, 0.3), name="plate")
    ball = world.add_body(Sphere(0.02), 0.1, position=(-4.0, 0, 50.0), name="ball")
    world.step(800)
    assert world.asleep == ("plate",)
    v, q, scene = ball.first_v, ball.first_q, world.scene
    scene.velocity[v : v + 6] = 0, 0, 0, 100.0, 0, 0
    scene.q[q : q + 3] = -1.33, 0, 0.3
    scene.search["candidate_count"] = -1
    assert world.asleep == ("plate",)
    for _ in range(40):
        world.step()
        assert ball.position[0] < body.position[0]
    assert not body.asleep
    momentum = 0.1 * ball.velocity[0] + body.velocity[0]
    show("velocity of the plate, of the ball", float(body.velocity[0]), float(ball.velocity[0]))
    assert body.velocity[0] > 1.0
    assert momentum == pytest.approx(10.0, rel=0.3)


def test_concave_meshes_sleep_and_wake():
    """Brackets that lean on each other, on edges and corners, sleep in the forces they had."""
    world = World()
    world.add_ground()
    bracket = Mesh(*angle_bracket())
    for k in range(3):
        world.add_body(bracket, 1.0, position=(0, 0.25 * k, 0.55), name=f"b{k}")
    steps = until_asleep(world)
    weight = sum(c.force[2] for c in world.contacts if c.b[0] == "world")
    weight -= sum(c.force[2] for c in world.contacts if c.a[0] == "world")
    show("steps to sleep, force of the ground [N]", steps, float(weight))
    assert weight == pytest.approx(3 * GRAVITY, rel=1e-6)
    places = [body.q.copy() for body in world.bodies.values()]
    world.step(1000)
    assert all((b.q == q).all() for b, q in zip(world.bodies.values(), places, strict=True))
    world.bodies["b0"].apply_wrench(force=(0, 0, 20.0))
    world.step(50)
    assert not world.bodies["b0"].asleep
    assert world.bodies["b0"].position[2] > places[0][2] + 1e-3


@pytest.mark.parametrize(
    "change",
    (
        lambda w: w.disable_collisions("box", "world"),
        lambda w: w.add_solver_rule("penalty"),
        lambda w: w.set_penalty("default", "default", stiffness=1e4),
    ),
)
def test_new_rules_of_contact_wake(change):
    world = World()
    world.add_ground()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1))
    world.step(1000)
    assert box.asleep
    change(world)
    assert not box.asleep
    world.step(100)


def test_what_slept_on_collisions_that_are_disabled_falls():
    world = World()
    world.add_ground()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1))
    world.step(1000)
    world.disable_collisions("box", "world")
    world.step(100)
    assert box.velocity[2] == pytest.approx(-GRAVITY * 0.1, rel=1e-9)


def test_what_woke_meets_all_that_it_met_before():
    """Also the links of a robot that collides with itself, which are told apart by number."""
    world = World()
    world.add_ground()
    for k in range(3):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(1 + k, 0, 0.05))
    model = load_model(HRP2_LIKE)
    q = model.neutral()
    q[2] = 2.0
    world.add_robot(model, q=q, self_collision=True)
    for k in range(3):
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=(1 + k, 1, 0.05))
    groups = world.scene.collision.group.copy()
    world.step(520)
    assert len(world.asleep) == 6
    world.bodies["box_2"].apply_wrench()
    assert len(world.asleep) == 5
    now = world.scene.collision.group
    assert (now == groups).sum() == (groups >= 0).sum() - 5 + (groups < 0).sum()
    world.wake()
    assert (world.scene.collision.group == groups).all()


def test_copies_of_what_sleeps_sleep_and_wake_by_themselves():
    world = hinged(True)
    world.step(800)
    assert world.asleep
    with Batch(world, 3, threads=2) as batch:
        batch.worlds[1].bodies["high"].apply_wrench(force=(1.0, 0, 0))
        batch.step(200)
        world.step(200)
        assert bits(batch.worlds[0]) == bits(batch.worlds[2]) == bits(world)
        assert "high" not in batch.worlds[1].asleep
        assert world.asleep == batch.worlds[0].asleep == ("low", "high", "ball")


def test_lists_of_contacts_have_room_for_what_wakes():
    """A world of many sleepers that wake at once, in a step whose contacts are new."""
    world = World()
    world.add_ground()
    for k in range(60):
        place = (0.25 * (k % 10), 0.25 * (k // 10), 0.05)
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, position=place)
    world.step(700)
    assert len(world.asleep) == 60
    for name in list(world.bodies)[::2]:
        world.bodies[name].apply_wrench(force=(0, 0, 1.0))
    collision = world.scene.collision
    assert len(collision.contacts) == len(collision.previous)
    world.step(2)
    world.wake()
    world.step(700)
    assert len(world.asleep) == 60
