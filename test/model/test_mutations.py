# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Whatever is damaged in a description, the answer is a model or a ModelError, nothing else."""

import copy

import pytest
from lxml import etree

from hrpsim import ModelError, load_model

INERTIAL = """<inertial><origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
RICH = f"""<robot name="rich">
  <link name="a">{INERTIAL}</link>
  <link name="b">{INERTIAL}
    <visual><origin xyz="0 0 1"/><geometry><box size="1 1 1"/></geometry></visual>
    <collision name="c"><origin xyz="0 0 1" rpy="0 0 1"/>
      <geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="d">{INERTIAL}</link>
  <link name="e">{INERTIAL}</link>
  <joint name="ab" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="1 2 3" rpy="1 2 3"/><axis xyz="0 1 0"/><dynamics damping="1" friction="1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><calibration rising="0"/>
    <safety_controller k_velocity="1" soft_lower_limit="-1" soft_upper_limit="1"/></joint>
  <joint name="ad" type="prismatic"><parent link="a"/><child link="d"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="ab" multiplier="2" offset="1"/></joint>
  <joint name="de" type="fixed"><parent link="d"/><child link="e"/></joint>
  <hrpsim reference="ab"><spring stiffness="1" damping="1" rest="1"/>
    <rotor inertia="1" gear_ratio="2"/><gains kp="1" kd="1"/></hrpsim>
  <hrpsim reference="b"><capsule collision="c"/><material name="m"/>
    <sensor name="i" type="imu"/></hrpsim>
  <hrpsim reference="e"><sensor name="f" type="force_torque" tare="true">
    <origin xyz="0 0 0" rpy="0 0 0"/></sensor></hrpsim>
  <ros2_control name="r" type="system"><joint name="ab">
    <command_interface name="position"/></joint></ros2_control>
</robot>"""
ROOT = etree.fromstring(RICH)
ELEMENTS = list(range(len(list(ROOT.iter()))))


def damaged(index: int):
    """Yield texts with element `index` damaged: removed, doubled, emptied, renamed, each attribute
    removed or given a value that does not belong there."""

    def fresh():
        root = copy.deepcopy(ROOT)
        return root, list(root.iter())[index]

    root, element = fresh()
    if element is not root:
        element.getparent().append(copy.deepcopy(element))
        yield root
        root, element = fresh()
        element.getparent().remove(element)
        yield root
    for change in ("clear", "rename"):
        root, element = fresh()
        if change == "clear":
            element.clear()
        else:
            element.tag = "other"
        yield root
    for attribute in ROOT.xpath("//*")[index].attrib:
        root, element = fresh()
        del element.attrib[attribute]
        yield root
        for value in (
            "",
            "nan",
            "-1",
            "0",
            "1e-300",
            "1e49",
            "1e300",
            "0 0 0",
            "1e999",
            "a",
            "ab",
            "é",
        ):
            root, element = fresh()
            element.set(attribute, value)
            yield root


@pytest.mark.quick_cases("*0", "*5")
@pytest.mark.parametrize("index", ELEMENTS)
def test_damage_is_a_model_error_or_harmless(index):
    for root in damaged(index):
        for base in ("free", "fixed"):
            try:
                load_model(etree.tostring(root, encoding="unicode"), base=base)
            except ModelError as error:
                assert str(error).startswith("<text>")
