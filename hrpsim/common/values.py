# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Checks of numbers, the same for files, Python and ROS.

Each check returns the value. A wrong value raises WorldError (for vectors StateError), which names
the given value and the allowed values. A truth value or a text is not a number here. RANGES bounds
the settings of a world. LARGEST bounds everything else, to keep products far from overflow.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import StateError, WorldError, shown_value

LARGEST = 1e50  # masses, lengths and their products do not overflow


class Range(NamedTuple):
    """The bounds and the unit of a number. `low` may be excluded."""

    low: float = -LARGEST
    high: float = LARGEST
    unit: str = ""
    above_low: bool = False  # whether `low` is excluded
    infinite: bool = False  # inf: no bound

    def __str__(self) -> str:
        sign = ">= 0" if self.low == 0.0 else "positive" if self.low > 0.0 else ""
        if self.above_low:
            sign = "positive"
        finite = "a number" if self.infinite else "finite"
        unit = f" {self.unit}" if self.unit else ""
        if self.high >= LARGEST:
            bounds = f", at most {self.high:g}"
        elif self.low == 0.0:
            bounds = f", at most {self.high:g}{unit}"
        else:
            bounds = f", from {self.low:g} to {self.high:g}{unit}"
        return f"{sign} and {finite}{bounds}" if sign else f"{finite}{bounds}"

    def holds(self, value: float) -> bool:
        """Return whether a number is within the bounds."""
        if value == math.inf:
            return self.infinite
        return self.low <= value <= self.high and not (self.above_low and value == self.low)


ANY = Range()
NOT_NEGATIVE = Range(0.0)
POSITIVE = Range(0.0, above_low=True)
LIMIT = Range(0.0, infinite=True)
RANGES = {
    "time_step": Range(1e-9, 10.0, "s"),
    "gravity": Range(-1e6, 1e6, "m/s^2"),
    "tolerance": Range(0.0, 1.0, above_low=True),
    "contact_margin": Range(0.0, 1.0, "m"),
    "correction_rate": Range(0.0, 1.0),
    "correction_speed": Range(0.0, 1e3, "m/s"),
    "slop": Range(0.0, 1.0, "m"),
    "slip_threshold": Range(0.0, 1e3, "m/s"),
    "restitution_threshold": Range(0.0, 1e3, "m/s"),
    "height": Range(-1e9, 1e9, "m"),
    "friction": Range(0.0, 1e6),
    "friction_length": Range(0.0, 1e6, "m"),
    "restitution": Range(0.0, 1.0),
}
SWEEPS = 10_000_000  # largest sweep_limit


def number(name: str, value, bounds: Range = ANY) -> float:
    """Check that a value is a number within bounds, and return the number."""
    if not is_number(value) or not bounds.holds(float(value)):
        raise WorldError(f"{name} must be {bounds}, got {shown_value(value)}")
    return float(value)


def setting(name: str, value) -> float:
    """Check that a value is within the bounds of RANGES for `name`, and return the number."""
    return number(name, value, RANGES[name])


def whole(name: str, value, low: int, high: int) -> int:
    """Check that a value is a whole number from `low` to `high`, and return the number."""
    if not is_number(value) or value != value // 1 or not low <= value <= high:
        bounds = f"at least {low}" if is_number(value) and value < low else f"from {low} to {high}"
        raise WorldError(f"{name} must be {bounds}, got {shown_value(value)}")
    return int(value)


def whole_count(name: str, value, low: int = 1, error: type[Exception] = WorldError) -> int:
    """Return a count >= `low`. Raise `error` for other types than integers, such as 1.0 and True.

    A count that results from a division must be rounded by the caller, up or down.
    """
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        kind = f" of type {type(value).__name__}" if is_number(value) else ""
        raise error(f"{name} must be a whole number >= {low}, got {shown_value(value)}{kind}")
    if value < low:
        raise error(f"{name} must be a whole number >= {low}, got {value}")
    return int(value)


def flag(name: str, value) -> bool:
    """Check that a value is a truth value, and return the value."""
    if not isinstance(value, (bool, np.bool_)):
        raise WorldError(f"{name} must be true or false, got {shown_value(value)}")
    return bool(value)


def several(given: str | Iterable[str], what: str = "names") -> tuple[str, ...]:
    """Return an argument, which is one name or several names, as a list of names.

    Raises StateError for other values.
    """
    if isinstance(given, str):
        return (given,)
    listed: Any = given  # users may pass any object
    result = tuple(listed) if isinstance(listed, Iterable) else (listed,)
    if isinstance(listed, Mapping) or not all(isinstance(name, str) for name in result):
        raise StateError(f"{what} must be a name or a list of names, got {shown_value(given)}")
    return result


def name_of(what: str, given: Any) -> str:
    """Return a name, which is a text that is not empty. Raises WorldError for other values."""
    if not isinstance(given, str) or not given.strip():
        raise WorldError(f"{what} must be a text that is not empty, got {shown_value(given)}")
    return given


def is_number(value) -> bool:
    """Return whether a value is a real number: no truth value, no text, no NaN."""
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, (int, np.integer)):
        return abs(int(value)) <= 10**300
    return isinstance(value, (float, np.floating)) and not math.isnan(value)


def as_numbers(name: str, given: Any, error: type[Exception] = StateError) -> np.ndarray:
    """Return an array of numbers in double precision. See `numeric_array`."""
    return np.asarray(numeric_array(name, given, error), dtype=np.float64)


def numeric_array(name: str, given: Any, error: type[Exception] = StateError) -> np.ndarray:
    """Return an array of numbers. Texts, truth values and uneven lists raise `error`.

    Memory offered by `__dlpack__`, such as a tensor's, is not copied.
    """
    if type(given) is np.ndarray and given.dtype.kind in "iuf":
        return given
    try:
        is_tensor = hasattr(given, "__dlpack__") and not isinstance(given, np.ndarray)
        array = np.from_dlpack(given) if is_tensor else np.asarray(given)
        if array.dtype.kind == "O" and all(map(is_number, array.flat)):
            array = array.astype(np.float64)
        if array.dtype.kind not in "iuf" and array.size:
            raise TypeError
    except (TypeError, ValueError, OverflowError, BufferError, RuntimeError) as cause:
        raise error(f"{name} must be numbers, got {shown_value(given)}") from cause
    return array


def finite_vector(name: str, values, length: int, bounds: Range = ANY) -> np.ndarray:
    """Return a new float64 vector. Raise StateError on a wrong length or bad values.

    Every entry must be finite and within `bounds`.
    """
    try:
        vector = as_numbers(name, values).copy()
    except StateError as error:
        raise StateError(f"{name} must be {length} numbers, got {shown_value(values)}") from error
    if vector.shape != (length,):
        raise StateError(f"{name} must have shape ({length},), got {vector.shape}")
    bad = np.flatnonzero(~np.isfinite(vector))
    if bad.size:
        raise StateError(f"{name}[{bad[0]}] is {vector[bad[0]]}: every entry must be finite")
    bad = np.flatnonzero((vector < bounds.low) | (vector > bounds.high))
    if bad.size:
        raise StateError(f"{name}[{bad[0]}] is {vector[bad[0]]}. It must be {bounds}")
    return vector


def not_negative(what: str, value, count: int, finite: bool = True) -> np.ndarray:
    """Return `count` numbers >= 0, given one number or `count` numbers.

    Allow inf unless `finite`.
    """
    try:
        values = np.array(np.broadcast_to(as_numbers(what, value), count))
    except ValueError as error:  # StateError is one
        text = shown_value(value)
        raise WorldError(f"{what} must be one number or {count} numbers, got {text}") from error
    allowed = (values >= 0.0) & (values <= LARGEST)
    if not finite:
        allowed |= values == np.inf
    if not allowed.all():
        bound = f">= 0 and {'finite' if finite else 'a number'}"
        if (values[values < np.inf] > LARGEST).any():
            bound = f"at most {LARGEST:g}"
        raise WorldError(f"{what} must be {bound}, got {shown_value(value)}")
    return values


def positive(what: str, value) -> float:
    """Return a positive finite number. Raise WorldError for anything else."""
    return number(what, value, POSITIVE)
