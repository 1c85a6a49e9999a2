# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Public names of a package, imported when they are first used (PEP 562)."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (\w+) as \2$", re.MULTILINE)


def lazy_names(package: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__all__`, `__getattr__` and `__dir__` of a package, by its `__name__`.

    Its public names are those that its source imports for type checkers: "from MODULE import NAME
    as NAME", each in a line of its own.
    """
    source = Path(sys.modules[package].__file__ or "").read_text(encoding="utf-8")
    home = {name: module for module, name in _IMPORT.findall(source)}
    public_names = sorted(name for name in home if not name.startswith("_"))

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if home[name] == package:
            return import_module(f"{package}.{name}")
        return getattr(import_module(home[name]), name)

    return public_names, find, lambda: public_names
