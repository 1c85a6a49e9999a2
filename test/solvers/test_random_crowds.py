# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method in random worlds: bodies of all masses, chains and loops, limits of force."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from world.scenes import show

from hrpsim import Box, Capsule, Sphere, World

STEPS, LARGEST = 40, 1e-5  # [m/s]


def random_crowd(seed: int, friction: float = 1.0, loops: bool = False) -> World:
    """Up to 50 bodies that fall upon each other, some of them chained, in loops if asked for."""
    rng = np.random.default_rng(seed)
    world = World(sleeping=False)
    world.set_friction("default", "default", static=float(rng.uniform(0.0, friction)))
    world.add_ground()
    bodies = []
    for k in range(int(rng.integers(2, 51))):
        a, b, c = rng.uniform(0.04, 0.12, 3)
        shape = (Box((a, b, c)), Sphere(a), Capsule(0.5 * a, b))[int(rng.integers(3))]
        place = (*rng.uniform(-0.15, 0.15, 2), 0.1 + 0.05 * k)
        mass = 10.0 ** rng.uniform(-3.0, 3.0)
        bodies.append(world.add_body(shape, mass, place, rng.normal(size=4)))
    for a, b in pairwise(bodies):
        if rng.random() < 0.3:
            _join(world, rng, a, b)
    if loops:
        for a, b in zip(bodies, bodies[2:]):
            if rng.random() < 0.15:
                _join(world, rng, a, b)
    return world


def _join(world, rng, a, b):
    """Join two bodies by a ball or a hinge in between; what a hinge bears may have a limit."""
    middle = 0.5 * (a.position + b.position)
    if rng.random() < 0.5:
        world.connect(a, b, "ball", point=middle)
        return
    limit = float(10.0 ** rng.uniform(0.0, 3.0)) if rng.random() < 0.5 else np.inf
    world.connect(a, b, "hinge", point=middle, axis=rng.normal(size=3), force_limit=limit)


def misses(world):
    """Return (residual [m/s], what was worst) of the steps that are off by more than LARGEST."""
    found = []
    for _ in range(STEPS):
        world.step(5)
        call = world.stats.last_call
        if call.worst_residual > LARGEST:
            found.append((call.worst_residual, call.worst))
    return found


@settings(max_examples=4)
@given(st.integers(0, 2**32 - 1))
def test_every_step_obeys_the_laws(seed):
    """Law: no row is off by more than 1e-5 m/s in any step where nothing contradicts the laws."""
    found = misses(random_crowd(seed))
    show("missed", len(found), found[:3])
    assert not found


@pytest.mark.long
def test_loops_and_large_friction_obey_the_laws_nearly_always():
    """In 24 worlds with joints that close loops, and friction to 1.5, few steps of few are off.

    Whether these steps have a solution is not known; what is off is named. Which worlds they are
    hangs on rounding: one or two of these, with one processor and another.
    """
    missed = {}
    for seed in range(24):
        found = misses(random_crowd(seed, 1.5, loops=True))
        assert all(name and residual < 0.1 for residual, name in found)
        if found:
            missed[seed] = (len(found), max(found))
    show("worlds with steps that are off", missed)
    assert len(missed) <= 4


@pytest.mark.quick_cases("3", "7")
@pytest.mark.parametrize("seed", [1, 3, 7, 24, 31, 33])
def test_a_heavy_slab_that_turns_on_light_plates_obeys_the_laws(seed):
    """Law: plates of 20 g that slip under 60 kg leave no row off by more than 1e-5 m/s.

    They share the load in many ways, and next to each lies a place where the laws are nearly obeyed
    but have no solution. Four steps of five meet the tolerance in any case.
    """
    world = slab_on_plates(seed)
    found = []
    for _ in range(150):
        world.step(1)
        found.append(world.stats.residual)
    show("missed", np.sum(np.array(found) > 1e-8), max(found))
    assert max(found) < LARGEST
    assert world.stats.since_reset.unconverged <= 30


def slab_on_plates(seed: int) -> World:
    """Four to seven plates on the ground, and a slab that falls upon them, slides and turns."""
    rng = np.random.default_rng(seed)
    world = World(sleeping=False)
    world.set_friction("default", "default", static=0.8)
    world.add_ground()
    for _ in range(int(rng.integers(4, 8))):
        x, y = rng.uniform((-0.12, -0.06), (0.12, 0.06))
        turn = Rotation.from_euler("z", rng.uniform(0.0, np.pi)).as_quat()
        world.add_body(Box((0.04, 0.03, 0.006)), 0.02, (x, y, 0.003), turn)
    slide = (*rng.uniform(-0.5, 0.5, 2), -0.3)
    spin = (0.0, 0.0, rng.uniform(-3.0, 3.0))
    slab = Box((0.24, 0.13, 0.1))
    world.add_body(slab, 60.0, (0.0, 0.0, 0.0565), velocity=slide, angular_velocity=spin)
    return world
