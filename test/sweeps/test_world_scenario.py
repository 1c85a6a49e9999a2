# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of worlds by path do what they say, and runs depend on nothing else."""

import math
import pickle

import numpy as np
import pytest
from sweeps.scenarios import BOX_WORLD

from hrpsim import HrpsimError, World, load_model, share_path
from hrpsim.control import (
    Command,
    Controller,
    ImuReading,
    StandController,
    State,
    controlled_joints,
)
from hrpsim.control.framework.controller_host import ControllerHost
from hrpsim.sweeps import SweepError
from hrpsim.sweeps.boundary import BoundaryScenario
from hrpsim.sweeps.worlds.controllers import DisturbedController
from hrpsim.sweeps.worlds.world_run import Measures, Push
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from robots import HRP2_LIKE

BALL = """<robot name="ball" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="ball">
<inertial><mass value="MASS"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
</link></robot>"""
G = 9.80665
MU = "friction.box-floor.coefficient"
SPEED = "bodies.box.velocity.0"


@pytest.fixture
def box_file(tmp_path):
    file = tmp_path / "box.yaml"
    file.write_text(BOX_WORLD)
    return file


def sliding(box_file, **options):
    return WorldScenario(box_file, **{"duration": 1.0, "measured": ["box.x", "time"], **options})


def test_a_box_slides_as_far_as_friction_and_speed_say(box_file):
    """v^2 / (2 mu g); the mass has no part in it."""
    scenario = sliding(box_file)
    for mu in (0.3, 0.6):
        for speed in (0.8, 1.2):
            found = scenario.run({MU: mu, SPEED: speed, "bodies.box.mass": 7.0}, seed=0)
            assert found["box.x"] == pytest.approx(speed**2 / (2 * mu * G), rel=1e-5)


def test_a_slope_pulls(box_file):
    """Uphill at first: v^2 / (2 g (sin a + mu cos a)) along the slope."""
    values = {"terrain.slope": 0.2, MU: 0.5, "world.time_step": 5e-4}
    found = sliding(box_file).run({**values, "duration": 0.1}, seed=0)
    assert found["time"] == pytest.approx(0.1)
    resting = sliding(box_file, terrain={"slope": 0.2}).run({MU: 0.1, SPEED: 0.0}, seed=0)
    assert resting["box.x"] < -0.05  # towards -x, down: the floor rises towards x
    held = sliding(box_file).run({**values, SPEED: 0.0, MU: 1.0}, seed=0)
    assert abs(held["box.x"]) < 0.02


@pytest.mark.parametrize(
    "entry, names",
    [
        ("", ["ball"]),
        (", name: a", ["a"]),
        (", name: a, copies: {offsets: [[0, 0, 0], [0, 9, 0]]}", ["a_1", "a_2"]),
    ],
)
def test_paths_have_the_names_that_robots_have_in_the_world(tmp_path, entry, names):
    """Law: a factor by any path that a scenario lists changes the robot of this name."""
    (tmp_path / "ball.urdf").write_text(BALL.replace("MASS", "2"))
    file = tmp_path / "w.yaml"
    file.write_text(f"robots: [{{urdf: ball.urdf{entry}}}]")
    scenario = WorldScenario(file, duration=0.01, robot=names[0])
    assert scenario.robot_names == names
    assert {f"robots.{name}.mass_factor" for name in names} <= scenario.parameters().keys()
    assert "robots.0.mass_factor" not in scenario.parameters()
    with pytest.raises(SweepError, match="robot 'ball0' does not exist"):
        WorldScenario(file, duration=0.01, robot="ball0")


def test_results_do_not_depend_on_the_runs_before(box_file):
    scenario = sliding(box_file)
    values = {MU: 0.4, "terrain.roughness": 0.01}
    first = scenario.run(values, seed=3)
    scenario.run({MU: 0.9, SPEED: 2.0}, seed=1)
    assert scenario.run(values, seed=3) == first
    elsewhere = pickle.loads(pickle.dumps(scenario))
    assert elsewhere.run(values, seed=3) == first
    assert elsewhere.identity() == scenario.identity()
    assert elsewhere.parameters().keys() == scenario.parameters().keys()


def test_a_study_may_be_moved(tmp_path):
    """A store is continued in another checkout: xacro's paths do not count, its numbers do."""

    def identity(folder, mass):
        (tmp_path / folder).mkdir()
        world = tmp_path / folder / "world.yaml"
        world.write_text("robots:\n  - {name: ball, urdf: ball.urdf.xacro}\n")
        (tmp_path / folder / "ball.urdf.xacro").write_text(BALL.replace("MASS", mass))
        return WorldScenario(world, duration=0.1).identity()

    first = identity("here", "2.0")
    assert identity("there", "2.0") == first != identity("heavier", "3.0")


def test_a_run_ends_as_one_in_a_world_of_its_own_does():
    """Whatever ran before in the world that runs are lent, and whatever failed there."""
    scenario = WorldScenario(
        share_path("config/walking_demo.yaml"),
        duration=0.15,
        controller="walk",
        pushes=[{"link": "BODY", "begin": 0.02, "duration": 0.05}],
    )
    cells = [
        {"pushes.0.impulse": 20.0},
        {"robots.hrp2.mass_factor": 1.2, "terrain.roughness": 0.01},
        {"friction.sole-floor.coefficient": 0.3, "robots.hrp2.gain_factor": 0.6},
        {"delay.sensing": 2, "robots.hrp2.spring_factor": 0.5, "controller.dcm_rate": 4.0},
        {"robots.hrp2.friction_factor": 3.0, "robots.hrp2.damping_factor": 2.0},
    ]
    for values in cells:
        with pytest.raises(HrpsimError):
            scenario.run({**values, "controller.pattern": "nothing"}, seed=1)
        found, alone = scenario.run(values, seed=1), scenario.start(values, seed=1).run()
        assert found == {name: pytest.approx(alone[name], abs=0, nan_ok=True) for name in found}


def test_pushes_have_exactly_their_impulse(box_file):
    """m v = J, however the push lies across the periods; friction off."""
    push = {"entity": "box", "begin": 0.0137, "duration": 0.0523, "impulse": 3.0, "heading": 0.5}
    scenario = WorldScenario(box_file, duration=0.1, pushes=[push], measured=["box.speed"])
    found = scenario.run({MU: 0.0, SPEED: 0.0, "pushes.0.impulse": 2.0}, seed=0)
    assert found["box.speed"] == pytest.approx(2.0 / 1.0, rel=1e-12)


def test_a_push_adds_up_over_periods():
    class Told:
        def __init__(self):
            self.sum = np.zeros(3)
            self.entities = {"box": self}

        def apply_wrench(self, force):
            self.sum += 0.01 * force

    told, push = Told(), Push("box", None, 5.0, math.pi / 2, 0.033, 0.061)
    for k in range(20):
        push.apply(told, 0.01 * k, 0.01)
    np.testing.assert_allclose(told.sum, [0, 5, 0], atol=1e-12)


class Recorder(Controller):
    """Commands the tick's number to all joints and keeps what it is given."""

    period = 0.01

    def configure(self, model, parameters):
        self.seen, self.joints = [], len(controlled_joints(model))

    def initialize(self, state):
        self.begun = state

    def control(self, state):
        self.seen.append(state)
        return Command(positions=np.full(self.joints, float(len(self.seen))))


def hosted(disturbed):
    """Return a host of the controller on a humanoid, which makes what its needs say."""
    return ControllerHost(disturbed, load_model(HRP2_LIKE))


def state_at(tick, host):
    model, values = load_model(HRP2_LIKE), np.full(len(host.joint_names), float(tick))
    wrenches = {s.name: np.full(6, float(tick)) for s in model.sensors if s.kind != "imu"}
    imus = {
        s.name: ImuReading(np.array([0, 0, 0, 1.0]), np.full(3, float(tick)), np.zeros(3))
        for s in model.sensors
        if s.kind == "imu"
    }
    return State(0.01 * tick, values, values, values, wrenches, imus)


@pytest.mark.parametrize("sensing, command", [(0, 0), (1, 0), (0, 2), (3, 1)])
def test_delays_are_whole_periods(sensing, command):
    """Measurements are of `sensing` ticks ago, commands arrive `command` ticks late."""
    inner = Recorder()
    host = hosted(DisturbedController(inner, {}, sensing, command))
    arrived = [host.command(state_at(k, host)).positions[0] for k in range(8)]
    late = [max(k - sensing, 0) for k in range(8)]
    assert [s.joint_positions[0] for s in inner.seen] == late
    assert [s.wrenches["lfsensor"][0] for s in inner.seen] == late
    assert inner.begun.joint_positions[0] == 0.0
    assert [s.time for s in inner.seen] == [0.01 * k for k in range(8)]
    assert arrived == [max(k - command, 0) + 1.0 for k in range(8)]


def test_noise_is_that_of_the_levels_and_the_seed():
    """The same for the same seed, with the standard deviations that were asked for."""

    def readings(seed):
        inner = Recorder()
        host = hosted(DisturbedController(inner, {"seed": seed, "force": 2.0, "gyro": 0.1}))
        still = state_at(0, host)
        for k in range(4000):
            wrenches = {name: np.zeros(6) for name in still.wrenches}
            imus = {
                name: ImuReading(imu.orientation, np.zeros(3), np.zeros(3))
                for name, imu in still.imus.items()
            }
            host.command(still._replace(time=0.01 * k, wrenches=wrenches, imus=imus))
        (imu,) = still.imus
        forces = np.array([s.wrenches["lfsensor"] for s in inner.seen])
        return forces, np.array([s.imus[imu].angular_velocity for s in inner.seen])

    forces, rates = readings(1)
    assert forces[:, :3].std() == pytest.approx(2.0, rel=0.03) and not forces[:, 3:].any()
    assert rates.std() == pytest.approx(0.1, rel=0.03)
    np.testing.assert_array_equal(readings(1)[0], forces)
    assert (readings(2**62)[0][:, 0] != forces[:, 0]).all()


def test_a_disturbed_controller_gets_what_it_needs():
    """Law: noise and delays of a study change the controller's other needs in nothing."""
    inner = Recorder()
    inner.needs = {"contacts": ["l_sole"], "zmp": True}
    host = hosted(DisturbedController(inner, {"seed": 1, "force": 2.0}, 2))
    assert host.needs.contacts == ("l_sole",) and host.needs.zmp
    assert host.needs.noise.force == 2.0 and set(host.needs.delays.values()) == {2}


def test_a_humanoid_s_factors_are_those_of_its_robot():
    scenario = WorldScenario("config/stand.yaml", duration=0.02, measured=["fell", "x"])
    names = ("mass_factor", "gain_factor", "friction_factor", "damping_factor", "spring_factor")
    values = {f"robots.hrp2.{name}": 1.1 for name in names}
    usual, changed = (scenario.start(v, 0).robot for v in ({}, values))
    assert changed.model.mass == pytest.approx(1.1 * usual.model.mass)
    np.testing.assert_allclose(changed.gains, 1.1 * np.array(usual.gains))
    before, after = usual.joint_properties(), changed.joint_properties()
    passive = usual.gains[0] == 0.0
    for field in ("friction", "damping"):
        np.testing.assert_allclose(after[field], 1.1 * before[field])
    assert (before["stiffness"][passive] > 0.0).any()
    np.testing.assert_allclose(after["stiffness"][passive], 1.1 * before["stiffness"][passive])
    assert scenario.run(values, 0)["fell"] == 0.0


@pytest.mark.timeout(1200)
def test_a_short_walk_falls_where_it_is_pushed_hard():
    scenario = WorldScenario(
        "config/walking_demo.yaml",
        duration=2.5,
        controller="walk",
        parameters={"pattern": "stepping"},
        pushes=[{"link": "BODY", "begin": 0.7}],
        measured=["fell", "fell_at", "time", "largest_dcm_error"],
    )
    values = {"delay.sensing": 1, "sensors.force": 1.0, "controller.dcm_rate": 6.0}
    stays = scenario.run({"pushes.0.impulse": 2.0, **values}, seed=1)
    assert stays["fell"] == 0.0 and np.isnan(stays["fell_at"]) and stays["time"] == 2.5
    falls = scenario.run({"pushes.0.impulse": 200.0, **values}, seed=1)
    assert falls["fell"] == 1.0 and 0.7 < falls["fell_at"] == falls["time"] < 2.5
    assert falls["largest_dcm_error"] > 10.0 * stays["largest_dcm_error"]
    again = scenario.run({"pushes.0.impulse": 2.0, **values}, seed=1)
    np.testing.assert_equal(again, stays)


def test_a_border_is_found_by_bisection(box_file):
    """A box comes to 0.2 m where v = sqrt(2 mu g 0.2)."""

    class Far(WorldScenario):
        def run(self, values, seed):
            return {**super().run(values, seed), "time": super().run(values, seed)["box.x"] > 0.2}

    scenario = Far(box_file, duration=1.0, measured=["box.x", "time"])
    found = BoundaryScenario(scenario, SPEED, (0.2, 3.0), 0.01, bad="time").run({MU: 0.5}, 0)
    exact = math.sqrt(2 * 0.5 * G * 0.2)
    assert found["survived"] < exact < found["failed"]
    assert found["failed"] - found["survived"] <= 0.01 and found["runs"] == 11
    none = BoundaryScenario(scenario, SPEED, (0.2, 1.0), 0.01, bad="time").run({MU: 0.5}, 0)
    assert none["border"] == 1.0 and np.isnan(none["failed"]) and none["runs"] == 2


@pytest.mark.parametrize(
    "values, message",
    [
        ({"friction.box-floor.static": 0.1, "friction.box-floor.kinetic": 0.2}, "exceeds static"),
        ({"bodies.box.mass": -1.0}, r"bodies\[0\].mass: must be positive"),
        ({"world.time_step": 20.0}, "world.time_step: must be positive .* got 20.0"),
    ],
)
def test_values_that_cannot_be_are_refused(box_file, values, message):
    with pytest.raises(SweepError, match=message):
        sliding(box_file).check(values)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"pushes": [{"impuls": 1}]}, r"pushes\[0\]: entry 'impuls' .* Did you mean 'impulse'"),
        ({"pushes": [{"impulse": 1}]}, "name the entity"),
        ({"measured": ["box.w"]}, "outcome 'box.w' does not exist"),
        ({"robot": "hrp2"}, "robot 'hrp2' does not exist. Available: none"),
        ({"controller": "walk"}, "Name the controlled one"),
        ({"terrain": {"slop": 1}}, "Did you mean 'slope'"),
        ({"terrain": {"slope": 2.0}}, "terrain.slope: must be"),
    ],
)
def test_what_a_scenario_cannot_be_is_refused(box_file, options, message):
    with pytest.raises(HrpsimError, match=message):
        sliding(box_file, **options)


def test_a_plug_in_stands_in_for_the_walk():
    scenario = WorldScenario(
        "config/stand.yaml",
        duration=0.1,
        controller="hrpsim.control:StandController",
        measured=["fell"],
    )
    assert isinstance(scenario.start({}, 0).controller, StandController)
    assert scenario.run({"delay.command": 1}, 0) == {"fell": 0.0}


def test_an_outcome_is_the_same_whatever_else_is_asked_for():
    """Law: the largest effort is that of the joints' efforts in every tick, asked for or not."""
    scenario = WorldScenario("config/stand.yaml", duration=0.05)
    run = scenario.start({}, 0)
    robot = run.robot
    limits = robot.model.system.effort_limit[robot.joint_index.v]
    largest = np.abs(robot.joint_efforts)
    while not run.finished:
        run.tick()
        largest = np.maximum(largest, np.abs(robot.joint_efforts))
    whole = scenario.run({}, 0)
    assert whole["largest_effort"] == (largest / np.where(limits > 0, limits, np.inf)).max() > 0.0
    for name in ("largest_effort", "largest_tilt", "lowest_height", "fell"):
        alone = WorldScenario("config/stand.yaml", duration=0.05, measured=[name])
        assert alone.run({}, 0) == {name: whole[name]}


@pytest.mark.parametrize("gain, hint", [(0.0, ": its joints have no gains, which"), (1e3, "$")])
def test_a_robot_that_lies_before_the_run_begins_is_an_error(gain, hint):
    world, model = World(), load_model(HRP2_LIKE)
    q = World().add_robot(model).q.copy()
    q[:7] = 0, 0, 0.2, 0, 0.8, 0, 0.6
    robot = world.add_robot(model, q=q)
    robot.set_gains(*np.full((2, len(robot.gains[0])), gain))
    with pytest.raises(SweepError, match=f"lies before the run begins, tilted by 1.85 rad{hint}"):
        Measures(world, robot.name, 0.005)


def test_what_no_cell_could_do_is_refused_before_any_runs(box_file):
    walking = share_path("config/walking_demo.yaml")
    with pytest.raises(SweepError, match=r"'controller.patern' .* mean 'controller.pattern'"):
        WorldScenario(walking, controller="walk", parameters={"patern": "stepping"}, duration=1.0)
    with pytest.raises(SweepError, match=r"controller\.dcm_rate: "):
        WorldScenario(walking, controller="walk", parameters={"dcm_rate": "fast"}, duration=1.0)
    for push, message in (
        ({"link": "BODI"}, r"pushes\[0\]: link 'BODI' .* Did you mean 'BODY'"),
        ({"entity": "bax"}, r"pushes\[0\]: entity 'bax' .* Available: hrp2"),
    ):
        scenario = WorldScenario(walking, controller="walk", pushes=[push], duration=1.0)
        with pytest.raises(SweepError, match=message):
            scenario.check({})
    with pytest.raises(SweepError, match=r"pushes\[0\]: link 'lid' does not exist"):
        sliding(box_file, pushes=[{"entity": "box", "link": "lid"}]).check({})
