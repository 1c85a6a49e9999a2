# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Public names of a package, imported when they are first used (PEP 562)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (?:\(\s+)?(\w+) as \2\b", re.MULTILINE)


def lazy_names(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of the package with this `__name__`.

    The names are those that its source imports as themselves for type checkers and editors, in the
    block `if TYPE_CHECKING:`.
    """
    loader: Any = sys.modules[package].__loader__
    home = {name: module for module, name in _IMPORT.findall(loader.get_source(package))}
    public_names = sorted(name for name in home if not name.startswith("_"))

    def find(name: str) -> Any:
        module = home.get(name, package)
        if module == package:  # modules of the package are for the import system
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(module), name)

    return public_names, find, lambda: public_names
