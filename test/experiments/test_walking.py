# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""E5: what the paper says of bushes and the stabiliser; how the worlds of its walks are made."""

import math

import numpy as np
import pytest

from evidence.experiments.framework.experiment import Options
from evidence.experiments.scenes.standing import (
    Conditions,
    Push,
    described,
    pushing,
    standing_robot,
)
from evidence.experiments.studies.e05_walking import run
from hrpsim import mass_matrix
from hrpsim.control import Channel, MotionSequence, Playback, controlled_joints, simulate_walk
from hrpsim.control.walk_trial import step_ends


@pytest.mark.long
def test_nineteen_steps_stand_or_fall_as_in_the_paper():
    result = run(Options(quick=True))
    judged = {row.what: row for row in result.rows if row.target}
    # How fast the machine is today is no law.
    missed = [what for what, row in judged.items() if not row.met and "real-time" not in what]
    assert missed == []
    assert result.data["trials"]["b"].fell_at is not None


@pytest.fixture(scope="module")
def standing():
    robot = standing_robot(Conditions())
    return robot, robot.world.snapshot()


def hold(robot, duration):
    names = controlled_joints(robot.model)
    columns = [robot.model.joint(name).q_index for name in names]
    posture = robot.q[columns]
    contact = np.ones((4, 2))
    contact[1, 0] = contact[2, 0] = 0.0
    times = np.linspace(0.0, duration, 4)
    return Playback(
        MotionSequence(
            names,
            Channel([0.0, duration], [posture, posture]),
            optionaldata=Channel(times, contact),
        )
    )


def test_a_foot_that_comes_down_is_a_step(standing):
    robot, start = standing
    robot.world.restore(start)
    controller = hold(robot, 0.3)
    np.testing.assert_allclose(step_ends(controller.sequence), [0.3])
    trial = simulate_walk(robot, controller)
    assert trial.completed and trial.steps == trial.planned_steps == 1
    assert trial.times[-1] == pytest.approx(0.3, abs=0.006)
    assert trial.wrenches["lfsensor"].shape == (len(trial.times), 6)


def test_a_walk_that_falls_says_when(standing):
    robot, start = standing
    robot.world.restore(start)
    push = Push(120.0, 0.0, 0.1)
    trial = simulate_walk(robot, hold(robot, 5.0), each_tick=pushing(robot, push), after_fall=0.1)
    assert not trial.completed and trial.steps == 0
    assert 0.2 < trial.fell_at < 3.0
    assert trial.times[-1] == pytest.approx(trial.fell_at + 0.1, abs=0.006)
    assert trial.q[-1][0] > 0.1  # pushed from behind, it lies ahead


def test_an_impulse_is_the_momentum_that_it_brings(standing):
    robot, start = standing
    robot.world.restore(start)
    world = robot.world
    apply = pushing(robot, Push(5.0, math.pi / 2, 0.01))
    world.gravity = (0.0, 0.0, 0.0)
    robot.q = robot.q + np.eye(1, robot.nq, 2)[0]  # off the floor
    before = momentum(robot)
    for k in range(40):
        apply(0.005 * k)
        world.step(5)
    gain = momentum(robot) - before
    world.gravity = (0.0, 0.0, -9.80665)
    np.testing.assert_allclose(gain, [0.0, 5.0, 0.0], atol=0.02)


def momentum(robot):
    """Return the linear momentum in the world (3,) [kg m/s]."""
    x, y, z, w = robot.q[3:7]
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    return R @ (mass_matrix(robot.model, robot.q)[:3] @ robot.v)


def test_masses_scale_without_a_change_of_the_controllers_model():
    heavy = Conditions(mass_factor=1.1)
    assert standing_robot(heavy).model.mass == pytest.approx(1.1 * described(heavy).mass)


def test_a_motion_without_contact_states_has_no_steps():
    assert len(step_ends(MotionSequence(("a",), Channel([0.0], [[0.0]])))) == 0
