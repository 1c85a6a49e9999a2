"""Vectors of eight numbers that live in registers: six of a spatial vector, two that nobody reads.

Where a matrix of six columns is stored with eight, or a spatial vector with two numbers to spare
behind it, a row is read, combined and written at once: by one instruction with AVX-512, by two with
AVX2. A compiler does not get there from loops over arrays that may overlap. The sum of products
is fused where the processor can, as in all kernels.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, models, register_model

LANES = 8

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_NOTHING = ir.Constant(_VECTOR, ir.Undefined)
_FUSED = ("contract",)


class _Lanes(types.Type):
    """The type of eight numbers in a register."""


_lanes = _Lanes(name="lanes")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, _VECTOR)


def _place(context, builder, array_type, array, at):
    """Return the address of eight numbers of a C-contiguous float64 array."""
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [at]), _VECTOR.as_pointer())


def _spread(builder, number):
    """Return eight copies of a number."""
    first = builder.insert_element(_NOTHING, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, _NOTHING, _FIRST)


@intrinsic
def load(typing_context, array, at):
    """Return the eight numbers of `array` from entry `at` on, counted row by row."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments)
        return builder.load(place, align=8)

    return _lanes(array, types.intp), generate


@intrinsic
def store(typing_context, array, at, a):
    """Write eight numbers to `array` from entry `at` on, counted row by row."""

    def generate(context, builder, signature, arguments):
        place = _place(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], place, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@intrinsic
def spread(typing_context, x):
    """Return eight copies of the number `x`."""

    def generate(context, builder, signature, arguments):
        return _spread(builder, arguments[0])

    return _lanes(types.float64), generate


@intrinsic
def plus(typing_context, a, b):
    """Return a + b, lane by lane."""

    def generate(context, builder, signature, arguments):
        return builder.fadd(*arguments, flags=_FUSED)

    return _lanes(_lanes, _lanes), generate


@intrinsic
def times(typing_context, a, x):
    """Return the lanes `a` times the number `x`."""

    def generate(context, builder, signature, arguments):
        return builder.fmul(arguments[0], _spread(builder, arguments[1]), flags=_FUSED)

    return _lanes(_lanes, types.float64), generate


@intrinsic
def plus_times(typing_context, a, b, x):
    """Return a + b x of lanes `a`, `b` and a number `x`."""

    def generate(context, builder, signature, arguments):
        a, b, x = arguments
        product = builder.fmul(b, _spread(builder, x), flags=_FUSED)
        return builder.fadd(a, product, flags=_FUSED)

    return _lanes(_lanes, _lanes, types.float64), generate


@intrinsic
def minus_times(typing_context, a, b, x):
    """Return a - b x of lanes `a`, `b` and a number `x`."""

    def generate(context, builder, signature, arguments):
        a, b, x = arguments
        product = builder.fmul(b, _spread(builder, x), flags=_FUSED)
        return builder.fsub(a, product, flags=_FUSED)

    return _lanes(_lanes, _lanes, types.float64), generate
