# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The state of a robot as a LowState and as a SportModeState.

Fields that hrpsim does not simulate are zero: temperatures, voltages, the battery, the remote
control.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.bridges.unitree.checksum import checksum
from hrpsim.bridges.unitree.messages import SPORT_MODE_STATE
from hrpsim.bridges.unitree.motors import Motors

_HEAD, _LOW_LEVEL = (0xFE, 0xEF), 0xFF
_ENABLED = 1
_LARGEST_FORCE = np.iinfo(np.int16).max  # [N]
_MILLISECONDS = 1000
_TICKS = 1 << 32


class MotorReadings(NamedTuple):
    """Measurements (n,) of the n motors."""

    positions: np.ndarray  # [rad]
    velocities: np.ndarray  # [rad/s]
    efforts: np.ndarray  # [Nm]


class ImuValues(NamedTuple):
    """Readings of the IMU in the IMU's frame."""

    orientation: np.ndarray  # orientation in the world, quaternion x y z w (4,)
    angular_velocity: np.ndarray  # (3,) [rad/s]
    acceleration: np.ndarray  # specific force (3,) [m/s^2]


class LowStates:
    """Makes the LowState messages of one robot."""

    def __init__(self, motors: Motors) -> None:
        self._motors = motors
        self._layout = motors.messages.state
        self._record = record = self._layout.empty()
        if motors.mode_machine:
            record["mode_machine"] = motors.mode_machine
        else:
            record["head"], record["level_flag"] = _HEAD, _LOW_LEVEL
        record["motor_state"]["mode"][motors.slots] = _ENABLED

    def state(
        self, seconds: float, readings: MotorReadings, imu: ImuValues, forces: np.ndarray
    ) -> bytes:
        """Return a serialised LowState.

        Args:
            seconds: simulated time [s]. `tick` counts milliseconds.
            readings: readings of the motors.
            imu: reading of the IMU.
            forces: magnitudes (k,) of the forces on the k feet of `Motors` [N].
        """
        record, slots = self._record, self._motors.slots
        record["tick"] = round(seconds * _MILLISECONDS) % _TICKS
        motor = record["motor_state"]
        motor["q"][slots], motor["dq"][slots] = readings.positions, readings.velocities
        motor["tau_est"][slots] = readings.efforts
        fill_imu(record["imu_state"], imu)
        if self._motors.feet:
            record["foot_force"] = record["foot_force_est"] = whole_newtons(forces)
        record["crc"] = checksum(record)
        return self._layout.write(record)


def sport_mode_state(
    seconds: float, base: np.ndarray, velocity: np.ndarray, imu: ImuValues, forces: np.ndarray
) -> bytes:
    """Return a serialised SportModeState with the true position and velocity of the base.

    Args:
        seconds: simulated time [s].
        base: position of the base in the world (3,) [m].
        velocity: velocity of the base in the world (3,) [m/s].
        imu: reading of the IMU. The yaw speed is the last component of the angular velocity.
        forces: magnitudes of the forces at four feet (4,) [N], or (0,).
    """
    record = SPORT_MODE_STATE.empty()
    record["stamp"]["sec"], record["stamp"]["nanosec"] = divmod(round(seconds * 1e9), 10**9)
    fill_imu(record["imu_state"], imu)
    record["position"], record["body_height"] = base, base[2]
    record["velocity"], record["yaw_speed"] = velocity, imu.angular_velocity[2]
    if forces.size:
        record["foot_force"] = whole_newtons(forces)
    return SPORT_MODE_STATE.write(record)


def fill_imu(record: np.ndarray, imu: ImuValues) -> None:
    """Write a reading of an IMU into an `imu_state`."""
    x, y, z, w = imu.orientation
    record["quaternion"] = w, x, y, z
    record["gyroscope"], record["accelerometer"] = imu.angular_velocity, imu.acceleration
    record["rpy"] = roll_pitch_yaw(imu.orientation)


def roll_pitch_yaw(orientation: np.ndarray) -> tuple[float, float, float]:
    """Return roll, pitch and yaw [rad] of a quaternion x y z w (4,).

    The rotation matrix is R = Rz(yaw) Ry(pitch) Rx(roll).
    """
    x, y, z, w = orientation
    roll = np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y))
    pitch = np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0))
    yaw = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    return float(roll), float(pitch), float(yaw)


def whole_newtons(forces: np.ndarray) -> np.ndarray:
    """Round forces to whole newtons as 16-bit integers."""
    return np.rint(np.minimum(forces, _LARGEST_FORCE)).astype(np.int16)
