# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Placeholders for code that needs numba, until something is compiled."""

from importlib import import_module
from typing import Any


class NumbaCode:
    """Placeholder in the modules of kernels for an intrinsic of a module that imports numba."""

    def __init__(self, module: str, name: str):
        self._module, self._name = module, name

    def load(self) -> Any:
        """Return the intrinsic."""
        return getattr(import_module(self._module), self._name)
