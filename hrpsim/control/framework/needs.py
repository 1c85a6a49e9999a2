# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The readings that a controller requires beyond encoders and sensors: `Controller.needs`, checked.

    needs = {"base": "estimated", "noise": {"gyro": 0.01}, "delays": {"imu": 0.005}}

| name | what it gives |
| --- | --- |
| base | State.base: "true", or "estimated" (hrpsim.control.estimation.base_estimator) |
| feet | the force sensors that the estimator uses as the feet's |
| contacts | State.contacts: the true contacts of these links and of what is fixed to them |
| zmp | State.zmp: the true zero-moment point, if true |
| noise | standard deviations and seed of `NoiseLevels`, added to the sensors' readings |
| delays | by what is late [s]: "joints", "base", "contacts", "zmp", a sensor; or one for all |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.framework.plugins import checked
from hrpsim.errors import shown_value, unknown_name
from hrpsim.model.model import Model
from hrpsim.schema import either, flag, integer, listing, mapping, name, numeric, one_of, table
from hrpsim.sensors.noise import NoiseLevels
from hrpsim.values import NOT_NEGATIVE

TRUE, ESTIMATED = "true", "estimated"
JOINTS, BASE, CONTACTS, ZMP = "joints", "base", "contacts", "zmp"
_LARGEST_SEED = 2**31 - 1
_SIGMA = numeric(NOT_NEGATIVE)
_NOISE = {
    field.name: _SIGMA for field in fields(NoiseLevels) if field.name not in ("seed", "version")
}
_KINDS = {
    "base": one_of("base", (TRUE, ESTIMATED)),
    "feet": listing(name, 1, what="a list of force sensors"),
    "contacts": listing(name, what="a list of links"),
    "zmp": flag,
    "noise": mapping(_NOISE | {"seed": integer(0, _LARGEST_SEED)}),
    "delays": either("a time [s], or a mapping of times", _SIGMA, table(_SIGMA, "of times")),
}


class Needs(NamedTuple):
    """Requirements of a controller beyond joints, force sensors and IMUs as they are."""

    base: str = ""  # TRUE, ESTIMATED or "": no base
    feet: tuple[str, ...] = ()  # force sensors; empty: those that the estimator finds
    contacts: tuple[str, ...] = ()  # links
    zmp: bool = False
    noise: NoiseLevels | None = None
    delays: Mapping[str, int] = {}  # in periods, by what is late; without those that are not


def needs_of(who: str, given: Mapping[str, Any], model: Model, period: float) -> Needs:
    """Return `Controller.needs` parsed; ControllerError, which begins with `who`, if wrong."""
    if not given:
        return Needs()
    if not isinstance(given, Mapping):
        raise ControllerError(f"{who}: needs must be a mapping, got {shown_value(given)}")
    values = checked(f"{who}: needs", _KINDS, given)
    for link in values.get("contacts", ()):
        if link not in model.frames:
            raise ControllerError(f"{who}: needs: {unknown_name('link', link, model.frames)}")
    base = values.get("base", "")
    if base and model.base != "free":
        raise ControllerError(f"{who}: needs: base: {model.name!r} stands on a fixed base")
    noise = values.get("noise")
    return Needs(
        base,
        tuple(values.get("feet", ())),
        tuple(values.get("contacts", ())),
        values.get("zmp", False),
        NoiseLevels(**noise) if noise else None,
        _delays(who, values.get("delays", {}), model, period),
    )


def _delays(who: str, given, model: Model, period: float) -> dict[str, int]:
    """Return delays in periods, by what is late."""
    known = [JOINTS, BASE, CONTACTS, ZMP, *(sensor.name for sensor in model.sensors)]
    times = given if isinstance(given, Mapping) else dict.fromkeys(known, given)
    delays = {}
    for what, time in times.items():
        if what not in known:
            raise ControllerError(f"{who}: needs: delays: {unknown_name('entry', what, known)}")
        ticks = round(time / period)
        if abs(ticks * period - time) > 1e-6 * period:
            low = int(time / period)
            raise ControllerError(
                f"{who}: needs: delays: {what}: {time:g} s is no whole number of the controller's "
                f"periods; {low * period:g} s and {(low + 1) * period:g} s are"
            )
        if ticks:
            delays[what] = ticks
    return delays
