# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The default step against Pinocchio's inverse dynamics at its middle: of second order."""

import numpy as np
import pytest
from dynamics.oracle import robot_pair

from hrpsim import World

pinocchio = pytest.importorskip("pinocchio")
BEGINNING = 2  # steps until the accelerations before are known from which a step foretells


def largest_residual(pair, time_step):
    """How far the efforts of some steps are from what the motion asks for [N or Nm]."""
    model, oracle = pair.model, pair.oracle
    rng = np.random.default_rng(1)
    q = model.neutral()
    q[3:7] = rng.normal(size=4)
    q[3:7] /= np.linalg.norm(q[3:7])
    lower, upper = oracle.lowerPositionLimit[7:], oracle.upperPositionLimit[7:]
    lower, upper = np.maximum(lower, -1.0), np.minimum(upper, 1.0)
    q[7:] = lower + (upper - lower) * rng.uniform(0.3, 0.7, len(lower))
    world = World(time_step)
    oracle.gravity.linear = np.array(world.gravity)
    robot = world.add_robot(model, q=q, v=rng.normal(size=model.nv))
    robot.command(efforts=0.05 * model.mass * rng.normal(size=model.nv - 6))
    world.step(BEGINNING)
    largest = 0.0
    for _ in range(4):
        q, v = robot.q, robot.v
        world.step()
        middle = pinocchio.interpolate(oracle, q, robot.q, 0.5)
        acceleration = (robot.v - v) / time_step
        asked = pinocchio.rnea(oracle, pair.data, middle, 0.5 * (v + robot.v), acceleration)
        asked[6:] -= robot.joint_efforts + robot.constraint_efforts()
        largest = max(largest, np.abs(asked).max())
    return largest


@pytest.mark.parametrize("name", ["hrp2_like", "anymal_b_simple_description/anymal"])
def test_efforts_are_those_of_the_motion(name):
    """A quarter of the time step leaves a sixteenth."""
    pair = robot_pair(name, "free")
    coarse, fine = largest_residual(pair, 1e-3), largest_residual(pair, 2.5e-4)
    assert coarse < 3e-3
    assert coarse / fine == pytest.approx(16.0, rel=0.2)
