# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Name, tags and named poses of a world and its entities, without effect on the simulation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.world_schema import WORLD_FILE


class PoseBounds(NamedTuple):
    """A region about a named pose: a box along its axes, or a sphere about its origin [m]."""

    lower: tuple[float, ...] = ()  # corner of a box (3,)
    upper: tuple[float, ...] = ()  # opposite corner (3,)
    radius: float = 0.0  # radius of a sphere


class NamedPose(NamedTuple):
    """A pose in the world with a purpose, such as spawning."""

    name: str
    position: tuple[float, ...]  # (3,) [m]
    orientation: tuple[float, ...]  # (4,) x y z w
    description: str = ""
    tags: tuple[str, ...] = ()
    bounds: PoseBounds | None = None


class EntityNotes(NamedTuple):
    """Metadata of an entity. An entity without a category has a default category."""

    category: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()


class WorldNotes(NamedTuple):
    """Metadata of a world."""

    name: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    entities: dict[str, EntityNotes] = {}
    poses: tuple[NamedPose, ...] = ()


def read_notes(reader: FileReader) -> WorldNotes:
    """Return the section `about` of a world file. WorldError as for `load_world`.

    A world without a name has the name of its file.
    """
    file = reader.checked(lambda data: WORLD_FILE({} if data is None else data))
    about = file.get("about") or {}
    entries = enumerate(about.get("poses", ()))
    poses = [_pose(reader, f"about.poses[{k}]", entry) for k, entry in entries]
    names = [pose.name for pose in poses]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise reader.fail(
                f"about.poses[{k}].name", f"a pose with the name {name!r} exists already"
            )
    return WorldNotes(
        about.get("name", reader.path.stem),
        about.get("description", ""),
        tuple(about.get("tags", ())),
        {
            name: EntityNotes(**{**entry, "tags": tuple(entry.get("tags", ()))})
            for name, entry in (about.get("entities") or {}).items()
        },
        tuple(poses),
    )


def _pose(reader: FileReader, where: str, entry: dict[str, Any]) -> NamedPose:
    length = math.hypot(*entry.get("orientation", (1.0,)))
    if length == 0.0:
        raise reader.fail(f"{where}.orientation", "the quaternion must not be zero")
    bounds, size = None, entry.get("bounds", {})
    if "sphere" in size:
        bounds = PoseBounds(radius=size["sphere"])
    elif size:
        lower, upper = map(tuple, size["box"])
        if any(a > b for a, b in zip(lower, upper)):
            raise reader.fail(f"{where}.bounds.box", "the lower corner must come first")
        bounds = PoseBounds(lower, upper)
    return NamedPose(
        entry["name"],
        tuple(entry["position"]),
        tuple(part / length for part in entry.get("orientation", (0.0, 0.0, 0.0, 1.0))),
        entry.get("description", ""),
        tuple(entry.get("tags", ())),
        bounds,
    )
