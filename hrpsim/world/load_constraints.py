"""What a world file says about connections and about the constraints of joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hrpsim.errors import WorldError
from hrpsim.world.file_reader import FileReader
from hrpsim.world.robot import Robot
from hrpsim.world.world import World

_CONNECTION_KEYS = (
    *("name", "between", "kind", "axes", "point", "axis", "x_axis", "frame_a", "frame_b", "length"),
    *("compliance", "damping_time", "force_limit", "solver", "collide", "enabled", "drive"),
)
_SPRING_HINGE_KEYS = (
    *("name", "between", "point", "axis", "half_width", "radius", "max_extension", "stiffness"),
    *("damping_ratio", "angle", "limits", "friction", "static_friction", "solver", "collide"),
    "torque",
)
_NEEDED_OF_SPRING_HINGES = ("point", "axis", "half_width", "radius", "max_extension")
_CONSTRAINT_KEYS = ("kind", "joints", "compliance", "damping_time", "force_limit", "solver")
_MOTOR_KEYS = ("velocity", "force_limit")


def add_connection(reader: FileReader, world: World, where: str, entry: Any) -> None:
    """Make one connection, with its motors, as `World.connect` does."""
    entry = reader.mapping(entry, where, _CONNECTION_KEYS)
    pair = _pair_of(reader, where, entry)
    enabled, motors = entry.pop("enabled", True), entry.pop("drive", None) or {}
    for frame in ("frame_a", "frame_b"):
        if frame in entry:
            given = reader.mapping(entry[frame], f"{where}.{frame}", ("position", "orientation"))
            position = given.get("position", (0.0, 0.0, 0.0))
            entry[frame] = (position, given.get("orientation", (0.0, 0.0, 0.0, 1.0)))
    with reader.at(where):
        connection = world.connect(*pair, **entry)
        for axis, speed, limit in _motors(reader, f"{where}.drive", motors):
            connection.drive(axis, speed, limit)
        connection.enabled = enabled
        connection.keep_as_initial()


def add_spring_hinge(reader: FileReader, world: World, where: str, entry: Any) -> None:
    """Make one hinge of constrained springs, with its motor, as `World.add_spring_hinge` does."""
    entry = reader.mapping(entry, where, _SPRING_HINGE_KEYS)
    pair = _pair_of(reader, where, entry)
    torque = entry.pop("torque", 0.0)
    with reader.at(where):
        for key in _NEEDED_OF_SPRING_HINGES:
            if key not in entry:
                raise WorldError(f"a spring hinge needs a {key}")
        hinge = world.add_spring_hinge(*pair, **entry)
        hinge.torque = torque
        hinge.keep_as_initial()


def _pair_of(reader: FileReader, where: str, entry: dict[str, Any]) -> list:
    """Take what is joined out of an entry."""
    pair = entry.pop("between", None)
    if not (isinstance(pair, list) and len(pair) == 2):
        raise reader.fail(where, f'between must name two of "entity/link" or world, got {pair!r}')
    return pair


def constrain_joints(reader: FileReader, robot: Robot, where: str, entry: dict[str, Any]) -> None:
    """Do what `locks`, `motors` and `constraints` of a robot say."""
    locks = entry.get("locks") or {}
    if not isinstance(locks, Mapping):
        raise reader.fail(f"{where}.locks", f"joints with positions are needed, got {locks!r}")
    for joint, position in locks.items():
        robot.lock(joint, position)
    for joint, speed, limit in _motors(reader, f"{where}.motors", entry.get("motors") or {}):
        robot.drive(joint, speed, limit)
    for place, constraint in reader.entries(entry, "constraints", where):
        constraint = reader.mapping(constraint, place, _CONSTRAINT_KEYS)
        with reader.at(place):
            if "kind" not in constraint:
                raise WorldError("a constraint needs a kind")
            robot.set_constraint(
                constraint.pop("kind"), constraint.pop("joints", None), **constraint
            )


def _motors(reader: FileReader, where: str, motors: Any):
    """Yield (what is driven, velocity, force limit)."""
    if not isinstance(motors, Mapping):
        raise reader.fail(where, f"a mapping to {', '.join(_MOTOR_KEYS)} is needed, got {motors!r}")
    for name, motor in motors.items():
        motor = reader.mapping(motor, f"{where}.{name}", _MOTOR_KEYS)
        for key in _MOTOR_KEYS:
            if key not in motor:
                raise reader.fail(f"{where}.{name}", f"a motor needs a {key}")
        yield name, motor["velocity"], motor["force_limit"]
