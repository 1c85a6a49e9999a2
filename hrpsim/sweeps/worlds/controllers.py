# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The controllers that a study names: ours by one word, others by module or file."""

from __future__ import annotations

from hrpsim.control.framework.controller import Controller
from hrpsim.control.framework.plugins import find_controller
from hrpsim.control.walk import Walk
from hrpsim.errors import HrpsimError, unknown_name
from hrpsim.sweeps.framework.errors import SweepError

_OWN: dict[str, type[Controller]] = {"walk": Walk}
_FORMS = ("module:Class", "path/to/file.py:Class")


def controller_class(name: str) -> type[Controller]:
    """Return the class that "walk", "module:Class" or "path/to/file.py:Class" names.

    Raises HrpsimError for what does not exist, and for a module that cannot be read.
    """
    if name in _OWN:
        return _OWN[name]
    if ":" not in name:
        raise SweepError(unknown_name("controller", name, (*_OWN, *_FORMS)))
    try:
        return find_controller(name)
    except HrpsimError:
        raise
    except (Exception, SystemExit) as error:  # raised by the user's module
        raise SweepError(f"controller {name!r}: {type(error).__name__}: {error}") from error
