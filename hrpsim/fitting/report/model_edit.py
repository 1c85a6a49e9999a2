# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write fitted values into the text of a URDF, an MJCF or a world file.

All other text, such as comments, stays unchanged.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hrpsim.common.errors import WorldError
from hrpsim.common.foreign.text import read_text
from hrpsim.common.resources import user_path
from hrpsim.fitting.report.description_edits import DescriptionEdits
from hrpsim.fitting.report.text_places import Edit, changed, scalar_place
from hrpsim.fitting.report.verdict_table import paths_of
from hrpsim.fitting.result import FitResult
from hrpsim.fitting.unknowns import DELAY, FitError
from hrpsim.sweeps.worlds.world_paths import paths_of as paths_of_world
from hrpsim.world.file.load_world import described_robots, open_world
from hrpsim.world.file.world_schema import WORLD_FILE

WORLD_SUFFIXES, DESCRIPTION_SUFFIXES = (".yaml", ".yml"), (".urdf", ".xml")


def write_model(
    world: str | Path, result: FitResult, parameters: Mapping[str, Any], target: str | Path
) -> dict[str, str]:
    """Write a changed copy of the world file, or of the description of a robot.

    Only the text of the values changes. Comments, order and blanks stay. Values without an effect
    on the recordings are not written.

    Args:
        world: world file of the fit.
        result: result of the fit.
        parameters: parameters of the fit, with their paths.
        target: file to write. If the suffix is .yaml, the world file is written. If the suffix is
            .urdf or .xml, the description of the robot in this format is written.

    Returns:
        {path: reason} for each value that was not written.

    Raises:
        FitError: the suffix of the target is unknown, or the description cannot be changed.
        WorldError: the world file cannot be read.
    """
    target = user_path(target)
    values = {
        path: float(value)
        for name, value in zip(result.names, result.values)
        if name not in result.without_effect
        for path in paths_of(name, parameters[name])
    }
    if target.suffix in WORLD_SUFFIXES:
        text, left = _world_text(Path(world), values)
    elif target.suffix in DESCRIPTION_SUFFIXES:
        text, left = _description_text(Path(world), values, result, target.suffix)
    else:
        known = ", ".join((*WORLD_SUFFIXES, *DESCRIPTION_SUFFIXES))
        raise FitError(f"{target}: the suffix must be one of: {known}")
    target.write_text(text, encoding="utf-8")
    return left


def _world_text(world: Path, values: Mapping[str, float]) -> tuple[str, dict[str, str]]:
    reader = open_world(world)
    text = read_text(Path(reader.path), WorldError, "YAML_SIZE", "world file")
    reader.checked(lambda data: WORLD_FILE({} if data is None else data))
    root, data = reader.content.root, reader.content.data or {}
    robots = data.get("robots") or ()
    known = paths_of_world(data)
    edits, left = [], {}
    for path, value in values.items():
        keys = known.get(path) or _gain_keys(path, robots)
        place = scalar_place(root, tuple(keys)) if keys else None
        if place is None:
            left[path] = _why_not_in_world(path)
        else:
            edits.append(Edit(*place, f"{value:.9g}"))
    return changed(text, edits), left


def _gain_keys(path: str, robots: Any) -> tuple[Any, ...]:
    """Return the keys of a joint's gain in a world file, or () if the file does not have this gain.

    The keys are "robots", number of the robot, "gains", joint, and 0 for kp or 1 for kd.
    """
    parts = path.split(".")
    if len(parts) != 5 or parts[0] != "robots" or parts[4] not in ("kp", "kd"):
        return ()
    for k, robot in enumerate(robots):
        if str(robot.get("name", k)) == parts[1] and parts[3] in (robot.get("gains") or {}):
            return ("robots", k, "gains", parts[3], ("kp", "kd").index(parts[4]))
    return ()


def _why_not_in_world(path: str) -> str:
    if path.startswith(DELAY):
        return "a delay of commands is not a property of a model"
    if path.endswith((".kp", ".kd")):
        return "give the joint an entry of its own in `gains` of the world file"
    if ".joints." in path or ".links." in path:
        return "belongs to the description: write a .urdf or .xml"
    return "the world file has no such entry"


def _description_text(
    world: Path, values: Mapping[str, float], result: FitResult, suffix: str
) -> tuple[str, dict[str, str]]:
    reader = open_world(world)
    reader.checked(lambda data: WORLD_FILE({} if data is None else data))
    robots = (reader.content.data or {}).get("robots") or ()
    files = dict(
        zip((str(robot.get("name", k)) for k, robot in enumerate(robots)), described_robots(reader))
    )
    chosen = [
        name
        for name, file in files.items()
        if file.suffix == suffix and any(path.startswith(f"robots.{name}.") for path in values)
    ]
    if len(chosen) != 1:
        names = ", ".join(f"{name}: {file.name}" for name, file in files.items())
        raise FitError(
            f"{len(chosen)} robots with fitted values have a description {suffix} ({names}). "
            "Choose the description by the ending of its name"
        )
    name = chosen[0]
    edits = DescriptionEdits(name, files[name], values, result.inertias)
    left = {path: why for path in values if (why := edits.put(path))}
    return edits.text(), left
