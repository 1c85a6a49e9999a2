"""The demonstration, shortened: processes, files and verdict."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hrpsim.ros.bag_reader import message_counts


def run_demo(output, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "hrpsim.ros.demo", "--headless", "--output", output, *arguments],
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
        env=os.environ,
    )


@pytest.mark.timeout(180)
def test_a_short_demonstration(tmp_path):
    result = run_demo(tmp_path / "out", "--duration", "3")
    assert result.returncode == 0, result.stdout + result.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["problems"] == []
    assert summary["fell"] is False
    assert 3.0 <= summary["simulated_seconds"] < 8.0
    assert summary["steps"] >= 3000
    assert summary["messages"] == message_counts(tmp_path / "out" / "bag")
    assert summary["messages"]["/joint_commands"] >= 500
    assert (tmp_path / "out" / "foot_forces.png").stat().st_size > 10_000
    assert not processes_of(domain_of(result))

    again = run_demo(tmp_path / "out", "--duration", "1")  # what it left is no hindrance
    assert again.returncode == 0, again.stdout + again.stderr


@pytest.mark.timeout(180)
def test_a_world_that_cannot_be_loaded_is_reported(tmp_path):
    result = run_demo(tmp_path, "--world", "no_such_world.yaml")
    assert result.returncode == 1
    assert "no_such_world.yaml" in result.stdout
    assert "FAILED" in result.stdout


def domain_of(result):
    """Return the private domain that a demonstration says it uses."""
    return re.search(r"ROS_DOMAIN_ID (\d+)", result.stdout)[1]


def processes_of(domain_id):
    """Return the command lines of the running processes in a ROS domain."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if f"ROS_DOMAIN_ID={domain_id}".encode() in environment and command:
            found.append(command)
    return found
