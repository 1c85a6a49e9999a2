# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Newton's method for a robot alone on the floor: where sweeps stall, and no longer than that."""

import numpy as np
import pytest

from evidence.experiments.scenes.standing import humanoid, our_standing

SWAY = {
    **{"LLEG_JOINT1": 0.026, "RLEG_JOINT1": 0.026, "LLEG_JOINT5": -0.026, "RLEG_JOINT5": -0.026},
    **{"LARM_JOINT0": 0.39, "RARM_JOINT0": -0.39, "CHEST_JOINT0": 0.13},
}  # [rad]
PERIOD = 10  # steps between two targets


@pytest.mark.parametrize("points", [8, 64])
def test_a_robot_at_rest_is_swept(points):
    """Law: a robot that stands needs no Newton's step, and two sweeps a step once it is still."""
    world, robot = our_standing(humanoid(points))
    world.step(1000)
    whole = world.stats.since_reset
    assert (whole.newton_steps, whole.unconverged) == (0, 0)
    assert world.stats.iterations <= 2
    assert world.stats.residual < 1e-9
    assert np.abs(robot.v).max() < 1e-6


def test_a_swaying_robot_on_64_points_converges():
    """Law: with so many redundant contacts, now slipping, now not, next to all steps converge."""
    model = humanoid(64)
    world, robot = our_standing(model)
    world.step(20)
    names = [name for name in model.joint_names if model.gains.get(name, (0.0,))[0] > 0]
    middle = robot.q[[model.joint(name).q_index for name in names]]
    swing = np.array([SWAY.get(name, 0.0) for name in names])
    for k in range(30):
        phase = 2e-3 * np.pi * PERIOD * k + 0.7
        robot.command(positions=middle + swing * np.sin(phase), names=names)
        world.step(PERIOD)
    steps = world.stats.since_reset
    assert steps.newton_steps > 20
    assert steps.unconverged <= 0.01 * steps.steps
    assert steps.worst_residual < 1e-6
