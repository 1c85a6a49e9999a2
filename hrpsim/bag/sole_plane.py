# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""How far below a foot's force sensor its sole is, from the shapes on the sensor's child side."""

from __future__ import annotations

from hrpsim.control.estimation.sole import sole_box
from hrpsim.model.model import Model, Sensor


def sole_depth(model: Model, sensor: Sensor) -> float:
    """Return how far the lowest point beneath a sensor is below its origin, along its z axis [m].

    That is with all joints at zero; 0 where nothing on the child side can touch anything.
    """
    box = sole_box(model, sensor)
    return 0.0 if box is None else float(-box[0][2])
