# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Public names of a package, imported at first use (PEP 562).

The library lazy-loader does the same from a stub. rosdep has no key for lazy-loader, so a ROS
workspace could not install the library.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

_IMPORT = re.compile(r"^    from (\S+) import (\([^)]+\)|.+)$", re.MULTILINE)


def lazy_names(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` of the package with this `__name__`.

    The block `if TYPE_CHECKING:` of the package imports the names for type checkers and editors.
    The block also tells readers where each name is defined. A name whose module needs the package
    of an extra that is not installed raises MissingPackageError, which names the extra.
    """
    loader: Any = sys.modules[package].__loader__
    home = {}
    for module, names in _IMPORT.findall(loader.get_source(package)):
        home.update(dict.fromkeys(re.findall(r"\w+", names), module))

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

    return find, sys.modules[package].__all__.copy
