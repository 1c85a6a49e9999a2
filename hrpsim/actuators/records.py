# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The records of actuators with a model. All quantities are reflected to the joint's side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.jit.fields import Axis, array, constant, state
from hrpsim.model.actuator import CURVE_POINTS

# Units are for a revolute joint; for a prismatic one read N for Nm, m for rad, kg for kg m^2.
ACTUATOR = np.dtype(
    [
        ("dof", "i8"),  # of its joint
        ("period", "f8"),  # between two samples of the command [s]; 0: every step
        ("delay_steps", "i8"),  # whole steps of the delay of commands
        ("delay_part", "f8"),  # of a step, the rest of it
        ("slots", "i8"),  # stored commands that it needs; 0: no delay
        ("effort_limit", "f8"),  # [Nm]
        ("velocity_limit", "f8"),  # [rad/s]
        ("joint_friction", "f8"),  # dry friction of the joint itself [Nm]
        ("curve_points", "i8"),
        ("curve_speed", "f8", (CURVE_POINTS,)),  # [rad/s]
        ("curve_torque", "f8", (CURVE_POINTS,)),  # [Nm]
        ("curve_slope", "f8", (CURVE_POINTS,)),  # after each point [Nms/rad]
        ("steepest", "f8"),  # largest fall of the curve [Nms/rad]
        ("regeneration_torque", "f8"),  # limit while braking [Nm]
        ("voltage", "f8"),  # [V]
        ("resistance", "f8"),  # of the winding [ohm]; 0: no electrical model
        ("torque_constant", "f8"),  # [Nm/A]
        ("current_limit", "f8"),  # [A]
        ("two_mass", "i8"),  # whether the motor's inertia lies behind the gear's compliance
        ("stiffness", "f8"),  # of the gear [Nm/rad]
        ("damping", "f8"),  # [Nms/rad]
        ("half_backlash", "f8"),  # [rad]
        ("motor_encoder", "i8"),  # whether the gains act on the motor's side
        ("joint_resolution", "f8"),  # of encoders [rad]
        ("motor_resolution", "f8"),
        ("coulomb", "f8"),  # [Nm]
        ("static", "f8"),  # at rest [Nm]
        ("stribeck_speed", "f8"),  # [rad/s]
        ("viscous", "f8"),  # [Nms/rad]
        ("gear_gain", "f8"),  # of the torque behind the gear's loss, see hrpsim.actuators.friction
        ("gear_loss", "f8"),  # dry friction per torque there
        ("winding_capacity", "f8"),  # [J/K]; 0: no thermal model
        ("winding_to_housing", "f8"),  # thermal conductance [W/K]
        ("housing_capacity", "f8"),  # [J/K]
        ("housing_to_ambient", "f8"),  # [W/K]
        ("ambient", "f8"),  # [degree Celsius]
        ("reference", "f8"),  # temperature of the constants [degree Celsius]
        ("resistance_rise", "f8"),  # relative, of the resistance [1/K]
        ("torque_constant_rise", "f8"),  # of the torque constant [1/K]
        ("derating_temperature", "f8"),  # of the winding, where the current limit begins to fall
        ("limit_temperature", "f8"),  # where it is zero
    ]
)

# effort = constant - kp position - kd velocity: what a command asks of the drive
COMMAND = np.dtype([("constant", "f8"), ("kp", "f8"), ("kd", "f8")])

ACTUATOR_STATE = np.dtype(
    [
        ("deflection", "f8"),  # the motor's angle relative to the joint's [rad]
        ("twist", "f8"),  # of the gear's spring [rad]
        ("motor_velocity", "f8"),  # [rad/s]
        ("motor_change", "f8"),  # of that velocity in the last step [rad/s]
        ("torque", "f8"),  # on the joint in the last step [Nm]
        ("motor_torque", "f8"),  # of the motor in the last step, before friction [Nm]
        ("winding_temperature", "f8"),  # [degree Celsius]
        ("housing_temperature", "f8"),
        ("slot", "i8"),  # of the present command among those stored
        ("elapsed", "f8"),  # since the last sample of the command [s]
        ("sample", COMMAND),
    ]
)

# what holds during one step
ACTUATOR_STEP = np.dtype(
    [
        ("command", COMMAND),  # in effect
        ("inertia", "f8"),  # of the motor [kg m^2]
        ("viscous", "f8"),  # its viscous friction, as it acts on the velocity's change [Nms/rad]
        ("middle", "f8"),  # deflection in the middle of the step [rad]
        # the gear's torque before its dead zone: gear_torque + gear_slope (motor_end - joint_end)
        ("gear_torque", "f8"),  # [Nm]
        ("gear_slope", "f8"),  # [Nms/rad]
        ("gear_dead", "f8"),  # torque by which the backlash lowers it [Nm]
        ("dry", "f8"),  # level of the motor's dry friction [Nm]
        ("joint_start", "f8"),  # velocities at the start of the step [rad/s]
        ("motor_start", "f8"),
        ("weight", "f8"),  # of the velocity at its end, where limits of torque depend on it
        ("gain_weight", "f8"),  # the same where gains and dampers do
        ("current_torque", "f8"),  # at the current limit [Nm]
        ("voltage_torque", "f8"),  # at the voltage limit, at rest [Nm]
        ("back_emf", "f8"),  # its fall with the motor's speed [Nms/rad]
        ("limiter", "f8"),  # slope of the speed limiter [Nms/rad]
        # of the gains' demand: constant - of_motor motor_end - of_joint joint_end
        ("demand", "f8"),
        ("of_motor", "f8"),
        ("of_joint", "f8"),
        # linear about a velocity at the end of the step
        ("joint_end", "f8"),  # [rad/s]
        ("motor_end", "f8"),  # [rad/s]
        ("motor_slope", "f8"),
        ("torque", "f8"),  # [Nm]
        ("slope", "f8"),  # not positive [Nms/rad]
        ("motor_torque", "f8"),
        ("motor_torque_slope", "f8"),
    ]
)


class Actuators(NamedTuple):
    """The actuators with a model of a scene."""

    units: np.ndarray = constant(
        "properties of actuators with a model", ACTUATOR, Axis.ACTUATOR, refers={"dof": Axis.DOF}
    )
    states: np.ndarray = state(
        "their motors, gears and temperatures", ACTUATOR_STATE, Axis.ACTUATOR
    )
    commands: np.ndarray = state(
        "their latest commands, for delays", COMMAND, Axis.ACTUATOR, Axis.COMMAND
    )
    steps: np.ndarray = array("what holds for them in a step", ACTUATOR_STEP, Axis.ACTUATOR)
