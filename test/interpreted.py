# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels as Python runs them: for unit tests of a law, in which compiling takes all the time."""

from types import FunctionType

import numpy as np

from hrpsim.jit.kernel_function import KernelFunction
from hrpsim.jit.numba_code import NumbaCode
from hrpsim.spatial.simd import LANES


def interpreted(kernel: KernelFunction):
    """Return a kernel as a function of Python, and so all that it calls.

    Records are those of `records`. The same law holds for the compiled kernel up to rounding.
    """
    return _function_of(kernel, {})


def records(count: int, dtype: np.dtype) -> np.recarray:
    """Return zeroed records with attributes, as kernels read and write them."""
    return np.zeros(count, dtype).view(np.recarray)


def _function_of(kernel, made):
    if kernel not in made:
        function, names = kernel.py_func, {}
        made[kernel] = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, function.__closure__
        )
        known = function.__globals__
        used = (name for name in function.__code__.co_names if name in known)
        names.update({name: _value_of(known[name], name, made) for name in used})
    return made[kernel]


def _value_of(value, name, made):
    if isinstance(value, KernelFunction):
        return _function_of(value, made)
    return _VECTORS[name] if isinstance(value, NumbaCode) else value


def _store(array, at, vector):
    array.reshape(-1)[at : at + LANES] = vector


_VECTORS = {
    "load": lambda array, at: array.reshape(-1)[at : at + LANES].copy(),
    "store": _store,
    "plus": np.add,
    "times": np.multiply,
    "plus_times": lambda total, vector, factor: total + vector * factor,
    "minus_times": lambda total, vector, factor: total - vector * factor,
}
