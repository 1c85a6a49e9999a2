"""The hrpsim command: its reports, its exit statuses, and what it says of mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from hrpsim.cli import main
from hrpsim.resources import share_path


def test_run_reports_the_weight_on_the_feet(capsys):
    assert main(["run", str(share_path("config/stand.yaml")), "--duration", "0.1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    wrenches = report["robots"]["hrp2"]["wrenches"]
    assert wrenches["lfsensor"][2] + wrenches["rfsensor"][2] == pytest.approx(568.79, abs=0.01)
    assert report["steps"] == 100 and report["simulated_time"] == pytest.approx(0.1)


def test_check_urdf_lists_joints_and_sensors(capsys):
    urdf = str(share_path("urdf/hrp2_like.urdf.xacro"))
    assert main(["check-urdf", urdf, "--xacro", "bush:=true", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["mass"] == 58 and len(report["joints"]) == 36 and "lfsensor" in report["sensors"]
    assert main(["check-urdf", urdf]) == 0
    assert "mass: 58" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["check-urdf", "nowhere.urdf"], "nowhere.urdf"),
        (["run", "nowhere.yaml", "--xacro", "bush"], "NAME:=VALUE"),
    ],
)
def test_mistakes_end_with_one_line_and_status_1(arguments, named, capsys):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert named in error and error.startswith("hrpsim: ") and error.count("\n") == 1


def test_warm_up_says_that_kernels_are_ready(capsys):
    assert main(["warm-up"]) == 0
    assert "ready" in capsys.readouterr().out


def test_importing_hrpsim_is_quick():
    """Under 0.3 s of processor time in a fresh process: names are loaded when they are used."""
    code = "import time; t = time.process_time(); import hrpsim; print(time.process_time() - t)"
    begin = time.monotonic()
    took = float(subprocess.check_output([sys.executable, "-c", code], timeout=60))
    assert took < 0.3, f"{took:.2f} s of processor time, {time.monotonic() - begin:.2f} s in all"
