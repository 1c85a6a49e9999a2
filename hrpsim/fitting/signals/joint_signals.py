# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of joints: torques, currents of motors, motor positions before the gears."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.common.errors import FitError, require_names
from hrpsim.common.values import POSITIVE
from hrpsim.fitting.signals.signal_kind import Setting, SignalKind, Tangent, robot_only
from hrpsim.world.objects.robot import Robot


def _at_actuators(thing: Robot, joints: Sequence[str], field: str, plain: np.ndarray) -> np.ndarray:
    """Return one value for each joint: a value of the actuator model, or else the plain value.

    plain: values in the order of the robot's joints.
    """
    result, acting = plain[thing.joint_index.indices(joints)], thing.acting_actuators
    for k, joint in enumerate(joints if acting else ()):
        if joint in acting:
            result[k] = getattr(thing.actuators[joint], field)
    return result


class JointSignal(SignalKind):
    """A signal with one column for each joint."""

    gain = "gain"  # name of the factor's unknown

    def slopes(self, thing: Robot, of: str, columns: Sequence[str], tangent: Tangent) -> np.ndarray:
        """Return the derivatives (joints, p) of the efforts, which require rigid gears."""
        return np.vstack([tangent.outputs["efforts", thing.name, joint] for joint in columns])

    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknowns: a factor and an offset for each joint."""
        unit = next(iter(self.quantities.values()))
        return {f"{joint}.{self.gain}": self._factor() for joint in columns} | {
            f"{joint}.offset": Setting(0.0, unit=unit) for joint in columns
        }

    def _factor(self) -> Setting:
        return Setting(1.0, POSITIVE)

    def check(self, thing: Any, of: str, columns: Sequence[str]) -> None:
        """Raise FitError if the robot lacks a joint."""
        known = robot_only(thing, self.name).joint_names
        require_names("joint", columns, known, FitError, where=f"signal of kind {self.name}")

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return the prediction factor * raw + offset."""
        factor, offset = (
            np.array([settings[f"{joint}.{name}"] for joint in columns])
            for name in (self.gain, "offset")
        )
        return factor * raw + offset


class Torque(JointSignal):
    """Torques on the joints, on the output side of the gears, as in `joint_states`."""

    name, quantities, outputs = "torque", {"": "Nm or N"}, ("efforts",)

    def read(self, thing: Robot, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return the efforts [Nm or N] of the last step."""
        return _at_actuators(thing, columns, "torque", thing.joint_efforts)


class Current(JointSignal):
    """Currents of motors: motor torque, before losses and gear, divided by the torque constant.

    The torque constant is reflected to the joint: the constant of the motor times the gear ratio.
    """

    name, quantities, gain, outputs = "current", {"": "A"}, "constant", ("efforts",)

    def _factor(self) -> Setting:
        return Setting(None, POSITIVE, "Nm/A")

    def read(self, thing: Robot, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return the motor torques of the last step, reflected to the joints [Nm or N]."""
        return _at_actuators(thing, columns, "motor_torque", thing.joint_efforts)

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return the prediction torque / constant + offset."""
        inverse = {
            name: 1.0 / value if name.endswith(".constant") else value
            for name, value in settings.items()
        }
        return super().predict(raw, inverse, columns)


class MotorPosition(JointSignal):
    """Positions of motors on the input side of elastic gears, reflected to the joint."""

    name, quantities = "motor_position", {"": "rad or m"}

    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknowns: an offset for each joint."""
        return {f"{joint}.offset": Setting(0.0, unit="rad or m") for joint in columns}

    def phase(self, world: Any) -> float:
        """Return 0, because positions belong to the end of the step."""
        return 0.0

    def read(self, thing: Robot, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return the positions [rad or m] at the end of the last step."""
        return _at_actuators(thing, columns, "motor_position", thing.joint_positions)

    def slopes(self, thing: Robot, of: str, columns: Sequence[str], tangent: Tangent) -> np.ndarray:
        """Return the derivatives of the positions by the p unknowns (joints, p).

        The gear is treated as rigid.
        """
        return tangent.state[thing.joint_index.v[thing.joint_index.indices(columns)]]

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return the prediction position + offset."""
        return raw + np.array([settings[f"{joint}.offset"] for joint in columns])
