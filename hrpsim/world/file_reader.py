"""Reading a mapping out of a file so that every complaint names the file and the place in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hrpsim.errors import HrpsimError, WorldError, unknown_name


class FileReader:
    """Reads parts of one file; every complaint names the file and the place."""

    def __init__(self, path: Path):
        self.path = path

    def fail(self, where: str, why: str) -> WorldError:
        """Return the error that names the file and the place."""
        return WorldError(f"{self.path}: {where}: {why}")

    def at(self, where: str) -> _Place:
        """Return a context that adds the file and the place to errors."""
        return _Place(self, where)

    def mapping(self, value: Any, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return a mapping with none but the given keys."""
        if not isinstance(value, Mapping):
            raise self.fail(where, f"a mapping of {', '.join(keys)} is needed, got {value!r}")
        for key in value:
            if key not in keys:
                raise self.fail(where, unknown_name("entry", str(key), keys))
        return dict(value)

    def entries(self, mapping: dict[str, Any], section: str, within: str = ""):
        """Return (place, entry) of every entry of a list in a mapping, itself `within` another."""
        value = mapping.get(section) or []
        place = f"{within}.{section}" if within else section
        if not isinstance(value, list):
            raise self.fail(place, f"a list is needed, got {value!r}")
        return [(f"{place}[{k}]", entry) for k, entry in enumerate(value)]


class _Place:
    """Adds the file and the place in it to whatever goes wrong inside."""

    def __init__(self, reader: FileReader, where: str):
        self.reader, self.where = reader, where

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, HrpsimError) and str(self.reader.path) not in str(error):
            raise self.reader.fail(self.where, str(error)) from error
        if isinstance(error, (TypeError, ValueError, FileNotFoundError)) and not isinstance(
            error, HrpsimError
        ):
            raise self.reader.fail(self.where, str(error)) from error
