# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Paths of a world's parameters, and the constants of the scene that each parameter changes.

Examples of paths are `bodies.box.mass` and `robots.arm.joints.elbow.friction`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hrpsim.derivatives.parameters import (
    DAMPING,
    DELAY,
    FRICTION,
    JOINT_FIELDS,
    KD,
    KINETIC,
    KP,
    STATIC,
    STIFFNESS,
    Entry,
    unit_slope,
)
from hrpsim.engine.step.arrays import Scene
from hrpsim.world.objects.body import Body
from hrpsim.world.objects.robot import Robot


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
                known[f"friction.{a}-{b}.{name}"] = "friction", tuple(at.T), unit_slope
    return known


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
    result: dict[str, Entry] = {f"{label}.{name}": ("joints", *of) for name, of in factors.items()}
    result[f"{label}.mass_factor"] = "bodies", links, unit_slope
    units = scene.actuators.units
    late = set(units["dof"][units["slots"] > 0].tolist())
    for joint, v in zip(robot.joint_names, (robot.first_v + robot.joint_index.v).tolist()):
        for k, field in enumerate(JOINT_FIELDS):
            if k != DELAY or v in late:
                result[f"{label}.joints.{joint}.{field}"] = "joints", (k, v), unit_slope
    for frame in robot.model.frames.values():
        if frame.body >= 0:
            key = f"{label}.links.{frame.name}.mass_factor"
            result[key] = "bodies", robot.first_body + frame.body, unit_slope
    return result
