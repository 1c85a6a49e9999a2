# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load world files: YAML texts that describe a world (docs/reference/world_file.md)."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import ModelWarning, WorldError, unknown_name
from hrpsim.common.foreign.yaml_text import parse_yaml, read_yaml
from hrpsim.common.resources import share_path, user_path
from hrpsim.common.typed_values import check_arguments
from hrpsim.model.actuator import actuator_of
from hrpsim.model.load import load_model
from hrpsim.model.model import Model
from hrpsim.model.readers.urdf.resolve_uris import source_path
from hrpsim.model.sensors.sampled_sensor import sampled_sensor
from hrpsim.model.shapes.placement import Placement, rotation_of
from hrpsim.model.system import FREE
from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.file.load_shapes import locate, read_shape
from hrpsim.world.file.world_notes import WorldNotes, read_notes
from hrpsim.world.file.world_schema import BODY, MOST_COPIES, WORLD_FILE
from hrpsim.world.objects.robot import Robot
from hrpsim.world.parts.stepping import expect_steps
from hrpsim.world.world import World


def load_world(
    path: str | Path,
    *,
    time_step: float | None = None,
    integrator: str | None = None,
    xacro_arguments: Mapping[str, Any] | None = None,
) -> World:
    """Return the world described by a world file, or by MJCF, SDF, USD or .cnoid.

    Args:
        path: path of the file, or package:// or file:// URI.
        time_step: time step that replaces the file's time step [s].
        integrator: integrator that replaces the file's integrator.
        xacro_arguments: added to the arguments of every robot.

    Raises:
        WorldError: or ModelError, if the file is invalid. The error names the file, the entry and
            the valid values.
    """
    check_arguments(load_world, locals(), WorldError)
    try:
        path = user_path(source_path(path))
    except FileNotFoundError as error:
        raise WorldError(str(error)) from error
    settings: dict[str, Any] = {"time_step": time_step, "integrator": integrator}
    file_format = _format_of(path)
    if file_format is YAML:
        settings["xacro_arguments"] = xacro_arguments
    elif xacro_arguments:
        raise WorldError(f"{path}: {file_format.title} has no xacro arguments. Leave them out")
    return file_format.load(path, **settings)


def notes_of(path: Path) -> WorldNotes:
    """Return the notes of a world file. Files of other formats have only a name.

    Raises the errors of `load_world`.
    """
    return _format_of(path).notes(path)


class WorldFormat(NamedTuple):
    """A format of world files."""

    title: str
    suffixes: tuple[str, ...]
    load: Callable[..., World]  # arguments of `load_world`. xacro_arguments: YAML only
    notes: Callable[[Path], WorldNotes]


def _imported(title: str, suffixes: tuple[str, ...], module: str) -> WorldFormat:
    """Return a foreign format, read by the function `load_MODULE` of a module in this folder."""

    def load(path: Path, **settings: Any) -> World:
        reader = importlib.import_module(f"hrpsim.world.file.{module}")
        return getattr(reader, f"load_{module}")(path, **settings)

    return WorldFormat(title, suffixes, load, lambda path: WorldNotes(path.stem))


YAML = WorldFormat(
    "YAML",
    (".yaml", ".yml"),
    lambda path, **settings: build_world(open_world(path), **settings),
    lambda path: read_notes(open_world(path)),
)
MJCF = _imported("MJCF", (".xml",), "mjcf_world")
SDF = _imported("SDF", (".sdf", ".world"), "sdf_world")
CNOID = _imported("Choreonoid", (".cnoid",), "cnoid_world")
USD = _imported("USD", (".usd", ".usda", ".usdc", ".usdz"), "usd_world")
WORLD_FORMATS = (YAML, MJCF, SDF, CNOID, USD)


def _format_of(path: Path) -> WorldFormat:
    """Return the format with the file's suffix. Other files are YAML."""
    suffix = path.suffix.lower()
    return next((form for form in WORLD_FORMATS if suffix in form.suffixes), YAML)


def is_world_file(path: Path) -> bool:
    """Return whether a file is a world file of hrpsim, and not of another format."""
    return _format_of(path) is YAML


def open_world(path: str | Path) -> FileReader:
    """Return the reader of a world file. Raises WorldError if the file cannot be read."""
    path = user_path(path)
    try:
        return FileReader(path, read_yaml(path, WorldError, "world file"))
    except WorldError as error:
        try:
            shipped = share_path(Path("config", path.name))
        except FileNotFoundError:
            shipped = path
        if os.path.exists(path) or shipped == path:
            raise
        raise WorldError(f"{error}. hrpsim ships a file of this name: {shipped}") from error


def open_world_text(text: str, label: str) -> FileReader:
    """Return the reader of a text in the format of world files. Errors name the text by `label`."""
    return FileReader(Path(label), parse_yaml(text, label, WorldError))


def described_robots(reader: FileReader) -> list[Path]:
    """Return the robot descriptions that a world file names.

    Raises WorldError if a file is missing.
    """
    file = reader.checked(lambda data: WORLD_FILE({} if data is None else data))
    result = []
    for where, entry in _entries(file, "robots"):
        with reader.at(where):
            result.append(locate(reader, entry["urdf"]))
    return result


def build_world(
    reader: FileReader,
    *,
    time_step: float | None = None,
    integrator: str | None = None,
    xacro_arguments: Mapping[str, Any] | None = None,
) -> World:
    """Return the world of an opened file (see `load_world`)."""
    file = reader.checked(lambda data: WORLD_FILE({} if data is None else data))
    expect_steps()
    overrides = {"time_step": time_step, "integrator": integrator}
    overrides = {name: value for name, value in overrides.items() if value is not None}
    with reader.at("world"):
        world = World(**{**(file.get("world") or {}), **overrides})
    if file.get("ground", False) is not False:
        with reader.at("ground"):
            world.add_ground(**(file["ground"] if isinstance(file["ground"], dict) else {}))
    materials = _add_rules(reader, world, file)
    _add_contents(reader, world, file, xacro_arguments or {})
    _check_about(reader, world, file)
    _warn_of_materials(reader, world, materials)
    if file.get("settle"):
        with reader.at("settle"):
            world.settle()
    else:
        world.check_placed(stacklevel=5)
    return world


def _check_about(reader: FileReader, world: World, file: Mapping[str, Any]) -> None:
    """Raise WorldError if the section "about" names an entity that the world does not have."""
    for name in (file.get("about") or {}).get("entities", ()):
        if name not in world.entities:
            why = unknown_name("entity", name, world.entities)
            raise reader.fail(f"about.entities.{name}", why)


def _add_rules(reader: FileReader, world: World, file: dict[str, Any]) -> dict[str, list[str]]:
    """Set properties of materials and solvers. Return the material names by entry path."""
    setters: dict[str, Callable[..., None]] = {
        "friction": world.set_friction,
        "contacts": world.set_contact,
        "penalties": world.set_penalty,
    }
    materials: dict[str, list[str]] = {}
    for section, setter in setters.items():
        for where, entry in _entries(file, section):
            with reader.at(where):
                materials[f"{where}.between"] = pair = [str(name) for name in entry.pop("between")]
                setter(*pair, **entry)
    for where, entry in _entries(file, "solvers"):
        with reader.at(where):
            world.add_solver_rule(**entry)
            names = entry.get("materials") or []
            materials[f"{where}.materials"] = [names] if isinstance(names, str) else names
    return materials


def _add_contents(
    reader: FileReader, world: World, file: dict[str, Any], xacro_arguments: Mapping[str, Any]
) -> None:
    """Add shapes, robots, bodies and connections, and exclude collisions."""
    for where, entry in _entries(file, "static"):
        with reader.at(where):
            world.add_static(read_shape(reader, entry.pop("shape"), where), **entry)
    for where, entry in _entries(file, "robots"):
        _add_robot(reader, world, where, entry, xacro_arguments)
    for where, entry in _entries(file, "bodies"):
        with reader.at(where):
            for name, offset in _copies(entry):
                _add_body(reader, world, where, deepcopy(entry), name, offset)
    for where, entry in _entries(file, "connections"):
        add_connection(reader, world, where, entry)
    for where, pair in _entries(file, "no_collisions"):
        with reader.at(where):
            world.disable_collisions(*pair)


def _warn_of_materials(reader: FileReader, world: World, named: Mapping[str, list[str]]) -> None:
    """Warn of unused materials, unless shapes with these materials may be added later."""
    unknown = world.unknown_materials(name for names in named.values() for name in names)
    for where, names in named.items():
        for name in names:
            if name in unknown:
                warnings.warn(str(reader.fail(where, unknown[name])), ModelWarning, stacklevel=4)


def read_body(text: str, label: str) -> tuple[FileReader, dict[str, Any]]:
    """Parse a YAML text in the format of an entry of `bodies`. Return the reader and the entry.

    Errors name the text by `label`. WorldError as for `load_world`.
    """
    reader = open_world_text(text, label)
    return reader, reader.checked(BODY)


def _entries(file: dict[str, Any], section: str) -> list[tuple[str, Any]]:
    return [(f"{section}[{k}]", entry) for k, entry in enumerate(file.get(section, ()))]


def _copies(entry: dict[str, Any]) -> list[tuple[str | None, np.ndarray]]:
    """Return the name and offset (3,) [m] of each copy of a robot or body.

    If the entry has no `copies`, the only copy has the name of the entry and no offset.
    """
    name, copies = entry.pop("name", None), entry.pop("copies", None)
    if copies is None:
        return [(name, np.zeros(3))]
    if ("grid" in copies) == ("offsets" in copies) or ("grid" in copies) != ("spacing" in copies):
        raise WorldError("copies: give either grid and spacing, or offsets")
    if "grid" in copies:
        (nx, ny), (dx, dy) = copies["grid"], copies["spacing"]
        offsets = [(i * dx, j * dy, 0.0) for i in range(nx) for j in range(ny)]
    else:
        offsets = copies["offsets"]
    if len(offsets) > MOST_COPIES:
        raise WorldError(
            f"copies: {len(offsets)} copies are more than the limit of {MOST_COPIES}. Use several "
            "entries"
        )
    names = [None if name is None else f"{name}_{k}" for k in range(1, len(offsets) + 1)]
    return list(zip(names, np.array(offsets, dtype=np.float64)))


def _add_body(
    reader: FileReader,
    world: World,
    where: str,
    entry: dict[str, Any],
    name: str | None,
    offset: np.ndarray,
) -> None:
    """Add one body, and put the body on the floor if requested."""
    on_floor = entry.pop("on_floor", False)
    entry["position"] = np.add(entry.get("position", (0.0, 0.0, 0.0)), offset)
    body = world.add_body(read_shape(reader, entry.pop("shape"), where), name=name, **entry)
    if on_floor:
        body.place_on_floor()
        body.keep_as_initial()


def _add_robot(
    reader: FileReader, world: World, where: str, entry: dict[str, Any], arguments: Mapping
) -> None:
    """Load one robot, and put the copies in the posture. The actuators hold the posture."""
    stated = entry.get("xacro_arguments", {})
    with reader.at(where):
        model = load_model(
            locate(reader, entry["urdf"]),
            base=entry.get("base"),
            xacro_arguments={**stated, **arguments},
            accept_nonphysical_inertia=entry.get("accept_nonphysical_inertia", False),
            meshes=entry.get("meshes", "hull"),
            srdf=None if "srdf" not in entry else locate(reader, entry["srdf"]),
        )
    model = _with_sensors(reader, model, where, entry.get("sensors", ()))
    with reader.at(where):
        copies = _copies(entry)
    for name, offset in copies:
        _place_robot(reader, world, where, deepcopy(entry), model, name, offset)


def _place_robot(
    reader: FileReader,
    world: World,
    where: str,
    entry: dict[str, Any],
    model: Model,
    robot_name: str | None,
    offset: np.ndarray,
) -> None:
    """Add one robot in its posture, moved by an offset (3,) [m]."""
    with reader.at(where):
        q = model.starting()
        for name, position in entry.get("joints", {}).items():
            joint = model.joint(name)
            if joint.joint_type == FREE:
                raise WorldError(f"joint {name!r} is a free base. Give position and orientation")
            q[joint.q_index] = position
        robot = world.add_robot(
            model,
            q=q,
            name=robot_name,
            self_collision=entry.get("self_collision", False),
            position=_moved(model, entry.get("position"), offset),
            orientation=entry.get("orientation"),
        )
        for name, properties in entry.get("joint_properties", {}).items():
            with reader.at(f"{where}.joint_properties.{name}"):
                robot.set_joint_properties(robot.joint_index.matching(name), **properties)
        if entry.get("on_floor", False):
            robot.place_on_floor()
        for name, gains in entry.get("gains", {}).items():
            with reader.at(f"{where}.gains.{name}"):
                kp, kd = gains
                robot.set_gains(kp, kd, names=robot.joint_index.matching(name))
        for name, stated in entry.get("actuators", {}).items():
            with reader.at(f"{where}.actuators.{name}"):
                actuator = stated if isinstance(stated, str) else actuator_of(stated)
                robot.set_actuator(actuator, robot.joint_index.matching(name))
        constrain_joints(reader, robot, where, entry)
        robot.warn_of_missing_gains()
        robot.keep_as_initial()


def _moved(model: Model, position, offset: np.ndarray):
    """Return a position (3,) moved by `offset` (3,) [m].

    If `position` is None, the position in the description is moved. If the offset is also zero,
    None is returned.
    """
    if position is None and not offset.any():
        return None
    if position is None:
        is_free = model.base == "free"
        position = model.starting()[:3] if is_free else model.frames[model.base_link].p
    return np.add(position, offset)


def _with_sensors(reader: FileReader, model: Model, where: str, entries) -> Model:
    """Return the model with additional sensors on its links."""
    sensors = list(model.sampled_sensors)
    for k, entry in enumerate(entries):
        with reader.at(f"{where}.sensors[{k}]"):
            label, kind = str(entry.pop("name")), entry.pop("type")
            if label in {s.name for s in model.sensors} | {s.name for s in sensors}:
                raise WorldError(f"a sensor with the name {label!r} exists already. Rename one")
            frame = model.frame(entry.pop("link"))
            R = rotation_of("orientation", entry.pop("orientation", (0.0, 0.0, 0.0, 1.0)))
            at = Placement(R, np.array(entry.pop("position", (0.0, 0.0, 0.0))))
            at = Placement(frame.R, frame.p).then(at)
            sensors.append(sampled_sensor(label, kind, frame.name, frame.body, at, entry))
    return replace(model, sampled_sensors=tuple(sensors))


def add_connection(reader: FileReader, world: World, where: str, entry: dict[str, Any]) -> None:
    """Make one connection with its motors, as `World.connect` does."""
    pair = entry.pop("between")
    enabled, motors = entry.pop("enabled", True), entry.pop("drive", {})
    for frame in ("frame_a", "frame_b"):
        if frame in entry:
            pose = entry[frame]
            position = pose.get("position", (0.0, 0.0, 0.0))
            entry[frame] = (position, pose.get("orientation", (0.0, 0.0, 0.0, 1.0)))
    with reader.at(where):
        connection = world.connect(*pair, **entry)
        for axis, motor in motors.items():
            with reader.at(f"{where}.drive.{axis}"):
                connection.drive(axis, motor["velocity"], motor["force_limit"])
        connection.enabled = enabled
        connection.keep_as_initial()


def constrain_joints(reader: FileReader, robot: Robot, where: str, entry: dict[str, Any]) -> None:
    """Apply `locks`, `motors` and `constraints` of a robot."""
    for joint, position in entry.get("locks", {}).items():
        with reader.at(f"{where}.locks.{joint}"):
            robot.lock(joint, position)
    for joint, motor in entry.get("motors", {}).items():
        with reader.at(f"{where}.motors.{joint}"):
            robot.drive(joint, motor["velocity"], motor["force_limit"])
    for k, constraint in enumerate(entry.get("constraints", ())):
        with reader.at(f"{where}.constraints[{k}]"):
            robot.set_constraint(
                constraint.pop("kind"), constraint.pop("joints", None), **constraint
            )
