# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Divide a USD stage into robots and scenery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from hrpsim.model.readers.usd.stage_data import JointPrim, ShapePrim, StageData


class StageParts(NamedTuple):
    """The robots of a stage, and the shapes that never move, placed in the world.

    The shapes are called scenery.
    """

    robots: list[StageData]
    scenery: list[ShapePrim]
    apart: list[tuple[str, str]]  # pairs of owners, in different robots or robot and scenery


def divide(stage: StageData) -> StageParts:
    """Return the parts of a stage.

    Bodies that joints connect are one robot. Kinematic bodies belong to the world.
    """
    fixed = {body.path: body.pose for body in stage.bodies if body.is_kinematic}
    moving = {body.path: body for body in stage.bodies if not body.is_kinematic}
    shapes = [_put(shape, fixed) for shape in stage.shapes]
    joints = [_between_moving(joint, fixed) for joint in stage.joints]
    robots, robot_of = [], {}
    for members in _connected(list(moving), joints):
        robots.append(StageData(_name_of(members), bodies=[moving[path] for path in members]))
        robot_of.update(dict.fromkeys(members, robots[-1]))
    for joint in joints:
        if robot := robot_of.get(joint.body0) or robot_of.get(joint.body1):
            robot.joints.append(joint)
    for shape in shapes:
        if shape.body:
            robot_of[shape.body].shapes.append(shape)
    apart = []
    for a, b in stage.apart:
        first, other = robot_of.get(a), robot_of.get(b)
        if first is not None and first is other:
            first.apart.append((a, b))
        elif first is not None or other is not None:
            apart.append((a, b))
    return StageParts(
        robots, [shape for shape in shapes if not shape.body and shape.is_solid], apart
    )


def _connected(paths: list[str], joints: list[JointPrim]) -> list[list[str]]:
    """Return the bodies of each robot, in the order of the stage."""
    number = {path: k for k, path in enumerate(paths)}
    ends = [
        (number[joint.body0], number[joint.body1])
        for joint in joints
        if joint.body0 and joint.body1
    ]
    rows, columns = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    links = coo_array((np.ones(len(ends)), (rows, columns)), shape=(len(paths), len(paths)))
    groups: dict[int, list[str]] = {}
    for path, label in zip(paths, connected_components(links, directed=False)[1], strict=True):
        groups.setdefault(int(label), []).append(path)
    return list(groups.values())


def _between_moving(joint: JointPrim, fixed: dict[str, np.ndarray]) -> JointPrim:
    """Return a joint with fixed bodies replaced by the world."""
    if joint.body0 in fixed:
        joint = replace(joint, body0="", frame0=fixed[joint.body0] @ joint.frame0)
    if joint.body1 in fixed:
        joint = replace(joint, body1="", frame1=fixed[joint.body1] @ joint.frame1)
    return joint


def _put(shape: ShapePrim, fixed: dict[str, np.ndarray]) -> ShapePrim:
    """Return a shape, attached to the world if its body is fixed."""
    if shape.body not in fixed:
        return shape
    return replace(shape, body="", placement=fixed[shape.body] @ shape.placement)


def _name_of(paths: list[str]) -> str:
    """Return the name of the only body, or of the innermost prim around all bodies."""
    if len(paths) == 1:
        return PurePosixPath(paths[0]).name
    every = map(PurePosixPath, paths)
    around = set.intersection(*({path, *path.parents} for path in every))
    return max(around, key=lambda path: len(path.parts)).name or "robot"
