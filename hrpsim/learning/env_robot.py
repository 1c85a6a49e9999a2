# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The robot of a configuration of Isaac Lab or mjlab: pose, posture, gains and limits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hrpsim.learning.configs import RobotCfg
from hrpsim.learning.section import Section

# Fields of RobotCfg, and the entries of an actuator that give them. The first entry with a value
# is read.
_FIELDS = {
    "stiffness": ("stiffness",),
    "damping": ("damping",),
    "armature": ("armature",),
    "effort_limit": ("effort_limit", "effort_limit_sim"),
    "velocity_limit": ("velocity_limit_sim",),
}
_NAMES = "joint_names_expr", "target_names_expr"
# Kinds of actuators that are a servo with a bound on its effort, and further entries.
_SERVOS = (
    *("ImplicitActuator", "IdealPDActuator", "DCMotor", "DelayedPDActuator"),
    *("RemotizedPDActuator", "BuiltinPositionActuator", "IdealPdActuator", "DcMotorActuator"),
)


def robot_of(theirs: Section, own: RobotCfg) -> RobotCfg:
    """Return a robot with the pose, posture, gains and limits of the configuration.

    Args:
        theirs: the robot's section of the configuration.
        own: the robot with its description.

    Raises:
        StateError: an entry is missing or has the wrong type.
    """
    start = theirs.section("init_state")
    actuators: dict[str, Any] = {
        field: values or None for field, values in _actuators(theirs).items()
    }
    factor = theirs if "actuators" in theirs else theirs.section("articulation")
    collides = _self_collision(theirs)
    return replace(
        own,
        position=start.numbers("pos", 3),
        orientation=_orientation(start),
        joint_pos=by_name(start, "joint_pos"),
        soft_joint_pos_limit_factor=factor.number("soft_joint_pos_limit_factor", 1.0),
        self_collision=own.self_collision if collides is None else collides,
        **actuators,
    )


def _orientation(start: Section) -> tuple[float, float, float, float] | None:
    """Return the quaternion x y z w of the base. The file has w x y z."""
    if not start.has("rot"):
        return None
    w, x, y, z = start.numbers("rot", 4)
    return x, y, z, w


def _self_collision(theirs: Section) -> bool | None:
    """Return whether links collide with each other, or None if the file has no such entry."""
    properties = theirs.section("spawn", {}).section("articulation_props", {})
    enabled = properties.get("enabled_self_collisions")
    return None if enabled is None else bool(enabled)


def _actuators(theirs: Section) -> dict[str, dict[str, float]]:
    """Return gains and limits as fields of RobotCfg, each by regular expressions of joints."""
    holder = theirs if "actuators" in theirs else theirs.section("articulation", {})
    result: dict[str, dict[str, float]] = {field: {} for field in _FIELDS}
    for actuator in holder.parts("actuators"):
        _read_law(actuator)
        names = actuator.names(next((key for key in _NAMES if key in actuator), _NAMES[0]))
        for field, entries in _FIELDS.items():
            key = next((key for key in entries if actuator.has(key)), None)
            if key is not None:
                result[field] |= _values(actuator, key, names)
    return result


def _read_law(actuator: Section) -> None:
    """Mark the class of an actuator as read if hrpsim has the same actuator law.

    A warning names other classes.
    """
    if actuator.has("class_type") and short_name(actuator.peek("class_type")) in _SERVOS:
        actuator.get("class_type")


def _values(actuator: Section, key: str, names: tuple[str, ...]) -> dict[str, float]:
    """Return an entry's values by regular expressions that match only joints of `names`."""
    if not actuator.is_section(key):
        return dict.fromkeys(names, actuator.number(key))
    group = "|".join(names)
    return {f"(?=(?:{group})\\Z)(?:{name})": x for name, x in by_name(actuator, key).items()}


def by_name(section: Section, key: str) -> dict[str, float]:
    """Return the numbers of a section by name. A missing section gives an empty mapping."""
    values = section.section(key, {})
    return {name: values.number(name) for name in values}


def short_name(dotted: str) -> str:
    """Return the class name of a dotted name such as module.submodule:Class."""
    return dotted.rpartition(":")[2].rpartition(".")[2]


def scale_of(section: Section, key: str, rest: float) -> float | Mapping[str, Any]:
    """Return one number, or numbers by name. The default for a missing entry is `rest`."""
    return by_name(section, key) if section.is_section(key) else section.number(key, rest)
