# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim view`: a page of a run, and errors before anything is served."""

import pytest
from grouped import needs

from hrpsim.commands.cli import main

pytestmark = needs("viser")
BALL = "bodies: [{name: ball, shape: {sphere: 0.1}, mass: 1.0, position: [0, 0, 10]}]\n"


@pytest.fixture
def world(tmp_path):
    file = tmp_path / "ball.yaml"
    file.write_text(BALL, encoding="utf-8")
    return str(file)


def test_a_page_of_a_run_is_saved(world, tmp_path, capsys):
    """Law: 25 pictures a simulated second, and one of the start."""
    page = tmp_path / "ball.html"
    assert main(["view", world, "--save", str(page), "--duration", "0.4", "--follow", "ball"]) == 0
    assert page.stat().st_size > 100_000
    assert f"{page}: 11 pictures of 0.4 s" in capsys.readouterr().out


@pytest.mark.parametrize(
    "options, cause",
    [
        (("--save", "ball.mp4"), "--save writes a page that ends in .html"),
        (("--follow", "bal"), "ball"),
        (("--worlds", "nowhere"), "there is no such folder of worlds"),
    ],
)
def test_what_cannot_be_shown_is_named(world, options, cause, capsys):
    assert main(["view", world, *options]) == 1
    assert cause in capsys.readouterr().err
