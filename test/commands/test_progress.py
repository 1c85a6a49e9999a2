# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A long run shows its progress on a terminal, and only there; its steps are the same."""

import sys

import pytest

from hrpsim.commands.cli import main
from hrpsim.common import progress

BALL = "bodies: [{name: ball, shape: {sphere: 0.1}, mass: 1.0, position: [0, 0, 10]}]\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_run_shows_its_time_on_a_terminal(tmp_path, monkeypatch, capsys, is_terminal):
    (tmp_path / "ball.yaml").write_text(BALL, encoding="utf-8")
    monkeypatch.setattr(progress, "_QUIET", 0.0)
    monkeypatch.setattr(progress, "_PERIOD", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal, raising=False)
    assert main(["run", str(tmp_path / "ball.yaml"), "--duration", "0.5"]) == 0
    shown = capsys.readouterr()
    assert "simulated_time: 0.5\nsteps: 500\n" in shown.out
    assert ("hrpsim: 0.5 of 0.5 s" in shown.err) == is_terminal
    assert shown.err.endswith("\r\033[K") == is_terminal
