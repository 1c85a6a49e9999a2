# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""--record, --list-signals, --push and `hrpsim plot`: files, names, refusals, exit statuses."""

import numpy as np
import pytest

from hrpsim import Logger, Sphere, World, WorldError
from hrpsim.bag import read_signals
from hrpsim.commands.cli import main

BALL = "bodies: [{name: ball, shape: {sphere: 0.1}, mass: 1.0, position: [0, 0, 10]}]\n"


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ball.yaml").write_text(BALL, encoding="utf-8")
    return "ball.yaml"


def test_a_run_is_recorded_and_drawn(world, capsys):
    """Law: a ball that falls for a second is 4.9 m lower, at every sample."""
    assert main(["run", world, "--duration", "1", "--record", "a.npz", "--every", "0.01"]) == 0
    found = read_signals("a.npz")
    time = found.time("ball/odom.position.z")
    assert time == pytest.approx(0.01 * np.arange(101))
    expected = 10.0 - 0.5 * 9.80665 * time**2
    assert found["ball/odom.position.z"] == pytest.approx(expected, abs=1e-3)
    capsys.readouterr()
    assert main(["plot", "a.npz"]) == 0
    assert "ball/odom.position" in capsys.readouterr().out
    pytest.importorskip("matplotlib")
    assert main(["plot", "a.npz", "energy.kinetic", "ball/odom"]) == 0
    assert capsys.readouterr().out.endswith("a_signals.png\n")


def test_only_chosen_signals_are_recorded(world):
    assert main(["run", world, "--record", "a.npz", "--signals", "*.z", "solver.residual"]) == 0
    assert "solver.residual" in read_signals("a.npz")
    assert "ball/odom.position.x" not in read_signals("a.npz")


def test_the_signals_of_a_world_are_listed(world, capsys):
    assert main(["run", world, "--list-signals"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.split()[:6] == ["ball/odom.position", *"xyz", "m", "odom"] for line in lines)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (
            ["run", "ball.yaml", "--record", "a.csv"],
            "a.csv: the name of a recording must end in .npz or .mcap",
        ),
        (["run", "ball.yaml", "--signals", "solver"], "--signals has no effect without --record"),
        (["run", "ball.yaml", "--every", "1"], "--every has no effect without --record"),
        (
            ["run", "ball.yaml", "--record", "a.npz", "--signals", "ball/odem"],
            "signal 'ball/odem' does not exist. Did you mean 'ball/odom'",
        ),
        (
            ["run", "ball.yaml", "--record", "a.npz", "--every", "0.0007"],
            "every of 0.0007 s is not a whole multiple",
        ),
        (["plot", "none.npz", "solver"], "there is no recording 'none.npz'"),
        (["plot", "none.mcap"], "there is no bag 'none.mcap'"),
        (["walk", "--push", "BODI,1,0,1"], "--push: link 'BODI' does not exist. Did you mean"),
    ],
)
def test_wrong_arguments_are_refused_in_one_line(world, arguments, said, capsys, tmp_path):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not list(tmp_path.glob("a.*"))


def test_what_was_simulated_before_an_error_is_recorded(world, monkeypatch):
    """Law: a run that cannot go on leaves its samples."""
    step = World.step

    def fail_later(self, n=1):
        step(self, min(n, 100))
        if n > 100:
            raise WorldError("a step cannot be done")

    monkeypatch.setattr(World, "step", fail_later)
    assert main(["run", world, "--duration", "1", "--record", "a.npz"]) == 1
    assert read_signals("a.npz").time("solver.residual")[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("text", ["BODY,1,0", "BODY,a,0,1", ",1,0,1", "BODY,1,0,-1"])
def test_a_push_is_four_values(text, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["walk", "--push", text])
    assert ended.value.code == 2
    assert "--push" in capsys.readouterr().err


@pytest.mark.timeout(300)
def test_a_walk_is_pushed_and_recorded(tmp_path, monkeypatch, capsys):
    """Law: the push gives its impulse, in its direction, at its time."""
    monkeypatch.chdir(tmp_path)
    walk = ["walk", "--duration", "0.5", "--signals", "odom", "--record"]
    assert main([*walk, "plain.npz"]) == 0
    assert main([*walk, "pushed.npz", "--push", "BODY,5,1.5707963,0.2"]) == 0
    plain, pushed = read_signals("plain.npz"), read_signals("pushed.npz")
    moved = pushed["odom.position.y"] - plain["odom.position.y"]
    time = pushed.time("odom.position.y")
    assert not moved[time < 0.2].any() and moved[time > 0.29].min() > 1e-3


@pytest.mark.parametrize(
    ("push", "named"),
    [("BODY,5,90,0.2", "if 90 degrees are meant, write 1.571"), ("BODY,5,0,0.5", "not before")],
)
def test_a_doubtful_push_is_named(push, named, tmp_path, monkeypatch, capsys):
    """Law: a heading in degrees is warned of. A push after the end is refused."""
    monkeypatch.chdir(tmp_path)
    status = main(["walk", "--duration", "0.3", "--push", push])
    assert status == int(named == "not before")
    assert named in capsys.readouterr().err


def test_verify_finds_damage_of_a_recording(tmp_path, capsys):
    """Law: a changed byte within an array is named; the sound file is not."""
    path = tmp_path / "run.npz"
    world = World()
    world.add_body(Sphere(0.1), 1.0, name="ball")
    with Logger(world) as log:
        world.step(200)
    log.save(path)
    assert main(["verify", str(path)]) == 0
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 1
    path.write_bytes(data)
    assert main(["verify", str(path)]) == 1
    assert "damaged" in capsys.readouterr().out
