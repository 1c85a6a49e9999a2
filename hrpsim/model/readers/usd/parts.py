# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Divide a USD stage into robots and scenery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np

from hrpsim.model.readers.usd.stage_data import JointPrim, ShapePrim, StageData


class StageParts(NamedTuple):
    """The robots of a stage, and the shapes that never move, placed in the world."""

    robots: list[StageData]
    scenery: list[ShapePrim]


def divide(stage: StageData) -> StageParts:
    """Return the parts of a stage.

    Bodies that joints connect are one robot. Kinematic bodies belong to the world.
    """
    fixed = {body.path: body.pose for body in stage.bodies if body.is_kinematic}
    moving = {body.path: body for body in stage.bodies if not body.is_kinematic}
    shapes = [_put(shape, fixed) for shape in stage.shapes]
    joints = [_between_moving(joint, fixed) for joint in stage.joints]
    robots = [
        StageData(
            _name_of(members),
            bodies=[moving[path] for path in members],
            joints=[one for one in joints if one.body0 in members or one.body1 in members],
            shapes=[shape for shape in shapes if shape.body in members],
        )
        for members in _connected(list(moving), joints)
    ]
    return StageParts(robots, [one for one in shapes if not one.body and one.is_solid])


def _connected(paths: list[str], joints: list[JointPrim]) -> list[list[str]]:
    """Return the bodies of each robot, in the order of the stage."""
    robot_of = {path: k for k, path in enumerate(paths)}
    for joint in joints:
        if joint.body0 and joint.body1:
            ends = robot_of[joint.body0], robot_of[joint.body1]
            robot_of = {path: min(ends) if k in ends else k for path, k in robot_of.items()}
    found: dict[int, list[str]] = {}
    for path, k in robot_of.items():
        found.setdefault(k, []).append(path)
    return list(found.values())


def _between_moving(joint: JointPrim, fixed: dict[str, np.ndarray]) -> JointPrim:
    """Return a joint whose ends at fixed bodies are ends at the world."""
    if joint.body0 in fixed:
        joint = replace(joint, body0="", frame0=fixed[joint.body0] @ joint.frame0)
    if joint.body1 in fixed:
        joint = replace(joint, body1="", frame1=fixed[joint.body1] @ joint.frame1)
    return joint


def _put(shape: ShapePrim, fixed: dict[str, np.ndarray]) -> ShapePrim:
    """Return a shape of a fixed body as a shape of the world, and other shapes as given."""
    if shape.body not in fixed:
        return shape
    return replace(shape, body="", placement=fixed[shape.body] @ shape.placement)


def _name_of(paths: list[str]) -> str:
    """Return the name of the only body, or of the innermost prim around all bodies."""
    if len(paths) == 1:
        return PurePosixPath(paths[0]).name
    every = map(PurePosixPath, paths)
    around = set.intersection(*({path, *path.parents} for path in every))
    return max(around, key=lambda one: len(one.parts)).name or "robot"
