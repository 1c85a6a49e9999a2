# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds and robots that are requested over ROS: lists of them, sources, errors. Needs no ROS."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.errors import HrpsimError, ModelError
from hrpsim.model.urdf.resources import Resources
from hrpsim.resources import share_path
from hrpsim.ros.base.entities import Entities, Refusal, located
from hrpsim.world.file.about import WorldNotes, read_notes
from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.load import described_robots, open_world, open_world_text

KINDS = (".yaml", ".yml")
_FORMATS = "a world is YAML"
_OWN = "package://hrpsim/"
_WORLDS = "config"
_SPAWNABLES = "urdf"
_MODEL_KINDS = (".urdf", ".xacro")
_MOST_FILES = 1000  # of a folder


class LoadedWorld(NamedTuple):
    """Notes on a world, and its source: `uri`, or `text`."""

    notes: WorldNotes = WorldNotes()
    uri: str = ""
    text: str = ""
    xacro_arguments: tuple[str, ...] = ()  # "name:=value", in addition to the file's


def load_source(
    uri: str, text: str, entities: Entities, build: Callable[[FileReader], Any]
) -> tuple[Any, LoadedWorld]:
    """Return the world that `uri`, or else `text`, describes, as `build` makes it, and its notes.

    No text from a request is evaluated: robot descriptions must meet the limits of `entities`.
    Raises Refusal with NO_RESOURCE, UNSUPPORTED_FORMAT, MISSING_ASSETS or RESOURCE_PARSE_ERROR.
    """
    if not uri and not text:
        raise Refusal("NO_RESOURCE", "neither uri nor resource_string is given")
    source: str | Path = located(uri, KINDS, _FORMATS) if uri else text
    entities.refuse_large(source)
    with _refusals():
        if isinstance(source, Path):
            reader = open_world(source)
        else:
            reader = open_world_text(source, "resource_string")
        notes = read_notes(reader)
        for path in described_robots(reader):
            entities.refuse_large(path)
            entities.refuse_xacro(path)
        world = build(reader)
    return world, LoadedWorld(notes, uri, "" if uri else text)


@contextmanager
def _refusals() -> Iterator[None]:
    """Convert errors in a world to a Refusal."""
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


class Found(NamedTuple):
    """The entries that were found, and why some sources could not be searched."""

    entries: list
    problems: list[str]


class WorldEntry(NamedTuple):
    """A world that can be loaded from `uri`."""

    uri: str
    notes: WorldNotes


def find_worlds(sources: Iterable[str]) -> Found:
    """Return the WorldEntry of each world that hrpsim ships, or in the files and folders given."""
    entries = [
        WorldEntry(_OWN + f"{_WORLDS}/{path.name}", notes)
        for path in _files(share_path(_WORLDS), KINDS)
        if (notes := _notes_of(path)) is not None
    ]
    problems = []
    for source in sources:
        try:
            path = _existing(source)
            if path.is_file():
                entries.append(WorldEntry(str(path), read_notes(open_world(path))))
                continue
            entries += [
                WorldEntry(str(file), notes)
                for file in _files(path, KINDS)
                if (notes := _notes_of(file)) is not None
            ]
        except (HrpsimError, OSError, ValueError) as error:
            problems.append(f"{source}: {error}")
    return Found(_unrepeated(entries), problems)


def find_spawnables(sources: Iterable[str]) -> Found:
    """Return the URI of each robot description that hrpsim ships or that lies in a source."""
    own = _files(share_path(_SPAWNABLES), _MODEL_KINDS)
    entries = [_OWN + f"{_SPAWNABLES}/{path.name}" for path in own]
    problems = []
    for source in sources:
        try:
            path = _existing(source)
            files = [path] if path.is_file() else _files(path, _MODEL_KINDS)
            entries += [str(file) for file in files if file.suffix in _MODEL_KINDS]
        except (OSError, ValueError) as error:
            problems.append(f"{source}: {error}")
    return Found(_unrepeated(entries), problems)


def _existing(source: str) -> Path:
    """Return the file or folder that a path, file:// or package:// URI names."""
    if source.startswith("package://"):
        package, _, inside = source.removeprefix("package://").partition("/")
        if package == "hrpsim":
            return share_path(inside)
        for folder in Resources(None).packages(package):
            if (folder / inside).exists():
                return folder / inside
        raise FileNotFoundError("there is no such folder in a package of that name")
    if source.startswith("file://"):
        source = source.removeprefix("file://")
    if "://" in source:
        raise ValueError("only paths, file:// and package:// are searched")
    path = Path(source).expanduser()
    if not path.exists():
        raise FileNotFoundError("does not exist")
    return path.absolute()


def _files(folder: Path, kinds: tuple[str, ...]) -> Iterator[Path]:
    found = sorted(path for path in folder.iterdir() if path.suffix in kinds and path.is_file())
    return iter(found[:_MOST_FILES])


def _notes_of(path: Path) -> WorldNotes | None:
    """Return the notes of a world file; None for another kind of file."""
    try:
        return read_notes(open_world(path))
    except HrpsimError:
        return None


def _unrepeated(entries: list) -> list:
    return [entry for k, entry in enumerate(entries) if entry not in entries[:k]]
