# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What a kernel is before anything is compiled: a function, and what is asked of its code."""

from __future__ import annotations


class KernelFunction:
    """A function that numba can compile.

    inner: only other kernels call it, whose part it becomes; inline: without a call even.
    called: Python calls it, and not only other kernels by its address.
    """

    def __init__(self, function, *, inner: bool = False, inline: bool = False, called: bool = True):
        self.py_func, self.inner, self.inline, self.called = function, inner, inline, called
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
