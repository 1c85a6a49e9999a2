# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Expansions of xacro that are stored: the same text as anew, or made anew."""

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrpsim import ModelError
from hrpsim.model.load import expand_xacro
from hrpsim.model.readers.urdf import xacro_text

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="mass" default="1"/>
<xacro:include filename="part.xacro"/>
<xacro:part mass="$(arg mass)" name="base_link"/>
</robot>"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="part" params="mass name"><link name="${name}"><inertial><mass value="${mass}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro>
</robot>"""


@pytest.fixture
def robot(tmp_path, monkeypatch):
    """A description of two files, with a cache of its own."""
    monkeypatch.setenv("HRPSIM_CACHE_DIR", str(tmp_path / "cache"))
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "robot.xacro").write_text(ROBOT)
    (folder / "part.xacro").write_text(PART)
    return folder / "robot.xacro"


@pytest.fixture
def expansions(monkeypatch):
    """What was expanded by xacro, and not taken from the cache."""
    made = []
    original = xacro_text._expand
    monkeypatch.setattr(xacro_text, "_expand", lambda *a: made.append(a[1]) or original(*a))
    return made


def stored(robot):
    return sorted((robot.parents[1] / "cache" / "descriptions").glob("*.json"))


def test_what_was_expanded_once_is_not_expanded_again(robot, expansions):
    first = expand_xacro(robot)
    assert expand_xacro(robot) == first and 'name="base_link"' in first
    assert len(expansions) == 1 and len(stored(robot)) == 1


@pytest.mark.parametrize("changed", ["part.xacro", "robot.xacro", "argument"])
def test_whatever_it_depends_on_it_follows(robot, expansions, changed):
    """Law: as if there were no cache, whichever file or argument changes."""
    before = expand_xacro(robot)
    arguments = {}
    if changed == "argument":
        arguments = {"mass": 2}
    else:
        path = robot.parent / changed
        text = path.read_text().replace("_link", "_part").replace('ixx="1"', 'ixx="2"')
        path.write_text(text)
    after = expand_xacro(robot, arguments)
    assert after != before and len(expansions) == 2
    for path in stored(robot):
        path.unlink()
    assert expand_xacro(robot, arguments) == after


def test_a_missing_file_is_an_error_although_the_expansion_is_stored(robot):
    expand_xacro(robot)
    (robot.parent / "part.xacro").unlink()
    with pytest.raises(ModelError, match=r"part\.xacro"):
        expand_xacro(robot)


def test_packages_are_looked_up_again(robot, tmp_path, expansions):
    """Law: the same text with another folder for $(find) is another description."""
    robot.write_text(ROBOT.replace("part.xacro", "$(find parts)/part.xacro"))
    for name, link in (("one", "base_link"), ("two", "trunk")):
        (tmp_path / name).mkdir()
        text = PART.replace("${name}", link)
        (tmp_path / name / "part.xacro").write_text(text)
    for name, link in (("one", "base_link"), ("two", "trunk"), ("two", "trunk")):
        assert link in expand_xacro(robot, package_paths={"parts": tmp_path / name})
    assert len(expansions) == 2


@pytest.mark.parametrize(
    "more",
    [
        '<xacro:include filename="p*.xacro"/>',
        '<link name="$(optenv NAME_OF_LINK trunk)"/>',
        "<link name=\"${xacro.load_yaml('names.yaml')['trunk']}\"/>",
        '<link name="$(cwd)"/>',
    ],
)
def test_what_may_depend_on_more_is_not_stored(robot, expansions, more):
    """Law: patterns, variables, YAML files and the working folder are read each time."""
    (robot.parent / "names.yaml").write_text("trunk: trunk")
    robot.write_text(ROBOT.replace("</robot>", f"{more}</robot>"))
    assert expand_xacro(robot) == expand_xacro(robot)
    assert len(expansions) == 2 and stored(robot) == []


def test_the_folder_that_a_process_is_in_does_not_lead_astray(robot, tmp_path, monkeypatch):
    """Law: the same relative path in two folders is two descriptions."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "robot.xacro").write_text(ROBOT)
    (other / "part.xacro").write_text(PART.replace("${name}", "base_part"))
    texts = []
    for folder in (robot.parent, other):
        monkeypatch.chdir(folder)
        texts.append(expand_xacro("robot.xacro"))
    assert "base_link" in texts[0] and "base_part" in texts[1]


def test_an_argument_that_nothing_uses_is_an_error_each_time(robot):
    for _ in range(2):
        expand_xacro(robot)
        with pytest.raises(ModelError, match="xacro argument 'height' does not exist"):
            expand_xacro(robot, {"height": 1})


def test_a_cache_that_cannot_be_written_costs_time_only(robot, expansions, monkeypatch):
    (robot.parents[1] / "file").write_text("")
    monkeypatch.setenv("HRPSIM_CACHE_DIR", str(robot.parents[1] / "file"))
    assert expand_xacro(robot) == expand_xacro(robot)
    assert len(expansions) == 2


@given(place=st.floats(0.0, 1.0, exclude_max=True), junk=st.binary(max_size=8))
def test_a_damaged_file_is_made_again(tmp_path_factory, place, junk):
    """Law: whatever bytes are in the cache, the text is that of the description."""
    folder = tmp_path_factory.mktemp("robot")
    robot = folder / "robot.xacro"
    robot.write_text(ROBOT)
    (folder / "part.xacro").write_text(PART)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HRPSIM_CACHE_DIR", str(folder / "cache"))
        expected = expand_xacro(robot)
        (path,) = (folder / "cache" / "descriptions").glob("*.json")
        whole = path.read_bytes()
        path.write_bytes(whole[: int(place * len(whole))] + junk)
        assert expand_xacro(robot) == expected


def test_xacro_is_not_imported_for_what_is_stored(robot):
    """Law: it takes longer to import than all the rest."""
    script = f"""import sys
from hrpsim.model.load import expand_xacro
text = expand_xacro({str(robot)!r})
print("xacro" in sys.modules, "xml.dom.minidom" in sys.modules, len(text))"""
    said = [
        subprocess.check_output([sys.executable, "-c", script], text=True, env=os.environ).split()
        for _ in range(2)
    ]
    assert said[0][0] == "True" and said[1][:2] == ["False", "False"]
    assert said[0][2] == said[1][2]


def test_old_expansions_go(robot, monkeypatch):
    monkeypatch.setattr(xacro_text, "_STORED", 3)
    for mass in range(5):
        expand_xacro(robot, {"mass": mass})
    assert len(stored(robot)) == 3
