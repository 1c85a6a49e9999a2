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
    block `if TYPE_CHECKING:`. A name whose module needs the package of an extra that is not
    installed raises MissingPackageError, which names the extra.
    """
    loader: Any = sys.modules[package].__loader__
    home = {name: module for module, name in _IMPORT.findall(loader.get_source(package))}
    public_names = sorted(name for name in home if not name.startswith("_"))

    def find(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        try:
            if home[name] == package:  # the name is a module of the package
                return import_module(f"{package}.{name}")
            return getattr(import_module(home[name]), name)
        except ModuleNotFoundError as error:
            from hrpsim.common.extras import missing_package

            raise missing_package(f"{package}.{name}", error) from error

    return public_names, find, lambda: public_names
