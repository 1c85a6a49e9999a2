# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels as Python runs them: for unit tests of a law, in which compiling takes all the time."""

from types import CellType, FunctionType, ModuleType

import numpy as np

from hrpsim.engine.compile.lazy_kernels import _declared
from hrpsim.engine.compile.numba_code import KernelFunction, NumbaCode
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.spatial.simd import LANES


class Record(np.record):
    """A record whose fields are its attributes, also those named as an attribute of numpy's."""

    def __getattribute__(self, name):
        fields = super().__getattribute__("dtype").fields
        return self[name] if name in fields else super().__getattribute__(name)


class Records(np.ndarray):
    """Records whose fields, as arrays, are attributes."""

    def __getattr__(self, name):
        if name in (self.dtype.fields or ()):
            return self[name]
        raise AttributeError(name)

    def __setattr__(self, name, value):
        if name in (self.dtype.fields or ()):
            self[name] = value
        else:
            super().__setattr__(name, value)


def interpreted(kernel: KernelFunction):
    """Return a kernel as a function of Python, and so all that it calls.

    It takes what the kernel does; the same law holds for that up to rounding.
    """
    function = _function_of(kernel, {})

    def run(*arguments):
        with np.errstate(over="ignore"):  # of unsigned integers
            return function(*map(with_attributes, arguments))

    return run


def records(count: int, dtype: np.dtype) -> Records:
    """Return zeroed records with attributes, as kernels read and write them."""
    return with_attributes(np.zeros(count, dtype))


def with_attributes(part):
    """Return views of an array, or a named tuple or reference of arrays, for `interpreted`.

    Their records have attributes. Numbers are returned as they are.
    """
    if isinstance(part, TupleReference):
        part = part.whole
    if isinstance(part, tuple):
        parts = map(with_attributes, part)
        return part._make(parts) if hasattr(part, "_make") else tuple(parts)
    if getattr(part, "dtype", np.dtype(float)).names is None:
        return part
    return part.view(np.dtype((Record, part.dtype))).view(Records)


def prepared_kernels(module: ModuleType) -> dict:
    """Return, interpreted, the kernels `f` that a module calls as `_f = prepared(f)`, by `_f`."""
    names = [name for name in vars(module) if name.startswith("_")]
    kernels = {name: getattr(module, name[1:], None) for name in names}
    return {n: interpreted(k) for n, k in kernels.items() if isinstance(k, KernelFunction)}


def _function_of(kernel, made):
    if kernel not in made:
        function, names = kernel.py_func, {}
        cells = tuple(CellType() for _ in function.__closure__ or ())
        made[kernel] = FunctionType(
            function.__code__, names, function.__name__, function.__defaults__, cells or None
        )
        for cell, original in zip(cells, function.__closure__ or (), strict=True):
            cell.cell_contents = _value_of(original.cell_contents, "", made)
        known = function.__globals__
        used = (name for name in function.__code__.co_names if name in known)
        names.update({name: _value_of(known[name], name, made) for name in used})
        if "call_address" in names:
            names["call_address"] = _call_of_lazy_kernel(function, made)
    return made[kernel]


def _call_of_lazy_kernel(function, made):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    kernel = _declared[cells["name"].cell_contents].kernel
    return lambda address, arguments: _function_of(kernel, made)(*arguments)


def _value_of(value, name, made):
    if isinstance(value, KernelFunction):
        return _function_of(value, made)
    return _VECTORS.get(name, value) if isinstance(value, NumbaCode) else value


def _load(array, at):
    """Return eight numbers; beyond the end of a spatial vector in a record, what is to spare."""
    found = array.reshape(-1)[at : at + LANES]
    return np.concatenate([found, np.zeros(LANES - len(found))])


def _store(array, at, vector):
    there = array.reshape(-1)[at : at + len(vector)]
    there[:] = vector[: len(there)]


def _store_six_transposed(array, at, stride, *rows):
    for k in range(6):
        _store(array, at + k * stride, np.array([row[k] for row in rows]))


_VECTORS = {
    "keep_branch": lambda: None,
    "load": _load,
    "store": _store,
    "store_six": lambda array, at, vector: _store(array, at, vector[:6]),
    "store_six_transposed": _store_six_transposed,
    "broadcast": lambda number: np.full(LANES, number),
    "unit": lambda k: np.eye(LANES)[k],
    "plus": np.add,
    "times": np.multiply,
    "product": np.multiply,
    "plus_times": lambda total, vector, factor: total + vector * factor,
    "minus_times": lambda total, vector, factor: total - vector * factor,
    "plus_product": lambda total, a, b: total + a * b,
    "lanes_from": lambda vector, first: np.where(np.arange(LANES) < first, 0.0, vector),
    "sum_six": lambda vector: vector[:6].sum(),
    "sum_eight": np.sum,
}
