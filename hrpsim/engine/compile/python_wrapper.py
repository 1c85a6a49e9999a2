# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Make the function of Python's C interface through which Python calls a kernel.

Numba's own wrapper needs numba in each process. A later start takes 0.76 s of processor time with
numba's wrapper, and 0.30 s with this wrapper. The wrapper converts the Python objects to numbers
and addresses, releases Python's global lock while the kernel runs, and converts the result to a
Python object. The wrapper does not check types. The kinds of arguments are compared when the kernel
is looked up.
"""

from llvmlite import ir
from numba import types

from hrpsim.engine.compile.reference_type import ReferenceType

_INTEGER, _LONG, _REAL = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_POINTER = ir.IntType(8).as_pointer()
_NOTHING = ir.VoidType()
_SYMBOL = "hrpsim_call"

# Offsets by numpy's C interface, behind the head of every Python object [bytes].
_HEAD = object.__basicsize__
_DATA, _SHAPE, _STRIDES = _HEAD, _HEAD + 16, _HEAD + 24  # of an array
_RECORD = _HEAD + 8  # of a record: its address, behind its size as an object
# Entries of numba's representation of an array; those before have its owner, which kernels ignore.
_SIZE, _ITEM_SIZE, _ADDRESS, _SIDES, _STEPS = range(2, 7)


def python_wrapper(context, description) -> tuple[str, str]:
    """Return the LLVM text of a kernel's wrapper, and the symbol of the wrapper function.

    context: numba's context for the processor. description: numba's description of the compiled
    kernel. Arguments and results that cannot be passed raise TypeError.
    """
    module = context.create_module(_SYMBOL)
    kind = ir.FunctionType(_POINTER, [_POINTER, _POINTER.as_pointer(), _LONG])  # METH_FASTCALL
    function = ir.Function(module, kind, _SYMBOL)
    builder = ir.IRBuilder(function.append_basic_block())
    _, objects, count = function.args

    wrong = builder.icmp_signed("!=", count, _LONG(len(description.argtypes)))
    _fail_if(builder, wrong, "PyErr_BadArgument")
    values = [
        _unboxed(context, builder, kind, builder.load(builder.gep(objects, [_LONG(k)])))
        for k, kind in enumerate(description.argtypes)
    ]
    error = _call(builder, _POINTER, "PyErr_Occurred")
    _fail_if(builder, builder.icmp_unsigned("!=", error, _POINTER(None)))

    convention = context.call_conv
    kind = convention.get_function_type(description.restype, description.argtypes)
    kernel = ir.Function(module, kind, description.llvm_func_name)
    state = _call(builder, _POINTER, "PyEval_SaveThread")
    status, result = convention.call_function(
        builder, kernel, description.restype, description.argtypes, values
    )
    _call(builder, _NOTHING, "PyEval_RestoreThread", state)
    _fail_if(builder, status.is_error, "PyErr_BadInternalCall")  # kernels should raise nothing
    builder.ret(_boxed(builder, description.restype, result))
    return str(module), _SYMBOL


def _fail_if(builder, condition, report: str = "") -> None:
    """Emit code that returns from the wrapper with an exception if `condition` is true.

    report: function of the C interface that sets the exception. "": the exception is already set.
    """
    with builder.if_then(condition):
        if report:
            _call(builder, _INTEGER, report)
        builder.ret(_POINTER(None))


def _unboxed(context, builder, kind, given):
    """Return numba's representation of a Python object."""
    if kind == types.int64:
        return _call(builder, _LONG, "PyLong_AsLongLong", given)
    if kind == types.float64:
        return _call(builder, _REAL, "PyFloat_AsDouble", given)
    if kind == types.boolean:
        truth = _call(builder, _INTEGER, "PyObject_IsTrue", given)
        return builder.icmp_signed("!=", truth, _INTEGER(0))
    value_type = context.get_value_type(kind)
    if isinstance(kind, ReferenceType):
        name = _text(builder, "address")
        number = _call(builder, _POINTER, "PyObject_GetAttrString", given, name)
        address = _call(builder, _POINTER, "PyLong_AsVoidPtr", number)
        _call(builder, _NOTHING, "Py_DecRef", number)
        return builder.bitcast(address, value_type)
    if isinstance(kind, types.Record):
        return builder.bitcast(_read(builder, given, _RECORD, _POINTER), value_type)
    if isinstance(kind, types.Array):
        item_size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        return _array(builder, value_type, kind.ndim, item_size, given)
    if isinstance(kind, types.BaseTuple):
        value = ir.Constant(value_type, None)
        for k, part in enumerate(kind.types):
            item = _call(builder, _POINTER, "PyTuple_GetItem", given, _LONG(k))
            value = builder.insert_value(value, _unboxed(context, builder, part, item), k)
        return value
    raise TypeError(f"a kernel called from Python cannot take an argument of type {kind}")


def _array(builder, value_type, dimensions: int, item_size: int, given):
    """Return numba's representation of an array: a struct of address, shape and strides."""
    value = ir.Constant(value_type, None)
    size = _LONG(1)
    for entry, offset in ((_SIDES, _SHAPE), (_STEPS, _STRIDES)):
        numbers = _read(builder, given, offset, _LONG.as_pointer())
        for k in range(dimensions):
            number = builder.load(builder.gep(numbers, [_LONG(k)]))
            value = builder.insert_value(value, number, (entry, k))
            if entry == _SIDES:
                size = builder.mul(size, number)
    address = _read(builder, given, _DATA, value_type.elements[_ADDRESS])
    for entry, word in ((_SIZE, size), (_ITEM_SIZE, _LONG(item_size)), (_ADDRESS, address)):
        value = builder.insert_value(value, word, entry)
    return value


def _boxed(builder, kind, value):
    """Return a Python object for numba's representation of a result."""
    if kind in (types.int64, types.uint64) or isinstance(kind, types.IntegerLiteral):
        return _call(builder, _POINTER, "PyLong_FromLongLong", value)
    if kind == types.float64:
        return _call(builder, _POINTER, "PyFloat_FromDouble", value)
    if kind == types.boolean:
        return _call(builder, _POINTER, "PyBool_FromLong", builder.zext(value, _LONG))
    if kind == types.none:
        return _call(builder, _POINTER, "Py_BuildValue", _text(builder, ""))
    if isinstance(kind, types.BaseTuple):
        made = _call(builder, _POINTER, "PyTuple_New", _LONG(len(kind)))
        for k, part in enumerate(kind.types):
            item = _boxed(builder, part, builder.extract_value(value, k))
            _call(builder, _INTEGER, "PyTuple_SetItem", made, _LONG(k), item)
        return made
    raise TypeError(f"a kernel called from Python cannot return a value of type {kind}")


def _text(builder, text: str):
    """Return the address of a text constant in the module."""
    content = bytearray(text.encode() + b"\0")
    kind = ir.ArrayType(ir.IntType(8), len(content))
    constant = ir.GlobalVariable(builder.module, kind, builder.module.get_unique_name("text"))
    constant.linkage, constant.global_constant = "internal", True
    constant.initializer = kind(content)
    return builder.bitcast(constant, _POINTER)


def _read(builder, given, offset: int, kind):
    """Read a value of type `kind` at `offset` bytes after the start of an object."""
    pointer = builder.gep(given, [_LONG(offset)])
    return builder.load(builder.bitcast(pointer, kind.as_pointer()))


def _call(builder, returned, name: str, *arguments):
    """Call a function of Python's C interface."""
    function = builder.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(returned, [a.type for a in arguments])
        function = ir.Function(builder.module, kind, name)
    return builder.call(function, arguments)
