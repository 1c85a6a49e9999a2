# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Passing a scene to kernels by reference.

A named tuple of a hundred arrays consists of 5 kB of addresses and sizes. A call by value copies
all of these words, and the compiler handles each word in every function. A `Reference` is the
address of the same words in memory. A kernel reads the fields that it uses, with the syntax of the
tuple (hrpsim.engine.compile.reference_type).
"""

from __future__ import annotations

from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from hrpsim.engine.compile.kinds import kind_of, text_of


class ReferenceKind:
    """The kind of a named tuple that is passed by reference, which selects machine code.

    Tuples of equal kinds share one object.
    """

    def __init__(self, kind: tuple) -> None:
        self._kind = kind

    @cached_property
    def _text(self) -> str:
        return f"Reference{text_of(self._kind)}"

    def __str__(self) -> str:
        return self._text


_Whole = TypeVar("_Whole", bound=tuple)


class TupleReference(Generic[_Whole]):
    """Argument by which Python passes a named tuple of arrays, or of such tuples, to a kernel.

    A reference keeps its arrays alive. A tuple with other arrays needs another reference.
    """

    def __init__(self, whole: _Whole, previous: TupleReference | None = None) -> None:
        """Refer to a tuple.

        previous: reference that shares most arrays with the new reference, which saves work.
        """
        self.whole = whole
        self._arrays = _arrays_of(whole)
        known = previous._arrays if previous is not None else [None] * len(self._arrays)
        same = [new is old for new, old in zip(self._arrays, known, strict=True)]
        self._parts = [
            previous._parts[k] if same[k] else _words_of(array)
            for k, array in enumerate(self._arrays)
        ]
        self._words = np.array([word for part in self._parts for word in part], dtype=np.uint64)
        self.address, self.nbytes = self._words.ctypes.data, self._words.nbytes
        self.kind_for_kernels = (
            previous.kind_for_kernels
            if previous is not None and self._is_like(previous, same)
            else _interned(kind_of(whole))
        )

    def _is_like(self, previous: TupleReference, same: list[bool]) -> bool:
        """Return whether the tuple has the same kind as the tuple of `previous`.

        same: whether each array is the same object in both tuples.
        """
        pairs = zip(self._arrays, previous._arrays, same, strict=True)
        return type(self.whole) is type(previous.whole) and all(
            is_same or kind_of(new) == kind_of(old) for new, old, is_same in pairs
        )


_kinds: dict[tuple, ReferenceKind] = {}


def _interned(kind: tuple) -> ReferenceKind:
    if kind not in _kinds:
        _kinds[kind] = ReferenceKind(kind)
    return _kinds[kind]


def _arrays_of(whole) -> list[np.ndarray]:
    """Return the arrays of a tuple of arrays, or of such tuples, in order."""
    if isinstance(whole, tuple):
        return [array for field in whole for array in _arrays_of(field)]
    return [whole]


def _words_of(array: np.ndarray) -> list[int]:
    """Return numba's words for an array: null owner, sizes, address, shape, strides."""
    return [0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides]
