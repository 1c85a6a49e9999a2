# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a LowCmd to joint commands: tau + kp (q* - q) + kd (dq* - dq) for each enabled motor."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.bridges.unitree.checksum import checksum
from hrpsim.bridges.unitree.motors import Motors
from hrpsim.common.errors import WorldError

# Targets that turn a term off. PosStopF and VelStopF of unitree_ros2.
POSITION_STOP, VELOCITY_STOP = np.float32(2.146e9), np.float32(16000.0)
_ENABLED = 1  # lowest bit of `mode`
_TERMS = ("q", "dq", "tau", "kp", "kd")


class JointTargets(NamedTuple):
    """Commands (n,) of the n joints of `Motors`. NaN marks a target that is not commanded."""

    positions: np.ndarray  # [rad]
    velocities: np.ndarray  # [rad/s]
    efforts: np.ndarray  # [Nm]
    kp: np.ndarray  # [Nm/rad]
    kd: np.ndarray  # [Nms/rad]


def read_low_command(data: bytes, motors: Motors, *, check: bool = True) -> JointTargets:
    """Return the joint commands of a serialised LowCmd.

    A motor with `mode` 0 delivers no torque. The position POSITION_STOP disables kp, and the
    velocity VELOCITY_STOP disables kd.

    Args:
        data: serialised message.
        motors: motors of the robot.
        check: whether to verify `crc`.

    Raises:
        WorldError: `crc` is wrong, a number is not finite, or the message commands the parallel
            ankle actuators.
    """
    layout = motors.messages.command
    record = layout.read(data)
    if check and checksum(record) != record["crc"]:
        raise WorldError(
            f"crc of {layout.name} is wrong. Compute crc after all other fields, or set the "
            "parameter 'unitree_check_crc' to false"
        )
    if motors.mode_machine and record["mode_pr"]:
        raise WorldError(
            "mode_pr is 1 (motors A and B of parallel ankles), which is not simulated. Set mode_pr "
            "to 0 and command pitch and roll"
        )
    command = record["motor_cmd"][motors.slots]
    values = {name: command[name].astype(np.float64) for name in _TERMS}
    _check_finite(values, motors)
    return _targets(values, command)


def idle_motors(data: bytes, motors: Motors) -> str:
    """Return a text if a LowCmd has gains or torques for motors that do not act, or else "".

    Motors act if the lowest bit of `mode` is 1 and the robot has the motor.
    """
    command = motors.messages.command.read(data)["motor_cmd"]
    commanded = np.any([command[name] != 0.0 for name in ("kp", "kd", "tau")], axis=0)
    off = motors.slots[commanded[motors.slots] & (command["mode"][motors.slots] & _ENABLED == 0)]
    if off.size:
        k = int(off[0])
        return (
            f"{off.size} motors have gains or torques but are not enabled: the mode of motor {k} is"
            f" {command['mode'][k]}. Set mode to 1"
        )
    absent = np.setdiff1d(np.flatnonzero(commanded), motors.slots)
    if absent.size:
        return f"the robot has no motor {absent[0]}: {absent.size} motor commands have no effect"
    return ""


def _check_finite(values: dict[str, np.ndarray], motors: Motors) -> None:
    for name, numbers in values.items():
        if not np.isfinite(numbers).all():
            k = int(np.argmin(np.isfinite(numbers)))
            raise WorldError(
                f"{name} of motor {motors.slots[k]} ({motors.joints[k]}) must be finite, got "
                f"{numbers[k]}"
            )


def _targets(values: dict[str, np.ndarray], command: np.ndarray) -> JointTargets:
    q, dq, tau, kp, kd = (values[name] for name in _TERMS)
    enabled = command["mode"] & _ENABLED != 0
    placed = enabled & (command["q"] != POSITION_STOP)
    moved = enabled & (command["dq"] != VELOCITY_STOP)
    return JointTargets(
        np.where(placed, q, np.nan),
        np.where(moved, dq, np.nan),
        np.where(enabled, tau, 0.0),
        np.where(placed, kp, 0.0),
        np.where(moved, kd, 0.0),
    )
