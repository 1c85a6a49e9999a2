# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts that wait, as they part, take part once the solution brings their bodies together."""

import numpy as np
import pytest

from hrpsim import Box, Sphere, World
from hrpsim.engine.compile.compiled import kernel
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.step.scene.islands import find_worst

TIME_STEP = 1e-3
RADIUS = 0.05


@kernel
def largest_error(s):
    return find_worst(s.counts[0], s.constrained, s.rows, s.islands.ranges)[0]


def pushed_row(gap: float) -> World:
    """Return a heavy ball that is pushed against the first of three others, `gap` apart [m]."""
    world = World(TIME_STEP, gravity=(0.0, 0.0, 0.0), solver="newton", sleeping=False)
    heavy = world.add_body(Sphere(RADIUS), 1e3, (0.0, 0.0, 0.0))
    for k in range(3):
        world.add_body(Sphere(RADIUS), 1.0, ((k + 1) * 2 * RADIUS + k * gap, 0.0, 0.0))
    heavy.apply_wrench(force=(1e6, 0.0, 0.0))  # 1 m/s in a step
    return world


@pytest.mark.parametrize("gap", [0.2e-3, 0.5e-3, 0.9e-3])
def test_a_push_that_is_passed_on_reaches_contacts_that_waited(gap):
    """Law: bodies do not pass into each other, however slowly they part before the solution."""
    world = pushed_row(gap)
    world.step()
    assert world.stats.converged
    places = np.array([body.position[0] for body in world.bodies.values()])
    assert np.diff(places).min() >= 2 * RADIUS - 1e-9


def test_every_contact_of_a_falling_heap_obeys_its_laws():
    """Law: the error of a step is that of all contacts, of those that waited as well."""
    world = World(TIME_STEP, solver="newton", sleeping=False, correction_rate=0.0)
    random = np.random.default_rng(5)
    world.set_friction("default", "default", static=0.5)
    world.add_ground()
    for k in range(12):
        turned = random.normal(size=4)
        place = (*random.uniform(-0.05, 0.05, 2), 0.1 + 0.15 * k)
        world.add_body(Box((0.1,) * 3), 1.0, place, turned / np.linalg.norm(turned))
    largest = 0
    for _ in range(400):
        world.step()
        assert world.stats.converged
        assert largest_error(TupleReference(world.scene)) <= 1e-8
        contacts = world.stats.contact_count
        largest = max(largest, contacts - int(world.scene.newton.capacity["constraints"][0]))
    assert largest > 5  # some waited
