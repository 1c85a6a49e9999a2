# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim walk --ros`, which `make demo` runs: processes, files and verdict."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from control.bipeds import biped
from ros.conftest import LIMIT

import hrpsim
from hrpsim.bag import read_foot_wrenches
from hrpsim.bag.foot_wrenches import swings
from hrpsim.bag.reader import message_counts
from hrpsim.commands.cli import main
from hrpsim.control import Footsteps, walking_pattern, write_sequence
from hrpsim.control.pattern.footsteps import in_place
from hrpsim.ros.demo.demo import fresh_folder
from robots import HRP2_LIKE

pytest.importorskip("matplotlib", reason="no matplotlib")


def run_demo(output, *arguments, start_limit=LIMIT):
    command = [sys.executable, "-m", "hrpsim", "walk", "--ros", "--output", output]
    return subprocess.run(
        [*command, "--rate", "0", "--start-limit", str(start_limit), *arguments],
        capture_output=True,
        text=True,
        timeout=3 * LIMIT,
        check=False,
        env={**os.environ, "DEMONSTRATION": str(output)},
    )


@pytest.mark.long
def test_a_walk_over_ros(tmp_path):
    """Two steps from sequence files, as fast as lockstep goes; the recorded forces show both."""
    model = hrpsim.load_model(HRP2_LIKE)
    sequence = walking_pattern(model, Footsteps((in_place(2),))).sequence
    write_sequence(sequence, tmp_path / "two_steps")
    duration = sequence.duration + 1.0  # of holding
    bag = tmp_path / "out" / "bag"
    result = run_demo(tmp_path / "out", "--pattern", tmp_path / "two_steps")
    assert result.returncode == 0, result.stdout + result.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["problems"] == []
    assert summary["verdict"] == "stands" and summary["fell_at"] is None
    assert summary["steps"] == summary["planned_steps"] == 2
    assert summary["simulated_seconds"] == pytest.approx(duration, abs=0.011)
    assert summary["messages"] == message_counts(bag)
    assert summary["messages"]["/joint_commands"] >= duration / 0.005
    assert (tmp_path / "out" / "foot_forces.png").stat().st_size > 10_000
    assert all(Path(name).is_file() for name in summary["files"])
    times, left, right = read_foot_wrenches(bag, "lfsensor", "rfsensor").vertical_forces()
    assert len(swings(times, left, right)) == len(swings(times, right, left)) == 1
    assert not processes_of(tmp_path / "out")


@pytest.mark.long
def test_a_robot_of_ones_own_over_ros(tmp_path):
    """A made-up biped, with other sensors than hrp2_like: their topics are waited for."""
    (tmp_path / "biped.urdf").write_text(biped())
    arguments = "--robot", tmp_path / "biped.urdf", "--pattern", "stepping"
    result = run_demo(tmp_path / "out", *arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["problems"] == [] and summary["verdict"] == "stands"
    assert summary["steps"] == summary["planned_steps"] > 0
    counts = summary["messages"]
    assert min(counts["/walking_imu/data"], counts["/lfsensor"]) > 1000
    assert "/lhsensor" not in counts and not any(summary["lost"].values())


@pytest.mark.long
def test_a_fall_over_ros_is_the_fall_in_process(tmp_path, capsys):
    """In lockstep the robot falls at the same time as in one process, and the verdict says so."""
    assert main(["walk", "--no-stabilizer", "--json"]) == 1
    here = json.loads(capsys.readouterr().out)
    result = run_demo(tmp_path / "out", "--no-stabilizer", "--json")
    assert result.returncode == 1, result.stdout + result.stderr
    there = json.loads(result.stdout)
    assert there["verdict"] == here["verdict"] == "fell"
    assert there["steps"] == here["steps"] < there["planned_steps"] == 19
    assert there["fell_at"] == pytest.approx(here["fell_at"], abs=1e-9)
    assert there["problems"][0].startswith(f"the robot fell at {here['fell_at']:.2f} s")
    assert (tmp_path / "out" / "foot_forces.png").stat().st_size > 10_000


@pytest.mark.long
def test_a_start_that_takes_too_long_is_reported(tmp_path):
    result = run_demo(tmp_path, start_limit=0.5)
    assert result.returncode == 1
    assert "FAILED: not ready after 0.5 s: node, recorder, controller" in result.stdout
    assert not processes_of(tmp_path)


def test_a_world_that_cannot_be_loaded_is_reported(tmp_path):
    result = run_demo(tmp_path, "--world", "no_such_world.yaml")
    assert result.returncode == 1
    assert result.stderr.startswith("hrpsim: world file no_such_world.yaml")
    assert result.stderr.count("\n") == 1 and result.stdout == ""


def test_only_what_a_demonstration_wrote_is_removed(tmp_path):
    for name in ("bag/bag.mcap", "bag/metadata.yaml", "node.log", "mine.txt", "sub/node.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    fresh_folder(tmp_path)
    left = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == {"mine.txt", "sub/node.log"}


def test_a_folder_called_bag_that_is_none_is_kept(tmp_path):
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "groceries.txt").write_text("")
    fresh_folder(tmp_path)
    assert (tmp_path / "bag" / "groceries.txt").exists()


def processes_of(output):
    """Return the command lines of the running processes of a demonstration."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if f"DEMONSTRATION={output}".encode() in environment and command:
            found.append(command)
    return found
