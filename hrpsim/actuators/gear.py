# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motor and gear of an actuator in one step: the torque on the joint as a function of its motion.

With a rigid gear the motor moves with the joint. With two masses the motor's inertia J lies behind
a spring and damper with a dead zone (Nordin, Galic and Gutman 1997, "New models for backlash and
gear play"): within the backlash the spring relaxes and transmits nothing; at a flank it transmits

    T = k (twist + twist') / 2 + c (twist' - twist) / dt,   no pull.

For a given velocity of the joint at the end of the step, the motor's velocity w' there is the root
of a function that increases with it, piecewise linear:

    J (w' - w) / dt - M(w') + g T(w') + friction = 0.

So the joint sees, in the state of limits, flank and friction at hand, one torque and one inertia.
Whether that state is the right one is checked with the motion found (hrpsim.step.motion.actuators).
"""

from __future__ import annotations

import math

from hrpsim.actuators.motor import damper_weight, motor_torque
from hrpsim.jit.compiled import inlined_kernel, inner_kernel

_ROUNDING = 1e-13  # of a velocity
_SMALLEST = 1e-16  # velocity that counts [rad/s]
_ITERATIONS = 60


@inner_kernel
def linearise(unit, state, now, joint_end, time_step):
    """Write the torque on the joint about a velocity of it at the end of the step."""
    now.joint_end = joint_end
    if not unit.two_mass:
        torque, by_motor, by_joint = motor_torque(unit, now, joint_end, joint_end)
        now.motor_end, now.motor_slope = joint_end, 1.0
        now.motor_torque, now.motor_torque_slope = torque, by_motor + by_joint
        now.torque = unit.gear_gain * torque
        now.slope = unit.gear_gain * now.motor_torque_slope
        return
    motor_end, side = _motor_end(unit, state, now, joint_end, time_step)
    torque, stiffness = gear_torque(unit, state, now, motor_end, joint_end, time_step)
    motor, by_motor, by_joint = motor_torque(unit, now, motor_end, joint_end)
    if side == 0:
        now.motor_slope = 0.0
    else:
        load = _load(unit, side, torque) * stiffness
        resisting = now.inertia / time_step - by_motor + now.viscous + load
        now.motor_slope = (by_joint + load) / resisting
    now.motor_end, now.torque, now.motor_torque = motor_end, torque, motor
    now.slope = stiffness * (now.motor_slope - 1.0)
    now.motor_torque_slope = by_motor * now.motor_slope + by_joint


@inner_kernel
def gear_torque(unit, state, now, motor_end, joint_end, time_step):
    """Return the torque that the gear transmits, and its derivative by the motor's speed."""
    rate = motor_end - joint_end
    deflection = now.middle + 0.5 * time_step * rate
    k, c = unit.stiffness, unit.damping
    weight = damper_weight(c, now.inertia, time_step)
    grown = rate - (now.motor_start - now.joint_start)
    shared = 0.5 * k * (state.twist + deflection)
    shared += c * ((deflection - state.twist) / time_step + (weight - 0.5) * grown)
    stiffness = 0.25 * k * time_step + c * weight
    back = (0.5 * k + c / time_step) * unit.half_backlash
    if shared > back:
        return shared - back, stiffness
    if shared < -back:
        return shared + back, stiffness
    return 0.0, 0.0


@inner_kernel
def _motor_end(unit, state, now, joint_end, time_step):
    """Return the motor's velocity at the end of the step, and its direction, 0 where it sticks."""
    side, low, high = 0, -math.inf, math.inf
    w = now.motor_end
    if now.dry > 0.0 or unit.gear_loss > 0.0:
        torque, _ = gear_torque(unit, state, now, 0.0, joint_end, time_step)
        left, _ = _residual(unit, state, now, 0.0, joint_end, time_step, 0)
        if abs(left) <= now.dry + unit.gear_loss * abs(torque):
            return 0.0, 0
        side = -1 if left > 0.0 else 1
        low, high = (0.0, math.inf) if side > 0 else (-math.inf, 0.0)
        w = w if low <= w and w <= high else 0.0
    for _ in range(_ITERATIONS):
        left, growth = _residual(unit, state, now, w, joint_end, time_step, side)
        if left > 0.0:
            high = w
        else:
            low = w
        following = w - left / growth
        if not (low <= following and following <= high):
            following = 0.5 * (low + high)
        if abs(following - w) <= _ROUNDING * (abs(w) + abs(joint_end)) + _SMALLEST:
            w = following
            break
        w = following
    return w, side if side != 0 else 2


@inner_kernel
def _residual(unit, state, now, motor_end, joint_end, time_step, side):
    """Return the torque missing on the motor, and its derivative by the motor's speed."""
    torque, stiffness = gear_torque(unit, state, now, motor_end, joint_end, time_step)
    motor, by_motor, _ = motor_torque(unit, now, motor_end, joint_end)
    inertia = now.inertia / time_step
    left = (inertia + now.viscous) * (motor_end - now.motor_start) - motor
    left += unit.viscous * now.motor_start
    left += unit.gear_gain * torque + side * (now.dry + unit.gear_loss * abs(torque))
    return left, inertia - by_motor + now.viscous + _load(unit, side, torque) * stiffness


@inlined_kernel
def _load(unit, side, torque):
    """Return the motor's torque per torque of the gear, in a direction of motion."""
    if side == 1 or side == -1:
        return unit.gear_gain + side * unit.gear_loss * (1.0 if torque >= 0.0 else -1.0)
    return unit.gear_gain


@inlined_kernel
def relax_twist(unit, state, time_step):
    """Return the twist of the gear's spring after a step that transmitted state.torque."""
    if state.torque > 0.0:
        return state.deflection - unit.half_backlash
    if state.torque < 0.0:
        return state.deflection + unit.half_backlash
    if unit.damping == 0.0:
        return 0.0
    return state.twist * math.exp(-unit.stiffness * time_step / unit.damping)
