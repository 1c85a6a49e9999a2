# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Numba intrinsics that kernels call. This module is imported only to compile kernels."""

import sys
import time

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# Where there is one, the clock that is updated at every tick of the system only: read in 5 ns.
_LINUX_COARSE = 6
_CLOCK = _LINUX_COARSE if sys.platform == "linux" else time.CLOCK_MONOTONIC


@intrinsic
def monotonic_seconds(typing_context):
    """Return a monotonic time [s], with a resolution of some milliseconds."""

    def _generate(context, builder, signature, arguments):
        long, integer, real = ir.IntType(64), ir.IntType(32), ir.DoubleType()
        with builder.goto_entry_block():
            clock = builder.alloca(ir.LiteralStructType([long, long]))
        function = builder.module.globals.get("clock_gettime")
        if function is None:
            kind = ir.FunctionType(integer, [integer, clock.type])
            function = ir.Function(builder.module, kind, "clock_gettime")
        builder.call(function, [integer(_CLOCK), clock])
        words = (builder.gep(clock, [integer(0), integer(k)], inbounds=True) for k in range(2))
        seconds, nanoseconds = (builder.sitofp(builder.load(word), real) for word in words)
        return builder.fadd(seconds, builder.fmul(nanoseconds, real(1e-9)))

    return types.float64(), _generate


@intrinsic
def call_address(typing_context, address, arguments):
    """Call the kernel at an address with a tuple of arguments, and return its integer.

    The arguments must have exactly the types that the kernel was compiled for.
    """

    def _generate(context, builder, signature, values):
        builder.call(_unlikely(builder.module), [])
        return _call(context, builder, signature, values)

    return types.int64(types.int64, _plain(arguments)), _generate


@intrinsic
def call_advance(typing_context, address, arguments):
    """Call the kernel `advance` of the step, compiled for these arguments, at an address."""

    def _generate(context, builder, signature, values):
        return _call(context, builder, signature, values)

    return types.UniTuple(types.int64, 4)(types.int64, _plain(arguments)), _generate


@intrinsic
def reference_at(typing_context, example, address):
    """Return the reference (engine.compile.reference) at an address.

    example: reference of the same type.
    """

    def _generate(context, builder, signature, values):
        return builder.inttoptr(values[1], context.get_value_type(signature.return_type))

    return example(example, types.int64), _generate


@intrinsic
def request_line(typing_context, address):
    """Prefetch the cache line at an address into the second-level cache."""

    def _generate(context, builder, signature, values):
        byte, integer = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte, integer, integer, integer])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        how = [integer(0), integer(2), integer(1)]  # to read; of four levels; data
        builder.call(prefetch, [builder.inttoptr(values[0], byte), *how])
        return context.get_dummy_value()

    return types.none(types.int64), _generate


@intrinsic
def keep_branch(typing_context):
    """Prevent LLVM from replacing the present branch by a conditional selection.

    A selection computes both alternatives. A square root or division that is rarely needed would
    then delay each execution.
    """

    def _generate(context, builder, signature, arguments):
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
        return context.get_dummy_value()

    return types.none(), _generate


def _plain(arguments):
    """Return the type of a tuple of arguments. Types of literal values become plain types."""
    return types.BaseTuple.from_types([types.unliteral(t) for t in arguments])


def _call(context, builder, signature, values):
    address, packed = values
    argument_types = list(signature.args[1])
    unpacked = [builder.extract_value(packed, k) for k in range(len(argument_types))]
    returned = signature.return_type
    function_type = context.call_conv.get_function_type(returned, argument_types)
    function = builder.inttoptr(address, function_type.as_pointer())
    _, result = context.call_conv.call_function(
        builder, function, returned, argument_types, unpacked
    )
    return result


def _unlikely(module):
    """Return an empty function whose call marks a branch as unlikely for LLVM.

    Steps that do not take the branch then reserve no registers for the calls in the branch.
    """
    name = "hrpsim.unlikely"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
    function.linkage = "internal"
    function.attributes.add("cold")
    function.attributes.add("noinline")
    body = ir.IRBuilder(function.append_basic_block())
    body.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
    body.ret_void()
    return function
