# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of inertial measurement units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.fitting.signals.signal_kind import MIDDLE, Setting, SignalKind, Tangent, check_sensor
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World


class ImuSignal(SignalKind):
    """Angular velocity and specific force of an IMU with unknown biases and orientation."""

    name, quantities = "imu", {"gyro": "rad/s", "accelerometer": "m/s^2"}
    columns, outputs = ("wx", "wy", "wz", "ax", "ay", "az"), ("sensors",)

    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknowns: biases, and the rotation vector from nominal to true frame."""
        units = {"w": "rad/s", "a": "m/s^2"}
        biases = {f"bias_{column}": Setting(0.0, unit=units[column[0]]) for column in columns}
        return biases | {f"turn_{axis}": Setting(0.0, unit="rad") for axis in "xyz"}

    def check(self, thing: Any, of: str, columns: Sequence[str]) -> None:
        """Raise FitError if the robot has no such IMU."""
        check_sensor(thing, self.name, of, "imu")

    def phase(self, world: World) -> float:
        """Return half a step for the integrator semi_implicit, and a whole step for others.

        See `SignalKind.phase`.
        """
        return MIDDLE if world.integrator == "semi_implicit" else 1.0

    def read(self, thing: Robot, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return angular velocity [rad/s] and specific force [m/s^2] in the nominal frame (6,)."""
        return thing.sensors[of].reading

    def slopes(self, thing: Robot, of: str, columns: Sequence[str], tangent: Tangent) -> np.ndarray:
        """Return the derivatives of the reading by the p unknowns (6, p).

        The gyro reads the angular velocity at the middle of a step.
        """
        name = "sensors", thing.name, of
        rows = tangent.outputs[name].copy()
        rows[:3] += tangent.ahead[name][:3]
        return rows

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Rotate both vectors to the true frame, and add the biases."""
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_rotvec([settings[f"turn_{axis}"] for axis in "xyz"]).as_matrix()
        own = np.hstack([raw[:, :3] @ turn, raw[:, 3:] @ turn])
        return own + [settings[f"bias_{column}"] for column in columns]
