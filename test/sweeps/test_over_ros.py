# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What of a sweep over ROS needs no ROS: what is refused, controller and node of a cell."""

import importlib.util
import math

import pytest
from ros.stand_ins import Rig
from sweeps.scenarios import BOX_WORLD, SOURCE

from hrpsim import Box, WorldError, share_path
from hrpsim.commands.cli import main
from hrpsim.control import Command, Controller, ControlLoop
from hrpsim.ros import over_ros
from hrpsim.ros.sweeps.cell_processes import (
    ABSENT,
    CONTROLLER,
    FINISHED,
    CellController,
    CellFolder,
    CellRequest,
    cell_folder,
)
from hrpsim.ros.sweeps.cell_watch import LockstepWatch
from hrpsim.ros.sweeps.ros_scenario import RosScenario
from hrpsim.sweeps import SweepError
from hrpsim.sweeps.framework.scenario import FunctionScenario
from hrpsim.sweeps.worlds.world_run import Measures, Push, walk_outcomes
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

STAND = share_path("config/stand.yaml")
PERIOD = 5e-3


class Three(Controller):
    """Finishes after three commands."""

    def configure(self, model, parameters):
        self.made, self.signals = 0, {}

    def initialize(self, state):
        self.held = state.joint_positions

    def control(self, state):
        self.made += 1
        self.signals = {"dcm_error": (0.03 if self.made == 2 else 0.01, 0.0)}
        self.finished = self.made == 3
        return Command(positions=self.held)


def let_rclpy_be(monkeypatch, spec):
    find = importlib.util.find_spec
    found = lambda name, *rest: spec if name == "rclpy" else find(name, *rest)  # noqa: E731
    monkeypatch.setattr(importlib.util, "find_spec", found)


@pytest.fixture
def rclpy_is_there(monkeypatch):
    let_rclpy_be(monkeypatch, object())


@pytest.fixture
def no_rclpy(monkeypatch):
    let_rclpy_be(monkeypatch, None)


@pytest.fixture
def two_robots(tmp_path):
    file = tmp_path / "two.yaml"
    robot = "urdf: package://hrpsim/urdf/hrp2_like.urdf.xacro"
    file.write_text(f"robots:\n  - {{name: a, {robot}}}\n  - {{name: b, {robot}}}\n")
    return file


def test_what_cannot_go_over_ros_is_named(rclpy_is_there, two_robots):
    with pytest.raises(SweepError, match="not one with a `function`"):
        over_ros(FunctionScenario(f"{SOURCE}:fall"))
    with pytest.raises(SweepError, match="this study has none"):
        over_ros(WorldScenario(STAND, duration=1.0))
    with pytest.raises(SweepError, match="step waits for commands of all robots: a, b"):
        over_ros(WorldScenario(two_robots, robot="a", controller="walk", duration=1.0))
    scenario = RosScenario(WorldScenario(STAND, controller="walk", duration=1.0))
    with pytest.raises(SweepError, match=r"robots.hrp2.base cannot be varied over ROS"):
        scenario.check({"robots.hrp2.base": "fixed"})


def test_without_rclpy_nothing_begins(no_rclpy, tmp_path, capsys):
    (tmp_path / "box.yaml").write_text(BOX_WORLD)
    study = tmp_path / "study.yaml"
    study.write_text(
        "world: config/stand.yaml\nduration: 0.1\ncontroller: {plugin: walk}\ndesign: {}\n"
    )
    assert main(["sweep", str(study), "--ros"]) == 1
    assert "a sweep over ROS needs rclpy: source a ROS 2" in capsys.readouterr().err
    assert not (tmp_path / "study.zarr").exists()


@pytest.mark.parametrize(
    "options, message",
    [
        (["--ros", "--engine", "a:b"], "--ros runs cells on this machine"),
        (["--ros", "--processes", "2"], "--domains N"),
        (["--ros", "--cell", "1", "--viewer"], "leave out --ros"),
        (["--domains", "2"], "go with --ros"),
        (["--ros", "--patience", "0"], "positive"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(options, message, capsys):
    with pytest.raises(SystemExit) as end:
        main(["sweep", "study.yaml", *options])
    assert end.value.code == 2 and message in capsys.readouterr().err


def test_the_controller_of_a_cell_says_when_it_has_finished_and_does_not_end(tmp_path):
    folder = cell_folder(tmp_path, 0)
    scenario = WorldScenario(STAND, controller=f"{__file__}:Three", duration=1.0)
    folder.ask(CellRequest(scenario, {}, 0, "free", 1.0))
    world, _ = scenario.world_of({}, 0)
    controller = CellController()
    with ControlLoop(world.robots["hrp2"], controller, {"folder": str(folder.path)}) as loop:
        for tick in range(5):
            assert folder.said(FINISHED) == (3 if tick >= 3 else None)
            loop.tick()
            assert not controller.finished
    told = folder.said(CONTROLLER)
    assert math.isnan(told["largest_dcm_errors"][0]) and told["ends"] is None
    assert told["largest_dcm_errors"][1:] == [0.01, 0.03, 0.03]


class Cell:
    """A node of a cell with stand-ins for ROS: an arm is commanded, a box beside it is pushed."""

    def __init__(self, tmp_path, **options):
        self.rig = Rig(policy="abort", real_time_factor=0.0, **options)
        simulation = self.rig.simulation
        self.folder = CellFolder(tmp_path / "cell")
        self.folder.ask(CellRequest(None, {}, 0, "free", 1.0))
        self.box = simulation.world.add_body(Box((0.1, 0.1, 0.1)), 1.0, (1, 0, 0), name="box")
        self.measures = Measures(simulation.world, self.rig.robot.name, PERIOD)
        push = Push("box", None, 3.0, 1.5, begin=0.012, duration=0.016)
        self.pushes = [push]
        self.watch = LockstepWatch(simulation, self.folder, self.measures, [push], PERIOD)

    def run(self, ticks):
        """Answer so many ticks."""

        def turn(longest):
            if self.rig.lockstep.is_waiting and self.measures.ticks < ticks:
                self.rig.send(self.rig.simulation.clock.steps, position=[0.1])

        self.rig.simulation.run(turn, self.watch.over, duration=0.1)


def test_a_node_pushes_and_measures_as_a_loop_in_process_does(tmp_path):
    """However the steps of a tick are divided: the node looks at what is asked for between them."""
    cell = Cell(tmp_path)
    cell.rig.simulation._burst = 1
    cell.run(ticks=20)
    assert cell.measures.ticks == 20
    (tmp_path / "again").mkdir()
    again = Cell(tmp_path / "again")
    world, robot = again.rig.simulation.world, again.rig.robot
    measures = Measures(world, robot.name, PERIOD)
    for tick in range(20):
        again.pushes[0].apply(world, tick * PERIOD, PERIOD)
        robot.command(positions=[0.1])
        world.step(5)
        measures.tick()
    assert repr(measures.outcomes()) == repr(cell.measures.outcomes())
    for one, other in ((robot, cell.rig.robot), (again.box, cell.box)):
        assert one.q.tobytes() + one.v.tobytes() == other.q.tobytes() + other.v.tobytes()
    assert math.hypot(*again.box.v[:2]) == pytest.approx(3.0)  # 3 Ns on 1 kg


def test_a_node_ends_after_the_last_command_or_when_none_can_come(tmp_path):
    cell = Cell(tmp_path)
    cell.folder.say(FINISHED, 4)
    cell.run(ticks=20)
    assert cell.measures.ticks == 4
    assert cell.rig.lockstep.timeout == 1.0  # after the first command
    (tmp_path / "absent").mkdir()
    cell = Cell(tmp_path / "absent")
    cell.folder.say(ABSENT)
    with pytest.raises(WorldError, match="the controller has ended"):
        cell.run(ticks=0)


def test_steps_count_until_the_fall():
    ends = [1.0, 2.0, 3.0]
    stands = {"fell": 0.0, "fell_at": math.nan, "time": 2.0}
    assert walk_outcomes(ends, stands, 0.1)["steps"] == 2.0
    assert walk_outcomes(ends, {**stands, "time": 3.0}, 0.1)["completed"] == 1.0
    fell = {"fell": 1.0, "fell_at": 1.5, "time": 1.5}
    assert walk_outcomes(ends, fell, 0.1) == {
        "steps": 1.0,
        "completed": 0.0,
        "largest_dcm_error": 0.1,
    }
    assert walk_outcomes(None, fell, 0.1) == {}
