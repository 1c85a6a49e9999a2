# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The errors of sweeps: unknown parameters and missing packages."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from hrpsim.errors import HrpsimError, shown_value, unknown_name
from hrpsim.limits import SHOWN_LENGTH

_FEW = 12  # up to so many parameters an error lists all
_NEAR = 4


class SweepError(HrpsimError, ValueError):
    """A sweep cannot be run, stored or continued; finished runs stay in the store."""


def unknown_parameter(given: str, available: Iterable[str]) -> str:
    """Return the message for an unknown path: the nearest ones, and how to list all."""
    paths = list(available)
    if len(paths) <= _FEW:
        return unknown_name("parameter", given, paths)
    from difflib import get_close_matches

    near = [path for path in paths if path.startswith(f"{given}.")]
    near = near or [path for path in paths if path.endswith(f".{given}")]
    near = near or get_close_matches(given[:SHOWN_LENGTH], paths, _NEAR)
    if near:
        hint = f"did you mean {', '.join(map(repr, near[:_NEAR]))}?"
    else:
        sections = dict.fromkeys(path.partition(".")[0] for path in paths)
        hint = f"paths begin with {', '.join(sections)}"
    return (
        f"parameter {shown_value(given)} does not exist; {hint}; "
        f"`hrpsim sweep STUDY --parameters` lists all {len(paths)}"
    )


def needed_package(name: str, purpose: str) -> ModuleType:
    """Import a package; SweepError with how to install it where it is missing."""
    try:
        return import_module(name)
    except ImportError as error:
        raise SweepError(
            f"{purpose} needs {name.partition('.')[0]} ({error}): pip install 'hrpsim[sweep]'"
        ) from error
