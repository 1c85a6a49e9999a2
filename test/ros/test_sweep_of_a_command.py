# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A sweep whose controller is a user's own program, started for each run."""

import json
import os
import shlex
import sys
from pathlib import Path

import pytest
from grouped import needs
from ros.conftest import LIMIT
from ros.processes import command_line, descendants

from hrpsim import share_path, sweep
from hrpsim.ros import UserCommand, domains, over_ros
from hrpsim.sweeps import Design, SweepError
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

pytestmark = needs("xarray", "zarr")
FOLDER = Path(__file__).parent
STAND = share_path("config/stand.yaml")
IMPULSE = "pushes.0.impulse"
PERIOD = 0.005


def standing(**options):
    return WorldScenario(STAND, duration=0.3, pushes=[{"link": "BODY"}], **options)


def words(*arguments):
    return shlex.join((sys.executable, str(FOLDER / "user_controller.py"), *map(str, arguments)))


def run(command, design, patience=LIMIT, **options):
    scenario = over_ros(standing(**options), patience, command)
    return sweep(scenario, design, seed=3, engine=domains(scenario, 1))


def ours():
    """Return the processes that this one, or its children, have started for cells."""
    marks = ("hrpsim_cell_", "user_controller.py")
    return [p for p in descendants(os.getpid()) if any(m in command_line(p) for m in marks)]


@pytest.mark.long
def test_a_program_in_lockstep_gives_the_bits_of_a_controller_in_process(tmp_path):
    """Law: the program's answers are all that counts. The program knows the cell's values."""
    design = Design({IMPULSE: {"values": [1.0, 5.0]}})
    command = UserCommand(words("none", tmp_path / "cells"), period=PERIOD)
    found = run(command, design)
    scenario = standing(controller=f"{FOLDER}/hold_controller.py:Hold")
    expected = sweep(scenario, design, seed=3)
    assert (found["status"] == 1).all(), found["error"].values
    for name in ("time", "fell", "largest_tilt", "lowest_height", "x", "y", "largest_effort"):
        assert found[name].values.tobytes() == expected[name].values.tobytes(), name
    cells = [line.split("\t") for line in (tmp_path / "cells").read_text().splitlines()]
    assert [json.loads(values)[IMPULSE] for values, _ in cells] == [1.0, 5.0]
    assert len({seed for _, seed in cells}) == 2
    assert not ours()


@pytest.mark.long
def test_without_a_period_time_begins_with_the_first_command():
    """Law: the robot stands for the whole run, however late the program starts."""
    found = run(
        UserCommand(words("none"), real_time_factor=0.5), Design({IMPULSE: {"values": [1]}})
    )
    assert found["status"].values.tolist() == [1], found["error"].values
    assert found["time"].values == pytest.approx(0.3)
    assert found["fell"].values == 0.0
    assert not ours()


@pytest.mark.long
@pytest.mark.parametrize("period", [PERIOD, None])
def test_how_a_program_ends_belongs_to_the_run(tmp_path, period):
    """Law: exit code 0 ends the run; another code, or silence, is its error. The log is kept."""
    design = Design({IMPULSE: {"values": [1.0]}})
    ended = run(UserCommand(words("ends"), period=period, real_time_factor=0.02), design)
    assert ended["status"].values.tolist() == [1], ended["error"].values
    assert 0.0 < ended["time"].values < 0.3
    logs = tmp_path / "logs"
    command = UserCommand(words("dies"), period=period, real_time_factor=0.02, logs=logs)
    (error,) = run(command, design)["error"].values
    assert "the controller ended with code 7: my controller has had enough" in error
    (log,) = logs.iterdir()
    assert str(log) in error
    head, *lines = log.read_text().splitlines()
    assert json.loads(head.removeprefix("# ")) == {IMPULSE: 1.0}
    assert "my controller has had enough" in lines
    command = UserCommand(words("silent"), period=period, real_time_factor=1e-3)
    (error,) = run(command, design, patience=3.0)["error"].values
    assert "lockstep waits for" in error or "sent no command for 3 s" in error
    assert not ours()


def test_a_command_that_cannot_start_is_refused_before_the_sweep():
    """Law: mistakes are named before any process starts."""
    with pytest.raises(SweepError, match="the program 'no_such_program' does not exist"):
        UserCommand("no_such_program --fast")
    with pytest.raises(SweepError, match="is empty"):
        UserCommand("")
    with pytest.raises(SweepError, match="No closing quotation"):
        UserCommand("echo 'a")
    named = standing(controller=f"{FOLDER}/hold_controller.py:Hold")
    with pytest.raises(SweepError, match=r"names the controller .*hold_controller"):
        over_ros(named, command=UserCommand("true"))
    with pytest.raises(SweepError, match="this study has none"):
        over_ros(standing())
