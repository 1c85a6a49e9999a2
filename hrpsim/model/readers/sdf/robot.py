# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert an SDF model to a robot: a tree of links, and connections that close loops."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from hrpsim.common.errors import require_name
from hrpsim.model.readers.joint_graph import float_bases, plant, spanning_tree
from hrpsim.model.readers.robot_data import WORLD_LINK, JointData, Notes, RobotData
from hrpsim.model.readers.sdf.files import SdfFiles
from hrpsim.model.readers.sdf.frames import WORLD_FRAME, Scope, SdfFrame
from hrpsim.model.readers.sdf.joints import SdfJoint, add_joint, loop_of
from hrpsim.model.readers.sdf.links import add_sensors, describe_link
from hrpsim.model.readers.sdf.parts import note_model
from hrpsim.model.readers.sdf.scopes import SdfContents
from hrpsim.model.readers.sdf.surfaces import Surface
from hrpsim.model.shapes.placement import IDENTITY, Placement


class SdfRobot(NamedTuple):
    """The robot of a model, and the surfaces of the links' collision shapes."""

    data: RobotData
    surfaces: dict[str, list[Surface]]


class _Assembly:
    """Names and places of the links of one model, in the frame of the model."""

    def __init__(self, model: Scope) -> None:
        self.model = model
        self.links: dict[str, SdfFrame] = {}
        self.joints: list[SdfFrame] = []
        self.frames: list[SdfFrame] = []
        for scope in model.all_scopes():
            for link in scope.of_kind("link"):
                self.links[scope.path + link.name] = link
            self.joints += scope.of_kind("joint")
            self.frames += [frame for frame in scope.of_kind("frame") if not _is_proxy(frame)]
        self.placed = {name: model.in_scope(link) for name, link in self.links.items()}

    def end(self, joint: SdfFrame, tag: str) -> str:
        """Return the name of the link that an end of a joint is fixed to, or the world."""
        name = joint.file.content(joint.element, tag)
        if name == WORLD_FRAME and name not in joint.scope.frames:
            return WORLD_LINK
        return full_name(carrier(joint.scope.find(name, joint)))

    def edges(self, notes: Notes) -> list[SdfJoint]:
        """Return the joints between links. Gearboxes are noted."""
        result = []
        for joint in self.joints:
            name = joint.scope.path + joint.name
            parent, child = (self.end(joint, tag) for tag in ("parent", "child"))
            edge = SdfJoint(joint, name, parent, child, self.model.in_scope(joint))
            if edge.kind == "gearbox":
                notes.add("<joint> gearbox", "not simulated: <mimic> of an axis is", name)
                continue
            if parent == child:
                joint.fail(f"connects {parent!r} with itself")
            result.append(edge)
        return result


def _is_proxy(frame: SdfFrame) -> bool:
    return frame.name.startswith("_merged__")


def full_name(link: SdfFrame) -> str:
    """Return the name of a link in the robot, such as "arm::hand"."""
    return link.scope.path + link.name


def carrier(frame: SdfFrame) -> SdfFrame:
    """Return the link that a frame is fixed to."""
    seen = [frame]
    while frame.kind != "link":
        scope = frame.scope
        if frame.kind == "frame" and frame.attached_to:
            frame = scope.find(frame.attached_to, frame)
        elif frame.kind == "joint":
            frame = scope.find(frame.file.content(frame.element, "child"), frame)
        elif frame.kind == "model" and frame.name in scope.models:
            frame = canonical(scope.models[frame.name])
        else:
            frame = canonical(scope)
        if frame in seen:
            frame.fail("is attached to itself, in a circle")
        seen.append(frame)
    return frame


def canonical(model: Scope) -> SdfFrame:
    """Return the link that defines the motion of a model: the named link, or the first link."""
    name = model.element.get("canonical_link", "").strip()
    if name:
        return model.find(name, model.frame)
    for scope in model.all_scopes():
        if links := scope.of_kind("link"):
            return links[0]
    model.frame.fail("has no link")


def robot_of(
    model: Scope, files: SdfFiles, at: Placement = IDENTITY, notes: Notes | None = None
) -> SdfRobot:
    """Return the robot of a model. ModelError names an invalid element.

    Args:
        model: the model.
        files: finds meshes.
        at: placement of the model in the world.
        notes: receives notes on elements that are not simulated. The default is the notes of the
            robot.
    """
    own = Notes() if notes is None else notes
    assembly = _Assembly(model)
    assert model.placement is not None
    if not assembly.links:
        model.placement.fail("has no link")
    robot = RobotData(model.placement.name, "")
    edges = assembly.edges(own)
    first = full_name(canonical(model))
    tree, loops, bases = spanning_tree(list(assembly.links), edges, first)
    plant(robot, edges, bases)
    surfaces = {}
    for name, link in assembly.links.items():
        described = describe_link(files, link, robot.add_link(name), own)
        surfaces[name] = [surface for _, surface in described]

    def place(link: str) -> Placement:
        """Return the placement of a link, or of the world, in the model."""
        return at.inverse() if link == WORLD_LINK else assembly.placed[link]

    float_bases(robot, bases, lambda link: at.then(place(link)))
    acting = {edge.frame: add_joint(robot, edge, place, own) for edge in tree}
    _add_connections(robot, loops, place, own)
    _add_all_sensors(robot, assembly, tree, acting, own)
    _add_frames(robot, assembly)
    base = at.then(place(robot.root)) if robot.root != WORLD_LINK else None
    joints = robot.joints.values()
    robot.add_start(base, {joint.name: joint.start for joint in joints if joint.start is not None})
    _check_mimics(robot, model)
    return SdfRobot(robot, surfaces)


def only_robot(contents: SdfContents) -> RobotData:
    """Return the robot of an SDF: the model, or the only moving model of the world."""
    scope = contents.scope
    models = [scope] if scope.frame.kind == "model" else list(scope.models.values())
    moving = [model for model in models if not model.is_static]
    if len(moving) != 1:
        names = ", ".join(repr(model.name) for model in moving) or "none"
        contents.file.fail(
            contents.file.root,
            f"must have one model that moves, got {len(moving)} ({names}). Give the file of a "
            "model, or load the world (load_world)",
        )
    (model,) = moving
    notes = contents.notes
    for other in models:
        if other is not model:
            notes.add("<model> that is static", "load_world has it", other.name)
    robot = robot_of(model, contents.files, in_world(model), notes).data
    note_model(model, notes)
    robot.notes += notes.lines()
    return robot


def in_world(model: Scope) -> Placement:
    """Return the placement of a model in the world.

    Without a world, the placement is the model's <pose>.
    """
    assert model.placement is not None
    if model.outer is not None:
        return model.outer.in_scope(model.placement)
    point = model.placement.placement_frame
    if not point:
        return model.placement.placement
    there = model.in_scope(model.find(point, model.placement))
    return model.placement.placement.then(there.inverse())


def _add_connections(robot: RobotData, loops: Iterable[SdfJoint], place, notes: Notes) -> None:
    for edge in loops:
        loop = loop_of(edge, place, notes)
        if loop is not None:
            robot.connections.append(loop)


def _add_all_sensors(
    robot: RobotData,
    assembly: _Assembly,
    tree: list[SdfJoint],
    acting: dict[SdfFrame, str],
    notes: Notes,
) -> None:
    """Add the sensors of links, and of joints at the link right below each joint."""
    for name, link in assembly.links.items():
        add_sensors(robot, link, link.scope.path, name, IDENTITY, notes)
    for edge in tree:
        joint, below = edge.frame, acting[edge.frame]
        at = assembly.placed[edge.child].inverse().then(edge.at)
        if below != edge.child:  # the link between has the origin of the joint
            at = Placement(at.R, IDENTITY.p)
        add_sensors(robot, joint, joint.scope.path, below, at, notes, edge.is_reversed)


def _add_frames(robot: RobotData, assembly: _Assembly) -> None:
    """Add each <frame> as a link without mass, fixed to the link of `attached_to`."""
    for frame in assembly.frames:
        link, name = full_name(carrier(frame)), frame.scope.path + frame.name
        at = assembly.placed[link].inverse().then(assembly.model.in_scope(frame))
        if name in robot.links:
            continue
        robot.add_link(name)
        joint = robot.free_joint_name(f"{name}_fixed")
        robot.add_joint(JointData(joint, "fixed", link, name, at))


def _check_mimics(robot: RobotData, model: Scope) -> None:
    """Raise ModelError for a leader that the robot does not have."""
    for joint in robot.joints.values():
        if joint.mimic is not None:
            require_name("joint", joint.mimic[0], robot.joints, model.frame.fail)
