# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Numba's type of a `Reference`. This module is imported only to compile kernels."""

from __future__ import annotations

import hashlib

import numba
from llvmlite import ir
from numba import types
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

from hrpsim.engine.compile.reference import TupleReference

_WORD = ir.IntType(64)
_WITH_OWNER = 2  # words of an array before those that kernels need: its owner, as two kinds have it
_BEFORE_SHAPE = 5
_ITEM_SIZE, _STRIDES = 3, 6  # which parts of numba's representation of an array these are

_types: dict = {}  # by kind


def type_for(reference: TupleReference) -> ReferenceType:
    """Return numba's type of a reference. Types are cached, because each takes milliseconds."""
    kind = reference.kind_for_kernels
    if kind not in _types:
        _types[kind] = ReferenceType(numba.typeof(reference.whole))
    return _types[kind]


class ReferenceType(types.Type):
    """numba's type of a `Reference`."""

    def __init__(self, whole: types.BaseNamedTuple) -> None:
        self.whole = whole
        self._hash = hash(whole)  # once: that of a scene reads every field of every record
        digest = hashlib.sha256(str(whole).encode()).hexdigest()[:16]
        super().__init__(name=f"TupleReference({whole.instance_class.__name__} {digest})")
        self.types, self.offsets = {}, {}  # of the fields; [words]
        offset = 0
        for field, kind in zip(whole.fields, whole.types, strict=True):
            is_part = isinstance(kind, types.BaseNamedTuple)
            self.types[field] = ReferenceType(kind) if is_part else kind
            self.offsets[field] = offset
            offset += _words_in(kind)

    @property
    def key(self):
        """The key by which two types of references are compared."""
        return self.whole

    def __hash__(self):
        return self._hash


def _words_in(kind) -> int:
    """Return the number of words of a tuple or array (hrpsim.engine.compile.reference)."""
    if isinstance(kind, types.BaseNamedTuple):
        return sum(map(_words_in, kind.types))
    return _BEFORE_SHAPE + 2 * kind.ndim


@typeof_impl.register(TupleReference)
def _type_of_reference(reference, context):
    return type_for(reference)


@register_model(ReferenceType)
class _ReferenceModel(models.PrimitiveModel):
    def __init__(self, manager, reference_type) -> None:
        # Not to a struct: the text of a scene's is 10 000 letters, and each use repeats it.
        super().__init__(manager, reference_type, _WORD.as_pointer())


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
        return reference_type.types.get(field)


@lower_getattr_generic(ReferenceType)
def _read_field(context, builder, reference_type, pointer, field):
    """Emit code that reads a field: the value of an array, or the address of an inner tuple."""
    part = builder.gep(pointer, [_WORD(reference_type.offsets[field])], inbounds=True)
    kind = reference_type.types[field]
    return part if isinstance(kind, ReferenceType) else _read_array(context, builder, kind, part)


def _read_array(context, builder, kind, words):
    """Emit code that reads an array word by word, because LLVM is slow at whole structs.

    If the array is contiguous, item size and last stride are constants, which compile faster.
    """
    value_type = context.get_value_type(kind)
    value = ir.Constant(value_type, None)  # without an owner
    size = ir.Constant(_WORD, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    follows = {}
    if kind.layout == "C":
        follows[_ITEM_SIZE,] = follows[_STRIDES, kind.ndim - 1] = size
    for k, (number, word_type) in enumerate(_parts_of(value_type)):
        if number[0] < _WITH_OWNER:
            continue
        word = follows.get(number)
        if word is None:
            part = builder.gep(words, [_WORD(k)], inbounds=True)
            word = builder.load(builder.bitcast(part, word_type.as_pointer()))
            # References never change: they need not be read again after a write.
            word.set_metadata("invariant.load", builder.module.add_metadata([]))
        value = builder.insert_value(value, word, number)
    return value


def _parts_of(value_type):
    """Yield (index, type) of each word of an array's struct.

    The index has two numbers for an entry of shape or strides, and one number for other words.
    """
    for k, element in enumerate(value_type.elements):
        if isinstance(element, ir.ArrayType):
            yield from (((k, j), element.element) for j in range(element.count))
        else:
            yield (k,), element
