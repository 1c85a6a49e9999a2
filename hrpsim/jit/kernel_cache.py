# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Numba's cache of compiled functions, with the files of `hrpsim.jit.kernel_files` below it.

It builds on classes of numba.core.caching, which numba does not promise to keep: where they are
not as they were, `keep_on_disk` falls back on the cache that numba documents.
"""

from __future__ import annotations

import functools
from pathlib import Path

import numba

from hrpsim.jit.kernel_files import KernelFiles

try:
    from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
    from numba.core.serialize import dumps
except ImportError:  # another numba
    FunctionCache = None


def keep_on_disk(dispatcher, folder: Path) -> None:
    """Let what a dispatcher compiles be kept in `folder`, and found there by later processes."""
    try:
        dispatcher._cache = _cache_in(folder, dispatcher.py_func)
    except (AttributeError, TypeError):
        previous = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            dispatcher.enable_caching()
        finally:
            numba.config.CACHE_DIR = previous


def file_name(function) -> str:
    """Return how the names of a function's files begin."""
    return f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"


def _cache_in(folder: Path, function):
    """Return the cache of one function; AttributeError or TypeError where numba has changed."""
    cache = _cache_class(folder)(function)
    if not hasattr(cache, "_cache_file"):
        raise AttributeError("_cache_file")
    cache._cache_file = KernelFiles(folder, file_name(function), dumps)
    return cache


@functools.cache
def _cache_class(folder: Path) -> type:
    """Return numba's cache, but in one folder for all, whose name tells the sources apart."""
    if FunctionCache is None:
        raise AttributeError("numba.core.caching")

    class Locator(_CacheLocator):
        def __init__(self, function, file: str):
            self._py_file, self._lineno = file, function.__code__.co_firstlineno

        def ensure_cache_path(self) -> None:
            pass

        def get_cache_path(self) -> str:
            return str(folder)

        def get_source_stamp(self) -> str:
            return folder.name

        def get_disambiguator(self) -> str:
            return str(self._lineno)

        @classmethod
        def from_function(cls, function, file: str):
            return cls(function, file)

    class Implementation(CompileResultCacheImpl):
        _locator_classes = (Locator,)

    class KernelCache(FunctionCache):
        _impl_class = Implementation

        def load_overload(self, sig, target_context):
            """Return what was compiled for a signature, or None.

            Numba first fills its tables of types and functions, and imports scipy.linalg for
            them: 0.25 s that machine code does not need. Compiling fills them by itself.
            """
            return self._load_overload(sig, target_context)

    return KernelCache
