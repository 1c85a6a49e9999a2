# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Robots with a fixed base that are put elsewhere move as if their description had been moved."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hrpsim import Box, StateError, World, load_model, load_world

P, TURN = np.array([0.3, -0.2, 1.1]), (0.4, -0.7, 1.2)  # [m], roll pitch yaw [rad]
Q = Rotation.from_euler("xyz", TURN).as_quat()
INERTIA = '<inertia ixx="0.01" iyy="0.02" izz="0.015" ixy="0" ixz="0" iyz="0"/>'
LINKS = f"""<link name="base"><collision name="foot"><geometry><box size="0.4 0.4 0.02"/></geometry>
</collision></link>
<link name="upper"><inertial><origin xyz="0 0.1 -0.2"/><mass value="1"/>{INERTIA}</inertial></link>
<link name="lower"><inertial><origin xyz="0 0 -0.2"/><mass value="2"/>{INERTIA}</inertial>
<collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="a" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<origin xyz="0 0 0.5" rpy="0.1 0.2 0.3"/></joint>
<joint name="b" type="continuous"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/>
<origin xyz="0 0 -0.4"/></joint>
<hrpsim reference="a"><gains kp="40" kd="1"/></hrpsim>
<hrpsim reference="base"><sensor name="still" type="imu"/><sensor name="scan" type="lidar"
 rate="100" columns="5" azimuth="-1 1"/></hrpsim>
<hrpsim reference="lower"><sensor name="imu" type="imu"/></hrpsim>"""
HERE = f'<robot name="arm">{LINKS}</robot>'
THERE = (
    '<robot name="arm"><link name="world"/><joint name="foot" type="fixed"><parent link="world"/>'
    '<child link="base"/><origin xyz="{} {} {}" rpy="{} {} {}"/></joint>'.format(*P, *TURN)
    + f"{LINKS}</robot>"
)


def followed(world, robot):
    """Return states, readings, link poses and rays of half a second."""
    found = []
    for _ in range(10):
        world.step(50)
        read = [robot.sensors[name].reading for name in ("still", "imu")]
        rays = np.nan_to_num(robot.sensors["scan"].ranges.ravel(), posinf=99.0)
        places = [robot.link_pose(link) for link in ("base", "upper", "lower")]
        parts = [robot.q, robot.v, *read, rays, *(part for pose in places for part in pose)]
        found.append(np.concatenate(parts))
    return np.array(found)


def cluttered():
    """Return a world with things that the arm and its rays meet."""
    world = World()
    world.add_ground()
    world.add_static(Box((0.1, 4.0, 4.0)), position=(1.5, 0, 0))
    world.add_body(Box((0.1, 0.1, 0.1)), 0.5, position=P + [0.02, 0.0, 0.3], name="on the base")
    return world


def test_a_placed_base_is_one_that_the_description_placed():
    """Law: motion, contacts, readings, rays and poses are those of a description moved so."""
    here, there = cluttered(), cluttered()
    model = load_model(HERE, base="fixed")
    arm = here.add_robot(model, position=P, orientation=Q)
    other = there.add_robot(load_model(THERE))
    np.testing.assert_allclose(followed(here, arm), followed(there, other), atol=1e-9)
    box = [world.bodies["on the base"].q for world in (here, there)]
    np.testing.assert_allclose(*box, atol=1e-9)
    assert model.frames["base"].p.tolist() == [0, 0, 0]  # the given model did not change


def test_two_arms_of_one_file_stand_where_the_world_file_says(tmp_path):
    (tmp_path / "arm.urdf").write_text(HERE)
    (tmp_path / "two.yaml").write_text(
        "robots:\n"
        "  - {name: left, urdf: arm.urdf, base: fixed, position: [0, 0.5, 1], gains: {b: [9, 1]}}\n"
        "  - {name: right, urdf: arm.urdf, base: fixed, position: [0, -0.5, 1],"
        " orientation: [0, 0, 1, 0], gains: {b: [9, 1]}}\n"
    )
    world = load_world(tmp_path / "two.yaml")
    left, right = (world.robots[name] for name in ("left", "right"))
    assert left.link_pose("base")[0].tolist() == [0, 0.5, 1]
    assert right.link_pose("base")[0].tolist() == [0, -0.5, 1]
    world.step(200)
    p, other = left.link_pose("lower")[0], right.link_pose("lower")[0]
    mirrored = np.array([-1.0, -1.0, 1.0]) * (p - [0, 0.5, 1]) + [0, -0.5, 1]
    np.testing.assert_allclose(other, mirrored, atol=1e-9)
    assert world.copy().robots["left"].link_pose("base")[0].tolist() == [0, 0.5, 1]


def test_a_free_base_starts_at_its_place():
    solid = f'<link name="base"><inertial><mass value="3"/>{INERTIA}</inertial>'
    model = load_model(HERE.replace('<link name="base">', solid), base="free")
    robot = World().add_robot(model, position=P, orientation=Q)
    np.testing.assert_allclose(robot.q[:7], [*P, *Q], atol=1e-15)
    robot = World().add_robot(model, [0, 0, 3, 0, 0, 0, 1, 0.5, 0.1], orientation=Q)
    np.testing.assert_allclose(robot.q, [0, 0, 3, *Q, 0.5, 0.1], atol=1e-15)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"position": [0, 0]}, r"position must have shape \(3,\)"),
        ({"position": [0, 0, np.nan]}, "every entry must be finite"),
        ({"orientation": [0, 0, 0, 0]}, "length 1, got length 0"),
    ],
)
def test_bad_places_are_refused(wrong, text):
    world = World()
    with pytest.raises(StateError, match=text):
        world.add_robot(load_model(HERE, base="fixed"), **wrong)
    assert not world.robots
