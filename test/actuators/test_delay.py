# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Delays and rates of commands, and the integral of the error."""

import math

import numpy as np
import pytest
from actuators.arms import LINK, ROTOR, arm, motion

INERTIA = LINK + ROTOR


@pytest.mark.parametrize("delay", [0.001, 0.002, 0.0025, 0.0003, 0.0172])
def test_a_step_of_effort_arrives_after_the_delay(delay):
    """Law: v = u (t - t0 - delay) / I, for whole and fractional steps."""
    world, robot = arm({"delay": delay})
    world.step(3)
    robot.command(efforts=[3.0])
    world.step(50)
    assert robot.v[0] == pytest.approx(3.0 / INERTIA * (0.05 - delay), rel=1e-12)


def test_a_delay_turns_the_phase():
    """Law: the response to sin(w t), held over each step, lags by w (delay + dt / 2)."""
    delay, w, dt = 0.0137, 2.0 * math.pi, 1e-3
    world, robot = arm({"delay": delay})
    efforts = []
    for n in range(2000):
        robot.command(efforts=[math.sin(w * n * dt)])
        world.step()
        efforts.append(robot.tau[0])
    times = (np.arange(1000, 2000) + 0.5) * dt
    late = np.array(efforts[1000:])
    sine, cosine = np.mean(late * np.sin(w * times)), np.mean(late * np.cos(w * times))
    assert math.atan2(-cosine, sine) == pytest.approx(w * (delay + dt / 2), rel=1e-3)


def test_gains_act_with_the_delay_of_their_targets_only():
    """Law: with a delay d the response to a target is the response without, d later."""
    worlds = [arm({"delay": delay}, kp=100, kd=5) for delay in (0.0, 0.01, 0.03)]
    for _, robot in worlds:
        robot.command(positions=[0.5])
    plain, early, late = (motion(*of, count) for of, count in zip(worlds, (200, 210, 230)))
    assert np.abs(late[:30]).max() == 0.0
    assert np.array_equal(late[20:], early)
    assert early[10:] == pytest.approx(plain, rel=1e-11, abs=1e-13)  # of which no step is delayed


def test_a_drive_samples_commands_at_its_rate():
    """Law: a command between two samples counts from the next one on."""
    world, robot = arm({"command_period": 0.005})
    world.step(3)
    robot.command(efforts=[3.0])
    world.step(50)
    assert robot.v[0] == pytest.approx(3.0 / INERTIA * (0.053 - 0.005), rel=1e-12)


def test_a_reset_forgets_late_commands():
    """Law: after a reset the initial command has always been."""
    world, robot = arm({"delay": 0.02}, kp=100, kd=5)
    start = motion(world, robot, 50)
    robot.command(positions=[1.0])
    world.step(10)
    world.reset()
    assert np.array_equal(motion(world, robot, 50), start)


@pytest.mark.parametrize("limit, error", [(math.inf, 0.0), (3.0, 1.0 / 50.0), (1.0, 3.0 / 50.0)])
def test_an_integral_carries_a_load_as_far_as_its_limit(limit, error):
    """Law: at rest kp e + integral = load, and the integral is at its limit or e is 0."""
    bound = {} if limit == math.inf else {"integral_limit": limit}
    world, robot = arm({"integral_gain": 200.0, **bound}, kp=50, kd=5)
    robot.command(positions=[0.2], efforts=[-4.0])
    world.step(6000)
    assert 0.2 - robot.q[0] == pytest.approx(error, abs=1e-9)


@pytest.mark.parametrize("period", [0.0, 0.004])
def test_a_target_moves_at_the_slew_rate(period):
    """Law: v = rate on the way, behind the ramp by kd / kp rate, and the target is reached."""
    world, robot = arm({"slew_rate": 0.5, "command_period": period}, kp=400, kd=20)
    robot.command(positions=[0.7])
    world.step(1000)
    assert robot.v[0] == pytest.approx(0.5, rel=5e-3)
    assert robot.q[0] == pytest.approx(0.5 - 20 / 400 * 0.5, abs=2e-3)
    world.step(2000)
    assert robot.q[0] == pytest.approx(0.7, abs=1e-9)


@pytest.mark.parametrize("period", [0.0, 0.005])
def test_a_filter_approaches_a_step_of_effort_exponentially(period):
    """Law: v = u (t - T (1 - exp(-t / T))) / I at each step, held commands filtered exactly."""
    T, t = 0.03, 0.05
    world, robot = arm({"time_constant": T, "command_period": period})
    robot.command(efforts=[3.0])
    world.step(50)
    expected = t - T * -math.expm1(-t / T)
    assert robot.v[0] == pytest.approx(3.0 / INERTIA * expected, rel=1e-12)


def test_a_filtered_servo_follows_a_ramp_by_its_time_constant_later():
    """Law: at a constant rate the target behind the filter lags by T."""
    worlds = [arm({"time_constant": T}, kp=400, kd=20) for T in (0.0, 0.02)]
    ends = []
    for world, robot in worlds:
        for n in range(1000):
            robot.command(positions=[0.5e-3 * n], velocities=[0.5])
            world.step()
        ends.append(robot.q[0])
    assert ends[0] - ends[1] == pytest.approx(0.5 * 0.02, rel=1e-6)


def test_commanded_velocities_are_integrated_within_bounds_and_reset():
    """Law: the joint reaches the integral of the velocity, stops at its bound, and begins where
    the joint was put."""
    bounds = {"velocity_integral_lower": -0.5, "velocity_integral_upper": 0.2}
    world, robot = arm({"velocity_integral_gain": 400.0, **bounds}, kp=400, damping=20)
    for q in (0.0, -0.3):
        robot.q = [q]
        robot.v = [0.0]
        robot.command(velocities=[0.1])
        world.step(1000)
        robot.command(velocities=[0.0])
        world.step(2000)
        assert robot.q[0] == pytest.approx(q + 0.1, abs=1e-6)
    robot.command(velocities=[1.0])
    world.step(3000)
    assert robot.q[0] == pytest.approx(0.2, abs=1e-6)
    robot.command(efforts=[0.0])
    world.step(10)
    robot.q = [-0.1]
    robot.command(velocities=[0.0])
    world.step(2000)
    assert robot.q[0] == pytest.approx(-0.1, abs=1e-6)
