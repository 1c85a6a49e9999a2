# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motor and gear of an actuator in one step: the torque on the joint as a function of its motion.

With a rigid gear the motor moves with the joint. Without losses the joint has the rotor's inertia
and friction. For losses see engine.actuators.lossy_gear. With two masses the motor's inertia J lies
behind a spring and damper with a dead zone (Nordin, Galic and Gutman 1997, "New models for backlash
and gear play"). Within the backlash the spring relaxes and transmits nothing. At a flank the spring
transmits

    T = k (twist + twist') / 2 + c (twist' - twist) / dt,   no pull.

For a given velocity of the joint at the end of the step, the motor's velocity w' is the root of a
function that increases with w', piecewise linear:

    J (w' - w) / dt - M(w') + g T(w') + friction = 0.

In the present state of limits, flank and friction, the joint therefore sees one torque and one
inertia. The motion found shows whether the state is correct (hrpsim.engine.step.motion.actuators).

Dry friction of motor and gear has Stribeck's curve, and losses in proportion to the load. A gear
has the efficiencies e (motor drives) and b (driven back). For the torque T on the joint, the gear
needs T / e or b T of its motor. Both are Coulomb friction about a mean: a torque (1 / e + b) / 2 T,
and a friction (1 / e - b) / 2 |T| on the motor. Sticking and the direction of motion therefore need
no special case.
"""

import math

from hrpsim.engine.actuators.lossy_gear import linearise_losses
from hrpsim.engine.actuators.motor import motor_torque
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel

_FAST = 6.0  # multiple of Stribeck's velocity above which exp(-r^2) is rounding
_ROUNDING, _NEAR = 1e-13, 1e-10  # of a velocity
_SMALLEST = 1e-16  # velocity that counts [rad/s]
_ITERATIONS = 60
_AT_REST = 2.0  # direction of a motor that may stick


@inlined_kernel
def dry_friction(unit, speed):
    """Return the level of dry friction at a speed [Nm]: Stribeck's curve."""
    if speed == 0.0:
        return unit.static
    ratio = speed / unit.stribeck_speed
    if unit.static == unit.coulomb or abs(ratio) > _FAST:
        return unit.coulomb
    return unit.coulomb + (unit.static - unit.coulomb) * math.exp(-ratio * ratio)


@inner_kernel
def linearise(unit, now, joint_end):
    """Write the torque on the joint, linear about a velocity of the joint at the end of the step.

    Args:
        unit: record of the actuator's constants.
        now: record of the actuator in this step.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
    """
    now.joint_end = joint_end
    if unit.two_mass:
        _linearise_two_masses(unit, now, joint_end)
        return
    if unit.has_losses:
        linearise_losses(unit, now, joint_end)
        return
    torque, slope, _, now.reach = motor_torque(unit, now, joint_end, joint_end)
    now.motor_end, now.motor_slope = joint_end, 1.0
    now.motor_torque, now.motor_torque_slope = torque, slope
    now.torque, now.slope = torque, slope


@inner_kernel
def settle(unit, now, inertia, momentum, time_step):
    """Take the torque linear about the joint's final velocity if all else stays.

    This velocity solves I joint_end - dt torque(joint_end) = momentum, by Newton's method with a
    bracket.

    Args:
        unit: record of the actuator's constants.
        now: record of the actuator in this step.
        inertia: I that the joint moves [kg m^2 or kg].
        momentum: momentum of the joint without the torque [Nms or Ns].
        time_step: dt [s].
    """
    low, high = -math.inf, math.inf
    for _ in range(_ITERATIONS):
        left = inertia * now.joint_end - time_step * now.torque - momentum
        growth = inertia - time_step * now.slope
        near = max(now.reach, _NEAR * abs(now.joint_end) + _SMALLEST)
        if abs(left) * (1.0 + abs(now.motor_slope)) <= near * growth:
            return
        if left > 0.0:
            high = now.joint_end
        else:
            low = now.joint_end
        end = now.joint_end - left / growth
        if not (low < end and end < high):
            end = 0.5 * (low + high)
        now.motor_end += now.motor_slope * (end - now.joint_end)
        linearise(unit, now, end)


@inlined_kernel
def _linearise_two_masses(unit, now, joint_end):
    """Write the torque on the joint, linear about a final velocity, with two masses.

    The method is Newton's method with a bracket. With dry friction the motor is first taken to move
    as expected. If that fails, the torques on the motor at rest decide whether it sticks, or its
    direction.
    """
    w, side, low, high = now.motor_end, 0.0, -math.inf, math.inf
    if now.dry > 0.0 or unit.gear_loss > 0.0:
        side = math.copysign(1.0, w) if w != 0.0 else _AT_REST
    decided = False
    for _ in range(_ITERATIONS):
        torque, stiffness, reach = gear_torque(unit, now, w - joint_end)
        motor, by_motor, by_joint, motor_reach = motor_torque(unit, now, w, joint_end)
        reach = min(reach, motor_reach)
        loss = now.dry + unit.gear_loss * abs(torque)
        left = unit.resisting * (w - now.motor_start) + unit.viscous * now.motor_start - motor
        left += unit.gear_gain * torque
        if side == _AT_REST:
            if abs(left) <= loss:
                load, growth = 0.0, math.inf
                lever = (unit.gear_gain + unit.gear_loss) * now.of_rate + now.of_joint
                reach = min(reach, (loss - abs(left)) / lever)
                break
            side, decided = -math.copysign(1.0, left), True
            low, high = (0.0, math.inf) if side > 0.0 else (-math.inf, 0.0)
        left += side * loss
        load = unit.gear_gain + side * math.copysign(unit.gear_loss, torque)
        growth = unit.resisting - by_motor + load * stiffness
        if left > 0.0:
            high = w
        else:
            low = w
        change = -left / growth
        if side * (w + change) < 0.0 and not decided:
            w, side = 0.0, _AT_REST
            continue
        if not (low <= w + change and w + change <= high):
            change = 0.5 * (low + high) - w
        elif abs(change) <= max(reach, _ROUNDING * (abs(w) + abs(joint_end)) + _SMALLEST):
            w, torque, motor = w + change, torque + stiffness * change, motor + by_motor * change
            reach -= abs(change)
            if side != 0.0:
                reach = min(reach, abs(w))
            break
        w += change
    now.reach = reach
    now.motor_end, now.motor_slope = w, (by_joint + load * stiffness) / growth
    now.torque, now.slope = torque, stiffness * (now.motor_slope - 1.0)
    now.motor_torque, now.motor_torque_slope = motor, by_motor * now.motor_slope + by_joint


@inlined_kernel
def begin_gear(unit, state, now, time_step):
    """Write the torque that the gear transmits in a step, as a function of the final velocities.

    The damper acts by the trapezoidal rule if motor and link do not swing about each other from
    step to step. A stronger damper brings motor and link to rest relative to each other.
    """
    moved = unit.inertia * state.moved_inertia / (unit.inertia + state.moved_inertia)
    damping = max(0.5 * unit.damping, unit.damping - moved / time_step)
    now.of_rate = unit.spring_rate + damping
    now.gear_torque = unit.of_middle * now.middle + unit.of_twist * state.twist
    now.gear_torque -= (damping - 0.5 * unit.damping) * (now.motor_start - now.joint_start)


@inlined_kernel
def gear_torque(unit, now, rate):
    """Return the torque that the gear transmits, and its derivative by the motor's speed.

    The third number is the change of that speed within which the derivative holds.
    """
    torque = now.gear_torque + now.of_rate * rate
    beyond = abs(torque) - unit.dead_torque
    reach = abs(beyond) / now.of_rate
    if beyond > 0.0:
        return math.copysign(beyond, torque), now.of_rate, reach
    return 0.0, 0.0, reach


@inlined_kernel
def relax_twist(unit, state):
    """Return the twist of the gear's spring after a step that transmitted state.torque."""
    if state.torque > 0.0:
        return state.deflection - unit.half_backlash
    if state.torque < 0.0:
        return state.deflection + unit.half_backlash
    return unit.relaxation * state.twist
