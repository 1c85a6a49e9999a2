# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrp2_like stands at half-sitting: what its feet, hands, waist and centre of mass show.

Load: 58 kg, waist 0.6487 m, legs 0 0 -0.4538 0.8727 -0.4189 0, every driven joint under the PD
gains of the description, the soles on a plane of default friction; put to rest by World.settle,
then 10 s at 1 ms.
"""

from functools import cache

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, show

import hrpsim
from evidence.experiments.scenes.standing import half_sitting
from hrpsim import World
from robots import humanoid

FEET, HANDS = ("lfsensor", "rfsensor"), ("lhsensor", "rhsensor")
CASES = [(bush, integrator) for bush in (False, True) for integrator in INTEGRATORS]
every_case = pytest.mark.parametrize(
    "bush, integrator", CASES, ids=[f"{'bush' if b else 'rigid'}-{i}" for b, i in CASES]
)


def standing(bush: bool, integrator: str, x: float = 0.0, settle: bool = True):
    """A world with the robot at rest, and the robot."""
    world = World(1e-3, integrator=integrator)
    world.add_ground()
    q = half_sitting(humanoid(bush))
    q[0] = x
    robot = world.add_robot(humanoid(bush), q=q)
    if settle:
        world.settle()
    return world, robot


@cache
def ten_seconds(bush: bool, integrator: str, x: float = 0.0) -> dict:
    """Figures of 10 s of standing; forces every step."""
    world, robot = standing(bush, integrator, x)
    model = robot.model
    start = hrpsim.center_of_mass(model, robot.q)
    force, drift, deepest = np.empty((10_000, 2)), 0.0, 0.0
    for k in range(10_000):
        world.step()
        force[k] = [robot.sensors[name].force[2] for name in FEET]
        deepest = max(deepest, world.stats.max_penetration)
        if k % 100 == 99:
            now = hrpsim.center_of_mass(model, robot.q)
            drift = max(drift, np.abs(now - start).max())
    return {
        "sum": np.abs(force.sum(axis=1) / (model.mass * GRAVITY) - 1.0).max(),
        "chatter": np.ptp(force, axis=0).max(),
        "drift": drift,
        "penetration": deepest,
        "force": force[-1],
        "world": world,
        "robot": robot,
    }


@pytest.mark.quick_cases("*-semi_implicit")
@every_case
def test_the_feet_carry_the_weight_without_chatter(bush, integrator):
    """Sum m g within 1e-6, each foot's Fz within 1e-3 N, CoM within 0.1 mm, under 0.3 mm deep."""
    found = ten_seconds(bush, integrator)
    for name in ("sum", "chatter", "drift", "penetration"):
        show(f"standing, bush {bush}, {integrator}: {name}", found[name])
    assert found["sum"] < 1e-6
    assert found["chatter"] < 1e-3
    assert found["drift"] < 1e-4
    assert found["penetration"] < 3e-4
    left, right = found["force"]
    assert abs(left / right - 1.0) < 1e-4  # the robot is symmetric


@pytest.mark.quick_cases("*-semi_implicit")
@every_case
def test_it_comes_to_rest_by_itself(bush, integrator):
    """The same figures without settling, after 30 s for the sway to die."""
    world, robot = standing(bush, integrator, settle=False)
    world.step(30_000)
    force = np.empty((1000, 2))
    start = hrpsim.center_of_mass(robot.model, robot.q)
    for k in range(1000):
        world.step(5)
        force[k] = [robot.sensors[name].force[2] for name in FEET]
    error = np.abs(force.sum(axis=1) / (robot.model.mass * GRAVITY) - 1.0).max()
    drift = np.abs(hrpsim.center_of_mass(robot.model, robot.q) - start).max()
    chatter = np.ptp(force, axis=0).max()
    show(f"unsettled, bush {bush}, {integrator}: sum, chatter, drift", error, chatter, drift)
    assert error < 1e-6
    assert chatter < 1e-3
    assert drift < 1e-4


@pytest.mark.quick_cases("bush-semi_implicit")
@every_case
def test_the_feet_measure_the_zmp_beneath_the_centre_of_mass(bush, integrator):
    """At rest the floor reaction, which a tared foot sensor reads, acts beneath the CoM."""
    robot = ten_seconds(bush, integrator)["robot"]
    moment, total = np.zeros(3), np.zeros(3)
    for name, link in zip(FEET, ("l_sole", "r_sole"), strict=True):
        p, R = hrpsim.link_pose(robot.model, robot.q, link)
        wrench = robot.sensors[name].wrench
        moment += R @ wrench[3:] + np.cross(p, R @ wrench[:3])
        total += R @ wrench[:3]
    com = hrpsim.center_of_mass(robot.model, robot.q)
    zmp = np.array([-moment[1], moment[0]]) / total[2]
    show(f"zmp - com, bush {bush}, {integrator} [m]", *(zmp - com[:2]))
    assert np.abs(zmp - com[:2]).max() < 1e-7


@pytest.mark.quick_cases("rigid-semi_implicit")
@every_case
def test_the_hands_read_nothing_and_the_waist_reads_gravity(bush, integrator):
    robot = ten_seconds(bush, integrator)["robot"]
    for name in HANDS:
        assert np.abs(robot.sensors[name].wrench).max() < 1e-6
    imu = robot.sensors["imu"]
    R = hrpsim.link_pose(robot.model, robot.q, "BODY")[1]
    np.testing.assert_allclose(imu.linear_acceleration, R.T @ (0, 0, GRAVITY), atol=1e-5)
    np.testing.assert_allclose(imu.angular_velocity, 0.0, atol=1e-7)


@pytest.mark.parametrize("bush", [False, True])
def test_sensors_equal_the_contact_forces(bush):
    """The floor's force on a sole, sensed through the ankle with the sole's weight tared away."""
    found = ten_seconds(bush, "semi_implicit")
    for name, link in zip(FEET, ("LLEG_SOLE", "RLEG_SOLE"), strict=True):
        floor = np.zeros(3)
        for contact in found["world"].contacts:
            floor += contact.force * (contact.a[1] == link) - contact.force * (contact.b[1] == link)
        R = hrpsim.link_pose(found["robot"].model, found["robot"].q, link)[1]
        np.testing.assert_allclose(R @ found["robot"].sensors[name].force, floor, atol=1e-5)


@pytest.mark.quick_cases("True")
@pytest.mark.parametrize("bush", [False, True])
def test_a_thousand_kilometres_away_it_stands_alike(bush):
    """Positions of 1e6 m have 1e-10 m left: foot forces stay within 1e-6 of the weight."""
    found = ten_seconds(bush, "semi_implicit", 1e6)
    for name in ("sum", "chatter", "drift", "penetration"):
        show(f"standing at x = 1e6 m, bush {bush}: {name}", found[name])
    near = ten_seconds(bush, "semi_implicit")
    assert found["sum"] < 1e-6
    assert np.abs(found["force"] / near["force"] - 1.0).max() < 1e-6
    assert found["chatter"] < 1e-3
