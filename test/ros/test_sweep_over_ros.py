# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A sweep over ROS: the bits of one in process, faults that are results, no process left."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import yaml
from grouped import needs
from ros.conftest import LIMIT
from ros.faulty_controllers import FAULTS
from ros.processes import command_line, descendants, have_ended

from hrpsim import share_path, sweep
from hrpsim.ros import domains, over_ros
from hrpsim.ros.base.child_process import Processes
from hrpsim.ros.sweeps.cell_processes import CONTROLLER, NODE, CellPairs
from hrpsim.ros.sweeps.ros_scenario import RosScenario
from hrpsim.sweeps import Design, SweepError, replay
from hrpsim.sweeps.boundary import BoundaryScenario
from hrpsim.sweeps.store import open_store
from hrpsim.sweeps.study_file import read_study
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

pytestmark = needs("xarray", "zarr")
FOLDER = Path(__file__).parent
STAND = share_path("config/stand.yaml")
IMPULSE = "pushes.0.impulse"


def in_process(scenario, design, store=None):
    with ThreadPoolExecutor(1) as thread:
        return sweep(scenario, design, thread, store, seed=3)


def through_ros(scenario, design, store=None, count=1, patience=LIMIT):
    scenario = over_ros(scenario, patience)
    return sweep(scenario, design, store=store, seed=3, engine=domains(scenario, count))


def assert_same_bits(a, b):
    """All arrays, values and errors among them."""
    assert a.variables.keys() == b.variables.keys()
    for name in a.variables:
        assert a[name].values.tobytes() == b[name].values.tobytes(), name


def standing(controller, **options):
    return WorldScenario(STAND, controller=f"{FOLDER}/{controller}", duration=0.3, **options)


def ours():
    """Return the processes of cells that this one, or its children, have started."""
    return [pid for pid in descendants(os.getpid()) if "hrpsim_cell_" in command_line(pid)]


@pytest.mark.long
def test_a_walk_over_ros_has_the_bits_of_one_in_process(tmp_path):
    """Pushes, noise, delay, masses, friction, gains and rough ground; the second robot falls."""
    scenario = WorldScenario(
        share_path("config/walking_demo.yaml"),
        controller="walk",
        parameters={"pattern": "stepping"},
        duration=0.8,
        pushes=[{"link": "BODY", "begin": 0.1, "heading": 1.5}],
        sensors={"force": 1.0, "gyro": 0.001},
        delay={"sensing": 1},
        terrain={"roughness": 0.002},
    )
    design = Design(
        method="table",
        rows=[
            {IMPULSE: 5.0, "robots.hrp2.mass_factor": 1.1, "friction.sole-floor.coefficient": 0.6},
            {IMPULSE: 300.0, "robots.hrp2.mass_factor": 1.0, "friction.sole-floor.coefficient": 1},
        ],
    )
    expected = in_process(scenario, design, tmp_path / "here.zarr")
    found = through_ros(scenario, design, tmp_path / "ros.zarr", count=2)
    assert found["fell"].values.tolist() == [0.0, 1.0] and (found["status"] == 1).all()
    assert (found["largest_dcm_error"] > 0.0).all()
    assert_same_bits(found, expected)
    assert (found.attrs["run"], expected.attrs["run"]) == ("over ROS", "in process")
    assert replay(RosScenario(scenario), tmp_path / "here.zarr", 0).same  # one of the other store
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for run, store in ((in_process, "ros.zarr"), (through_ros, "here.zarr")):
        with pytest.raises(SweepError, match=f"{store} was run .*, but this sweep runs"):
            run(scenario, design, tmp_path / store)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}


@pytest.fixture
def started(monkeypatch):
    """The names of the processes that are started for cells, as they are."""
    begun, start = [], Processes.start_module

    def noted(self, name, *rest):
        begun.append(name)
        return start(self, name, *rest)

    monkeypatch.setattr(Processes, "start_module", noted)
    return begun


@pytest.mark.long
def test_a_controller_that_finishes_ends_the_cell_after_its_last_command(started):
    """One that asks for the true base, noise and delays, and commands joints by modes.

    One pair of processes runs all cells, those of another robot as well.
    """
    scenario = standing("feedback_controller.py:Demanding", parameters={"ticks": 0})
    design = Design(
        {
            "robots.hrp2.xacro_arguments.bush": {"values": [True, False]},
            "controller.ticks": {"values": [7, 100]},
            "world.time_step": {"values": [5e-4]},
        }
    )
    found = through_ros(scenario, design)
    assert found["time"].values.tolist() == 2 * [7 * 0.005, 60 * 0.005]
    assert started == [NODE, CONTROLLER]
    assert_same_bits(found, in_process(scenario, design))


@pytest.mark.long
def test_a_border_is_found_over_ros():
    inner = standing("feedback_controller.py:Feedback", pushes=[{"link": "BODY"}])
    scenario = BoundaryScenario(inner, IMPULSE, (0.0, 4000.0), tolerance=3000.0)
    found = through_ros(scenario, Design({"duration": {"values": [0.25]}}))
    assert found["runs"].values == 3.0
    assert_same_bits(found, in_process(scenario, Design({"duration": {"values": [0.25]}})))


def faulty(**parameters):
    return standing("faulty_controllers.py:Faulty", parameters={"fault": "none", **parameters})


@pytest.mark.long
def test_what_ends_early_is_an_error_of_its_cell(started):
    """And the next one has processes of its own."""
    faults = ["raises", "killed", "node killed", "none"]
    found = through_ros(faulty(), Design({"controller.fault": {"values": faults}}))
    assert found["status"].values.tolist() == [2, 2, 2, 1]
    raises, killed, node_killed, _ = found["error"].values
    assert "the controller ended with code 1: RuntimeError: no idea" in raises
    assert "the controller ended with code -9" in killed
    assert "the node ended with code -9" in node_killed
    assert started == 4 * [NODE, CONTROLLER]
    assert not ours()


@pytest.mark.long
def test_what_hangs_is_an_error_of_its_cell():
    """Whichever of the two is given up first."""
    faults = ["hangs", "node stopped"]
    assert set(faults) < FAULTS.keys()
    design = Design({"controller.fault": {"values": faults}})
    found = through_ros(faulty(), design, count=1, patience=2.0)
    assert found["status"].values.tolist() == [2, 2]
    for error in found["error"].values:
        assert "lockstep waits for" in error or "was silent for 2 s" in error
    assert not ours()


@pytest.mark.long
@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        *(pytest.param(n, marks=pytest.mark.long) for n in (signal.SIGKILL, signal.SIGTERM)),
    ],
)
def test_no_process_outlives_the_sweep_which_goes_on_later(tmp_path, number):
    """Even of a controller that is deaf to signals; finished cells are kept."""
    gate = tmp_path / "gate"
    study = tmp_path / "study.yaml"
    plugin = f"{FOLDER}/faulty_controllers.py:Faulty"
    parameters = {"fault": "none", "gate": ""}
    content = {
        "world": "config/stand.yaml",
        "duration": 0.3,
        "controller": {"plugin": plugin, "parameters": parameters},
        "seed": 3,
        "design": {"parameters": {"controller.gate": {"values": ["", str(gate)]}}},
    }
    study.write_text(yaml.safe_dump(content))
    command = [sys.executable, "-m", "hrpsim", "sweep", str(study), "--ros", "--domains", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    journal = tmp_path / "study.zarr.journal"
    with subprocess.Popen([*command, "--patience", "600"], env=environment) as driver:
        # Until the header and the first cell are kept, and the second one waits.
        while not Path(f"{gate}.reached").exists() or journal.read_bytes().count(b"\n") < 2:
            assert driver.poll() is None
            time.sleep(0.01)
        started = descendants(driver.pid)
        lines = [command_line(pid) for pid in started]
        for side in (NODE, CONTROLLER):
            assert sum(line.endswith(f"\0{side}\0") for line in lines) == 1
        driver.send_signal(number)
        code = driver.wait(LIMIT)
    assert code == (-number if number == signal.SIGKILL else 128 + number)
    assert have_ended(started)
    if number != signal.SIGKILL:
        return
    assert journal.read_bytes().count(b"\n") == 2
    gate.touch()
    read = read_study(study)
    through_ros(read.scenario, read.design, tmp_path / "study.zarr")
    assert_same_bits(open_store(tmp_path / "study.zarr"), in_process(read.scenario, read.design))
    assert np.all(open_store(tmp_path / "study.zarr")["status"].values == 1)


def test_a_pair_that_cannot_start_leaves_nothing(tmp_path, monkeypatch):
    """Neither its folder nor the process that was started before the one that cannot be."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    start, begun = Processes.start_module, []

    def start_the_first_only(self, *arguments):
        if begun:
            raise OSError("no process left")
        begun.append(start(self, *arguments))
        return begun[0]

    monkeypatch.setattr(Processes, "start_module", start_the_first_only)
    with pytest.raises(OSError, match="no process left"):
        CellPairs().run(None)
    assert not list(tmp_path.iterdir()) and begun[0].exit_code is not None
