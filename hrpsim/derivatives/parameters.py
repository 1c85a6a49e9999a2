# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Parameters of a world by path, and their effect on the world's constants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.robot import Robot

JOINT_FIELDS = ("kp", "kd", "stiffness", "damping", "friction", "rotor_inertia", "delay")
KP, KD, STIFFNESS, DAMPING, FRICTION, ROTOR_INERTIA, DELAY = range(len(JOINT_FIELDS))
STATIC, KINETIC = range(2)

# Table of `Changes`, entries there, and what returns their derivative.
Entry = tuple[str, Any, Callable[[], Any]]


class Changes(NamedTuple):
    """The derivatives of a world's constants by p parameters."""

    bodies: np.ndarray  # (p, n) by shares of mass and inertia
    joints: np.ndarray  # (p, 7, nv) of JOINT_FIELDS
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


def entries_by_path(
    scene: Scene,
    robots: Mapping[str, Robot],
    bodies: Mapping[str, Body],
    materials: Mapping[str, int],
) -> dict[str, Entry]:
    """Return the constants that each parameter of a scene changes."""
    known: dict[str, Entry] = {}
    for robot in robots.values():
        known.update(_of_robot(scene, robot))
    for name, body in bodies.items():
        masses, k = scene.forest.bodies["mass"], body.first_body
        known[f"bodies.{name}.mass"] = "bodies", k, lambda k=k, of=masses: 1.0 / of[k]
    for a, i in materials.items():
        for b, j in materials.items():
            both = {"static": (STATIC,), "kinetic": (KINETIC,), "coefficient": (STATIC, KINETIC)}
            for name, kinds in both.items():
                at = np.array([(kind, *pair) for kind in kinds for pair in ((i, j), (j, i))])
                known[f"friction.{a}-{b}.{name}"] = "friction", tuple(at.T), _one
    return known


def changes_by_paths(scene: Scene, paths: Sequence[str], known: Mapping[str, Entry]) -> Changes:
    """Return the changes by parameters of `known`. WorldError for other parameters."""
    found = no_changes(scene, len(paths))
    for number, path in enumerate(paths):
        if path not in known:
            raise WorldError(unknown_name("parameter", str(path), known))
        table, at, change = known[path]
        getattr(found, table)[number][at] = change()
    return found


def _one() -> float:
    return 1.0


def _of_robot(scene: Scene, robot: Robot) -> dict[str, Entry]:
    """Return the constants that the parameters of a robot change."""
    own, label = slice(robot.first_v, robot.first_v + robot.nv), f"robots.{robot.name}"
    dofs, control = scene.forest.dofs[own], scene.control[own]

    def springs(of: np.ndarray) -> np.ndarray:
        return of * ((control["kp"] == 0.0) & (dofs["stiffness"] > 0.0))

    links = slice(robot.first_body, robot.first_body + len(robot.system.parent))
    factors: dict[str, tuple[Any, Callable[[], Any]]] = {
        "gain_factor": (([KP, KD], own), lambda: [control["kp"], control["kd"]]),
        "friction_factor": ((FRICTION, own), lambda: dofs["friction"]),
        "damping_factor": ((DAMPING, own), lambda: dofs["damping"] - springs(dofs["damping"])),
        "spring_factor": (
            ([STIFFNESS, DAMPING], own),
            lambda: [springs(dofs["stiffness"]), springs(dofs["damping"])],
        ),
    }
    found: dict[str, Entry] = {f"{label}.{name}": ("joints", *of) for name, of in factors.items()}
    found[f"{label}.mass_factor"] = "bodies", links, _one
    units = scene.actuators.units
    late = set(units["dof"][units["slots"] > 0].tolist())
    for joint, v in zip(robot.joint_names, (robot.first_v + robot.joint_index.v).tolist()):
        for k, field in enumerate(JOINT_FIELDS):
            if k != DELAY or v in late:
                found[f"{label}.joints.{joint}.{field}"] = "joints", (k, v), _one
    for frame in robot.model.frames.values():
        if frame.body >= 0:
            key = f"{label}.links.{frame.name}.mass_factor"
            found[key] = "bodies", robot.first_body + frame.body, _one
    return found
