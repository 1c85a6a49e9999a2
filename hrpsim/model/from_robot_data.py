# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a `RobotData` to a `Model`, and warn of results that a user may not expect."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from hrpsim.model.build import build_model, stated_base
from hrpsim.model.model import MeshUse, Model
from hrpsim.model.readers.plausibility import narrow_limits, wide_limits
from hrpsim.model.readers.robot_data import SHOWN, KeyframeData, LinkData, RobotData, counted
from hrpsim.model.readers.urdf.description import UNSTATED
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES
from hrpsim.model.readers.urdf.resolve_uris import Resources
from hrpsim.model.readers.urdf.srdf import Pair, pair_of, read_disabled_collisions
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.model.visuals import POINT_RADIUS, drawn_shapes, read_shapes


def model_of_robot(
    robot: RobotData,
    resources: Resources,
    base: str | None = None,
    accept_nonphysical_inertia: bool = False,
    meshes: str = "hull",
    srdf: str | os.PathLike | None = None,
) -> tuple[Model, list[str]]:
    """Return the model of a robot and the warnings about the robot.

    `resources` finds the mesh files. The other arguments and errors are the same as for
    `load_model`.
    """
    base = base or stated_base(robot)
    model, notes = build_model(robot, base, accept_nonphysical_inertia)
    shapes, uses = read_shapes(robot, model.frames, resources, meshes)
    notes += _surprises(uses)
    disabled = _stay_apart(robot)
    if srdf is not None:
        of_srdf, srdf_notes = read_disabled_collisions(srdf, model.frames)
        disabled |= of_srdf
        notes += srdf_notes
    notes += _odd_parts(robot)
    if not shapes and not uses and base == "free":
        notes += _intangible(robot)
    model = replace(
        model,
        shapes=shapes,
        visuals=drawn_shapes(robot),
        meshes=uses,
        disabled_collisions=frozenset(disabled),
        keyframes=keyframe_configurations(model, robot.keyframes),
        not_simulated=tuple(robot.notes),
    )
    return model, notes


def _stay_apart(robot: RobotData) -> set[Pair]:
    """Return the pairs of links that never collide, each in alphabetical order."""
    result: set[Pair] = set()
    for link, other in robot.apart:
        others = robot.links if other == "*" else (other,)
        result.update(pair_of(link, name) for name in others if name != link)
    return result


def _surprises(uses: tuple[MeshUse, ...]) -> list[str]:
    """Return notes on meshes that were repaired, or are used in another way than requested."""
    return list(dict.fromkeys(f"mesh {use.file}: {use.note}" for use in uses if use.note))


def _odd_parts(robot: RobotData) -> list[str]:
    """Return notes on suspicious shapes and limits. A note names the first element of its kind."""
    links, joints = robot.links.values(), robot.joints.values()
    kinds: tuple[tuple[str, list], ...] = (
        ("a <visual> with a size of 0 is not drawn", list(filter(_is_unseen, links))),
        (
            f"a <collision> sphere of radius 0 is a point: a sphere of {POINT_RADIUS:g} m",
            list(filter(_has_point, links)),
        ),
        (
            "a <collision> without any width does not collide",
            [link for link in links if any(shape.is_void for shape in link.collisions)],
        ),
        (
            f"a limit of effort or velocity of {UNSTATED:g} means that none is stated",
            [joint for joint in joints if UNSTATED in (joint.effort, joint.velocity)],
        ),
        (
            "equal limits hold a joint in place. lower and upper are 0 if <limit> does not state "
            "them. State both, or make the joint continuous",
            [
                joint
                for joint in joints
                if JOINT_TYPES[joint.type].has_range and joint.lower == joint.upper
            ],
        ),
    )
    if wide := list(filter(wide_limits, joints)):
        kinds += ((wide_limits(wide[0]), wide),)
    if text := narrow_limits(joints):
        kinds += ((text, [robot.links[robot.root]]),)
    return [
        f"{robot.where(parts[0])}: {problem} {counted(part.name for part in parts)}"
        for problem, parts in kinds
        if parts
    ]


def _is_unseen(link: LinkData) -> bool:
    return any(not all(shape.size) for shape in link.visuals)


def _has_point(link: LinkData) -> bool:
    return any(shape.kind == "sphere" and shape.size == (0.0,) for shape in link.collisions)


def _intangible(robot: RobotData) -> list[str]:
    """Return a note if a robot has visual shapes but no collision shapes."""
    seen = [name for name, link in robot.links.items() if link.visuals]
    if not seen:
        return []
    examples = ", ".join(map(repr, _ends(robot, seen)[:SHOWN]))
    return [
        f"{robot.where(robot.links[robot.root])}: no link has a <collision>, but {len(seen)} have a"
        " <visual>. The robot falls through the ground. Give a <collision> to each link that"
        f" touches something, for example the last links {examples}"
    ]


def _ends(robot: RobotData, links: list[str]) -> list[str]:
    """Return the given links that have no other given link among their descendants."""
    joints, above = robot.joints_above(), set()
    for link in links:
        while link in joints:
            link = joints[link].parent
            above.add(link)
    return [link for link in links if link not in above]


def keyframe_configurations(
    model: Model, keyframes: Iterable[KeyframeData]
) -> dict[str, np.ndarray]:
    """Convert keyframes to configurations {name: q (nq,)}.

    Joints without a position in the keyframe take their neutral position.
    """
    by_name = {joint.name: joint for joint in model.joints}
    result = {}
    for keyframe in keyframes:
        q = model.neutral()
        if keyframe.base is not None and model.base == "free":
            q[:3], q[3:7] = keyframe.base.p, quaternion_of(keyframe.base.R)
        for name, position in keyframe.joints.items():
            at = by_name[name].q_index
            q[at : at + len(position)] = position
            if len(position) == 7:
                q[at + 3 : at + 7] /= np.linalg.norm(position[3:])
        result[keyframe.name] = q
    return result
