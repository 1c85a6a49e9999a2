# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A mapping of a configuration file. Errors name the file and the entry."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from hrpsim.common.errors import StateError, shown_value

_NEEDED = object()


class Section:
    """A mapping of a configuration file, which records the entries that are read.

    Args:
        where: file and path of the mapping, for errors.
        data: the mapping.
        read: paths of entries that have been read. All sections of a file share this set.

    Raises:
        StateError: `data` is not a mapping with names as keys.
    """

    def __init__(self, where: str, data: Any, read: set[str] | None = None) -> None:
        if not isinstance(data, Mapping) or not all(isinstance(key, str) for key in data):
            raise StateError(
                f"{where}: must be a mapping with names as keys, got {shown_value(data)}"
            )
        self.where, self._data = where, data
        self._read: set[str] = set() if read is None else read

    def __contains__(self, key: str) -> bool:
        return key in self._data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def has(self, key: str) -> bool:
        """Return whether an entry exists and is not null."""
        return self._data.get(key) is not None

    def is_section(self, key: str) -> bool:
        """Return whether an entry is a mapping."""
        return isinstance(self._data.get(key), Mapping)

    def peek(self, key: str) -> Any:
        """Return an entry as `get` does, without marking the entry as read."""
        return self._data.get(key)

    def get(self, key: str) -> Any:
        """Return an entry, or None if the entry is missing or null."""
        self._read.add(f"{self.where}.{key}")
        return self._data.get(key)

    def whole(self, key: str) -> Any:
        """Return an entry with everything below, or None. Mark everything as read."""
        self._read.update(place for place, _ in _leaves(f"{self.where}.{key}", self.get(key)))
        return self.get(key)

    def section(self, key: str, rest: Any = _NEEDED) -> Section:
        """Return an entry that is a mapping. The default for a missing entry is `rest`."""
        value = self._data.get(key)
        data = rest if value is None and rest is not _NEEDED else value
        if data is None:
            self._miss(key)
        return Section(f"{self.where}.{key}", data, self._read)

    def sections(self) -> Iterator[tuple[str, Section]]:
        """Yield the entries that are mappings, by name."""
        for key, value in self._data.items():
            if isinstance(value, Mapping):
                yield key, Section(f"{self.where}.{key}", value, self._read)

    def parts(self, key: str) -> list[Section]:
        """Return the mappings of an entry, which is one mapping or a list of mappings."""
        data = self._data.get(key)
        if isinstance(data, Mapping):
            return [part for _, part in self.section(key).sections()]
        if not isinstance(data, list):
            self._refuse(key, "a mapping or a list", data)
        place = f"{self.where}.{key}"
        return [Section(f"{place}[{k}]", part, self._read) for k, part in enumerate(data)]

    def pass_over(self) -> None:
        """Mark all entries of this section as read."""
        self._read.update(place for place, _ in _leaves(self.where, self._data))

    def unread(self) -> Iterator[tuple[str, Any]]:
        """Yield path and value of each entry that was not read.

        A mapping or list of mappings is represented by its entries. Empty values are skipped: null,
        lists of null, and empty lists and mappings.
        """
        for place, value in _leaves(self.where, self._data):
            if place not in self._read:
                yield place.removeprefix(f"{self.where}."), value

    def read(self) -> Iterator[str]:
        """Yield the paths of the entries below this section that were read."""
        start = f"{self.where}."
        return (place.removeprefix(start) for place in self._read if place.startswith(start))

    def text(self, key: str) -> str:
        """Return an entry as a text."""
        value = self._entry(key, _NEEDED)
        return value if isinstance(value, str) else self._refuse(key, "a text", value)

    def number(self, key: str, rest: Any = _NEEDED) -> float:
        """Return an entry as a finite number. The default for a missing entry is `rest`."""
        value = self._entry(key, rest)
        right = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not right or abs(value) > 1e18 or not math.isfinite(value):
            self._refuse(key, "a finite number", value)
        return float(value)

    def whole_number(self, key: str) -> int:
        """Return an entry as a whole number."""
        value = self.number(key)
        return int(value) if value.is_integer() else self._refuse(key, "a whole number", value)

    def numbers(self, key: str, count: int) -> Any:
        """Return an entry as a tuple of `count` numbers."""
        value = self._entry(key, _NEEDED)
        if not isinstance(value, list) or len(value) != count:
            self._refuse(key, f"a list of {count} numbers", value)
        inside = Section(f"{self.where}.{key}", {str(k): number for k, number in enumerate(value)})
        return tuple(inside.number(str(k)) for k in range(count))

    def pair(self, key: str) -> tuple[float, float]:
        """Return an entry as two numbers."""
        return self.numbers(key, 2)

    def names(self, key: str) -> tuple[str, ...]:
        """Return an entry, which is a name or a list of names, as a list of names."""
        value = self._entry(key, _NEEDED)
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            self._refuse(key, "a name or a list of names", value)
        return tuple(listed)

    def _entry(self, key: str, rest: Any) -> Any:
        value = self.get(key)
        if value is None and rest is _NEEDED:
            self._miss(key)
        return rest if value is None else value

    def _miss(self, key: str) -> NoReturn:
        raise StateError(f"{self.where}: the entry {key!r} is missing")

    def _refuse(self, key: str, needed: str, value: Any) -> NoReturn:
        raise StateError(f"{self.where}.{key}: must be {needed}, got {shown_value(value)}")


def _leaves(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each entry below a path. Mappings and empty values are left out."""
    if isinstance(value, Mapping):
        for key, child in value.items():
            yield from _leaves(f"{place}.{key}", child)
    elif isinstance(value, list) and any(isinstance(child, Mapping) for child in value):
        for k, child in enumerate(value):
            yield from _leaves(f"{place}[{k}]", child)
    elif value is not None and value != "" and not _is_empty(value):
        yield place, value


def _is_empty(value: Any) -> bool:
    return isinstance(value, list) and all(item is None for item in value)
