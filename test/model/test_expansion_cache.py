# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Expansions of xacro that are kept: the same text as anew, or made anew."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hrpsim.errors import ModelError, ModelWarning
from hrpsim.model.load import expand_xacro
from hrpsim.model.urdf import expansion_cache, xacro_text

ROBOT = """<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:arg name="mass" default="1"/>
<xacro:include filename="part.xacro"/>
<xacro:property name="more" value="${xacro.load_yaml('more.yaml')}"/>
<xacro:part mass="$(arg mass)" name="$(optenv NAME_OF_LINK base)${more['suffix']}"/>
</robot>"""
PART = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:macro name="part" params="mass name"><link name="${name}"><inertial><mass value="${mass}"/>
<inertia ixx="SIZE" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></xacro:macro>
</robot>"""


@pytest.fixture
def robot(tmp_path, monkeypatch):
    """A description of three files, with a cache of its own."""
    monkeypatch.setenv("HRPSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("NAME_OF_LINK", raising=False)
    folder = tmp_path / "robot"
    folder.mkdir()
    (folder / "robot.xacro").write_text(ROBOT)
    (folder / "part.xacro").write_text(PART.replace("SIZE", "1"))
    (folder / "more.yaml").write_text("suffix: _link")
    return folder / "robot.xacro"


@pytest.fixture
def expansions(monkeypatch):
    """What was expanded by xacro, and not taken from the cache."""
    made = []
    original = xacro_text._expand
    monkeypatch.setattr(xacro_text, "_expand", lambda *a: made.append(a[1]) or original(*a))
    return made


def kept(robot):
    return sorted((robot.parents[1] / "cache" / "descriptions").glob("*.json"))


def test_what_was_expanded_once_is_not_expanded_again(robot, expansions):
    first = expand_xacro(robot)
    assert expand_xacro(robot) == first and 'name="base_link"' in first
    assert len(expansions) == 1 and len(kept(robot)) == 1


@pytest.mark.parametrize("changed", ["part.xacro", "more.yaml", "robot.xacro", "argument", "name"])
def test_whatever_it_depends_on_it_follows(robot, expansions, monkeypatch, changed):
    """Law: as if there were no cache, whichever file, argument or variable changes."""
    before = expand_xacro(robot)
    arguments = {}
    if changed == "argument":
        arguments = {"mass": 2}
    elif changed == "name":
        monkeypatch.setenv("NAME_OF_LINK", "trunk")
    else:
        path = robot.parent / changed
        text = path.read_text().replace("_link", "_part").replace('ixx="1"', 'ixx="2"')
        path.write_text(text.replace('default="1"', 'default="3"'))
    after = expand_xacro(robot, arguments)
    assert after != before and len(expansions) == 2
    for path in kept(robot):
        path.unlink()
    assert expand_xacro(robot, arguments) == after


def test_a_file_that_goes_or_comes_is_seen(robot):
    """Law: a missing include is told as before; an optional one that is missing is not kept."""
    expand_xacro(robot)
    (robot.parent / "part.xacro").unlink()
    with pytest.raises(ModelError, match="there is no file"):
        expand_xacro(robot)
    (robot.parent / "part.xacro").write_text(PART.replace("SIZE", "1"))
    robot.write_text(
        ROBOT.replace("</robot>", '<xacro:include filename="x.xacro" optional="1"/></robot>')
    )
    before = expand_xacro(robot)
    (robot.parent / "x.xacro").write_text('<robot><link name="added"/></robot>')
    assert "added" not in before and "added" in expand_xacro(robot)


def test_a_pattern_sees_new_files(robot):
    robot.write_text(ROBOT.replace("part.xacro", "p*.xacro"))
    before = expand_xacro(robot)
    (robot.parent / "pq.xacro").write_text('<robot><link name="added"/></robot>')
    assert "added" not in before and "added" in expand_xacro(robot)


def test_the_folder_that_a_process_is_in_does_not_lead_astray(robot, tmp_path, monkeypatch):
    """Law: the same relative path in two folders is two descriptions."""
    other = tmp_path / "other"
    other.mkdir()
    for path in robot.parent.iterdir():
        (other / path.name).write_text(path.read_text().replace("_link", "_part"))
    (other / "robot.xacro").write_text(ROBOT)
    texts = []
    for folder in (robot.parent, other):
        monkeypatch.chdir(folder)
        texts.append(expand_xacro("robot.xacro"))
    assert "base_link" in texts[0] and "base_part" in texts[1]


def test_what_may_be_read_is_asked_again(robot, tmp_path, monkeypatch):
    """Law: a file that was read where package_paths allowed it is refused without."""
    (tmp_path / "elsewhere").mkdir()
    (robot.parent / "part.xacro").rename(tmp_path / "elsewhere" / "part.xacro")
    robot.write_text(ROBOT.replace("part.xacro", "../elsewhere/part.xacro"))
    assert "base_link" in expand_xacro(robot, package_paths=[tmp_path / "elsewhere"])
    with pytest.raises(ModelError, match="may not be read"):
        expand_xacro(robot)


def test_warnings_and_unused_arguments_are_told_each_time(robot):
    robot.write_text(
        ROBOT.replace("base$", "base$").replace(
            "</robot>", "<link name=\"x${xacro.warning('take care')}\"/></robot>"
        )
    )
    for _ in range(2):
        with pytest.warns(ModelWarning, match="take care"):
            expand_xacro(robot)
        with pytest.raises(ModelError, match="xacro argument 'height' does not exist"):
            with pytest.warns(ModelWarning):
                expand_xacro(robot, {"height": 1})


def test_nothing_is_kept_of_texts_and_of_the_current_folder(robot, expansions):
    expand_xacro(
        ROBOT.replace('<xacro:include filename="part.xacro"/>', "").split("<xacro:prop")[0]
        + '<link name="l"/></robot>'
    )
    robot.write_text(ROBOT.replace("</robot>", '<link name="$(cwd)"/></robot>'))
    expand_xacro(robot)
    assert len(expansions) == 2 and kept(robot) == []


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
    (folder / "part.xacro").write_text(PART.replace("SIZE", "1"))
    (folder / "more.yaml").write_text("suffix: _link")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HRPSIM_CACHE_DIR", str(folder / "cache"))
        expected = expand_xacro(robot)
        (path,) = (folder / "cache" / "descriptions").glob("*.json")
        whole = path.read_bytes()
        path.write_bytes(whole[: int(place * len(whole))] + junk)
        assert expand_xacro(robot) == expected


def test_xacro_is_not_imported_for_what_is_kept(robot):
    """Law: it takes longer to import than all the rest."""
    import subprocess

    script = f"""import sys
from hrpsim.model.load import expand_xacro
text = expand_xacro({str(robot)!r})
print("xacro" in sys.modules, "xml.dom.minidom" in sys.modules, len(text))"""
    told = [
        subprocess.check_output([sys.executable, "-c", script], text=True, env=os.environ).split()
        for _ in range(2)
    ]
    assert told[0][0] == "True" and told[1][:2] == ["False", "False"]
    assert told[0][2] == told[1][2]


def test_old_expansions_go(robot, monkeypatch):
    monkeypatch.setattr(expansion_cache, "_KEPT", 3)
    for mass in range(5):
        expand_xacro(robot, {"mass": mass})
    assert len(kept(robot)) == 3
