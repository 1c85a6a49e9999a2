# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Force sensors and IMUs of small robots: values, frames and signs by the laws of motion."""

import math

import numpy as np
import pytest
from world.scenes import GRAVITY, INTEGRATORS, weightless

from hrpsim import World, WorldError, load_model

integrators = pytest.mark.parametrize("integrator", INTEGRATORS)

# a child of 2 kg on a fixed joint, its centre 0.3 m below the joint
PLATE = """<robot name="plate">
  <link name="base"><inertial><mass value="5"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"><inertial><origin xyz="0 0 -0.3"/><mass value="2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="mount" type="fixed"><parent link="base"/><child link="tool"/>
    <origin xyz="0.1 0 0"/></joint>
  <hrpsim reference="tool">
    <sensor name="plain" type="force_torque"/>
    <sensor name="tared" type="force_torque" tare="true"/>
    <sensor name="imu" type="imu"/>
  </hrpsim>
</robot>"""


def held(integrator: str):
    """The plate on a fixed base, in gravity."""
    world = World(integrator=integrator)
    return world, world.add_robot(load_model(PLATE, base="fixed"))


def flying(integrator: str, v=None):
    """The plate, free and weightless."""
    world = weightless(integrator=integrator)
    return world, world.add_robot(load_model(PLATE), v=v)


SPINNING = """<robot name="top">
  <link name="top"><inertial><mass value="3"/>
    <inertia ixx="0.2" iyy="0.2" izz="0.3" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <hrpsim reference="top"><sensor name="imu" type="imu"><origin xyz="0.4 0 0" rpy="0 0 0"/></sensor>
  <sensor name="side" type="imu"><origin xyz="0.4 0 0" rpy="0 0 1.5707963267948966"/></sensor>
  </hrpsim>
</robot>"""


@integrators
def test_an_off_axis_imu_reads_the_centripetal_acceleration(integrator):
    """-w^2 r along the radius: here -16 * 0.4 along x, and along y of a frame turned by 90 deg."""
    world = weightless(integrator=integrator)
    robot = world.add_robot(load_model(SPINNING), v=[0, 0, 0, 0, 0, 4.0])
    world.step()
    inward = -16.0 * 0.4
    imu, side = robot.sensors["imu"], robot.sensors["side"]
    np.testing.assert_allclose(imu.linear_acceleration, (inward, 0, 0), atol=1e-12)
    np.testing.assert_allclose(side.linear_acceleration, (0, -inward, 0), atol=1e-12)
    np.testing.assert_allclose(side.angular_velocity, (0, 0, 4.0), atol=1e-12)


@integrators
def test_an_imu_in_free_fall_reads_nothing(integrator):
    world = World(integrator=integrator)
    robot = world.add_robot(load_model(SPINNING))
    world.step(50)
    np.testing.assert_allclose(robot.sensors["imu"].linear_acceleration, 0.0, atol=1e-10)


@integrators
def test_an_imu_reads_the_applied_acceleration_in_its_frame(integrator):
    """F / m along the world's y is along x of a frame turned by 90 degrees about z."""
    world = weightless(integrator=integrator)
    robot = world.add_robot(load_model(SPINNING))
    robot.apply_wrench("top", force=(0, 6.0, 0))
    world.step()
    np.testing.assert_allclose(robot.sensors["side"].linear_acceleration, (2.0, 0, 0), atol=1e-12)


PENDULUM = """<robot name="arm">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.03" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="j" type="continuous"><parent link="base"/><child link="arm"/>
    <axis xyz="0 1 0"/></joint>
  <hrpsim reference="j"><gains kp="1e5" kd="1e3"/>
    <sensor name="raw" type="force_torque"/>
    <sensor name="tared" type="force_torque" tare="true"/>
    <sensor name="off" type="force_torque"><origin xyz="0 0 -0.2" rpy="0 0 1.5707963267948966"/>
    </sensor></hrpsim>
  <hrpsim reference="arm"><sensor name="imu" type="imu"/></hrpsim>
</robot>"""


def swinging(integrator: str, q: float, gains: bool):
    world = World(integrator=integrator)
    model = load_model(PENDULUM, base="fixed")
    robot = world.add_robot(model, q=[q])
    if not gains:
        robot.tau = [0.0]
    return world, robot


@integrators
def test_an_untared_sensor_reads_the_weight_of_the_child_side(integrator):
    """Held up at 0.7 rad: what hangs pulls its parent down by m g; about y by m g l sin q."""
    world, robot = swinging(integrator, 0.7, gains=True)
    world.step(3000)
    q = robot.q[0]
    raw = robot.sensors["raw"].wrench
    weight = 2.0 * GRAVITY
    # the world's -z along the axes of a frame turned by q about y
    np.testing.assert_allclose(
        raw[:3], (weight * math.sin(q), 0.0, -weight * math.cos(q)), rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(raw[3:], (0, -weight * 0.5 * math.sin(q), 0), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(robot.sensors["tared"].wrench, 0.0, atol=1e-8)
    imu = robot.sensors["imu"].linear_acceleration
    expected = (-GRAVITY * math.sin(q), 0.0, GRAVITY * math.cos(q))
    np.testing.assert_allclose(imu, expected, atol=1e-9)


@integrators
def test_a_shifted_and_turned_sensor_reads_the_same_wrench_in_its_frame(integrator):
    world, robot = swinging(integrator, 0.7, gains=True)
    world.step(3000)
    raw, off = robot.sensors["raw"].wrench, robot.sensors["off"].wrench
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    force = R.T @ raw[:3]
    torque = R.T @ (raw[3:] - np.cross((0, 0, -0.2), raw[:3]))
    np.testing.assert_allclose(off, np.concatenate([force, torque]), atol=1e-10)


@integrators
def test_a_pendulum_pulls_on_its_joint_as_newton_says(integrator):
    """Let go at q, v: force on the parent = m g - m a of the centre of mass, in the arm's frame.

    A semi-implicit step finds its forces at its middle, here at 0.8 rad.
    """
    world = World(integrator=integrator)
    model = load_model(PENDULUM, base="fixed")
    start = 0.8 - (0.5e-3 * 2.0 if integrator == "semi_implicit" else 0.0)
    robot = world.add_robot(model, q=[start], v=[2.0])
    robot.tau = [0.0]
    world.step()
    acceleration = -2.0 * GRAVITY * 0.5 * math.sin(0.8) / (2.0 * 0.25 + 0.03)
    # the arm's axes: its x moves with -0.5 * dw (centre below the joint), inward is +z
    across, inward = -0.5 * acceleration, 0.5 * 2.0**2
    expected = (
        2.0 * (GRAVITY * math.sin(0.8) - across),
        0.0,
        2.0 * (-GRAVITY * math.cos(0.8) - inward),
    )
    np.testing.assert_allclose(robot.sensors["raw"].force, expected, rtol=1e-9, atol=1e-9)


@integrators
def test_an_applied_wrench_reaches_the_sensor_exactly(integrator):
    """A fixed joint on a fixed base transmits what pushes the tool, weight besides."""
    world, robot = held(integrator)
    force, torque = np.array([3.0, -4.0, 5.0]), np.array([0.6, 0.7, -0.8])
    point = np.array([0.0, 0.1, -0.2])
    robot.apply_wrench("tool", force, torque, point)
    world.step()
    about = torque + np.cross(point, force)
    np.testing.assert_allclose(
        robot.sensors["tared"].wrench, np.concatenate([force, about]), atol=1e-12
    )
    weight = np.array([0.0, 0.0, -2.0 * GRAVITY])
    total = np.concatenate([force + weight, about + np.cross((0, 0, -0.3), weight)])
    np.testing.assert_allclose(robot.sensors["plain"].wrench, total, atol=1e-12)


@integrators
def test_a_sensor_between_two_free_links_reads_what_accelerates_the_child(integrator):
    """Pushed at the base through the common centre: the tool's share of the force goes through."""
    world, robot = flying(integrator)
    centre = 2.0 * np.array([0.1, 0, -0.3]) / 7.0
    robot.apply_wrench("base", force=(14.0, 0, 0), point=centre)
    world.step()
    # a = 2 m/s^2 without turning: the child needs 4 N, and pulls the parent back with it
    np.testing.assert_allclose(robot.sensors["plain"].force, (-4.0, 0, 0), atol=1e-10)


def test_a_sensor_of_the_wrong_kind_says_so():
    _, robot = held("semi_implicit")
    with pytest.raises(WorldError, match="'imu' is of kind 'imu', not 'force_torque'"):
        _ = robot.sensors["imu"].wrench
    with pytest.raises(WorldError, match="'plain' is of kind 'force_torque', not 'imu'"):
        _ = robot.sensors["plain"].angular_velocity
