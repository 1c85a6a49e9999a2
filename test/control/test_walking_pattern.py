# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walking patterns: the laws they keep, against Pinocchio, and played in the world."""

import numpy as np
import pinocchio
import pytest
from grouped import one_worker_each

import hrpsim
from hrpsim.control import (
    Footsteps,
    Gait,
    UnreachableError,
    WalkError,
    controlled_joints,
    walking_pattern,
)
from hrpsim.control.motion.stand_controller import HALF_SITTING_LEG
from hrpsim.control.pattern.footsteps import PATTERNS, forward, in_place
from hrpsim.control.pattern.pattern_quality import pattern_quality
from hrpsim.control.pattern.whole_body_zmp import rates
from robots import HRP2_LIKE

SOLES = ("l_sole", "r_sole")
pytestmark = pytest.mark.quick_cases("E5*", "forward*", "turn*")
HALF_SITTING = {f"{s}LEG_JOINT{i}": a for s in "LR" for i, a in enumerate(HALF_SITTING_LEG)}


def load(bush):
    return hrpsim.load_model(str(HRP2_LIKE), xacro_arguments={"bush": bush})


@pytest.fixture(scope="module")
def model():
    return load(False)


@pytest.fixture(scope="module")
def e5(model):
    return walking_pattern(model, "E5")


@pytest.fixture(
    scope="module", params=one_worker_each(n for n, walk in PATTERNS.items() if not walk.climbs)
)
def pattern(request, model, e5):
    return e5 if request.param == "E5" else walking_pattern(model, request.param)


def sole_poses(model, q):
    return [hrpsim.link_pose(model, q, sole) for sole in SOLES]


def test_e5_is_20_s_of_19_steps(e5):
    assert e5.times[-1] == pytest.approx(20.0, abs=1e-12)
    assert len(e5.times) == 4001
    assert len(e5.footsteps) == 19
    lifted = np.diff(e5.contacts.astype(int), axis=0) < 0
    assert lifted.sum() == 19


def test_it_starts_and_ends_in_half_sitting(model, pattern):
    expected = [HALF_SITTING.get(name, 0.0) for name in pattern.sequence.joint_names]
    for at in (0, -1):
        np.testing.assert_allclose(pattern.sequence.pos.values[at], expected, atol=1e-9)
    np.testing.assert_allclose(pattern.waist[0], [0.0, 0.0, 0.6487, 0.0], atol=5e-6)
    assert np.ptp(pattern.waist[:, 2]) == 0.0
    rate = np.gradient(pattern.sequence.pos.values, pattern.period, axis=0)
    assert np.abs(rate[[0, -1]]).max() < 1e-3


def test_standing_soles_do_not_move_and_no_sole_enters_the_floor(model, pattern):
    """By forward kinematics of the joint angles that a file would hold."""
    columns = [model.joint(name).q_index for name in pattern.sequence.joint_names]
    q = model.neutral()
    for k in range(0, len(pattern.times), 7):
        q[columns] = pattern.sequence.pos.values[k]
        x, y, z, _, _, yaw = pattern.sequence.waist.values[k]
        q[:7] = x, y, z, 0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)
        phase = next(p for p in pattern.phases if pattern.times[k] <= p.end + 1e-9)
        for foot, (p, R) in enumerate(sole_poses(model, q)):
            assert p[2] > -1e-9
            np.testing.assert_allclose(R[2], [0.0, 0.0, 1.0], atol=1e-9)
            if pattern.contacts[k, foot]:
                side = ("left", "right")[foot]
                landed = phase.target is not None and phase.target.side == side
                at_end = landed and pattern.times[k] > phase.end - 1e-6
                step = phase.target if at_end else getattr(phase, side)
                np.testing.assert_allclose(p, [step.x, step.y, 0.0], atol=1e-9)
                facing = [np.cos(step.yaw), np.sin(step.yaw)]
                np.testing.assert_allclose(R[:2, 0], facing, atol=1e-9)


def test_feet_move_smoothly_and_touch_down_without_speed(pattern):
    h = pattern.period
    speed = np.diff(pattern.soles, axis=0) / h
    acceleration = np.diff(speed, axis=0) / h
    jump = np.abs(np.diff(acceleration, axis=0))[:, :, :3].max()
    assert jump < 0.25 * np.abs(acceleration[:, :, :3]).max()  # from one sample to the next
    moving = ~pattern.contacts
    before_landing = moving[:-1] & pattern.contacts[1:]
    assert np.abs(speed[:, :, :3][before_landing]).max() < 1e-3
    assert pattern.soles[:, :, 2].max() == pytest.approx(Gait().step_height, rel=1e-3)


def test_zmp_and_torques_are_those_of_pinocchio(model, e5):
    """Recursive Newton-Euler of another library, on the same motion."""
    built = pinocchio.buildModelFromXML(model.urdf, pinocchio.JointModelFreeFlyer())
    built.gravity.linear = np.array([0.0, 0.0, -9.80665])
    data = built.createData()
    v, dv = rates(model, e5.motion, e5.period)
    floor = pinocchio.SE3.Identity()
    for k in range(200, len(e5.times) - 200, 171):
        q = e5.motion[k]
        base = pinocchio.rnea(built, data, q, v[k], dv[k])[:6]
        floor = pinocchio.XYZQUATToSE3(q[:7])
        wrench = floor.act(pinocchio.Force(base))
        zmp = [-wrench.angular[1] / wrench.linear[2], wrench.angular[0] / wrench.linear[2]]
        np.testing.assert_allclose(zmp, e5.zmp[k], atol=1e-9)
        com = pinocchio.centerOfMass(built, data, q)
        np.testing.assert_allclose(com, e5.com[k], atol=1e-12)


def test_velocity_and_acceleration_of_a_base_that_travels_and_turns(model):
    """Components along the base's own axes, and their rates, from closed forms."""
    h = 1e-3
    t = np.arange(200) * h
    yaw, yaw_1, yaw_2 = 0.8 * np.sin(t), 0.8 * np.cos(t), -0.8 * np.sin(t)
    motion = np.tile(model.neutral(), (len(t), 1))
    motion[:, 0], motion[:, 1] = np.cos(2.0 * t), np.sin(3.0 * t)
    motion[:, 5], motion[:, 6] = np.sin(yaw / 2.0), np.cos(yaw / 2.0)
    v, dv = rates(model, motion, h)
    c, s = np.cos(yaw), np.sin(yaw)
    x_1, y_1 = -2.0 * np.sin(2.0 * t), 3.0 * np.cos(3.0 * t)
    x_2, y_2 = -4.0 * np.cos(2.0 * t), -9.0 * np.sin(3.0 * t)
    ahead, aside = c * x_1 + s * y_1, c * y_1 - s * x_1
    ahead_1 = c * x_2 + s * y_2 + yaw_1 * aside
    aside_1 = c * y_2 - s * x_2 - yaw_1 * ahead
    middle = slice(1, -1)
    for found, expected in ((v, (ahead, aside, yaw_1)), (dv, (ahead_1, aside_1, yaw_2))):
        np.testing.assert_allclose(
            found[middle][:, [0, 1, 5]], np.stack(expected, axis=-1)[middle], atol=2e-5
        )


def test_torques_leave_nothing_to_the_base(model, e5):
    """In single support the motion needs the floor's wrench on one sole, and joint torques only."""
    v, dv = rates(model, e5.motion, e5.period)
    k = np.flatnonzero(~e5.contacts[:, 1])[60]
    columns = [model.joint(name).v_index for name in e5.sequence.joint_names]
    free = hrpsim.inverse_dynamics(model, e5.motion[k], v[k], dv[k])
    J = hrpsim.engine.dynamics.functions.link_jacobian(model, e5.motion[k], "l_sole")
    # The wrench (along the world, at the sole's origin) that takes over what the base would need.
    wrench = np.linalg.solve(J[:, :6].T, free[:6])
    torque = (free - J.T @ wrench)[columns]
    np.testing.assert_allclose(torque, e5.sequence.torque.values[k], atol=1e-9)


def test_zmp_of_the_whole_model_is_well_inside_the_support(model, pattern):
    quality = pattern_quality(model, pattern)
    print(quality.report())
    assert quality.single_support_margin > 0.06
    assert quality.double_support_margin > 0.06
    assert len(quality.zmp_margins) == len(pattern.phases)
    assert quality.sole_gap > 0.01
    assert quality.zmp_error < 0.006
    assert quality.zmp_error < 0.25 * quality.uncorrected_zmp_error


def test_joint_limits_speeds_and_torques_are_respected(model, pattern):
    quality = pattern_quality(model, pattern)
    assert [joint.name for joint in quality.joints] == list(controlled_joints(model))
    assert min(joint.angle_margin for joint in quality.joints) > 0.0
    assert max(joint.speed_ratio for joint in quality.joints) < 0.9
    assert max(joint.torque_ratio for joint in quality.joints) < 0.5
    assert "LEG_JOINT" in quality.report()


def test_robots_with_and_without_bushes_get_the_same_pattern(model, e5):
    other = walking_pattern(load(True), "E5")
    assert other.sequence.joint_names == e5.sequence.joint_names
    for channel in ("pos", "zmp", "waist", "torque", "optionaldata"):
        a, b = (getattr(p.sequence, channel).values for p in (e5, other))
        tolerance = 1e-6 if channel == "torque" else 1e-9
        np.testing.assert_allclose(b, a, rtol=0.0, atol=tolerance, err_msg=channel)


def test_same_input_gives_the_same_bits(model, e5):
    again = walking_pattern(model, PATTERNS["E5"])
    for channel in ("pos", "zmp", "waist", "torque", "optionaldata"):
        a, b = (getattr(p.sequence, channel).values for p in (e5, again))
        assert a.tobytes() == b.tobytes()


def test_sequence_says_the_same_as_the_world(e5):
    """zmp in the waist's frame; waist level; contacts of the right foot before the left one's."""
    k = 2000
    x, y, z, roll, pitch, yaw = e5.sequence.waist.values[k]
    assert (roll, pitch) == (0.0, 0.0)
    c, s = np.cos(yaw), np.sin(yaw)
    zmp = np.array([[c, -s], [s, c]]) @ e5.sequence.zmp.values[k, :2] + (x, y)
    np.testing.assert_allclose(zmp, e5.zmp[k], atol=1e-12)
    assert e5.sequence.zmp.values[k, 2] == -z
    data = e5.sequence.optionaldata.values
    np.testing.assert_array_equal(data[:, 0], e5.contacts[:, 1])
    np.testing.assert_array_equal(data[:, 1], e5.contacts[:, 0])
    in_air = data[:, 1] == 0.0
    first = np.flatnonzero(in_air)[:119]  # the first step is the left foot's, 0.6 s long
    np.testing.assert_allclose(np.diff(data[first, 3]), -e5.period, atol=1e-9)
    assert data[first[-1], 3] == pytest.approx(e5.period)
    assert (data[~in_air, 3] == 1.0).all()


def test_period_only_changes_how_often_it_is_sampled(model):
    walk = Footsteps((in_place(2),))
    coarse, fine = (walking_pattern(model, walk, period=p) for p in (0.005, 0.001))
    assert fine.times[-1] == pytest.approx(coarse.times[-1])
    difference = fine.sequence.pos.values[::5] - coarse.sequence.pos.values
    assert np.abs(difference).max() < 2e-3
    with pytest.raises(WalkError, match="period must be positive"):
        walking_pattern(model, walk, period=0.0)


def test_walks_that_the_robot_cannot_do_are_refused(model):
    with pytest.raises(WalkError, match="Available: E5, stepping, forward"):
        walking_pattern(model, "moonwalk")
    with pytest.raises(UnreachableError, match="The leg reaches"):
        walking_pattern(model, Footsteps((forward(4, 0.6),)))
    with pytest.raises(WalkError, match=r"moves joint '.LEG_JOINT\d' at up to"):
        walking_pattern(model, Footsteps((forward(4, 0.25),)), gait=Gait(single_support=0.3))
    with pytest.raises(WalkError, match="double_support must be positive"):
        Gait(double_support=0.0)
    with pytest.raises(hrpsim.ModelError, match="free base"):
        walking_pattern(hrpsim.load_model(str(HRP2_LIKE), base="fixed"), "E5")


@pytest.fixture(scope="module")
def run(model, pattern):
    """Tilt of the waist, vertical forces on both soles and the robot after the walk.

    Position servos follow the angles, with speed and torque of the pattern fed forward.
    """
    world = hrpsim.World()
    world.add_ground()
    robot = world.add_robot(model, q=pattern.motion[0])
    sequence = pattern.sequence
    rate = np.gradient(sequence.pos.values, pattern.period, axis=0)
    tilts, forces = [], []
    for k in range(1, len(pattern.times)):
        robot.command(
            positions=sequence.pos.values[k],
            velocities=rate[k],
            efforts=sequence.torque.values[k],
            names=sequence.joint_names,
            over=pattern.period,
        )
        world.step(5)
        x, y = robot.q[3:5]
        tilts.append(np.arccos(1.0 - 2.0 * (x * x + y * y)))
        forces.append([robot.sensors[name].force[2] for name in ("lfsensor", "rfsensor")])
    return np.array(tilts), np.array(forces), robot


def test_without_bushes_it_walks_open_loop(model, pattern, run):
    tilts, forces, robot = run
    assert np.degrees(tilts.max()) < 1.0
    np.testing.assert_allclose(robot.q[:2], pattern.waist[-1, :2], atol=0.01)
    yaw = 2.0 * np.arctan2(robot.q[5], robot.q[6])
    assert yaw == pytest.approx(pattern.waist[-1, 3], abs=0.01)
    weight = 9.80665 * model.mass
    for phase in pattern.phases:
        if phase.target is not None:
            now = round(0.5 * (phase.begin + phase.end) / pattern.period)
            foot = 0 if phase.target.side == "left" else 1
            assert abs(forces[now, foot]) < 10.0  # in the air
            assert forces[now, 1 - foot] == pytest.approx(weight, rel=0.15)
