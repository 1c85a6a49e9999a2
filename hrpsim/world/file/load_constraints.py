# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Load the connections and joint constraints of a world file."""

from __future__ import annotations

from typing import Any

from hrpsim.world.file.file_reader import FileReader
from hrpsim.world.objects.robot import Robot
from hrpsim.world.world import World


def add_connection(reader: FileReader, world: World, where: str, entry: dict[str, Any]) -> None:
    """Make one connection, with its motors, as `World.connect` does."""
    pair = entry.pop("between")
    enabled, motors = entry.pop("enabled", True), entry.pop("drive", {})
    for frame in ("frame_a", "frame_b"):
        if frame in entry:
            given = entry[frame]
            position = given.get("position", (0.0, 0.0, 0.0))
            entry[frame] = (position, given.get("orientation", (0.0, 0.0, 0.0, 1.0)))
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
