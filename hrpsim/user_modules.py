# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Modules of users that are named by their file: controllers, scenarios."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def module_in_file(path: Path) -> ModuleType:
    """Return the module that a file ending in .py holds, run anew; what it raises goes through."""
    specification = importlib.util.spec_from_file_location(path.stem, path)
    assert specification and specification.loader  # as for every file that ends in .py
    module = importlib.util.module_from_spec(specification)
    sys.modules.setdefault(path.stem, module)  # where dataclasses, inspect and pickle look for it
    specification.loader.exec_module(module)
    return module
