# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A robot, or each of several, out of a compiled MJCF."""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.errors import ModelError
from hrpsim.model.formats.robot_data import WORLD_LINK, LoopData, RobotData
from hrpsim.model.mjcf.actuators import add_actuators
from hrpsim.model.mjcf.constraints import add_equalities, welded_together
from hrpsim.model.mjcf.geoms import add_geoms, collides
from hrpsim.model.mjcf.notes import Notes, note_the_rest
from hrpsim.model.mjcf.read import MjcfModel
from hrpsim.model.mjcf.sensors import add_keyframes, add_sensors
from hrpsim.model.mjcf.tree import BodyTree


class MjcfRobot(NamedTuple):
    """A robot, where MuJoCo's bodies and joints are in it, and what ties it to the world."""

    data: RobotData
    tree: BodyTree
    to_world: list[LoopData]


def whole_robot(m: MjcfModel) -> RobotData:
    """Return all that moves in an MJCF as one robot: on its free joint if there is one tree.

    Else its root link is the world, on which trees hang by their own joints.
    """
    notes = Notes()
    roots = moving_trees(m)
    if not roots:
        raise ModelError(
            f"{m.label}: nothing in it moves: no body has a joint; load_world reads it"
        )
    robot = robot_of(m, roots, m.name or "robot", notes)
    for _ in robot.to_world:
        notes.add("equality with the world", "load_world has it")
    scenery = [
        geom
        for geom in range(m.ngeom)
        if int(m.geom_bodyid[geom]) not in robot.tree.links or m.geom_bodyid[geom] == 0
    ]
    for geom in scenery:
        if collides(m, geom):
            why = "no part of the robot; load_world has it"
            notes.add("geom of the world", why, m.names["geom"][geom])
    note_the_rest(m, notes)
    robot.data.notes += notes.lines()
    return robot.data


def robot_of(m: MjcfModel, roots: list[int], name: str, notes: Notes) -> MjcfRobot:
    """Return the robot that some trees are, by the bodies that they begin with."""
    is_free = len(roots) == 1 and floats(m, roots[0])
    robot = RobotData(name, root="")
    if is_free:
        robot.root = m.names["body"][roots[0]] or f"body{roots[0]}"
    else:
        robot.root = WORLD_LINK
    tree = BodyTree(m, roots, robot, notes)
    add_geoms(m, tree, robot, notes)
    add_actuators(m, tree, robot, notes)
    to_world = add_equalities(m, tree, robot, notes)
    add_sensors(m, tree, robot, notes)
    add_keyframes(m, tree, robot, notes)
    return MjcfRobot(robot, tree, to_world)


def floats(m: MjcfModel, body: int) -> bool:
    """Return whether a body is on a free joint."""
    return bool(
        m.body_jntnum[body] == 1 and m.kind("mjtJoint", m.jnt_type[m.body_jntadr[body]]) == "FREE"
    )


def moving_trees(m: MjcfModel) -> list[int]:
    """Return the bodies on the world on or beneath which something moves."""
    found = []
    for body in range(1, m.nbody):
        if m.body_jntnum[body]:
            while m.body_parentid[body] != 0:
                body = int(m.body_parentid[body])
            if body not in found:
                found.append(body)
    return found


def tied_trees(m: MjcfModel) -> list[list[int]]:
    """Return the moving trees in groups: those that equalities tie to each other together."""
    groups = [[root] for root in moving_trees(m)]
    for k in range(m.neq):
        pair = welded_together(m, k)
        if pair is None:
            continue
        tops = []
        for body in pair:
            while body and m.body_parentid[body] != 0:
                body = int(m.body_parentid[body])
            tops.append(next((group for group in groups if body in group), None))
        if tops[0] is not None and tops[1] is not None and tops[0] is not tops[1]:
            tops[0] += tops[1]
            groups.remove(tops[1])
    return groups
