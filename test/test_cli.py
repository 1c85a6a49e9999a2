# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The hrpsim command: its reports, its exit statuses, and what it says of mistakes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from meshes import angle_bracket, write_obj

import hrpsim
from hrpsim import share_path
from hrpsim.commands.cli import main


def test_run_reports_the_weight_on_the_feet(capsys):
    assert main(["run", str(share_path("config/stand.yaml")), "--duration", "0.1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    wrenches = report["robots"]["hrp2"]["wrenches"]
    assert wrenches["lfsensor"][2] + wrenches["rfsensor"][2] == pytest.approx(568.79, abs=0.01)
    assert report["steps"] == 100 and report["simulated_time"] == pytest.approx(0.1)


def test_the_package_runs_as_the_command():
    """Law: `python -m hrpsim` is `hrpsim`."""
    command = [sys.executable, "-m", "hrpsim", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"hrpsim {hrpsim.__version__}\n"


def test_version_is_that_of_the_package(capsys):
    package = ElementTree.parse(share_path("package.xml"))
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"hrpsim {package.findtext('version')}\n"
    assert hrpsim.__version__ == package.findtext("version")


def test_check_model_lists_joints_and_sensors(capsys):
    urdf = str(share_path("urdf/hrp2_like.urdf.xacro"))
    assert main(["check-model", urdf, "--xacro", "bush:=true", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mass"] == 58 and len(report["joints"]) == 36 and "lfsensor" in report["sensors"]
    assert main(["check-model", urdf]) == 0
    assert "mass: 58" in capsys.readouterr().out


def test_check_model_says_what_became_of_meshes(tmp_path, capsys):
    vertices, triangles = angle_bracket()
    write_obj(tmp_path / "whole.obj", vertices, triangles)
    write_obj(tmp_path / "open.obj", vertices, triangles[1:])
    meshes = "".join(
        f'<collision><geometry><mesh filename="{name}.obj"/></geometry></collision>'
        for name in ("whole", "open")
    )
    urdf = tmp_path / "r.urdf"
    urdf.write_text(
        '<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" '
        f'izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{meshes}</link></robot>'
    )
    assert main(["check-model", str(urdf), "--meshes", "exact", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert [mesh["use"] for mesh in report["collision_meshes"]] == ["exact", "hull"]
    (warning,) = report["warnings"]
    assert str(tmp_path / "open.obj") in warning and "it is open: 3 of its" in warning
    assert main(["check-model", str(urdf), "--meshes", "exact"]) == 0
    printed = capsys.readouterr()
    assert "a: whole.obj: exact, 12 vertices, 20 triangles; open.obj: hull of" in printed.out
    assert printed.err.startswith("hrpsim: warning: ") and "open.obj" in printed.err
    assert main(["check-model", str(urdf), "--meshes", "none"]) == 0
    assert "does not collide" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["check-model", "nowhere.urdf"], "nowhere.urdf"),
        (["run", "nowhere.yaml", "--xacro", "bush"], "NAME:=VALUE"),
    ],
)
def test_mistakes_end_with_one_line_and_status_1(arguments, named, capsys):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert named in error and error.startswith("hrpsim: ") and error.count("\n") == 1


@pytest.mark.long
def test_warm_up_says_that_kernels_are_ready(capsys):
    assert main(["warm-up"]) == 0
    assert "ready" in capsys.readouterr().out


def test_importing_hrpsim_is_quick():
    """Law: names are loaded when they are used, and what takes long to import with them."""
    code = "import sys, hrpsim; print(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-c", code], text=True).split()
    assert {name.partition(".")[0] for name in loaded} >= {"hrpsim"}
    slow = {"numpy", "numba", "scipy", "lxml", "yaml", "trimesh", "asyncio", "multiprocessing"}
    assert not slow & {name.partition(".")[0] for name in loaded}
    assert len([name for name in loaded if name.startswith("hrpsim")]) < 10


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["run", "w.yaml", "--duration", "nan"], "--duration"),
        (["run", "w.yaml", "--duration", "-1"], "--duration"),
        (["run", "w.yaml", "--time-step", "0"], "--time-step"),
        (["run", "w.yaml", "--port", "70000"], "--port"),
        (["check-model", "r.urdf", "--samples", "1e9"], "--samples"),
        (["check-model", "r.urdf", "--seed", "-1"], "--seed"),
        (["inverse-dynamics", "r.urdf", "m.csv", "--period", "inf"], "--period"),
        (["inverse-dynamics", "r.urdf", "m.csv", "--smoothing", "-1"], "--smoothing"),
        (["walk", "--period", "soon"], "--period"),
        (["walk", "--ros", "--rate", "nan"], "--rate"),
        (["walk", "--ros", "--domain-id", "9" * 40], "--domain-id"),
        (["crane", "--time-step", "-0.1"], "--time-step"),
        (["warm-up", "--processes", "0"], "--processes"),
    ],
)
def test_odd_option_values_are_refused_by_name(arguments, named, capsys):
    """Wrong usage: status 2, and the last line names the option and what it may be."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    last = capsys.readouterr().err.strip().splitlines()[-1]
    assert ended.value.code == 2 and named in last and " is not " in last


@pytest.mark.parametrize(
    "name, content, arguments",
    [
        ("w.yaml", b"bodies: [{shape: {sphere: 1}, mass: 2001-01-01}]", ["run"]),
        ("w.yaml", b"bodies: \xff", ["run"]),
        ("w.yaml", b"[" * 3000, ["run"]),
        ("w.yaml", b"world: {time_step: !!float abc}", ["run"]),
        ("r.urdf", b'<?xml version="1.0" encoding="undefined"?><robot/>', ["check-model"]),
        ("r.urdf", b"<robot name='r'><link name='a'/>", ["check-model"]),
        ("p.yaml", b"gain\xff: 1", ["walk", "--parameters"]),
        ("p.yaml", b"NOPE: 1", ["walk", "--parameters"]),
    ],
)
def test_bad_files_end_with_one_line_that_names_the_file(
    name, content, arguments, tmp_path, capsys
):
    path = tmp_path / name
    path.write_bytes(content)
    assert main([*arguments, str(path)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("hrpsim: ") and error.count("\n") == 1 and len(error) < 2000
    assert name in error or "'NOPE'" in error


def test_a_run_of_too_many_steps_is_refused(tmp_path, capsys):
    path = tmp_path / "w.yaml"
    path.write_text("world: {time_step: 1e-9}")
    assert main(["run", str(path), "--duration", "1e11"]) == 1
    assert "steps" in capsys.readouterr().err


def test_a_fault_of_its_own_is_one_line_too(monkeypatch, capsys):
    """And a traceback only where it is asked for."""
    from hrpsim.commands import cli

    def fail(options):
        raise KeyError("some\nplace")

    monkeypatch.setattr(cli, "run_world", fail)
    assert main(["run", "w.yaml"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "internal error: KeyError" in error
    monkeypatch.setenv("HRPSIM_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main(["run", "w.yaml"])


def test_a_command_imports_no_other():
    """Law: a start waits for what it needs; each command is found under its name all the same."""
    from hrpsim.commands.cli import _COMMANDS, _parser

    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "import hrpsim.commands.cli as c, sys; c._parser('run'); print(*sys.modules)",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    parts = ("output", "record_signals", "view")
    of_run = ("cli", "parts", *(f"parts.{name}" for name in parts))
    loaded = {name for name in done.stdout.split() if name.startswith("hrpsim.commands.")}
    assert loaded == {f"hrpsim.commands.{name}" for name in of_run}
    for name in _COMMANDS:
        with pytest.raises(SystemExit) as ended:
            _parser(name).parse_args([name, "--help"])
        assert ended.value.code == 0


def test_every_help_fits_on_a_screen(monkeypatch):
    """Law: at most 40 lines of 80 columns, with every option of the command."""
    from hrpsim.commands.cli import _COMMANDS, _parser

    monkeypatch.setenv("COLUMNS", "80")
    for name in ("run", "reproduce", *_COMMANDS):
        parser = _parser(name).get_default("commands")[name]
        text = parser.format_help()
        assert sum(max(1, -(-len(line) // 80)) for line in text.splitlines()) <= 40, name
        options = {option for action in parser._actions for option in action.option_strings}
        assert options - {"-h", "--help"} <= set(re.findall(r"--[\w-]+", text)), name
    assert len(_parser("").format_help().splitlines()) <= 40


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["wlak"], "command 'wlak' does not exist. Did you mean 'walk'?"),
        (["walk", "--patern", "forward"], "--patern forward. Did you mean '--pattern'"),
        (["check-model", "x.urdf", "--slef-collisions"], "Did you mean '--self-collisions'"),
    ],
)
def test_a_misspelt_command_or_option_is_wrong_usage_with_the_right_name(arguments, named, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert named in capsys.readouterr().err


def test_a_reader_that_ends_is_no_error():
    """`hrpsim ... | head` ends as programs do that SIGPIPE ends, without a word."""
    command = [sys.executable, "-m", "hrpsim", "check-model", "--json"]
    command.append(str(share_path("urdf/hrp2_like.urdf.xacro")))
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")
