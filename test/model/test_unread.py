# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a URDF says and hrpsim does not simulate is listed, and misspelt names are found."""

import warnings

import pytest

from hrpsim import ModelWarning, load_model
from robots import HRP2_LIKE

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
ROBOT = """<robot name="r"><link name="a">{link}</link><link name="b">{inertial}</link>
  <joint name="j" type="{kind}"><parent link="a"/><child link="b"/>
  <axis xyz="0 0 1"/>{joint}</joint>{robot}</robot>"""
LIMIT = '<limit lower="-1" upper="1" effort="5" velocity="6"/>'


def listed(kind="continuous", link="", joint="", robot=""):
    """Return the model's list and all warnings at its load."""
    text = ROBOT.format(kind=kind, link=link, joint=joint, robot=robot, inertial=INERTIAL)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        model = load_model(text, base="fixed")
    return model.not_simulated, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    "parts, line",
    [
        (
            {"robot": '<gazebo reference="b"><sensor name="eye" type="navsat"/></gazebo>'},
            "<sensor> of <gazebo> (1: eye): not simulated: <sensor> of <hrpsim> is",
        ),
        (
            {"robot": '<gazebo reference="a"><mu1>1</mu1></gazebo>' * 2},
            "<mu1> of <gazebo> (2: a): friction is of pairs of materials (<material> of <hrpsim>)",
        ),
        (
            {"robot": '<gazebo><plugin name="p" filename="f"/></gazebo>'},
            "<plugin> of <gazebo> (1: p): not run",
        ),
        (
            {"robot": '<loop_joint name="loop" type="revolute"/>'},
            "<loop_joint> of <robot> (1: loop): not simulated: <connection> of <hrpsim> closes a"
            " loop",
        ),
        (
            {"joint": '<dynamic damping="3"/>'},
            "<dynamic> of <joint> (1: j): not read. Did you mean 'dynamics'?",
        ),
        (
            {"joint": '<dynamics dampin="3"/>'},
            "attribute dampin of <dynamics> (1: j): not read. Did you mean 'damping'?",
        ),
        (
            {"link": "<colision/>"},
            "<colision> of <link> (1: a): not read. Did you mean 'collision'?",
        ),
        (
            {"joint": '<safety_controller k_velocity="1"/>'},
            "<safety_controller> of <joint> (1: j): not simulated",
        ),
        (
            {"robot": '<transmission name="t"/>'},
            "<transmission> of <robot> (1: t): not simulated: type '' does not exist. Available:"
            " SimpleTransmission, DifferentialTransmission, FourBarLinkageTransmission",
        ),
    ],
)  # fmt: skip
def test_each_is_listed_once_with_its_place_and_the_cure(parts, line):
    """Law: Model.not_simulated has it, and one warning says it, as of an MJCF."""
    found, said = listed(**parts)
    assert found == (line,)
    assert said == [f"<text>: not simulated as it says: {line}"]


def test_a_stored_model_says_it_again():
    """Law: the second load, from the cache, warns as the first one did."""
    parts = {"joint": '<dynamics dampin="3"/>', "robot": '<material name="seen"/>'}
    assert listed(**parts) == listed(**parts)
    assert len(listed(**parts)[1]) == 1


def test_what_is_read_is_not_listed():
    """Of a whole robot with every element of hrpsim nothing is listed."""
    model = load_model(HRP2_LIKE)
    assert model.not_simulated == ()
    whole = """<visual name="v"><origin xyz="0 0 0" rpy="0 0 0"/><geometry><box size="1 1 1"/>
      </geometry><material name="m"><color rgba="1 1 1 1"/></material></visual>"""
    control = '<ros2_control name="c" type="system"><joint name="j"/></ros2_control>'
    assert listed(link=whole, robot=control, joint='<dynamics damping="1" friction="1"/>') == (
        (),
        [],
    )


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("given", ["", 'lower="0" upper="0"', 'upper="0"'])
def test_a_joint_whose_limits_hold_it_is_named(kind, given):
    """Limits that are missing are 0, by the specification: the joint does not move."""
    _, said = listed(kind, joint=f'<limit {given} effort="5" velocity="6"/>')
    assert len(said) == 1
    assert "joint 'j': equal limits hold a joint in place" in said[0]
    assert "make the joint continuous (1: 'j')" in said[0]
    assert listed(kind, joint=LIMIT)[1] == []
    assert listed(kind, joint='<limit upper="1" effort="5" velocity="6"/>')[1] == []
