# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The motor: the torque that its gains demand, within limits of current, voltage and curve.

A motor at the voltage V with the back EMF K w draws the current (V - K w) / R. Its torque lies
between K (-V - K w) / R and K (V - K w) / R, and within the current limit. K includes the gear
ratio. While the motor is driven against its torque (regeneration), the back EMF adds to the
voltage. Only the current limit counts then, until the back EMF alone exceeds voltage and current
limit together. Temperatures of winding and housing:

C_w dT_w/dt = R i^2 - (T_w - T_h) / r_wh,   C_h dT_h/dt = (T_w - T_h) / r_wh - (T_h - T_a) / r_ha
"""

import math

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel

# The speed limiter lets a joint exceed its velocity limit by the speed that the torque gives the
# joint's own inertia in this part of a step.
_LIMITER = 1e-6


@inlined_kernel
def warmed(value, rise, temperature, unit):
    """Return a constant of the motor at a temperature, linear in it."""
    return value * (1.0 + rise * (temperature - unit.reference))


@inlined_kernel
def current_share(unit, state):
    """Return the share of the current limit that the winding's temperature allows."""
    if unit.has_heat == 0 or state.winding_temperature <= unit.derating_temperature:
        return 1.0
    span = unit.limit_temperature - unit.derating_temperature
    return max((unit.limit_temperature - state.winding_temperature) / span, 0.0)


@inlined_kernel
def heat(unit, state):
    """Advance the temperatures of winding and housing by a step, with the motor's torque in it.

    The implicit midpoint rule is of second order and has no bound on the step.
    """
    K = warmed(unit.torque_constant, unit.torque_constant_rise, state.housing_temperature, unit)
    R = warmed(unit.resistance, unit.resistance_rise, state.winding_temperature, unit)
    current = state.motor_torque / K
    difference = state.winding_temperature - state.housing_temperature
    passed = unit.winding_to_housing * difference
    to_winding = R * current * current - passed
    to_housing = passed - unit.housing_to_ambient * (state.housing_temperature - unit.ambient)
    state.winding_temperature += unit.winding_rise * to_winding + unit.mutual_rise * to_housing
    state.housing_temperature += unit.housing_rise * to_housing + unit.mutual_rise * to_winding


@inlined_kernel
def find_limits(unit, state, inertia, time_step, now_out):
    """Write the limits of the motor's torque during a step.

    inertia: inertia that the motor moves [kg m^2 or kg].
    time_step: [s].
    """
    now_out.current_torque = math.inf
    now_out.voltage_torque, now_out.back_emf = math.inf, 0.0
    if unit.resistance > 0.0:
        K = warmed(unit.torque_constant, unit.torque_constant_rise, state.housing_temperature, unit)
        R = warmed(unit.resistance, unit.resistance_rise, state.winding_temperature, unit)
        now_out.current_torque = K * unit.current_limit * current_share(unit, state)
        per_volt = K / R
        now_out.voltage_torque, now_out.back_emf = per_volt * unit.voltage, per_volt * K
    now_out.weight = damper_weight(max(unit.steepest, now_out.back_emf), inertia, time_step)
    now_out.limiter = 0.0
    if unit.velocity_limit < math.inf:
        now_out.limiter = inertia / (_LIMITER * time_step)


@inlined_kernel
def damper_weight(damping, inertia, time_step):
    """Return the weight of the velocity at the end of a step in a damper's force.

    As in hrpsim.engine.dynamics.joint_forces.damping_inertia.
    """
    if damping <= 0.0:
        return 0.5
    z = damping * time_step
    return (inertia + z) / (2.0 * inertia + z)


@inner_kernel
def motor_torque(unit, now, motor_end, joint_end):
    """Return the motor's torque and its derivatives.

    Args:
        unit: record of the actuator's constants.
        now: record of the actuator in this step.
        motor_end: velocity of the motor at the end of the step.
        joint_end: velocity of the joint at the end of the step.

    Returns:
        (torque, derivative by the motor's velocity, derivative by the joint's velocity, change of
        both velocities within which the derivatives hold, as far as known).
    """
    demand = now.demand - now.of_motor * motor_end - now.of_joint * joint_end
    speed = now.motor_start + now.weight * (motor_end - now.motor_start)
    # No limit is below that of a motor which turns as fast in the direction of its torque.
    least, _ = _upper_limit(unit, now, abs(speed), abs(motor_end))
    if abs(demand) < least:
        gains = now.of_motor + now.of_joint
        reach = (least - abs(demand)) / (gains + max(unit.steepest, now.back_emf))
        if now.limiter > 0.0:
            spare = now.limiter * (unit.velocity_limit - abs(motor_end)) - abs(demand)
            reach = min(reach, spare / (gains + now.limiter))
        return demand, -now.of_motor, -now.of_joint, reach
    high, high_slope = _upper_limit(unit, now, speed, motor_end)
    if demand > high and high >= 0.0:
        return high, high_slope, 0.0, 0.0
    low, low_slope = _upper_limit(unit, now, -speed, -motor_end)
    low = -low
    if low > high and speed <= 0.0:  # the back EMF alone draws more than the current limit
        high, high_slope = low, low_slope
    if demand > high:
        return high, high_slope, 0.0, 0.0
    if demand < low and low <= high:
        return low, low_slope, 0.0, 0.0
    if low > high:
        return high, high_slope, 0.0, 0.0
    return demand, -now.of_motor, -now.of_joint, 0.0


@inlined_kernel
def _upper_limit(unit, now, speed, end):
    """Return the largest torque at a speed of the motor, and its derivative by `end`.

    `end` is the speed at the end of the step. The lower limit is the same at opposite speeds, with
    the opposite sign. Torques do not increase with the speed.
    """
    torque, slope = min(unit.effort_limit, now.current_torque), 0.0
    if unit.curve_points > 0:
        allowed, fall = _of_curve(unit, speed)
        if allowed < torque:
            torque, slope = allowed, fall * now.weight
    if now.back_emf > 0.0:
        allowed = now.voltage_torque - now.back_emf * speed
        if allowed < torque:
            torque, slope = allowed, -now.back_emf * now.weight
    if now.limiter > 0.0:
        allowed = now.limiter * (unit.velocity_limit - end)
        if allowed < torque:
            torque, slope = allowed, -now.limiter
            if torque < -unit.effort_limit:
                torque, slope = -unit.effort_limit, 0.0
    return torque, slope


@inlined_kernel
def _of_curve(unit, speed):
    """Return the torque of the curve at a speed, and its derivative."""
    if speed < 0.0:
        return unit.regeneration_torque, 0.0
    k = 0
    while k + 1 < unit.curve_points and speed >= unit.curve_speed[k + 1]:
        k += 1
    slope = unit.curve_slope[k]
    return unit.curve_torque[k] + slope * (speed - unit.curve_speed[k]), slope
