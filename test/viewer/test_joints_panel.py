# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sliders of joints: targets, positions, and who may move the sliders."""

import numpy as np
import pytest
from viewer.visitor import Visitor

from hrpsim import World, load_model
from hrpsim.viewer import Viewer
from hrpsim.viewer.panels.joints import POSITIONS
from hrpsim.viewer.session import TimeAdvance

pytest.importorskip("viser")
INERTIAL = (
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial>"
)
ARM = f"""<robot name="arm"><link name="base"/><link name="upper">{INERTIAL}</link>
  <link name="lower">{INERTIAL}</link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="1000" velocity="100"/></joint>
  <joint name="slide" type="prismatic"><parent link="upper"/><child link="lower"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.5" effort="1000" velocity="100"/></joint>
</robot>"""


def arm_in(motion_of=lambda world: None):
    world = World(gravity=(0.0, 0.0, 0.0))
    robot = world.add_robot(load_model(ARM, base="fixed"))
    robot.set_gains(100.0, 20.0)
    robot.command(positions=[0.0, 0.1])
    return Viewer(world, motion_of(world), port=0)


@pytest.fixture
def viewer():
    shown = arm_in()
    yield shown
    shown.stop()


def test_a_slider_moves_its_joint_and_no_other(viewer):
    """Law: without gravity and friction, a joint with gains comes to rest at its target."""
    robot = viewer.session.world.robots["arm"]
    sliders = viewer.controls.joints.sliders
    assert tuple(sliders) == ("shoulder", "slide")
    Visitor(viewer).use(sliders["shoulder"], 0.7)
    viewer.session.world.step(5000)
    assert robot.joint_positions == pytest.approx([0.7, 0.1], abs=1e-3)


@pytest.mark.parametrize("value, reached", [(1e9, 2.0), (-1e9, -1.0), (float("nan"), -1.0)])
def test_a_page_cannot_command_beyond_the_limits(viewer, value, reached):
    """Law: the target is the value within the joint's limits, whatever number a page sends."""
    robot = viewer.session.world.robots["arm"]
    Visitor(viewer).use(viewer.controls.joints.sliders["shoulder"], value)
    viewer.session.world.step(8000)
    assert robot.joint_positions[0] == pytest.approx(reached, abs=2e-3)


def test_joints_are_placed_in_a_paused_world(viewer):
    """Law: a placed joint has the position and no velocity, and stays there."""
    visitor, joints = Visitor(viewer), viewer.controls.joints
    robot = viewer.session.world.robots["arm"]
    viewer.session.play()
    visitor.use(joints.use, POSITIONS)
    visitor.use(joints.sliders["slide"], 0.4)
    assert not viewer.session.playing
    assert robot.joint_positions == pytest.approx([0.0, 0.4], abs=1e-12)
    np.testing.assert_array_equal(robot.joint_velocities, 0.0)
    viewer.session.world.step(1000)
    assert robot.joint_positions == pytest.approx([0.0, 0.4], abs=1e-9)


def test_a_target_that_is_given_in_the_past_acts_in_the_present(viewer):
    """Law: the command lasts, and the present state goes on from there."""
    session, robot = viewer.session, viewer.session.world.robots["arm"]
    for _ in range(5):
        session.step()
    then = session.world.time
    session.look_back(3 * session.world.time_step)
    Visitor(viewer).use(viewer.controls.joints.sliders["shoulder"], 0.7)
    assert session.looking_back == 0.0 and session.world.time == then
    session.play()
    session.pause()
    session.world.step(5000)
    assert robot.joint_positions[0] == pytest.approx(0.7, abs=1e-3)


def test_sliders_follow_the_targets_of_others(viewer):
    """Law: a slider shows the commanded target, and the text the largest distance from one."""
    viewer.session.world.robots["arm"].command(positions=[0.25], names=["shoulder"])
    Visitor(viewer).look()
    assert viewer.controls.joints.sliders["shoulder"].value == 0.25
    assert "shoulder, 0.2500 rad" in viewer.controls.joints.farthest.content


def test_a_controller_keeps_its_robot():
    """Law: beside a controller, sliders show positions, and a page's values command nothing."""
    viewer = arm_in(lambda world: TimeAdvance(world.time_step, world.step, rewinds=False))
    try:
        visitor, robot = Visitor(viewer), viewer.session.world.robots["arm"]
        slider = viewer.controls.joints.sliders["shoulder"]
        assert slider.disabled
        visitor.use(slider, 1.0)
        viewer.session.world.step(1000)
        assert robot.joint_positions[0] == pytest.approx(0.0, abs=1e-9)
        robot.joint_positions = [0.5, 0.1]
        visitor.look()
        assert slider.value == 0.5
    finally:
        viewer.stop()
