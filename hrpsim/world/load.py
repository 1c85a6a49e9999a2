"""World files: a YAML text that says what is in a world.

    world:                 # keyword arguments of World; all may be left out
      time_step: 0.001
      integrator: semi_implicit
      gravity: [0, 0, -9.80665]
    ground: {height: 0, normal: [0, 0, 1], material: floor}
    friction:
      - {between: [sole, floor], static: 0.8, kinetic: 0.7, restitution: 0}
    robots:
      - name: hrp2
        urdf: package://hrpsim/urdf/hrp2_like.urdf.xacro   # or a path relative to this file
        xacro_arguments: {bush: true}
        base: free
        position: [0, 0, 0.6487]
        orientation: [0, 0, 0, 1]                          # x y z w
        joints: {RLEG_JOINT2: -0.4538}
        gains: {RLEG_JOINT2: [5000, 30]}                   # kp, kd; the description's by default
    bodies:
      - {name: crate, shape: {box: [0.3, 0.3, 0.3]}, mass: 2, position: [1, 0, 0.15]}
    static:
      - {name: step, shape: {box: [0.4, 1, 0.02]}, position: [0.5, 0, 0.01], material: floor}
    settle: true           # start from rest under gravity

Shapes: box: [x, y, z]; sphere: radius; cylinder and capsule: {radius: , length: }. SI units.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hrpsim.errors import HrpsimError, WorldError, unknown_name
from hrpsim.model.geometry import Box, Capsule, Cylinder, Geometry, Sphere
from hrpsim.model.load import load_model
from hrpsim.model.system import FREE
from hrpsim.resources import share_path
from hrpsim.world.world import World

_SECTIONS = ("world", "ground", "friction", "robots", "bodies", "static", "settle")
_WORLD_KEYS = (
    "time_step",
    "gravity",
    "integrator",
    "tolerance",
    "sweep_limit",
    "contact_margin",
    "correction_rate",
    "correction_speed",
    "slop",
    "slip_threshold",
    "restitution_threshold",
    "friction_model",
)
_ROBOT_KEYS = (
    "name",
    "urdf",
    "xacro_arguments",
    "base",
    "position",
    "orientation",
    "joints",
    "gains",
    "accept_nonphysical_inertia",
)
_BODY_KEYS = (
    "name",
    "shape",
    "mass",
    "position",
    "orientation",
    "velocity",
    "angular_velocity",
    "material",
)
_STATIC_KEYS = ("name", "shape", "position", "orientation", "material")


def load_world(
    path: str | Path,
    *,
    time_step: float | None = None,
    integrator: str | None = None,
    xacro_arguments: Mapping[str, Any] | None = None,
) -> World:
    """Return the world that a file describes.

    `time_step` [s] and `integrator` replace the file's; `xacro_arguments` are added to those of
    every robot. Raises WorldError (or ModelError) that names the file, the place in it and what
    would be right there; there is never a half-built world.
    """
    path = Path(path).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise WorldError(f"world file {path}: {error.strerror or error}") from error
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise WorldError(f"{path}: not YAML: {error}") from error
    reader = _Reader(path)
    file = reader.mapping(content if content is not None else {}, "the file", _SECTIONS)
    options = reader.mapping(file.get("world", {}), "world", _WORLD_KEYS)
    if time_step is not None:
        options["time_step"] = time_step
    if integrator is not None:
        options["integrator"] = integrator
    with reader.at("world"):
        world = World(**options)
    if "ground" in file:
        ground = file["ground"] if isinstance(file["ground"], Mapping) else {}
        with reader.at("ground"):
            if file["ground"] is not False:
                keys = ("height", "normal", "material")
                world.add_ground(**reader.mapping(ground, "ground", keys))
    for where, entry in reader.entries(file, "friction"):
        reader.add_friction(world, where, entry)
    for where, entry in reader.entries(file, "static"):
        entry = reader.mapping(entry, where, _STATIC_KEYS)
        with reader.at(where):
            world.add_static(reader.shape(entry.pop("shape", None), where), **entry)
    for where, entry in reader.entries(file, "robots"):
        reader.add_robot(world, where, entry, xacro_arguments or {})
    for where, entry in reader.entries(file, "bodies"):
        entry = reader.mapping(entry, where, _BODY_KEYS)
        with reader.at(where):
            shape = reader.shape(entry.pop("shape", None), where)
            if "mass" not in entry:
                raise WorldError("a body needs a mass [kg]")
            world.add_body(shape, **entry)
    if file.get("settle", False):
        with reader.at("settle"):
            world.settle()
    return world


class _Reader:
    """Reads parts of one file; every complaint names the file and the place."""

    def __init__(self, path: Path):
        self.path = path

    def fail(self, where: str, why: str) -> WorldError:
        """Return the error that names the file and the place."""
        return WorldError(f"{self.path}: {where}: {why}")

    def at(self, where: str) -> _Place:
        """Return a context that adds the file and the place to errors."""
        return _Place(self, where)

    def mapping(self, value: Any, where: str, keys: tuple[str, ...]) -> dict[str, Any]:
        """Return a mapping with none but the given keys."""
        if not isinstance(value, Mapping):
            raise self.fail(where, f"a mapping of {', '.join(keys)} is needed, got {value!r}")
        for key in value:
            if key not in keys:
                raise self.fail(where, unknown_name("entry", str(key), keys))
        return dict(value)

    def entries(self, file: dict[str, Any], section: str):
        """Return (place, entry) of every entry of a list."""
        value = file.get(section) or []
        if not isinstance(value, list):
            raise self.fail(section, f"a list is needed, got {value!r}")
        return [(f"{section}[{k}]", entry) for k, entry in enumerate(value)]

    def shape(self, value: Any, where: str) -> Geometry:
        """Return the geometry of {kind: size}."""
        if not isinstance(value, Mapping) or len(value) != 1:
            raise self.fail(
                where, f"shape must be one of box, sphere, cylinder, capsule: {value!r}"
            )
        kind, size = next(iter(value.items()))
        with self.at(f"{where}.shape"):
            if kind == "box":
                return Box(size)
            if kind == "sphere":
                return Sphere(float(size))
            if kind in ("cylinder", "capsule"):
                size = self.mapping(size, f"{where}.shape", ("radius", "length"))
                return (Cylinder if kind == "cylinder" else Capsule)(**size)
        shapes = ("box", "sphere", "cylinder", "capsule")
        raise self.fail(where, unknown_name("shape", str(kind), shapes))

    def add_friction(self, world: World, where: str, entry: Any) -> None:
        """Set the coefficients of one pair of materials."""
        keys = ("between", "static", "kinetic", "restitution")
        entry = self.mapping(entry, where, keys)
        pair = entry.pop("between", None)
        if not (isinstance(pair, list) and len(pair) == 2):
            raise self.fail(where, f"between must name two materials, got {pair!r}")
        with self.at(where):
            world.set_friction(str(pair[0]), str(pair[1]), **entry)

    def add_robot(self, world: World, where: str, entry: Any, arguments: Mapping) -> None:
        """Load one robot, put it in its posture, and let its actuators hold it."""
        entry = self.mapping(entry, where, _ROBOT_KEYS)
        if "urdf" not in entry:
            raise self.fail(where, "a robot needs a urdf")
        given = entry.get("xacro_arguments") or {}
        texts = {k: _xacro_text(v) for k, v in {**given, **arguments}.items()}
        with self.at(where):
            model = load_model(
                self.find(str(entry["urdf"])),
                base=entry.get("base", "free"),
                xacro_arguments=texts,
                accept_nonphysical_inertia=entry.get("accept_nonphysical_inertia", False),
            )
            q = model.neutral()
            if model.base == "free":
                q[:3] = entry.get("position", (0.0, 0.0, 0.0))
                q[3:7] = entry.get("orientation", (0.0, 0.0, 0.0, 1.0))
            elif "position" in entry or "orientation" in entry:
                raise WorldError("a robot with base: fixed stands where its description says")
            for name, position in (entry.get("joints") or {}).items():
                joint = model.joint(name)
                if joint.joint_type == FREE:
                    raise WorldError(f"joint {name!r} is a free base: give position, orientation")
                q[joint.q_index] = position
            robot = world.add_robot(model, q=q, name=entry.get("name"))
            for name, gains in (entry.get("gains") or {}).items():
                robot.set_gains(*gains, names=[name])
            robot.command(positions=robot.joint_positions)
            robot.keep_as_initial()

    def find(self, urdf: str) -> Path:
        """Return the path of a description: relative to the world file, or package://hrpsim/."""
        if urdf.startswith("package://hrpsim/"):
            return share_path(urdf.removeprefix("package://hrpsim/"))
        return self.path.parent / Path(urdf).expanduser()


class _Place:
    """Adds the file and the place in it to whatever goes wrong inside."""

    def __init__(self, reader: _Reader, where: str):
        self.reader, self.where = reader, where

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, HrpsimError) and str(self.reader.path) not in str(error):
            raise self.reader.fail(self.where, str(error)) from error
        if isinstance(error, (TypeError, ValueError, FileNotFoundError)) and not isinstance(
            error, HrpsimError
        ):
            raise self.reader.fail(self.where, str(error)) from error


def _xacro_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
