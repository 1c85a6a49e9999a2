# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Nothing that a URDF says is lost in silence: each word of it changes the model, or is named."""

import copy
import functools
import warnings

import pytest
from lxml import etree
from model.prints import print_of

from hrpsim import ModelError, ModelWarning, load_model
from hrpsim.model.visuals import visuals_of_model

INERTIAL = """<inertial><origin xyz="0 0 0.1" rpy="0.1 0 0"/><mass value="1"/>
  <inertia ixx="1" iyy="1.1" izz="1.2" ixy="0.01" ixz="0.02" iyz="0.03"/></inertial>"""
NOISE = """<noise type="gaussian"><mean>0</mean><stddev>0.1</stddev><bias_mean>0.2</bias_mean>
  <bias_stddev>0.3</bias_stddev></noise>"""
AXES = "".join(f"<{axis}>{NOISE}</{axis}>" for axis in "xyz")
URDF = f"""<robot name="rich" version="1.0">
  <material name="blue"><color rgba="0 0 1 1"/></material>
  <link name="a">{INERTIAL}</link>
  <link name="b">{INERTIAL}
    <visual name="v"><origin xyz="0 0 1" rpy="0 0 1"/><geometry><box size="1 1 1"/></geometry>
      <material name="blue"/></visual>
    <collision name="c"><origin xyz="0 0 1" rpy="0 0 1"/>
      <geometry><cylinder radius="0.1" length="0.5"/></geometry></collision></link>
  <link name="d">{INERTIAL}<collision><geometry><sphere radius="0.1"/></geometry></collision></link>
  <link name="e">{INERTIAL}<collision><geometry><capsule radius="0.1" length="1"/></geometry>
    </collision></link>
  <link name="g">{INERTIAL}</link>
  <joint name="ab" type="revolute"><parent link="a"/><child link="b"/>
    <origin xyz="1 2 3" rpy="1 2 3"/><axis xyz="0 1 0"/><dynamics damping="1" friction="1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
  <joint name="ad" type="prismatic"><parent link="a"/><child link="d"/><axis xyz="0 0 1"/>
    <origin xyz="0.3 0 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/>
    <mimic joint="ab" multiplier="2" offset="1"/></joint>
  <joint name="de" type="fixed"><parent link="d"/><child link="e"/><origin xyz="1 0 0"/></joint>
  <joint name="eg" type="continuous"><parent link="e"/><child link="g"/><axis xyz="0 0 1"/></joint>
  <gazebo reference="a"><sensor name="imu" type="imu">
    <pose degrees="true" relative_to="d" rotation_format="euler_rpy">0 0 1 10 20 30</pose>
    <update_rate>100</update_rate><topic>t/imu</topic><gz_frame_id>b</gz_frame_id>
    <imu><angular_velocity>{AXES}</angular_velocity>
      <linear_acceleration>{AXES}</linear_acceleration></imu></sensor></gazebo>
  <gazebo reference="ab"><sensor name="force" type="force_torque"><update_rate>50</update_rate>
    <pose>0 0 0 0.1 0.2 0.3</pose>
    <force_torque><frame>sensor</frame><measure_direction>parent_to_child</measure_direction>
      <force>{AXES}</force><torque>{AXES}</torque></force_torque></sensor></gazebo>
  <gazebo reference="b"><sensor name="bumper" type="contact"><update_rate>20</update_rate>
    <contact><collision>c_collision</collision><topic>bump</topic></contact></sensor>
    <sensor name="eye" type="camera"><update_rate>20</update_rate>
      <camera><horizontal_fov>1.2</horizontal_fov>
      <image><width>64</width><height>48</height></image>
      <clip><near>0.2</near><far>50</far></clip>
      <noise><type>gaussian</type><stddev>0.01</stddev></noise>
      <optical_frame_id>d</optical_frame_id></camera></sensor></gazebo>
  <gazebo reference="b"><sensor name="lidar" type="gpu_lidar"><update_rate>10</update_rate>
    <lidar><scan><horizontal><samples>20</samples><min_angle>-1</min_angle>
      <max_angle>1</max_angle></horizontal><vertical><samples>3</samples>
      <min_angle>-0.2</min_angle><max_angle>0.2</max_angle></vertical></scan>
      <range><min>0.2</min><max>20</max></range>
      <noise><type>gaussian</type><stddev>0.01</stddev></noise></lidar></sensor></gazebo>
  <ros2_control name="control" type="system">
    <joint name="ab"><command_interface name="position"/><state_interface name="position">
      <param name="initial_value">0.5</param></state_interface>
      <state_interface name="velocity"/></joint>
    <joint name="eg"><command_interface name="effort"/></joint>
    <transmission name="gear"><plugin>transmission_interface/SimpleTransmission</plugin>
      <actuator name="motor" role="actuator1"/>
      <joint name="eg" role="joint1"><mechanical_reduction>50</mechanical_reduction>
        <offset>0.1</offset></joint></transmission></ros2_control>
  <hrpsim reference="ab"><spring stiffness="1" damping="1" rest="1"/>
    <gains kp="1" kd="1"/></hrpsim>
  <hrpsim reference="b"><capsule collision="c"/><material name="m"/></hrpsim>
</robot>"""
# Words that say nothing of how anything moves, measures or is drawn.
LABELS = {
    ("visual", "name"),
    ("material", "name"),
    ("ros2_control", "name"),
    ("ros2_control", "type"),
    ("actuator", "role"),  # one of one
    ("joint", "role"),
    ("state_interface", ""),  # all states are published
    ("robot", "version"),
    ("pose", "rotation_format"),  # its value is the default
    ("noise", "type"),  # the same
    ("noise/type", ""),
    ("noise/mean", ""),  # it is 0
}
# Changes after which the file says the same: of a fixed joint the name, of its one shape the link.
SAME = ("/robot/joint[3] name = dex", "/robot/gazebo[3]/sensor[1]/contact/collision removed")
OTHER = {  # values by the word that they are of
    **{"type": "fixed", "degrees": "false", "frame": "child", "plugin": "x/FourBarLinkage"},
    **{"measure_direction": "child_to_parent", "interface": "velocity", "version": "1.1"},
    **{"rotation_format": "quat_xyzw", "topic": "other", "reference": "d", "relative_to": "g"},
    **dict.fromkeys(("gz_frame_id", "ignition_frame_id", "optical_frame_id"), "e"),
}


def other(word, text):
    """Return another value of a word: other numbers, or another text."""
    if text == "fixed":
        return "continuous"
    try:
        return " ".join(repr(0.5 * float(number) + 0.125) for number in text.split())
    except ValueError:
        return OTHER.get(word, f"{text}x")


def key(element, attribute=""):
    parent = element.getparent()
    inner = f"{parent.tag}/{element.tag}" if parent is not None else element.tag
    return {(element.tag, attribute), (inner, attribute)}


def mutants(root):
    """Yield (description, changed copy) of each change of each word of a document."""
    for index, element in enumerate(root.iter()):

        def fresh(index=index):
            changed = copy.deepcopy(root)
            return changed, list(changed.iter())[index]

        where = root.getroottree().getpath(element)
        if element is not root and not key(element) & LABELS:
            changed, it = fresh()
            it.getparent().remove(it)
            yield f"{where} removed", changed
            changed, it = fresh()
            it.tag += "x"
            yield f"{where} misspelt", changed
        if (element.text or "").strip() and not key(element) & LABELS:
            changed, it = fresh()
            it.text = other(it.tag, it.text.strip())
            yield f"{where} = {it.text}", changed
        for attribute in element.attrib:
            if key(element, attribute) & LABELS:
                continue
            changed, it = fresh()
            del it.attrib[attribute]
            yield f"{where} without {attribute}", changed
            changed, it = fresh()
            it.set(attribute + "x", it.attrib.pop(attribute))
            yield f"{where} {attribute} misspelt", changed
            changed, it = fresh()
            it.set(attribute, other(attribute, it.get(attribute)))
            yield f"{where} {attribute} = {it.get(attribute)}", changed


def seen(text):
    """Return the print of a URDF's model, its drawing and all warnings; or why it is refused."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ModelWarning)
        try:
            model = load_model(text)
            drawn = print_of(visuals_of_model(model))
        except ModelError as error:
            return str(error)
    return print_of(model) + drawn + repr([str(one.message) for one in caught])


@functools.lru_cache(maxsize=1)
def original():
    return seen(URDF)


def test_all_of_the_description_is_read():
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        assert load_model(URDF).not_simulated == ()


PARTS = [element.tag for element in etree.fromstring(URDF)]


@pytest.mark.parametrize("part", dict.fromkeys(PARTS))
def test_each_word_changes_the_model_or_is_named(part):
    """Law: removed, misspelt or with another value, a word gives another model, a name or an error.

    Left out are the words of `LABELS` and the changes of `SAME`.
    """
    silent = []
    for what, changed in mutants(etree.fromstring(URDF)):
        if not what.startswith(f"/robot/{part}") or what in SAME:
            continue
        text = etree.tostring(changed, encoding="unicode")
        if seen(text) == original():
            silent.append(what)
    assert silent == []
