# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Pickles with a checksum. A damaged pickle is refused before any use.

The checksum finds damage, not forgery. Loading a pickle runs its code, so the source must be
trusted.
"""

from __future__ import annotations

import io
import pickle
import zlib
from copy import deepcopy
from typing import Any, ClassVar, TypeVar

from hrpsim.common.errors import WorldError

_Object = TypeVar("_Object")
_PROTOCOL = 4  # the lowest of all supported versions of Python
_CHECKSUM = 4  # bytes
_STOP = b"\xff" * 16  # no instructions: here pickle stops if it takes the content for some


class Plain:
    """Base class of objects that become parts of a sealed object.

    Such a part is pickled by its attributes. A separate object is pickled by its own method.
    """

    def __deepcopy__(self: _Object, memo: dict[int, Any]) -> _Object:
        return plain_copy(self, memo)


class Sealed(Plain):
    """Base class of objects that are pickled as bytes with a checksum."""

    _kind: ClassVar[str] = "object"  # name in error messages

    def _saved_format(self) -> object:
        """Return an object whose unpickling raises an error for data of another version."""
        return None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Pickle the object with a checksum."""
        return sealed(self._kind, self._saved_format(), self)


class _Pickler(pickle.Pickler):
    """Pickles objects of the class `Plain` by their attributes, not by their own method."""

    def reducer_override(self, one: Any) -> Any:
        return plain_parts(one) if isinstance(one, Plain) else NotImplemented


def plain_parts(one: Any) -> Any:
    """Return the default value of `__reduce_ex__`, which restores an object from its attributes."""
    return object.__reduce_ex__(one, _PROTOCOL)


def plain_copy(one: _Object, memo: dict[int, Any]) -> _Object:
    """Return a deep copy of an object, made from its attributes."""
    made = type(one).__new__(type(one))
    memo[id(one)] = made
    state = deepcopy(plain_parts(one)[2], memo)
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made


def sealed(kind: str, form: object, one: Any) -> tuple[Any, ...]:
    """Return the value of `__reduce__` that pickles an object as bytes with a checksum.

    As little as possible is stored outside of these bytes. Pickle does not detect damage there, and
    a changed number can make pickle allocate any amount of memory.

    Args:
        kind: name of the object in error messages.
        form: unpickled before the object. Unpickling `form` raises an error for another version.
        one: the object.
    """
    file = io.BytesIO()
    for part in (form, one):
        _Pickler(file, _PROTOCOL).dump(part)
    return _opened, (kind, _closed(file.getvalue()))


def _closed(content: bytes) -> bytes:
    return _STOP + content + zlib.crc32(content).to_bytes(_CHECKSUM, "big") + _STOP


def _opened(kind: str, given: bytes) -> Any:
    content = given[len(_STOP) : -len(_STOP) - _CHECKSUM] if isinstance(given, bytes) else b""
    if given != _closed(content):
        raise WorldError(
            f"the pickled {kind} is damaged: the checksum does not match. Save the {kind} again"
        )
    file = io.BytesIO(content)
    pickle.load(file)  # the format
    return pickle.load(file)
