# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a world by path, and how they change its constants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hrpsim.errors import WorldError, unknown_name
from hrpsim.step.arrays import Scene

if TYPE_CHECKING:
    from hrpsim.world.objects.body import Body
    from hrpsim.world.objects.robot import Robot

JOINT_FIELDS = ("kp", "kd", "stiffness", "damping", "friction", "rotor_inertia")
KP, KD, STIFFNESS, DAMPING, FRICTION, ROTOR_INERTIA = range(len(JOINT_FIELDS))
STATIC, KINETIC = range(2)


class Changes(NamedTuple):
    """The derivatives of a world's constants by p parameters."""

    bodies: np.ndarray  # (p, n) by shares of mass and inertia
    joints: np.ndarray  # (p, 6, nv) of JOINT_FIELDS
    friction: np.ndarray  # (p, 2, k, k) static and kinetic, of pairs of materials


def no_changes(scene: Scene, count: int) -> Changes:
    """Return room for the changes by `count` parameters."""
    n, nv, k = len(scene.forest.bodies), len(scene.velocity), len(scene.materials)
    return Changes(
        np.zeros((count, n)), np.zeros((count, len(JOINT_FIELDS), nv)), np.zeros((count, 2, k, k))
    )


def changes_by_joints(scene: Scene, field: str, joints: np.ndarray) -> Changes:
    """Return the changes by one of JOINT_FIELDS of each of `joints` (degrees of freedom)."""
    found = no_changes(scene, len(joints))
    found.joints[np.arange(len(joints)), JOINT_FIELDS.index(field), joints] = 1.0
    return found


def changes_by_paths(
    scene: Scene,
    paths: Iterable[str],
    robots: Mapping[str, Robot],
    bodies: Mapping[str, Body],
    materials: Mapping[str, int],
) -> Changes:
    """Return the changes by parameters; WorldError for an unknown path."""
    paths = tuple(paths)
    if not paths:
        return no_changes(scene, 0)
    known: dict[str, tuple[str, Any, Any]] = {}
    for robot in robots.values():
        known.update(_of_robot(scene, robot))
    for name, body in bodies.items():
        k = body.first_body
        known[f"bodies.{name}.mass"] = "bodies", k, 1.0 / scene.forest.bodies["mass"][k]
    for a, i in materials.items():
        for b, j in materials.items():
            both = {"static": (STATIC,), "kinetic": (KINETIC,), "coefficient": (STATIC, KINETIC)}
            for name, kinds in both.items():
                at = np.array([(kind, *pair) for kind in kinds for pair in ((i, j), (j, i))])
                known[f"friction.{a}-{b}.{name}"] = "friction", tuple(at.T), 1.0
    found = no_changes(scene, len(paths))
    for number, path in enumerate(paths):
        if path not in known:
            raise WorldError(unknown_name("parameter", str(path), known))
        table, at, change = known[path]
        getattr(found, table)[number][at] = change
    return found


def _of_robot(scene: Scene, robot: Robot) -> dict[str, tuple[str, Any, Any]]:
    """Return the parameters of a robot: table of `Changes`, entries there, and their derivative."""
    own, label = slice(robot.first_v, robot.first_v + robot.nv), f"robots.{robot.name}"
    dofs, control = scene.forest.dofs[own], scene.control[own]
    passive = (control["kp"] == 0.0) & (dofs["stiffness"] > 0.0)
    springs = np.where(passive, [dofs["stiffness"], dofs["damping"]], 0.0)
    links = slice(robot.first_body, robot.first_body + len(robot.system.parent))
    found: dict[str, tuple[str, Any, Any]] = {
        f"{label}.mass_factor": ("bodies", links, 1.0),
        f"{label}.gain_factor": ("joints", ([KP, KD], own), [control["kp"], control["kd"]]),
        f"{label}.friction_factor": ("joints", (FRICTION, own), dofs["friction"]),
        f"{label}.damping_factor": ("joints", (DAMPING, own), dofs["damping"] * ~passive),
        f"{label}.spring_factor": ("joints", ([STIFFNESS, DAMPING], own), springs),
    }
    for joint, v in zip(robot.joint_names, (robot.first_v + robot.joint_index.v).tolist()):
        for k, field in enumerate(JOINT_FIELDS):
            found[f"{label}.joints.{joint}.{field}"] = "joints", (k, v), 1.0
    for frame in robot.model.frames.values():
        if frame.body >= 0:
            key = f"{label}.links.{frame.name}.mass_factor"
            found[key] = "bodies", robot.first_body + frame.body, 1.0
    return found
