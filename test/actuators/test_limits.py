# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Limits of torque by a curve, by current and voltage, by temperature; the velocity limit."""

import numpy as np
import pytest
from actuators.arms import LINK, ROTOR, arm

INERTIA = LINK + ROTOR
CURVE = {"curve_velocity": (0.0, 4.0, 6.0), "curve_torque": (50.0, 50.0, 10.0)}
MOTOR = {
    "resistance": 0.5,
    "voltage": 24.0,
    "torque_constant": 0.05,
    "gear_ratio": 50.0,
    "current_limit": 20.0,
}


def test_no_actuator_and_one_without_properties_agree():
    """Law: the defaults of an actuator have no effect."""
    ends = []
    for actuator in (None, {}):
        world, robot = arm(actuator, kp=300, kd=7, damping=0.3, friction=0.5)
        robot.command(positions=[1.0])
        world.step(200)
        ends.append((robot.q[0], robot.v[0], robot.tau[0]))
    assert ends[0] == pytest.approx(ends[1], rel=1e-12)


@pytest.mark.parametrize("damping, speed, torque", [(12.5, 4.0, 50.0), (6.0, 5.0, 30.0)])
def test_the_steady_speed_is_where_the_load_meets_the_curve(damping, speed, torque):
    """Law: damping v = curve(v), at the corner and on the slope after it."""
    world, robot = arm(CURVE, damping=damping)
    robot.command(efforts=[200.0])
    world.step(3000)
    assert robot.v[0] == pytest.approx(speed, rel=1e-9)
    assert robot.tau[0] == pytest.approx(torque, rel=1e-9)


def test_a_joint_accelerates_along_the_curve():
    """Law: on the slope dv/dt = (T0 - s v) / I has an exponential as its solution."""
    world, robot = arm({"curve_velocity": (0.0, 20.0), "curve_torque": (20.0, 0.0)})
    robot.command(efforts=[100.0])
    world.step(100)
    assert robot.v[0] == pytest.approx(20.0 * (1.0 - np.exp(-0.1 / INERTIA)), rel=1e-5)


def test_a_motor_brakes_with_the_regeneration_torque():
    """Law: dv/dt = -T / I while the demand opposes the motion."""
    world, robot = arm(CURVE | {"regeneration_torque": 80.0})
    robot.v = [10.0]
    robot.command(efforts=[-200.0])
    world.step(10)
    assert robot.v[0] == pytest.approx(10.0 - 0.01 * 80.0 / INERTIA, rel=1e-12)


def test_back_emf_limits_speed_and_current_limits_torque():
    """Law: T = K I at rest, and no torque at the speed V / K; K includes the gear ratio."""
    world, robot = arm(MOTOR)
    robot.command(efforts=[1000.0])
    world.step()
    assert robot.tau[0] == pytest.approx(2.5 * 20.0, rel=1e-12)
    assert robot.actuators["j"].current == pytest.approx(20.0, rel=1e-12)
    world.step(2000)
    assert robot.v[0] == pytest.approx(24.0 / 2.5, rel=1e-9)


def test_a_motor_driven_beyond_its_speed_generates():
    """Law: at rates above (V + R I) / K the current is (V - K w) / R, whatever is demanded."""
    world, robot = arm(MOTOR, time_step=1e-6)
    for demand in (1000.0, 0.0, -1000.0):
        robot.v = [20.0]
        robot.command(efforts=[demand])
        world.step()
        wanted = 2.5 * (24.0 - 2.5 * 20.0) / 0.5
        assert robot.tau[0] == pytest.approx(wanted, rel=1e-3)


def test_the_velocity_limit_is_held():
    """Law: the joint does not exceed it by more than a part of 1e-6."""
    world, robot = arm({}, velocity=3.0, effort=40)
    robot.command(efforts=[40.0])
    world.step(500)
    assert robot.v[0] == pytest.approx(3.0, rel=1e-6)


def test_heat_flows_through_two_capacities():
    """Law: the linear network of winding, housing and air has this exponential solution."""
    from scipy.linalg import expm

    heat = {
        "winding_heat_capacity": 20.0,
        "winding_thermal_resistance": 2.0,
        "housing_heat_capacity": 300.0,
        "housing_thermal_resistance": 3.0,
    }
    world, robot = arm(MOTOR | heat | {"voltage": 1e9, "gear_ratio": 100.0}, damping=1.0)
    robot.command(efforts=[20.0])
    world.step(20_000)
    view = robot.actuators["j"]
    A = np.array([[-1 / 40, 1 / 40], [1 / 600, -(1 / 2 + 1 / 3) / 300]])
    rise = np.linalg.solve(A, (expm(20.0 * A) - np.eye(2)) @ [0.5 * 4.0**2 / 20.0, 0.0])
    assert view.current == pytest.approx(4.0, rel=1e-12)
    found = np.array([view.winding_temperature, view.housing_temperature]) - 25.0
    assert found == pytest.approx(rise, rel=1e-6)


def test_a_hot_motor_is_weaker():
    """Law: resistance and torque constant are linear in temperature, the current limit falls."""
    heat = {
        "winding_heat_capacity": 1e9,
        "housing_heat_capacity": 1e9,
        "resistance_coefficient": 0.0039,
        "torque_constant_coefficient": -0.002,
        "derating_temperature": 100.0,
        "limit_temperature": 150.0,
    }
    world, robot = arm(MOTOR | heat)
    view = robot.actuators["j"]
    view.winding_temperature, view.housing_temperature = 120.0, 75.0
    robot.command(efforts=[1000.0])
    world.step()
    constant = 2.5 * (1.0 - 0.002 * 50.0)
    assert robot.tau[0] == pytest.approx(constant * 20.0 * 0.6, rel=1e-6)
    assert view.current == pytest.approx(12.0, rel=1e-6)
    world.step(2000)
    assert robot.v[0] == pytest.approx(24.0 / constant, rel=1e-6)
