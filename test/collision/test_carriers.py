# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The list of candidate pairs leaves nothing out that touches, however bodies move."""

import numpy as np
import pytest

from hrpsim import Box, Sphere, World, load_model
from hrpsim.engine.collision.body_bounds import new_body_bounds
from hrpsim.engine.collision.records import SHAPE
from robots import HRP2_LIKE


def falling(integrator):
    """Return a world in which a robot topples over a box, with a ball that rolls by."""
    world = World(1e-3, integrator=integrator, sleeping=False)
    world.add_ground()
    model = load_model(HRP2_LIKE)
    q = model.neutral()
    q[2] += 0.02
    robot = world.add_robot(model, q)
    robot.v = np.r_[1.0, 0.3, 0.0, 0.2, 1.0, 0.5, np.zeros(robot.nv - 6)]
    world.add_body(Box((0.3, 0.3, 0.2)), 5.0, position=(0.5, 0.1, 0.1))
    world.add_body(Sphere(0.05), 1.0, position=(-0.5, 0.0, 0.05), velocity=(3.0, 0.1, 0.0))
    return world


@pytest.mark.quick_cases("semi_implicit")
@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4"])
def test_a_list_that_is_kept_finds_what_a_new_one_finds(integrator):
    """A list made anew for every step gives the same motion, bit for bit."""
    kept, renewed = falling(integrator), falling(integrator)
    calm = 0
    for _ in range(600):
        kept.step()
        calm += int(kept.scene.search["calm"][0])
        renewed.scene.search["candidate_count"] = -1
        renewed.step()
    np.testing.assert_array_equal(kept.scene.q, renewed.scene.q)
    np.testing.assert_array_equal(kept.scene.velocity, renewed.scene.velocity)
    assert calm > 0 or integrator == "rk4"


def test_carriers_hold_all_shapes_of_their_bodies():
    """Arm, extent and thickness are the largest, the largest and the least of the shapes'."""
    shapes = np.zeros(4, dtype=SHAPE)
    shapes["body"] = [2, -1, 2, 5]
    shapes["placement_p"] = [[3.0, 4.0, 0.0], [9.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]
    shapes["radius"], shapes["thickness"] = [1.0, 7.0, 6.0, 0.5], [2.0, 0.1, 0.3, 1.0]
    body_bounds = new_body_bounds(shapes)
    assert body_bounds["body"].tolist() == [2, 5]
    np.testing.assert_allclose(body_bounds["arm"], [5.0, 2.0])
    np.testing.assert_allclose(body_bounds["extent"], [7.0, 2.5])
    np.testing.assert_allclose(body_bounds["thickness"], [0.3, 1.0])
