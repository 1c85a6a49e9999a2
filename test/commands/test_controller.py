# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim controller new: what it writes runs and its test passes; nothing is overwritten."""

import subprocess
import sys
from pathlib import Path

import pytest

from hrpsim.commands.cli import main
from hrpsim.control import find_controller

ROOT = Path(__file__).resolve().parents[2]


def test_the_skeleton_s_own_test_passes(tmp_path, monkeypatch, capsys):
    assert main(["controller", "new", "my_stand", "--folder", str(tmp_path)]) == 0
    assert "test_my_stand.py" in capsys.readouterr().out
    assert find_controller(f"{tmp_path / 'my_stand.py'}:MyStand").needs == {"base": "estimated"}
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=":")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_my_stand.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "2 passed" in done.stdout, done.stdout + done.stderr


def test_nothing_is_overwritten(tmp_path, capsys):
    (tmp_path / "test_my_stand.py").write_text("mine")
    assert main(["controller", "new", "my_stand", "--folder", str(tmp_path)]) == 1
    assert "test_my_stand.py' exists" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["test_my_stand.py"]


@pytest.mark.parametrize("name", ["MyStand", "my-walk", "class", "../walk", ""])
def test_a_name_must_be_a_module_s(name, tmp_path, capsys):
    assert main(["controller", "new", name, "--folder", str(tmp_path)]) == 1
    assert "the name of a module consists of small letters" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["command", "control_loop", "numpy", "random"])
def test_a_name_must_not_hide_what_the_controller_imports(name, tmp_path, capsys):
    assert main(["controller", "new", name, "--folder", str(tmp_path)]) == 1
    assert f"Choose another name, such as my_{name}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
