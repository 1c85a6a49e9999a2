# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors of force and torque in a joint."""

from __future__ import annotations

from typing import Any

from lxml.etree import _Element

from hrpsim.model.readers.urdf.document import Document
from hrpsim.model.sensors.gazebo_values import text_of
from hrpsim.model.sensors.quantities import WRENCH
from hrpsim.model.sensors.sensor_kind import StepSensorKind
from hrpsim.model.shapes.placement import IDENTITY, Placement

_DIRECTIONS = ("child_to_parent", "parent_to_child")


class ForceTorque(StepSensorKind):
    """A force-torque sensor: the wrench that the link exerts on its parent through the joint.

    In Gazebo, <measure_direction> may select the opposite wrench, and <frame> selects the axes of
    the child link or of the sensor.
    """

    kind = "force_torque"
    quantity = WRENCH
    at_joint = True
    noise_levels = ("force", "torque")
    gazebo_types = ("force_torque",)
    gazebo_quantities = ("force", "torque", "noise/force", "noise/torque")
    gazebo_tags = ("force_torque",)
    gazebo_elements = {
        "force_torque": ("", "frame measure_direction force torque noise"),
        **dict.fromkeys(("force", "torque"), ("", "x y z noise")),
    }
    mjcf_types = ("FORCE", "TORQUE")
    body_elements = vrml_nodes = ("ForceSensor",)

    @classmethod
    def is_read(cls, sensor: _Element) -> bool:
        """Return whether <frame> and <measure_direction> have known values."""
        return _frame(sensor) in ("child", "sensor") and _direction(sensor) in _DIRECTIONS

    @staticmethod
    def gazebo_placement(sensor: _Element, pose: Placement) -> Placement:
        """Return a placement at the joint. `pose` turns the placement if <frame> is "sensor"."""
        return Placement(pose.R, IDENTITY.p) if _frame(sensor) == "sensor" else IDENTITY

    @classmethod
    def gazebo_settings(cls, document: Document, sensor: _Element) -> dict[str, Any]:
        """Return rate, noise, and whether the wrench acts from the parent on the child."""
        settings = super().gazebo_settings(document, sensor)
        return settings | {"reversed": _direction(sensor) == _DIRECTIONS[1]}


def _frame(sensor) -> str:
    return text_of(sensor, "force_torque/frame", "child")


def _direction(sensor) -> str:
    return text_of(sensor, "force_torque/measure_direction", _DIRECTIONS[0])
