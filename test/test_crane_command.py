# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim crane`: played by a script, and what it refuses."""

import json

import pytest

from hrpsim import share_path
from hrpsim.commands.cli import main


@pytest.mark.long
def test_the_script_fetches_what_stands_alone(capsys):
    assert main(["crane", "--script", "--acceleration", "3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["in_goal"] == ["box", "ball", "tin", "pill", "heart", "girder"]
    assert report["of"] == 15


@pytest.mark.long
def test_a_grip_too_weak_for_the_box_leaves_it(capsys):
    # 0.5 kg need 2 mu N > m g: more than 4.9 N; the others need less than 3 N.
    assert main(["crane", "--script", "--grip", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["in_goal"] == [
        "ball",
        "tin",
        "pill",
        "heart",
        "girder",
    ]


@pytest.mark.parametrize(
    ("replaced", "by", "message"),
    [
        ("name: crane", "name: other", "no robot with the name 'crane'"),
        ("name: goal,", "name: g,", "'goal'"),
    ],
)
def test_a_world_without_crane_or_goal_is_refused(tmp_path, capsys, replaced, by, message):
    text = share_path("config/crane.yaml").read_text()
    assert replaced in text
    (tmp_path / "game.yaml").write_text(text.replace(replaced, by))
    assert main(["crane", "--script", "--world", str(tmp_path / "game.yaml")]) == 1
    assert message in capsys.readouterr().err


def test_bad_options_are_refused(capsys):
    assert main(["crane", "--script", "--grip", "0"]) == 1
    assert "grip: must be positive" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["crane", "--script", "--ros"])
    assert "not allowed with" in capsys.readouterr().err
