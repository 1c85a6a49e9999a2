# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A name that no file can have is refused by each door that takes or reads names of files."""

import json
import os

import pytest

import hrpsim
from hrpsim import HrpsimError, ModelError
from hrpsim.bag import messages
from hrpsim.common.file_names import exists, is_file, is_folder, resolved, writing
from hrpsim.control import read_sequence
from hrpsim.learning import Task, TaskBatch

LINK = """<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0"
iyz="0"/></inertial>%s</link>"""
MESH = '<collision><geometry><mesh filename="%s"/></geometry></collision>'
CNOID = {"class": "WorldItem", "name": "w", "data": {}, "children": []}
NAMES = {
    "too long": "x" * 5000,
    "a long part": "a/" + "x" * 300,
    "a null character": "a\0b",
    "no Unicode": "\ud800",
    "a circle of links": "circle",
    "within a circle": "circle/x",
    "an unknown user": "~nobody-of-this-name/x",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    os.symlink("other", tmp_path / "circle")
    os.symlink("circle", tmp_path / "other")
    (tmp_path / "a.urdf").write_text(f'<robot name="r">{LINK % ""}</robot>')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def model():
    return hrpsim.load_model("a.urdf")


def mesh_of_urdf(name):
    hrpsim.load_model(f'<robot name="r">{LINK % (MESH % name)}</robot>')


def robot_of_world(name):
    with open("w.yaml", "w") as file:
        json.dump({"robots": [{"name": "r", "urdf": name}]}, file)
    hrpsim.load_world("w.yaml")


def body_of_cnoid(name):
    item = {"class": "BodyItem", "name": "b", "data": {"file": name}}
    root = {"class": "RootItem", "children": [{**CNOID, "children": [item]}]}
    with open("w.cnoid", "w") as file:
        json.dump({"items": root}, file)
    hrpsim.load_world("w.cnoid")


DOORS = {
    "load_model": lambda name: hrpsim.load_model(name),
    "load_world": lambda name: hrpsim.load_world(name),
    "load_mesh": lambda name: hrpsim.load_mesh(name),
    "convert from": lambda name: hrpsim.convert(name, "b.urdf"),
    "convert to": lambda name: hrpsim.convert("a.urdf", f"{name}/b.urdf"),
    "read_sequence": lambda name: read_sequence(name, model()),
    "messages": lambda name: list(messages(name, "/x")),
    "load_contact_problem": lambda name: hrpsim.load_contact_problem(name),
    "task": lambda name: TaskBatch(Task(world=name), 1),
    "mesh of a URDF": mesh_of_urdf,
    "robot of a world": robot_of_world,
    "body of a .cnoid": body_of_cnoid,
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_no_file_can_have_is_refused(folder, door, name):
    """Law: the error is of hrpsim, whatever the name."""
    with pytest.raises(HrpsimError):
        DOORS[door](NAMES[name])


@pytest.mark.parametrize("name", NAMES)
def test_such_a_name_is_of_no_file(folder, name):
    path = folder / NAMES[name]
    assert not (is_file(path) or is_folder(path) or exists(path))
    assert resolved(path).is_absolute()


@pytest.mark.parametrize("name", [name for name in NAMES if name != "a circle of links"])
def test_a_file_that_cannot_be_written_is_named(folder, name):
    path = folder / NAMES[name]
    with pytest.raises(ModelError, match="cannot be written"), writing(path, ModelError):
        path.write_text("")


def test_a_pipe_is_no_contact_problem(folder):
    os.mkfifo(folder / "pipe")
    with pytest.raises(HrpsimError, match="does not exist, or is not a regular file"):
        hrpsim.load_contact_problem("pipe")
