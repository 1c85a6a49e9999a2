# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Terms of feet and gaits are their formulas, and curricula change the task at their steps."""

import math
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from learning.walker import task

from hrpsim import StateError
from hrpsim.bridges.policy_terms import TERMS, PolicyReadings
from hrpsim.control.framework.controller import BaseReading, ImuReading
from hrpsim.learning import (
    CURRICULA,
    EVENTS,
    OBSERVATIONS,
    REWARDS,
    CurriculumTermCfg,
    ObservationTermCfg,
    RewardTermCfg,
    TaskBatch,
    UniformVelocityCommandCfg,
    VelocityRanges,
    policy_description,
)

RANGES = VelocityRanges((0.7, 0.7), (-0.2, -0.2), (0.4, 0.4))
FEET = {"link_names": ".*_foot"}
TWIST = {"command_name": "twist"}


@pytest.fixture(scope="module")
def state():
    """Three worlds at rest."""
    made = TaskBatch(task(commands={"twist": UniformVelocityCommandCfg(RANGES)}), 3, threads=1)
    made.reset()
    yield made.state
    made.close()


@pytest.fixture
def feet(state):
    """Random forces, heights and velocities of the links, and the columns of the feet."""
    random, shape = np.random.default_rng(3), (3, len(state.link_names), 3)
    state.contact_forces = np.where(random.random((*shape[:2], 1)) < 0.5, 0.0, 20.0) * np.ones(3)
    state.link_pos_w, state.link_lin_vel_w = (
        random.uniform(0, 0.2, shape),
        random.normal(size=shape),
    )
    yield state.links(".*_foot")
    state.refresh()


def test_links_of_a_translating_robot_have_its_velocity(state):
    """Law: without rotation each point has the velocity of the base, and its place in the URDF."""
    state.v[:] = 0.0
    state.v[:, :3] = [0.3, -0.4, 0.1]
    state.note_change(state.everywhere)
    state.write_changes()
    np.testing.assert_allclose(
        state.link_lin_vel_w, np.broadcast_to([0.3, -0.4, 0.1], state.link_lin_vel_w.shape)
    )
    foot, bend = state.links("FL_foot")[0], state.default_joint_pos[0]
    place = [0.15 - 0.2 * math.sin(bend), 0.1, -0.2 * math.cos(bend)]
    np.testing.assert_allclose(state.link_pos_w[:, foot] - state.root_pos_w, [place] * 3)


def test_robots_of_chosen_worlds_are_put_on_the_floor(state):
    """Law: one call lifts each robot as `Robot.place_on_floor` does, and leaves the others."""
    random = np.random.default_rng(5)
    state.q[:, 2] = [0.5, 0.1, 0.9]
    state.q[:, 3:7] = random.normal(size=(3, 4))
    state.q[:, 3:7] /= np.linalg.norm(state.q[:, 3:7], axis=1, keepdims=True)
    state.note_change(state.everywhere)
    state.write_changes()
    before = state.q.copy()
    EVENTS["place_on_floor"](state, np.array([0, 2]))
    state.write_changes()
    np.testing.assert_array_equal(state.q[1], before[1])
    for k in (0, 2):
        world = state.batch.worlds[k].copy()
        robot = world.robots[state.robot_name]
        robot.q = before[k]
        robot.place_on_floor()
        np.testing.assert_allclose(state.q[k], robot.q, atol=1e-12)
        assert abs(state.q[k, 2] - before[k, 2]) > 0.05


def test_sliding_is_the_speed_of_feet_that_stand(state, feet):
    """Law: the sum over feet with force of the horizontal speed."""
    stands = np.linalg.norm(state.contact_forces[:, feet], axis=2) > 1.0
    speeds = np.hypot(*np.moveaxis(state.link_lin_vel_w[:, feet, :2], 2, 0))
    assert stands.any() and not stands.all()
    np.testing.assert_allclose(REWARDS["feet_slide"](state, **FEET), (speeds * stands).sum(axis=1))


def test_clearance_is_the_error_of_height_weighted_by_speed(state, feet):
    """Law: sum(|z - h| |v|), and exp(-sum((z - h)^2 tanh(k |v|)) / std)."""
    speeds = np.hypot(*np.moveaxis(state.link_lin_vel_w[:, feet, :2], 2, 0))
    error = state.link_pos_w[:, feet, 2] - 0.08
    state.commands["twist"][:] = 0.5
    found = REWARDS["feet_clearance"](state, target_height=0.08, **FEET, **TWIST)
    np.testing.assert_allclose(found, (np.abs(error) * speeds).sum(axis=1))
    still = {"command_threshold": 1.0}
    assert not REWARDS["feet_clearance"](state, target_height=0.08, **FEET, **TWIST, **still).any()
    found = REWARDS["foot_clearance_reward"](
        state, target_height=0.08, std=0.05, tanh_mult=2.0, **FEET
    )
    expected = [
        math.exp(-sum(e * e * math.tanh(2.0 * v) for e, v in zip(*row)) / 0.05)
        for row in zip(error, speeds)
    ]
    np.testing.assert_allclose(found, expected)


@pytest.mark.parametrize("number", [0, 4])
def test_a_gait_counts_feet_that_stand_or_swing_in_their_phase(state, number):
    """Law: of two feet in antiphase, one stands in each half cycle; a hop is right for one."""
    gait = {"period": 10 * state.step_dt, "offset": (0.0, 0.5), "link_names": "F[LR]_foot"}
    state.episode_length[:] = [number, number + 5, number]
    left, right = state.links("F[LR]_foot")
    forces = np.zeros((3, len(state.link_names), 3))
    forces[:, left, 2] = forces[2, right, 2] = 9.0
    state.contact_forces, state.commands["twist"][:] = forces, 0.5
    np.testing.assert_array_equal(REWARDS["feet_gait"](state, **gait), [2.0, 0.0, 1.0])
    np.testing.assert_array_equal(REWARDS["feet_gait"](state, **gait, **TWIST), [2.0, 0.0, 1.0])
    state.commands["twist"][1:] = 0.05
    np.testing.assert_array_equal(REWARDS["feet_gait"](state, **gait, **TWIST), [2.0, 0.0, 0.0])
    state.refresh()


def test_the_gait_s_phase_is_the_clock_of_policy_descriptions(state):
    """Law: sine and cosine of 2 pi t / T, as the controller's clock of frequency 1 / T."""
    state.episode_length[:] = [0, 7, 93]
    found = OBSERVATIONS["gait_phase"](state, period=0.8)
    none, zero = np.zeros(0), np.zeros(3)
    level = np.array([0.0, 0.0, 0.0, 1.0])
    for row, number in zip(found, [0, 7, 93]):
        angle = 2.0 * np.pi * number * state.step_dt / 0.8
        imu, base = ImuReading(level, zero, zero), BaseReading(zero, level, zero, zero)
        phases = angle + np.array([0.0, np.pi])
        clock = TERMS["clock"](PolicyReadings(none, none, none, zero, phases, imu, base, none))
        np.testing.assert_allclose(row, clock, atol=1e-12)
    terms = {"clock": ObservationTermCfg("gait_phase", {"period": 0.8})}
    with closing(TaskBatch(task(observations=terms), 1, threads=1)) as tasks:
        described = policy_description(tasks, "policy.onnx")
    assert described["frequency"] == 1.25 and described["observations"] == [{"term": "clock"}]


def curriculum(**params):
    """Return a task whose command becomes faster after 3 periods, with further terms."""
    stages = ({"step": 0, "lin_vel_x": (0.1, 0.2)}, {"step": 3, "lin_vel_x": (0.8, 0.9)})
    terms = {"faster": CurriculumTermCfg("commands_vel", {**TWIST, "velocity_stages": stages})}
    return replace(
        task(commands={"twist": UniformVelocityCommandCfg(RANGES)}), curriculum={**terms, **params}
    )


def test_commands_have_the_ranges_of_the_stage_when_their_episode_begins():
    """Law: commands drawn before the step of a stage keep the earlier bounds."""
    with closing(TaskBatch(curriculum(), 5, seed=2, threads=1)) as tasks:
        tasks.reset()
        wanted = tasks.state.commands["twist"]
        first = wanted.copy()
        assert (wanted[:, 0] < 0.2).all() and (wanted[:, 1] == -0.2).all()
        for _ in range(3):
            tasks.step(np.zeros((5, 4)))
        np.testing.assert_array_equal(wanted, first)
        tasks.reset([1, 3])
        np.testing.assert_array_equal(wanted[:, 0] > 0.7, [False, True, False, True, False])
        tasks.seed(2)
        tasks.reset()
        np.testing.assert_array_equal(wanted, first)


def test_a_reward_s_weight_changes_after_its_step():
    """Law: the term is multiplied by the new weight, from the first reset after the step."""
    given = {"term_name": "alive", "weight": 7.0, "num_steps": 1}
    heavier = CurriculumTermCfg("modify_reward_weight", given)
    one = replace(curriculum(heavier=heavier), rewards={"alive": RewardTermCfg("is_alive", 2.0)})
    with closing(TaskBatch(one, 2, threads=1)) as tasks:
        tasks.reset()
        factors = []
        for _ in range(3):
            factors.append(tasks.step(np.zeros((2, 4)))[1] / one.step_dt)
            tasks.reset([0])
        np.testing.assert_allclose(factors, [[2, 2], [2, 2], [7, 7]])


def test_curricula_name_what_does_not_exist(state):
    with pytest.raises(StateError, match="'fast' does not exist"):
        CURRICULA["modify_reward_weight"](state, state.everywhere, "fast", 1.0, 3)
    with pytest.raises(StateError, match="'speed'"):
        stages = [{"step": 0, "speed": (0, 1)}]
        CURRICULA["commands_vel"](state, state.everywhere, "twist", stages)
