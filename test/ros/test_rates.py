# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Rates follow the parameters, in simulated time, and simulated time follows the wall."""

import time

import numpy as np
from ros.messages import nanoseconds, stamps


def test_rates_follow_the_parameters(simulations, listener):
    simulations.start(start_paused=True, publish_rate=1000.0, tf_rate=100.0, step_count=100)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    transforms = listener.collect("tf2_msgs/msg/TFMessage", "tf")
    assert listener.call("/hrpsim/step").success
    end = 100_000_000
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) == end)
    assert listener.wait_for(lambda: len(transforms) >= 10)
    assert set(np.diff(stamps(states))) <= {0, 1_000_000}
    assert set(np.diff([nanoseconds(m.transforms[0]) for m in transforms])) == {10_000_000}

    assert listener.set_parameter("publish_rate", 500.0).successful
    states.clear()
    assert listener.call("/hrpsim/step").success
    assert listener.wait_for(lambda: states and nanoseconds(states[-1]) == 2 * end)
    assert set(np.diff(stamps(states))) <= {0, 2_000_000}


def test_nothing_makes_time_run_ahead(simulations, listener):
    """Law: at any moment at most the real-time factor of the time since the start is simulated.

    That it is not less either, test/control/test_pacing.py shows with a clock of its own.
    """
    simulations.start(start_paused=True, real_time_factor=0.5)
    clock = listener.collect("rosgraph_msgs/msg/Clock", "/clock")
    assert listener.wait_for(lambda: clock)
    start = time.monotonic()
    assert listener.call("/hrpsim/resume").success
    while (simulated := nanoseconds(clock[-1]) * 1e-9) < 0.3:
        assert simulated <= 0.5 * (time.monotonic() - start)
        assert listener.wait_for(lambda: nanoseconds(clock[-1]) * 1e-9 > simulated)


def test_time_step_and_integrator_override_the_world_file(simulations, listener):
    simulations.start(start_paused=True, time_step=0.0005, integrator="rk4", step_count=10)
    assert "time 0.005 s" in listener.call("/hrpsim/step").message
