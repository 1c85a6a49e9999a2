# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pause, resume, step and reset, and a clock that never runs backwards."""

import numpy as np
import pytest
from ros.conftest import LIMIT
from ros.messages import nanoseconds, time_told

CLOCK, STATE = "rosgraph_msgs/msg/Clock", "sensor_msgs/msg/JointState"


@pytest.fixture
def step(paused_simulation, listener):
    """Reset a paused simulation; return how to call ~/step with a count, and the time [ns]."""
    begin = round(time_told(listener.call("/hrpsim/reset").message) * 1e9)

    def step(count):
        assert listener.set_parameter("step_count", count).successful
        return listener.call("/hrpsim/step")

    return step, begin


def test_step_blocks_until_done(step, listener):
    step, begin = step
    states = listener.collect(STATE, "joint_states")
    for call in range(1, 4):
        response = step(37)
        assert response.success
        expected = begin + 37_000_000 * call
        assert f"time {1e-9 * expected:.9g} s" in response.message
        assert listener.wait_for(
            lambda expected=expected: states and nanoseconds(states[-1]) == expected
        )


def test_paused_time_stands_still_but_the_clock_can_be_heard(step, listener):
    step, begin = step
    step(10)
    clock = listener.collect(CLOCK, "/clock")
    assert listener.wait_for(lambda: len(clock) >= 3)
    assert {nanoseconds(m) for m in clock} == {begin + 10_000_000}


def test_reset_restores_the_state_and_time_goes_on(step, listener):
    step, begin = step
    clock, states = listener.collect(CLOCK, "/clock"), listener.collect(STATE, "joint_states")
    assert listener.wait_for(lambda: states)
    step(400)
    response = listener.call("/hrpsim/reset")
    assert response.success
    again = begin + 405_000_000
    assert f"time {1e-9 * again:.9g} s" in response.message
    step(400)
    assert listener.wait_for(lambda: nanoseconds(states[-1]) == again + 400_000_000)

    # The second life is the first, bit for bit, 0.405 s later.
    at = {nanoseconds(m): (m.position, m.velocity, m.effort) for m in states}
    for time in range(5_000_000, 400_000_001, 5_000_000):
        assert at[again + time] == at[begin + time]
    assert all(np.diff([nanoseconds(m) for m in clock]) >= 0)
    assert all(np.diff([nanoseconds(m) for m in states]) >= 0)


@pytest.fixture
def running(paused_simulation, listener):
    """A simulation that runs; it is paused afterwards."""
    assert listener.call("/hrpsim/resume").success
    yield
    listener.call("/hrpsim/pause")


def test_running_node_refuses_to_step_until_paused(running, listener):
    response = listener.call("/hrpsim/step")
    assert not response.success
    assert "~/pause" in response.message
    assert "already running" in listener.call("/hrpsim/resume").message

    assert listener.call("/hrpsim/pause").success
    paused_at = listener.call("/hrpsim/pause").message
    assert "already paused" in paused_at
    listener.spin(0.3)
    assert listener.call("/hrpsim/pause").message == paused_at
    assert listener.call("/hrpsim/step").success

    clock = listener.collect(CLOCK, "/clock")
    assert listener.call("/hrpsim/resume").success
    clock.clear()
    assert listener.wait_for(lambda: len({nanoseconds(m) for m in clock}) > 20)


def test_reset_while_running(running, listener):
    clock = listener.collect(CLOCK, "/clock")
    transforms = listener.collect("tf2_msgs/msg/TFMessage", "tf")
    for _ in range(5):
        assert listener.call("/hrpsim/reset").success
        listener.spin(0.1)
    assert listener.wait_for(lambda: len(transforms) > 10)
    assert all(np.diff([nanoseconds(m) for m in clock]) >= 0)
    tf_stamps = [nanoseconds(m.transforms[0]) for m in transforms]
    assert all(np.diff(tf_stamps) > 0)


def test_node_ends_after_its_duration(simulations):
    node = simulations.start(namespace="/brief", duration=0.25, real_time_factor=0.0)
    assert node.wait(LIMIT) == 0
    assert any("simulated 0.250 s in 250 steps" in line for line in node.lines)
