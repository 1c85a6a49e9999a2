# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds that are requested over ROS: their sources, and the errors in them.

Needs no ROS.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.errors import HrpsimError, ModelError
from hrpsim.ros.base.entities import Entities, Refusal, located
from hrpsim.world.file.about import WorldNotes, read_notes
from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.load import described_robots, open_world, open_world_text

KINDS = (".yaml", ".yml")
_FORMATS = "a world is YAML"


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
