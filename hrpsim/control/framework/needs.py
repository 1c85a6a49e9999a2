# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""`Controller.needs`: the readings that a controller requires besides encoders and sensors.

For example:

    needs = {"base": "estimated", "noise": {"gyro": 0.01}, "delays": {"imu": 0.005}}

| name | meaning |
| --- | --- |
| base | State.base: "true", or "estimated" (hrpsim.control.estimation.base_estimator) |
| feet | force sensors of the feet, for the estimator |
| contacts | State.contacts: the true contacts of these links and of bodies fixed to them |
| zmp | State.zmp: the true zero-moment point, if true |
| noise | standard deviations and seed of `NoiseLevels`, added to the sensors' readings |
| delays | [s], by "joints", "base", "contacts", "zmp" or a sensor, or one number for all |
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from hrpsim.common.errors import shown_value, unknown_name
from hrpsim.common.schema import (
    either,
    flag,
    integer,
    listing,
    mapping,
    name,
    numeric,
    one_of,
    table,
)
from hrpsim.common.values import NOT_NEGATIVE
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.framework.plugins import checked
from hrpsim.engine.sensors.noise import NoiseLevels
from hrpsim.model.model import Model

TRUE, ESTIMATED = "true", "estimated"
JOINTS, BASE, CONTACTS, ZMP = "joints", "base", "contacts", "zmp"
_LARGEST_SEED = 2**63 - 1
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
    """Requirements of a controller besides undisturbed joints, force sensors and IMUs."""

    base: str = ""  # TRUE, ESTIMATED or "" without a base
    feet: tuple[str, ...] = ()  # force sensors, empty: sensors chosen by the estimator
    contacts: tuple[str, ...] = ()  # links
    zmp: bool = False
    noise: NoiseLevels | None = None
    delays: Mapping[str, int] = {}  # delays other than zero, by name [periods]


def needs_of(who: str, given: Mapping[str, Any], model: Model, period: float) -> Needs:
    """Check and parse `Controller.needs`.

    Raises ControllerError if `given` is invalid. The message starts with `who`.
    """
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
        raise ControllerError(
            f"{who}: needs: base: {model.name!r} has a fixed base. Leave `base` out"
        )
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
    """Return the delays in periods, by the name of the delayed reading."""
    known = [JOINTS, BASE, CONTACTS, ZMP, *(sensor.name for sensor in model.sensors)]
    times = given if isinstance(given, Mapping) else dict.fromkeys(known, given)
    delays = {}
    for entry, time in times.items():
        if entry not in known:
            raise ControllerError(f"{who}: needs: delays: {unknown_name('entry', entry, known)}")
        ticks = round(time / period)
        if abs(ticks * period - time) > 1e-6 * period:
            low = int(time / period)
            raise ControllerError(
                f"{who}: needs: delays: {entry}: {time:g} s is not a whole multiple of the "
                f"controller's period. The nearest are {low * period:g} s and "
                f"{(low + 1) * period:g} s"
            )
        if ticks:
            delays[entry] = ticks
    return delays
