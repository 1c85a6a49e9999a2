# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Assemble the rigid bodies and joints of a robot from the links of its description."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from hrpsim.common.values import LARGEST
from hrpsim.model.model import Frame, Joint
from hrpsim.model.readers.robot_data import JointData, RobotData
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES
from hrpsim.model.shapes.placement import IDENTITY, Placement, rotation_with_z_along
from hrpsim.model.shapes.solid_inertia import BodyInertia
from hrpsim.model.system import FIXED, FREE, JOINT_NQ, JOINT_NV, Dof

WORLD = -1
# of the parts of a ball joint
_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass
class TreeBody:
    """The body moved by one kernel joint. `link` is the URDF link carried by the joint."""

    parent: int
    joint_type: int
    q_index: int
    v_index: int
    placement: Placement
    link: str
    ball: int = 0
    has_inertial: bool = False
    parts: list[BodyInertia] = field(default_factory=list)


@dataclass
class LinkTree:
    """Builder of a forest of bodies from links. Bodies are stored depth first."""

    robot: RobotData
    cut_links: set[str]  # links whose fixed joints remain, because a sensor measures there
    bodies: list[TreeBody] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    dofs: list[Dof] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)

    def add_body(
        self, name: str | None, parent: int, joint_type: int, placement: Placement, link: str
    ) -> int:
        """Append a body, its joint and degrees of freedom. `name` is None for a fixed joint."""
        body = len(self.bodies)
        q_index = sum(JOINT_NQ[b.joint_type] for b in self.bodies)
        v_index = len(self.dofs)
        self.bodies.append(TreeBody(parent, joint_type, q_index, v_index, placement, link))
        self.dofs.extend(Dof(body) for _ in range(JOINT_NV[joint_type]))
        if name is not None:
            self.joints.append(Joint(name, joint_type, body, q_index, v_index))
        return body

    def grow(self, link: str, body: int) -> None:
        """Attach `link` to `body`, in the body's frame, and add all links below, depth first."""
        self.place_link(link, body, IDENTITY)
        beneath = self.robot.joints_beneath()
        pending = beneath[link][::-1]
        while pending:
            joint = pending.pop()
            parent = self.frames[joint.parent]
            self.place_link(joint.child, *self.place_joint(joint, parent))
            pending += beneath[joint.child][::-1]

    def place_link(self, link: str, body: int, placement: Placement) -> None:
        """Record the frame of `link` in its body, and add the inertia of the link to the body."""
        self.frames[link] = Frame(link, body, *placement)
        inertial = self.robot.links[link].inertial
        if inertial is not None and body != WORLD:
            self.bodies[body].has_inertial = True
            self.bodies[body].parts.append(BodyInertia(*inertial).seen_from(placement))

    def place_joint(self, joint: JointData, parent: Frame) -> tuple[int, Placement]:
        """Add the bodies that a joint moves.

        A planar joint, for example, adds three bodies. A fixed joint adds none.

        Returns:
            (index of the child link's body, placement of the child link in this body).
        """
        at = Placement(parent.R, parent.p).then(joint.origin)
        body = parent.body
        if joint.type == "fixed":
            if joint.child not in self.cut_links:
                return body, at
            return self.add_body(None, body, FIXED, at, joint.child), IDENTITY
        if joint.type == "floating":
            self.check_floating(joint, body)
            return self.add_body(joint.name, WORLD, FREE, at, joint.child), IDENTITY
        normal = rotation_with_z_along(joint.axis)
        for motion, suffix, direction in JOINT_TYPES[joint.type].steps:
            turn = Placement(rotation_with_z_along(normal[:, direction]), np.zeros(3))
            name = joint.name + suffix
            body = self.add_body(name, body, motion.code, at.then(turn), joint.child)
            self.bodies[-1].ball = joint.ball
            self.describe_dof(joint, self.dofs[-1])
            at = turn.inverse()
        return body, at

    def check_floating(self, joint: JointData, body: int) -> None:
        """Raise ModelError for a floating joint on a moving link, or with damping."""
        if body != WORLD:
            self.robot.fail(
                joint,
                "a floating joint needs the root, or a link fixed to it, as parent, with "
                "base='fixed'. With base='free' it must be the only joint of a root link without "
                "inertia",
            )
        if joint.damping or joint.friction:
            self.robot.fail(joint, "a floating joint has no damping or friction")

    def describe_dof(self, joint: JointData, dof: Dof) -> None:
        """Write the constants of a joint's coordinate to its degree of freedom."""
        dof.damping, dof.friction = joint.damping, joint.friction
        dof.lower, dof.upper = _bound(joint.lower), _bound(joint.upper)
        dof.velocity_limit, dof.effort_limit = _stated(joint.velocity), _stated(joint.effort)
        dof.stiffness, dof.rest = joint.stiffness, joint.rest
        dof.rotor_inertia = joint.rotor_inertia

    def link_mimics(self) -> None:
        """Resolve chains of mimic joints: let each degree of freedom follow the first leader."""
        v_index = {joint.name: joint.v_index for joint in self.joints}
        for name, joint in self.robot.joints.items():
            while joint.mimic is not None and name in v_index:
                dof, (leader, ratio, offset) = self.dofs[v_index[name]], joint.mimic
                dof.mimic_offset += dof.mimic_ratio * offset
                dof.mimic_ratio *= ratio
                dof.mimic_dof = v_index[leader]
                joint = self.robot.joints[leader]


def _stated(limit: float) -> float:
    """Return a limit of effort or velocity. 0 and negative values mean no limit (inf)."""
    return _bound(limit) if limit > 0.0 else math.inf


def _bound(limit: float) -> float:
    """Return a limit, or infinity with the same sign if the magnitude exceeds LARGEST.

    Exporters write such large values for joints without a limit.
    """
    return math.copysign(math.inf, limit) if abs(limit) > LARGEST else limit


def check_balls(tree: LinkTree) -> None:
    """Raise ModelError for a part of a ball joint that does not belong to a whole ball joint."""
    robot, beneath = tree.robot, tree.robot.joints_beneath()
    parts = {joint.name: joint.ball for joint in robot.joints.values() if joint.ball}
    while parts:
        name = next((name for name, part in parts.items() if part == 1), "")
        if not name:
            _fail(tree, robot.joints[next(iter(parts))])
        joint = robot.joints[name]
        for part, axis in enumerate(_AXES, 1):
            if parts.pop(joint.name, 0) != part or not _is_free_hinge(joint, axis):
                _fail(tree, joint)
            if part == len(_AXES):
                break
            link, below = robot.links[joint.child], beneath[joint.child]
            is_empty = link.inertial is None and not link.collisions
            if not is_empty or len(below) != 1 or not _is_at_origin(below[0]):
                _fail(tree, joint)
            (joint,) = below


def _is_free_hinge(joint: JointData, axis: tuple[float, float, float]) -> bool:
    """Return whether a joint is a hinge about `axis` without limits and without a leader."""
    if joint.type not in ("revolute", "continuous") or joint.axis != axis:
        return False
    return joint.mimic is None and min(-joint.lower, joint.upper) == np.inf


def _is_at_origin(joint: JointData) -> bool:
    return np.array_equal(joint.origin.R, np.eye(3)) and not np.any(joint.origin.p)


def _fail(tree: LinkTree, joint: JointData) -> NoReturn:
    tree.robot.fail(
        joint,
        "a ball joint is three joints with parts 1, 2 and 3, one after another in one place, about"
        " x, y and z, without limits, mimics, and links with mass or shapes between",
    )
