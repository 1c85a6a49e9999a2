# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A rigid gear with losses: the transmitted torque as a function of the joint's velocity.

v and v' are the joint's velocities at both ends of the step. M is the motor's torque, J the rotor
inertia, c the viscous friction. Inertia, viscous friction and dry friction F reduce the torque of
the motor. The gear receives

    N = M(v') - J (v' - v) / dt - c v - side F.

The gear transmits T = e N to the joint while the motor drives, side N > 0. While the motor is
driven back, the gear transmits T = N / b. `side` is the direction of motion. The loss therefore
acts on all torque that passes the gear, including the rotor's inertia. This model is the limit of
an elastic gear with infinite stiffness.

T does not increase with v'. At v' = 0, T drops from `high` (motion in the negative direction) to
`low` (motion in the positive direction). A joint at rest bears every load between both.

- A sliding joint gets the torque of its direction, linearised, without a constraint row.
- A joint at rest gets the torque `centre`, and a row of dry friction up to `band`. Both cover the
  range from `low` to `high`. If this range is wide, the row covers a part about the expected load.

A gear with b = 0 is self-locking. N = 0 while the gear is driven, and at rest the gear bears any
load.
"""

import math

from hrpsim.engine.actuators.motor import motor_torque
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Actuator, ActuatorStep, Seconds

_STIFFEST = 1e9  # 1 / b of a self-locking gear in motion
_WINDOW = 0.1  # change of velocity that a band withstands, besides the load [rad/s or m/s]
_ROUNDING = 1e-13  # of a velocity
_ITERATIONS = 60


@inner_kernel
def begin_losses(actuator: Actuator, step_state: ActuatorStep, time_step: float) -> None:
    """Write the motor's torque per change of velocity, and both ends of the torque range at rest.

    Args:
        actuator: constants of the actuator.
        step_state: record of the actuator in this step. `resisting`, `low` and `high` are written.
        time_step: [s].
    """
    step_state.resisting = actuator.inertia / time_step + step_state.gain_weight * actuator.viscous
    step_state.low, _, _, _, _ = _transmitted(actuator, step_state, 0.0, 1.0)
    step_state.high, _, _, _, _ = _transmitted(actuator, step_state, 0.0, -1.0)


@inner_kernel
def linearise_losses(actuator: Actuator, step_state: ActuatorStep, joint_end: float) -> None:
    """Write the torque on the joint, linear about a velocity at the end of the step.

    The torque excludes the friction up to `band`, which acts by the joint's row.

    Args:
        actuator: record of the actuator's constants.
        step_state: record of the actuator in this step.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
    """
    side = step_state.side if step_state.side != 0.0 else math.copysign(1.0, joint_end)
    torque, slope, motor, motor_slope, reach = _transmitted(actuator, step_state, joint_end, side)
    if step_state.side == 0.0:
        if math.isinf(
            _lowest(actuator, step_state) if side > 0.0 else _highest(actuator, step_state)
        ):
            # Such a joint stays at rest: any slope will do.
            slope = -actuator.driving * step_state.resisting
            torque = step_state.centre + slope * joint_end
        else:
            torque += step_state.centre - (step_state.low if side > 0.0 else step_state.high)
    step_state.torque, step_state.slope, step_state.reach = (
        torque,
        slope,
        min(reach, abs(joint_end)),
    )
    step_state.motor_torque, step_state.motor_torque_slope = motor, motor_slope
    step_state.motor_end, step_state.motor_slope = joint_end, 1.0


@inner_kernel
def settle_losses(
    actuator: Actuator,
    step_state: ActuatorStep,
    inertia: float,
    momentum: float,
    time_step: float,
    slides: bool,
) -> None:
    """Predict the joint's velocity v' at the end of the step, and linearise the torque T about it.

    T(v') is the torque of the gear on the joint. A friction row holds a joint at rest. For a moving
    joint, Newton's method solves inertia v' = momentum + dt (T(v') - joint friction), with v' on
    the side of 0 to which the joint moves.

    Args:
        actuator: record of the actuator's constants.
        step_state: record of the actuator in this step. `side`, `centre`, `band` and `joint_end`
            are written, and the fields that `linearise_losses` writes.
        inertia: inertia that the joint moves [kg m^2 or kg].
        momentum: final momentum of the joint if T were zero [Nms or Ns].
        time_step: dt [s].
        slides: whether a moving joint slides without a friction row. Otherwise it gets a row.
    """
    needed, low, high = (
        -momentum / time_step,
        _lowest(actuator, step_state),
        _highest(actuator, step_state),
    )
    friction, side = actuator.joint_friction, 0.0
    if needed < low - friction:
        side = 1.0
    elif needed > high + friction:
        side = -1.0
    end = 0.0
    if side != 0.0:
        end = _moving_end(actuator, step_state, inertia, momentum, time_step, side)
    step_state.side, step_state.band = side, 0.0
    if side == 0.0 or not slides:
        _hold(step_state, min(max(needed, low), high), inertia / time_step, low, high)
        if side == 0.0:  # the side to which it would leave sooner
            end = math.copysign(0.0, step_state.centre - needed)
    step_state.joint_end = end
    linearise_losses(actuator, step_state, end)


@inner_kernel
def _moving_end(
    actuator: Actuator,
    step_state: ActuatorStep,
    inertia: float,
    momentum: float,
    time_step: Seconds,
    side: float,
) -> float:
    """Return the joint's final velocity, assuming a direction of motion (`side`)."""
    end, near, far = side * max(side * step_state.joint_end, 0.0), 0.0, math.inf
    for _ in range(_ITERATIONS):
        torque, slope, _, _, _ = _transmitted(actuator, step_state, end, side)
        left = inertia * end - time_step * (torque - side * actuator.joint_friction) - momentum
        change = -left / (inertia - time_step * slope)
        if side * left > 0.0:
            far = side * end
        else:
            near = side * end
        if abs(change) <= _ROUNDING * abs(end):
            break
        after = side * (end + change)
        if not (near <= after and after <= far):
            after = 0.5 * (near + far)
        end = side * after
    return end


@inlined_kernel
def leaves_band(
    actuator: Actuator, step_state: ActuatorStep, joint_end: float, tolerance: float
) -> bool:
    """Return whether the motion is outside the range in which the gear's torque was linearised.

    Args:
        actuator: constants of the actuator.
        step_state: record of the actuator in this step.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
        tolerance: velocity that counts as rest [rad/s or m/s].
    """
    if step_state.side != 0.0:
        return step_state.side * joint_end < -tolerance
    if joint_end > tolerance:
        return step_state.centre - step_state.band > _lowest(actuator, step_state)
    return joint_end < -tolerance and step_state.centre + step_state.band < _highest(
        actuator, step_state
    )


@inlined_kernel
def gear_friction(step_state: ActuatorStep, joint_end: float, tolerance: float) -> float:
    """Return the torque that a joint's friction row delivers at a solved velocity [Nm or N].

    The result is 0 if the joint has no friction row or stays at rest.

    Args:
        step_state: record of the actuator in this step.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
        tolerance: velocity that counts as rest [rad/s or m/s].
    """
    if step_state.side != 0.0 or abs(joint_end) <= tolerance:
        return 0.0
    return math.copysign(step_state.band, joint_end)


@inlined_kernel
def _hold(
    step_state: ActuatorStep, needed: float, resistance: float, low: float, high: float
) -> None:
    """Write the torque and the friction limit that hold a joint at rest under a load near `needed`.

    resistance: inertia of the joint divided by the time step [Nms/rad or Ns/m].
    """
    width, window = 0.5 * (high - low), 4.0 * abs(needed) + _WINDOW * resistance
    step_state.side, step_state.band = 0.0, min(width, window)
    step_state.centre = 0.5 * (low + high)
    if window < width:
        step_state.centre = min(max(needed, low + window), high - window)


@inlined_kernel
def _lowest(actuator: Actuator, step_state: ActuatorStep) -> float:
    return -math.inf if math.isinf(actuator.driven) and step_state.low <= 0.0 else step_state.low


@inlined_kernel
def _highest(actuator: Actuator, step_state: ActuatorStep) -> float:
    return math.inf if math.isinf(actuator.driven) and step_state.high >= 0.0 else step_state.high


@inner_kernel
def _transmitted(
    actuator: Actuator, step_state: ActuatorStep, joint_end: float, side: float
) -> tuple[float, ...]:
    """Return the torque on the joint and the motor's torque at a final velocity of the joint.

    Returns:
        (torque on the joint [Nm or N], its derivative, motor's torque [Nm or N], its derivative,
        reach [rad/s or m/s]). The derivatives with respect to the velocity hold within the reach.
    """
    motor, motor_slope, _, reach = motor_torque(actuator, step_state, joint_end, joint_end)
    passed = motor - step_state.resisting * (joint_end - step_state.joint_start)
    passed -= actuator.viscous * step_state.joint_start + side * step_state.dry
    slope = motor_slope - step_state.resisting
    if slope < 0.0:
        reach = min(reach, abs(passed / slope))
    gain = actuator.driving if side * passed > 0.0 else min(actuator.driven, _STIFFEST)
    return gain * passed, gain * slope, motor, motor_slope, reach
