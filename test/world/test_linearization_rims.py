# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The derivatives of a step follow contact points that move over round shapes."""

import numpy as np
import pytest
from grouped import one_compiles
from scipy.spatial.transform import Rotation
from world.differences import differences, error

from hrpsim import Box, Capsule, Cylinder, Sphere, World
from hrpsim.engine.collision.primitives.generatrix import MEANINGFUL_SINE

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

RADIUS, LENGTH, DEPTH = 0.05, 0.1, 1e-3


def standing(tilt, floor, friction=0.0):
    """Return the world of a cylinder on a compliant floor, tilted in no special direction."""
    world = World(sleeping=False, tolerance=1e-14, solver="direct")
    if floor == "plane":
        world.add_ground()
    else:
        world.add_static(Box((1, 1, 0.2)), position=(0, 0, -0.1))
    world.set_contact("default", "default", compliance=1e-4, damping_time=0.003)
    world.set_friction("default", "default", static=friction)
    turn = Rotation.from_rotvec(tilt * np.array([0.6, 0.8, 0.0])).as_quat()
    place = (0, 0, LENGTH / 2 - DEPTH)
    world.add_body(Cylinder(RADIUS, LENGTH), 2.0, position=place, orientation=turn)
    return world


@pytest.mark.parametrize("floor", ["plane", "box"])
@pytest.mark.parametrize("tilt", [2e-5, 1e-4, 1e-3, 1e-2])
def test_an_upright_cylinder(tilt, floor):
    """Law: A with the lowest point of the rim, which turns by d / tilt if the cylinder turns by d.

    Differences are of the size of the tilt, extrapolated.
    """
    world = standing(tilt, floor)
    found, size = world.linearize(()).A, np.full(12, min(1e-7, 2e-3 * tilt))
    coarse, fine = differences(world, size), differences(world, size / 2)
    assert error(found, (4.0 * fine - coarse) / 3.0) < 1e-6


def test_a_point_that_appears_is_named():
    """Law: at the tilt at which the rim gets a lowest point, contacts are on an edge."""
    for tilt in (MEANINGFUL_SINE - 1e-6, MEANINGFUL_SINE + 1e-6):
        edges = standing(tilt, "plane").linearize(()).on_edge
        assert ("found", "lost") in {(edge.side, edge.other) for edge in edges}


@pytest.mark.parametrize("tilt", [0.0, 9e-6, 1.3e-5, 1e-4])
def test_an_upright_cylinder_that_sticks(tilt):
    """Law: A is right, or contacts that depend on each other but for the tilt are named.

    An upright cylinder is tilted far enough that the last digits of its forces do not count.
    """
    world = standing(tilt, "plane", 0.8)
    world.step(1)
    found, size = world.linearize(()), np.full(12, 3e-7 if tilt == 0.0 else 2e-3 * tilt)
    coarse, fine = differences(world, size), differences(world, size / 2)
    assert error(found.A, (4.0 * fine - coarse) / 3.0) < 1e-6 or found.on_edge


@pytest.mark.parametrize("shape, height", [(Sphere(0.1), 0.1), (Capsule(0.1, 0.2), 0.2)])
@pytest.mark.parametrize("friction", [0.0, 5.0])
def test_a_round_body_that_begins_to_slide_on_a_plate_that_turns(shape, height, friction):
    """Law: A of the first step, in which the normal of a new contact counts as fixed."""
    world = World(sleeping=False, tolerance=1e-14, slop=1e-4)
    world.set_friction("default", "default", friction)
    plate = world.add_body(Box((2, 2, 0.1)), 5.0, position=(0, 0, -0.05))
    body = world.add_body(shape, 1.0, position=(0.1, 0.2, height - 5e-5))
    plate.angular_velocity = (0.3, -0.2, 0.1)
    body.velocity, body.angular_velocity = (1.0, -2.0, 0.079), (1.0, 2.0, -3.0)
    found, size = world.linearize(()), np.full(24, 2e-6)
    coarse, fine = differences(world, size), differences(world, size / 2)
    assert not found.on_edge
    assert error(found.A, (4.0 * fine - coarse) / 3.0) < 1e-7
