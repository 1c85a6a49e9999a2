# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read entries of other projects' policy files, with errors that name file, line and entry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hrpsim.common.foreign.yaml_text import YamlText
from hrpsim.common.resources import user_path
from hrpsim.common.schema import Kind, first_mistake
from hrpsim.control.framework.controller import ControllerError

_ROOT = "{LEGGED_GYM_ROOT_DIR}/"


class ForeignEntries:
    """The entries of one mapping in a file.

    Args:
        text: content of the file.
        keys: keys that lead to the mapping.
        below: default values of missing entries, for example the entries of a base file.
    """

    def __init__(
        self, text: YamlText, keys: Sequence[str] = (), below: dict[str, Any] | None = None
    ) -> None:
        self._text, self._keys = text, list(keys)
        data = text.data
        for key in keys:
            data = data[key]
        self.data: dict[str, Any] = {**(below or {}), **data}

    def get(self, kind: Kind, name: str, otherwise: Any = None) -> Any:
        """Return an entry of the required type, or `otherwise` if the entry is missing.

        Raises:
            ControllerError: the entry is missing and `otherwise` is None, or the entry has another
                type.
        """
        if name not in self.data:
            if otherwise is None:
                raise self.error(name, "is missing")
            return otherwise
        value, _, mistake = first_mistake(kind, self.data[name])
        if mistake:
            raise self.error(name, mistake)
        return value

    def error(self, name: str, problem: str) -> ControllerError:
        """Return an error about an entry."""
        return ControllerError(f"{self._text.location([*self._keys, name])}: {name}: {problem}")


def located(path: Path, named: str) -> Path:
    """Resolve the path of a file that a file of legged_gym or unitree_rl_gym names.

    The name may begin with the root folder of the project.

    Raises:
        ControllerError: the name begins with the root folder, but no folder above `path` contains
            the file.
    """
    if not named.startswith(_ROOT):
        return path.parent / user_path(named)
    inner = named.removeprefix(_ROOT)
    for folder in path.absolute().parents:
        if (folder / inner).exists():
            return folder / inner
    raise ControllerError(f"{path}: names {named!r}, but no folder above contains {inner!r}")
