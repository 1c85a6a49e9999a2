# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kinds: descriptions of argument types that select a kernel's machine code without numba.

Two arguments of one kind have the same type for numba. Kinds are compared and hashed quickly. The
text of a kind is the same in every process, and is part of the file name of machine code.
"""

import functools
from typing import Any

import numpy as np

_C, _F = 0x1, 0x2
_TYPED = _C | _F | 0x100 | 0x400  # flags of an array: contiguous, aligned, writeable
_SCALARS = {
    bool: "bool",
    np.bool_: "bool",
    int: "int64",
    np.int64: "int64",
    float: "float64",
    np.float64: "float64",
}


def kind_of(value) -> Any:
    """Return the kind of an argument. Raise TypeError for arguments that kernels do not take."""
    cls = type(value)
    if cls is np.ndarray:
        flags = value.flags.num & _TYPED
        return value.dtype, value.ndim, flags & ~_F if flags & _C else flags
    if cls in _SCALARS:
        return _SCALARS[cls]
    kind = getattr(value, "kind_for_kernels", None)
    if kind is not None:
        return kind
    if isinstance(value, tuple):
        return (cls, *map(kind_of, value))
    if cls is np.void:
        return value.dtype
    raise TypeError(f"kernels take arrays, records, tuples, int, float and bool, not {cls}")


def text_of(kind) -> str:
    """Return the text form of a kind, which is the same in every process."""
    if isinstance(kind, tuple):
        return f"({' '.join(map(text_of, kind))})"
    if isinstance(kind, np.dtype):
        return _text_of_dtype(kind)
    if isinstance(kind, type):
        return f"{kind.__module__}.{kind.__qualname__}{getattr(kind, '_fields', '')}"
    return str(kind)


@functools.cache
def _text_of_dtype(dtype: np.dtype) -> str:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"{_text_of_dtype(base)}{shape}"
    if dtype.fields is None:
        return dtype.str
    fields = (f"{n}@{dtype.fields[n][1]}:{_text_of_dtype(dtype.fields[n][0])}" for n in dtype.names)
    return f"[{' '.join(fields)}]{dtype.itemsize}{'a' if dtype.isalignedstruct else ''}"
