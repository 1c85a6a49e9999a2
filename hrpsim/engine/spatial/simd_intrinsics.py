# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Operations of hrpsim.engine.spatial.simd, as intrinsics of numba."""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, models, register_model

from hrpsim.engine.spatial.simd import LANES

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
_NOTHING = ir.Constant(_VECTOR, ir.Undefined)
_FUSED = ("contract",)


class _Lanes(types.Type):
    """Numba's type of eight numbers in a register."""


_lanes = _Lanes(name="lanes")


@register_model(_Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, dmm, fe_type) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _pointer_to(context, builder, array_type, array, at):
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
        pointer = _pointer_to(context, builder, signature.args[0], *arguments)
        return builder.load(pointer, align=8)

    return _lanes(array, types.intp), generate


@intrinsic
def store(typing_context, array, at, a):
    """Write eight numbers to `array` from entry `at` on, counted row by row."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer_to(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@intrinsic
def broadcast(typing_context, x):
    """Return eight copies of the number `x`."""

    def generate(context, builder, signature, arguments):
        return _spread(builder, arguments[0])

    return _lanes(types.float64), generate


@intrinsic
def unit(typing_context, k):
    """Return 1 in lane `k` and 0 in all others."""

    def generate(context, builder, signature, arguments):
        zeros = ir.Constant(_VECTOR, [0.0] * LANES)
        return builder.insert_element(zeros, ir.Constant(ir.DoubleType(), 1.0), arguments[0])

    return _lanes(types.intp), generate


@intrinsic
def plus(typing_context, a, b):
    """Return a + b, lane by lane."""
    return _lanes(_lanes, _lanes), _lane_by_lane("fadd")


@intrinsic
def times(typing_context, a, x):
    """Return the lanes `a` times the number `x`."""

    def generate(context, builder, signature, arguments):
        return builder.fmul(arguments[0], _spread(builder, arguments[1]), flags=_FUSED)

    return _lanes(_lanes, types.float64), generate


@intrinsic
def plus_times(typing_context, a, b, x):
    """Return a + b x for lanes `a`, `b` and a number `x`."""
    return _lanes(_lanes, _lanes, types.float64), _with_product("fadd")


@intrinsic
def minus_times(typing_context, a, b, x):
    """Return a - b x for lanes `a`, `b` and a number `x`."""
    return _lanes(_lanes, _lanes, types.float64), _with_product("fsub")


def _with_product(operation):
    """Return a code generator that applies an instruction to lanes `a` and the product b x."""

    def generate(context, builder, signature, arguments):
        a, b, x = arguments
        product = builder.fmul(b, _spread(builder, x), flags=_FUSED)
        return getattr(builder, operation)(a, product, flags=_FUSED)

    return generate


@intrinsic
def product(typing_context, a, b):
    """Return a b, lane by lane."""
    return _lanes(_lanes, _lanes), _lane_by_lane("fmul")


def _lane_by_lane(operation):
    """Return a code generator that applies an instruction to the lanes `a` and `b`."""

    def generate(context, builder, signature, arguments):
        return getattr(builder, operation)(*arguments, flags=_FUSED)

    return generate


@intrinsic
def plus_product(typing_context, a, b, c):
    """Return a + b c, lane by lane."""

    def generate(context, builder, signature, arguments):
        a, b, c = arguments
        return builder.fadd(a, builder.fmul(b, c, flags=_FUSED), flags=_FUSED)

    return _lanes(_lanes, _lanes, _lanes), generate


@intrinsic
def lanes_from(typing_context, a, first):
    """Return `a` with 0 in place of the numbers before lane `first`."""

    def generate(context, builder, signature, arguments):
        lane = ir.VectorType(ir.IntType(64), LANES)
        before = builder.insert_element(
            ir.Constant(lane, ir.Undefined), arguments[1], ir.Constant(ir.IntType(32), 0)
        )
        before = builder.shuffle_vector(before, ir.Constant(lane, ir.Undefined), _FIRST)
        stays = builder.icmp_signed(">=", ir.Constant(lane, list(range(LANES))), before)
        return builder.select(stays, arguments[0], ir.Constant(_VECTOR, [0.0] * LANES))

    return _lanes(_lanes, types.int64), generate


@intrinsic
def sum_eight(typing_context, a):
    """Return the sum of the eight numbers of `a`, by adding halves, then quarters."""

    def generate(context, builder, signature, arguments):
        vector, count = arguments[0], LANES
        while count > 1:
            count //= 2
            halves = [
                _shuffled(builder, vector, vector, list(range(first, first + count)))
                for first in (0, count)
            ]
            vector = builder.fadd(*halves)
        return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))

    return types.float64(_lanes), generate


@intrinsic
def sum_six(typing_context, a):
    """Return the sum of the first six numbers of a vector.

    The even and the odd numbers are added separately first, then both sums.
    """

    def generate(context, builder, signature, arguments):
        pairs = [_shuffled(builder, arguments[0], _NOTHING, [k, k + 1]) for k in (0, 2, 4)]
        pair = builder.fadd(builder.fadd(pairs[0], pairs[1]), pairs[2])
        first, second = (
            builder.extract_element(pair, ir.Constant(ir.IntType(32), k)) for k in range(2)
        )
        return builder.fadd(first, second)

    return types.float64(_lanes), generate


@intrinsic
def store_six(typing_context, array, at, a):
    """Write the first six numbers of `a` to `array` from entry `at` on, counted row by row."""

    def generate(context, builder, signature, arguments):
        _store_six(context, builder, signature.args[0], *arguments)
        return context.get_dummy_value()

    return types.void(array, types.intp, _lanes), generate


@intrinsic  # many parameters: six registers are turned round together
def store_six_transposed(typing_context, array, at, stride, a, b, c, d, e, f):
    """Write the first six numbers of six lanes as the columns of a matrix.

    Row k has the k-th numbers of all lanes, and starts at entry `at` + k `stride`, k < 6.
    """

    def generate(context, builder, signature, arguments):
        array, at, stride, *rows = arguments
        pairs = [
            [_shuffled(builder, rows[r], rows[r + 1], _alternate(odd)) for odd in range(2)]
            for r in (0, 2, 4)
        ]
        for k in range(6):
            first, second, third = (pair[k % 2] for pair in pairs)
            j = k - k % 2  # index of the pair (row r, row r + 1) of lane k
            four = [j, j + 1, LANES + j, LANES + j + 1]
            column = _shuffled(builder, first, second, four + 4 * [0])
            column = _shuffled(builder, column, third, [0, 1, 2, 3, LANES + j, LANES + j + 1, 0, 0])
            _store_six(context, builder, signature.args[0], array, at, column)
            at = builder.add(at, stride)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, *6 * [_lanes]), generate


def _alternate(odd):
    """Return the mask that takes the even or the odd lanes of two vectors alternately."""
    return [lane + offset for lane in range(odd, LANES, 2) for offset in (0, LANES)]


def _shuffled(builder, a, b, mask):
    """Return the lanes of `a` and `b` that the mask selects: 0..7 from a, 8..15 from b."""
    kind = ir.VectorType(ir.IntType(32), len(mask))
    return builder.shuffle_vector(a, b, ir.Constant(kind, mask))


def _store_six(context, builder, array_type, array, at, a) -> None:
    """Write six numbers as four and two, because eight would overwrite the next entries."""
    data = context.make_array(array_type)(context, builder, array).data
    for first, count in ((0, 4), (4, 2)):
        part = _shuffled(builder, a, _NOTHING, list(range(first, first + count)))
        pointer = builder.gep(data, [builder.add(at, ir.Constant(at.type, first))])
        pointer = builder.bitcast(pointer, ir.VectorType(ir.DoubleType(), count).as_pointer())
        builder.store(part, pointer, align=8)
