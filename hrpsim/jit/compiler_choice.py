# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which compilers kernels get: the quick ones of `hrpsim.jit.compiler`, or numba's own.

HRPSIM_PLAIN_COMPILER=1 asks for numba's own, documented compiler, which takes several times as
long.
"""

from __future__ import annotations

import logging
import os
from typing import NamedTuple

import numba
from numba.core.compiler import Compiler

# What holds for every kernel: additions and multiplications may be fused, nothing else is free.
OPTIONS = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}

# Releases of numba (0.x) with which the tests have passed; with others, the quick compilers are
# tried first.
_TESTED = range(58, 69)


class Compilers(NamedTuple):
    """Classes for numba's `pipeline_class`: of kernels, and of what is linked into them."""

    name: str
    kernels: type
    inner_kernels: type


PLAIN = Compilers("plain", Compiler, Compiler)


def choose_compilers() -> Compilers:
    """Return the quick compilers where they fit the installed numba, otherwise PLAIN."""
    if os.environ.get("HRPSIM_PLAIN_COMPILER", "0") not in ("", "0"):
        return PLAIN
    try:
        from hrpsim.jit.compiler import KernelCompiler, LinkOnlyCompiler

        quick = Compilers("quick", KernelCompiler, LinkOnlyCompiler)
        if not _is_tested(numba.__version__):
            _try(quick)
        return quick
    except Exception as error:
        logging.getLogger("hrpsim").warning(
            "numba %s does not take quick compilers (%s: %s): its own take several times as long",
            numba.__version__,
            type(error).__name__,
            error,
        )
        return PLAIN


def _is_tested(version: str) -> bool:
    major, minor = version.split(".")[:2]
    return major == "0" and int(minor) in _TESTED


def _try(compilers: Compilers) -> None:
    """Compile and run a kernel that calls another. Raises whatever comes."""
    inner = numba.njit(_square, pipeline_class=compilers.inner_kernels, **OPTIONS)
    inner.targetoptions.update(_nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)

    def sum_of_squares(x, y):
        return inner(x) + inner(y)

    outer = numba.njit(sum_of_squares, pipeline_class=compilers.kernels, **OPTIONS)
    outer.targetoptions["_nrt"] = False
    found = outer(3.0, 4.0)
    if found != 25.0:
        raise ValueError(f"3^2 + 4^2 came out as {found}")


def _square(x):
    return x * x
