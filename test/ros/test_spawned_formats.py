# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What ~/spawn_entity takes: MJCF, which C++ reads, only where that is allowed. Needs no ROS."""

import warnings

import pytest

import hrpsim
from hrpsim.model.shapes.placement import IDENTITY
from hrpsim.ros.base.entities import Entities, Refusal, SpawnLimits

ARM = (
    '<mujoco model="arm"><worldbody><body name="a"><joint name="j" axis="0 1 0"/>'
    '<geom size="0.1"/></body></worldbody></mujoco>'
)


def test_mjcf_is_refused_unless_it_is_allowed():
    """Law: nothing that is sent reaches MuJoCo's parser unless `spawn_mjcf` says so."""
    pytest.importorskip("mujoco", reason="no mujoco")
    entities = Entities(hrpsim.World())
    with pytest.raises(Refusal, match="spawn_mjcf"):
        entities.spawn("arm", "", ARM, IDENTITY)
    assert not entities.world.entities and "mjcf" not in entities.formats
    entities.limits = SpawnLimits(mjcf=True)
    assert "mjcf" in entities.formats
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hrpsim.ModelWarning)
        robot = entities.spawn("arm", "", ARM, IDENTITY)
    assert robot.model.base == "fixed" and robot.model.joint_names == ("j",)


@pytest.mark.parametrize("kind", ["wrl", "body", "mjb", "usd"])
def test_other_formats_are_refused_by_name(tmp_path, kind):
    path = tmp_path / f"robot.{kind}"
    path.write_text("#VRML V2.0 utf8")
    with pytest.raises(Refusal) as refusal:
        Entities(hrpsim.World()).spawn("arm", str(path), "", IDENTITY)
    assert "formats are urdf" in str(refusal.value)


URDF = """<robot name="arm"><link name="world"/><link name="a"><inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="world"/><child link="a"/></joint></robot>"""


def test_joints_without_gains_are_named_when_a_robot_is_spawned():
    """Law: one warning, as at the load of a world file; the root link world is fixed."""
    with pytest.warns(hrpsim.ModelWarning, match="joints without gains .*'j'") as caught:
        robot = Entities(hrpsim.World()).spawn("arm", "", URDF, IDENTITY)
    assert len(caught) == 1 and robot.model.base == "fixed"
