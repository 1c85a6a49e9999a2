# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Study files: YAML with a scenario, the values of the parameters, and the measured outcomes.

docs/reference/study_file.md lists the entries. `STUDY_FILE` is the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from hrpsim.common import schema
from hrpsim.common.errors import shown_value
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.resources import share_path, user_path
from hrpsim.common.values import POSITIVE
from hrpsim.sweeps.boundary import BoundaryScenario
from hrpsim.sweeps.framework.design import METHODS, MOST_CELLS, Design, Product, product, read_table
from hrpsim.sweeps.framework.scenario import FunctionScenario, Scenario, SweepError
from hrpsim.sweeps.worlds.world_scenario import WorldScenario
from hrpsim.world.file.file_reader import checked_content, dotted


def _value(value: Any) -> Any:
    """Check that a value is a scalar or a mapping, and return the value."""
    if not isinstance(value, (str, bool, int, float, dict)):
        raise schema.needed("a value, or a mapping such as {uniform: [0, 1]}", value)
    return value


_DESIGN = schema.mapping(
    {
        "method": schema.one_of("method", METHODS),
        "count": schema.integer(1, MOST_CELLS),
        "repeat": schema.integer(1, MOST_CELLS),
        "parameters": schema.table(_value, "from parameters to values"),
        "table": schema.name,
    }
)
_PLUGIN = schema.mapping(
    {"parameters": schema.table(lambda value: value, "from parameters to values")},
    required={"plugin": schema.name},
)
_CONTROLLER = schema.either(
    "a plug-in's name, or a mapping with plugin and parameters", schema.name, _PLUGIN
)
_PUSH = schema.mapping(
    {
        "entity": schema.name,
        "link": schema.name,
        **{key: schema.numeric() for key in ("impulse", "heading", "begin", "duration")},
    }
)
_FIND = schema.mapping(
    {"bad": schema.name},
    required={
        "parameter": schema.name,
        "between": schema.vector(2),
        "tolerance": schema.numeric(POSITIVE),
    },
)
OF_WORLDS = {
    "world": schema.name,
    "robot": schema.name,
    "controller": schema.null_or(_CONTROLLER),
    "duration": schema.numeric(POSITIVE),
    "period": schema.numeric(POSITIVE),
    "pushes": schema.listing(_PUSH),
    "sensors": schema.table(schema.numeric(), "from kinds of noise to standard deviations"),
    "delay": schema.table(schema.integer(0, 1000), "from sensing or command to control periods"),
    "terrain": schema.table(schema.numeric(), "from slope, slope_heading, roughness to numbers"),
    "measured": schema.listing(schema.name, 1, what="a list of at least one outcome"),
}
OF_FUNCTIONS = {
    "function": schema.name,
    "outcomes": schema.table(schema.scalar, "from outcomes to units"),
}
STUDY_FILE = schema.mapping(
    {
        "title": schema.name,
        **OF_WORLDS,
        **OF_FUNCTIONS,
        "find": _FIND,
        "seed": schema.integer(0, 2**63 - 1),
    },
    required={
        "design": schema.either(
            "a design, or a list of designs", _DESIGN, schema.listing(_DESIGN, 1)
        )
    },
)


@dataclass(frozen=True)
class Study:
    """A study, ready to run: `sweep(study.scenario, study.design, seed=study.seed)`."""

    title: str
    scenario: Scenario
    design: Design | Product
    seed: int


def read_study(path: str | Path, instead: Mapping[str, Any] = MappingProxyType({})) -> Study:
    """Read a study file. Raises HrpsimError with file, line and entry.

    Args:
        path: path of the file.
        instead: entries that replace entries of the file. Paths in these entries are absolute.
    """
    path = user_path(path)
    text = read_yaml(path, SweepError, "study file")
    file = {**checked_content(text, STUDY_FILE, SweepError), **instead}
    try:
        scenario = _scenario(path, file)
    except ValueError as error:
        raise SweepError(_with_file(path, error)) from error
    entries = file["design"] if isinstance(file["design"], list) else [file["design"]]
    designs = []
    for k, entry in enumerate(entries):
        try:
            designs.append(_design(path, entry))
        except SweepError as error:
            keys = ["design", k] if isinstance(file["design"], list) else ["design"]
            raise SweepError(f"{text.location(keys)}: {dotted(keys)}: {error}") from error
        if (looked := file.get("find", {}).get("parameter")) in designs[-1].paths:
            raise SweepError(
                f"{path}: {looked} is in both the design and `find`. Remove it from one"
            )
    title = file.get("title", path.stem)
    return Study(
        title, scenario, designs[0] if len(designs) == 1 else product(*designs), file.get("seed", 0)
    )


def _with_file(path: Path, error: Exception) -> str:
    return str(error) if str(path) in str(error) else f"{path}: {error}"


def _world_scenario(path: Path, file: dict[str, Any]) -> WorldScenario:
    if "duration" not in file:
        raise SweepError("a study of a world needs a duration [s]")
    controller = file.get("controller") or {}
    if isinstance(controller, str):
        controller = {"plugin": controller}
    options = {key: file[key] for key in OF_WORLDS if key in file}
    options["world"] = _beside(path, file["world"])
    plugin = controller.get("plugin")
    options["controller"] = None if plugin is None else _called(path, plugin)
    options["parameters"] = controller.get("parameters")
    return WorldScenario(**options)


def _scenario(path: Path, file: dict[str, Any]) -> Scenario:
    if ("world" in file) == ("function" in file):
        raise SweepError("a study needs either a `world` or a `function`")
    kind, others = ("world", OF_FUNCTIONS) if "world" in file else ("function", OF_WORLDS)
    for key in others:
        if key in file:
            raise SweepError(f"{key} cannot be used with {kind}. Leave it out")
    scenario: Scenario
    if kind == "function":
        scenario = FunctionScenario(_called(path, file["function"]), file.get("outcomes"))
    else:
        scenario = _world_scenario(path, file)
    if "find" in file:
        find = dict(file["find"], between=tuple(file["find"]["between"]))
        scenario = BoundaryScenario(scenario, **find)
    return scenario


def _design(path: Path, entry: dict[str, Any]) -> Design:
    rows: list[dict[str, Any]] = []
    method = entry.get("method", "table" if "table" in entry else "grid")
    if "table" in entry:
        rows = read_table(_beside(path, entry["table"]))
    return Design(
        entry.get("parameters", {}), method, entry.get("count"), entry.get("repeat", 1), rows
    )


def _called(study: Path, name: str) -> str:
    """Return "module:attribute" unchanged, and "file.py:attribute" with the absolute path."""
    file, separator, attribute = name.rpartition(":")
    return f"{_beside(study, file)}:{attribute}" if separator and file.endswith(".py") else name


def _beside(study: Path, named: str) -> Path:
    """Return the absolute path of a file next to the study, or of a file that hrpsim ships."""
    path = (study.parent / user_path(named)).absolute()
    try:
        if path.exists():
            return path
    except OSError as error:  # a name that is too long
        raise SweepError(f"{shown_value(named)}: {error.strerror}") from error
    try:
        return share_path(named)
    except FileNotFoundError:
        return path
