# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a tolerance tilts a sole by moves no load from one of its diagonals to the other."""

import numpy as np
import pytest
from world.scenes import GRAVITY, show

from evidence.experiments.scenes.standing import half_sitting, humanoid
from hrpsim import Box, World

MASS, SIDE, HEIGHT = 10.0, 0.4, 0.2


def normal_forces(world):
    """Forces (n,) of the contacts along their normals [N]."""
    return np.array([contact.force @ contact.normal for contact in world.contacts])


@pytest.mark.parametrize("rise", [0.9e-10, 0.999e-10, 1.001e-10, 1.1e-10])
def test_forces_are_continuous_where_a_gap_begins_to_count(rise):
    """A box that leans towards a corner, the opposite one by so little above the floor."""
    half = 0.5 * rise / (SIDE / np.sqrt(2.0))
    lean = (half / np.sqrt(2.0), half / np.sqrt(2.0), 0.0, 1.0)
    world = World(sleeping=False)
    world.add_ground()
    world.add_body(Box((SIDE, SIDE, HEIGHT)), MASS, (0, 0, HEIGHT / 2), orientation=lean)
    for _ in range(3):
        world.step()
        np.testing.assert_allclose(normal_forces(world), MASS * GRAVITY / 4, rtol=0.02)


def test_the_corner_forces_of_a_swaying_humanoid_change_with_its_wrench():
    """Pushed aside it sways, and neither jumps of the forces nor Newton's method are needed."""
    world = World(sleeping=False)
    world.add_ground()
    model = humanoid(8)
    robot = world.add_robot(model, q=half_sitting(model))
    world.settle()
    robot.apply_wrench(model.base_link, force=(25.0, 15.0, 0.0))
    world.step(20)
    before, largest, sweeps = normal_forces(world), 0.0, 0
    for _ in range(600):
        world.step()
        forces = normal_forces(world)
        largest = max(largest, np.abs(forces - before).max())
        sweeps, before = max(sweeps, world.stats.iterations), forces
    show("largest change of a corner's force in a step [N], most sweeps", largest, sweeps)
    assert world.stats.since_reset.newton_steps == 0
    assert largest < 1.0 and sweeps < 40
