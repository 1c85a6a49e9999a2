# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""SIMD vectors of eight numbers ("lanes"): six of a spatial vector, two unused.

A matrix of six columns is stored with eight columns, and a spatial vector with two spare entries. A
row is then read, combined and written at once, by one instruction with AVX-512 or by two with AVX2.
Compilers do not produce these instructions from loops over arrays that may overlap. Multiply and
add are fused if the processor supports this, as in all kernels. The operations are in
simd_intrinsics.
"""

from hrpsim.engine.compile.numba_code import NumbaCode

LANES = 8

_CODE = "hrpsim.engine.spatial.simd_intrinsics"

load = NumbaCode(_CODE, "load")
store = NumbaCode(_CODE, "store")
broadcast = NumbaCode(_CODE, "broadcast")
unit = NumbaCode(_CODE, "unit")
plus = NumbaCode(_CODE, "plus")
times = NumbaCode(_CODE, "times")
plus_times = NumbaCode(_CODE, "plus_times")
minus_times = NumbaCode(_CODE, "minus_times")
product = NumbaCode(_CODE, "product")
plus_product = NumbaCode(_CODE, "plus_product")
lanes_from = NumbaCode(_CODE, "lanes_from")
sum_eight = NumbaCode(_CODE, "sum_eight")
sum_six = NumbaCode(_CODE, "sum_six")
store_six = NumbaCode(_CODE, "store_six")
store_six_transposed = NumbaCode(_CODE, "store_six_transposed")
