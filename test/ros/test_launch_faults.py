# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Launch files run by the real launch, where there is one: whatever fails, no process is left."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ros.conftest import LIMIT
from ros.processes import command_line, descendants, have_ended, until

pytest.importorskip("launch.actions", reason="launch is not installed")
pytest.importorskip("launch_ros.actions", reason="launch_ros is not installed")

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = {
    "hrpsim_node": "hrpsim.ros.simulation.node",
    "hrpsim_controller": "hrpsim.ros.controller.controller_node",
    "wrench_recorder": "hrpsim.ros.recording.recorder",
}
LAUNCH = """
import sys
from launch import LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

arguments = [text.split(":=", 1) for text in sys.argv[2:]]
service = LaunchService(argv=sys.argv[2:])
source = PythonLaunchDescriptionSource(sys.argv[1])
service.include_launch_description(IncludeLaunchDescription(source, launch_arguments=arguments))
sys.exit(service.run())
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An installation of the checkout, as the ament index sees one."""
    prefix = tmp_path_factory.mktemp("prefix")
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    programs, shared = prefix / "lib" / "hrpsim", prefix / "share" / "hrpsim"
    for folder in (index, programs, shared):
        folder.mkdir(parents=True)
    (index / "hrpsim").touch()
    for name in ("launch", "config", "urdf"):
        (shared / name).symlink_to(ROOT / name)
    for name, module in PROGRAMS.items():
        paths = f'PYTHONPATH="{ROOT}:$PYTHONPATH"'
        text = f'#!/bin/sh\n{paths} exec "{sys.executable}" -m {module} "$@"\n'
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return prefix


@pytest.fixture
def launch(prefix, tmp_path):
    """Start a launch file in a session of its own; end it at the end."""
    started = []

    def start(name, *arguments):
        paths = [str(prefix), *filter(None, [os.environ.get("AMENT_PREFIX_PATH"), sys.prefix])]
        process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, ROOT / "launch" / f"{name}.launch.py", *arguments],
            stdout=(tmp_path / "log").open("w"),
            stderr=subprocess.STDOUT,
            cwd=tmp_path,
            env={**os.environ, "AMENT_PREFIX_PATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        process.log = tmp_path / "log"
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait()


def test_a_missing_package_is_named_before_anything_is_started(launch):
    for name, arguments, missing in (
        ("stand", ["rviz:=true"], "rviz:=true needs rviz2"),
        ("crane", ["joystick:=True"], "joystick:=True needs joy"),
        ("ros2_control", [], "controller_manager"),
    ):
        process = launch(name, *arguments)
        assert process.wait(LIMIT) == 1
        said = process.log.read_text()
        assert missing.replace("True", "true").lower() in said.lower(), said
        assert "process started" not in said


def test_a_misspelt_argument_is_named(launch):
    process = launch("stand", "rvis:=true", "world_file:=nope.yaml")
    assert process.wait(LIMIT) == 1
    said = process.log.read_text()
    assert "there is no argument 'rvis'. Did you mean 'rviz'?" in said
    assert said.count("there is no argument") == 1


def test_a_node_that_cannot_start_ends_the_launch_with_an_error(launch):
    process = launch("stand", "world_file:=nope.yaml")
    assert process.wait(LIMIT) == 1
    assert "hrpsim_node ended with code 1" in process.log.read_text()


def of_module(pids, module):
    return [p for p in pids if module in command_line(p)]


FAULTS = {
    "the launch is killed": lambda launch, pids: launch.kill(),
    "Ctrl-C twice": lambda launch, pids: [os.killpg(launch.pid, signal.SIGINT) for _ in "12"],
    "the terminal is closed": lambda launch, pids: os.killpg(launch.pid, signal.SIGHUP),
    "the node is killed": lambda launch, pids: os.kill(
        *of_module(pids, "simulation.node"), signal.SIGKILL
    ),
    "the controller is killed": lambda launch, pids: os.kill(
        *of_module(pids, "controller_node"), signal.SIGKILL
    ),
}


CODES = dict(zip(FAULTS, (-signal.SIGKILL, 0, -signal.SIGHUP, 1, 1)))


@pytest.mark.parametrize("fault", FAULTS)
def test_no_process_is_left(launch, tmp_path, fault):
    """Law: however a launch ends, all that it started ends; where one was killed it fails."""
    process = launch("stand", "record:=True", f"bag:={tmp_path}/bag", "lockstep:=true")
    assert until(lambda: "ready:" in process.log.read_text()), process.log.read_text()
    started = descendants(process.pid)
    assert len(started) == 3
    FAULTS[fault](process, started)
    assert have_ended(started)
    assert process.wait(LIMIT) == CODES[fault]
