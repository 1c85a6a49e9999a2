# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions that become kernels, and placeholders for intrinsics that import numba."""

from importlib import import_module
from typing import Any


class NumbaCode:
    """Placeholder for an intrinsic in kernel modules. The intrinsic's own module imports numba."""

    def __init__(self, module: str, name: str) -> None:
        self._module, self._name = module, name

    def load(self) -> Any:
        """Import and return the intrinsic."""
        return getattr(import_module(self._module), self._name)


class KernelFunction:
    """A function that numba can compile.

    Attributes:
        inner: whether the function is compiled only as part of the kernels that call it.
        inline: whether the function is always inlined.
        called: whether Python calls the kernel, and not only other kernels by its address.
    """

    def __init__(
        self, function, *, inner: bool = False, inline: bool = False, called: bool = True
    ) -> None:
        self.py_func, self.inner, self.inline, self.called = function, inner, inline, called
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
