# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim walk` in process: its summary, its files, its exit statuses, what it says of mistakes."""

from __future__ import annotations

import importlib.util
import json
import re

import numpy as np
import pytest
from control.walking import pattern

import hrpsim
from hrpsim import share_path
from hrpsim.bag.foot_wrenches import swings
from hrpsim.commands import walk
from hrpsim.commands.cli import main
from hrpsim.control import read_sequence, write_sequence
from hrpsim.control.pattern.footsteps import PATTERNS
from robots import HRP2_LIKE

HALF_SOLE = 0.07  # its width [m]


def test_it_walks_and_reports(tmp_path, capsys):
    """Ten steps on bushes with a stabiliser: upright, and the ZMP where it was planned."""
    plot, base = tmp_path / "plot.png", tmp_path / "stepping"
    arguments = ["walk", "--pattern", "stepping", "--json", "--plot", str(plot)]
    assert main([*arguments, "--write-sequence", str(base)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["steps"] == report["planned_steps"] == 10 and report["completed"] is True
    assert report["verdict"] == "stands" and report["fell_at"] is None and report["bushes"] is True
    assert 0.0 < report["greatest_inclination"] < np.radians(1.0)
    assert 0.0 < report["zmp_error"]["rms"] < report["zmp_error"]["largest"] < HALF_SOLE
    assert plot.stat().st_size > 10_000 and str(plot) in report["files"]
    sequence = read_sequence(base, hrpsim.load_model(HRP2_LIKE))
    assert sequence.duration == pytest.approx(report["simulated_seconds"] - 1.0, abs=0.011)


def test_a_fall_is_status_1_and_is_drawn(tmp_path, capsys):
    picture = tmp_path / "fall.png"
    assert main(["walk", "--no-stabilizer", "--film", str(picture)]) == 1
    assert picture.stat().st_size > 10_000
    assert re.search(
        r"E5, bushes, no stabiliser: \d+ of 19 steps, .* FELL", capsys.readouterr().out
    )


def test_a_film_shows_the_walk_as_long_as_it_lasts(tmp_path):
    import imageio.v3 as imageio

    film = tmp_path / "walk.gif"
    assert main(["walk", "--duration", "0.5", "--film", str(film)]) == 0
    pictures = imageio.imread(film, index=None)
    assert len(pictures) == 5 and pictures[0].std() > 10.0


def test_options_reach_robot_and_controller(tmp_path, capsys):
    file = tmp_path / "gains.yaml"
    file.write_text("pattern: turn\nhold: 0.5\n")
    short = ["walk", "--duration", "0.1", "--json", "--parameters", str(file)]
    assert main([*short, "--no-bush", "--period", "0.002"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["pattern"] == "turn" and report["bushes"] is False
    assert report["simulated_seconds"] == pytest.approx(0.1)
    assert report["steps"] == 0 and report["completed"] is False
    assert main([*short, "--pattern", "sideways", "--bush-set", "jaxon"]) == 0
    assert json.loads(capsys.readouterr().out)["pattern"] == "sideways"


def test_a_walk_of_one_tick_has_a_report(capsys):
    """Law: what was not measured yet, the error of the ZMP and creep, is not known."""
    walk = ["walk", "--pattern", "stepping"]
    assert main([*walk, "--duration", "0.005"]) == 0
    said = capsys.readouterr().out
    assert "simulated" in said and "ZMP error             not known\n" in said
    assert "worst foot creep      not known\n" in said and "0 of 10 steps" in said
    assert main([*walk, "--duration", "0.005", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["zmp_error"] is None and report["creep"] is None


def test_a_set_of_sequence_files_is_a_pattern(tmp_path, capsys):
    (tmp_path / "still.pos").write_text("0" + " 0 0 -0.4538 0.8727 -0.4189 0" * 2 + " 0" * 18)
    still = str(tmp_path / "still")
    assert main(["walk", "--pattern", still, "--no-stabilizer", "--duration", "0.5"]) == 0
    said = capsys.readouterr().out
    assert f"{still}, bushes, no stabiliser: steps not known, the robot stands" in said
    assert "ZMP error             not known\n" in said


START = "position: [0, 0, 0.6487]"
TURNED = "position: [1000, -2000, 0.6487]\n    orientation: [0, 0, 0.70710678, 0.70710678]"


@pytest.mark.long
@pytest.mark.parametrize("bare", [[], ["--no-stabilizer", "--no-bush"]])
def test_a_walk_is_compared_with_its_plan_where_and_when_it_begins(bare, tmp_path, capsys):
    """Law: neither the pose of the start nor a transition before the walk changes its errors.

    The transition takes 1 s: the first posture of the files has the shoulders 0.2 rad farther out.
    """
    base, moved, world = tmp_path / "walk", tmp_path / "moved", tmp_path / "world.yaml"
    write_sequence(pattern("forward"), base)
    for file in tmp_path.glob("walk.*"):
        file.with_stem("moved").write_bytes(file.read_bytes())
    rows = np.loadtxt(f"{base}.pos")
    rows[:, [1 + 17, 1 + 24]] += -0.2, 0.2
    np.savetxt(f"{moved}.pos", rows)
    world.write_text(share_path("config/walking_demo.yaml").read_text().replace(START, TURNED))

    def report(name, duration, *more):
        walk = ["walk", "--pattern", str(name), "--duration", str(duration), "--json", *bare]
        assert main([*walk, *more]) == 0
        return json.loads(capsys.readouterr().out)

    plain = report(base, 3.0)
    turned, late = report(base, 3.0, "--world", str(world)), report(moved, 4.0)
    for other, near in ((turned, 1e-4), (late, 3e-3)):  # other arms, another motion by so much
        assert other["zmp_error"]["rms"] == pytest.approx(plain["zmp_error"]["rms"], abs=near)
        assert other["zmp_error"]["largest"] < HALF_SOLE
        assert other["steps"] == plain["steps"] >= 1
        assert other["creep"] == pytest.approx(plain["creep"], abs=1e-5)
        assert other["distance"] == pytest.approx(plain["distance"], abs=1e-3)


@pytest.mark.parametrize(
    "arguments, named",
    [
        (["--pattern", "steping"], "Did you mean 'stepping'? Available: E5, stepping"),
        (["--pattern", "nowhere/walk"], "nowhere/walk.pos does not exist"),
        (["--bush-set", "steel"], "bush_set steel does not exist. Available: openhrp, jaxon"),
        (["--period", "0.0015"], "0.0015"),
        (["--parameters", "nowhere.yaml"], "nowhere.yaml"),
        (["--world", "nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_mistakes_end_with_one_line_and_status_1(arguments, named, capsys):
    assert main(["walk", *arguments]) == 1
    error = capsys.readouterr().err
    assert named in error and error.startswith("hrpsim: ") and error.count("\n") == 1


def test_malformed_files_are_told_by_line(tmp_path, capsys):
    (tmp_path / "bad.pos").write_text("0 1 x\n")
    assert main(["walk", "--pattern", str(tmp_path / "bad")]) == 1
    assert f"{tmp_path / 'bad.pos'}:1: column 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rate", "2"],
        ["--ros", "--plot", "walk.png"],
        ["--no-bush", "--bush-set", "jaxon"],
        ["--duration", "-1"],
        ["--duration", "0"],
    ],
)
def test_combinations_without_sense_are_wrong_usage(arguments):
    with pytest.raises(SystemExit) as ended:
        main(["walk", *arguments])
    assert ended.value.code == 2


def test_without_ros_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["walk", "--ros"]) == 1
    assert "needs rclpy, rosbags, matplotlib: pip install 'hrpsim[" in capsys.readouterr().err


def test_help_lists_what_exists():
    assert walk.PATTERNS == ", ".join(PATTERNS)
    leg = (HRP2_LIKE.parent / "hrp2_like" / "leg.xacro").read_text()
    table = leg.split('name="bush_sets"')[1].split("/>")[0]
    assert walk.BUSH_SETS == ", ".join(re.findall(r"(\w+)=dict\(slide", table))


def test_swings_are_steps_only():
    """A foot in the air while the other one bears the weight; no bounce, no flight, no fall."""
    t = np.arange(0.0, 6.0, 0.01)
    left, right = np.full(600, 250.0), np.full(600, 250.0)
    left[100:160], right[100:160] = 0.0, 500.0  # a step of the left foot
    right[200:270], left[200:270] = 0.0, 500.0  # a step of the right foot
    left[300:310] = 0.0  # a bounce
    left[400:450] = right[400:450] = 0.0  # a flight
    np.testing.assert_allclose(swings(t, left, right), [[1.0, 1.6]])
    np.testing.assert_allclose(swings(t, right, left), [[2.0, 2.7]])
