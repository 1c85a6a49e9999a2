# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Types of messages as defined in a bag, and decoding of messages. Needs no ROS.

A definition is data. A strict grammar parses the definition into a table of fields. One decoder
follows the table. No code is generated. (Bytes: XCDR version 1 of DDS-XTypes 1.3, section 7.4.3.)
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common import limits

_NUMBERS = {  # name in a definition: letter of struct
    "bool": "?",
    "byte": "B",
    "char": "B",
    "int8": "b",
    "uint8": "B",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "uint64": "Q",
    "float32": "f",
    "float64": "d",
}
_SEPARATOR = "=" * 80
_NAME = r"[A-Za-z][A-Za-z0-9_]*"
_TYPE = re.compile(rf"({_NAME})/(?:{_NAME}/)?({_NAME})")
_FIELD = re.compile(
    rf"\s*(?P<type>{_NAME}(?:/{_NAME}){{0,2}})(?P<text><=\d{{1,9}})?"
    rf"(?:\[(?P<bound><=)?(?P<size>\d{{1,9}})?\](?!\S))?"
    rf"[ \t]+(?P<name>{_NAME})(?P<rest>\s*=.*|\s.*|)"
)
_IGNORED = re.compile(r"\s*(?:#.*|@[a-z]+\b.*)?")
_OF_ROS_1 = {
    "time": "builtin_interfaces/msg/Time",
    "duration": "builtin_interfaces/msg/Duration",
    "Header": "std_msgs/msg/Header",
}


class MessageField(NamedTuple):
    """A field of a message type."""

    name: str
    kind: str  # a number's letter of struct, "string", or the name of a type
    # None: one value. 0: a sequence. Otherwise the length of an array. Tuples have a method named
    # `count`.
    count: int | None  # type: ignore[assignment]


Types = dict[str, tuple[MessageField, ...]]


@lru_cache(maxsize=64)
def read_types(definition: str, name: str) -> Types:
    """Return the fields of the type `name` and of all types that it contains.

    `definition` has the format of bags: the text of the type, then the texts of the contained
    types. Each contained type is below a line of 80 "=" and "MSG: package/Name". An invalid
    definition raises ValueError, which names the line.
    """
    if len(definition) > limits.BAG_DEFINITION:
        raise ValueError(f"it has {limits.excess('BAG_DEFINITION', 'characters')}")
    types: Types = {}
    fields: list[MessageField] = []
    of, expects_header = _full_name(name), False
    for number, line in enumerate(definition.split("\n"), 1):
        line = line.rstrip("\r")
        if expects_header:
            of, expects_header = _contained_type(line, number), False
        elif line == _SEPARATOR:
            types.setdefault(of, tuple(fields))
            fields, expects_header = [], True
        elif not _IGNORED.fullmatch(line):
            if (field := _read_field(line, number, of)) is not None:
                if any(field.name == other.name for other in fields):
                    raise ValueError(f"line {number}: the field {field.name!r} exists already")
                fields.append(field)
    types.setdefault(of, tuple(fields))
    if len(types) > limits.BAG_TYPES:
        raise ValueError(f"it has {limits.excess('BAG_TYPES', 'types')}")
    _check_within(types, _full_name(name), ())
    return types


def _contained_type(line: str, number: int) -> str:
    """Return the full name in the line above the text of a contained type."""
    if not line.startswith("MSG: "):
        raise ValueError(f"line {number}: must be 'MSG: package/Name', got {line[:80]!r}")
    return _full_name(line[5:].rstrip())


def _full_name(name: str) -> str:
    if not (match := _TYPE.fullmatch(name)):
        raise ValueError(f"{name[:80]!r} is not the name of a message type")
    return f"{match[1]}/msg/{match[2]}"


def _kind(name: str, of: str) -> str:
    """Return the full name of the type of a field, which a message of type `of` contains."""
    if name == "string" or name in _NUMBERS:
        return _NUMBERS.get(name, name)
    kind = _OF_ROS_1.get(name, name)
    return _full_name(kind if "/" in kind else f"{of.split('/')[0]}/{kind}")


def _read_field(line: str, number: int, of: str) -> MessageField | None:
    """Return the field of a line, or None for a constant."""
    match = _FIELD.fullmatch(line)
    if not match:
        raise ValueError(f"line {number}: {line[:80]!r} is not a field")
    kind, size = _kind(match["type"], of), match["size"]
    is_array = "[" in line[: match.start("name")]
    if match["rest"].lstrip().startswith("=") and not is_array:
        return None
    if match["text"] and kind != "string":
        raise ValueError(f"line {number}: only a string can have the bound {match['text']}")
    if not is_array:
        return MessageField(match["name"], kind, None)
    if match["bound"] or size is None:
        return MessageField(match["name"], kind, 0)
    if not 1 <= int(size) <= limits.BAG_ARRAY:
        raise ValueError(
            f"line {number}: an array must have 1 to {limits.BAG_ARRAY} elements (limit BAG_ARRAY "
            f"in hrpsim.common.limits), got {size}"
        )
    return MessageField(match["name"], kind, int(size))


def _check_within(
    types: Types, name: str, above: tuple[str, ...], checked: set | None = None
) -> None:
    """Raise ValueError for undefined types, and for types that contain themselves."""
    checked = set() if checked is None else checked
    if name in above:
        raise ValueError(f"{name} contains itself")
    if len(above) > limits.BAG_DEPTH:
        raise ValueError(limits.excess("BAG_DEPTH", "nested types"))
    if name not in types:
        raise ValueError(f"{name} is not defined")
    if name in checked:
        return
    for field in types[name]:
        if "/" in field.kind:
            _check_within(types, field.kind, (*above, name), checked)
    checked.add(name)


def decode(types: Types, name: str, data: bytes) -> Any:
    """Return a message of the type `name`. Fields are attributes, sequences of numbers are arrays.

    Bytes after the end of the message are ignored, as in ROS's middlewares. Such bytes come from
    publishers of serialised messages that trust the length of rmw_serialize. Raises ValueError,
    struct.error or IndexError if `data` is no such message.
    """
    if len(data) < 4 or data[0] != 0 or data[1] > 1:
        raise ValueError("it does not begin with a header of CDR")
    return _Decoder(types, data[4:], "<" if data[1] else ">").message(_full_name(name))


class _Decoder:
    """Reads values in sequence. Each value is aligned to a multiple of its size."""

    def __init__(self, types: Types, data: bytes, order: str) -> None:
        self._types, self._data, self._order = types, data, order
        self._offset = self._made = 0
        self._readers = _READERS[order]

    def message(self, name: str) -> SimpleNamespace:
        """Return the next message of a type, with the fields as attributes."""
        self._count(1)
        made = SimpleNamespace()
        fields = self._types[name]
        for field, kind, count in fields:
            if count is None:
                value = self._element(kind)
            else:
                value = self._several(kind, count or self._number("I"))
            setattr(made, field, value)
        if not fields:
            self._number("B")  # a structure needs at least one member
        return made

    def _element(self, kind: str) -> Any:
        if len(kind) == 1:
            return self._number(kind)
        return self._text() if kind == "string" else self.message(kind)

    def _several(self, kind: str, count: int) -> Any:
        if len(kind) == 1:
            if not count:
                return np.zeros(0, self._order + kind)
            size = self._readers[kind].size
            offset = self._offset = self._offset + -self._offset % size
            self._offset += count * size
            if self._offset > len(self._data):
                raise ValueError(f"the message ends before {count} numbers")
            return np.frombuffer(self._data, self._order + kind, count, offset)
        if count > len(self._data) - self._offset:  # none is smaller than a byte
            raise ValueError(f"the message ends before {count} elements")
        self._count(count)
        return [self._element(kind) for _ in range(count)]

    def _number(self, kind: str) -> Any:
        reader = self._readers[kind]
        offset = self._offset + -self._offset % reader.size
        self._offset = offset + reader.size
        return reader.unpack_from(self._data, offset)[0]

    def _text(self) -> str:
        end = self._number("I") + self._offset
        if end > len(self._data):
            raise ValueError("a string is incomplete")
        content = self._data[self._offset : end]
        self._offset = end
        return content.removesuffix(b"\0").decode()

    def _count(self, more: int) -> None:
        self._made += more
        if self._made > limits.BAG_VALUES:
            raise ValueError(f"it has {limits.excess('BAG_VALUES', 'texts and messages')}")


_READERS = {
    order: {kind: struct.Struct(order + kind) for kind in _NUMBERS.values()} for order in "<>"
}
