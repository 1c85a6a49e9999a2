# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller in the simulator's process: its life, its clock, its commands and their errors."""

import textwrap

import numpy as np
import pytest

import hrpsim
from hrpsim import share_path
from hrpsim.control import (
    Command,
    Controller,
    ControllerError,
    ControlLoop,
    Walk,
    controlled_joints,
    find_controller,
)
from hrpsim.control.framework.plugins import read_parameters
from robots import HRP2_LIKE

STAND = str(HRP2_LIKE.parents[1] / "config" / "stand.yaml")


@pytest.fixture(scope="module")
def world():
    return hrpsim.load_world(STAND)


@pytest.fixture
def robot(world):
    world.reset()
    return world.robots["hrp2"]


class Diary(Controller):
    """Holds the posture and writes down what its host calls."""

    def __init__(self):
        self.calls, self.states = [], []
        self.answer = None

    def configure(self, model, parameters):
        self.calls.append("configure")
        self.parameters = parameters

    def initialize(self, state):
        self.calls.append("initialize")
        self.held = state.joint_positions

    def control(self, state):
        self.calls.append("control")
        self.states.append(state)
        return Command(positions=self.held) if self.answer is None else self.answer

    def stop(self):
        self.calls.append("stop")


def test_the_host_calls_in_order(robot):
    diary = Diary()
    loop = ControlLoop(robot, diary, {"gain": 2.0})
    assert diary.calls == ["configure"]
    assert diary.parameters == {"gain": 2.0}
    loop.run(0.015)
    assert diary.calls == ["configure", "initialize", *3 * ["control"], "stop"]
    assert robot.world.time == 0.015
    with pytest.raises(ControllerError, match="Diary was stopped"):
        loop.tick()
    loop.stop()
    assert diary.calls.count("stop") == 1


def test_the_controller_is_stopped_after_an_error(robot):
    class Stumbling(Diary):
        def control(self, state):
            if state.time > 0.009:
                raise RuntimeError("lost my footing")
            return super().control(state)

    diary = Stumbling()
    with pytest.raises(RuntimeError, match="lost my footing"):
        ControlLoop(robot, diary).run(1.0)
    assert diary.calls[-1] == "stop"
    assert robot.world.time == 0.01


def test_a_finished_controller_ends_the_run(robot):
    class Brief(Diary):
        def control(self, state):
            self.finished = state.time >= 0.02
            return super().control(state)

    ControlLoop(robot, brief := Brief()).run()
    assert [state.time for state in brief.states] == [0.0, 0.005, 0.01, 0.015, 0.02]
    assert robot.world.time == 0.025  # the last command has its period too


def test_states_are_what_the_sensors_say(robot):
    with ControlLoop(robot, diary := Diary()) as loop:
        for k in range(20):
            names = list(loop.joint_names)
            at = [robot.joint_names.index(name) for name in names]
            positions, velocities = robot.joint_positions[at], robot.joint_velocities[at]
            efforts, foot = robot.joint_efforts[at], robot.sensors["lfsensor"].wrench
            imu = robot.sensors["imu"]
            rate, force = imu.angular_velocity, imu.linear_acceleration
            state = loop.tick()
            assert state is diary.states[k]
            assert state.time == 5 * k / 1000
            np.testing.assert_array_equal(state.joint_positions, positions)
            np.testing.assert_array_equal(state.joint_velocities, velocities)
            np.testing.assert_array_equal(state.joint_efforts, efforts)
            np.testing.assert_array_equal(state.wrenches["lfsensor"], foot)
            np.testing.assert_array_equal(state.imus["imu"].angular_velocity, rate)
            np.testing.assert_array_equal(state.imus["imu"].linear_acceleration, force)
    assert set(state.wrenches) == {"lfsensor", "rfsensor", "lhsensor", "rhsensor"}
    assert not any("BUSH" in name for name in names)


def test_a_controller_may_keep_and_change_its_states(robot):
    class Vandal(Diary):
        def control(self, state):
            for array in (*state[1:4], *state.wrenches.values(), *state.imus["imu"]):
                array[:] = 1e9
            return Command(positions=self.kept)

        def initialize(self, state):
            self.kept = state.joint_positions.copy()

    ControlLoop(robot, Vandal()).run(0.1)
    peaceful = robot.q
    robot.world.reset()
    ControlLoop(robot, Diary()).run(0.1)
    np.testing.assert_array_equal(peaceful, robot.q)


@pytest.mark.parametrize("interpolate", [True, False])
def test_position_targets_ramp_over_the_period(robot, interpolate):
    head = controlled_joints(robot.model).index("HEAD_JOINT0")

    class Nod(Diary):
        def control(self, state):
            goal = self.held.copy()
            goal[head] += 0.1
            return Command(positions=goal)

    loop = ControlLoop(robot, Nod(), interpolate=interpolate)
    loop.control()
    targets = []
    for _ in range(loop.steps_per_period):
        robot.world.step()
        at = robot.model.joint("HEAD_JOINT0").v_index
        targets.append(robot._control()["target_position"][at])
    start = robot.initial_q[robot.model.joint("HEAD_JOINT0").q_index]
    shares = [0.2, 0.4, 0.6, 0.8, 1.0] if interpolate else [1.0] * 5
    # A step's ramp is advanced at its end, for the next one.
    shares = [*shares[1:], 1.0]
    np.testing.assert_allclose(np.array(targets) - start, 0.1 * np.array(shares), atol=1e-6)


def test_a_reset_of_the_world_begins_anew(robot):
    with ControlLoop(robot, diary := Diary()) as loop:
        for _ in range(3):
            loop.tick()
        robot.world.reset()
        loop.tick()
    assert diary.calls.count("initialize") == 2
    assert diary.calls[-3:] == ["initialize", "control", "stop"]


@pytest.mark.parametrize("period", [0.0015, 0.0004, 0.00501])
def test_a_period_must_be_whole_steps(robot, period):
    diary = Diary()
    diary.period = period
    with pytest.raises(ControllerError, match=rf"Diary.* {period:g} s.*time step of 0.001 s"):
        ControlLoop(robot, diary)
    assert diary.calls == ["configure", "stop"]


@pytest.mark.parametrize("period", [0.0, -0.005, np.nan, np.inf])
def test_a_period_must_be_a_time(robot, period):
    diary = Diary()
    diary.period = period
    with pytest.raises(ControllerError, match="Diary: the period must be a time > 0 s"):
        ControlLoop(robot, diary)


def _with(value, count=30):
    values = np.zeros(count)
    values[4] = value
    return values


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (np.zeros(30), r"Diary.control must return a Command, got ndarray"),
        (Command(), "without positions, velocities or efforts"),
        (Command(positions=np.zeros(36)), r"Diary: positions must be 30 numbers.*\(36,\)"),
        (
            Command(velocities=_with(np.nan)),
            "Diary: velocities for joint 'RLEG_JOINT4' must be finite, got nan",
        ),
        (
            Command(efforts=_with(-np.inf)),
            "Diary: efforts for joint 'RLEG_JOINT4' must be finite, got -inf",
        ),
        (Command(efforts="limp"), "Diary: efforts must be numbers, got 'limp'"),
    ],
)
def test_bad_commands_are_named_and_change_nothing(robot, answer, message):
    before = robot._control().copy()
    diary = Diary()
    diary.answer = answer
    with pytest.raises(ControllerError, match=message):
        ControlLoop(robot, diary).tick()
    assert diary.calls[-1] == "stop"
    assert (robot._control() == before).all()
    assert robot.world.time == 0.0


@pytest.mark.parametrize("period", ["5 ms", None, True, 0.0, np.nan, np.inf, [0.005]])
def test_a_period_that_is_no_time_is_named(robot, period):
    diary = Diary()
    diary.period = period
    with pytest.raises(ControllerError, match=r"Diary: the period must be a time > 0 s, got"):
        ControlLoop(robot, diary)


@pytest.mark.parametrize("needs", ["base", 5, ["zmp"]])
def test_needs_that_are_no_mapping_are_named(robot, needs):
    diary = Diary()
    diary.needs = needs
    with pytest.raises(ControllerError, match="Diary: needs must be a mapping, got"):
        ControlLoop(robot, diary)


def test_controllers_are_found_by_name(tmp_path, monkeypatch):
    file = tmp_path / "my_walk.py"
    file.write_text(
        textwrap.dedent(
            """
            from hrpsim.control import Controller

            class Mine(Controller):
                def control(self, state): ...

            class Half(Controller):
                pass
            """
        )
    )
    assert issubclass(find_controller(f"{file}:Mine"), Controller)
    monkeypatch.syspath_prepend(tmp_path)
    assert find_controller("my_walk:Mine").__module__ == "my_walk"
    for name, message in {
        "Mine": "must be 'module:Class'",
        ":Mine": "must be 'module:Class'",
        "../../x:Mine": "must be 'module:Class'",
        ".x:Mine": "must be 'module:Class'",
        "no.such.module:Mine": "no module 'no' on",
        "hrpsim.control.nothing:Mine": "no module 'hrpsim.control.nothing'",
        f"{file}:Yours": "controller 'Yours' does not exist.*Available: Mine$",
        f"{file}:Half": "has a method control",
        f"{tmp_path / 'absent.py'}:Mine": "absent.py' does not exist",
    }.items():
        with pytest.raises(ControllerError, match=message):
            find_controller(name)
    file.write_text("import no_such_thing")
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        find_controller(f"{file}:Mine")


def test_parameters_come_from_yaml(tmp_path):
    file = tmp_path / "gains.yaml"
    file.write_text("gain: 0.5\nfeet: [lfsensor, rfsensor]\n")
    assert read_parameters(file) == {"gain": 0.5, "feet": ["lfsensor", "rfsensor"]}
    file.write_text("")
    assert read_parameters(file) == {}
    for text, message in {"- 1": "must be a mapping", "a: [": r"gains\.yaml:2:1: not"}.items():
        file.write_text(text)
        with pytest.raises(ControllerError, match=f"(?s){message}"):
            read_parameters(file)
    with pytest.raises(ControllerError, match=r"absent.yaml.*No such file"):
        read_parameters(tmp_path / "absent.yaml")


def test_a_file_s_mistakes_are_told_with_their_lines(tmp_path):
    """Law: parameters are of the kinds that their controller names, and a mistake has its line."""
    file = tmp_path / "walk.yaml"
    for text, told in (
        ("period: 0.005\ndcm_rate: fast\n", f"{file}:2:1: dcm_rate: must be a number, got 'fast'"),
        ("\n\nstabilizer: 1\n", f"{file}:3:1: stabilizer: must be true or false, got 1"),
        ("hold: -1\n", f"{file}:1:1: hold: must be >= 0"),
        (
            "period: 1.0e-9\n",
            f"{file}:1:1: period: must be positive and finite, from 1e-06 to 10 s",
        ),
        (
            "pattern: E5\nperiot: 1\n",
            f"{file}:2:1: parameter 'periot' does not exist. Did you mean",
        ),
    ):
        file.write_text(text)
        with pytest.raises(ControllerError) as error:
            read_parameters(file, Walk.parameter_kinds)
        assert str(error.value).startswith(told)
    file.write_text((share_path("config/walk_controller.yaml")).read_text())
    assert read_parameters(file, Walk.parameter_kinds)["period"] == 0.005
