# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Handing over a scene to kernels by reference.

By value, a named tuple of a hundred arrays is 5 kB of addresses and sizes, copied at every call and
handled one by one in every function that the compiler sees. A `Reference` is the address of the
same words in memory; kernels read the fields that they use, with the syntax of the tuple.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)


class Reference:
    """What Python hands to a kernel for a named tuple of arrays, or of such tuples.

    It keeps the arrays alive; it is about these arrays, so that a tuple with others needs another.
    """

    def __init__(self, whole: tuple, previous: Reference | None = None):
        """Refer to a tuple; `previous` saves work where most arrays are those of another one."""
        self.whole = whole
        self._arrays = _arrays_of(whole)
        known = previous._arrays if previous is not None else [None] * len(self._arrays)
        same = [new is old for new, old in zip(self._arrays, known, strict=True)]
        self._parts = [
            previous._parts[k] if same[k] else _words_of(array)
            for k, array in enumerate(self._arrays)
        ]
        self._words = np.array([word for part in self._parts for word in part], dtype=np.uint64)
        self.address = self._words.ctypes.data
        self.numba_type = _type_for(whole, self._arrays)


_found: dict[type, tuple[tuple, ReferenceType]] = {}  # what tuples of a class were last


def _type_for(whole: tuple, arrays: list[np.ndarray]) -> ReferenceType:
    """Return numba's type, which it takes milliseconds to find, once for tuples that are alike."""
    kind = (_classes_of(whole), [_kind_of(array) for array in arrays])
    known, found = _found.get(type(whole), (None, None))
    if kind != known:
        found = ReferenceType(numba.typeof(whole))
        _found[type(whole)] = kind, found
    return found


def _classes_of(whole) -> tuple:
    """Return the classes of a tuple and of the tuples in it."""
    return type(whole), *(_classes_of(field) for field in whole if isinstance(field, tuple))


def _arrays_of(whole) -> list[np.ndarray]:
    """Return the arrays of a tuple of arrays, or of such tuples, in order."""
    if isinstance(whole, tuple):
        return [array for field in whole for array in _arrays_of(field)]
    return [whole]


def _words_of(array: np.ndarray) -> list[int]:
    """Return numba's representation of an array: no owner, sizes, address, shape, strides."""
    return [0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides]


def _kind_of(array: np.ndarray) -> tuple:
    """Return what numba's type of an array depends on."""
    flags = array.flags
    return array.dtype, array.ndim, flags.c_contiguous, flags.writeable, flags.aligned


class ReferenceType(types.Type):
    """numba's type of a `Reference`."""

    def __init__(self, whole: types.BaseNamedTuple):
        self.whole = whole
        super().__init__(name=f"Reference({whole})")

    @property
    def key(self):
        """What makes two of these types equal."""
        return self.whole

    def type_of(self, field: str):
        """Return the type of a field of the tuple."""
        return self.whole.types[self.whole.fields.index(field)]


@typeof_impl.register(Reference)
def _type_of_reference(reference, context):
    return reference.numba_type


@register_model(ReferenceType)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, reference_type):
        whole = manager.lookup(reference_type.whole).get_value_type()
        super().__init__(manager, reference_type, whole.as_pointer())


@unbox(ReferenceType)
def _unbox_reference(reference_type, reference, c):
    address = c.pyapi.object_getattr_string(reference, "address")
    pointer = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    return NativeValue(
        c.builder.bitcast(pointer, c.context.get_value_type(reference_type)),
        is_error=c.pyapi.c_api_error(),
    )


@infer_getattr
class _ReferenceAttribute(AttributeTemplate):
    key = ReferenceType

    def generic_resolve(self, reference_type, field):
        if field in reference_type.whole.fields:
            return reference_type.type_of(field)
        return None


@lower_getattr_generic(ReferenceType)
def _read_field(context, builder, reference_type, pointer, field):
    return load_field(builder, reference_type, pointer, field)


def load_field(builder, reference_type, pointer, field: str):
    """Emit the reading of a field: the representation of an array or a tuple of arrays."""
    index = reference_type.whole.fields.index(field)
    return _load(builder, cgutils.gep_inbounds(builder, pointer, 0, index))


def _load(builder, pointer):
    """Read a struct field by field: LLVM is slow at large ones in one piece."""
    pointee = pointer.type.pointee
    if not isinstance(pointee, ir.BaseStructType):
        return builder.load(pointer)
    value = ir.Constant(pointee, ir.Undefined)
    for k in range(len(pointee.elements)):
        field = _load(builder, cgutils.gep_inbounds(builder, pointer, 0, k))
        value = builder.insert_value(value, field, k)
    return value
