# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Derivatives of efforts and sensors by state and commands: differences of steps decide."""

import numpy as np
import pytest
from grouped import one_compiles
from world.differences import differences, input_differences, outputs
from world.scenes import one_joint
from world.test_parameter_derivatives import PAIR, expected

from hrpsim import Actuator, World, WorldError, load_model

pytestmark = [one_compiles("linearization"), pytest.mark.usefixtures("derivatives_in_python")]

OUTPUTS = ("efforts", "sensors")
LINK = """<link name="{}"><inertial><origin xyz="0.01 0.02 {}"/><mass value="{}"/>
<inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0.002"/></inertial>{}</link>"""
SOLE = """<collision><origin xyz="0 0 -0.02"/><geometry><box size="0.2 0.1 0.04"/></geometry>
</collision>"""
JOINT = """<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>
<origin xyz="{3}"/><axis xyz="{4}"/><limit lower="-2" upper="2" effort="500" velocity="20"/>
<dynamics damping="0.3"/></joint>"""
LEG = f"""<robot name="leg">{LINK.format("trunk", 0, 5, "")}{LINK.format("thigh", -0.1, 2, "")}
{LINK.format("foot", -0.01, 1, SOLE)}{JOINT.format("hip", "trunk", "thigh", "0 0 -0.1", "0 1 0")}
{JOINT.format("ankle", "thigh", "foot", "0 0 -0.3", "1 0 0")}
<hrpsim reference="hip"><gains kp="200" kd="5"/><sensor name="thigh" type="force_torque"/></hrpsim>
<hrpsim reference="ankle"><gains kp="150" kd="3"/>
<sensor name="foot" type="force_torque" tare="true"><origin xyz="0.01 0 -0.03" rpy="0.2 0 0.4"/>
</sensor></hrpsim>
<hrpsim reference="trunk"><sensor name="imu" type="imu"><origin xyz="0.1 0 0.05" rpy="0 0.3 0"/>
</sensor></hrpsim></robot>"""


def leg(height, speed, **contact):
    """Return a world with a leg above a floor that moves at a speed, after two steps."""
    world = World(sleeping=False, tolerance=1e-13)
    world.add_ground()
    world.set_friction("default", "default", *PAIR)
    if contact:
        world.set_contact("default", "default", **contact)
    robot = world.add_robot(load_model(LEG), name="leg")
    q = robot.q.copy()
    q[2], q[7:] = height, (0.05, -0.03) if height > 1.0 else 0.0
    robot.place(q)
    robot.v = speed * np.array([0.5, 0.2, 0.0, 0.3, -0.4, 0.2, 0.5, -0.6]) * (height > 1.0)
    if height < 1.0:
        robot.v = speed * np.eye(8)[0]
    robot.command(positions=[0.02, -0.01])
    world.step(2)
    return world


def error(world, found):
    """Return the largest error of the derivatives by state, relative to the rows' entries."""
    nv = len(world.scene.velocity)
    right = differences(world, np.full(2 * nv, 1e-7), read=outputs)[2 * nv :]
    sizes = np.maximum(np.abs(right).max(axis=1, keepdims=True), 1e-2)
    return float((np.abs(found.A - right) / sizes).max())


@pytest.mark.parametrize(
    "world",
    [
        leg(2.0, 1.0),
        leg(0.44, 0.0, compliance=1e-6, damping_time=0.01),
        leg(0.4397, 1.0, compliance=1e-6, damping_time=0.01),
    ],
    ids=["free", "stands", "slides"],
)
def test_outputs_by_the_state(world):
    """Law: efforts, wrenches with and without tare, and an IMU off the centre of its body."""
    found = world.linearize("positions", outputs=OUTPUTS).outputs
    assert len(found.names) == len(found.A) == 2 + 3 * 6
    assert found.rows("sensors", "leg", "imu").tolist() == list(range(14, 20))
    assert error(world, found) < 1e-5


def test_wrenches_of_a_sliding_foot_by_parameters():
    """Law: friction and masses act on the sensors above a foot that slides on a yielding floor."""
    world = leg(0.4397, 1.0, compliance=1e-6, damping_time=0.01)
    paths = ["friction.default-default.kinetic", "robots.leg.mass_factor"]
    right = expected(world, paths)[2 * len(world.scene.velocity) :]
    C = world.linearize((), parameters=paths, outputs=OUTPUTS).outputs.C
    assert (np.abs(C - right).max(axis=0) < 1e-5 * np.abs(right).max(axis=0)).all()
    assert np.abs(right).max() > 1.0


@pytest.mark.parametrize("delay", [0.0, 0.0004, 0.0023])
def test_efforts_of_an_actuator_with_a_delay(delay):
    """Law: the effort follows late commands, and the viscous friction of the actuator counts."""
    extension = '<gains kp="50" kd="1"/><rotor inertia="0.01"/>'
    world = World(sleeping=False, tolerance=1e-13)
    robot = world.add_robot(one_joint(mass=2.0, at="0.5 0 0", extension=extension), q=[0.1])
    robot.set_actuator(Actuator(delay=delay, viscous_friction=0.7, coulomb_friction=0.3))
    for k in range(6):
        robot.command(positions=[0.2 + 0.05 * k], velocities=[0.1])
        world.step()
    found = world.linearize("positions", outputs="efforts").outputs
    right = input_differences(world, "target_position", [0], 1e-6, outputs)
    assert found.B == pytest.approx(right[2:], rel=1e-6, abs=1e-8)
    assert error(world, found) < 1e-5


def test_outputs_without_a_derivative_are_refused():
    """Law: the error names the sensor or the cause."""
    late = LEG.replace('name="imu" type="imu"', 'name="imu" type="imu" latency="0.01"')
    world = World(sleeping=False)
    world.add_robot(load_model(late), name="leg")
    with pytest.raises(WorldError, match=r"'imu' of 'leg' has a latency"):
        world.linearize(outputs="sensors")
    assert world.linearize(outputs="efforts").outputs.A.shape == (2, 16)
    with pytest.raises(WorldError, match=r"output .*'forces'"):
        world.linearize(outputs="forces")
