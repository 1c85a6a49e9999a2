# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sources of the world of a scenario: a world file, or a file of another format.

The entries of a world file may be varied. A file of another format is simulated unchanged, apart
from masses, gains, joints and links of robots.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hrpsim.common.errors import WorldError
from hrpsim.common.foreign.file_bytes import file_digest
from hrpsim.common.resources import user_path
from hrpsim.sweeps.worlds import world_paths
from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.load_world import (
    build_world,
    described_robots,
    is_world_file,
    load_world,
    open_world,
)
from hrpsim.world.world import World


class WorldFile:
    """A world file of hrpsim. `data` has the entries of the file as Python data."""

    def __init__(self, path: Path) -> None:
        self._reader = open_world(path)
        self.data = self._reader.checked(_mapping)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the positions in the file's text."""
        content = self._reader.content._replace(root=None)
        return self.__dict__ | {"_reader": FileReader(self._reader.path, content)}

    def paths(self) -> dict[str, tuple[Any, ...]]:
        """Return the keys of all entries that may be varied, by path."""
        return world_paths.paths_of(self.data, described_robots(self._reader))

    def build(self, data: Any) -> World:
        """Return the world with these entries."""
        return build_world(FileReader(self._reader.path, self._reader.content._replace(data=data)))


class ForeignWorld:
    """A file of another format that `load_world` reads, such as MJCF, SDF, USD or .cnoid."""

    def __init__(self, path: Path) -> None:
        self._path = path
        robots = [{"name": name} for name in load_world(path).robots]
        content = file_digest(path, WorldError, "XML_SIZE").hex()
        self.data: dict[str, Any] = {"robots": robots, "content": content}

    def paths(self) -> dict[str, tuple[Any, ...]]:
        """Return no entries, because the file is simulated unchanged."""
        return {}

    def build(self, data: Any) -> World:
        """Return the world of the file."""
        return load_world(self._path)


def source_of(path: str | Path) -> WorldFile | ForeignWorld:
    """Return the source of a file with a world. Raises the errors of `load_world`."""
    path = user_path(path)
    return WorldFile(path) if is_world_file(path) else ForeignWorld(path)


def _mapping(data: Any) -> Mapping[str, Any]:
    from hrpsim.world.file.world_schema import WORLD_FILE

    WORLD_FILE({} if data is None else data)
    return {} if data is None else data
