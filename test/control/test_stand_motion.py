# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standing demo as a function of time, and in the world, with rubber bushes and without."""

from typing import NamedTuple

import numpy as np
import pytest
from grouped import one_worker_each

import hrpsim
from hrpsim.control import UnreachableError
from hrpsim.control.motion.stand_controller import HALF_SITTING_LEG, StandMotion
from robots import HRP2_LIKE

LEG_JOINTS = {f"{s}LEG_JOINT{i}": a for s in "LR" for i, a in enumerate(HALF_SITTING_LEG)}
IN_AIR = 5.0  # what a foot in the air reads at most: its sole shaken by the commands [N]
SOLE_HALF_WIDTH, SOLE_FRONT, SOLE_BACK = 0.07, 0.14, 0.10  # about the ankle [m]

pytestmark = pytest.mark.quick_cases("rigid*")


@pytest.fixture(scope="module", params=one_worker_each(["true", "false"]), ids=["bush", "rigid"])
def model(request):
    return hrpsim.load_model(str(HRP2_LIKE), xacro_arguments={"bush": request.param})


@pytest.fixture(scope="module")
def motion(model):
    return StandMotion(model)


class Run(NamedTuple):
    period: float  # of the rows [s]
    phases: list
    wrenches: np.ndarray  # of the left and the right foot (rows, 2, 6)
    tilts: np.ndarray  # of the waist from the vertical [rad]
    soles: np.ndarray  # positions before and after (2, 2, 3) [m]
    turns: np.ndarray  # of the soles between the two [rad]


def play(model, motion, *, start=LEG_JOINTS, waist_height=0.6487, period=0.005, **options):
    world = hrpsim.World(**options)
    world.add_ground()
    q = model.neutral()
    q[2] = waist_height
    for name, angle in start.items():
        q[model.joint(name).q_index] = angle
    robot = world.add_robot(model, q=q)
    world.step(500)
    before = [robot.link_pose(sole) for sole in ("l_sole", "r_sole")]
    feet = [robot.sensors["lfsensor"], robot.sensors["rfsensor"]]
    phases, wrenches, tilts = [], [], []
    for t in np.arange(0.0, motion.duration + 0.5, period):
        robot.command(positions=motion.joint_positions(t), names=motion.joint_names)
        world.step(round(period / world.time_step))
        phases.append(motion.phase(t))
        wrenches.append([foot.wrench for foot in feet])
        x, y = robot.q[3:5]
        tilts.append(np.arccos(1.0 - 2.0 * (x * x + y * y)))
    after = [robot.link_pose(sole) for sole in ("l_sole", "r_sole")]
    turns = [2.0 * np.arccos(min(abs(a[1] @ b[1]), 1.0)) for a, b in zip(before, after)]
    soles = [[p for p, _ in before], [p for p, _ in after]]
    return Run(
        period, phases, np.array(wrenches), np.array(tilts), np.array(soles), np.array(turns)
    )


@pytest.fixture(scope="module")
def run(model, motion):
    return play(model, motion)


def test_robot_stays_upright_and_feet_return(run):
    assert np.degrees(run.tilts.max()) < 1.0
    assert np.linalg.norm(run.soles[1] - run.soles[0], axis=1).max() < 5e-3
    assert np.degrees(run.turns.max()) < 0.5


@pytest.mark.parametrize("foot, name", [(0, "left"), (1, "right")])
def test_each_foot_leaves_the_ground_twice(run, foot, name):
    of_foot = [phase == f"step with the {name} foot" for phase in run.phases]
    in_air = (np.abs(run.wrenches[:, foot, 2]) < IN_AIR) & of_foot
    edges = np.flatnonzero(np.diff(np.concatenate([[0], in_air, [0]])))
    stays = (edges[1::2] - edges[::2]) * run.period
    assert (stays > 0.2).sum() == 2


def test_centre_of_pressure_stays_inside_the_sole(run):
    for foot in (0, 1):
        force, torque = run.wrenches[:, foot, :3], run.wrenches[:, foot, 3:]
        loaded = force[:, 2] > 100.0
        x = -torque[loaded, 1] / force[loaded, 2]
        y = torque[loaded, 0] / force[loaded, 2]
        assert min((SOLE_FRONT - x).min(), (x + SOLE_BACK).min()) > 0.03
        assert (SOLE_HALF_WIDTH - np.abs(y)).min() > 0.02


def test_feet_carry_the_weight_without_chatter(model, run):
    weight = 9.80665 * model.mass
    total = run.wrenches[:, :, 2].sum(axis=1)
    stepping = np.array(["step" in phase for phase in run.phases])
    assert np.abs(total[stepping] - weight).max() < 0.1 * weight
    assert total[-1] == pytest.approx(weight, abs=1.0)


def test_robot_may_start_with_straight_legs(model):
    motion = StandMotion(model, dict.fromkeys(model.joint_names, 0.0), steps_per_foot=0)
    np.testing.assert_allclose(motion.joint_positions(0.0), 0.0, atol=1e-12)
    run = play(model, motion, start={}, waist_height=0.705)
    assert np.degrees(run.tilts.max()) < 2.0


def test_only_driven_joints_are_commanded(model, motion):
    assert set(motion.joint_names) == set(model.gains)
    assert not any("BUSH" in name for name in motion.joint_names)
    assert motion.joint_positions(3.0).shape == (len(motion.joint_names),)


def test_motion_starts_in_half_sitting_and_ends_near_it(motion):
    half_sitting = [LEG_JOINTS.get(name, 0.0) for name in motion.joint_names]
    np.testing.assert_allclose(motion.joint_positions(0.0), half_sitting, atol=1e-12)
    end = motion.joint_positions(motion.duration)
    np.testing.assert_allclose(end, half_sitting, atol=0.03)  # the servos lead the load


def test_command_is_held_before_the_start_and_after_the_end(motion):
    for t, held in (
        (-1.0, 0.0),
        (-1e-9, 0.0),
        (motion.duration + 1e-9, motion.duration),
        (1e6, 1e6),
    ):
        command = motion.joint_positions(t)
        assert np.isfinite(command).all()
        np.testing.assert_array_equal(command, motion.joint_positions(held))


def test_joint_limits_are_respected(model, motion):
    times = np.arange(0.0, motion.duration, 0.005)
    commands = np.array([motion.joint_positions(t) for t in times])
    rates = np.diff(commands, axis=0) / 0.005
    dofs = [model.joint(name).v_index for name in motion.joint_names]
    margin = 0.03  # the lead of a servo against its load [rad]
    assert (commands > model.system.lower[dofs] - margin).all()
    assert (commands < model.system.upper[dofs] + margin).all()
    assert (np.abs(rates) < model.system.velocity_limit[dofs]).all()


def test_velocity_and_acceleration_are_continuous(motion):
    h = 1e-3
    times = np.arange(-0.1, motion.duration + 0.1, h)
    commands = np.array([motion.joint_positions(t) for t in times])
    velocity = np.diff(commands, axis=0) / h
    acceleration = np.diff(velocity, axis=0) / h
    assert np.abs(np.diff(velocity, axis=0)).max() < 0.02  # [rad/s] within a millisecond
    assert np.abs(np.diff(acceleration, axis=0)).max() < 5.0  # [rad/s^2]
    assert np.abs(velocity[[0, -1]]).max() == 0.0


def test_phases_come_in_order(motion):
    seen = list(dict.fromkeys(motion.phase(t) for t in np.arange(0.0, motion.duration, 0.1)))
    assert seen == [
        "half-sitting",
        "squat",
        "sway",
        "step with the right foot",
        "step with the left foot",
    ]
    assert motion.phase(motion.duration) == motion.phase(1e6) == "half-sitting"
    assert 15.0 <= motion.duration <= 25.0


def test_what_the_legs_cannot_do_is_refused(model):
    with pytest.raises(UnreachableError, match="The leg reaches"):
        StandMotion(model, squat_depth=-0.1)
    with pytest.raises(hrpsim.ModelError, match=r"takes joint '.LEG_JOINT3' from"):
        StandMotion(model, squat_depth=0.4)
    with pytest.raises(hrpsim.ModelError, match="does not exist"):
        StandMotion(model, soles=("left_sole", "r_sole"))


def test_a_robot_on_a_fixed_base_is_refused():
    model = hrpsim.load_model(str(HRP2_LIKE), base="fixed")
    with pytest.raises(hrpsim.ModelError, match="fixed base cannot stand"):
        StandMotion(model)
