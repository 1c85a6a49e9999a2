# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A format of robot descriptions is one entry: suffix or beginning, and a reader."""

import itertools

import numpy as np
import pytest

import hrpsim
from hrpsim import ModelError
from hrpsim.model import robot_formats
from hrpsim.model.readers.robot_data import RobotData
from hrpsim.model.robot_formats import FORMATS, RobotFormat, format_of

MASSES = "#MASSES\nbody 2.0\n"


def read_masses(text, path, resources):
    """Return a body with the mass of the second line, a cube of edge 1 m."""
    name, mass = text.splitlines()[1].split()
    robot = RobotData("masses", name)
    inertia = float(mass) / 6.0 * np.eye(3)
    robot.add_link(name).inertial = float(mass), np.zeros(3), inertia
    return robot


@pytest.fixture(autouse=True)
def masses(monkeypatch):
    entry = RobotFormat("masses", "masses", suffixes=(".masses",), head="#MASSES", read=read_masses)
    monkeypatch.setattr(robot_formats, "FORMATS", (*FORMATS, entry))


def test_it_is_told_by_suffix_or_beginning_and_converted(tmp_path):
    sources = [tmp_path / name for name in ("a.masses", "a.txt", "a.urdf")]
    for path in sources[:2]:
        path.write_text(MASSES)
    hrpsim.convert(sources[0], sources[2])
    for path in sources:
        model = hrpsim.load_model(path)
        assert (model.link_names, model.mass) == (("body",), 2.0)


def test_no_two_formats_are_told_by_the_same_sign():
    for a, b in itertools.combinations(FORMATS, 2):
        assert not set(a.suffixes) & set(b.suffixes)
        assert not a.root or a.root != b.root


@pytest.mark.parametrize("suffix", [s for one in FORMATS if one.refusal for s in one.suffixes])
def test_a_format_that_is_not_read_says_so(tmp_path, suffix):
    path = tmp_path / f"robot{suffix}"
    path.write_text("anything")
    with pytest.raises(
        ModelError, match=r"Formats that can be read: URDF, xacro, MJCF .* and OpenHRP \.wrl"
    ):
        hrpsim.load_model(path)


def test_the_suffix_comes_before_the_contents(tmp_path):
    assert format_of("<mujoco/>", tmp_path / "a.body").name == "body"
    assert format_of("<mujoco/>", tmp_path / "a.urdf").name == "mjcf"
