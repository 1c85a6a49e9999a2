# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The contents of a simulation: worlds and sources, robots and bodies, saved states."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.common.errors import HrpsimError, ModelError, WorldError, require_name
from hrpsim.common.resources import share_path, user_path
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.shapes.placement import Placement
from hrpsim.ros.base.entities import Entities, Refusal, located
from hrpsim.world.file import load_world
from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.world_notes import WorldNotes, read_notes
from hrpsim.world.objects.entity import Entity
from hrpsim.world.objects.robot import Robot

# Version of a simulation's description. It increases if the meaning of an entry changes. 2:
# interpolate_commands also without lockstep.
DESCRIPTION_VERSION = 2

_FORMATS = "a world is YAML"
_MODEL_KINDS = (".urdf", ".xacro")
_MOST_FILES = 1000  # largest number of files in a folder
_LONGEST_NAME = 200  # longest name [characters]


class LoadedWorld(NamedTuple):
    """Notes on a loaded world, and its source: `uri` or `text`."""

    notes: WorldNotes = WorldNotes()
    uri: str = ""
    text: str = ""
    xacro_arguments: tuple[str, ...] = ()  # "name:=value", in addition to the file's


def load_source(
    uri: str, text: str, entities: Entities, build: Callable[[FileReader], Any]
) -> tuple[Any, LoadedWorld]:
    """Build a world from `uri`, or else from `text`. Return the world and its notes.

    Text from a request is never evaluated as code. Robot descriptions must meet the limits of
    `entities`. Raises Refusal with NO_RESOURCE, UNSUPPORTED_FORMAT, MISSING_ASSETS or
    RESOURCE_PARSE_ERROR.
    """
    if not uri and not text:
        raise Refusal("NO_RESOURCE", "neither uri nor resource_string is given")
    source: str | Path = located(uri, load_world.YAML.suffixes, _FORMATS) if uri else text
    entities.refuse_large(source)
    with _refusals():
        if isinstance(source, Path):
            reader = load_world.open_world(source)
        else:
            reader = load_world.open_world_text(source, "resource_string")
        notes = read_notes(reader)
        for path in load_world.described_robots(reader):
            entities.refuse_large(path)
            entities.refuse_xacro(path)
        world = build(reader)
    return world, LoadedWorld(notes, uri, "" if uri else text)


@contextmanager
def _refusals() -> Iterator[None]:
    """Convert errors of loading a world to a Refusal."""
    try:
        yield
    except Refusal:
        raise
    except (HrpsimError, OSError) as error:
        code = "MISSING_ASSETS" if _misses_a_file(error) else "RESOURCE_PARSE_ERROR"
        raise Refusal(code, str(error)) from error


def _misses_a_file(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, FileNotFoundError):
            return True
        error = error.__cause__ or (error.__context__ if isinstance(error, ModelError) else None)
    return False


class FoundEntities(NamedTuple):
    """The results of a search, and the reasons why some sources could not be searched."""

    entries: list
    problems: list[str]


class WorldEntry(NamedTuple):
    """A world that can be loaded from `uri`."""

    uri: str
    notes: WorldNotes


def find_worlds(sources: Iterable[str]) -> FoundEntities:
    """Return a WorldEntry for each world that hrpsim ships or that the sources contain.

    sources: files and folders.
    """

    def worlds_at(path: Path, prefix: str = "") -> list[WorldEntry]:
        if os.path.isfile(path):
            return [WorldEntry(str(path), read_notes(load_world.open_world(path)))]
        return [
            WorldEntry(prefix + file.name if prefix else str(file), notes)
            for file in _files(path, load_world.YAML.suffixes)
            if (notes := _notes_of(file)) is not None
        ]

    own = worlds_at(share_path("config"), "package://hrpsim/config/")
    return _search(own, sources, worlds_at)


def find_spawnables(sources: Iterable[str]) -> FoundEntities:
    """Return the URI of each robot description that hrpsim ships or that the sources contain.

    sources: files and folders.
    """

    def models_at(path: Path) -> list[str]:
        files = [path] if os.path.isfile(path) else _files(path, _MODEL_KINDS)
        return [str(file) for file in files if file.suffix in _MODEL_KINDS]

    own = _files(share_path("urdf"), _MODEL_KINDS)
    return _search([f"package://hrpsim/urdf/{path.name}" for path in own], sources, models_at)


def _search(own: list, sources: Iterable[str], entries_at: Callable[[Path], list]) -> FoundEntities:
    """Return the entries `own` and the entries at each source, without duplicates."""
    entries, problems = own, []
    for source in sources:
        try:
            entries = entries + entries_at(_existing(source))
        except (HrpsimError, OSError, ValueError) as error:
            problems.append(f"{source}: {error}")
    return FoundEntities([e for k, e in enumerate(entries) if e not in entries[:k]], problems)


def _existing(source: str) -> Path:
    """Return the file or folder that a path, file:// or package:// URI names."""
    if source.startswith("package://"):
        package, _, inside = source.removeprefix("package://").partition("/")
        for folder in Resources(None).packages(package):
            if os.path.exists(folder / inside):
                return folder / inside
        raise FileNotFoundError("the package or the folder in it does not exist")
    if source.startswith("file://"):
        source = source.removeprefix("file://")
    if "://" in source:
        raise ValueError("must be a path, file:// or package://")
    path = user_path(source)
    if not os.path.exists(path):
        raise FileNotFoundError("does not exist")
    return path.absolute()


def _files(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    files = sorted(path for path in folder.iterdir() if path.suffix in kinds and path.is_file())
    return iter(files[:_MOST_FILES])


def _notes_of(path: Path) -> WorldNotes | None:
    """Return the notes of a world file. Return None for another kind of file."""
    try:
        return read_notes(load_world.open_world(path))
    except HrpsimError:
        return None


class SavedStates:
    """Snapshots of the present world by name, at most `limit` at once."""

    def __init__(self, limit: int = 20) -> None:
        self.limit = limit
        self._states: dict[str, dict[str, Any]] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the saved states."""
        return tuple(self._states)

    def save(self, name: str, world) -> None:
        """Save the present state under a name. An earlier state of this name is replaced."""
        if not 0 < len(name) <= _LONGEST_NAME:
            raise WorldError(f"the name of a state must have 1 to {_LONGEST_NAME} letters")
        if name not in self._states and len(self._states) >= self.limit:
            raise WorldError(
                f"there are {len(self._states)} saved states ({', '.join(self._states)}), as many "
                f"as the parameter state_limit, {self.limit}, allows"
            )
        self._states[name] = world.snapshot()

    def restore(self, name: str, world) -> None:
        """Restore a state bit for bit.

        Raise WorldError for an unknown name or a state of other entities.
        """
        require_name("saved state", name, self._states)
        world.restore(self._states[name])

    def clear(self) -> None:
        """Drop all saved states, because another world is loaded."""
        self._states = {}


class SimulationContents:
    """The robots and bodies of the world, with the robots' topics.

    The functions in `changed` are called after changes. loaded: notes on the present world, or None
    without a world.
    """

    def __init__(self, entities: Entities, robots, loaded: LoadedWorld | None) -> None:
        self._entities, self._robots = entities, robots
        self.loaded: LoadedWorld | None = loaded or LoadedWorld()
        self.changed: list[Callable[[], None]] = []  # called after a change

    def require_world(self) -> None:
        """Raise Refusal if no world is loaded."""
        if self.loaded is None:
            raise Refusal("INCORRECT_STATE", "no world is loaded. Load one first")

    def spawn(
        self,
        name: str,
        uri: str,
        text: str,
        pose: Placement,
        *,
        namespace: str = "",
        allow_renaming: bool = False,
    ) -> tuple[Entity, str]:
        """Call `Entities.spawn`. Return the entity and, for a robot, its namespace."""
        self.require_world()
        with self._entities.all_or_nothing():
            entity = self._entities.spawn(name, uri, text, pose, allow_renaming=allow_renaming)
            topics = self._robots.add(entity, namespace) if isinstance(entity, Robot) else ""
        self.notify()
        return entity, topics

    def delete(self, name: str) -> int:
        """Remove an entity with all topics and connections. Return the number of connections."""
        count = self._entities.delete(name)
        self._robots.drop_removed()
        self.notify()
        return count

    def delete_spawned(self) -> int:
        """Remove all spawned entities. Return the number of entities."""
        count = self._entities.delete_spawned()
        self._robots.drop_removed()
        self.notify()
        return count

    def notify(self) -> None:
        """Report to the functions in `changed` that the simulated entities may have changed."""
        for notify in self.changed:
            notify()
