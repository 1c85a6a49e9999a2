# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Numba's type of a `Reference`, needed only where kernels are compiled."""

from __future__ import annotations

import numba
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

from hrpsim.jit.reference import Reference

_types: dict = {}  # by kind


def type_for(reference: Reference) -> ReferenceType:
    """Return the type of a reference, which it takes milliseconds to find, once for each kind."""
    kind = reference.kind_for_kernels
    if kind not in _types:
        _types[kind] = ReferenceType(numba.typeof(reference.whole))
    return _types[kind]


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
