# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What controllers ask to see by name: the base, contacts, the zero-moment point, noise, delays."""

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError, share_path
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control import (
    EFFORT,
    POSITION,
    VELOCITY,
    Command,
    Controller,
    ControllerError,
    ControlLoop,
    Walk,
    controlled_joints,
    joint_modes,
)
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.sensors import NoiseLevels, SensorNoise

SOLES = ["l_sole", "r_sole"]


@pytest.fixture(scope="module")
def standing():
    return hrpsim.load_world(share_path("config/stand.yaml"))


@pytest.fixture
def robot(standing):
    standing.reset()
    return standing.robots["hrp2"]


class Watch(Controller):
    """Sways a little and keeps its states."""

    def __init__(self, **needs):
        self.needs = needs
        self.seen = []

    def initialize(self, state):
        self.held = state.joint_positions.copy()

    def control(self, state):
        self.seen.append(state)
        return Command(positions=self.held + 0.01 * np.sin(7.0 * state.time))


def watched(robot, ticks, **needs):
    """Return the states that a controller with these needs sees."""
    robot.world.reset()
    watch = Watch(**needs)
    with ControlLoop(robot, watch) as loop:
        for _ in range(ticks):
            loop.tick()
    return watch.seen


def test_the_true_base_is_the_robot_s(robot):
    """Law: q[:7] and v[:6] of the robot, bit for bit, in the layout of a free base."""
    watch = Watch(base="true")
    with ControlLoop(robot, watch) as loop:
        for _ in range(30):
            q, v = robot.q, robot.v
            loop.tick()
            base = watch.seen[-1].base
            assert [*base.position, *base.orientation] == q[:7].tolist()
            assert [*base.linear_velocity, *base.angular_velocity] == v[:6].tolist()


def test_contacts_carry_the_robot(robot):
    """Law: at rest the forces on both soles add up to the weight, their moments cancel it."""
    robot.world.step(500)
    with ControlLoop(robot, Watch(contacts=[*SOLES, "BODY"], zmp=True)) as loop:
        state = loop.control()
    force = sum(state.contacts[sole].force for sole in SOLES)
    weight = robot.model.mass * STANDARD_GRAVITY
    assert np.allclose(force, [0.0, 0.0, weight], atol=0.02 * weight)
    assert all(state.contacts[sole].touches for sole in SOLES)
    assert not state.contacts["BODY"].touches and not state.contacts["BODY"].force.any()
    for sole in SOLES:
        contact, origin = state.contacts[sole], robot.link_pose(sole)[0]
        moment = sum(np.cross(p - origin, f) for p, f in zip(contact.points, contact.forces))
        assert np.allclose(contact.torque, moment, atol=1e-9)


def test_the_zero_moment_point_has_no_horizontal_moment(robot):
    """Law: about the ZMP the contact forces have no moment but about the vertical."""
    for state in watched(robot, 20, contacts=SOLES, zmp=True)[1:]:
        moment = np.zeros(3)
        for contact in state.contacts.values():
            moment += np.cross(contact.points - state.zmp, contact.forces).sum(axis=0)
        assert np.abs(moment[:2]).max() < 1e-9 * robot.model.mass * STANDARD_GRAVITY


def test_in_the_air_there_is_no_zero_moment_point():
    world = hrpsim.load_world(share_path("config/stand.yaml"))
    robot = world.robots["hrp2"]
    q = robot.q.copy()
    q[2] += 1.0
    robot.q = q
    world.step()
    with ControlLoop(robot, Watch(zmp=True, contacts=SOLES)) as loop:
        state = loop.control()
    assert state.zmp is None and not any(c.touches for c in state.contacts.values())


def test_the_estimated_base_follows_a_walk():
    """Law: leg odometry; 1.8 m of walking to 1 cm, height within 1.5 cm, velocity within 3 cm/s."""

    class Observed(Walk):
        needs = {"base": "estimated"}

        def control(self, state):
            self.base = state.base
            return super().control(state)

    world = hrpsim.load_world(share_path("config/walking_demo.yaml"))
    robot, walk = next(iter(world.robots.values())), Observed()
    start = [*robot.q[:2], 0.0]
    with ControlLoop(robot, walk, {"pattern": "forward"}) as loop:
        while not walk.finished:
            q, v = robot.q, robot.v
            loop.tick()
            error = walk.base.position - (q[:3] - start)
            assert np.abs(error[:2]).max() < 0.01 and abs(error[2]) < 0.015
            assert np.abs(walk.base.linear_velocity - v[:3]).max() < 0.03
            assert np.abs(walk.base.angular_velocity - v[3:6]).max() < 0.01
    assert robot.q[0] - start[0] > 1.5


def test_noise_is_that_of_the_seed_and_the_tick(robot):
    levels = {"gyro": 0.02, "force": 3.0, "seed": 7}
    plain, noisy = watched(robot, 10), watched(robot, 10, noise=levels)
    model = NoiseLevels(**levels)
    foot = SensorNoise("lfsensor", "force_torque", model, robot=robot.name)
    imu = SensorNoise("imu", "imu", model, robot=robot.name)
    for tick, (clean, state) in enumerate(zip(plain, noisy, strict=True)):
        assert np.array_equal(state.joint_positions, clean.joint_positions)
        assert np.array_equal(
            state.wrenches["lfsensor"], clean.wrenches["lfsensor"] + foot.at(tick)
        )
        rate = clean.imus["imu"].angular_velocity + imu.at(tick)[:3]
        assert np.array_equal(state.imus["imu"].angular_velocity, rate)
    assert foot.at(3).any()


def test_what_is_late_is_what_was_measured_then(robot):
    """Law: with a delay of n periods tick k sees what tick k - n saw, before that the first."""
    plain = watched(robot, 12)
    late = watched(robot, 12, delays={"joints": 0.010, "imu": 0.005})
    for k, state in enumerate(late):
        assert state.time == plain[k].time
        assert np.array_equal(state.joint_positions, plain[max(k - 2, 0)].joint_positions)
        rate = plain[max(k - 1, 0)].imus["imu"].angular_velocity
        assert np.array_equal(state.imus["imu"].angular_velocity, rate)
        assert np.array_equal(state.wrenches["lfsensor"], plain[k].wrenches["lfsensor"])
    everything = watched(robot, 12, delays=0.005, base="true")
    assert np.array_equal(everything[5].wrenches["lfsensor"], plain[4].wrenches["lfsensor"])
    alone = watched(robot, 12, delays=0.010)  # nothing else is asked for
    assert np.array_equal(alone[5].joint_positions, plain[3].joint_positions)


@pytest.mark.parametrize(
    ("needs", "message"),
    [
        ({"bass": "true"}, "Watch: needs.*'bass' does not exist. Did you mean 'base'"),
        ({"base": "guessed"}, "base: base 'guessed' does not exist.*true, estimated"),
        ({"contacts": ["l_soul"]}, "link 'l_soul' does not exist. Did you mean 'l_sole'"),
        ({"noise": {"gyro": -1.0}}, "noise.gyro: must be >= 0"),
        ({"delays": {"imus": 0.005}}, "delays.*'imus' does not exist. Did you mean 'imu'"),
        ({"delays": 0.007}, "0.007 s is not a whole multiple .* nearest are 0.005 s and 0.01 s"),
        ({"base": "estimated", "feet": ["lfoot"]}, "force sensor 'lfoot' does not exist"),
    ],
)
def test_what_cannot_be_had_is_named(robot, needs, message):
    with pytest.raises((ControllerError, ModelError), match=message):
        ControlLoop(robot, Watch(**needs))


def test_a_fixed_base_has_none():
    world = hrpsim.World()
    model = hrpsim.load_model(share_path("urdf/hrp2_like.urdf.xacro"), base="fixed")
    robot = world.add_robot(model, name="held")
    with pytest.raises(ControllerError, match=r"base: .* fixed base"):
        ControlLoop(robot, Watch(base="true"))


@pytest.mark.parametrize(("period", "step"), [(0.005, 0.002), (0.0025, 0.001), (0.01, 0.003)])
def test_the_steps_that_are_offered_fit(period, step):
    """Law: each period and each time step in the message is accepted in place of what was given."""
    with pytest.raises(ControllerError) as error:
        steps_in_period("x", period, step)
    text = str(error.value)
    periods = text.split("Choose a period of ")[1].split(" s, or")[0].split(" or ")
    steps = text.split("time step of ")[-1].removesuffix(" s").split(", ")
    for offered in periods:
        assert steps_in_period("x", float(offered), step) >= 1
    for offered in steps:
        whole = round(period / float(offered)) * float(offered)
        assert steps_in_period("x", whole, float(offered)) and abs(whole - period) < 1e-5 * period


class Mixed(Controller):
    """Position, velocity and effort, joint by joint."""

    def configure(self, model, parameters):
        self.modes = joint_modes(model, {"?ARM_*": EFFORT, "HEAD_*": VELOCITY})

    def initialize(self, state):
        self.held = state.joint_positions.copy()

    def control(self, state):
        n = len(self.modes)
        positions = np.where(self.modes == POSITION, self.held, np.nan)
        return Command(positions, np.full(n, 0.01), np.full(n, 0.5), self.modes)


def test_joints_are_commanded_each_in_its_mode(robot):
    """Law: the actuators of a mixed command are those of three commands, each for its joints."""
    with ControlLoop(robot, mixed := Mixed(), interpolate=False) as loop:
        loop.control()
        names, modes = np.array(loop.joint_names), mixed.modes
    found = robot._control().copy()
    robot.world.reset()
    by = {mode: tuple(names[modes == mode]) for mode in (POSITION, VELOCITY, EFFORT)}
    count = {mode: len(by[mode]) for mode in by}
    position = mixed.held[modes == POSITION]
    robot.command(position, np.full(len(position), 0.01), np.full(len(position), 0.5), by[POSITION])
    robot.command(None, np.full(count[VELOCITY], 0.01), np.full(count[VELOCITY], 0.5), by[VELOCITY])
    robot.command(None, None, np.full(count[EFFORT], 0.5), by[EFFORT])
    assert all(count.values())
    assert (robot._control() == found).all()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (lambda n: Command(modes=np.full(n, POSITION)), "commanded by position.*no positions"),
        (
            lambda n: Command(np.zeros(n), modes=np.full(n, 3)),
            "modes must be 30 values, each POSITION",
        ),
        (
            lambda n: Command(np.zeros(n), modes=np.zeros(2)),
            "modes must be 30 values, each POSITION",
        ),
        (
            lambda n: Command(np.full(n, np.nan), modes=np.zeros(n)),
            "positions for joint .* got nan",
        ),
    ],
)
def test_a_wrong_mixture_is_named_and_changes_nothing(robot, command, message):
    class Wrong(Controller):
        def control(self, state):
            return command(len(state.joint_positions))

    before = robot._control().copy()
    with pytest.raises(ControllerError, match=message):
        ControlLoop(robot, Wrong()).tick()
    assert (robot._control() == before).all()


ARM = """<robot name="arm"><link name="base"/><link name="arm"><inertial><origin xyz="0 0 -0.5"/>
<mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
<limit lower="-3" upper="3" effort="50" velocity="20"/></joint></robot>"""


def test_torques_need_no_gains_in_the_description():
    """Law: m g l sin(q) holds a pendulum where it is; a description without gains is enough."""

    class Gravity(Controller):
        period = 0.001

        def control(self, state):
            return Command(efforts=2.0 * STANDARD_GRAVITY * 0.5 * np.sin(state.joint_positions))

    world = hrpsim.World()
    robot = world.add_robot(hrpsim.load_model(ARM, base="fixed"), name="arm", q=[0.7])
    assert controlled_joints(robot.model) == ("hinge",) and not robot.model.gains
    ControlLoop(robot, Gravity()).run(2.0)
    assert abs(robot.q[0] - 0.7) < 1e-9
