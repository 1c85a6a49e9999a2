# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot bolted to the world, from a world file of the user's own."""

import pytest

WORLD = """
robots:
  - name: arm
    urdf: {urdf}
    base: fixed
"""
MJCF = """
<mujoco model="swing"><worldbody><body name="rod"><joint name="pivot" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -1" size="0.05"/></body></worldbody></mujoco>
"""
LED = """
<mujoco><worldbody><body name="lead" mocap="true" pos="0 0 1"/><body name="b" pos="0 0 1">
  <freejoint/><geom size="0.1"/></body></worldbody>
  <equality><weld body1="lead" body2="b"/></equality></mujoco>
"""
URDF = """
<robot name="arm">
  <link name="foot"/>
  <link name="rod">
    <inertial>
      <origin xyz="0 0 -0.5"/>
      <mass value="1"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <link name="tip"/>
  <joint name="pivot" type="continuous">
    <parent link="foot"/><child link="rod"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="end" type="fixed">
    <parent link="rod"/><child link="tip"/><origin xyz="0 0 -1"/>
  </joint>
</robot>
"""


def test_topics_and_transforms(simulations, listener, tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF)
    (tmp_path / "arm.yaml").write_text(WORLD.format(urdf=tmp_path / "arm.urdf"))
    simulations.start(world_file=tmp_path / "arm.yaml", start_paused=True, step_count=20)
    transforms = listener.collect("tf2_msgs/msg/TFMessage", "tf")
    assert listener.wait_for(lambda: transforms or not listener.call("/hrpsim/step").success)
    (edge,) = transforms[-1].transforms
    assert (edge.header.frame_id, edge.child_frame_id) == ("foot", "rod")

    def topics():
        return {name for name, _ in listener.node.get_topic_names_and_types()}

    assert listener.wait_for(lambda: "/joint_states" in topics())
    assert not {"/odom", "/lfsensor"} & topics()


def test_a_world_may_be_an_mjcf(simulations, listener, tmp_path):
    """Law: world_file takes what load_world does."""
    pytest.importorskip("mujoco", reason="no mujoco")
    (tmp_path / "swing.xml").write_text(MJCF)
    simulations.start(world_file=tmp_path / "swing.xml", start_paused=True, step_count=20)
    states = listener.collect("sensor_msgs/msg/JointState", "joint_states")
    assert listener.wait_for(lambda: states or not listener.call("/hrpsim/step").success)
    assert list(states[-1].name) == ["pivot"]


def test_frames_of_a_world_are_moved(simulations, listener, tmp_path):
    """Law: set_entity_state moves a mocap body, and get_entity_state tells where it is."""
    pytest.importorskip("mujoco", reason="no mujoco")
    services = pytest.importorskip("simulation_interfaces.srv")
    (tmp_path / "w.xml").write_text(LED)
    simulations.start(world_file=tmp_path / "w.xml", start_paused=True, step_count=20)
    asked = services.SetEntityState.Request(entity="lead")
    for flag in ("set_pose", "set_twist"):
        if hasattr(asked, flag):
            setattr(asked, flag, True)
    asked.state.pose.position.x, asked.state.pose.position.z = 0.2, 1.1
    kind = "simulation_interfaces/srv/{}EntityState".format
    result = listener.call("/hrpsim/set_entity_state", asked, kind("Set")).result
    assert result.result == result.RESULT_OK, result.error_message
    asked = services.GetEntityState.Request(entity="lead")
    position = listener.call("/hrpsim/get_entity_state", asked, kind("Get")).state.pose.position
    assert (position.x, position.y, position.z) == pytest.approx((0.2, 0.0, 1.1))
