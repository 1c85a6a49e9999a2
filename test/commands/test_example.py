# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim example`: a copy works by itself, and nothing is overwritten."""

import re
import subprocess
import sys

import pytest

from hrpsim import load_world, share_path
from hrpsim.commands.cli import main
from hrpsim.commands.example import copy, examples


def test_every_script_and_world_that_is_shipped_is_an_example(capsys):
    assert main(["example"]) == 0
    listed = {line.split()[0] for line in capsys.readouterr().out.splitlines()}
    assert listed == set(examples())
    assert {path.stem for path in share_path("examples").glob("*.py")} <= listed
    assert {"stand", "walking_demo", "rubble"} <= listed


@pytest.mark.parametrize("name", examples())
def test_a_copy_names_none_of_the_shipped_files(name, tmp_path):
    """Law: a change of the copied robot is a change of the example."""
    number = copy(examples()[name], tmp_path / name)
    files = [path for path in (tmp_path / name).rglob("*") if path.is_file()]
    assert len(files) == number >= 1
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert "package://hrpsim/" not in text and not re.search(r"share_path\(\"", text), path
        if path.suffix == ".py":
            compile(text, path, "exec")


def test_a_copied_world_has_the_copied_robot(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["example", "stand"]) == 0
    assert "hrpsim run stand/stand.yaml" in capsys.readouterr().out
    robot = load_world("stand/stand.yaml").robots["hrp2"]
    assert robot.model.source == "stand/urdf/hrp2_like.urdf.xacro"
    own = tmp_path / "stand/urdf/hrp2_like.urdf.xacro"
    own.write_text("changed", encoding="utf-8")
    assert main(["example", "stand"]) == 1
    assert "stand exists and is not overwritten" in capsys.readouterr().err
    assert own.read_text(encoding="utf-8") == "changed"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stand"]


def test_a_copied_script_runs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["example", "standing"]) == 0
    command = [sys.executable, "standing/standing.py"]
    monkeypatch.setenv("PYTHONPATH", str(share_path()), prepend=":")
    subprocess.run(command, check=True, capture_output=True, timeout=300)


def test_a_misspelt_example_is_named_with_the_nearest(capsys):
    assert main(["example", "standin"]) == 1
    assert "Did you mean 'standing', 'stand'" in capsys.readouterr().err
