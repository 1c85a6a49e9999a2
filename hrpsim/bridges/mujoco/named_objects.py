# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The fields of one object of MjData, such as a body."""

from __future__ import annotations

from typing import Any

import hrpsim.bridges.mujoco.fields as fields

# Methods of MjData that return the fields of an object by name or number.
OBJECTS = frozenset(
    (
        *("actuator", "body", "cam", "camera", "geom", "jnt", "joint", "light", "sensor", "site"),
        *("ten", "tendon"),
    )
)


class NamedObject:
    """The fields of one object, returned by `data.body(name)`.

    A field is computed when it is read.
    """

    def __init__(self, view: Any, data: Any) -> None:
        self._view, self._data = view, data

    def __dir__(self) -> list[str]:
        return dir(self._view)

    def __getattr__(self, name: str) -> Any:
        """Return a field of the object. For a sensor, `data` is its part of sensordata."""
        if name.startswith("_"):
            raise AttributeError(name)
        value, data = getattr(self._view, name), self._data
        field = "sensordata" if name == "data" else name
        if field in ("id", "name"):
            return value
        field = _FIELDS_OF_OBJECTS.get((type(self._view).__name__, name), field)
        getattr(data, field)  # computes the field or raises an error
        return data._lend(fields.LEVELS.get(field, fields.STATE), value)

    def __setattr__(self, name: str, value: Any) -> None:
        """Write a field of the object."""
        if name.startswith("_"):
            super().__setattr__(name, value)
            return
        field = _FIELDS_OF_OBJECTS.get((type(self._view).__name__, name), name)
        self._data._refuse("sensordata" if name == "data" else field)
        setattr(self._view, name, value)

    def __repr__(self) -> str:
        self._data._lend(fields.DYNAMICS, None)
        return repr(self._view)


def _fields_of_objects() -> dict[tuple[str, str], str]:
    """Return a map from the short names of fields in an object's view to the names in MjData."""
    kinds = {"Actuator": "actuator_", "Camera": "cam_", "Geom": "geom_", "Light": "light_"}
    kinds |= {"Site": "site_", "Tendon": "ten_"}
    names = {*fields.NEEDS}
    return {
        (f"_MjData{kind}Views", name.removeprefix(head)): name
        for kind, head in kinds.items()
        for name in names
        if name.startswith(head)
    }


_FIELDS_OF_OBJECTS = _fields_of_objects()
