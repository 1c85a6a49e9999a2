# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tables of all kinds of sensors, by name."""

from __future__ import annotations

from dataclasses import fields

from hrpsim.model.sensors.camera import Camera
from hrpsim.model.sensors.contact_pad import ContactPad
from hrpsim.model.sensors.force_torque import ForceTorque
from hrpsim.model.sensors.height_scan import HeightScan
from hrpsim.model.sensors.imu import Imu
from hrpsim.model.sensors.lidar import Lidar
from hrpsim.model.sensors.sensor_kind import SampledSensorKind, SensorKind, StepSensorKind

STEP_KINDS: dict[str, type[StepSensorKind]] = {kind.kind: kind for kind in (ForceTorque, Imu)}
SAMPLED_KINDS: dict[str, type[SampledSensorKind]] = {
    kind.kind: kind for kind in (HeightScan, Lidar, ContactPad, Camera)
}
SENSOR_KINDS: dict[str, type[SensorKind]] = {**STEP_KINDS, **SAMPLED_KINDS}


def settings_of_kind(kind: str) -> tuple[str, ...]:
    """Return the names of all settings of a sensor kind that has its own sampling rate."""
    known = SAMPLED_KINDS[kind]
    return (*known.common, *(field.name for field in fields(known)))


SAMPLED_SETTINGS = tuple(
    dict.fromkeys(key for kind in SAMPLED_KINDS for key in settings_of_kind(kind))
)
