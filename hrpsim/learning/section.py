# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A mapping of a configuration file, whose errors name the file and the entry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from hrpsim.common.errors import StateError, shown_value

_NEEDED = object()


class Section:
    """A mapping of a configuration file.

    Args:
        where: file and place of the mapping, for errors.
        data: the mapping.

    Raises:
        StateError: `data` is no mapping with names as keys.
    """

    def __init__(self, where: str, data: Any) -> None:
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise StateError(f"{where}: should be a mapping of names, got {shown_value(data)}")
        self.where, self._data = where, data

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def get(self, key: str) -> Any:
        """Return an entry, or None if the entry is missing or null."""
        return self._data.get(key)

    def section(self, key: str, rest: Any = _NEEDED) -> Section:
        """Return the mapping of an entry. `rest` replaces a missing entry."""
        return Section(f"{self.where}.{key}", self._given(key, rest))

    def sections(self) -> Iterator[tuple[str, Section]]:
        """Yield the entries that are mappings, by name."""
        for key, value in self._data.items():
            if isinstance(value, Mapping):
                yield key, Section(f"{self.where}.{key}", value)

    def text(self, key: str) -> str:
        """Return a text."""
        value = self._given(key, _NEEDED)
        return value if isinstance(value, str) else self._refuse(key, "a text", value)

    def number(self, key: str, rest: Any = _NEEDED) -> float:
        """Return a finite number. `rest` replaces a missing entry."""
        value = self._given(key, rest)
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not right or abs(value) > 1e18 or not math.isfinite(value):
            self._refuse(key, "a finite number", value)
        return float(value)

    def whole(self, key: str) -> int:
        """Return a whole number."""
        value = self.number(key)
        return int(value) if value.is_integer() else self._refuse(key, "a whole number", value)

    def numbers(self, key: str, count: int) -> Any:
        """Return a tuple of `count` numbers."""
        value = self._given(key, _NEEDED)
        if not isinstance(value, list) or len(value) != count:
            self._refuse(key, f"a list of {count} numbers", value)
        inside = Section(f"{self.where}.{key}", {str(k): one for k, one in enumerate(value)})
        return tuple(inside.number(str(k)) for k in range(count))

    def pair(self, key: str) -> tuple[float, float]:
        """Return two numbers."""
        return self.numbers(key, 2)

    def names(self, key: str) -> tuple[str, ...]:
        """Return names, from one name or a list of names."""
        value = self._given(key, _NEEDED)
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            self._refuse(key, "a name or a list of names", value)
        return tuple(listed)

    def _given(self, key: str, rest: Any) -> Any:
        value = self._data.get(key)
        if value is not None:
            return value
        if rest is _NEEDED:
            raise StateError(f"{self.where}: the entry {key!r} is missing")
        return rest

    def _refuse(self, key: str, needed: str, value: Any) -> Any:
        raise StateError(f"{self.where}.{key}: should be {needed}, got {shown_value(value)}")
