# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Same input, same bits: across processes, snapshots, resets, and ways of counting steps."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from world.scenes import INTEGRATORS, show
from world.scripted import bits, digest, everything, pile, script

from hrpsim import Box, Sphere, World

integrators = pytest.mark.parametrize("integrator", INTEGRATORS)
HERE = Path(__file__).resolve()


def in_a_process() -> list[str]:
    path = os.pathsep.join([str(HERE.parents[1]), *sys.path])
    done = subprocess.run(
        [sys.executable, "-m", "world.scripted"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    return done.stdout.split()


def test_two_processes_give_the_same_bits():
    there = in_a_process()
    for integrator, printed in zip(("semi_implicit", "rk4"), there, strict=True):
        world = everything(integrator)
        script(world)
        assert digest(world) == printed


@pytest.mark.quick_cases("semi_implicit")
@integrators
def test_a_thousand_steps_at_once_are_a_thousand_single_ones(integrator):
    at_once, one_by_one = everything(integrator), everything(integrator)
    at_once.step(1000)
    for _ in range(1000):
        one_by_one.step()
    assert bits(at_once) == bits(one_by_one)


@pytest.mark.quick_cases("rk4")
@integrators
def test_a_snapshot_in_mid_contact_continues_bit_for_bit(integrator):
    """From 0.3 s, all in contact; the rest is run three times, once after going somewhere else."""
    world = everything(integrator)
    world.step(300)
    assert world.stats.contact_count > 10
    kept = world.snapshot()
    script(world)
    expected = bits(world)
    world.restore(kept)
    assert world.time == pytest.approx(0.3)
    script(world)
    assert bits(world) == expected
    world.step(700)
    world.restore(kept)
    script(world)
    assert bits(world) == expected


@integrators
def test_a_snapshot_restores_what_users_look_at(integrator):
    world = everything(integrator)
    world.step(300)
    expected, kept = bits(world), world.snapshot()
    world.step(50)
    world.restore(kept)
    assert bits(world) == expected


@pytest.mark.quick_cases("semi_implicit")
@integrators
def test_a_reset_world_is_a_fresh_world(integrator):
    used, fresh = everything(integrator), everything(integrator)
    script(used)
    used.reset()
    assert used.time == 0.0
    script(used)
    script(fresh)
    assert bits(used) == bits(fresh)


def test_a_snapshot_survives_growth_and_rebuilding():
    """Arrays that grew after the snapshot, or were made anew before it is restored."""
    world = World()
    world.add_ground()
    pile(world, 60, height=0.02, width=0.4)
    kept = world.snapshot()
    world.step(400)
    expected, late = digest(world), world.snapshot()
    world.restore(kept)
    world.step(400)
    assert digest(world) == expected
    world.set_friction("a", "b", static=0.1)  # makes the arrays anew, at their first size
    world.restore(late)
    assert digest(world) == expected
    world.restore(kept)
    world.step(400)
    assert digest(world) == expected


@integrators
def test_adding_an_entity_keeps_the_state_of_the_others(integrator):
    world = everything(integrator)
    world.step(300)
    entities = [*world.bodies.values(), *world.robots.values()]
    before = [(e.q.copy(), e.v.copy()) for e in entities]
    commands = [r._control().copy() for r in world.robots.values()]
    world.add_body(Sphere(0.1), 1.0, position=(0, 5.0, 3.0))
    world.add_static(Box((1, 1, 1)), position=(9, 9, 9))
    for entity, (q, v) in zip(entities, before, strict=True):
        assert (entity.q == q).all() and (entity.v == v).all()
    for robot, control in zip(world.robots.values(), commands, strict=True):
        assert (robot._control() == control).all()
    assert world.time == pytest.approx(0.3)


def test_adding_an_entity_does_not_shake_the_others():
    """A stack at rest stays: what its contacts carried is not forgotten."""
    world = World()
    world.add_ground()
    stack = [
        world.add_body(Box((0.2, 0.2, 0.2)), 1.0, position=(0, 0, 0.1 + 0.2 * k)) for k in range(4)
    ]
    world.step(2000)
    world.add_body(Sphere(0.1), 1.0, position=(5, 0, 0.1))
    worst = 0.0
    for _ in range(50):
        world.step()
        worst = max(worst, *(np.abs(b.velocity).max() for b in stack))
    show("speed in a stack after an entity is added [m/s]", worst)
    assert worst < 1e-6


def test_a_push_is_not_lost_when_an_entity_is_added():
    world = World(gravity=(0, 0, 0))
    body = world.add_body(Sphere(0.1), 1.0)
    world.step()
    body.apply_wrench(force=(1.0, 0, 0))
    world.add_body(Sphere(0.1), 1.0, position=(5, 0, 0))
    world.step(1000)
    assert body.velocity[0] == pytest.approx(1.0)


def test_a_snapshot_keeps_the_pushes_that_wait():
    """Pushed, then kept: what the next call of step does is part of the future."""
    world = World(gravity=(0, 0, 0))
    bodies = [world.add_body(Sphere(0.1), 1.0, position=(k, 0, 0)) for k in range(2)]
    world.step()
    bodies[0].apply_wrench(force=(1.0, 0, 0))
    kept = world.snapshot()
    world.step(10)
    bodies[1].apply_wrench(force=(0, 5.0, 0))
    world.step(10)
    world.restore(kept)
    world.step(10)
    np.testing.assert_allclose(bodies[0].velocity, (0.01, 0, 0), atol=1e-12)
    np.testing.assert_allclose(bodies[1].velocity, 0.0, atol=1e-12)
    world.restore(kept)
    bodies[1].apply_wrench(force=(0, 5.0, 0))
    world.step(10)
    np.testing.assert_allclose(bodies[0].velocity, (0.01, 0, 0), atol=1e-12)
    np.testing.assert_allclose(bodies[1].velocity, (0, 0.05, 0), atol=1e-12)


def test_sensors_and_contacts_can_be_read_after_an_entity_is_added():
    world = everything("semi_implicit")
    world.step(300)
    contacts = len(world.contacts)
    before = world.robots["hrp2_like"].sensors["lfsensor"].wrench
    world.add_body(Sphere(0.1), 1.0, position=(5, 5, 2))
    assert len(world.contacts) == contacts
    assert (world.robots["hrp2_like"].sensors["lfsensor"].wrench == before).all()
