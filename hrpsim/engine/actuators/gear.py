# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motor and gear of an actuator in one step: the torque on the joint as a function of its motion.

With a rigid gear the motor moves with the joint. Without losses the joint has the rotor's inertia
and friction. The file lossy_gear.py describes gears with losses. With two masses the motor's
inertia J lies behind a spring and damper with a dead zone (Nordin, Galic and Gutman 1997, "New
models for backlash and gear play"). Within the backlash the spring relaxes and transmits nothing.
At a flank the spring transmits

    T = k (twist + twist') / 2 + c (twist' - twist) / dt,   no pull.

The joint's velocity at the end of the step is given. The motor's velocity w' is then the root of an
increasing, piecewise linear function:

    J (w' - w) / dt - M(w') + g T(w') + friction = 0.

The torque on the joint is therefore linear in the joint's velocity, as long as the active limit,
the flank and the direction of friction stay the same. The step assumes these three, and the solved
motion shows whether the assumption is right (hrpsim.engine.step.motion.actuators).

Dry friction of motor and gear has Stribeck's curve, and losses in proportion to the load. A gear
has the efficiencies e (motor drives) and b (driven back). To transmit the torque T to the joint,
the gear takes T / e or b T from its motor. The mean of both is the torque (1 / e + b) / 2 T. The
difference from the mean is Coulomb friction of (1 / e - b) / 2 |T| on the motor. Sticking and the
direction of motion therefore need no special case.
"""

import math

from hrpsim.engine.actuators.lossy_gear import linearise_losses
from hrpsim.engine.actuators.motor import motor_torque
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Actuator, ActuatorState, ActuatorStep, Seconds

_FAST = 6.0  # multiple of Stribeck's velocity above which exp(-r^2) is rounding
_ROUNDING, _NEAR = 1e-13, 1e-10  # of a velocity
_SMALLEST = 1e-16  # velocity that counts [rad/s]
_ITERATIONS = 60
_AT_REST = 2.0  # direction of a motor that may stick


@inlined_kernel
def dry_friction(actuator: Actuator, speed: float) -> float:
    """Return the dry friction of a moving motor by Stribeck's curve [Nm or N].

    Args:
        actuator: constants of the actuator.
        speed: velocity of the motor, of either sign [rad/s or m/s].
    """
    if speed == 0.0:
        return actuator.static
    ratio = speed / actuator.stribeck_speed
    if actuator.static == actuator.coulomb or abs(ratio) > _FAST:
        return actuator.coulomb
    return actuator.coulomb + (actuator.static - actuator.coulomb) * math.exp(-ratio * ratio)


@inner_kernel
def linearise(actuator: Actuator, step_state: ActuatorStep, joint_end: float) -> None:
    """Linearise the torque on the joint about a final velocity of the joint.

    The kernel writes `torque`, `slope` and `joint_end`, the velocity range `reach` in which the
    linear torque is exact, and the motor's velocity and torque.

    Args:
        actuator: constants of the actuator.
        step_state: record of the actuator in this step, changed.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
    """
    step_state.joint_end = joint_end
    if actuator.two_mass:
        _linearise_two_masses(actuator, step_state, joint_end)
        return
    if actuator.has_losses:
        linearise_losses(actuator, step_state, joint_end)
        return
    torque, slope, _, step_state.reach = motor_torque(actuator, step_state, joint_end, joint_end)
    step_state.motor_end, step_state.motor_slope = joint_end, 1.0
    step_state.motor_torque, step_state.motor_torque_slope = torque, slope
    step_state.torque, step_state.slope = torque, slope


@inner_kernel
def settle(
    actuator: Actuator,
    step_state: ActuatorStep,
    inertia: float,
    momentum: float,
    time_step: Seconds,
) -> None:
    """Linearise the torque about the joint's predicted final velocity.

    The prediction solves I joint_end - dt torque(joint_end) = momentum, by Newton's method with a
    bracket. All other forces are held constant.

    Args:
        actuator: constants of the actuator.
        step_state: record of the actuator in this step.
        inertia: inertia I that the joint moves [kg m^2 or kg].
        momentum: final momentum of the joint if the torque were zero [Nms or Ns].
        time_step: dt [s].
    """
    low, high = -math.inf, math.inf
    for _ in range(_ITERATIONS):
        left = inertia * step_state.joint_end - time_step * step_state.torque - momentum
        growth = inertia - time_step * step_state.slope
        near = max(step_state.reach, _NEAR * abs(step_state.joint_end) + _SMALLEST)
        if abs(left) * (1.0 + abs(step_state.motor_slope)) <= near * growth:
            return
        if left > 0.0:
            high = step_state.joint_end
        else:
            low = step_state.joint_end
        end = step_state.joint_end - left / growth
        if not (low < end and end < high):
            end = 0.5 * (low + high)
        step_state.motor_end += step_state.motor_slope * (end - step_state.joint_end)
        linearise(actuator, step_state, end)


@inlined_kernel
def _linearise_two_masses(actuator: Actuator, step_state: ActuatorStep, joint_end: float) -> None:
    """Linearise the torque of motor and elastic gear about the joint's final velocity.

    Newton's method with a bracket finds the motor's velocity. With dry friction, the motor is first
    assumed to keep its direction. If that fails, the torques on the motor at rest decide whether
    the motor sticks, or in which direction it moves.
    """
    w, direction, low, high = step_state.motor_end, 0.0, -math.inf, math.inf
    if step_state.dry > 0.0 or actuator.gear_loss > 0.0:
        direction = math.copysign(1.0, w) if w != 0.0 else _AT_REST
    decided = False
    for _ in range(_ITERATIONS):
        torque, stiffness, reach = gear_torque(actuator, step_state, w - joint_end)
        motor, by_motor, by_joint, motor_reach = motor_torque(actuator, step_state, w, joint_end)
        reach = min(reach, motor_reach)
        loss = step_state.dry + actuator.gear_loss * abs(torque)
        left = (
            actuator.resisting * (w - step_state.motor_start)
            + actuator.viscous * step_state.motor_start
            - motor
        )
        left += actuator.gear_gain * torque
        if direction == _AT_REST:
            if abs(left) <= loss:
                load, growth = 0.0, math.inf
                lever = (
                    actuator.gear_gain + actuator.gear_loss
                ) * step_state.of_rate + step_state.of_joint
                reach = min(reach, (loss - abs(left)) / lever)
                break
            direction, decided = -math.copysign(1.0, left), True
            low, high = (0.0, math.inf) if direction > 0.0 else (-math.inf, 0.0)
        left += direction * loss
        load = actuator.gear_gain + direction * math.copysign(actuator.gear_loss, torque)
        growth = actuator.resisting - by_motor + load * stiffness
        if left > 0.0:
            high = w
        else:
            low = w
        change = -left / growth
        if direction * (w + change) < 0.0 and not decided:
            w, direction = 0.0, _AT_REST
            continue
        if not (low <= w + change and w + change <= high):
            change = 0.5 * (low + high) - w
        elif abs(change) <= max(reach, _ROUNDING * (abs(w) + abs(joint_end)) + _SMALLEST):
            w, torque, motor = w + change, torque + stiffness * change, motor + by_motor * change
            reach -= abs(change)
            if direction != 0.0:
                reach = min(reach, abs(w))
            break
        w += change
    step_state.reach = reach
    step_state.motor_end, step_state.motor_slope = w, (by_joint + load * stiffness) / growth
    step_state.torque, step_state.slope = torque, stiffness * (step_state.motor_slope - 1.0)
    step_state.motor_torque, step_state.motor_torque_slope = (
        motor,
        by_motor * step_state.motor_slope + by_joint,
    )


@inlined_kernel
def begin_gear(
    actuator: Actuator, state: ActuatorState, step_state: ActuatorStep, time_step: Seconds
) -> None:
    """Write the torque of a gear without backlash as a linear function of the final velocities.

    The damper acts by the trapezoidal rule if its damping is small enough to avoid oscillation of
    motor and link from step to step. A stronger damper acts implicitly, and brings motor and link
    to rest relative to each other.

    Args:
        actuator: constants of the actuator.
        state: state of the actuator. `moved_inertia` and `twist` are read.
        step_state: record of the actuator in this step. `of_rate` and `gear_torque` are written.
        time_step: [s].
    """
    moved = actuator.inertia * state.moved_inertia / (actuator.inertia + state.moved_inertia)
    damping = max(0.5 * actuator.damping, actuator.damping - moved / time_step)
    step_state.of_rate = actuator.spring_rate + damping
    step_state.gear_torque = (
        actuator.of_middle * step_state.middle + actuator.of_twist * state.twist
    )
    step_state.gear_torque -= (damping - 0.5 * actuator.damping) * (
        step_state.motor_start - step_state.joint_start
    )


@inlined_kernel
def gear_torque(
    actuator: Actuator, step_state: ActuatorStep, rate: float
) -> tuple[float, float, float]:
    """Return the torque that the gear transmits at a relative velocity of motor and joint.

    Args:
        actuator: constants of the actuator.
        step_state: record of the actuator in this step, after `begin_gear`.
        rate: final velocity of the motor relative to the joint [rad/s or m/s].

    Returns:
        (torque [Nm or N], derivative with respect to the motor's velocity [Nms/rad or Ns/m], reach
        [rad/s or m/s]). The derivative holds if the velocity changes by at most the reach.
    """
    torque = step_state.gear_torque + step_state.of_rate * rate
    beyond = abs(torque) - actuator.dead_torque
    reach = abs(beyond) / step_state.of_rate
    if beyond > 0.0:
        return math.copysign(beyond, torque), step_state.of_rate, reach
    return 0.0, 0.0, reach


@inlined_kernel
def relax_twist(actuator: Actuator, state: ActuatorState) -> float:
    """Return the twist of the gear's spring at the end of a step, for the next step [rad or m].

    While a tooth flank transmits torque, the twist is the deflection less half the backlash. Within
    the backlash the twist relaxes.
    """
    if state.torque > 0.0:
        return state.deflection - actuator.half_backlash
    if state.torque < 0.0:
        return state.deflection + actuator.half_backlash
    return actuator.relaxation * state.twist
