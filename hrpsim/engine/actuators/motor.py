# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The motor: the torque demanded by its gains, limited by current, voltage and torque curve.

A motor at the voltage V with the back EMF K w draws the current (V - K w) / R. Its torque lies
between K (-V - K w) / R and K (V - K w) / R, and within the current limit. K includes the gear
ratio. While the motor is driven against its torque (regeneration), the back EMF adds to the
voltage. The torque is then limited by the current limit I alone. If the back EMF exceeds V + R I,
the motor brakes with the larger torque that the back EMF causes. Temperatures of winding and
housing:

C_w dT_w/dt = R i^2 - (T_w - T_h) / r_wh,   C_h dT_h/dt = (T_w - T_h) / r_wh - (T_h - T_a) / r_ha
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Actuator, ActuatorState, ActuatorStep, Seconds

# The speed limiter lets a joint exceed its velocity limit by the speed that the torque gives the
# joint's own inertia in this part of a step.
_LIMITER = 1e-6


@inlined_kernel
def warmed(value: float, rise: float, temperature: float, actuator: Actuator) -> float:
    """Return a motor constant (resistance or torque constant) at a temperature.

    The result is value (1 + rise (temperature - reference)), in the unit of `value`.

    Args:
        value: constant at the reference temperature.
        rise: relative change of the constant per kelvin [1/K].
        temperature: temperature of the winding or housing [degree Celsius].
        actuator: constants of the actuator, with the reference temperature.
    """
    return value * (1.0 + rise * (temperature - actuator.reference))


@inlined_kernel
def current_share(actuator: Actuator, state: ActuatorState) -> float:
    """Return the fraction of the current limit that the winding's temperature allows [0..1]."""
    if actuator.has_heat == 0 or state.winding_temperature <= actuator.derating_temperature:
        return 1.0
    span = actuator.limit_temperature - actuator.derating_temperature
    return max((actuator.limit_temperature - state.winding_temperature) / span, 0.0)


@inlined_kernel
def heat(actuator: Actuator, state: ActuatorState) -> None:
    """Advance the temperatures of winding and housing by a step [degree Celsius].

    The motor's torque of the step, state.motor_torque [Nm or N], gives the current. The implicit
    midpoint rule is of second order, and stable for every time step.
    """
    K = warmed(
        actuator.torque_constant, actuator.torque_constant_rise, state.housing_temperature, actuator
    )
    R = warmed(actuator.resistance, actuator.resistance_rise, state.winding_temperature, actuator)
    current = state.motor_torque / K
    difference = state.winding_temperature - state.housing_temperature
    passed = actuator.winding_to_housing * difference
    to_winding = R * current * current - passed
    to_housing = passed - actuator.housing_to_ambient * (
        state.housing_temperature - actuator.ambient
    )
    state.winding_temperature += (
        actuator.winding_rise * to_winding + actuator.mutual_rise * to_housing
    )
    state.housing_temperature += (
        actuator.housing_rise * to_housing + actuator.mutual_rise * to_winding
    )


@inlined_kernel
def find_limits(
    actuator: Actuator,
    state: ActuatorState,
    inertia: float,
    time_step: Seconds,
    step_state_out: ActuatorStep,
) -> None:
    """Write the limits of the motor's torque during a step.

    The kernel writes `current_torque`, `voltage_torque`, `back_emf`, `weight` and `limiter`.

    Args:
        actuator: constants of the actuator.
        state: state of the actuator. Temperatures are read.
        inertia: inertia that the motor moves [kg m^2 or kg].
        time_step: [s].
        step_state_out: record of the actuator in this step, written.
    """
    step_state_out.current_torque = math.inf
    step_state_out.voltage_torque, step_state_out.back_emf = math.inf, 0.0
    if actuator.resistance > 0.0:
        K = warmed(
            actuator.torque_constant,
            actuator.torque_constant_rise,
            state.housing_temperature,
            actuator,
        )
        R = warmed(
            actuator.resistance, actuator.resistance_rise, state.winding_temperature, actuator
        )
        step_state_out.current_torque = K * actuator.current_limit * current_share(actuator, state)
        per_volt = K / R
        step_state_out.voltage_torque, step_state_out.back_emf = (
            per_volt * actuator.voltage,
            per_volt * K,
        )
    step_state_out.weight = damper_weight(
        max(actuator.steepest, step_state_out.back_emf), inertia, time_step
    )
    step_state_out.limiter = 0.0
    if actuator.velocity_limit < math.inf:
        step_state_out.limiter = inertia / (_LIMITER * time_step)


@inlined_kernel
def damper_weight(damping: float, inertia: float, time_step: Seconds) -> float:
    """Return the weight of the final velocity in a damper's force over a step, from 0.5 to 1.

    The rule is explained at hrpsim.engine.dynamics.joint_forces.damping_inertia.

    Args:
        damping: coefficient of the damper [Nms/rad or Ns/m].
        inertia: inertia that the damper slows [kg m^2 or kg].
        time_step: [s].
    """
    if damping <= 0.0:
        return 0.5
    z = damping * time_step
    return (inertia + z) / (2.0 * inertia + z)


@inlined_kernel
def _reach_below(
    actuator: Actuator, step_state: ActuatorStep, demand: float, speed: float, least: float
) -> float:
    """Return the change of motor and joint velocity before a limit is reached [rad/s or m/s].

    demand, speed: magnitudes of the demanded torque [Nm or N] and of the motor's velocity.
    least: lower bound of all limits of the torque [Nm or N].
    """
    gains = step_state.of_motor + step_state.of_joint
    reach = (least - demand) / (gains + max(actuator.steepest, step_state.back_emf))
    if step_state.limiter > 0.0:
        spare = step_state.limiter * (actuator.velocity_limit - speed) - demand
        reach = min(reach, spare / (gains + step_state.limiter))
    return reach


@inner_kernel
def motor_torque(
    actuator: Actuator, step_state: ActuatorStep, motor_end: float, joint_end: float
) -> tuple[float, float, float, float]:
    """Return the torque of the motor within its limits, and the derivatives of the torque.

    Args:
        actuator: constants of the actuator.
        step_state: record of the actuator in this step.
        motor_end: velocity of the motor at the end of the step [rad/s or m/s].
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].

    Returns:
        (torque [Nm or N], derivatives with respect to the velocities of motor and joint [Nms/rad or
        Ns/m], reach [rad/s or m/s]). The derivatives hold if both velocities change by at most the
        reach.
    """
    demand = step_state.demand - step_state.of_motor * motor_end - step_state.of_joint * joint_end
    speed = step_state.motor_start + step_state.weight * (motor_end - step_state.motor_start)
    # No limit is below that of a motor which turns as fast in the direction of its torque.
    least, _ = _upper_limit(actuator, step_state, abs(speed), abs(motor_end))
    if abs(demand) < least:
        reach = _reach_below(actuator, step_state, abs(demand), abs(motor_end), least)
        return demand, -step_state.of_motor, -step_state.of_joint, reach
    high, high_slope = _upper_limit(actuator, step_state, speed, motor_end)
    if demand > high and high >= 0.0:
        return high, high_slope, 0.0, 0.0
    low, low_slope = _upper_limit(actuator, step_state, -speed, -motor_end)
    low = -low
    if low > high and speed <= 0.0:  # the back EMF alone draws more than the current limit
        high, high_slope = low, low_slope
    if demand > high:
        return high, high_slope, 0.0, 0.0
    if demand < low and low <= high:
        return low, low_slope, 0.0, 0.0
    if low > high:
        return high, high_slope, 0.0, 0.0
    return demand, -step_state.of_motor, -step_state.of_joint, 0.0


@inlined_kernel
def _upper_limit(
    actuator: Actuator, step_state: ActuatorStep, speed: float, end: float
) -> tuple[float, float]:
    """Return the largest torque at a speed of the motor, and its derivative with respect to `end`.

    `end` is the speed at the end of the step. The lower limit is the same at opposite speeds, with
    the opposite sign. Torques do not increase with the speed.
    """
    torque, slope = min(actuator.effort_limit, step_state.current_torque), 0.0
    if actuator.curve_points > 0:
        allowed, fall = _of_curve(actuator, speed)
        if allowed < torque:
            torque, slope = allowed, fall * step_state.weight
    if step_state.back_emf > 0.0:
        allowed = step_state.voltage_torque - step_state.back_emf * speed
        if allowed < torque:
            torque, slope = allowed, -step_state.back_emf * step_state.weight
    if step_state.limiter > 0.0:
        allowed = step_state.limiter * (actuator.velocity_limit - end)
        if allowed < torque:
            torque, slope = allowed, -step_state.limiter
            if torque < -actuator.effort_limit:
                torque, slope = -actuator.effort_limit, 0.0
    return torque, slope


@inlined_kernel
def _of_curve(actuator: Actuator, speed: float) -> tuple[float, float]:
    """Return the limit of the torque-speed curve at a speed, and its derivative."""
    if speed < 0.0:
        return actuator.regeneration_torque, 0.0
    k = 0
    while k + 1 < actuator.curve_points and speed >= actuator.curve_speed[k + 1]:
        k += 1
    slope = actuator.curve_slope[k]
    return actuator.curve_torque[k] + slope * (speed - actuator.curve_speed[k]), slope
