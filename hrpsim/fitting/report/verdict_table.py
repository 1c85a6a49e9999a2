# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The table of a fit: value, interval, initial value, unit, and whether the value is determined."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from hrpsim.fitting.result import FitResult

_DELAY = "delay"
_UNITS = {  # of revolute joints, prismatic joints
    "kp": ("Nm/rad", "N/m"),
    "kd": ("Nms/rad", "Ns/m"),
    "friction": ("Nm", "N"),
    "damping": ("Nms/rad", "Ns/m"),
    "stiffness": ("Nm/rad", "N/m"),
    "rotor_inertia": ("kg m^2", "kg"),
}
_OTHER = {"shift_x": "m", "shift_y": "m", "shift_z": "m", _DELAY: "s", "time_step": "s"}


class VerdictRow(NamedTuple):
    """The row of one parameter. `remark` describes a problem with the value, or is ""."""

    name: str
    value: float
    low: float
    high: float
    start: float
    unit: str
    remark: str


def verdict_rows(
    result: FitResult, parameters: Mapping[str, Any], prismatic: frozenset[str] = frozenset()
) -> list[VerdictRow]:
    """Return the rows of the table of a fit.

    Args:
        result: result of the fit.
        parameters: parameters of the fit, with their paths.
        prismatic: paths of prismatic joints, such as robots.NAME.joints.JOINT.
    """
    loose = {name for combination in result.undetermined for name in combination.parts}
    rows = []
    for k, name in enumerate(result.names):
        remark = "not determined" if name in loose else ""
        remark = "changes with the time step" if name in result.moved_by_step else remark
        remark = "at a bound" if name in result.at_bound else remark
        remark = "no effect on what was measured" if name in result.without_effect else remark
        if not remark and not np.isfinite(result.low[k]):
            remark = "no interval"
        value, low, high, start = (
            float(numbers[k]) for numbers in (result.values, result.low, result.high, result.start)
        )
        unit = unit_of(paths_of(name, parameters[name])[0], prismatic)
        rows.append(VerdictRow(name, value, low, high, start, unit, remark))
    return rows


def paths_of(name: str, given: Any) -> tuple[str, ...]:
    """Return all paths that a parameter sets. `given` is the parameter's entry."""
    paths = given.get("paths") if isinstance(given, Mapping) else getattr(given, "paths", ())
    return tuple(paths or (name,))


def unit_of(path: str, prismatic: frozenset[str] = frozenset()) -> str:
    """Return the unit of the parameter at a path, or "1" if the parameter has no unit."""
    joint, _, key = path.rpartition(".")
    if key in _UNITS and ".joints." in path:
        return _UNITS[key][joint in prismatic]
    return _OTHER.get(path.partition(".")[0] if path.startswith(_DELAY) else key, "1")
