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
from collections.abc import Callable
from copy import deepcopy
from typing import Any, TypeVar

from hrpsim.common.errors import WorldError

_Object = TypeVar("_Object")
_PROTOCOL = 4  # the lowest of all supported versions of Python


class _Pickler(pickle.Pickler):
    """Pickles some objects by attributes, instead of by a method of the objects."""

    def __init__(self, file: io.BytesIO, is_plain: Callable[[Any], bool]) -> None:
        super().__init__(file, _PROTOCOL)
        self._is_plain = is_plain

    def reducer_override(self, one: Any) -> Any:
        return plain_parts(one) if self._is_plain(one) else NotImplemented


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


def sealed(
    what: str, form: object, one: Any, is_plain: Callable[[Any], bool] = lambda _: False
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return the value of `__reduce__` that pickles an object as bytes with a checksum.

    Args:
        what: name of the object in error messages.
        form: unpickled before the object. Unpickling `form` raises an error for another version.
        one: the object.
        is_plain: returns whether to pickle an object by attributes, not by the object's method.
    """
    file = io.BytesIO()
    _Pickler(file, is_plain).dump(one)
    content = file.getvalue()
    return _opened, (what, form, zlib.crc32(content), content)


def _opened(what: str, form: object, checksum: int, content: bytes) -> Any:
    if not isinstance(content, bytes) or zlib.crc32(content) != checksum:
        raise WorldError(
            f"the pickled {what} is damaged: the checksum does not match. Save the {what} again"
        )
    return pickle.loads(content)
