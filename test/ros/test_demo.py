"""The demonstration, shortened: processes, files and verdict."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hrpsim.ros.bag_reader import message_counts
from hrpsim.ros.demo import fresh_folder


def run_demo(output, *arguments, start_limit=120):
    command = [sys.executable, "-m", "hrpsim.ros.demo", "--headless", "--output", output]
    return subprocess.run(
        [*command, "--start-limit", str(start_limit), *arguments],
        capture_output=True,
        text=True,
        timeout=270,
        check=False,
        env=os.environ,
    )


@pytest.mark.timeout(300)
def test_a_short_demonstration(tmp_path):
    result = run_demo(tmp_path / "out", "--duration", "3")
    assert result.returncode == 0, result.stdout + result.stderr
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["problems"] == []
    assert summary["fell"] is False
    assert summary["simulated_seconds"] >= 3.0
    assert summary["steps"] >= 3000
    assert summary["messages"] == message_counts(tmp_path / "out" / "bag")
    assert summary["messages"]["/joint_commands"] >= 500
    assert (tmp_path / "out" / "foot_forces.png").stat().st_size > 10_000
    assert not processes_of(domain_of(result))


@pytest.mark.timeout(300)
def test_a_start_that_takes_too_long_is_reported(tmp_path):
    result = run_demo(tmp_path, start_limit=0.5)
    assert result.returncode == 1
    assert "FAILED: not ready after 0.5 s: node, recorder, controller" in result.stdout
    assert not processes_of(domain_of(result))


@pytest.mark.timeout(300)
def test_a_world_that_cannot_be_loaded_is_reported(tmp_path):
    result = run_demo(tmp_path, "--world", "no_such_world.yaml")
    assert result.returncode == 1
    assert "no_such_world.yaml" in result.stdout
    assert "FAILED" in result.stdout


def test_only_what_a_demonstration_wrote_is_removed(tmp_path):
    for name in ("bag/bag.mcap", "bag/metadata.yaml", "node.log", "mine.txt", "sub/node.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert fresh_folder(tmp_path) == tmp_path
    left = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert left == {"mine.txt", "sub/node.log"}


def test_a_folder_called_bag_that_is_none_is_kept(tmp_path):
    (tmp_path / "bag").mkdir()
    (tmp_path / "bag" / "groceries.txt").write_text("")
    fresh_folder(tmp_path)
    assert (tmp_path / "bag" / "groceries.txt").exists()


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
