# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terms are what their definitions say, for known states and motions."""

import math

import numpy as np
import pytest
from learning.walker import LEGS, MASS, task

from hrpsim import StateError
from hrpsim.bridges.policy_terms import TERMS, PolicyReadings
from hrpsim.control.framework.controller import BaseReading, ImuReading
from hrpsim.learning import (
    OBSERVATIONS,
    REWARDS,
    TERMINATIONS,
    TaskBatch,
    UniformVelocityCommandCfg,
    VelocityRanges,
)

COMMAND = (0.7, -0.2, 0.4)
RANGES = VelocityRanges(*[(c, c) for c in COMMAND])
GRAVITY = 9.80665


@pytest.fixture(scope="module")
def tasks():
    """Two worlds: the second is tilted by pitch and moves."""
    made = TaskBatch(task(commands={"twist": UniformVelocityCommandCfg(RANGES)}), 2, threads=1)
    made.reset()
    yield made
    made.close()


@pytest.fixture
def moved(tasks):
    """The state with a pitched, turned and moving second robot."""
    tasks.reset()
    state = tasks.state
    pitch, yaw = 0.3, 1.1
    a, b = 0.5 * pitch, 0.5 * yaw
    state.q[1, 3:7] = [
        -math.sin(a) * math.sin(b),
        math.sin(a) * math.cos(b),
        math.cos(a) * math.sin(b),
        math.cos(a) * math.cos(b),
    ]
    state.v[1, :6] = [0.5, 0.1, -0.2, 0.3, -0.4, 0.6]
    state.v[1, 6:] = [1.0, -2.0, 3.0, -4.0]
    state.q[1, 7:] += [0.1, -0.1, 0.2, 0.0]
    state.note_change(np.array([1]))
    state.write_changes()
    return state


def test_terms_of_the_base(moved):
    """Law: a pitch turns gravity towards the front of the base, whatever the yaw."""
    gravity = OBSERVATIONS["projected_gravity"](moved)
    np.testing.assert_allclose(gravity[0], [0, 0, -1], atol=1e-12)
    np.testing.assert_allclose(gravity[1], [math.sin(0.3), 0, -math.cos(0.3)], atol=1e-12)
    np.testing.assert_allclose(moved.heading_w, [0.0, 1.1], atol=1e-12)
    np.testing.assert_allclose(OBSERVATIONS["base_lin_vel"](moved)[1], [0.5, 0.1, -0.2])
    np.testing.assert_allclose(OBSERVATIONS["base_ang_vel"](moved)[1], [0.3, -0.4, 0.6])
    robot = moved.batch.worlds[1].robots[moved.robot_name]
    velocity, rate = robot.world.link_velocities()
    np.testing.assert_allclose(OBSERVATIONS["root_lin_vel_w"](moved)[1], velocity[0], atol=1e-12)
    np.testing.assert_allclose(OBSERVATIONS["root_ang_vel_w"](moved)[1], rate[0], atol=1e-12)
    w, x, y, z = OBSERVATIONS["root_quat_w"](moved, make_quat_unique=True)[1]
    np.testing.assert_allclose([x, y, z, w], robot.q[3:7], atol=1e-12)


def test_terms_are_those_of_policy_descriptions(moved):
    """Law: a task's term and the term of a policy file with its meaning are the same numbers."""
    robot = moved.batch.worlds[1].robots[moved.robot_name]
    base = BaseReading(robot.q[:3], robot.q[3:7], robot.v[:3], robot.v[3:6])
    readings = PolicyReadings(
        joint_positions=robot.joint_positions - moved.default_joint_pos,
        joint_velocities=robot.joint_velocities,
        action=moved.action[1],
        command=np.array(COMMAND),
        phases=np.zeros(2),
        imu=ImuReading(robot.q[3:7], robot.v[3:6], np.zeros(3)),
        base=base,
        encoding=np.zeros(0),
    )
    for ours, theirs, params in (
        ("projected_gravity", "gravity", {}),
        ("base_ang_vel", "angular_velocity", {}),
        ("base_lin_vel", "linear_velocity", {}),
        ("joint_pos_rel", "joint_positions", {}),
        ("joint_vel_rel", "joint_velocities", {}),
        ("last_action", "last_action", {}),
        ("generated_commands", "command", {"command_name": "twist"}),
    ):
        found = OBSERVATIONS[ours](moved, **params)[1]
        np.testing.assert_allclose(found, TERMS[theirs](readings), atol=1e-14, err_msg=ours)


def test_rewards_are_their_formulas(moved):
    vx, vy, wz = COMMAND
    v, w, std = np.array([0.5, 0.1, -0.2]), np.array([0.3, -0.4, 0.6]), 0.5
    error = (vx - v[0]) ** 2 + (vy - v[1]) ** 2
    given = {"std": std, "command_name": "twist"}
    expected = {
        "track_lin_vel_xy_exp": (given, math.exp(-error / 0.25)),
        "track_lin_vel_exp": (given, math.exp(-(error + v[2] ** 2) / 0.25)),
        "track_ang_vel_z_exp": (given, math.exp(-((wz - w[2]) ** 2) / 0.25)),
        "track_ang_vel_exp": (given, math.exp(-((wz - w[2]) ** 2 + 0.25) / 0.25)),
        "lin_vel_z_l2": ({}, 0.04),
        "ang_vel_xy_l2": ({}, 0.25),
        "ang_vel_l2": ({}, 0.61),
        "flat_orientation_l2": ({}, math.sin(0.3) ** 2),
        "upright": ({}, math.cos(0.3)),
        "base_height_l2": ({"target_height": 0.0}, moved.q[1, 2] ** 2),
        "joint_vel_l1": ({}, 10.0),
        "joint_vel_l2": ({}, 30.0),
        "joint_deviation_l1": ({}, 0.4),
        "joint_pos_limits": ({}, 0.0),
        "joint_vel_limits": ({"soft_ratio": 0.25}, 1.0 + 0.5),
        "posture": ({"std": {".*": 0.1}}, math.exp(-(1 + 1 + 4 + 0) / 4)),
        "is_alive": ({}, 1.0),
        "is_terminated": ({}, 0.0),
        "stand_still_joint_deviation_l1": ({"command_name": "twist"}, 0.0),
    }
    for name, (params, value) in expected.items():
        found = REWARDS[name](moved, **params)
        assert found.shape == (2,), name
        assert found[1] == pytest.approx(value, abs=1e-12), name


def test_velocities_of_the_heading_s_frame_do_not_depend_on_the_tilt(moved):
    """Law: the reward is 1 if the world's velocity, turned back by the yaw, is the command."""
    term, given = REWARDS["track_lin_vel_xy_yaw_frame_exp"], {"std": 0.5, "command_name": "twist"}
    c, s = math.cos(1.1), math.sin(1.1)
    wanted = np.array([c * COMMAND[0] - s * COMMAND[1], s * COMMAND[0] + c * COMMAND[1], 0.3])
    moved.v[1, :3] = moved.rotation[1].T @ wanted
    moved.v[1, 3:6] = moved.rotation[1].T @ [0.2, 0.1, COMMAND[2]]
    moved.note_change(np.array([1]))
    assert term(moved, **given)[1] == pytest.approx(1.0)
    assert REWARDS["track_ang_vel_z_world_exp"](moved, **given)[1] == pytest.approx(1.0)


def test_forces_efforts_and_contacts_of_standing(tasks):
    """Law: the feet carry the weight, and a tilted robot ends the episode."""
    tasks.reset()
    for _ in range(40):
        tasks.step(np.zeros((2, 4)))
    state = tasks.state
    weight = (MASS + 4 * 0.2) * GRAVITY
    np.testing.assert_allclose(state.contact_forces[:, :, 2].sum(axis=1), weight, rtol=1e-3)
    feet = {"link_names": ".*_foot"}
    np.testing.assert_array_equal(OBSERVATIONS["foot_contact"](state, **feet), np.ones((2, 4)))
    beyond = REWARDS["contact_forces"](state, threshold=weight / 8, **feet)
    np.testing.assert_allclose(beyond, weight / 2, rtol=5e-3)
    assert not REWARDS["undesired_contacts"](state, threshold=1.0, link_names="body").any()
    assert not TERMINATIONS["illegal_contact"](state, threshold=1.0, link_names="body").any()
    assert not REWARDS["desired_contacts"](state, **feet).any()
    robot = state.batch.worlds[0].robots[state.robot_name]
    np.testing.assert_array_equal(state.joint_effort[0], robot.joint_efforts)
    torques = REWARDS["joint_torques_l2"](state)
    np.testing.assert_allclose(torques[0], (robot.joint_efforts**2).sum(), rtol=1e-12)


def test_air_time_is_the_time_between_contacts(tasks):
    """Law: a robot in free fall from 5 cm is in the air for sqrt(2 h / g), in whole periods."""
    tasks.reset()
    state, params = tasks.state, {"link_names": ".*_foot", "command_name": "twist"}
    height = 0.05
    state.q[0, 2] += height
    state.note_change(np.array([0]))
    state.write_changes()
    term = REWARDS["feet_air_time"](state, threshold=0.0, **params)
    seen = []
    for _ in range(15):
        tasks.step(np.zeros((2, 4)))
        seen.append(term(state))
    seen = np.array(seen)
    assert np.count_nonzero(seen[:, 0]) == 1 and not seen[:, 1].any()
    time = seen[:, 0].max() / len(LEGS)
    assert abs(time - math.sqrt(2 * height / GRAVITY)) <= state.step_dt


def test_commands_stay_within_their_bounds_and_lead_to_headings():
    """Law: a command by heading turns at the stiffness times the error, within its bounds."""
    ranges = VelocityRanges((0.1, 0.5), (-0.2, 0.2), (-1.0, 1.0), heading=(0.4, 0.4))
    cfg = UniformVelocityCommandCfg(
        ranges, (0.1, 0.1), heading_command=True, heading_control_stiffness=0.5
    )
    made = TaskBatch(task(commands={"twist": cfg}), 8, threads=1)
    made.reset()
    wanted = made.state.commands["twist"]
    np.testing.assert_allclose(wanted[:, 2], 0.5 * (0.4 - made.state.heading_w))
    first = wanted.copy()
    for _ in range(4):
        made.step(np.zeros((8, 4)))
        np.testing.assert_array_equal(wanted[:, :2], first[:, :2])
    made.step(np.zeros((8, 4)))
    assert (wanted[:, 0] != first[:, 0]).all()
    assert (wanted[:, 0] >= 0.1).all() and (wanted[:, 0] < 0.5).all()
    made.close()


def test_a_command_by_heading_needs_bounds():
    with pytest.raises(StateError, match=r"needs ranges\.heading"):
        UniformVelocityCommandCfg(heading_command=True)
