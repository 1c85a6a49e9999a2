# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""hrpsim inverse-dynamics: what it prints, writes and flags."""

import csv
import io
import json
import re
import sys

import numpy as np
import pytest
from analysis.motions import hrp2_like, squat, walk, write_csv

from hrpsim.analysis import Analyser, analyse_motion
from hrpsim.analysis.motion import motion_of
from hrpsim.commands.cli import main
from hrpsim.control import write_sequence
from robots import ALL_ROBOTS, HRP2_LIKE


@pytest.fixture
def squat_csv(tmp_path):
    return str(write_csv(tmp_path / "squat.csv", *squat()))


def command(*arguments):
    return main(["inverse-dynamics", str(HRP2_LIKE), *map(str, arguments)])


def test_the_summary_as_text(squat_csv, capsys):
    assert command(squat_csv) == 0
    text = capsys.readouterr().out
    assert "101 samples, 0 to 1 s, hrp2_like" in text
    assert "fixed links (detected):\n  from    0.000 s  l_sole + r_sole\n" in text
    assert re.search(r"LEG_JOINT3 +-\d+\.\d\d at 0\.\d{3} s +\d+\.\d % of 280", text)
    assert re.search(r"ZMP in the support polygon: at worst \d+\.\d mm inside, at", text)
    assert text.endswith("violations: none\n")


def test_the_summary_as_json(squat_csv, capsys):
    assert command(squat_csv, squat_csv, "--json", "--fixed-link", "r_sole+l_sole") == 0
    reports = json.loads(capsys.readouterr().out)
    assert len(reports) == 2 and reports[0]["samples"] == 101
    assert reports[0]["fixed_links"]["from"] == "given"
    forces = [reports[0]["supports"][sole]["normal_force"]["most"] for sole in ("l_sole", "r_sole")]
    assert sum(force["value"] for force in forces) > 58.0 * 9.8
    knee = reports[0]["joints"]["RLEG_JOINT3"]
    assert knee["torque_limit"] == 280.0 and 0.0 < -knee["torque"] < 280.0


def test_the_table_has_the_numbers_of_the_analysis(squat_csv, capsys):
    assert command(squat_csv, "--csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    names, times, positions = squat()
    found = analyse_motion(
        Analyser(hrp2_like()), motion_of(hrp2_like(), "squat", times, names, positions)
    ).found
    assert len(rows) == 101
    for row, t in ((rows[40], 40), (rows[-1], 100)):
        assert float(row["time"]) == pytest.approx(times[t])
        assert float(row["zmp_x"]) == pytest.approx(found.samples["zmp"][t, 0], abs=1e-8)
        assert float(row["r_sole_fz"]) == pytest.approx(found.support("r_sole")["force"][t, 2])
        knee = hrp2_like().joint("RLEG_JOINT3").v_index
        assert float(row["RLEG_JOINT3_torque"]) == pytest.approx(found.tau[t, knee])
        assert row["fixed_links"] == "l_sole r_sole"


def test_plot_and_report_are_files_of_their_own(squat_csv, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    plot, page = tmp_path / "squat.png", tmp_path / "squat.html"
    assert command(squat_csv, "--plot", plot, "--html", page) == 0
    assert plot.read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    assert "data:image/png;base64," in text and "no violations" in text
    assert not re.search(r"""(?:src|href)\s*=\s*["'](?!data:)|url\(|@import|<script|<link""", text)
    assert "http" not in text.split("base64,")[0] + text.split("base64,")[1].split('"', 1)[1]


def test_violations_are_flagged(tmp_path, capsys):
    """A leap of the knees: too fast, too strong, and the soles would have to pull."""
    names, times, positions = squat(21, 0.004)
    path = write_csv(tmp_path / "leap.csv", names, times, positions)
    assert command(path, "--json") == 0
    (report,) = json.loads(capsys.readouterr().out)
    kinds = {violation["kind"] for violation in report["violations"]}
    assert {"velocity", "torque", "lift"} <= kinds
    pull = next(v for v in report["violations"] if v["kind"] == "lift")
    assert pull["worst"] < 0.0 and pull["begin"] <= pull["worst_time"] <= pull["end"]
    assert command(path) == 0
    assert "violations: " in capsys.readouterr().out


def test_zmp_outside_and_friction_beyond_the_limit_are_flagged():
    names, times, positions = squat(101, 0.01)
    positions[:, names.index("CHEST_JOINT1")] = 0.4 * np.sin(9.0 * times)
    result = analyse_motion(
        Analyser(hrp2_like()), motion_of(hrp2_like(), "bow", times, names, positions), friction=0.1
    )
    kinds = {violation.kind: violation for violation in result.violations}
    assert kinds["zmp"].worst < 0.0 == kinds["zmp"].limit
    assert kinds["friction"].worst > 0.1 == kinds["friction"].limit
    at = int(np.argmin(result.found.samples["margin"]))
    worst = min(v.worst for v in result.violations if v.kind == "zmp")
    assert worst == result.found.samples["margin"][at]


def test_joint_limits_are_flagged_with_their_sides():
    model = hrp2_like()
    names, times, positions = squat()
    k = model.joint("HEAD_JOINT1").v_index
    lower, upper = model.system.lower[k], model.system.upper[k]
    head = names.index("HEAD_JOINT1")
    positions[:, head] = np.where(times < 0.5, upper + 0.1, lower - 0.2)
    result = analyse_motion(Analyser(model), motion_of(model, "nod", times, names, positions))
    over = [v for v in result.violations if v.kind == "position" and v.name == "HEAD_JOINT1"]
    assert [(v.limit, v.worst) for v in over] == [
        (pytest.approx(upper), pytest.approx(upper + 0.1)),
        (pytest.approx(lower), pytest.approx(lower - 0.2)),
    ]


def test_an_hrpsys_set_with_given_links(tmp_path, capsys):
    write_sequence(walk().sequence, tmp_path / "walk")
    assert command(tmp_path / "walk", "--json", "--period", "0.02") == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["samples"] == 1001 and report["zmp_margin"]["value"] > 0.05


def test_a_robot_without_boxes_is_told_its_soles(tmp_path, capsys):
    """The G1 of example-robot-data has meshes only, whose files lie elsewhere."""
    from dynamics.oracle import bare_urdf
    from lxml import etree

    urdf = tmp_path / "g1.urdf"
    source = ALL_ROBOTS["g1_description/g1_29dof_rev_1_0"]
    urdf.write_text(bare_urdf(etree.parse(source).getroot()))
    motion = tmp_path / "nod.yaml"
    motion.write_text(
        "keyframes:\n- {time: 0, joints: {waist_pitch_joint: 0}}\n"
        "- {time: 1, joints: {waist_pitch_joint: 0.1}}\n"
    )
    assert main(["inverse-dynamics", str(urdf), str(motion)]) == 1
    assert "no link has a collision box to stand on" in capsys.readouterr().err
    soles = [f"--sole={side}_ankle_roll_link=-0.05,0.12,-0.03,0.03" for side in ("left", "right")]
    assert main(["inverse-dynamics", str(urdf), str(motion), *soles, "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert len(report["fixed_links"]["phases"][0]["links"]) == 2
    assert main(["inverse-dynamics", str(urdf), str(motion), "--fixed-link", "pelvis"]) == 0
    assert "ZMP in the support polygon: no outline" in capsys.readouterr().out


def test_progress_of_a_long_motion_is_shown(capsys, monkeypatch):
    """Law: a terminal shows each stage and the samples, not more often than the period."""
    from hrpsim.commands.inverse_dynamics import MotionProgress
    from hrpsim.common import progress

    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress, "_QUIET", 0.5)
    monkeypatch.setattr(progress, "_PERIOD", 0.5)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    show = MotionProgress("walk.csv")
    for stage in ("reading", "analysing"):
        for done in range(0, 101, 10):
            show(stage, done, 100)
            now[0] += 0.15
    lines = capsys.readouterr().err.split("\r\033[K")
    assert lines == [
        "",
        "hrpsim: reading walk.csv [########------------] 40 of 100 samples",
        "hrpsim: reading walk.csv [################----] 80 of 100 samples",
        "",
        "hrpsim: analysing walk.csv [##------------------] 10 of 100 samples",
        "hrpsim: analysing walk.csv [##########----------] 50 of 100 samples",
        "hrpsim: analysing walk.csv [##################--] 90 of 100 samples",
        "",
    ]


def test_every_stage_tells_how_far_it_is(squat_csv):
    from hrpsim.analysis.motion_files import read_motion

    told = []
    motion = read_motion(squat_csv, hrp2_like(), progress=lambda *args: told.append(args))
    analyse_motion(Analyser(hrp2_like()), motion, progress=lambda *args: told.append(args))
    stages = {stage for stage, _, total in told if total == 101}
    assert stages == {"reading", "looking for fixed links in", "analysing"}
