# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A rigid gear with losses: the transmitted torque as a function of the joint's velocity.

Inertia, viscous friction and dry friction F reduce the torque of the motor. The gear receives

    N = M(v') - J (v' - v) / dt - c v - side F.

The gear transmits T = e N to the joint while the motor drives, side N > 0. While the motor is
driven back, the gear transmits T = N / b. `side` is the direction of motion. The loss therefore
acts on all torque that passes the gear, including the rotor's inertia. This model is the limit of a
gear whose stiffness grows beyond all bounds.

T does not increase with v'. At v' = 0, T falls from `high` to `low`. `high` is the T of a motion to
the negative side, and `low` the T of a motion to the positive side. A joint at rest bears every
load between them. The step takes

- a sliding joint with the torque of its side, linear, without a row,
- a joint at rest with the torque `centre` and a row of dry friction up to `band`. This covers `low`
  to `high`. If this range is wide, the row covers only a part about the expected load.

A gear with b = 0 is self-locking. N = 0 while the gear is driven, and at rest the gear bears any
load.
"""

import math

from hrpsim.engine.actuators.motor import motor_torque
from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel

_STIFFEST = 1e9  # 1 / b of a self-locking gear in motion
_WINDOW = 0.1  # change of velocity that a band withstands, besides the load [rad/s or m/s]
_ROUNDING = 1e-13  # of a velocity
_ITERATIONS = 60


@inner_kernel
def begin_losses(unit, now, time_step: float):
    """Write the resistance of the motor's side, and both ends of the torque range at rest."""
    now.resisting = unit.inertia / time_step + now.gain_weight * unit.viscous
    now.low, _, _, _, _ = _transmitted(unit, now, 0.0, 1.0)
    now.high, _, _, _, _ = _transmitted(unit, now, 0.0, -1.0)


@inner_kernel
def linearise_losses(unit, now, joint_end: float):
    """Write the torque on the joint, linear about a velocity at the end of the step.

    The torque excludes the friction up to `band`, which acts by the joint's row.

    Args:
        unit: record of the actuator's constants.
        now: record of the actuator in this step.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
    """
    side = now.side if now.side != 0.0 else math.copysign(1.0, joint_end)
    torque, slope, motor, motor_slope, reach = _transmitted(unit, now, joint_end, side)
    if now.side == 0.0:
        if math.isinf(_lowest(unit, now) if side > 0.0 else _highest(unit, now)):
            slope = -unit.driving * now.resisting  # such a joint stays at rest: any slope will do
            torque = now.centre + slope * joint_end
        else:
            torque += now.centre - (now.low if side > 0.0 else now.high)
    now.torque, now.slope, now.reach = torque, slope, min(reach, abs(joint_end))
    now.motor_torque, now.motor_torque_slope = motor, motor_slope
    now.motor_end, now.motor_slope = joint_end, 1.0


@inner_kernel
def settle_losses(unit, now, inertia: float, momentum: float, time_step: float, slides: bool):
    """Take the torque linear about the joint's final velocity if all else stays.

    This velocity v' solves inertia v' = momentum + dt (T(v') - the joint's own friction), by
    Newton's method on one side. A joint that moves has no row if the joint `slides`. Otherwise the
    joint has the row of a joint at rest.

    Args:
        unit: record of the actuator's constants.
        now: record of the actuator in this step.
        inertia: inertia that the joint moves [kg m^2 or kg].
        momentum: momentum of the joint without the torque [Nms or Ns].
        time_step: dt [s].
        slides: whether a moving joint slides without a row.
    """
    needed, low, high = -momentum / time_step, _lowest(unit, now), _highest(unit, now)
    friction, side = unit.joint_friction, 0.0
    if needed < low - friction:
        side = 1.0
    elif needed > high + friction:
        side = -1.0
    end = 0.0
    if side != 0.0:
        end = _moving_end(unit, now, inertia, momentum, time_step, side)
    now.side, now.band = side, 0.0
    if side == 0.0 or not slides:
        _hold(now, min(max(needed, low), high), inertia / time_step, low, high)
        if side == 0.0:  # the side to which it would leave sooner
            end = math.copysign(0.0, now.centre - needed)
    now.joint_end = end
    linearise_losses(unit, now, end)


@inner_kernel
def _moving_end(unit, now, inertia, momentum, time_step, side):
    """Return the velocity with which the joint ends on a side."""
    end, near, far = side * max(side * now.joint_end, 0.0), 0.0, math.inf
    for _ in range(_ITERATIONS):
        torque, slope, _, _, _ = _transmitted(unit, now, end, side)
        left = inertia * end - time_step * (torque - side * unit.joint_friction) - momentum
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
def leaves_band(unit, now, joint_end: float, tolerance: float):
    """Return whether the motion found is outside the range for which the gear's torque was taken.

    Args:
        unit: record of the actuator's constants.
        now: record of the actuator in this step.
        joint_end: velocity of the joint at the end of the step [rad/s or m/s].
        tolerance: in the same unit.
    """
    if now.side != 0.0:
        return now.side * joint_end < -tolerance
    if joint_end > tolerance:
        return now.centre - now.band > _lowest(unit, now)
    return joint_end < -tolerance and now.centre + now.band < _highest(unit, now)


@inlined_kernel
def gear_friction(now, joint_end: float, tolerance: float):
    """Return the part of the torque that a band's row has, at a velocity found [Nm]."""
    if now.side != 0.0 or abs(joint_end) <= tolerance:
        return 0.0
    return math.copysign(now.band, joint_end)


@inlined_kernel
def _hold(now, needed, resistance, low, high):
    """Take the joint at rest, under a load near `needed`."""
    width, window = 0.5 * (high - low), 4.0 * abs(needed) + _WINDOW * resistance
    now.side, now.band = 0.0, min(width, window)
    now.centre = 0.5 * (low + high)
    if window < width:
        now.centre = min(max(needed, low + window), high - window)


@inlined_kernel
def _lowest(unit, now):
    return -math.inf if math.isinf(unit.driven) and now.low <= 0.0 else now.low


@inlined_kernel
def _highest(unit, now):
    return math.inf if math.isinf(unit.driven) and now.high >= 0.0 else now.high


@inner_kernel
def _transmitted(unit, now, joint_end, side):
    """Return (torque on the joint, its derivative, motor's torque, its derivative, reach).

    The reach is the change of the velocity within which the derivatives hold.
    """
    motor, motor_slope, _, reach = motor_torque(unit, now, joint_end, joint_end)
    passed = motor - now.resisting * (joint_end - now.joint_start)
    passed -= unit.viscous * now.joint_start + side * now.dry
    slope = motor_slope - now.resisting
    if slope < 0.0:
        reach = min(reach, abs(passed / slope))
    gain = unit.driving if side * passed > 0.0 else min(unit.driven, _STIFFEST)
    return gain * passed, gain * slope, motor, motor_slope, reach
