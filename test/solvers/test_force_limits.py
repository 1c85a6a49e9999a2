# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contacts that are pressed by more than their force limit: Newton's second law with that force."""

import numpy as np
import pytest
from world.scenes import GRAVITY

from hrpsim import Box, Sphere, World

SOLVERS = ("auto", "iterative", "newton", "direct", "split")
each_solver = pytest.mark.parametrize("solver", SOLVERS)
STEP, STEPS = 1e-3, 10
SIDE, LIMIT, PRESS = 0.2, 4.0, 20.0  # of each of four contacts, and of each box [N]


def soft_world(solver, limit, friction, **options):
    world = World(STEP, solver=solver, sleeping=False, **options)
    world.set_contact("default", "snow", force_limit=limit)
    world.set_friction("default", "snow", friction)
    return world


@each_solver
def test_a_ball_sinks_and_slides_by_its_force_limit(solver):
    """Law: m dv/dt = F - m g down, and -mu F along, until it rolls."""
    world = soft_world(solver, 2.0, 0.5)
    world.add_ground()
    ball = world.add_body(Sphere(0.1), 1.0, (0, 0, 0.1), velocity=(1, 0, 0), material="snow")
    world.step(100)
    assert ball.velocity[2] == pytest.approx(-(GRAVITY - 2.0) * 0.1, rel=1e-9)
    assert ball.velocity[0] == pytest.approx(1.0 - 0.5 * 2.0 * 0.1, rel=1e-9)


@each_solver
@pytest.mark.parametrize("pull", [2.0, 10.0])
def test_boxes_pressed_beyond_the_limit_hold_and_slip_by_it(solver, pull):
    """Law: pressed by P > 4 F two boxes pass into each other by (P - 4 F) / m each.

    Pulled apart along their faces they stick below 4 mu F, and slide by what is beyond. The moment
    of friction is balanced, so that all four contacts stay at their limit.
    """
    mu = 0.5
    world = soft_world(solver, LIMIT, mu, gravity=(0, 0, 0))
    held = min(pull, 4.0 * mu * LIMIT)
    low = world.add_body(Box((SIDE,) * 3), 1.0, (0, 0, -0.5 * SIDE), material="snow")
    high = world.add_body(Box((SIDE,) * 3), 1.0, (0, 0, 0.5 * SIDE))
    for _ in range(STEPS):
        for box, sign in ((low, -1.0), (high, 1.0)):
            force, torque = (sign * pull, 0.0, -sign * PRESS), (0.0, -0.5 * SIDE * held, 0.0)
            box.apply_wrench(force=force, torque=torque)
        world.step()
        assert world.stats.converged
    down = (PRESS - 4.0 * LIMIT) * STEPS * STEP
    along = (pull - held) * STEPS * STEP
    for box, sign in ((low, -1.0), (high, 1.0)):
        np.testing.assert_allclose(box.velocity, (sign * along, 0, -sign * down), atol=1e-4)
