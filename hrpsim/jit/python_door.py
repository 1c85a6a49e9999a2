# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A kernel as Python calls it: a function of Python's C interface around that of numba.

It reads numbers and addresses out of Python's objects, gives the lock of Python's away while the
kernel runs, and makes an object of what that returns. It looks at no types: kinds of arguments are
compared where the kernel is looked up.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils

from hrpsim.jit.reference_type import ReferenceType

_INTEGER, _LONG, _REAL = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_POINTER = ir.IntType(8).as_pointer()
_NOTHING = ir.VoidType()
_SYMBOL = "hrpsim_call"

# Where numpy's objects have, behind Python's head, what its C interface promises.
_HEAD = object.__basicsize__
_DATA, _SHAPE, _STRIDES = _HEAD, _HEAD + 16, _HEAD + 24  # of an array
_RECORD = _HEAD + 8  # the address of a record, behind the size of an object of variable size


def door(context, description, arguments: tuple) -> tuple[str, str]:
    """Return LLVM's text of a kernel's door, and its symbol.

    context: numba's for the processor; description: numba's of the compiled function; arguments:
    like those it was compiled for. TypeError for what cannot be handed over.
    """
    module = context.create_module(_SYMBOL)
    kind = ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _LONG])
    function = ir.Function(module, kind, _SYMBOL)
    builder = ir.IRBuilder(function.append_basic_block())
    _, objects, count = function.args

    with builder.if_then(builder.icmp_signed("!=", count, _LONG(len(arguments)))):
        _call(builder, _INTEGER, "PyErr_BadArgument")
        builder.ret(_POINTER(None))
    values = []
    for k, (argument_type, example) in enumerate(zip(description.argtypes, arguments, strict=True)):
        given = builder.load(builder.gep(objects, [_LONG(k)]))
        values.append(_unboxed(context, builder, argument_type, given, example))
    error = _call(builder, _POINTER, "PyErr_Occurred")
    with builder.if_then(cgutils.is_not_null(builder, error)):
        builder.ret(_POINTER(None))

    convention = context.call_conv
    kind = convention.get_function_type(description.restype, description.argtypes)
    callee = ir.Function(module, kind, description.llvm_func_name)
    state = _call(builder, _POINTER, "PyEval_SaveThread")
    status, result = convention.call_function(
        builder, callee, description.restype, description.argtypes, values
    )
    _call(builder, _NOTHING, "PyEval_RestoreThread", state)
    with builder.if_then(status.is_error):  # which kernels do not
        _call(builder, _NOTHING, "PyErr_BadInternalCall")
        builder.ret(_POINTER(None))
    builder.ret(_boxed(builder, description.restype, result))
    return str(module), _SYMBOL


def _unboxed(context, builder, kind, given, example):
    """Return numba's representation of an object of Python's."""
    if kind == types.int64:
        return _call(builder, _LONG, "PyLong_AsLongLong", given)
    if kind == types.float64:
        return _call(builder, _REAL, "PyFloat_AsDouble", given)
    if kind == types.boolean:
        truth = _call(builder, _INTEGER, "PyObject_IsTrue", given)
        return builder.icmp_signed("!=", truth, _INTEGER(0))
    if isinstance(kind, ReferenceType):
        return _referred(context, builder, kind, given)
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, given, example)
    if isinstance(kind, types.Record):
        address = _read(builder, given, _RECORD, _POINTER)
        return builder.bitcast(address, context.get_value_type(kind))
    if isinstance(kind, types.BaseTuple):
        parts = [
            _unboxed(
                context,
                builder,
                part,
                _call(builder, _POINTER, "PyTuple_GetItem", given, _LONG(k)),
                e,
            )
            for k, (part, e) in enumerate(zip(kind.types, example, strict=True))
        ]
        return context.make_tuple(builder, kind, parts)
    raise TypeError(f"kernels that Python calls take no {kind}")


def _referred(context, builder, kind, given):
    name = cgutils.global_constant(
        builder, "address", cgutils.make_bytearray(b"address\0"), linkage="internal"
    )
    name = builder.bitcast(name, _POINTER)
    number = _call(builder, _POINTER, "PyObject_GetAttrString", given, name)
    address = _call(builder, _POINTER, "PyLong_AsVoidPtr", number)
    _call(builder, _NOTHING, "Py_DecRef", number)
    return builder.bitcast(address, context.get_value_type(kind))


def _array(context, builder, kind, given, example: np.ndarray):
    array = context.make_array(kind)(context, builder)
    size = _LONG(1)
    sides = {}
    for what, place in {"shape": _SHAPE, "strides": _STRIDES}.items():
        first = _read(builder, given, place, _LONG.as_pointer())
        sides[what] = [builder.load(builder.gep(first, [_LONG(k)])) for k in range(kind.ndim)]
    for side in sides["shape"]:
        size = builder.mul(size, side)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    array.nitems, array.itemsize = size, _LONG(example.itemsize)
    array.data = builder.bitcast(_read(builder, given, _DATA, _POINTER), array.data.type)
    for what, values in sides.items():
        setattr(array, what, cgutils.pack_array(builder, values, ty=_LONG))
    return array._getvalue()


def _boxed(builder, kind, value):
    """Return an object of Python's for numba's representation of a result."""
    if kind in (types.int64, types.uint64) or isinstance(kind, types.IntegerLiteral):
        return _call(builder, _POINTER, "PyLong_FromLongLong", value)
    if kind == types.float64:
        return _call(builder, _POINTER, "PyFloat_FromDouble", value)
    if kind == types.boolean:
        return _call(builder, _POINTER, "PyBool_FromLong", builder.zext(value, _LONG))
    if kind == types.none:
        empty = cgutils.global_constant(builder, "empty", cgutils.make_bytearray(b"\0"))
        return _call(builder, _POINTER, "Py_BuildValue", builder.bitcast(empty, _POINTER))
    if isinstance(kind, types.BaseTuple):
        made = _call(builder, _POINTER, "PyTuple_New", _LONG(len(kind)))
        for k, part in enumerate(kind.types):
            item = _boxed(builder, part, builder.extract_value(value, k))
            _call(builder, _INTEGER, "PyTuple_SetItem", made, _LONG(k), item)
        return made
    raise TypeError(f"kernels that Python calls return no {kind}")


def _read(builder, given, offset: int, kind):
    """Read what stands in an object, so many bytes from its begin."""
    place = builder.gep(given, [_LONG(offset)])
    return builder.load(builder.bitcast(place, kind.as_pointer()))


def _call(builder, returned, name: str, *arguments):
    """Call a function of Python's C interface."""
    kind = ir.FunctionType(returned, [a.type for a in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, arguments)
