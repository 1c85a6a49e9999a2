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
        ("dof", "i8"),  # degree of freedom of the driven joint
        # 1: the gear is elastic and the motor has a velocity of its own, 0: the gear is rigid
        ("two_mass", "i8"),
        # 1: the position gains use the motor encoder, 0: the joint encoder
        ("motor_encoder", "i8"),
        ("has_heat", "i8"),  # 1: winding and housing have a thermal model, 0: not
        ("slots", "i8"),  # number of stored commands for the delay; 0: no delay
        ("period", "f8"),  # sampling period of the command [s]; 0: every step
        ("slew_step", "f8"),  # largest change of the position target per sample [rad]; 0: unlimited
        ("integral_gain", "f8"),  # integral gain of the position servo [Nm/(rad s)]
        ("integral_limit", "f8"),  # largest absolute torque of the integral term [Nm]
        # gain on the integral of commanded velocity [Nm/rad]; 0: not integrated
        ("velocity_integral_gain", "f8"),
        # mean over a step of the low-pass error, as a fraction of the initial error; 0: no filter
        ("lag", "f8"),
        ("curve_points", "i8"),  # number of points of the torque-speed curve; 0: no curve
        ("effort_limit", "f8"),  # largest torque of the motor [Nm]
        ("velocity_limit", "f8"),  # largest speed of the motor [rad/s]
        # 1: rigid gear with an efficiency below 1 (hrpsim.engine.actuators.lossy_gear), 0: not
        ("has_losses", "i8"),
        # rigid gear: output torque per input torque while the motor drives, at most 1
        ("driving", "f8"),
        # rigid gear: the ratio while the load drives the motor, at least 1; inf: self-locking
        ("driven", "f8"),
        # rigid gear: smallest fraction of the link inertia that the motor moves
        ("least_share", "f8"),
        # elastic gear: mean motor torque per output torque, (1 / e + b) / 2 (gear.py)
        ("gear_gain", "f8"),
        # elastic gear: Coulomb friction on the motor per output torque, (1 / e - b) / 2
        ("gear_loss", "f8"),
        ("coulomb", "f8"),  # Coulomb friction of the motor [Nm]
        ("static", "f8"),  # static friction of the motor, at zero speed [Nm]
        ("viscous", "f8"),  # viscous friction of the motor [Nms/rad]
        ("joint_friction", "f8"),  # dry friction of the joint, without the actuator [Nm]
        # winding resistance at the reference temperature [ohm]; 0: no electrical model
        ("resistance", "f8"),
        ("steepest", "f8"),  # largest fall of the torque-speed curve with speed [Nms/rad]
        ("joint_resolution", "f8"),  # resolution of the joint encoder [rad]; 0: exact
        ("motor_resolution", "f8"),  # resolution of the motor encoder, at the joint [rad]; 0: exact
        ("half_backlash", "f8"),  # half the backlash of the gear [rad]
        ("inertia", "f8"),  # rotor inertia [kg m^2]
        # elastic gear: inertia and viscous torque per change of the motor velocity [Nms/rad]
        ("resisting", "f8"),
        # elastic gear: torque per deflection at the middle of the step [Nm/rad]
        ("of_middle", "f8"),
        # elastic gear: torque per spring twist at the start of the step [Nm/rad]
        ("of_twist", "f8"),
        # elastic gear: spring torque per relative velocity at the end of the step [Nms/rad]
        ("spring_rate", "f8"),
        ("damping", "f8"),  # damping of the elastic gear [Nms/rad]
        # torque of the elastic gear at half the backlash, subtracted from the torque [Nm]
        ("dead_torque", "f8"),
        ("relaxation", "f8"),  # factor on the spring twist per step while the teeth do not touch
        ("stribeck_speed", "f8"),  # Stribeck velocity of the dry friction [rad/s]
        ("delay_steps", "i8"),  # whole steps of the command delay
        ("delay_part", "f8"),  # remainder of the command delay, as a fraction of a step
        ("decay", "f8"),  # factor on the low-pass error per step
        # lower bound of the integral of commanded velocity [rad]
        ("velocity_integral_lower", "f8"),
        # upper bound of the integral of commanded velocity [rad]
        ("velocity_integral_upper", "f8"),
        ("regeneration_torque", "f8"),  # largest torque while the load drives the motor [Nm]
        ("voltage", "f8"),  # supply voltage [V]
        # torque constant times gear ratio, at the reference temperature [Nm/A]
        ("torque_constant", "f8"),
        ("current_limit", "f8"),  # largest motor current [A]
        # temperature at which resistance and torque constant are given [degree Celsius]
        ("reference", "f8"),
        ("resistance_rise", "f8"),  # relative rise of the winding resistance per kelvin [1/K]
        # relative rise of the torque constant per kelvin of the housing [1/K]
        ("torque_constant_rise", "f8"),
        # winding temperature above which the current limit falls [degree Celsius]
        ("derating_temperature", "f8"),
        # winding temperature at which the current limit is 0 [degree Celsius]
        ("limit_temperature", "f8"),
        ("winding_to_housing", "f8"),  # thermal conductance from winding to housing [W/K]
        # temperature rise of the winding in a step per heat flow into the winding [K/W]
        ("winding_rise", "f8"),
        # temperature rise of winding or housing per heat flow into the other [K/W]
        ("mutual_rise", "f8"),
        # temperature rise of the housing in a step per heat flow into the housing [K/W]
        ("housing_rise", "f8"),
        ("housing_to_ambient", "f8"),  # thermal conductance from housing to ambient air [W/K]
        ("ambient", "f8"),  # ambient temperature [degree Celsius]
        ("curve_speed", "f8", (CURVE_POINTS,)),  # speeds of the torque-speed curve [rad/s]
        ("curve_torque", "f8", (CURVE_POINTS,)),  # largest torque at each speed of the curve [Nm]
        ("curve_slope", "f8", (CURVE_POINTS,)),  # slope of the curve after each point [Nms/rad]
    ]
)

# Command of a drive: effort [Nm] = constant - kp position - kd velocity. target: position [rad].
COMMAND = np.dtype([("constant", "f8"), ("kp", "f8"), ("kd", "f8"), ("target", "f8")])

ACTUATOR_STATE = np.dtype(
    [
        ("deflection", "f8"),  # motor angle minus joint angle [rad]
        ("twist", "f8"),  # twist of the gear spring: the deflection without backlash [rad]
        ("motor_velocity", "f8"),  # motor velocity, reflected to the joint [rad/s]
        ("motor_change", "f8"),  # change of the motor velocity in the last step [rad/s]
        ("moved_inertia", "f8"),  # inertia that the joint moves, without the actuator [kg m^2]
        ("torque", "f8"),  # torque of the actuator on the joint in the last step [Nm]
        # rigid gear with losses: torque on the joint in the last step, with dry friction [Nm]
        ("load", "f8"),
        ("motor_torque", "f8"),  # torque of the motor in the last step, before friction [Nm]
        ("winding_temperature", "f8"),  # temperature of the winding [degree Celsius]
        ("housing_temperature", "f8"),  # temperature of the housing [degree Celsius]
        ("slot", "i8"),  # index of the present command in the stored commands
        ("elapsed", "f8"),  # time since the last sample of the command [s]
        ("slewed", "f8"),  # position target after the slew-rate limit [rad]
        ("integral", "f8"),  # torque of the integral term of the position servo [Nm]
        # integral of the commanded velocity, starting at the joint position [rad]
        ("integrated", "f8"),
        ("filtered_target", "f8"),  # position target after the low-pass filter [rad]
        # commanded effort plus kd times velocity, after the low-pass filter [Nm]
        ("filtered_effort", "f8"),
        ("sample", COMMAND),  # command at the last sample
    ]
)

# Linear model of an actuator for one step. The torque on the joint is
# torque + slope (v - joint_end), with the joint velocity v at the end of the step.
# Velocity and torque of the motor are linear functions of v too.
ACTUATOR_STEP = np.dtype(
    [
        ("joint_start", "f8"),  # joint velocity at the start of the step [rad/s]
        # joint velocity at the end of the step, about which the model is linear [rad/s]
        ("joint_end", "f8"),
        ("torque", "f8"),  # torque on the joint at `joint_end` [Nm]
        ("slope", "f8"),  # derivative of the torque by the joint velocity, at most 0 [Nms/rad]
        ("motor_end", "f8"),  # motor velocity at the end of the step [rad/s]
        ("motor_slope", "f8"),  # derivative of `motor_end` by the joint velocity
        ("reach", "f8"),  # change of both velocities within which the model is exact [rad/s]
        # weight of the final velocity in velocity gains and dampers, 0.5 to 1
        ("gain_weight", "f8"),
        ("motor_start", "f8"),  # motor velocity at the start of the step [rad/s]
        # torque demand of the gains: demand - of_motor motor_end - of_joint joint_end [Nm]
        ("demand", "f8"),
        ("of_motor", "f8"),  # fall of the demanded torque with the final motor velocity [Nms/rad]
        ("of_joint", "f8"),  # fall of the demanded torque with the final joint velocity [Nms/rad]
        ("weight", "f8"),  # weight of the final velocity in limits of the motor torque, 0.5 to 1
        # fall of the torque with speed at the velocity limit [Nms/rad]; 0: no limit
        ("limiter", "f8"),
        ("current_torque", "f8"),  # motor torque at the current limit [Nm]; inf: no limit
        # motor torque at the full voltage and zero speed [Nm]; inf: no limit
        ("voltage_torque", "f8"),
        ("back_emf", "f8"),  # fall of `voltage_torque` with the motor speed [Nms/rad]
        ("motor_torque", "f8"),  # torque of the motor at `motor_end` [Nm]
        # derivative of `motor_torque` by the joint velocity [Nms/rad]
        ("motor_torque_slope", "f8"),
        ("dry", "f8"),  # magnitude of the dry friction of the motor [Nm]
        # rigid gear with losses, up to `band` (hrpsim.engine.actuators.lossy_gear)
        ("side", "f8"),  # direction of motion, 1 or -1; 0: at rest
        # rotor inertia and viscous torque per change of the joint velocity [Nms/rad]
        ("resisting", "f8"),
        ("low", "f8"),  # output torque at zero velocity, for motion in the positive direction [Nm]
        ("high", "f8"),  # output torque at zero velocity, for motion in the negative direction [Nm]
        ("centre", "f8"),  # middle of the torque range that holds the joint at rest [Nm]
        (
            "band",
            "f8",
        ),  # half the width of the torque range at rest: bound of the friction row [Nm]
        # elastic gear without backlash: torque at equal velocities of motor and joint [Nm]
        ("gear_torque", "f8"),
        # elastic gear: torque per final motor velocity minus joint velocity [Nms/rad]
        ("of_rate", "f8"),
        ("middle", "f8"),  # motor angle minus joint angle at the middle of the step [rad]
        ("integral", "f8"),  # integral term of the position servo at the end of the step [Nm]
        ("command", COMMAND),  # command in effect: sampled, filtered and delayed
    ]
)


class Actuators(NamedTuple):
    """The actuators of a scene that have an actuator model, as records for the kernels."""

    units: np.ndarray = constant(
        "properties of actuators with a model", ACTUATOR, Axis.ACTUATOR, refers={"dof": Axis.DOF}
    )
    states: np.ndarray = state(
        "motor, gear and thermal state of each actuator", ACTUATOR_STATE, Axis.ACTUATOR
    )
    commands: np.ndarray = state(
        "recent commands, for delays", COMMAND, Axis.ACTUATOR, Axis.COMMAND
    )
    steps: np.ndarray = array(
        "linear torque model of each actuator in a step", ACTUATOR_STEP, Axis.ACTUATOR
    )
