# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Position targets of a stream of commands without lockstep move continuously."""

import itertools

import numpy as np
import pytest
from ros.stand_ins import ARM, Rig

import hrpsim
from hrpsim import StateError
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.joint_commands import IntervalInterpolation

STEP = 1e-3


@pytest.fixture
def times():
    """Return the times [steps] for commands to a joint at given steps."""
    world = hrpsim.World(time_step=STEP)
    robot = world.add_robot(hrpsim.load_model(ARM, base="fixed"))
    clock = SimulationClock(STEP)
    interpolation = IntervalInterpolation(robot, clock)

    def found(*steps):
        interpolation.forget()
        result = []
        for clock.steps in steps:
            result.append(interpolation.time_for(["j"]) / STEP)
            interpolation.note(["j"])
        return result

    found.interpolation = interpolation
    return found


def test_a_regular_stream_takes_its_period(times):
    """Law: the first command acts at once, the others over the period, whatever that is."""
    for period in (1, 5, 50):
        steps = range(0, 10 * period, period)
        assert times(*steps) == pytest.approx([0.0, *[period] * 9])


def test_single_commands_act_at_once(times):
    """Law: commands that are further apart than 50 ms are no stream."""
    assert times(0, 51, 1000) == [0.0, 0.0, 0.0]


def test_a_gap_counts_at_once_and_is_forgotten_slowly(times):
    """Law: not below the last interval, at most 50 ms; from one command to the next never shorter
    by more than a fiftieth; two commands at one step count as one."""
    steps = np.cumsum([0, *[5] * 10, 12, *[5] * 200, 300, 5, 0, 5])
    found = times(*steps)
    assert found[10] == pytest.approx(5.0) and found[11] == pytest.approx(12.0)
    assert found[211] == pytest.approx(5.0 + 7.0 * 0.98**200)
    assert found[212] == pytest.approx(50.0) and found[214] == pytest.approx(found[213])
    for before, after in itertools.pairwise(found[1:]):
        assert after >= 0.98 * before


def test_a_joint_that_does_not_exist_is_named(times):
    with pytest.raises(StateError, match="nose"):
        times.interpolation.time_for(["nose"])


def test_a_stream_moves_the_target_linearly_one_period_late():
    """Law: targets of a ramp, sent every 4 steps, move at its rate in every step, and each is
    reached in the last of the 4 steps after it was sent; after a reset the first command jumps."""
    rig = Rig(interpolates=True)
    course = []
    for step in range(40):
        if step % 4 == 0:
            rig.send(position=[0.01 * step])
        rig.commands.poll()
        course.append(rig.target)  # that acts in this step
        rig.simulation.advance(1)
    rates = np.diff(course)[4:]
    assert rates == pytest.approx(0.01, abs=1e-12)
    assert course[11] == pytest.approx(0.08)  # sent at step 8
    rig.simulation.reset()
    rig.send(position=[0.7])
    rig.simulation.advance(1)
    assert rig.target == 0.7
