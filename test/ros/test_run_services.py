# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pause, resume, step and reset, and a clock that never runs backwards."""

import numpy as np
import pytest
from ros.conftest import LIMIT

CLOCK, STATE = "rosgraph_msgs/msg/Clock", "sensor_msgs/msg/JointState"


def nanoseconds(stamp):
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def test_step_blocks_until_done(simulations, listener):
    simulations.start(start_paused=True, step_count=37)
    states = listener.collect(STATE, "joint_states")
    for call in range(1, 4):
        response = listener.call("/hrpsim/step")
        assert response.success
        assert f"time {0.037 * call:.9g} s" in response.message
        expected = 37_000_000 * call
        assert listener.wait_for(
            lambda expected=expected: states and nanoseconds(states[-1].header.stamp) == expected
        )


def test_paused_time_stands_still_but_the_clock_can_be_heard(simulations, listener):
    simulations.start(start_paused=True, step_count=10)
    listener.call("/hrpsim/step")
    clock = listener.collect(CLOCK, "/clock")
    assert listener.wait_for(lambda: len(clock) >= 3)
    assert {nanoseconds(m.clock) for m in clock} == {10_000_000}


def test_running_node_refuses_to_step_until_paused(simulations, listener):
    simulations.start()
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
    assert listener.wait_for(lambda: len({nanoseconds(m.clock) for m in clock}) > 20)


def test_reset_restores_the_state_and_time_goes_on(simulations, listener):
    simulations.start(start_paused=True, step_count=400)
    clock, states = listener.collect(CLOCK, "/clock"), listener.collect(STATE, "joint_states")
    assert listener.wait_for(lambda: states)
    listener.call("/hrpsim/step")
    response = listener.call("/hrpsim/reset")
    assert response.success
    assert "time 0.405 s" in response.message
    listener.call("/hrpsim/step")
    assert listener.wait_for(lambda: nanoseconds(states[-1].header.stamp) == 805_000_000)

    # The second life is the first, bit for bit, 0.405 s later.
    at = {nanoseconds(m.header.stamp): (m.position, m.velocity, m.effort) for m in states}
    for time in range(5_000_000, 400_000_001, 5_000_000):
        assert at[time + 405_000_000] == at[time]
    assert all(np.diff([nanoseconds(m.clock) for m in clock]) >= 0)
    assert all(np.diff([nanoseconds(m.header.stamp) for m in states]) >= 0)


def test_reset_while_running(simulations, listener):
    simulations.start()
    clock = listener.collect(CLOCK, "/clock")
    transforms = listener.collect("tf2_msgs/msg/TFMessage", "tf")
    for _ in range(5):
        assert listener.call("/hrpsim/reset").success
        listener.spin(0.1)
    assert listener.wait_for(lambda: len(transforms) > 10)
    assert all(np.diff([nanoseconds(m.clock) for m in clock]) >= 0)
    tf_stamps = [nanoseconds(m.transforms[0].header.stamp) for m in transforms]
    assert all(np.diff(tf_stamps) > 0)


@pytest.mark.parametrize("duration", [0.25])
def test_node_ends_after_its_duration(simulations, duration):
    node = simulations.start(duration=duration, real_time_factor=0.0)
    assert node.wait(LIMIT) == 0
    assert any("simulated 0.250 s in 250 steps" in line for line in node.lines)
