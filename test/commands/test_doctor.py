# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`hrpsim doctor`: what is here, what is missing for what, and the exit status of the base."""

import importlib.util
import json
from configparser import ConfigParser

import pytest
from committed import ROOT

from hrpsim.commands import doctor
from hrpsim.commands.cli import main
from hrpsim.common.extras import EXTRA_PACKAGES, EXTRA_PURPOSES, EXTRAS


def report(capsys, expected=0):
    assert main(["doctor", "--json"]) == expected
    found = json.loads(capsys.readouterr().out)
    assert found["base_works"] == (expected == 0)
    return {one["what"]: one for one in found["findings"]}


@pytest.mark.long
def test_each_extra_is_here_or_missing_with_its_cure(capsys, monkeypatch):
    """Law: an extra is ok if Python finds all its packages, else its cure installs it."""
    monkeypatch.setitem(doctor._CHECKS, "pictures", lambda: ("ok", "", ""))
    found = report(capsys)
    for name, packages in EXTRA_PACKAGES.items():
        here = all(importlib.util.find_spec(package) for package in packages)
        line = found[f"[{name}]"]
        assert line["state"] == ("ok" if here else "missing")
        assert line["cure"] == ("" if here else f"pip install 'hrpsim[{name}]'")


def test_the_table_has_every_extra_for_users():
    config = ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    declared = set(config["options.extras_require"]) - {"ros", "peers", "bench", "test"}
    assert declared == set(EXTRA_PURPOSES)
    assert set(EXTRAS.values()) <= declared


def test_a_missing_extra_does_not_change_the_status(capsys, monkeypatch):
    find = importlib.util.find_spec
    hidden = {"viser", "mujoco", "rclpy"}
    monkeypatch.setattr(importlib.util, "find_spec", lambda n: None if n in hidden else find(n))
    found = report(capsys)
    assert found["[viewer]"]["state"] == found["pictures"]["state"] == "missing"
    assert "pip install 'hrpsim[ros]'" in found["ROS 2"]["cure"]


@pytest.mark.long
def test_a_base_that_does_not_work_is_status_1(capsys, monkeypatch):
    def fail():
        raise ImportError("numba is damaged")

    monkeypatch.setitem(doctor._CHECKS, "a step", fail)
    monkeypatch.setitem(doctor._CHECKS, "pictures", lambda: ("ok", "", ""))
    found = report(capsys, expected=1)
    assert found["a step"] == {
        "what": "a step",
        "state": "broken",
        "text": "ImportError: numba is damaged",
        "cure": "install hrpsim again",
    }
    assert main(["doctor"]) == 1
    assert "the base does not work" in capsys.readouterr().out
