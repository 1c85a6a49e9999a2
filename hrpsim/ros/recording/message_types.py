# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Message types by the names that peers announce, which anybody on the network chooses."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from hrpsim.errors import HrpsimError

_NAME = re.compile(r"([a-z][a-z0-9_]*)/msg/([A-Z][A-Za-z0-9]*)")


def definition_file(type_name: str) -> Path:
    """Return the .msg file of a type, in the share folder of the prefix of its Python package.

    Imports nothing. Raises HrpsimError for names that are no type of an installed package.
    """
    match = _NAME.fullmatch(type_name)
    if match is None:
        raise HrpsimError(f"{type_name!r} is no name of a message type, as package/msg/Name")
    spec = find_spec(match[1])
    inside = Path("share", match[1], "msg", f"{match[2]}.msg")
    for folder in [] if spec is None else spec.submodule_search_locations or ():
        for prefix in Path(folder).parents:
            if (prefix / inside).is_file():
                return prefix / inside
    raise HrpsimError(f"no installed interface package has {type_name}")


def message_type(type_name: str) -> type:
    """Return the class of a message type; HrpsimError, with nothing imported, as above."""
    definition_file(type_name)
    package, _, name = type_name.split("/")
    return getattr(import_module(f"{package}.msg"), name)
