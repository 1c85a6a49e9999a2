# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Public names of a package, imported when they are first used (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package.

    Args:
        package: the package's `__name__`.
        homes: module below hrpsim -> the public names that it defines, separated by blanks.
    """
    home = {name: module for module, names in homes.items() for name in names.split()}
    public_names = sorted(name for name in home if not name.startswith("_"))

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"hrpsim.{home[name]}"), name)

    return public_names, find, lambda: public_names
