# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build the trees of robots from joints between arbitrary links, as in SDF and USD."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

import numpy as np

from hrpsim.model.readers.robot_data import WORLD_LINK, JointData, RobotData, free_name
from hrpsim.model.shapes.placement import Placement

_NEAR = 1e-12  # [m], from which on an axis passes by the origin of its link


class GraphEdge(Protocol):
    """A joint between two links, "world" for the world."""

    @property
    def name(self) -> str:
        """The name of the joint, unique in a robot."""

    @property
    def parent(self) -> str:
        """The parent link, which carries the child."""

    @property
    def child(self) -> str:
        """The child link."""

    def turned(self) -> GraphEdge:
        """Return the same joint with the links exchanged."""


AnyEdge = TypeVar("AnyEdge", bound=GraphEdge)


def spanning_tree(
    links: Sequence[str], edges: Iterable[AnyEdge], first: str
) -> tuple[list[AnyEdge], list[AnyEdge], list[str]]:
    """Divide joints into trees and loop closures.

    Trees start at the world, then at links that are no joint's child, `first` before others. Parent
    and child of a joint are exchanged only if no other path reaches the parent link.

    Args:
        links: names of all links.
        edges: the joints.
        first: link that is preferred as base.

    Returns:
        (joints of the trees, parents before children; joints that close loops; floating base links
        of the trees).
    """
    edges = list(edges)
    by_end: dict[str, list[AnyEdge]] = defaultdict(list)
    for edge in edges:
        by_end[edge.parent].append(edge)
        by_end[edge.child].append(edge)
    children = {edge.child for edge in edges}
    roots = [first] if first not in children else []
    roots += [name for name in links if name not in children]
    tree: list[AnyEdge] = []
    reached: set[str] = set()
    bases: list[str] = []
    for start in (WORLD_LINK, *roots, first, *links):
        if start in reached:
            continue
        if start != WORLD_LINK:
            bases.append(start)
        reached.add(start)
        _grow(start, by_end, reached, tree)
    used = {edge.name for edge in tree}
    return tree, [edge for edge in edges if edge.name not in used], bases


def plant(robot: RobotData, edges: Iterable[GraphEdge], bases: Sequence[str]) -> None:
    """Set the root of a robot to its only floating base, or else to the world.

    The world link is added if necessary.
    """
    is_held = any(WORLD_LINK in (edge.parent, edge.child) for edge in edges)
    robot.root = WORLD_LINK if is_held or len(bases) > 1 else bases[0]
    if robot.root == WORLD_LINK:
        robot.add_link(WORLD_LINK)


def _grow(
    start: str, by_end: dict[str, list[AnyEdge]], reached: set[str], tree: list[AnyEdge]
) -> None:
    """Add the joints of the tree that starts at a link."""
    waiting = [start]
    turned: list[AnyEdge] = []
    while waiting or turned:
        if not waiting:
            edge = turned.pop(0)
            if edge.parent in reached:
                continue
            tree.append(edge.turned())  # type: ignore[arg-type]  # of the same kind
            reached.add(edge.parent)
            waiting.append(edge.parent)
        link = waiting.pop(0)
        for edge in by_end[link]:
            if edge.parent == link and edge.child not in reached:
                tree.append(edge)
                reached.add(edge.child)
                waiting.append(edge.child)
            elif edge.child == link and edge.parent not in reached:
                turned.append(edge)


def join(
    robot: RobotData,
    edge: GraphEdge,
    joints: list[JointData],
    axes: Sequence[np.ndarray],
    at: Placement,
    place: Callable[[str], Placement],
) -> str:
    """Add a joint of a file as a chain of joints with one coordinate each.

    Massless links lie between the joints of the chain. If an axis does not pass through the origin
    of the child link, another massless link lies below this axis.

    Args:
        robot: receives the joints and links.
        edge: the joint of the file, with the connected links.
        joints: joints of the chain from parent to child, without names of links. An empty list
            fixes the links to each other.
        axes: axes of the joints, each (3,), in the frame of `place`.
        at: placement of the joint's frame. All axes pass through its origin.
        place: returns the placement of a link, in one frame for all links.

    Returns:
        The name of the link directly below the first joint.
    """
    above, below = place(edge.parent), place(edge.child)
    anchor = below.inverse().then(at).p
    for joint, axis in zip(joints, axes, strict=True):
        x, y, z = (float(part) for part in below.R.T @ axis)
        joint.axis = (x, y, z)
    if not joints:
        joints, anchor = [JointData(edge.name, "fixed", "", "")], np.zeros(3)
    elif len(joints) == 1:
        anchor = _needed(joints[0], anchor)
    joints[0].origin = above.inverse().then(Placement(below.R, below.R @ anchor + below.p))
    ends, fixed = (edge.parent, edge.child), f"{edge.name}_fixed"
    add_chain(robot, joints, ends, anchor, lambda name: free_name(name, robot.links), fixed)
    return joints[0].child if np.any(anchor) else edge.child


def add_chain(
    robot: RobotData,
    joints: Sequence[JointData],
    ends: tuple[str, str],
    anchor: np.ndarray,
    link_name: Callable[[str], str],
    fixed: str,
) -> None:
    """Add a chain of joints between two links, with massless links between the joints.

    Args:
        robot: receives the joints and links.
        joints: joints from parent to child, with origins.
        ends: names of the parent and of the child.
        anchor: origin of the last joint in the child (3,) [m]. If not zero, a fixed joint
            leads from there to the child.
        link_name: returns the name of the link below a joint, by the name of the joint.
        fixed: name of the fixed joint, if the name is free.
    """
    parent, child = ends
    is_offset = bool(np.any(anchor))
    for k, joint in enumerate(joints):
        is_last = k == len(joints) - 1 and not is_offset
        joint.parent, joint.child = parent, child if is_last else link_name(joint.name)
        parent = joint.child
        if not is_last:
            robot.add_link(parent)
        joint.name = robot.free_joint_name(joint.name)
        robot.add_joint(joint)
    if is_offset:
        name, back = robot.free_joint_name(fixed), Placement(np.eye(3), -anchor)
        robot.add_joint(JointData(name, "fixed", parent, child, back))


def _needed(joint: JointData, anchor: np.ndarray) -> np.ndarray:
    """Return the anchor (3,) of a joint, or zero if its axis passes through the child's origin."""
    if joint.type == "prismatic":
        return np.zeros(3)
    axis = np.array(joint.axis)
    across = anchor - (anchor @ axis) * axis
    return anchor if np.linalg.norm(across) > _NEAR else np.zeros(3)


def float_bases(robot: RobotData, bases: Iterable[str], place: Callable[[str], Placement]) -> None:
    """Connect floating bases to the root by floating joints, if the root is the world.

    place: returns the placement of a link, which becomes the placement of the joint.
    """
    for base in bases if robot.root == WORLD_LINK else ():
        name = robot.free_joint_name(f"{base}_free")
        robot.add_joint(JointData(name, "floating", WORLD_LINK, base, place(base)))
