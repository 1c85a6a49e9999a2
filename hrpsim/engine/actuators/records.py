# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records of actuators with a model. All quantities are reflected to the joint's side."""

from typing import NamedTuple

import numpy as np

from hrpsim.engine.compile.fields import Axis, array, constant, state
from hrpsim.model.actuator import CURVE_POINTS

# Units are for a revolute joint; for a prismatic one read N for Nm, m for rad, kg for kg m^2.
# Fields that every actuator needs come first: they lie in few lines of the cache.
ACTUATOR = np.dtype(
    [
        ("dof", "i8"),  # of its joint
        ("two_mass", "i8"),  # whether the motor's inertia lies behind the gear's compliance
        ("motor_encoder", "i8"),  # whether the gains act on the motor's side
        ("has_heat", "i8"),  # whether there is a thermal model
        ("slots", "i8"),  # stored commands that it needs; 0: no delay
        ("period", "f8"),  # between two samples of the command [s]; 0: every step
        ("slew_step", "f8"),  # largest change of the target between these [rad]; 0: any
        ("integral_gain", "f8"),  # [Nm/(rad s)]
        ("integral_limit", "f8"),  # [Nm]
        ("velocity_integral_gain", "f8"),  # [Nm/rad]; 0: commanded velocities are not integrated
        ("lag", "f8"),  # mean of the filter's error over a step, relative; 0: no filter
        ("curve_points", "i8"),
        ("effort_limit", "f8"),  # [Nm]
        ("velocity_limit", "f8"),  # [rad/s]
        (
            "has_losses",
            "i8",
        ),  # whether its gear is rigid and loses: hrpsim.engine.actuators.lossy_gear
        ("driving", "f8"),  # torque behind such a gear per torque before it, as the motor drives
        ("driven", "f8"),  # the same as it is driven back; inf: self-locking
        ("least_share", "f8"),  # of the link's inertia, the least that such a gear's motor moves
        ("gear_gain", "f8"),  # of the torque behind a compliant gear: hrpsim.engine.actuators.gear
        ("gear_loss", "f8"),  # dry friction per torque there
        ("coulomb", "f8"),  # [Nm]
        ("static", "f8"),  # at rest [Nm]
        ("viscous", "f8"),  # [Nms/rad]
        ("joint_friction", "f8"),  # dry friction of the joint itself [Nm]
        ("resistance", "f8"),  # of the winding [ohm]; 0: no electrical model
        ("steepest", "f8"),  # largest fall of the curve [Nms/rad]
        ("joint_resolution", "f8"),  # of encoders [rad]
        ("motor_resolution", "f8"),
        ("half_backlash", "f8"),  # of the gear [rad]
        ("inertia", "f8"),  # of the motor behind it [kg m^2]
        ("resisting", "f8"),  # torque per change of the motor's velocity in a step [Nms/rad]
        # the gear's torque without backlash, by deflection in the middle, and twist [Nm/rad]
        ("of_middle", "f8"),
        ("of_twist", "f8"),
        ("spring_rate", "f8"),  # its spring's, by the rate at the end of the step [Nms/rad]
        ("damping", "f8"),  # of the gear [Nms/rad]
        ("dead_torque", "f8"),  # by which the backlash lowers it [Nm]
        ("relaxation", "f8"),  # factor of the twist in a step without contact
        ("stribeck_speed", "f8"),  # [rad/s]
        ("delay_steps", "i8"),  # whole steps of the delay of commands
        ("delay_part", "f8"),  # of a step, the rest of it
        ("decay", "f8"),  # of the filter's error in a step, as a factor
        ("velocity_integral_lower", "f8"),  # bounds of the integral of commanded velocities [rad]
        ("velocity_integral_upper", "f8"),
        ("regeneration_torque", "f8"),  # limit while braking [Nm]
        ("voltage", "f8"),  # [V]
        ("torque_constant", "f8"),  # [Nm/A]
        ("current_limit", "f8"),  # [A]
        ("reference", "f8"),  # temperature of the constants [degree Celsius]
        ("resistance_rise", "f8"),  # relative, of the resistance [1/K]
        ("torque_constant_rise", "f8"),  # of the torque constant [1/K]
        ("derating_temperature", "f8"),  # of the winding, where the current limit begins to fall
        ("limit_temperature", "f8"),  # where it is zero
        ("winding_to_housing", "f8"),  # thermal conductance [W/K]
        # changes of temperatures by the heat that flows in during a step [K/W]
        ("winding_rise", "f8"),  # of the winding by its own
        ("mutual_rise", "f8"),  # of each by the other's
        ("housing_rise", "f8"),
        ("housing_to_ambient", "f8"),  # [W/K]
        ("ambient", "f8"),  # [degree Celsius]
        ("curve_speed", "f8", (CURVE_POINTS,)),  # [rad/s]
        ("curve_torque", "f8", (CURVE_POINTS,)),  # [Nm]
        ("curve_slope", "f8", (CURVE_POINTS,)),  # after each point [Nms/rad]
    ]
)

# effort = constant - kp position - kd velocity: what a command asks of the drive
COMMAND = np.dtype([("constant", "f8"), ("kp", "f8"), ("kd", "f8"), ("target", "f8")])

ACTUATOR_STATE = np.dtype(
    [
        ("deflection", "f8"),  # the motor's angle relative to the joint's [rad]
        ("twist", "f8"),  # of the gear's spring [rad]
        ("motor_velocity", "f8"),  # [rad/s]
        ("motor_change", "f8"),  # of that velocity in the last step [rad/s]
        ("moved_inertia", "f8"),  # that the joint moved in the last step besides [kg m^2]
        ("torque", "f8"),  # on the joint in the last step [Nm]
        ("load", "f8"),  # the same with the joint's dry friction, of a rigid gear with losses [Nm]
        ("motor_torque", "f8"),  # of the motor in the last step, before friction [Nm]
        ("winding_temperature", "f8"),  # [degree Celsius]
        ("housing_temperature", "f8"),
        ("slot", "i8"),  # of the present command among those stored
        ("elapsed", "f8"),  # since the last sample of the command [s]
        ("slewed", "f8"),  # target that the slew rate has reached [rad]
        ("integral", "f8"),  # of the position's error, times its gain [Nm]
        ("integrated", "f8"),  # commanded velocity, from the joint's position on [rad]
        ("filtered_target", "f8"),  # what the filter gives for the target of the position [rad]
        ("filtered_effort", "f8"),  # the same for effort and kd times the commanded velocity [Nm]
        ("sample", COMMAND),
    ]
)

# What holds during one step. Torques are linear in the joint's velocity at the end of the step:
# torque + slope (velocity - joint_end); likewise the motor's velocity and torque.
ACTUATOR_STEP = np.dtype(
    [
        ("joint_start", "f8"),  # velocity at the start of the step [rad/s]
        ("joint_end", "f8"),  # at its end [rad/s]
        ("torque", "f8"),  # on the joint [Nm]
        ("slope", "f8"),  # not positive [Nms/rad]
        ("motor_end", "f8"),  # [rad/s]
        ("motor_slope", "f8"),
        ("reach", "f8"),  # change of both velocities within which that holds [rad/s]
        ("gain_weight", "f8"),  # of the velocity at the end in gains and dampers
        ("motor_start", "f8"),  # [rad/s]
        ("demand", "f8"),  # of the gains: demand - of_motor motor_end - of_joint joint_end [Nm]
        ("of_motor", "f8"),  # [Nms/rad]
        ("of_joint", "f8"),  # [Nms/rad]
        ("weight", "f8"),  # of the velocity at the end in limits of torque
        ("limiter", "f8"),  # slope of the speed limiter [Nms/rad]
        ("current_torque", "f8"),  # at the current limit [Nm]
        ("voltage_torque", "f8"),  # at the voltage limit, at rest [Nm]
        ("back_emf", "f8"),  # its fall with the motor's speed [Nms/rad]
        ("motor_torque", "f8"),  # [Nm]
        ("motor_torque_slope", "f8"),  # [Nms/rad]
        ("dry", "f8"),  # level of the motor's dry friction [Nm]
        # a rigid gear with losses: what it transmits, see hrpsim.engine.actuators.lossy_gear
        ("side", "f8"),  # direction of its motion; 0 at rest
        ("resisting", "f8"),  # torque per change of its velocity in the step [Nms/rad]
        ("low", "f8"),  # end of the torques at rest from which it moves to the positive side [Nm]
        ("high", "f8"),  # that from which it moves to the negative side [Nm]
        ("centre", "f8"),  # of the torques that it may have at rest in the step [Nm]
        ("band", "f8"),  # to either side of that [Nm]
        ("gear_torque", "f8"),  # without backlash: gear_torque + of_rate (motor_end - joint_end)
        ("of_rate", "f8"),  # [Nms/rad]
        ("middle", "f8"),  # deflection in the middle of the step [rad]
        ("integral", "f8"),  # at the end of the step [Nm]
        ("command", COMMAND),  # in effect
    ]
)


class Actuators(NamedTuple):
    """The actuators of a scene that have an actuator model, as records for the kernels."""

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
