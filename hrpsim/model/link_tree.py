# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Assemble the links of a description, depth first: bodies, joints, frames of links."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from hrpsim.common.values import LARGEST
from hrpsim.model.body_inertia import BodyInertia
from hrpsim.model.described import Extension
from hrpsim.model.model import Frame, Joint
from hrpsim.model.readers.urdf.description import MOVING_TYPES, Description
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin, rotation_with_z_along
from hrpsim.model.system import FIXED, FREE, JOINT_NQ, JOINT_NV, PRISMATIC, REVOLUTE

WORLD = -1
_KERNEL_TYPE = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC}


@dataclass
class Dof:
    """Constants of one degree of freedom. The defaults are for a free base."""

    body: int
    rotor_inertia: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    damping: float = 0.0
    friction: float = 0.0
    lower: float = -math.inf
    upper: float = math.inf
    velocity_limit: float = math.inf
    effort_limit: float = math.inf
    mimic_dof: int = -1
    mimic_ratio: float = 1.0
    mimic_offset: float = 0.0


@dataclass
class TreeBody:
    """The body moved by one kernel joint. `link` is the URDF link carried by the joint."""

    parent: int
    joint_type: int
    q_index: int
    v_index: int
    placement: Placement
    link: str
    has_inertial: bool = False
    parts: list[BodyInertia] = field(default_factory=list)


@dataclass
class LinkTree:
    """The forest during its assembly, depth first."""

    description: Description
    extension: Extension
    cut_joints: set[str]  # fixed joints that are kept, because a sensor measures there
    bodies: list[TreeBody] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    dofs: list[Dof] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)

    def add_body(
        self, name: str | None, parent: int, joint_type: int, placement: Placement, link: str
    ) -> int:
        """Append a body and its degrees of freedom. `name` is None for a joint without any."""
        body = len(self.bodies)
        q_index = sum(JOINT_NQ[b.joint_type] for b in self.bodies)
        v_index = len(self.dofs)
        self.bodies.append(TreeBody(parent, joint_type, q_index, v_index, placement, link))
        self.dofs.extend(Dof(body) for _ in range(JOINT_NV[joint_type]))
        if name is not None:
            self.joints.append(Joint(name, joint_type, body, q_index, v_index))
        return body

    def grow(self, link: str, body: int) -> None:
        """Put `link` and everything beneath on `body`.

        The frame of the link is the body's frame.
        """
        self.place_link(link, body, IDENTITY)
        beneath = self.description.child_joints
        pending = beneath[link][::-1]
        while pending:
            joint = self.description.joints[pending.pop()]
            parent = self.frames[joint.parent]
            self.place_link(joint.child, *self.place_joint(joint, parent))
            pending += beneath[joint.child][::-1]

    def place_link(self, link: str, body: int, placement: Placement) -> None:
        """Record the frame of `link` and give the inertia of the link to `body`."""
        self.frames[link] = Frame(link, body, *placement)
        inertial = self.description.links[link].inertial
        if inertial is not None and body != WORLD:
            self.bodies[body].has_inertial = True
            self.bodies[body].parts.append(_inertia_of(inertial).seen_from(placement))

    def place_joint(self, joint, parent: Frame) -> tuple[int, Placement]:
        """Add the bodies moved by `joint`. Return body and placement of its child link."""
        at = Placement(parent.R, parent.p).then(_origin_of(joint.origin))
        body = parent.body
        if joint.type == "fixed":
            if joint.name not in self.cut_joints:
                return body, at
            return self.add_body(None, body, FIXED, at, joint.child), IDENTITY
        if joint.type == "floating":
            self.check_floating(joint.name, body)
            return self.add_body(joint.name, WORLD, FREE, at, joint.child), IDENTITY
        normal = rotation_with_z_along(joint.axis or (1.0, 0.0, 0.0))
        if joint.type == "planar":
            steps = [
                (f"{joint.name}_x", PRISMATIC, normal[:, 0]),
                (f"{joint.name}_y", PRISMATIC, normal[:, 1]),
                (f"{joint.name}_theta", REVOLUTE, normal[:, 2]),
            ]
        else:
            steps = [(joint.name, _KERNEL_TYPE[joint.type], normal[:, 2])]
        for name, joint_type, direction in steps:
            turn = Placement(rotation_with_z_along(direction), np.zeros(3))
            body = self.add_body(name, body, joint_type, at.then(turn), joint.child)
            self.describe_dof(joint, self.dofs[-1])
            at = turn.inverse()
        return body, at

    def check_floating(self, joint: str, body: int) -> None:
        """Refuse a floating joint on a moving link, and a floating joint with damping."""
        if body != WORLD:
            self.description.fail_at_joint(
                joint,
                "a floating joint must hang on the world: on the root or what is fixed to it, with"
                " base='fixed'; or alone beneath a root link without inertia, with base='free'",
            )
        dynamics = self.description.joints[joint].dynamics
        if dynamics is not None and (dynamics.damping or dynamics.friction):
            self.description.fail_at_joint(joint, "a floating joint has no damping or friction")

    def describe_dof(self, joint, dof: Dof) -> None:
        """Write the constants of the coordinate of `joint` from URDF and extension."""
        if joint.dynamics is not None:
            dof.damping = joint.dynamics.damping or 0.0
            dof.friction = joint.dynamics.friction or 0.0
        if joint.limit is not None and joint.type in MOVING_TYPES:
            dof.velocity_limit = _stated(joint.limit.velocity)
            dof.effort_limit = _stated(joint.limit.effort)
            if joint.type != "continuous":
                dof.lower, dof.upper = _bound(joint.limit.lower), _bound(joint.limit.upper)
        spring = self.extension.springs.get(joint.name)
        if spring is not None:
            dof.stiffness, dof.rest = spring.stiffness, spring.rest
            dof.damping += spring.damping
        dof.rotor_inertia = self.extension.rotor_inertia.get(joint.name, 0.0)

    def link_mimics(self) -> None:
        """Point each degree of freedom that follows another at the leading one of the chain."""
        v_index = {joint.name: joint.v_index for joint in self.joints}
        for name, joint in self.description.joints.items():
            while joint.mimic is not None and name in v_index:
                dof, mimic = self.dofs[v_index[name]], joint.mimic
                dof.mimic_offset += dof.mimic_ratio * (mimic.offset or 0.0)
                dof.mimic_ratio *= 1.0 if mimic.multiplier is None else mimic.multiplier
                dof.mimic_dof = v_index[mimic.joint]
                joint = self.description.joints[mimic.joint]


def _stated(limit: float) -> float:
    """Return a limit of effort or velocity. Values of 0 and less (-1) mean no limit."""
    return _bound(limit) if limit > 0.0 else math.inf


def _bound(limit: float) -> float:
    """Return a limit, or infinity if the limit is as large as exporters write for no limit."""
    return math.copysign(math.inf, limit) if abs(limit) > LARGEST else limit


def _origin_of(origin) -> Placement:
    return IDENTITY if origin is None else from_origin(origin.xyz, origin.rpy)


def _inertia_of(inertial) -> BodyInertia:
    at_com = BodyInertia(
        float(inertial.mass), np.zeros(3), np.array(inertial.inertia.to_matrix(), dtype=np.float64)
    )
    return at_com.seen_from(_origin_of(inertial.origin))
