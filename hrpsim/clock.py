# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The time, for kernels that must return to Python within a limit."""

from hrpsim.jit.numba_code import NumbaCode

monotonic_seconds = NumbaCode("hrpsim.jit.intrinsics", "monotonic_seconds")
