# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact sensors: the wrench of the contacts alone, pressure, times in contact and in air."""

import numpy as np
import pytest
from world.sensing_robot import free_box

import hrpsim

PAD = """<sensor name="sole" type="contact" size="0.4 0.3" cell="0.01" {}>
<origin xyz="0 0 -0.1"/></sensor>"""
GRAVITY = 9.80665


def standing(settings=""):
    world = hrpsim.World()
    world.add_ground()
    robot = world.add_robot(free_box(PAD.format(settings)))
    q = robot.q.copy()
    q[2] = 0.1
    robot.q = q
    return world, robot


def test_a_box_at_rest():
    """Law: the contacts carry the weight; pressure times area is the force; the torque vanishes."""
    world, robot = standing()
    world.step(300)
    sole = robot.sensors["sole"]
    np.testing.assert_allclose(sole.wrench, [0, 0, 2.0 * GRAVITY, 0, 0, 0], atol=1e-5)
    assert sole.pressure.shape == (40, 30)
    assert sole.pressure.sum() * 0.01**2 == pytest.approx(2.0 * GRAVITY, abs=1e-6)
    corners = sole.pressure[[0, 0, -1, -1], [0, -1, 0, -1]]
    np.testing.assert_allclose(corners * 0.01**2, 0.5 * GRAVITY, rtol=1e-3)
    assert sole.in_contact and sole.air_time == 0.0


def test_a_push_moves_the_center_of_pressure():
    """Law: force F at height h above the sole turns the contact wrench by F h about y."""
    world, robot = standing()
    world.step(200)
    robot.apply_wrench("body", (3.0, 0.0, 0.0), point=(0.0, 0.0, 0.0))
    world.step()
    force, torque = np.split(robot.sensors["sole"].wrench, 2)
    np.testing.assert_allclose(force, [-3.0, 0.0, 2.0 * GRAVITY], atol=1e-4)
    np.testing.assert_allclose(torque, [0.0, -0.3, 0.0], atol=1e-4)


def test_times_in_air_and_in_contact():
    """Law: a fall from h lasts sqrt(2 h / g)."""
    world, robot = standing()
    q = robot.q.copy()
    q[2] = 0.1 + 0.3
    robot.q = q
    sole, fall = robot.sensors["sole"], (2.0 * 0.3 / GRAVITY) ** 0.5
    world.step(200)
    assert not sole.in_contact and sole.air_time == pytest.approx(0.2) and sole.contact_time == 0.0
    world.step(200)
    assert sole.in_contact and sole.last_air_time == pytest.approx(fall, abs=0.003)
    assert sole.contact_time == pytest.approx(0.4 - fall, abs=0.003)
    force = robot.contact_arrays("body").forces.sum(axis=0)
    np.testing.assert_allclose(sole.wrench[:3], force, atol=1e-8)


def test_snapshots_keep_the_times():
    world, robot = standing('rate="200"')
    world.step(100)
    start, sole = world.snapshot(), robot.sensors["sole"]
    world.step(50)
    first = sole.contact_time, sole.wrench.tobytes()
    world.restore(start)
    world.step(50)
    assert (sole.contact_time, sole.wrench.tobytes()) == first
    world.reset()
    assert sole.contact_time == 0.0
