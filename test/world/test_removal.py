# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Taking robots and bodies out of a world: the rest goes on as if nothing had happened."""

import warnings

import numpy as np
import pytest
from world.joined import TREE
from world.scenes import GRAVITY, INTEGRATORS, one_joint
from world.scripted import bits, everything, script

from hrpsim import Box, ModelWarning, Sphere, World, WorldError, load_model

integrators = pytest.mark.parametrize("integrator", INTEGRATORS)


def add_guest(world):
    """Add a robot that touches nothing."""
    q = [80.0, 0, 90, 0, 0, 0, 1, 0.1, 0.2, 0.3]
    return world.add_robot(load_model(TREE), q=q, name="guest")


@pytest.mark.quick_cases("*-semi_implicit")
@integrators
@pytest.mark.parametrize("place", ["first", "last"])
def test_the_rest_continues_bit_for_bit(integrator, place):
    """A guest comes and goes without touching anybody; behind the first all others move up."""
    alone = everything(integrator, 6)
    visited = World(integrator=integrator)
    if place == "first":
        guest = add_guest(visited)
        everything(integrator, 6, visited)
    else:
        everything(integrator, 6, visited)
        guest = add_guest(visited)
    alone.step(250)
    visited.step(250)
    start = guest.q
    visited.remove(guest)
    assert start[2] < 90.0
    assert bits(visited) == bits(alone)
    script(alone)
    script(visited)
    assert bits(visited) == bits(alone)
    assert alone.stats.contact_count > 10
    assert "guest" not in visited.entities


def test_what_presses_elsewhere_is_remembered():
    """The warm start of the contacts that stay is theirs: at rest the next step needs no more."""
    world = World()
    world.add_ground()
    boxes = [
        world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (k, 0, 0.1), name=f"box{k}") for k in range(3)
    ]
    world.step(300)

    def forces():
        return {(c.b, c.point.tobytes()): c.force.tobytes() for c in world.contacts}

    before = {at: force for at, force in forces().items() if at[0] != ("box1", "box1")}
    world.remove("box1")
    assert len(before) == 8
    assert forces() == before
    world.step()
    assert world.stats.iterations <= 2
    assert world.stats.contact_count == 8
    assert np.abs(boxes[2].velocity).max() < 1e-9


def test_what_leaned_on_it_falls():
    world = World()
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.1), name="below")
    above = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.3), name="above")
    world.step(200)
    start = above.position[2]
    world.remove("below")
    world.step(100)
    assert start - above.position[2] == pytest.approx(GRAVITY * 0.1**2 / 2, rel=1e-3)
    world.step(400)
    assert above.position[2] == pytest.approx(0.1, abs=1e-3)


def test_its_connections_go_and_those_of_others_stay():
    world = World(gravity=(0, 0, 0))
    chain = [
        world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (0.1 * k, 0, 1), name=f"b{k}") for k in range(4)
    ]
    first = world.connect(chain[0], chain[1], "fixed")
    second = world.connect(chain[2], chain[3], "hinge", axis=(0, 0, 1), name="second")
    motor = world.connect(chain[3], None, "ball", name="held")
    world.step(10)
    world.remove(chain[1])
    assert list(world.connections) == ["second", "held"]
    with pytest.raises(WorldError, match="removed"):
        first.enabled = False
    chain[2].apply_wrench(torque=(0.0, 0.0, 0.1))
    world.step(50)
    assert np.abs(second.error).max() < 1e-9
    assert np.abs(motor.error).max() < 1e-9
    world.remove("b3")
    assert not world.connections
    world.step()


def test_pushes_sensors_and_commands_follow_their_owners():
    def scene():
        world = World(gravity=(0, 0, 0))
        guest = world.add_robot(one_joint(), name="guest")
        ball = world.add_body(Sphere(0.1), 2.0, (5, 0, 0), name="ball")
        arm = world.add_robot(one_joint(), name="arm")
        arm.set_gains(10.0, 1.0)
        arm.lock("j", 0.0)
        arm.command(positions=[0.3])
        world.step(3)
        guest.apply_wrench("arm", torque=(0, 5, 0))
        ball.apply_wrench(force=(4.0, 0, 0))
        return world, guest, ball, arm

    world, guest, ball, arm = scene()
    world.remove(guest)
    assert arm.locked == ("j",)
    arm.unlock()
    world.step(5)
    other, _, other_ball, other_arm = scene()
    other_arm.unlock()
    other.step(5)
    assert ball.velocity[0] == pytest.approx(4.0 / 2.0 * 5e-3, rel=1e-12)
    assert ball.q.tobytes() == other_ball.q.tobytes()
    assert arm.q.tobytes() == other_arm.q.tobytes()
    assert arm.q[0] > 0.0


def test_handles_of_what_is_gone_say_so():
    world = World()
    world.add_ground()
    ball = world.add_body(Sphere(0.1), 1.0, (0, 0, 1), name="ball")
    robot = world.add_robot(load_model(TREE), q=[3, 0, 5, 0, 0, 0, 1, 0, 0, 0], name="tree")
    world.remove(robot)
    world.remove("ball")
    for use in (
        lambda: ball.position,
        lambda: ball.apply_wrench(force=(1, 0, 0)),
        lambda: setattr(ball, "q", ball.initial_q),
        lambda: robot.joint_positions,
        lambda: robot.command(efforts=[0, 0, 0]),
        lambda: world.connect(ball, None),
    ):
        with pytest.raises(WorldError, match="removed from its world"):
            use()
    with pytest.raises(WorldError, match="'ball' is not in this world"):
        world.remove(ball)
    with pytest.raises(WorldError, match=r"'bal' does not exist. Available: none"):
        world.remove("bal")
    world.step(5)  # nothing but the ground
    again = world.add_body(Sphere(0.1), 1.0, (0, 0, 1), name="ball")
    assert again.name == "ball"
    world.step(5)
    assert again.position[2] < 1.0


def test_earlier_snapshots_refuse_later_ones_work():
    world = World()
    world.add_ground()
    world.add_body(Sphere(0.1), 1.0, (0, 0, 1), name="one")
    world.add_body(Sphere(0.1), 1.0, (1, 0, 1), name="two")
    early = world.snapshot()
    world.remove("one")
    with pytest.raises(WorldError, match="other robots, bodies"):
        world.restore(early)
    world.add_body(Sphere(0.1), 1.0, (0, 0, 1), name="one")
    with pytest.raises(WorldError, match="other robots, bodies"):
        world.restore(early)
    late = world.snapshot()
    world.step(10)
    expected = bits(world)
    world.restore(late)
    world.step(10)
    assert bits(world) == expected
    world.reset()
    assert world.bodies["two"].position[2] == 1.0


def test_what_was_just_added_can_be_removed_and_time_goes_on():
    world = World()
    world.add_ground()
    stays = world.add_body(Sphere(0.1), 1.0, (0, 0, 1), velocity=(1, 0, 0))
    world.step(7)
    world.remove(world.add_robot(one_joint(at="0.1 0 0")))
    assert world.time == pytest.approx(0.007)
    world.step(3)
    assert stays.position[0] == pytest.approx(0.01, rel=1e-12)


def test_a_reset_after_a_removal_joins_the_bodies_that_are_left():
    """Connections keep their bodies, whose numbers change when an earlier one leaves."""
    world = World(gravity=(0.0, 0.0, 0.0))
    box = Box((0.1, 0.1, 0.1))
    world.add_body(box, 1.0, position=(5.0, 0.0, 0.0), name="first")
    a, b, c = (world.add_body(box, 1.0, position=(0.2 * k, 0.0, 0.0)) for k in range(3))
    world.connect(a, b, "ball", point=(0.1, 0.0, 0.0))
    world.connect(b, c, "hinge", point=(0.3, 0.0, 0.0), axis=(0, 1, 0))
    world.step(2)
    world.remove("first")
    sides = ["body_a", "body_b"]
    joined = world.connection_records[sides].copy()
    world.reset()
    assert (world.connection_records[sides] == joined).all()
    world.step(10)
    np.testing.assert_allclose(b.position - a.position, (0.2, 0.0, 0.0), atol=1e-9)


def test_what_lay_on_a_fixed_shape_falls_and_the_rest_stays():
    """Shapes of one name leave together. A free name can be given again, without a warning."""
    world = World()
    world.add_ground()
    for k, name in enumerate(("slab", "bench", "slab")):
        world.add_static(Box((1.0, 1.0, 0.2)), (2.0 * k, 0.0, 0.9), name=name)
    boxes = [world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (2.0 * k, 0.0, 1.1)) for k in range(3)]
    world.step(800)
    assert len(world.asleep) == 3
    still = boxes[1].q
    world.remove_static("slab")
    assert [shape.name for shape in world.fixed_shapes] == ["ground", "bench"]
    assert world.stats.contact_count == 4
    world.step(100)
    np.testing.assert_allclose(boxes[1].q, still, atol=1e-9)
    fall = GRAVITY * 0.1**2 / 2
    assert [1.1 - boxes[k].position[2] for k in (0, 2)] == pytest.approx([fall, fall], rel=1e-3)
    with pytest.raises(WorldError, match=r"'slab' does not exist. Available: ground, bench"):
        world.remove_static("slab")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        world.add_static(Box((1.0, 1.0, 0.2)), (0.0, 0.0, 0.3), name="slab")
        world.step(500)
    assert boxes[0].position[2] == pytest.approx(0.5, abs=1e-3)
    with pytest.warns(ModelWarning, match="as 'bench'"):
        world.add_static(Box((1.0, 1.0, 0.2)), (2.0, 0.0, 0.9), name="twice")
    world.remove_static("bench")
    with pytest.warns(ModelWarning, match="as 'twice'"):
        world.add_static(Box((1.0, 1.0, 0.2)), (2.0, 0.0, 0.9))
