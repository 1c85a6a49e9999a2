# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find a user's controller by name."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

from hrpsim.control.framework.controller import Controller, ControllerError
from hrpsim.errors import unknown_name
from hrpsim.user_modules import module_in_file


def find_controller(name: str) -> type[Controller]:
    """Return the controller class that "module:Class" or "path/to/file.py:Class" names.

    Raises ControllerError for a name of another form, a module or a file that does not exist, a
    class that it does not have (the message lists the controllers that it has), or one that is no
    complete Controller. Errors inside the module pass through unchanged.
    """
    source, separator, class_name = name.rpartition(":")
    is_file = source.endswith(".py")
    is_module = all(part.isidentifier() for part in source.split("."))
    if not (separator and class_name and (is_file or is_module)):
        raise ControllerError(
            f"controller {name!r}: expected 'module:Class' or 'path/to/file.py:Class'"
        )
    module = _module_in_file(source) if is_file else _module(source, name)
    found = getattr(module, class_name, None)
    if found is None:
        available = [n for n, value in vars(module).items() if _is_controller(value)]
        available += getattr(module, "__all__", [])  # which may be imported on first use
        raise ControllerError(f"{source}: {unknown_name('controller', class_name, available)}")
    if not _is_controller(found):
        raise ControllerError(
            f"controller {name!r} is no subclass of hrpsim.control.Controller that has a "
            "method control"
        )
    return found


def _is_controller(value) -> bool:
    return (
        isinstance(value, type) and issubclass(value, Controller) and not inspect.isabstract(value)
    )


def _module(module_name: str, name: str):
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # Only the named module itself: a module that it imports may be missing too.
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ControllerError(
                f"controller {name!r}: there is no module {error.name!r} on Python's path"
            ) from error
        raise


def _module_in_file(source: str):
    path = Path(source).expanduser()
    if not path.is_file():
        raise ControllerError(f"controller file {str(path)!r} does not exist")
    return module_in_file(path)
