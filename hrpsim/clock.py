# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The time, for kernels that are to come back to Python before long."""

from __future__ import annotations

import sys
import time

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# Where there is one, the clock that is updated at every tick of the system only: read in 5 ns.
_LINUX_COARSE = 6
_CLOCK = _LINUX_COARSE if sys.platform == "linux" else time.CLOCK_MONOTONIC


@intrinsic
def monotonic_seconds(typing_context):
    """Return a time that goes on evenly [s], to some milliseconds."""

    def _generate(context, builder, signature, arguments):
        long, integer = ir.IntType(64), ir.IntType(32)
        place = cgutils.alloca_once(builder, ir.LiteralStructType([long, long]))
        kind = ir.FunctionType(integer, [integer, place.type])
        function = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(function, [ir.Constant(integer, _CLOCK), place])
        parts = [
            builder.sitofp(
                builder.load(cgutils.gep_inbounds(builder, place, 0, k)), ir.DoubleType()
            )
            for k in range(2)
        ]
        whole, rest = parts
        return builder.fadd(whole, builder.fmul(rest, ir.Constant(ir.DoubleType(), 1e-9)))

    return types.float64(), _generate
