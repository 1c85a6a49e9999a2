# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Packages of ROS that only some topics and services need. Needs no ROS."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType


def optional_module(name: str, consequence: str, log: Callable[[str], object]) -> ModuleType | None:
    """Return a module, or None after a `log` of the consequence if its package is missing."""
    package = name.partition(".")[0]
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        log(f"{error.name} is not installed: {consequence}")
        return None
