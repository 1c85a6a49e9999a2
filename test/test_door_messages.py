# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Mistakes of first days are refused with the cure, at the doors in Python."""

import pytest

import hrpsim
from hrpsim import Box, HrpsimError, World, load_model, load_world
from hrpsim.control import Command, Controller, ControlLoop

ARM = """<robot name="arm"><link name="base"/><link name="rod"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/></joint></robot>"""


class Still(Controller):
    period = 0.01

    def control(self, state):
        return Command()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf").write_text(ARM)
    (tmp_path / "floor.yaml").write_text("ground: {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def arm_and(make):
    return make(World().add_robot(load_model(ARM, base="fixed")))


MISTAKES = [
    (
        lambda: load_world("arm.urdf"),
        r"arm.urdf: is XML.*`load_model` .*robots: \[\{urdf: FILE\}\]",
    ),
    (lambda: load_world("stand.yaml"), "No such file.*hrpsim ships one of this name, .*stand.yaml"),
    (lambda: load_model("floor.yaml"), "floor.yaml.*a world file .* is read by `load_world`"),
    (
        lambda: World().add_robot("arm.urdf"),
        "add_robot needs a model, got 'arm.urdf': `load_model`",
    ),
    (lambda: World().add_body("box", 1.0), r"a body needs a shape, such as Box\(\(1, 1, 1\)\)"),
    (lambda: Box(1, 2, 3), r"in one argument, Box\(\(1, 2, 3\)\), got 1, 2, 3"),
    (lambda: Box([1, 2]), r"in one argument, Box\(\(x, y, z\)\), got 1, 2"),
    (lambda: ControlLoop(World(), Still()), r"needs a robot, such as world.robots\['NAME'\]"),
    (
        lambda: arm_and(lambda r: ControlLoop(r, print)),
        "needs a Controller with a method `control`",
    ),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_a_mistake_names_its_cure(folder, number):
    """Law: the error says what is right, and nothing has happened."""
    mistake, cure = MISTAKES[number]
    with pytest.raises(HrpsimError, match=cure):
        mistake()


def test_a_box_keeps_its_keyword():
    assert Box(lengths=[1, 2, 3]) == Box((1.0, 2.0, 3.0)) != hrpsim.Sphere(1.0)
