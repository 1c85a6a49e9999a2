# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Users' modules, named by file: controllers, scenarios."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def module_in_file(path: Path) -> ModuleType:
    """Execute a .py file again and return the module. Exceptions of the file propagate."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification and specification.loader  # true for every .py file
    module = importlib.util.module_from_spec(specification)
    sys.modules.setdefault(path.stem, module)  # where dataclasses, inspect and pickle search for it
    specification.loader.exec_module(module)
    return module
