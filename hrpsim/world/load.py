"""World files: a YAML text that says what is in a world.

    world:                 # keyword arguments of World; all may be left out
      time_step: 0.001
      integrator: semi_implicit
      gravity: [0, 0, -9.80665]
      sleeping: true       # bodies at rest are left out of the step until something wakes them
    ground: {height: 0, normal: [0, 0, 1], material: floor}
    friction:
      - {between: [sole, floor], static: 0.8, kinetic: 0.7, restitution: 0}
      - {between: [ball, ball], static: 0.1, restitution: 0.95, impact_law: sequential}
    contacts:              # how they yield; rigid by default
      - {between: [sole, floor], compliance: 1.0e-6, damping_time: 0.002, force_limit: 1000}
    penalties:             # springs of contacts whose solver is penalty; see World.set_penalty
      - {between: [sole, floor], stiffness: 1.0e+5, damping_ratio: 0.2, max_extension: 1.0e-3}
    solvers:               # the first that matches; see World.add_solver_rule
      - {solver: direct, kind: contact, bodies: ["hrp2/*", crate], materials: [sole, rubber]}
    robots:
      - name: hrp2
        urdf: package://hrpsim/urdf/hrp2_like.urdf.xacro   # or a path relative to this file
        xacro_arguments: {bush: true}
        base: free
        position: [0, 0, 0.6487]
        orientation: [0, 0, 0, 1]                          # x y z w
        joints: {RLEG_JOINT2: -0.4538}
        gains: {RLEG_JOINT2: [5000, 30]}                   # kp, kd; the description's by default
        locks: {CHEST_JOINT0: 0.1, CHEST_JOINT1: }         # at a position, or where the joint is
        motors: {LARM_JOINT0: {velocity: 0.5, force_limit: 20}}
        constraints:                                       # see Robot.set_constraint
          - {kind: limit, joints: [RLEG_JOINT2], compliance: 1.0e-5, solver: direct}
        meshes: hull                                       # or exact, none; see load_model
        self_collision: true                               # false by default
        srdf: hrp2.srdf                                    # whose disable_collisions then hold
    bodies:
      - {name: crate, shape: {box: [0.3, 0.3, 0.3]}, mass: 2, position: [1, 0, 0.15]}
    static:
      - {name: step, shape: {box: [0.4, 1, 0.02]}, position: [0.5, 0, 0.01], material: floor}
    connections:           # arguments of World.connect, and:
      - between: [hrp2/RARM_LINK6, crate]                  # a and b: entity, entity/link or world
        kind: hinge
        point: [1, 0, 0.15]
        axis: [0, 1, 0]
        frame_b: {position: [0, 0, 0], orientation: [0, 0, 0, 1]}   # in place of point and axis
        drive: {rz: {velocity: 0.5, force_limit: 2}}       # motors on free axes
        enabled: false
    spring_hinges:         # arguments of World.add_spring_hinge, and:
      - between: [lid, box]                                # bodies, or a body and world
        point: [0, 0, 0.3]
        axis: [0, 1, 0]
        half_width: 0.1
        radius: 0.05
        max_extension: 1.0e-4
        limits: [-1.5, 1.5]
        friction: 0.2
        torque: 0.1                                        # of its motor
    no_collisions:         # pairs of entity or entity/link, with * and ?
      - [hrp2/LARM_*, crate]
    settle: true           # start from rest under gravity

Shapes: box: [x, y, z]; sphere: radius; cylinder and capsule: {radius: , length: };
mesh: {file: path or package://, scale: 1 or [x, y, z], hull: false};
height_field: {heights: rows of numbers, or file: .npy or .csv, spacing: or size: , origin: };
compound: a list of {shape: , position: , orientation: }. SI units.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hrpsim.errors import WorldError
from hrpsim.model.load import load_model
from hrpsim.model.system import FREE
from hrpsim.resources import share_path
from hrpsim.world.file_reader import FileReader
from hrpsim.world.load_constraints import add_connection, add_spring_hinge, constrain_joints
from hrpsim.world.load_shapes import locate, read_shape
from hrpsim.world.world import World

_SECTIONS = (
    *("world", "ground", "friction", "contacts", "penalties", "solvers", "static", "robots"),
    *("bodies", "connections", "spring_hinges", "no_collisions", "settle"),
)
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
    "impact_law",
    "friction_model",
    "stop",
    "solver",
    "position_projection",
    "continuous",
    "sleeping",
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
    "locks",
    "motors",
    "constraints",
    "accept_nonphysical_inertia",
    "meshes",
    "srdf",
    "self_collision",
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
    reader = FileReader(path)
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
        keys = ("static", "kinetic", "restitution", "impact_law")
        _set_pair(reader, world.set_friction, where, entry, keys)
    for where, entry in reader.entries(file, "contacts"):
        keys = ("compliance", "damping_time", "force_limit")
        _set_pair(reader, world.set_contact, where, entry, keys)
    for where, entry in reader.entries(file, "penalties"):
        keys = ("stiffness", "damping_ratio", "max_extension")
        _set_pair(reader, world.set_penalty, where, entry, keys)
    for where, entry in reader.entries(file, "solvers"):
        entry = reader.mapping(entry, where, ("solver", "kind", "bodies", "materials"))
        with reader.at(where):
            world.add_solver_rule(**entry)
    for where, entry in reader.entries(file, "static"):
        entry = reader.mapping(entry, where, _STATIC_KEYS)
        with reader.at(where):
            world.add_static(read_shape(reader, entry.pop("shape", None), where), **entry)
    for where, entry in reader.entries(file, "robots"):
        _add_robot(reader, world, where, entry, xacro_arguments or {})
    for where, entry in reader.entries(file, "bodies"):
        entry = reader.mapping(entry, where, _BODY_KEYS)
        with reader.at(where):
            shape = read_shape(reader, entry.pop("shape", None), where)
            if "mass" not in entry:
                raise WorldError("a body needs a mass [kg]")
            world.add_body(shape, **entry)
    for where, entry in reader.entries(file, "connections"):
        add_connection(reader, world, where, entry)
    for where, entry in reader.entries(file, "spring_hinges"):
        add_spring_hinge(reader, world, where, entry)
    for where, pair in reader.entries(file, "no_collisions"):
        if not (isinstance(pair, list) and len(pair) == 2):
            raise reader.fail(where, f'two of "entity" or "entity/link" are needed, got {pair!r}')
        with reader.at(where):
            world.disable_collisions(*pair)
    if file.get("settle", False):
        with reader.at("settle"):
            world.settle()
    return world


def _set_pair(reader: FileReader, setter, where: str, entry: Any, keys: tuple[str, ...]) -> None:
    """Give `setter` the properties of one pair of materials."""
    entry = reader.mapping(entry, where, ("between", *keys))
    pair = entry.pop("between", None)
    if not (isinstance(pair, list) and len(pair) == 2):
        raise reader.fail(where, f"between must name two materials, got {pair!r}")
    with reader.at(where):
        setter(str(pair[0]), str(pair[1]), **entry)


def _add_robot(
    reader: FileReader, world: World, where: str, entry: Any, arguments: Mapping
) -> None:
    """Load one robot, put it in its posture, and let its actuators hold it."""
    entry = reader.mapping(entry, where, _ROBOT_KEYS)
    if "urdf" not in entry:
        raise reader.fail(where, "a robot needs a urdf")
    given = entry.get("xacro_arguments") or {}
    texts = {k: _xacro_text(v) for k, v in {**given, **arguments}.items()}
    with reader.at(where):
        model = load_model(
            _find(reader, str(entry["urdf"])),
            base=entry.get("base", "free"),
            xacro_arguments=texts,
            accept_nonphysical_inertia=entry.get("accept_nonphysical_inertia", False),
            meshes=entry.get("meshes", "hull"),
            srdf=None if "srdf" not in entry else locate(reader, str(entry["srdf"])),
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
        self_collision = entry.get("self_collision", False)
        if not isinstance(self_collision, bool):
            raise WorldError(f"self_collision must be true or false, got {self_collision!r}")
        robot = world.add_robot(model, q=q, name=entry.get("name"), self_collision=self_collision)
        for name, gains in (entry.get("gains") or {}).items():
            robot.set_gains(*gains, names=[name])
        robot.command(positions=robot.joint_positions)
        constrain_joints(reader, robot, where, entry)
        robot.keep_as_initial()


def _find(reader: FileReader, urdf: str) -> Path:
    """Return the path of a description: relative to the world file, or package://hrpsim/."""
    if urdf.startswith("package://hrpsim/"):
        return share_path(urdf.removeprefix("package://hrpsim/"))
    return reader.path.parent / Path(urdf).expanduser()


def _xacro_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
