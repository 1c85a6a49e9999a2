# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Values of one mapping of a .body file, with keys in either spelling (joint_type, jointType)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from typing import Any, NoReturn

import numpy as np

from hrpsim.common.errors import shown_value
from hrpsim.model.readers.openhrp.assembly import axis_angle
from hrpsim.model.readers.robot_data import Notes

_LARGE = 1e12


class Values:
    """A mapping. `fail` raises the ModelError that names its location."""

    def __init__(self, entry: dict, fail: Callable[[str], NoReturn]) -> None:
        self._entry = {_snake(str(key)): value for key, value in entry.items()}
        self.fail = fail

    @property
    def keys(self) -> Collection[str]:
        """The keys in lower case, with underscores."""
        return self._entry.keys()

    def get(self, key: str) -> Any:
        """Return a value unchanged, or None if the value is missing."""
        return self._entry.get(key)

    def given(self, *keys: str) -> bool:
        """Return whether at least one of the keys is present."""
        return any(key in self._entry for key in keys)

    def note_unread(self, known: Collection[str], notes: Notes, what: str, name: str = "") -> None:
        """Note the keys that hrpsim does not read, for an element of kind `what` and this name."""
        for key in sorted(self._entry.keys() - set(known)):
            notes.add(f"{key} of {what}", "not read", name)

    def text(self, key: str, default: str) -> str:
        """Return a text. A number counts as a text."""
        value = self._entry.get(key, default)
        if isinstance(value, (dict, list)) or value is None:
            self.fail(f"{key}: must be a text, got {shown_value(value)}")
        return str(value)

    def items(self, key: str) -> list:
        """Return a list. A single item becomes a list of one, a missing item an empty list."""
        value = self._entry.get(key)
        if value is None:
            return []
        return value if isinstance(value, list) else [value]

    def numbers(self, key: str, count: int | None = None) -> np.ndarray | None:
        """Return finite numbers, or None if the numbers are missing."""
        value = self._entry.get(key)
        if value is None:
            return None
        if isinstance(value, (bool, dict)):
            self.fail(f"{key}: must be numbers, got {shown_value(value)}")
        try:
            numbers = np.array(value, dtype=np.float64).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            self.fail(f"{key}: must be numbers, got {shown_value(value)}")
        if count is not None and len(numbers) != count:
            self.fail(f"{key}: must be {_numbers(count)}, got {len(numbers)}")
        if not (np.abs(numbers) <= _LARGE).all():
            self.fail(f"{key}: each number must be finite and at most {_LARGE:g}")
        return numbers

    def number(self, key: str, default: float) -> float:
        """Return one finite number at a key."""
        numbers = self.numbers(key, 1)
        return default if numbers is None else float(numbers[0])

    def bounds(self, *keys: str) -> tuple[float, float]:
        """Return lower and upper bound from a list of two numbers, or -x and x from one number.

        Missing bounds are infinite. "unlimited" and "inf" mean no bound.
        """
        key = next((key for key in keys if self._entry.get(key) is not None), "")
        value = self._entry.get(key)
        if value is None:
            return -math.inf, math.inf
        if isinstance(value, list):
            if len(value) != 2:
                self.fail(f"{key}: must be 2 numbers, got {len(value)}")
            return self._bound(key, value[0], -1.0), self._bound(key, value[1], 1.0)
        return -self._bound(key, value, 1.0), self._bound(key, value, 1.0)

    def rotation(self, key: str, to_radian: float) -> np.ndarray:
        """Return a rotation (3, 3) from x, y, z, angle, or the product of a list of these."""
        value = self._entry.get(key)
        if value is None:
            return np.eye(3)
        parts = value if isinstance(value, list) and value and isinstance(value[0], list) else None
        R = np.eye(3)
        for part in parts if parts is not None else [value]:
            numbers = Values({key: part}, self.fail).numbers(key, 4)
            if numbers is None:
                self.fail(f"{key}: must be an axis and an angle")
            if numbers[3] and not numbers[:3].any():
                self.fail(f"{key}: the axis of a rotation by {numbers[3]:g} must not be zero")
            R = R @ axis_angle((*numbers[:3], numbers[3] * to_radian))
        return R

    def translation(self, key: str) -> np.ndarray:
        """Return a vector (3,): the sum of several vectors, or zero if none is given."""
        value = self._entry.get(key)
        if isinstance(value, list) and value and isinstance(value[0], list):
            return sum(
                (Values({key: part}, self.fail).translation(key) for part in value), np.zeros(3)
            )
        vector = self.numbers(key, 3)
        return np.zeros(3) if vector is None else vector

    def mass(self, of_all: bool) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the mass properties of an element.

        of_all: whether no other element of the link has mass. Missing values are then Choreonoid's
        defaults, 1 kg and unit inertia. Otherwise missing values are zero.

        Returns:
            (mass [kg], centre (3,) [m], inertia about the centre (3, 3) [kg m^2]).
        """
        mass = self.number("mass", 1.0 if of_all else 0.0)
        if mass < 0.0:
            self.fail(f"mass must not be negative, got {mass:g} kg")
        com, moments = self.numbers("center_of_mass", 3), self.numbers("inertia")
        if moments is None:
            inertia = np.eye(3) if of_all and mass else np.zeros((3, 3))
        elif len(moments) == 9:
            inertia = moments.reshape(3, 3)
        elif len(moments) == 6:
            xx, xy, xz, yy, yz, zz = moments
            inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        else:
            self.fail(f"inertia: must be 6 or 9 numbers, got {len(moments)}")
        return mass, np.zeros(3) if com is None else com, 0.5 * (inertia + inertia.T)

    def _bound(self, key: str, value: Any, sign: float) -> float:
        text = str(value).lower().lstrip("+.")
        if text == "unlimited" or text.lstrip("-.") == "inf":
            if text != "unlimited" and text.startswith("-") == (sign > 0.0):
                self.fail(
                    f"{key}: {shown_value(value)} is not a valid "
                    f"{'upper' if sign > 0.0 else 'lower'} bound"
                )
            return sign * math.inf
        return float(self._single(key, value))

    def _single(self, key: str, value: Any) -> float:
        numbers = Values({key: value}, self.fail).numbers(key, 1)
        if numbers is None:
            self.fail(f"{key}: must be a number")
        return float(numbers[0])


def _numbers(count: int) -> str:
    return "one number" if count == 1 else f"{count} numbers"


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).lower()
