# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sequences played by joint PD: what joints then do, at any control period."""

from __future__ import annotations

import numpy as np
import pytest
from control.hrpsys_fixture import PERIOD, START, posture, write_set

from hrpsim import World, load_model, load_world, share_path
from hrpsim.control import Channel, ControlLoop, MotionSequence, Playback, SequenceError, State
from hrpsim.control.motion.motion_sequence import smooth_step
from hrpsim.world.fall import tilt

MASS, KP, KD, GRAVITY = 2.0, 4000.0, 200.0, 9.80665
LIFT = f"""<robot name="lift"><link name="base"/><link name="car"><inertial><mass value="{MASS}"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="base"/><child link="car"/><axis xyz="0 0 1"/>
<limit lower="-10" upper="10" effort="1e4" velocity="100"/></joint>
<hrpsim reference="lift"><gains kp="{KP}" kd="{KD}"/></hrpsim></robot>"""


def lift():
    return World(time_step=1e-3).add_robot(load_model(LIFT, base="fixed"))


def play(sequence, period, parameters=None):
    """Return times (n,), positions and efforts (n, joints) at the ticks of a lift."""
    robot = lift()
    seen = []
    with ControlLoop(robot, Playback(sequence, period), parameters) as loop:
        while not loop.controller.finished:
            state = loop.tick()
            seen.append((state.time, state.joint_positions, state.joint_efforts))
    times, positions, efforts = zip(*seen)
    return np.array(times), np.array(positions), np.array(efforts)


def state_at(time, positions):
    zero = np.zeros(len(positions))
    return State(time, np.array(positions), zero, zero, {}, {})


@pytest.mark.parametrize("period", [0.001, 0.002, 0.005])
def test_on_a_ramp_the_servo_lags_by_the_load_alone(period):
    # kp (ramp - q) + kd (rate - dq/dt) = m g, with dq/dt = rate: no lag from speed, at any period.
    rate = 0.3
    times = 0.005 * np.arange(401)
    sequence = MotionSequence(("lift",), Channel(times, rate * times[:, None]))
    t, q, _ = play(sequence, period)
    late = (t > 1.0) & (t < 1.9)
    lag = rate * t[late] - q[late, 0]
    np.testing.assert_allclose(lag, MASS * GRAVITY / KP, rtol=1e-9)


def test_with_the_torques_of_the_motion_the_servo_does_not_lag():
    # m d2q/dt2 = feed-forward - m g + servo: with feed-forward m g on a ramp, the servo rests.
    rate = 0.3
    times = 0.005 * np.arange(401)
    path, load = Channel(times, rate * times[:, None]), np.full((401, 1), MASS * GRAVITY)
    sequence = MotionSequence(("lift",), path, torque=Channel(times, load))
    t, q, effort = play(sequence, 0.005)
    late = (t > 1.0) & (t < 1.9)
    np.testing.assert_allclose(q[late, 0], rate * t[late], rtol=0, atol=1e-9)
    np.testing.assert_allclose(effort[late, 0], MASS * GRAVITY, rtol=1e-6)
    assert abs(q[1, 0]) < 1e-3  # the load comes in gently: at the start it sags, then rises
    plain = play(sequence, 0.005, {"feed_forward": False})[1]
    np.testing.assert_allclose(rate * t[late] - plain[late, 0], MASS * GRAVITY / KP, rtol=1e-9)


def test_periods_agree_within_what_straight_ramps_leave_out():
    times = 0.01 * np.arange(151)
    wave = Channel(times, 0.1 * np.sin(4.0 * times)[:, None] ** 3)
    sequence = MotionSequence(("lift",), wave)
    parameters = {"transition": 0.0}
    runs = {period: play(sequence, period, parameters) for period in (0.001, 0.002, 0.005)}
    fine = np.arange(0.0, 1.5, 1e-4)
    acceleration = np.abs(np.diff(wave.at(fine)[:, 0], 2)).max() / 1e-8
    t, q, _ = runs[0.001]
    for period in (0.002, 0.005):
        others, positions, _ = runs[period]
        same = np.isin(np.round(t, 6), np.round(others, 6))
        apart = np.abs(q[same] - positions[: same.sum()]).max()
        # A ramp over T departs from the curve by up to a T^2 / 8; the servo passes it on once.
        assert 0.0 < apart < acceleration * period**2 / 8.0
    assert np.abs(q[:, 0] - wave.at(t)[:, 0]).max() < MASS * (GRAVITY + acceleration) / KP


def test_joints_approach_the_first_sample_on_a_quintic():
    sequence = MotionSequence(("lift",), Channel([3.0, 4.0], [[0.4], [0.4]]))
    player = Playback(sequence, 0.1)
    player.configure(load_model(LIFT, base="fixed"), {"transition": 0.5})
    player.initialize(state_at(7.0, [0.1]))
    ends = [player.control(state_at(7.0 + 0.1 * k, [0.0])) for k in range(16)]
    expected = 0.1 + 0.3 * smooth_step(0.2 * np.arange(1, 17))
    np.testing.assert_allclose([end.positions[0] for end in ends], expected, atol=1e-15)
    means = np.diff([0.1, *expected]) / 0.1
    np.testing.assert_allclose([end.velocities[0] for end in ends], means, atol=1e-12)
    assert player.finished


@pytest.mark.parametrize(
    ("start", "given", "transition"),
    [(0.39, None, 0.0), (0.1, None, 1.0), (-0.6, None, 2.0), (0.1, 0.0, 0.0), (0.1, 0.3, 0.3)],
)
def test_time_of_the_approach(start, given, transition):
    # hrpsys: mean speed 0.5 rad/s, at least 1 s.
    sequence = MotionSequence(("lift",), Channel([3.0, 4.0], [[0.4], [0.4]]))
    player = Playback(sequence, 0.1)
    player.configure(load_model(LIFT, base="fixed"), {"transition": given})
    player.initialize(state_at(0.0, [start]))
    calls = 0
    while not player.finished:
        player.control(state_at(0.1 * calls, [start]))
        calls += 1
    assert calls - 1 == pytest.approx((1.0 + transition) / 0.1)


def test_it_begins_anew_after_a_reset():
    sequence = MotionSequence(("lift",), Channel([0.0, 0.1], [[0.0], [0.1]]))
    robot = lift()
    loop = ControlLoop(robot, Playback(sequence, 0.01))
    first = [loop.tick().joint_positions for _ in range(12)]
    assert loop.controller.finished
    robot.world.reset()
    again = [loop.tick().joint_positions for _ in range(12)]
    np.testing.assert_array_equal(first, again)


def test_joints_that_a_sequence_leaves_out_are_held(hrp2):
    sequence = MotionSequence(("LARM_JOINT3", "HEAD_JOINT0"), Channel([0.0], [[-0.3, 0.2]]))
    player = Playback(sequence)
    player.configure(hrp2.model, {"transition": 0.0})
    held = 0.01 * np.arange(30)
    player.initialize(state_at(0.0, held))
    command = player.control(state_at(0.0, held))
    expected = held.copy()
    expected[[26, 14]] = -0.3, 0.2
    np.testing.assert_array_equal(command.positions, expected)
    np.testing.assert_array_equal(np.delete(command.velocities, [26, 14]), np.zeros(28))


@pytest.mark.parametrize(
    ("sequence", "parameters", "message"),
    [
        (None, {}, "needs the parameter 'sequence'"),
        (None, {"sequence": "/nowhere/walk"}, "/nowhere/walk.pos does not exist"),
        ("lift", {"speed": 2.0}, "parameter 'speed' does not exist.* Available: sequence, joint"),
        ("lift", {"transition": -1.0}, "transition: must be >= 0 and finite, .*, got -1.0"),
        ("lift", {"transition": "soon"}, "transition: must be a number, got 'soon'"),
        (
            "list",
            {},
            "moves a joint that the robot does not have: joint 'list' does not exist. Did you "
            "mean 'lift'",
        ),
    ],
)
def test_what_is_refused(sequence, parameters, message):
    if sequence is not None:
        sequence = MotionSequence((sequence,), Channel([0.0], [[0.0]]))
    with pytest.raises(SequenceError, match=message):
        Playback(sequence).configure(load_model(LIFT, base="fixed"), parameters)


@pytest.fixture
def hrp2():
    return load_world(share_path("config/stand.yaml")).robots["hrp2"]


def test_a_set_from_outside_plays_on_rubber_feet(hrp2, tmp_path):
    base = write_set(tmp_path)
    loop = ControlLoop(hrp2, Playback(), {"sequence": str(base), "period": PERIOD})
    names = loop.joint_names
    kp, kd = np.array([hrp2.model.gains[name] for name in names]).T
    states, rates_before = [], [hrp2.joint_velocities]
    while not loop.controller.finished:
        states.append(loop.control())
        hrp2.world.step(loop.steps_per_period - 1)
        rates_before.append(hrp2.joint_velocities)
        hrp2.world.step()
    assert states[-1].time == pytest.approx(1.5)
    t = START + np.array([state.time for state in states])
    measured = np.array([state.joint_positions for state in states])
    rates = np.array([state.joint_velocities for state in states])
    efforts = np.array([state.joint_efforts for state in states])
    behind = posture(t) - measured
    assert np.abs(behind).max() < 0.02  # [rad]
    assert tilt(hrp2.q[3:7]) < 0.02
    # Joints are where their servos' law puts them, kp (reference - q) + kd (rate - dq/dt) = effort,
    # in the middle of a step, dq/dt being between its mean over the step and that at its end;
    # but for the six digits of the file, and for the rate, which is the mean of the last period.
    dt = hrp2.world.time_step
    places = [hrp2.joint_names.index(name) for name in names]
    gained = rates - np.array(rates_before[:-1])[:, places]
    behind = posture(t - 0.5 * dt) - (measured - 0.5 * dt * rates)
    h = 1e-4
    slower = (posture(t + h) - posture(t - h)) / (2.0 * h) - rates
    acceleration = np.abs(posture(t + h) - 2.0 * posture(t) + posture(t - h)).max(axis=0) / h**2
    unlike = np.abs(kp * behind + kd * slower - efforts) / kp
    bound = kd / kp * (acceleration * PERIOD / 2.0 + 2e-6 / PERIOD) + 1e-6
    bound = bound + (kd / kp / 2.0 + dt / 4.0) * np.abs(gained)
    assert (unlike <= bound).all()
