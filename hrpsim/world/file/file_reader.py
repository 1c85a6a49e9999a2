# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read YAML files with errors that name file, line, column and key."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hrpsim.common.errors import HrpsimError, WorldError
from hrpsim.common.foreign.yaml_text import YamlText

_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")


class FileReader:
    """Reader of one YAML file. Every error names the file and the path of the entry.

    A path is written as "bodies[0].shape". `content` finds the line of a path.
    """

    def __init__(self, path: Path, content: YamlText) -> None:
        self.path = path
        self.content = content

    def fail(self, where: str, why: str) -> WorldError:
        """Return an error that names file, line, column and path of the entry `where`."""
        steps = [int(k) if k else word for k, word in _STEP.findall(where)]
        return WorldError(
            f"{self.content.location(steps)}: {where}: {why}"
            if where
            else f"{self.content.location(steps)}: {why}"
        )

    def at(self, where: str) -> _Place:
        """Return a context manager that adds the file and the path of the entry to errors."""
        return _Place(self, where)

    def checked(self, kind: Callable[[Any], Any]) -> Any:
        """Return the whole content after a check by `kind`, a type of hrpsim.common.schema."""
        return checked_content(self.content, kind, WorldError)


def checked_content(content: YamlText, kind: Callable[[Any], Any], error: type[HrpsimError]) -> Any:
    """Parse a text and check the content by `kind`, a type of hrpsim.common.schema.

    Raises `error` with line and entry.
    """
    from hrpsim.common.schema import first_mistake

    data, path, mistake = first_mistake(kind, content.data)
    if mistake:
        where = f"{content.location(path)}: {dotted(path)}"
        raise error(f"{where}{': ' if path else ''}{mistake}")
    return data


def dotted(path: Sequence[Any]) -> str:
    """Return "bodies[0].mass" for a path of keys and indices."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


class _Place:
    """Adds the file and the path of the entry to errors raised inside the context."""

    def __init__(self, reader: FileReader, where: str) -> None:
        self.reader, self.where = reader, where

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback) -> None:
        if isinstance(error, HrpsimError):
            if str(self.reader.path) not in str(error):
                raise self.reader.fail(self.where, str(error)) from error
        elif isinstance(error, (TypeError, ValueError, ArithmeticError, OSError, LookupError)):
            raise self.reader.fail(self.where, str(error)) from error
