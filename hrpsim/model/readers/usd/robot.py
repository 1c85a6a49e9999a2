# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a USD stage to a robot."""

from __future__ import annotations

import importlib.util
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.common.foreign.bounded_child import call_bounded
from hrpsim.common.foreign.file_bytes import open_file, refuse_pointer
from hrpsim.model.readers.joint_graph import float_bases, join, plant, spanning_tree
from hrpsim.model.readers.robot_data import (
    WORLD_LINK,
    ConnectionData,
    JointData,
    Notes,
    RobotData,
    free_name,
)
from hrpsim.model.readers.usd.shapes import inertial_of, shape_of
from hrpsim.model.readers.usd.stage_data import JointPrim, StageData
from hrpsim.model.shapes.placement import Placement, rotation_with_z_along

_STAGE = "hrpsim.model.readers.usd.stage:read_stage"
_DOFS = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")
_LOOPS = {"revolute": "hinge", "prismatic": "slider", "fixed": "fixed", "spherical": "ball"}
_MOVED = 1e-6  # [rad or m], from which on a stage shows a joint away from zero


def read_usd(path: Path) -> RobotData:
    """Return the robot of a stage. ModelError for an invalid stage, or without usd-core."""
    stage = open_stage(path)
    for body in stage.bodies:
        if body.is_kinematic:
            stage.notes.append(("kinematicEnabled", "the body moves freely", body.name))
    if stage.scene:
        stage.notes.append(("PhysicsScene", "`load_world` reads it", stage.scene))
    if len(stage.materials) > 1:
        stage.notes.append(("physics materials", "`load_world` reads them", stage.name))
    return robot_of(path, stage)


def robot_of(path: Path, stage: StageData) -> RobotData:
    """Return the bodies of a stage as one robot. ModelError without a body."""
    return _Robot(path, stage).read()


def body_names(stage: StageData) -> list[str]:
    """Return the names of the links of a stage's bodies, in the order of the bodies."""
    names: dict[str, None] = {WORLD_LINK: None}
    for body in stage.bodies:
        names[free_name(body.name, names)] = None
    return list(names)[1:]


def missing_notes(stage: StageData) -> list[tuple[str, str, str]]:
    """Return a note for each layer or reference that cannot be opened."""
    return [("missing part of the stage", "left out", line) for line in stage.missing]


def open_stage(path: Path) -> StageData:
    """Return the contents of a stage. ModelError for an invalid stage, or without usd-core."""
    try:
        is_there = importlib.util.find_spec("pxr") is not None
    except (ImportError, ValueError):
        is_there = False
    if not is_there:
        raise ModelError(f"{path}: reading USD needs usd-core: pip install hrpsim[usd]")
    with open_file(path, ModelError, "MESH_SIZE", "stage") as file:
        refuse_pointer(path, file.read(100), ModelError)
        size = os.fstat(file.fileno()).st_size
    return call_bounded(
        *(_STAGE, str(path.absolute())), label=f"{path}: no USD stage", size=size, error=ModelError
    )


@dataclass(frozen=True, eq=False)
class _Edge:
    """A joint between two links, with data and a frame in each link."""

    name: str
    parent: str
    child: str
    frames: tuple[Placement, Placement]
    prim: JointPrim
    is_turned: bool = False
    more: tuple[JointPrim, ...] = ()  # further joints in series with `prim`

    def turned(self) -> _Edge:
        """Return the same joint with the links exchanged."""
        frames = self.frames[1], self.frames[0]
        turned = not self.is_turned
        return _Edge(self.name, self.child, self.parent, frames, self.prim, turned, self.more)

    def coordinates(self) -> list[tuple[JointPrim, str, str]]:
        """Return the free coordinates, ordered from parent to child.

        Returns:
            (joint of the stage, degree of freedom such as "rotX", name of the joint) for each.
        """
        coordinates = [(self.prim, dof, self.name) for dof in _free(self.prim)]
        coordinates += [(prim, dof, prim.name) for prim in self.more for dof in _free(prim)]
        return coordinates[::-1] if self.is_turned else coordinates


class _Robot:
    def __init__(self, path: Path, stage: StageData) -> None:
        self.path, self.stage, self.notes = path, stage, Notes()
        for note in [*stage.notes, *missing_notes(stage)]:
            self.notes.add(*note)
        paths = [body.path for body in stage.bodies]
        self.names = {"": WORLD_LINK, **dict(zip(paths, body_names(stage), strict=True))}
        self._taken: list[str] = []  # names of joints
        self.places: dict[str, Placement] = {WORLD_LINK: Placement(np.eye(3), np.zeros(3))}

    def read(self) -> RobotData:
        """Return the robot."""
        stage = self.stage
        if not stage.bodies:
            cause = "".join(f". {line}" for line in stage.missing[:1])
            raise ModelError(f"{self.path}: no prim of the stage has PhysicsRigidBodyAPI{cause}")
        stated = {self.names[body.path]: _placement(body.pose) for body in stage.bodies}
        edges = self._in_rows([edge for edge in map(self._edge, stage.joints) if edge is not None])
        first = self.names[stage.bodies[0].path]
        tree, loops, bases = spanning_tree(list(stated), edges, first)
        robot = RobotData(stage.name, "")
        plant(robot, edges, bases)
        self._add_bodies(robot)
        for base in bases:
            self.places[base] = stated[base]
        for edge in tree:  # with all joints at zero
            above = self.places[edge.parent]
            self.places[edge.child] = above.then(edge.frames[0]).then(edge.frames[1].inverse())
        float_bases(robot, bases, self.places.__getitem__)
        starts: dict[str, float] = {}
        poses = {**stated, WORLD_LINK: self.places[WORLD_LINK]}
        for edge in tree:
            self._join(robot, edge, poses, starts)
        for edge in loops:
            self._loop(robot, edge)
        self._follow(robot, tree)
        robot.apart += [
            (self.names[a], self.names[b])
            for a, b in stage.apart
            if a in self.names and b in self.names
        ]
        robot.add_start(None if robot.root == WORLD_LINK else self.places[robot.root], starts)
        robot.notes = self.notes.lines()
        return robot

    def _edge(self, prim: JointPrim) -> _Edge | None:
        parent, child = self.names[prim.body0], self.names[prim.body1]
        if parent == child:
            self.notes.add("joint of a body with itself", "left out", prim.name)
            return None
        if prim.kind not in (*_LOOPS, "d6"):
            self.notes.add(f"joint {prim.kind}", "not simulated", prim.name)
            return None
        if prim.kind == "d6" and len(_free(prim)) == len(_DOFS):
            self.notes.add("PhysicsJoint without a locked axis", "no joint", prim.name)
            return None
        frames = _placement(prim.frame0), _placement(prim.frame1)
        name = free_name(prim.name, self._taken)
        self._taken.append(name)
        return _Edge(name, parent, child, frames, prim)

    def _in_rows(self, edges: list[_Edge]) -> list[_Edge]:
        """Join hinges and slides between the same two bodies to one chain, as in MuJoCo."""
        in_row: dict[tuple[str, str], _Edge] = {}
        others = []
        for edge in edges:
            known = in_row.get((edge.parent, edge.child))
            if edge.prim.kind not in ("revolute", "prismatic"):
                others.append(edge)
            elif known is None:
                in_row[edge.parent, edge.child] = edge
            elif np.allclose(known.prim.frame0[:3, 3], edge.prim.frame0[:3, 3], atol=_MOVED):
                self.notes.add("joints between the same two bodies", "in a row", edge.name)
                prim = replace(edge.prim, name=edge.name)
                in_row[edge.parent, edge.child] = replace(known, more=(*known.more, prim))
            else:
                others.append(edge)
        return [*in_row.values(), *others]

    def _add_bodies(self, robot: RobotData) -> None:
        shapes: dict[str, list] = {body.path: [] for body in self.stage.bodies}
        for body in self.stage.bodies:
            robot.add_link(self.names[body.path])
        for prim in self.stage.shapes:
            if not prim.body:
                if prim.is_solid:
                    self.notes.add("shape of no body", "left out", prim.name)
                continue
            shape = shape_of(prim, self.notes)
            if shape is None:
                continue
            link = robot.links[self.names[prim.body]]
            if prim.is_seen:
                link.visuals.append(shape)
            if prim.is_solid:
                link.material = link.material or prim.material or None
                link.collisions.append(shape)
                shapes[prim.body].append((prim, shape))
        for body in self.stage.bodies:
            link = robot.links[self.names[body.path]]
            link.inertial = inertial_of(body, shapes[body.path], self.notes)
            link.gravity_compensation = body.gravity_compensation

    def _join(
        self, robot: RobotData, edge: _Edge, shown: dict[str, Placement], starts: dict[str, float]
    ) -> None:
        """Add the joints of an edge of the tree, and the joint positions in the stage."""
        at = self.places[edge.parent].then(edge.frames[0])
        made, axes = [], []
        coordinates = edge.coordinates()
        for prim, dof, name in coordinates:
            kind, ending = ("revolute", dof[-1].lower()) if _turns(dof) else ("prismatic", dof)
            if len(_free(prim)) > 1:
                name += f"_{ending}"
            joint = JointData(name, kind, "", "")
            self._describe(prim, dof, joint)
            made.append(joint)
            frame = prim.frame1 if edge.is_turned else prim.frame0
            R = self.places[edge.parent].R @ frame[:3, :3]
            column = R[:, "XYZ".index(dof[-1])]
            axes.append(-column if edge.is_turned else column)
        if edge.prim.kind == "spherical":
            why = "three hinges NAME_x, _y, _z, which lock where y is at 90 degrees"
            self.notes.add("PhysicsSphericalJoint", why, edge.name)
        join(robot, edge, made, axes, at, self.places.__getitem__)
        if len(coordinates) == 1:
            moved = _moved(edge, shown, coordinates[0][1])
            if abs(moved) > _MOVED:
                starts[made[0].name] = moved

    def _describe(self, prim: JointPrim, dof: str, joint: JointData) -> None:
        joint.lower, joint.upper = prim.limits.get(dof, (-math.inf, math.inf))
        if not joint.lower <= joint.upper:
            joint.lower, joint.upper = -math.inf, math.inf
        kp, kd, effort = prim.drives.get(dof, (0.0, 0.0, math.inf))
        if kp or kd:
            joint.gains = kp, kd
        joint.effort = effort
        for key, value in prim.properties.items():
            setattr(joint, key, value)

    def _follow(self, robot: RobotData, tree: list[_Edge]) -> None:
        """Add the mimic joints."""
        coordinates = [coordinate for edge in tree for coordinate in edge.coordinates()]
        names = {prim.path: name for prim, _, name in coordinates if name in robot.joints}
        for prim, _, name in coordinates:
            if prim.mimic is None or name not in robot.joints:
                continue
            leader, ratio, offset = prim.mimic
            if leader in names:
                robot.joints[name].mimic = names[leader], ratio, offset
            else:
                self.notes.add("mimic of no joint of one axis", "not simulated", name)

    def _loop(self, robot: RobotData, edge: _Edge) -> None:
        kind = edge.prim.kind
        if kind == "d6":
            free = _free(edge.prim)
            kind = "fixed" if not free else "d6"
            if len(free) == 1:
                kind = "revolute" if _turns(free[0]) else "prismatic"
        if kind not in _LOOPS:
            self.notes.add("PhysicsJoint that closes a loop", "left out", edge.name)
            return
        frames = list(edge.frames)
        if free := _free(edge.prim)[:1]:
            axis = np.eye(3)["XYZ".index(free[0][-1])]
            turn = Placement(rotation_with_z_along(axis), np.zeros(3))
            frames = [frame.then(turn) for frame in frames]
        links = edge.parent, edge.child
        pair = frames[0], frames[1]
        robot.connections.append(ConnectionData(edge.name, _LOOPS[kind], None, links, pair))


def _placement(matrix: np.ndarray) -> Placement:
    return Placement(np.ascontiguousarray(matrix[:3, :3]), matrix[:3, 3].copy())


def _turns(dof: str) -> bool:
    return dof.startswith("rot")


def _free(prim: JointPrim) -> list[str]:
    """Return the free coordinates of a joint, in the order of the chain that replaces the joint."""
    if prim.kind == "fixed":
        return []
    if prim.kind == "spherical":
        return list(_DOFS[3:])
    if prim.kind in ("revolute", "prismatic"):
        return [("rot" if prim.kind == "revolute" else "trans") + "XYZ"[prim.axis]]
    locked = {dof for dof, (low, high) in prim.limits.items() if low > high}
    return [dof for dof in _DOFS if dof not in locked]


def _moved(edge: _Edge, shown: dict[str, Placement], dof: str) -> float:
    """Return the joint position [rad or m] that follows from the link poses in the stage."""
    first, second = (
        shown[link].then(frame)
        for link, frame in zip((edge.parent, edge.child), edge.frames, strict=True)
    )
    moved, k = first.inverse().then(second), "XYZ".index(dof[-1])
    sign = -1.0 if edge.is_turned else 1.0
    if not _turns(dof):
        return sign * float(moved.p[k])
    i, j = (k + 1) % 3, (k + 2) % 3
    return sign * math.atan2(moved.R[j, i] - moved.R[i, j], moved.R[i, i] + moved.R[j, j])
