# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What one solver does not solve goes to another one, which does; the answer says so."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show
from world.scripted import pile

from evidence.experiments.scenes.standing import Conditions, described, half_sitting
from hrpsim import Box, World
from hrpsim.control import Walk, simulate_walk


def add_tower(world, y=0.0):
    """Ten boxes of 1, 10, ... 1e9 kg on each other, the heaviest on top."""
    return [
        world.add_body(Box((0.2, 0.2, 0.1)), 10.0**k, position=(0, y, 0.05 + 0.1 * k))
        for k in range(10)
    ]


def ground(solver, friction=0.6):
    world = World(1e-3, solver=solver, sleeping=False)
    world.set_friction("default", "default", friction)
    world.add_ground()
    return world


def furthest(bodies, start):
    return np.abs(np.array([body.position for body in bodies]) - start).max()


def positions(bodies):
    return np.array([body.position for body in bodies])


@pytest.mark.quick_cases("direct-0", "None-1")
@pytest.mark.parametrize(
    "solver, hands_over", [(None, 1), ("newton", 1), ("direct", 0), ("split", 1)]
)
def test_a_tower_of_ten_decades_of_mass_stands(solver, hands_over):
    """Law: what stands stays, whatever the masses: no body moves by 1 um in two seconds.

    The lowest box carries 1e9 times its own mass: an error of 1e-16 of that impulse moves it as
    fast as the tolerance allows, so that a step may miss it by as much.
    """
    world = ground(solver)
    boxes = add_tower(world)
    start = positions(boxes)
    world.step()
    assert world.stats.converged and world.stats.handed_over == hands_over
    world.step(2000)
    moved, steps = furthest(boxes, start), world.stats.since_reset
    show("moved [m], worst residual [m/s], missed", moved, steps.worst_residual, steps.unconverged)
    assert moved < 1e-6
    assert steps.worst_residual < 3e-8 and steps.unconverged < 0.01 * steps.steps


def test_islands_are_handed_over_each_by_itself():
    """Law: islands do not see each other, handed over or direct from the start."""
    motions = []
    for towers in ((), (3.0, 6.0)):
        world = ground(None)
        links = [world.add_body(Box((0.1,) * 3), 1.0, position=(x, 0, 1)) for x in (2.0, 2.3)]
        world.connect(None, links[0], "hinge", point=(2, 0, 1), axis=(0, 1, 0))
        world.connect(*links, "hinge", point=(2.15, 0, 1), axis=(0, 1, 0))
        boxes = [box for y in towers for box in add_tower(world, y)]
        start = positions(boxes)
        world.step(300)
        motions.append(positions(links))
        assert world.stats.handed_over == len(towers)
    assert furthest(boxes, start) < 1e-6
    assert max(abs(joint.error).max() for joint in world.connections.values()) < 1e-6
    np.testing.assert_array_equal(*motions)


@pytest.mark.parametrize("solver", [None, "newton", "direct", "split"])
def test_a_light_cube_under_a_heavy_one_holds_when_it_is_dragged(solver):
    """Law: half of what friction holds moves nothing, at 1e-3 kg under 1e3 kg."""
    world, size = ground(solver, friction=0.9), 0.2
    light = world.add_body(Box((size,) * 3), 1e-3, position=(0, 0, 0.5 * size))
    heavy = world.add_body(Box((size,) * 3), 1e3, position=(0, 0, 1.5 * size))
    world.step(50)
    start = positions([light, heavy])
    for _ in range(100):
        light.apply_wrench(force=(0.5 * 0.9 * 1e3 * GRAVITY, 0, 0))
        world.step()
        assert world.stats.converged
    assert furthest([light, heavy], start) < 1e-6


@pytest.mark.quick_cases("direct")
@pytest.mark.parametrize("solver", ["direct", "split"])
def test_every_step_of_a_walk_meets_the_tolerance(solver):
    """Law: whatever the rules say of its contacts, a walk of two seconds misses no step."""
    world, conditions = World(1e-3, solver=solver), Conditions()
    world.add_ground(material="floor")
    world.set_friction("sole", "floor", conditions.friction)
    model = described(conditions)
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    assert simulate_walk(robot, Walk(), duration=2.0).fell_at is None
    assert world.stats.since_reset.unconverged == 0
    assert 0 < world.stats.since_reset.newton_steps < 200


@pytest.mark.quick_cases("direct*")
@pytest.mark.parametrize("solver", ["direct", "split"])
def test_every_step_of_a_pile_meets_the_tolerance(solver):
    """Law: so does a pile of 24 bodies that fall, and a step says whether it was handed over."""
    world = World(1e-3, solver=solver, sleeping=False)
    world.set_friction("pile", "pile", static=0.5, kinetic=0.3)
    world.set_friction("pile", "default", static=0.6, kinetic=0.4)
    world.add_ground()
    pile(world, 24)
    handed_over = 0
    for _ in range(1000):
        world.step()
        stats = world.stats
        assert stats.converged and stats.residual < 1e-8
        assert stats.handed_over == stats.newton_islands
        handed_over += stats.handed_over
    assert 0 < handed_over < 300


def test_sweeps_that_were_chosen_hand_nothing_over():
    """Law: `iterative` bounds the cost of a step; one that misses the tolerance says so."""
    world = ground("iterative")
    add_tower(world)
    for _ in range(5):
        world.step()
        stats = world.stats
        assert (stats.handed_over, stats.newton_islands, stats.factorisations) == (0, 0, 0)
        assert not stats.converged and stats.worst.startswith("contact of ")
