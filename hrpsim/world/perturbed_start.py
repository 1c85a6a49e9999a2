# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random initial states near the present state of a robot."""

from __future__ import annotations

import numpy as np

from hrpsim.common.errors import WorldError
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World


def perturbed(
    world: World, robot: Robot, chance: np.random.Generator, joints: float, base: float
) -> tuple[np.ndarray, np.ndarray]:
    """Draw a random state near the present state of a robot.

    The joints stay within the limits. The lowest point of the robot stays at its present height.
    The robot is moved to the returned configuration. Its velocity is not changed.

    Args:
        world: world of the robot.
        robot: robot in its present state.
        chance: generator of random numbers.
        joints: standard deviation of the joints' positions [rad or m].
        base: standard deviation of the velocity of a free base [m/s, rad/s].

    Returns:
        (configuration (nq,), velocity (nv,)).
    """
    q, v = robot.q.copy(), robot.v.copy()
    before = _lift(world, robot)
    at = robot.joint_index
    q[at.q] += chance.normal(0.0, joints, len(at.q))
    system = robot.system
    bounded = np.clip(q[at.q], system.lower[at.v], system.upper[at.v])
    q[at.q] = np.where(system.lower[at.v] <= system.upper[at.v], bounded, q[at.q])
    robot.q = q
    if robot.model.base == "free":
        v[:6] += chance.normal(0.0, base, 6)
        q[2] += _lift(world, robot) - before
        robot.q = q
    return q, v


def _lift(world: World, robot: Robot) -> float:
    """Return the rise that puts the robot on the floor [m], 0 in a world without a floor."""
    try:
        return world.lift_to_floor(robot)
    except WorldError:
        return 0.0
