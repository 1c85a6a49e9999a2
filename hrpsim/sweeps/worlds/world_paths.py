# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters by path: entries of a world's file, and properties of a loaded world.

A path such as "world.time_step" or "robots.hrp2.joints.CHEST_JOINT0" lists the keys from the top of
the file. The key of a list's entry is the `name`, the `between` ("friction.sole-floor.static") or
the number ("robots.0.position.2"). Friction, masses, gains, joints and rough ground are
changed in a copy of the loaded world, which was read and settled once.
"""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.common.errors import require_name
from hrpsim.common.schema import first_mistake, numeric
from hrpsim.common.values import NOT_NEGATIVE, RANGES, Range
from hrpsim.model.readers.urdf.xacro_text import read_source
from hrpsim.model.shapes.geometry import Box
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.sweeps.framework.scenario import Parameter, SweepError
from hrpsim.world.file.file_reader import dotted
from hrpsim.world.file.world_schema import WORLD_FILE
from hrpsim.world.world import World

_NOT_VARIED = ("about",)
_ARGUMENT = re.compile(r"<xacro:arg\s[^<>]*?name\s*=\s*[\"']([^\"']+)")
# Settings of a world that a study may vary even if the file lacks them.
_SETTINGS = ("time_step", "tolerance", "contact_margin", "correction_rate", "correction_speed")
_SETTINGS += ("slop", "slip_threshold", "restitution_threshold")
_SETTINGS += ("accuracy", "integrator", "solver", "sweep_limit", "friction_model", "impact_law")
_FACTOR = numeric(Range(1e-3, 1e3))
ROBOT_FACTORS = {
    "mass_factor": Parameter(_FACTOR),  # factor on masses and inertias of all links
    "gain_factor": Parameter(_FACTOR),  # factor on kp and kd of all joints
    "friction_factor": Parameter(numeric(Range(0.0, 1e3))),  # factor on dry friction of all joints
    "damping_factor": Parameter(numeric(Range(0.0, 1e3))),  # factor on damping of all joints
    "spring_factor": Parameter(_FACTOR),  # factor on stiffness and damping of bushes (no gains)
}
JOINT_VALUES = {
    **{key: Parameter(numeric(NOT_NEGATIVE)) for key in ("friction", "damping", "stiffness")},
    **{key: Parameter(numeric(NOT_NEGATIVE)) for key in ("rotor_inertia", "kp", "kd")},
}
_SHEAR = numeric(Range(-1e3, 1e3))
LINK_VALUES = {  # values of a link with the links fixed to it, about the centre of mass
    "mass_factor": Parameter(_FACTOR),
    **{f"shift_{axis}": Parameter(_SHEAR, "m") for axis in "xyz"},
    **{f"stretch_{axis}": Parameter(_FACTOR) for axis in "xyz"},
    **{f"shear_{axes}": Parameter(_SHEAR) for axes in ("xy", "xz", "yz")},
}
FRICTION = {
    "coefficient": Parameter(numeric(RANGES["friction"])),  # static and kinetic friction
    "static": Parameter(numeric(RANGES["friction"])),
    "kinetic": Parameter(numeric(RANGES["friction"])),
    "restitution": Parameter(numeric(RANGES["restitution"])),
}
_KEPT_FRICTION = "impact_law", "torsional", "rolling"  # no parameters of a sweep
SLOPE = {
    "slope": Parameter(numeric(Range(0.0, math.radians(45.0), "rad")), "rad"),
    "slope_heading": Parameter(numeric(), "rad"),  # direction in which the floor rises, from x
}
ROUGHNESS = Parameter(numeric(Range(0.0, 0.2, "m")), "m")
_TILE = 0.25  # edge of a tile of rough ground [m]
_THICKNESS = 0.05  # thickness of the tiles, mostly below the floor [m]
_ROUGH_FROM, _ROUGH_TO, _ROUGH_WIDTH = 0.25, 3.25, 1.0  # extent of rough ground [m]


def paths_of(data: Any, descriptions: Sequence[Path] = ()) -> dict[str, tuple[Any, ...]]:
    """Return the keys and indices that lead to each entry, by path.

    The arguments of xacro are taken from the robots' descriptions.
    """
    result = dict(_leaves(data, "", ()))
    for key in _SETTINGS:
        if key in RANGES or not isinstance((data.get("world") or {}).get(key), (list, dict)):
            result.setdefault(f"world.{key}", ("world", key))
    for k, description in enumerate(descriptions):
        label = _label(k, data["robots"][k], data["robots"])
        for argument in _arguments(description):
            keys = ("robots", k, "xacro_arguments", argument)
            result.setdefault(f"robots.{label}.xacro_arguments.{argument}", keys)
    return result


def changed(data: Any, paths: Mapping[str, tuple[Any, ...]], values: Mapping[str, Any]) -> Any:
    """Return a copy of a world file's data with other values. Raises SweepError if invalid."""
    new = copy.deepcopy(data)
    for path, value in values.items():
        require_name("parameter", path, paths, SweepError)
        *above, last = paths[path]
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
    """Return the label of an entry of a list: a unique name, or the number."""
    own = _own_label(entry)
    return own if own and [_own_label(each) for each in entries].count(own) == 1 else str(k)


def _own_label(entry: Any) -> str:
    if not isinstance(entry, dict):
        return ""
    if "name" in entry:
        return str(entry["name"])
    return "-".join(map(str, entry["between"])) if "between" in entry else ""


def _arguments(description: Path) -> list[str]:
    """Return the names of the arguments that a xacro file declares."""
    if not description.is_file():
        return []
    text = read_source(description)[0]
    return list(dict.fromkeys(_ARGUMENT.findall(text)))


def live_parameters(data: Mapping[str, Any], pairs: Mapping[str, Any], robots: Iterable[str]):
    """Return the parameters of a file's data by path. pairs: friction entries by label."""
    result = {
        f"friction.{label}.{name}": parameter
        for label in pairs
        for name, parameter in FRICTION.items()
    }
    for robot in robots:
        for name, parameter in ROBOT_FACTORS.items():
            result[f"robots.{robot}.{name}"] = parameter
    if data.get("ground", False) is not False:
        result["terrain.roughness"] = ROUGHNESS
        result.update({f"terrain.{name}": parameter for name, parameter in SLOPE.items()})
    return result


def parts_parameters(world: World) -> dict[str, Parameter]:
    """Return the parameters of single joints and links, by path."""
    result = {}
    for name, robot in world.robots.items():
        for key, parameter in JOINT_VALUES.items():
            result.update({f"robots.{name}.joints.{j}.{key}": parameter for j in robot.joint_names})
        moving = {f.body: f.name for f in reversed(robot.model.frames.values()) if f.body >= 0}
        for key, parameter in LINK_VALUES.items():
            result.update({f"robots.{name}.links.{k}.{key}": parameter for k in moving.values()})
    return result


def slope_normal(values: Mapping[str, Any]) -> list[float] | None:
    """Return the normal of a floor with the slope in the values, or None for a level floor."""
    slope, heading = values.get("terrain.slope", 0.0), values.get("terrain.slope_heading", 0.0)
    if not slope:
        return None
    level = math.sin(slope)
    return [-level * math.cos(heading), -level * math.sin(heading), math.cos(slope)]


def check_friction(pairs: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Raise SweepError if kinetic friction would exceed static friction."""
    for label in pairs:
        static, kinetic, _ = _friction(label, pairs, values)
        if kinetic > static:
            raise SweepError(
                f"friction.{label}: kinetic {kinetic:g} exceeds static {static:g}. "
                f"friction.{label}.coefficient sets both"
            )


def _friction(label: str, pairs: Mapping[str, Any], values: Mapping[str, Any]):
    entry, path = pairs[label], f"friction.{label}."
    static = values.get(f"{path}static", values.get(f"{path}coefficient", entry["static"]))
    usual = values.get(f"{path}coefficient", entry.get("kinetic", static))
    restitution = values.get(f"{path}restitution", entry.get("restitution", 0.0))
    return static, values.get(f"{path}kinetic", usual), restitution


def change_world(
    world: World, pairs: Mapping[str, Any], values: Mapping[str, Any], seed: int
) -> None:
    """Change a copy of the world that the file describes."""
    for label, entry in pairs.items():
        if any(f"friction.{label}.{name}" in values for name in FRICTION):
            static, kinetic, restitution = _friction(label, pairs, values)
            a, b = map(str, entry["between"])
            others = {name: entry[name] for name in _KEPT_FRICTION if name in entry}
            world.set_friction(a, b, static, kinetic, restitution, **others)
    for name, robot in world.robots.items():
        factors = {
            key: values[f"robots.{name}.{key}"]
            for key in ROBOT_FACTORS
            if f"robots.{name}.{key}" in values
        }
        if factors:
            _change_robot(robot, factors)
        _change_joints(robot, _of_parts(f"robots.{name}.joints.", values))
        for link, own in _of_parts(f"robots.{name}.links.", values).items():
            _change_link(robot, link, factors.get("mass_factor", 1.0), own)
    if values.get("terrain.roughness", 0.0) > 0.0:
        _add_tiles(world, values["terrain.roughness"], seed)


def _change_robot(robot, factors: Mapping[str, float]) -> None:
    if "mass_factor" in factors:
        robot.scale_inertias(factors["mass_factor"])
    kp, kd = robot.gains
    if "gain_factor" in factors:
        robot.set_gains(factors["gain_factor"] * kp, factors["gain_factor"] * kd)
    properties = robot.joint_properties()
    passive = (kp == 0.0) & (properties["stiffness"] > 0.0)
    spring = np.where(passive, factors.get("spring_factor", 1.0), 1.0)
    damping = np.where(passive, spring, factors.get("damping_factor", 1.0))
    if factors.keys() & {"spring_factor", "damping_factor", "friction_factor"}:
        robot.set_joint_properties(
            friction=factors.get("friction_factor", 1.0) * properties["friction"],
            damping=damping * properties["damping"],
            stiffness=spring * properties["stiffness"],
        )


def _change_link(robot, link: str, mass_factor: float, own: Mapping[str, float]) -> None:
    factor = mass_factor * own.get("mass_factor", 1.0)
    if own.keys() == {"mass_factor"}:
        robot.scale_inertias(factor, link)
        return
    deformation = np.diag([own.get(f"stretch_{axis}", 1.0) for axis in "xyz"])
    deformation[[0, 0, 1], [1, 2, 2]] = [own.get(f"shear_{a}", 0.0) for a in ("xy", "xz", "yz")]
    shift = [own.get(f"shift_{axis}", 0.0) for axis in "xyz"]
    robot.deform_link(link, factor, shift, deformation)


def _of_parts(above: str, values: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Group the values of paths ABOVE.PART.KEY as {part: {key: value}}."""
    result: dict[str, dict[str, float]] = {}
    for path, value in values.items():
        part, _, key = path.removeprefix(above).rpartition(".")
        if path.startswith(above) and part:
            result.setdefault(part, {})[key] = value
    return result


def _change_joints(robot, values: Mapping[str, Mapping[str, float]]) -> None:
    if not values:
        return
    set_to: dict[str, np.ndarray] = {**robot.joint_properties()}
    set_to["kp"], set_to["kd"] = (gain.copy() for gain in robot.gains)
    for joint, own in values.items():
        k = robot.joint_names.index(joint)
        for key, value in own.items():
            set_to[key][k] = value
    if any(own.keys() & {"kp", "kd"} for own in values.values()):
        robot.set_gains(set_to["kp"], set_to["kd"])
    del set_to["kp"], set_to["kd"]
    robot.set_joint_properties(**set_to)


def _add_tiles(world: World, roughness: float, seed: int) -> None:
    """Add square tiles ahead of the origin.

    Each tile rises above the floor by 0 to `roughness` [m].
    """
    ground = next(shape for shape in world.fixed_shapes if shape.name == "ground")
    rows = round((_ROUGH_TO - _ROUGH_FROM) / _TILE)
    columns = round(2.0 * _ROUGH_WIDTH / _TILE)
    heights = np.random.default_rng(seed).uniform(0.0, roughness, (rows, columns))
    for i, j in np.ndindex(rows, columns):
        x, y = _ROUGH_FROM + (i + 0.5) * _TILE, -_ROUGH_WIDTH + (j + 0.5) * _TILE
        at = ground.p + ground.R @ np.array([x, y, heights[i, j] - 0.5 * _THICKNESS])
        world.add_static(
            Box((_TILE, _TILE, _THICKNESS)),
            at,
            quaternion_of(ground.R),
            material=ground.material,
            name=f"tile_{i}_{j}",
        )
