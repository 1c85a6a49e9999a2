# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a world file by path: "world.time_step", "robots.hrp2.joints.CHEST_JOINT0".

A path names the keys from the top of the file. An entry of a list is named by its `name`, by its
`between` ("friction.sole-floor.static"), or else by its number ("robots.0.position.2").
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hrpsim.errors import unknown_name
from hrpsim.schema import first_mistake
from hrpsim.sweeps.framework.errors import SweepError
from hrpsim.values import RANGES
from hrpsim.world.file.file_reader import dotted
from hrpsim.world.file.world_schema import WORLD_FILE

_NOT_VARIED = ("about",)
_ARGUMENT = re.compile(r"<xacro:arg\s[^>]*?name\s*=\s*[\"']([^\"']+)")
# Settings of a world that a file may leave out but a study may vary.
_SETTINGS = ("time_step", "tolerance", "contact_margin", "correction_rate", "correction_speed")
_SETTINGS += ("slop", "slip_threshold", "restitution_threshold")
_SETTINGS += ("integrator", "solver", "sweep_limit", "friction_model", "impact_law")


def paths_of(data: Any, descriptions: Mapping[str, Path]) -> dict[str, tuple[Any, ...]]:
    """Return keys and indices by path; xacro arguments are those of the files `descriptions`."""
    found = dict(_leaves(data, "", ()))
    for key in _SETTINGS:
        if key in RANGES or not isinstance((data.get("world") or {}).get(key), (list, dict)):
            found.setdefault(f"world.{key}", ("world", key))
    for k, robot in enumerate(data.get("robots") or ()):
        label = _label(k, robot, data["robots"])
        for argument in _arguments(descriptions.get(label)):
            keys = ("robots", k, "xacro_arguments", argument)
            found.setdefault(f"robots.{label}.xacro_arguments.{argument}", keys)
    return found


def changed(data: Any, places: Mapping[str, tuple[Any, ...]], values: Mapping[str, Any]) -> Any:
    """Return a copy of a world file's data with other values; SweepError for invalid ones."""
    new = copy.deepcopy(data)
    for path, value in values.items():
        if path not in places:
            raise SweepError(unknown_name("parameter", path, places))
        *above, last = places[path]
        node = new
        for key in above:
            if isinstance(node, dict) and node.get(key) is None:
                node[key] = {}
            node = node[key]
        node[last] = value
    _, where, mistake = first_mistake(WORLD_FILE, new)
    if mistake:
        raise SweepError(f"{dotted(where)}: {mistake}")
    return new


def _leaves(data: Any, path: str, keys: tuple[Any, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    children: list[tuple[Any, str, Any]] = []
    if isinstance(data, dict):
        children = [(k, str(k), v) for k, v in data.items() if keys or k not in _NOT_VARIED]
    elif isinstance(data, list):
        children = [(k, _label(k, v, data), v) for k, v in enumerate(data)]
    elif path:
        yield path, keys
    for key, label, child in children:
        yield from _leaves(child, f"{path}.{label}" if path else label, (*keys, key))


def _label(k: int, entry: Any, entries: list[Any]) -> str:
    """Return the label of an entry of a list: its unique name, else its number."""
    own = _own_label(entry)
    return own if own and [_own_label(each) for each in entries].count(own) == 1 else str(k)


def _own_label(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    if "name" in entry:
        return str(entry["name"])
    return "-".join(map(str, entry["between"])) if "between" in entry else ""


def _arguments(description: Path | None) -> list[str]:
    """Return the names of the arguments that a xacro file declares."""
    if description is None or not description.is_file():
        return []
    text = description.read_text(encoding="utf-8", errors="replace")
    return list(dict.fromkeys(_ARGUMENT.findall(text)))
