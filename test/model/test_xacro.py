# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Xacro is expanded as the package xacro does it, with packages found where hrpsim finds them."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hrpsim import ModelError, load_model
from hrpsim.model.load import expand_xacro

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">'


@pytest.fixture
def packages(tmp_path):
    """A description in package bot that includes a file of package other."""
    (tmp_path / "bot" / "urdf").mkdir(parents=True)
    (tmp_path / "bot" / "package.xml").write_text("<package><name>bot</name></package>")
    (tmp_path / "bot" / "size.yaml").write_text("length: !degrees 180")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "leg.xacro").write_text(f'{HEAD}<link name="leg"/></robot>')
    (tmp_path / "bot" / "urdf" / "r.xacro").write_text(
        f"{HEAD}<xacro:include filename='gone' optional='true'/>"
        "<xacro:property name='s' value=\"${xacro.load_yaml('$(find bot)/size.yaml')}\"/>"
        "<link name='${s.length}'/><xacro:include filename='$(find other)/leg.xacro'/></robot>"
    )
    return tmp_path


def test_packages_are_found_above_the_file_and_in_package_paths(packages):
    """Law: $(find) looks where package:// does, on a machine without ROS 2 too."""
    path = packages / "bot" / "urdf" / "r.xacro"
    text = expand_xacro(path, package_paths={"other": packages / "other"})
    assert '<link name="leg"/>' in text and '<link name="3.141592653589793"/>' in text
    (packages / "other").rename(packages / "elsewhere")
    with pytest.raises(ModelError, match="xacro: package 'other' was not found in") as refused:
        expand_xacro(path)
    assert str(refused.value).count("was not found") == 1


def test_the_text_is_that_of_xacro_itself(packages):
    """Law: the expansion equals the output of xacro's own command line, where ament finds all."""
    share = packages / "prefix" / "share"
    index = share / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    for name in ("bot", "other"):
        (packages / name).rename(share / name)
        (index / name).write_text("")
    path = share / "bot" / "urdf" / "r.xacro"
    environment = {**os.environ, "AMENT_PREFIX_PATH": str(packages / "prefix")}
    command = [sys.executable, "-c", "import xacro; xacro.main()", str(path)]
    theirs = subprocess.check_output(command, text=True, env=environment, timeout=60)
    names = [line.strip() for line in theirs.splitlines() if "<link" in line]
    assert names == ['<link name="3.141592653589793"/>', '<link name="leg"/>']
    assert all(name in expand_xacro(path) for name in names)


@pytest.mark.parametrize(
    "body, named",
    [
        ('<link name="${nothing}"/>', "nothing"),
        ('<link name="${1 / 0}"/>', "division by zero"),
        ('<link name="$(find no_such_package)"/>', "no_such_package"),
        ('<xacro:include filename="no_such_file"/>', "no_such_file"),
        ('<xacro:macro name="m"><xacro:m/></xacro:macro><xacro:m/>', "recursion"),
        ("<xacro:property name='p' value='${p}'/><link name='${p}'/>", "p"),
    ],
)
def test_what_is_wrong_is_one_line(body, named):
    """Law: whatever xacro raises becomes a ModelError of one line, and the next load is sound."""
    with pytest.raises(ModelError) as error:
        expand_xacro(f"{HEAD}{body}</robot>")
    assert named in str(error.value) and "\n" not in str(error.value)
    assert expand_xacro(f'{HEAD}<link name="${{1 + 1}}"/></robot>').count('name="2"') == 1


def test_xacro_can_be_refused_as_a_whole(tmp_path):
    """Law: with allow_xacro=False no expression is evaluated."""
    proof = tmp_path / "proof"
    text = f"{HEAD}<link name=\"a${{xacro.load_yaml('{proof}')}}\"/></robot>"
    os.mkfifo(proof)  # reading it would never end
    with pytest.raises(ModelError, match="allow_xacro"):
        load_model(text, allow_xacro=False)
    (tmp_path / "r.xacro").write_text(text)
    with pytest.raises(ModelError, match="allow_xacro"):
        load_model(tmp_path / "r.xacro", allow_xacro=False)
    assert load_model('<robot name="r"><link name="a"/></robot>', "fixed", allow_xacro=False)


def test_a_description_may_warn(capsys):
    """Law: what a description warns of is written to stderr by xacro."""
    expand_xacro(f"{HEAD}<link name=\"a${{xacro.warning('no inertia')}}\"/></robot>")
    assert "no inertia" in capsys.readouterr().err


def test_a_relative_path_finds_what_includes_include(tmp_path, monkeypatch):
    """Law: a path starts from the file that xacro reads, wherever the program runs."""
    (tmp_path / "urdf" / "parts").mkdir(parents=True)
    (tmp_path / "urdf" / "size.yaml").write_text("mass: 3.5\n")
    (tmp_path / "urdf" / "parts" / "inner.xacro").write_text(
        f'{HEAD}<xacro:property name="size" value="${{xacro.load_yaml(\'size.yaml\')}}"/></robot>'
    )
    (tmp_path / "urdf" / "parts" / "outer.xacro").write_text(
        f'{HEAD}<xacro:include filename="inner.xacro"/></robot>'
    )
    (tmp_path / "urdf" / "one.urdf.xacro").write_text(
        f'{HEAD}<xacro:include filename="parts/outer.xacro"/>'
        '<link name="base"><inertial><mass value="${size.mass}"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    for folder, path in (
        (tmp_path, "urdf/one.urdf.xacro"),
        (tmp_path / "urdf", "one.urdf.xacro"),
        (tmp_path / "urdf" / "parts", "../one.urdf.xacro"),
    ):
        monkeypatch.chdir(folder)
        assert load_model(path).mass == pytest.approx(3.5)


@pytest.mark.parametrize(
    "body, cure",
    [
        ('<link name="$(arg side)"/>', "xacro_arguments={'side': ...}, --xacro side:=VALUE"),
        ('<xacro:arg name="side"/><link name="$(arg side)"/>', 'such as default=""'),
    ],
)
def test_an_argument_without_a_value_is_named_with_the_cure(body, cure):
    with pytest.raises(ModelError) as error:
        expand_xacro(f"{HEAD}{body}</robot>")
    assert cure in str(error.value)
