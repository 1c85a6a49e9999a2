# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The errors of sweeps, and what asks for packages that only sweeps need."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from hrpsim.errors import HrpsimError


class SweepError(HrpsimError, ValueError):
    """A sweep that cannot be run, kept or gone on with; what was finished before is kept."""


def needed_package(name: str, purpose: str, extra: str = "sweep") -> ModuleType:
    """Return a package; SweepError that says how to install it where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SweepError(
            f"{purpose} needs {name.partition('.')[0]} ({error}): pip install 'hrpsim[{extra}]'"
        ) from error
