# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find a user's controller by name, and check its parameters by the rules of world files."""

import importlib
import inspect
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hrpsim.common.errors import HrpsimError, shown_value, unknown_name
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.resources import user_path
from hrpsim.common.schema import Kind, first_mistake, mapping
from hrpsim.common.typed_values import check_arguments
from hrpsim.common.values import Range
from hrpsim.control.framework.controller import Controller, ControllerError
from hrpsim.control.framework.user_modules import module_in_file

PERIOD = Range(1e-6, 10.0, "s")  # period between two calls of a controller
_KEPT = 64  # number of stored mappings, of the last configured controllers
_known: dict[int, tuple[Mapping[str, Kind], Kind]] = {}


def find_controller(name: str) -> type[Controller]:
    """Return the controller class named by "module:Class" or "path/to/file.py:Class".

    Raises ControllerError for a name of another form, for a missing module or file, and for a class
    that is not a complete Controller. If the class is missing, the message lists the controllers of
    the module. Errors inside the module pass through unchanged.
    """
    check_arguments(find_controller, locals(), ControllerError)
    source, separator, class_name = name.rpartition(":")
    is_file = source.endswith(".py")
    is_module = all(part.isidentifier() for part in source.split("."))
    if not (separator and class_name and (is_file or is_module)):
        raise ControllerError(
            f"controller {name!r}: must be 'module:Class' or 'path/to/file.py:Class'"
        )
    module = _module_in_file(source) if is_file else _module(source, name)
    result = getattr(module, class_name, None)
    if result is None:
        available = [n for n, value in vars(module).items() if _is_controller(value)]
        available += getattr(module, "__all__", [])  # names that a module may import on first use
        raise ControllerError(f"{source}: {unknown_name('controller', class_name, available)}")
    if not _is_controller(result):
        raise ControllerError(
            f"controller {name!r} is not a subclass of hrpsim.control.Controller that has a "
            "method control"
        )
    return result


def _is_controller(value) -> bool:
    return (
        isinstance(value, type) and issubclass(value, Controller) and not inspect.isabstract(value)
    )


def _module(module_name: str, name: str):
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # Only the named module is concerned: a module that it imports may also be missing.
        if error.name and (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise ControllerError(
                f"controller {name!r}: there is no module {error.name!r} on Python's path"
            ) from error
        raise


def _module_in_file(source: str):
    path = user_path(source)
    if not os.path.isfile(path):
        raise ControllerError(f"controller file {str(path)!r} does not exist")
    return module_in_file(path)


def checked(
    who: str,
    kinds: Mapping[str, Kind],
    given: Mapping[str, Any],
    error: type[HrpsimError] = ControllerError,
) -> dict[str, Any]:
    """Return the parameters, converted to the declared kinds.

    Raises `error`, which names `who` and the first mistake, if the parameters are invalid.
    """
    values, _, mistake = _checked(kinds, given)
    if mistake:
        raise error(f"{who}: {mistake}")
    return values


def read_parameters(path: str | Path, kinds: Mapping[str, Kind] | None = None) -> dict[str, Any]:
    """Return the parameters of a controller from a YAML file, a mapping of names to values.

    kinds: kinds of the parameters, if the controller declares them. Raises ControllerError with
    file and line if the file is not YAML or a value has another kind.
    """
    path = user_path(path)
    text = read_yaml(path, ControllerError, "parameters file")
    content = text.data
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(key, str) for key in content):
        described = f"keys {shown_value(list(content))}" if isinstance(content, dict) else ""
        raise ControllerError(
            f"parameters file {str(path)!r}: must be a mapping from names to values, got "
            f"{described or shown_value(content)}"
        )
    if kinds is not None:
        _, keys, mistake = _checked(kinds, content)
        if mistake:
            raise ControllerError(f"{text.location(keys)}: {mistake}")
    return content


def _checked(kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> tuple[Any, list, str]:
    """Check and convert the parameters.

    Returns:
        (values, location and text of the first mistake). The text is "" if there is no mistake.
    """
    for name in given:
        if name not in kinds:
            return None, [name], unknown_name("parameter", name, kinds, limit=len(kinds))
    values, keys, mistake = first_mistake(_kind_of(kinds), dict(given))
    return values, keys, f"{'.'.join(map(str, keys))}: {mistake}" if mistake else ""


def _kind_of(kinds: Mapping[str, Kind]) -> Kind:
    """Return the schema of a mapping whose entries have the given kinds.

    The schema is cached, because controllers are configured many times.
    """
    if id(kinds) not in _known:
        while len(_known) >= _KEPT:
            del _known[next(iter(_known))]
        _known[id(kinds)] = kinds, mapping(kinds)
    return _known[id(kinds)][1]
