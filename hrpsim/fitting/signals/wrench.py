# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Signals of force sensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.common.values import POSITIVE
from hrpsim.fitting.signals.signal_kind import Setting, SignalKind, Tangent, check_sensor
from hrpsim.world.objects.robot import Robot


class Wrench(SignalKind):
    """The wrench of a force sensor, in and about the sensor's frame, with an unknown tare."""

    name, quantities = "wrench", {"force": "N", "torque": "Nm"}
    columns, outputs = ("fx", "fy", "fz", "tx", "ty", "tz"), ("sensors",)

    def settings(self, columns: Sequence[str]) -> dict[str, Setting]:
        """Return the unknowns: a common gain, and a tare for each column."""
        units = {"f": "N", "t": "Nm"}
        tares = {f"tare_{column}": Setting(0.0, unit=units[column[0]]) for column in columns}
        return {"gain": Setting(1.0, POSITIVE), **tares}

    def check(self, thing: Any, of: str, columns: Sequence[str]) -> None:
        """Raise FitError if the robot has no such force sensor."""
        check_sensor(thing, self.name, of, "force_torque")

    def read(self, thing: Robot, of: str, columns: Sequence[str]) -> np.ndarray:
        """Return the wrench in the sensor's frame (6,) [N, Nm]."""
        return thing.sensors[of].reading

    def slopes(self, thing: Robot, of: str, columns: Sequence[str], tangent: Tangent) -> np.ndarray:
        """Return the derivatives of the wrench by the p unknowns (6, p)."""
        return tangent.outputs["sensors", thing.name, of]

    def predict(
        self, raw: np.ndarray, settings: Mapping[str, float], columns: Sequence[str]
    ) -> np.ndarray:
        """Return the prediction gain * wrench + tare."""
        return settings["gain"] * raw + [settings[f"tare_{column}"] for column in columns]
