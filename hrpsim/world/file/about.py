# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Metadata of a world file: its name, tags, named poses. None of it is simulated."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.world_schema import WORLD_FILE


class PoseBounds(NamedTuple):
    """A region about a named pose, in its axes: a box, or a sphere about its origin [m]."""

    lower: tuple[float, ...] = ()  # corner of a box (3,)
    upper: tuple[float, ...] = ()  # the opposite one (3,)
    radius: float = 0.0  # of a sphere


class NamedPose(NamedTuple):
    """A pose in the world for a purpose, such as spawning."""

    name: str
    position: tuple[float, ...]  # (3,) [m]
    orientation: tuple[float, ...]  # (4,) x y z w
    description: str = ""
    tags: tuple[str, ...] = ()
    bounds: PoseBounds | None = None


class EntityNotes(NamedTuple):
    """Metadata of an entity; without a category it has a default one."""

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
    """Return what a world file says in `about`; WorldError as for `load_world`.

    A world without a name has that of its file.
    """
    file = reader.checked(lambda data: WORLD_FILE({} if data is None else data))
    given = file.get("about") or {}
    entries = enumerate(given.get("poses", ()))
    poses = [_pose(reader, f"about.poses[{k}]", entry) for k, entry in entries]
    names = [pose.name for pose in poses]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise reader.fail(f"about.poses[{k}].name", f"there is a pose {name!r} already")
    for k, pose in enumerate(poses):
        if pose.bounds and any(a > b for a, b in zip(pose.bounds.lower, pose.bounds.upper)):
            raise reader.fail(f"about.poses[{k}].bounds.box", "its lower corner comes first")
    return WorldNotes(
        given.get("name", reader.path.stem),
        given.get("description", ""),
        tuple(given.get("tags", ())),
        {
            name: EntityNotes(**{**entry, "tags": tuple(entry.get("tags", ()))})
            for name, entry in (given.get("entities") or {}).items()
        },
        tuple(poses),
    )


def _pose(reader: FileReader, where: str, entry: dict[str, Any]) -> NamedPose:
    length = math.hypot(*entry.get("orientation", (1.0,)))
    if length == 0.0:
        raise reader.fail(f"{where}.orientation", "a quaternion of length 0 is no orientation")
    bounds = None
    if "bounds" in entry:
        ((kind, size),) = entry["bounds"].items()
        is_sphere = kind == "sphere"
        bounds = (
            PoseBounds(radius=size) if is_sphere else PoseBounds(tuple(size[0]), tuple(size[1]))
        )
    return NamedPose(
        entry["name"],
        tuple(entry["position"]),
        tuple(part / length for part in entry.get("orientation", (0.0, 0.0, 0.0, 1.0))),
        entry.get("description", ""),
        tuple(entry.get("tags", ())),
        bounds,
    )
