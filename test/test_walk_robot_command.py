# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim walk --robot`: the check, what is written, and robots that cannot walk."""

import json
import re

import numpy as np
import pytest
from control.bipeds import balls, biped

import hrpsim
from hrpsim.commands.cli import main
from robots import HRP2_LIKE


@pytest.fixture
def robot(tmp_path):
    path = tmp_path / "biped.urdf"
    path.write_text(biped())
    return str(path)


def test_the_check_names_what_is_found_and_what_is_made(robot, capsys):
    assert main(["walk", "--robot", robot, "--check"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "biped.urdf: can walk E5"
    made = {line.split("  ")[1] for line in lines if line.endswith("[made]")}
    assert made == {"force sensors", "IMU", "gains"}
    assert main(["walk", "--robot", robot, "--check", "--json"]) == 0
    found = {entry["what"]: entry for entry in json.loads(capsys.readouterr().out)}
    assert found["feet"]["text"] == "left_5_link, right_5_link"
    assert found["gains"]["made"] and not found["soles"]["made"]
    assert found["verdict"]["text"] == "can walk E5"


@pytest.mark.quick_cases("check")
@pytest.mark.parametrize("more", [[], ["--check", "--json"]], ids=["walk", "check"])
def test_the_verdict_comes_after_the_plan(tmp_path, capsys, more):
    """Joints that the walk needs faster than they are: refused, with or without a walk."""
    path = tmp_path / "slow.urdf"
    path.write_text(re.sub('velocity="[^"]*"', 'velocity="0.01"', biped()))
    assert main(["walk", "--robot", str(path), "--pattern", "forward", *more]) == 1
    told = capsys.readouterr()
    assert "cannot walk forward" in told.out and ": can walk" not in told.out
    assert "rad/s. The limit is 0.010 rad/s" in told.err


def test_a_warning_is_one_line_without_code(tmp_path, capsys):
    path = tmp_path / "biped.urdf"
    path.write_text(biped(extra='<gazebo reference="base"><mu1>1.5</mu1></gazebo>'))
    assert main(["walk", "--robot", str(path), "--check"]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"hrpsim: warning: {path}: not simulated as it says: <mu1> of <gazebo>")


def test_gains_that_cannot_hold_the_robot_are_refused_by_name(tmp_path, capsys):
    """Law: two ankles of 17 Nm/rad are less than m g h, so it cannot stand, nor walk."""
    gains = "".join(
        f'<hrpsim reference="{side}_{k}"><gains kp="{17 if k > 3 else 3000}" kd="5"/></hrpsim>'
        for side in ("left", "right")
        for k in range(6)
    )
    path = tmp_path / "soft.urdf"
    path.write_text(biped(extra=gains))
    for more in ([], ["--check"], ["--check", "--json"]):
        assert main(["walk", "--robot", str(path), *more]) == 1
        told = capsys.readouterr()
        assert "cannot walk E5" in told.out and ": can walk" not in told.out
        assert "left_4 (17 Nm/rad), right_4 (17 Nm/rad) are softer" in told.err
        assert re.search(r"Give the legs [67]\.\d times their kp", told.err)


def test_the_check_says_how_the_robot_came_to_rest(robot, capsys):
    assert main(["walk", "--robot", robot, "--check"]) == 0
    said = capsys.readouterr().out
    assert re.search(r"hold +left_3, right_3 yield by 0\.003 rad under the weight", said)
    assert re.search(r"at rest +base moved by 0\.\d mm .*left_5_link.* on world/ground", said)


def test_a_robot_that_cannot_walk_is_refused_with_what_is_missing(tmp_path, capsys):
    path = tmp_path / "on_one_ball.urdf"
    path.write_text(biped(foot=lambda ahead: balls(ahead, 1)))
    assert main(["walk", "--robot", str(path)]) == 1
    assert "the left foot has no sole" in capsys.readouterr().err
    assert main(["walk", "--robot", str(path), "--sole", "0.07", "0.13", "0.1", "--check"]) == 0
    assert "soles          0.200 m long" in capsys.readouterr().out


def test_an_inertia_that_cannot_be_names_the_option_that_takes_it(tmp_path, capsys):
    path = tmp_path / "odd.urdf"
    path.write_text(biped().replace('ixx="', 'ixx="9', 1))
    assert main(["walk", "--robot", str(path), "--check"]) == 1
    told = capsys.readouterr().err
    assert "--accept-nonphysical-inertia loads it as it is" in told and "=True" not in told
    assert main(["walk", "--robot", str(path), "--check", "--accept-nonphysical-inertia"]) == 0


def test_the_robot_can_be_kept(robot, tmp_path, capsys):
    """robot.urdf and world.yaml: the start of the walk, at rest; odd inertias only if asked for."""
    kept = tmp_path / "kept"
    write = ["walk", "--robot", robot, "--check", "--write-robot", str(kept)]
    assert main([*write, "--accept-nonphysical-inertia"]) == 0
    assert "accept_nonphysical_inertia: true" in (kept / "world.yaml").read_text()
    assert main(write) == 0
    assert "accept_nonphysical_inertia" not in (kept / "world.yaml").read_text()
    assert "\n  <link " in (kept / "robot.urdf").read_text()
    world = hrpsim.load_world(kept / "world.yaml")
    model = world.robots["robot"].model
    before = world.robots["robot"].q
    world.step(200)
    assert np.abs(world.robots["robot"].q - before).max() < 1e-4
    assert np.abs(before[7:] - model.keyframes["half_sitting"][7:]).max() < 0.05


def test_it_walks_and_reports(robot, capsys):
    arguments = ["walk", "--robot", robot, "--pattern", "stepping", "--duration", "3", "--json"]
    assert main(arguments) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "stands" and report["touched"] == []
    assert report["pace"] == {"length": 1.0, "time": 1.0, "inset": 0.0}
    assert report["creep"] < 1e-4 and report["steps"] >= 1


def test_it_walks_in_a_world_without_a_robot(robot, tmp_path, capsys):
    world = tmp_path / "flat.yaml"
    world.write_text("ground: {material: floor}\nfriction: [{between: [sole, floor], static: 1}]\n")
    short = ["walk", "--robot", robot, "--duration", "0.1", "--world"]
    assert main([*short, str(world)]) == 0
    capsys.readouterr()
    world.write_text(f"robots: [{{urdf: {HRP2_LIKE}}}]\n")
    assert main([*short, str(world)]) == 1
    assert "--robot needs a world without" in capsys.readouterr().err


def test_it_walks_in_the_viewer(robot, monkeypatch):
    """What the viewer is given: the world at rest, a motion that walks, the robot to follow."""
    shown = {}

    def view(options, world, motion, follow):
        shown.update(world=world, follow=follow)
        for _ in range(400):
            motion.tick()
        return 0

    monkeypatch.setattr("hrpsim.commands.parts.view.view", view)
    assert main(["walk", "--robot", robot, "--pattern", "forward", "--viewer"]) == 0
    world = shown["world"]
    assert world.time == pytest.approx(2.0) and shown["follow"] in world.robots
    forces = np.abs(world.robots["robot"].contact_arrays().forces).sum()
    assert world.robots["robot"].q[2] > 0.4 and forces > 0.0
    assert np.ptp(world.robots["robot"].joint_velocities) > 0.1


@pytest.mark.parametrize(
    "arguments",
    [
        ["--check"],
        ["--left-foot", "a"],
        ["--sole", "1", "1", "1"],
        ["--robot", "a.urdf", "--sole", "0", "1", "1"],
        ["--robot", "a.urdf", "--ros", "--world", "b.yaml"],
    ],
)
def test_options_that_do_not_go_together(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["walk", *arguments])
    assert stopped.value.code == 2
