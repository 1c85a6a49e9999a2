# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts as arrays: the force on the one who is asked, where it acts, and who the partner is."""

import pickle

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, weightless
from world.test_self_collision import folding

from evidence.experiments.scenes.standing import our_standing
from hrpsim import Box, ContactArrays, Sphere, World, WorldError
from robots import humanoid

FIELDS = ContactArrays.__slots__


def same(a: ContactArrays, b: ContactArrays) -> bool:
    return all(getattr(a, name).tobytes() == getattr(b, name).tobytes() for name in FIELDS)


def standing():
    world, robot = our_standing(humanoid(False))
    world.step(5)
    return world, robot


def stacked(lower_first: bool, **options):
    """A box of 1 kg on one of 2 kg, whose contacts list either first."""
    world = World(sleeping=False, **options)
    world.add_ground()
    places = {"lower": (0.3, 2.0, 0.05), "upper": (0.2, 1.0, 0.15)}
    for name in sorted(places, reverse=not lower_first):
        width, mass, z = places[name]
        world.add_body(Box((width, width, 0.1)), mass, position=(0, 0, z), name=name)
    world.step(300)
    return world


def test_the_ground_carries_the_robot():
    """Forces on the robot add up to its weight, normals point up, and the parts are its links'."""
    world, robot = standing()
    found = robot.contact_arrays()
    assert [getattr(found, name).shape for name in ("points", "normals", "forces")] == [(8, 3)] * 3
    weight = [0, 0, robot.model.mass * GRAVITY]
    assert found.forces.sum(axis=0) == pytest.approx(weight, abs=1e-4)
    np.testing.assert_allclose(found.normals, np.tile([0, 0, 1.0], (8, 1)), atol=1e-12)
    assert np.abs(found.points[:, 2]).max() < 1e-5 and np.abs(found.gaps).max() < 1e-5
    names = world.link_names
    assert {names[k] for k in found.partners} == {("world", "ground")}
    feet = {names[k][1] for k in found.links}
    assert feet == {"LLEG_SOLE", "RLEG_SOLE"} and {names[k][0] for k in found.links} == {robot.name}
    for foot in feet:
        mine = [k for k in range(8) if names[found.links[k]][1] == foot]
        alone = robot.contact_arrays(foot)
        assert (alone.forces == found.forces[mine]).all() and len(alone) == 4
        assert (alone.points == found.points[mine]).all()
    assert len(robot.contact_arrays("BODY")) == 0


@pytest.mark.parametrize("lower_first", [True, False])
def test_the_name_that_is_asked_decides_the_sign(lower_first):
    """Newton's third law, and 1 kg and 3 kg borne from below, whichever was added first."""
    world = stacked(lower_first)
    upper, lower = (world.bodies[name].contact_arrays() for name in ("upper", "lower"))
    assert upper.forces.sum(axis=0) == pytest.approx([0, 0, GRAVITY], abs=1e-6)
    assert (upper.normals[:, 2] > 0.99).all()
    place = {pair: k for k, pair in enumerate(world.link_names)}
    on_lower = lower.partners == place["upper", "upper"]
    from_below = lower.partners == place["world", "ground"]
    assert (lower.forces[on_lower] == -upper.forces).all()
    assert (lower.normals[on_lower] == -upper.normals).all()
    assert (lower.points[on_lower] == upper.points).all()
    carried = lower.forces[from_below].sum(axis=0)
    assert carried == pytest.approx([0, 0, 3 * GRAVITY], abs=1e-6)
    assert (upper.links == place["upper", "upper"]).all() and on_lower.sum() == 4


def test_objects_are_built_on_the_arrays():
    world = stacked(True)
    found, contacts = world.contact_arrays(), world.contacts
    assert len(found) == len(contacts) == world.stats.contact_count == 8
    for k, contact in enumerate(contacts):
        assert contact.a == world.link_names[found.links[k]]
        assert contact.b == world.link_names[found.partners[k]]
        for name, one in (("points", "point"), ("normals", "normal"), ("forces", "force")):
            assert (getattr(found, name)[k] == getattr(contact, one)).all()
        assert found.gaps[k] == contact.gap
    for body in world.bodies.values():
        side = np.array([(c.a[0] == body.name) - (c.b[0] == body.name) for c in contacts])
        theirs = side @ np.array([c.force for c in contacts])
        assert body.contact_arrays().forces.sum(axis=0) == pytest.approx(theirs, abs=1e-12)


def test_a_contact_of_two_own_links_stands_there_for_each():
    """Between chest and forearm of one robot: no net force on it, opposite ones on its links."""
    world, robot = folding(True, "free")
    robot.command(positions=(0.0, 0.0, 2.9))
    world.step(4000)
    both, fore, chest = (robot.contact_arrays(link) for link in (None, "fore", "chest"))
    pressing = np.linalg.norm(fore.forces.sum(axis=0))
    assert pressing > 1.0 and len(both) == 2 * len(fore) == 2 * len(chest)
    assert np.abs(both.forces.sum(axis=0)).max() <= 1e-12 * pressing
    assert (fore.forces == -chest.forces).all() and (fore.links == chest.partners).all()


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_points_are_where_the_forces_of_the_step_act(integrator):
    """A ball that rolls at 3 m/s touches the floor below where its centre was.

    In the middle of a semi-implicit step, at the start of others.
    """
    ahead = (1.5e-3, 0.0) if integrator == "semi_implicit" else (0.0, 0.0)
    world = World(integrator=integrator, sleeping=False)
    world.add_ground()
    ball = world.add_body(
        Sphere(0.1), 1.0, (0.2, 0.3, 0.1), velocity=(3, 0, 0), angular_velocity=(0, 30, 0)
    )
    for _ in range(20):
        before = ball.position
        world.step()
        (point,) = ball.contact_arrays().points
        assert point[:2] == pytest.approx(before[:2] + ahead, abs=1e-9)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_forces_change_the_momentum_by_their_impulse_about_their_points(integrator):
    """dL = sum (p - c) x f dt and dP = sum f dt while boxes collide in the air, impacts too."""
    world = weightless(1e-3, integrator, continuous=False)
    one = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (-0.15, 0, 0), velocity=(1.0, 0, 0))
    other = world.add_body(
        Box((0.2, 0.2, 0.2)), 2.0, (0.15, 0.05, 0.02), orientation=(0.1, 0.2, 0.3, 0.92)
    )
    hit = 0.0
    for _ in range(120):
        before = [(b.position, b.mass * b.velocity) for b in (one, other)]
        world.step()
        for body, (_, momentum) in zip((one, other), before, strict=True):
            impulse = body.contact_arrays().forces.sum(axis=0) * world.time_step
            assert body.mass * body.velocity - momentum == pytest.approx(impulse, abs=1e-12)
            hit = max(hit, np.linalg.norm(impulse))
    assert hit > 0.1


def test_what_sleeps_keeps_its_contacts():
    world = World()
    world.add_ground()
    box = world.add_body(Box((0.2, 0.2, 0.2)), 3.0, (0, 0, 0.1), name="box")
    far = world.add_body(Sphere(0.1), 1.0, (5, 0, 50.0), name="far")
    world.step(1500)
    assert box.asleep and not far.asleep
    for found, lift in ((box.contact_arrays(), 1.0), (box.contact_arrays("box"), 1.0)):
        assert lift * found.forces.sum(axis=0) == pytest.approx([0, 0, 3 * GRAVITY], abs=1e-3)
        assert [world.link_names[k] for k in found.partners] == [("world", "ground")] * 4
    assert len(far.contact_arrays()) == 0 and len(world.contact_arrays()) == 4
    assert len(world.contacts) == 4


def test_what_was_read_stays_as_it_was():
    """Arrays are copies; a copy, a restored and an unpickled world read their own contacts."""
    world, robot = standing()
    first = robot.contact_arrays()
    kept = [getattr(first, name).copy() for name in FIELDS]
    snapshot, twin = world.snapshot(), world.copy()
    again = pickle.loads(pickle.dumps(world))
    robot.apply_wrench("BODY", force=(30, 0, 0))
    world.step(20)
    assert all((getattr(first, name) == k).all() for name, k in zip(FIELDS, kept, strict=True))
    assert not same(first, robot.contact_arrays())
    assert same(first, twin.robots[robot.name].contact_arrays())
    assert same(first, again.robots[robot.name].contact_arrays())
    world.restore(snapshot)
    assert same(first, robot.contact_arrays())


def test_coming_and_going_renumber_the_links():
    world = stacked(True)
    lower = world.bodies["lower"]
    world.add_static(Box((0.1, 0.1, 0.1)), (3, 0, 0), name="block")
    world.add_body(Sphere(0.1), 1.0, (0, 3, 0.1), name="ball")
    world.step(2)
    assert {world.link_names[k] for k in lower.contact_arrays().partners} == {
        ("upper", "upper"),
        ("world", "ground"),
    }
    world.remove("upper")
    world.step(2)
    assert {world.link_names[k] for k in lower.contact_arrays().partners} == {("world", "ground")}
    assert world.link_names == (
        ("lower", "lower"),
        ("ball", "ball"),
        ("world", "ground"),
        ("world", "block"),
    )


def test_nothing_there_and_nobody_known():
    world = World()
    assert len(world.contact_arrays()) == 0 and world.contacts == [] and world.link_names == ()
    robot = world.add_robot(humanoid(False))
    assert robot.contact_arrays().forces.shape == (0, 3)
    with pytest.raises(WorldError, match=r"link 'l_sol' does not exist. Did you mean 'l_sole'"):
        robot.contact_arrays("l_sol")
    with pytest.raises(WorldError, match="does not exist"):
        robot.contact_arrays(["l_sole"])
    world.remove(robot)
    with pytest.raises(WorldError, match="removed"):
        robot.contact_arrays()


def test_a_reset_leaves_nothing_of_the_last_step():
    """A box that came down hard: its statistics are then those of a world without a step."""
    world = World(sleeping=False)
    world.add_ground()
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.099), velocity=(0, 0, -1.0))
    before = world.stats
    world.step(5)
    assert world.stats.max_penetration > 1e-4 and world.stats.row_count > 0
    world.reset()
    assert world.stats == before and len(world.contact_arrays()) == 0


def test_what_is_gone_is_not_inside_anything():
    world = World(sleeping=False)
    world.add_ground()
    deep = world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (0, 0, 0.09))
    world.add_body(Box((0.2, 0.2, 0.2)), 1.0, (1, 0, 0.0995))
    world.step()
    assert world.stats.max_penetration == pytest.approx(0.01, rel=0.1)
    world.remove(deep)
    assert world.stats.max_penetration == pytest.approx(5e-4, rel=0.1)
    assert world.stats.max_penetration == -world.contact_arrays().gaps.min()


@pytest.mark.parametrize("start", [0.1007, 0.1013, 0.1021, 0.1034])
def test_a_ball_that_bounces_is_never_inside_the_floor(start):
    """At 5 m/s and 1 ms, struck anywhere in a step: gaps are those at impacts."""
    world = weightless()
    world.set_friction("default", "default", 0.5, restitution=0.9)
    world.add_ground()
    ball = world.add_body(Sphere(0.1), 1.0, (0, 0, start), velocity=(0, 0, -5.0))
    for _ in range(6):
        world.step()
        assert world.stats.max_penetration == 0.0 and ball.position[2] >= 0.1
        assert (ball.contact_arrays().gaps >= 0.0).all()
    assert ball.velocity[2] == pytest.approx(4.5)
