# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""From a sound description to a `Model`: bodies in Pinocchio's order and the kernels' arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields

import numpy as np

from hrpsim.model.extension import Extension
from hrpsim.model.inertia import (
    BodyInertia,
    lacks_inertia,
    total,
    unresisted_bodies,
    why_nonphysical,
)
from hrpsim.model.model import Frame, Joint, Model, Sensor
from hrpsim.model.shapes.placement import IDENTITY, Placement, from_origin, rotation_with_z_along
from hrpsim.model.system import (
    FIXED,
    FREE,
    JOINT_NQ,
    JOINT_NV,
    PRISMATIC,
    REVOLUTE,
    System,
    integer_array,
    real_array,
)
from hrpsim.model.urdf.description import MOVING_TYPES, Description
from hrpsim.values import LARGEST

WORLD = -1
_MOST_LISTED = 6  # names in a message
FREE_JOINT_NAME = "root_joint"  # what Pinocchio calls the joint of a free base
_KERNEL_TYPE = {"revolute": REVOLUTE, "continuous": REVOLUTE, "prismatic": PRISMATIC}


@dataclass
class _Dof:
    """Constants of one degree of freedom; the defaults are those of a free base."""

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
class _Body:
    """What one kernel joint moves; `link` is the URDF link that the joint carries."""

    parent: int
    joint_type: int
    q_index: int
    v_index: int
    placement: Placement
    link: str
    has_inertial: bool = False
    parts: list[BodyInertia] = field(default_factory=list)


@dataclass
class _Tree:
    """The forest while it grows, depth first."""

    description: Description
    extension: Extension
    cut_joints: set[str]  # fixed joints that stay, for a sensor cuts them
    bodies: list[_Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    dofs: list[_Dof] = field(default_factory=list)
    frames: dict[str, Frame] = field(default_factory=dict)

    def add_body(
        self, name: str | None, parent: int, joint_type: int, placement: Placement, link: str
    ) -> int:
        """Append a body and its degrees of freedom; `name` None for a joint without any."""
        body = len(self.bodies)
        q_index = sum(JOINT_NQ[b.joint_type] for b in self.bodies)
        v_index = len(self.dofs)
        self.bodies.append(_Body(parent, joint_type, q_index, v_index, placement, link))
        self.dofs.extend(_Dof(body) for _ in range(JOINT_NV[joint_type]))
        if name is not None:
            self.joints.append(Joint(name, joint_type, body, q_index, v_index))
        return body

    def grow(self, link: str, body: int) -> None:
        """Put `link` on `body`, its frame being the body's, and everything beneath it."""
        self.place_link(link, body, IDENTITY)
        pending = self.joints_beneath(link)
        while pending:
            joint = self.description.joints[pending.pop()]
            parent = self.frames[joint.parent]
            self.place_link(joint.child, *self.place_joint(joint, parent))
            pending += self.joints_beneath(joint.child)

    def joints_beneath(self, link: str) -> list[str]:
        """Return the joints beneath `link`, the first one last: ready to be popped."""
        return self.description.child_joints[link][::-1]

    def place_link(self, link: str, body: int, placement: Placement) -> None:
        """Record the frame of `link` and give its inertia to `body`."""
        self.frames[link] = Frame(link, body, *placement)
        inertial = self.description.links[link].inertial
        if inertial is not None and body != WORLD:
            self.bodies[body].has_inertial = True
            self.bodies[body].parts.append(_inertia_of(inertial).seen_from(placement))

    def place_joint(self, joint, parent: Frame) -> tuple[int, Placement]:
        """Add the bodies that `joint` moves; return the body of its child link and its place."""
        at = Placement(parent.R, parent.p).then(_origin_of(joint.origin))
        body = parent.body
        if joint.type == "fixed":
            if joint.name not in self.cut_joints:
                return body, at
            return self.add_body(None, body, FIXED, at, joint.child), IDENTITY
        if joint.type == "floating":
            self.check_floating(joint.name, body)
            return self.add_body(joint.name, WORLD, FREE, at, joint.child), IDENTITY
        normal = rotation_with_z_along(_axis(joint))
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
        """Refuse a floating joint on anything that moves, and damping that it cannot have."""
        if body != WORLD:
            self.description.fail_at_joint(
                joint,
                "a floating joint must hang on the world: on the root or what is fixed to it, with"
                " base='fixed'; or alone beneath a root link without inertia, with base='free'",
            )
        dynamics = self.description.joints[joint].dynamics
        if dynamics is not None and (dynamics.damping or dynamics.friction):
            self.description.fail_at_joint(joint, "a floating joint has no damping or friction")

    def describe_dof(self, joint, dof: _Dof) -> None:
        """Write what URDF and the extension say about the coordinate of `joint`."""
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
        """Point each degree of freedom that follows another at its leader."""
        v_index = {joint.name: joint.v_index for joint in self.joints}
        for name, joint in self.description.joints.items():
            if joint.mimic is not None and name in v_index:
                dof = self.dofs[v_index[name]]
                ratio, offset = joint.mimic.multiplier, joint.mimic.offset
                dof.mimic_dof = v_index[joint.mimic.joint]
                dof.mimic_ratio = 1.0 if ratio is None else ratio
                dof.mimic_offset = 0.0 if offset is None else offset


def build_model(
    description: Description, extension: Extension, base: str, accept_nonphysical_inertia: bool
) -> tuple[Model, list[str]]:
    """Return the model without its collision shapes, and notes on what is odd about its inertia.

    base: "free" puts a FREE body first whose frame is the root link's; "fixed" makes the root link
    part of the world. ModelError if its inertia makes no sense.
    """
    cut_links = {s.link for s in extension.sensors.values() if s.kind == "force_torque"}
    cut_joints = {description.parent_joint[link] for link in cut_links}
    tree = _Tree(description, extension, cut_joints)
    root = description.root
    if base == "free" and not _is_floating_already(description):
        tree.add_body(_free_joint_name(description), WORLD, FREE, IDENTITY, root)
        tree.grow(root, 0)
    else:
        tree.grow(root, WORLD)
    tree.link_mimics()
    inertias = [total(body.parts) for body in tree.bodies]
    system = _arrays(tree, inertias)
    if not accept_nonphysical_inertia:
        notes = _check_physical(tree, inertias)
        _check_resisted(tree, system)
    else:
        if tree.bodies and not system.mass.any():
            description.fail_at_link(root, "nothing that moves has any mass")
        notes = _unresisted_joints(tree, system)
    model = Model(
        name=description.name,
        base=base,
        base_link=tree.bodies[0].link if base == "free" else root,
        system=system,
        joints=tuple(tree.joints),
        frames={link: tree.frames[link] for link in description.links},
        sensors=tuple(_sensors(tree)),
        gains=dict(extension.gains),
        command_interfaces=dict(extension.command_interfaces),
        connections=tuple(_connections(tree)),
    )
    return model, notes


def _is_floating_already(description: Description) -> bool:
    """Return whether the root link only carries the floating joint of the real base."""
    beneath = description.child_joints[description.root]
    return (
        len(beneath) == 1
        and description.joints[beneath[0]].type == "floating"
        and description.links[description.root].inertial is None
    )


def stated_base(description: Description) -> str:
    """Return "fixed" for a root link "world" that bears more than a floating base, else "free"."""
    is_held = description.root == "world" and not _is_floating_already(description)
    return "fixed" if is_held else "free"


def _free_joint_name(description: Description) -> str:
    name = FREE_JOINT_NAME
    while name in description.joints:
        name = f"free_{name}"
    return name


def _check_physical(tree: _Tree, inertias: list[BodyInertia]) -> list[str]:
    """Check each body together with the FIXED ones on it, for only the whole has to be physical.

    Returns a note on those that have mass or an <inertial>, but no moments of inertia.
    """
    members: dict[int, list[BodyInertia]] = {i: [] for i in range(len(inertias))}
    carrier: dict[int, tuple[int, Placement]] = {}
    for i, body in enumerate(tree.bodies):
        carrier[i] = (i, IDENTITY)
        if body.joint_type == FIXED:
            above, place = carrier.get(body.parent, (WORLD, IDENTITY))
            carrier[i] = (above, place.then(body.placement))
        owner, place = carrier[i]
        if owner != WORLD and body.has_inertial:
            members[owner].append(inertias[i].seen_from(place))
    points = []
    for i, parts in members.items():
        cause = why_nonphysical(total(parts)) if parts else None
        link = tree.bodies[i].link
        if cause is not None:
            on_it = [f.name for f in tree.frames.values() if carrier.get(f.body, (None,))[0] == i]
            others = ", ".join(repr(name) for name in on_it if name != link)
            together = f" together with {others}, fixed to it" if others else ""
            tree.description.fail_at_link(
                link,
                f"non-physical inertia{together}: {cause}"
                " (accept_nonphysical_inertia=True loads it as it is)",
            )
        if parts and lacks_inertia(total(parts)):
            points.append(link)
    if not points:
        return []
    what = tree.description.where_is_link(points[0])
    return [
        f"{what}: no moment of inertia about some axis for {_listed('link', points)}: taken as"
        " points or thin rods, for what else moves with each joint resists it; an <inertia> with"
        " the moments of their shapes is better"
    ]


def _listed(kind: str, names: list[str]) -> str:
    """Return "link 'a'" or "links 'a', 'b' and 3 more"."""
    shown = ", ".join(map(repr, names[:_MOST_LISTED]))
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{kind}{'s' if len(names) > 1 else ''} {shown}{more}"


def _joint_of(tree: _Tree, body: int) -> str | None:
    return next((joint.name for joint in tree.joints if joint.body == body), None)


def _check_resisted(tree: _Tree, system: System) -> None:
    unresisted = unresisted_bodies(system)
    if not unresisted:
        return
    link, name = tree.bodies[unresisted[0]].link, _joint_of(tree, unresisted[0])
    if name in tree.description.joints:
        tree.description.fail_at_joint(
            name,
            f"no inertia resists this joint, so its acceleration is undefined: give link {link!r},"
            " or one beneath it, an <inertial>, or the joint a rotor inertia (<hrpsim>, <rotor>);"
            " accept_nonphysical_inertia=True loads it as it is, for gains or damping to resist it",
        )
    tree.description.fail_at_link(
        link,
        "a free base needs inertia in every direction, and neither this link nor what hangs on it"
        " has any: give it an <inertial>, or load with base='fixed'",
    )


def _unresisted_joints(tree: _Tree, system: System) -> list[str]:
    """Return a note on joints that no inertia resists, though they are accepted."""
    unresisted = unresisted_bodies(system)
    if not unresisted:
        return []
    names = [_joint_of(tree, i) or tree.bodies[i].link for i in unresisted]
    links = list(dict.fromkeys(tree.bodies[i].link for i in unresisted))
    return [
        f"{tree.description.where_is_link(links[0])}: no inertia resists {_listed('joint', names)}:"
        " a step of a world fails as long as neither gains nor damping do; give"
        f" {_listed('link', links)} an <inertial>, or each joint a rotor inertia (<hrpsim>,"
        " <rotor>)"
    ]


def _sensors(tree: _Tree):
    for sensor in tree.extension.sensors.values():
        frame = tree.frames[sensor.link]
        place = Placement(frame.R, frame.p).then(sensor.placement)
        yield Sensor(
            *(sensor.name, sensor.kind, sensor.link, frame.body),
            *(place.R, place.p, sensor.tare, sensor.rate),
        )


def _connections(tree: _Tree):
    for connection in tree.extension.connections.values():
        first, second = (tree.frames[link] for link in connection.links)
        if first.body == second.body:
            links = " and ".join(map(repr, connection.links))
            tree.description.fail_at_link(
                first.name, f"connection {connection.name!r}: {links} do not move apart"
            )
        yield connection


def _arrays(tree: _Tree, inertias: list[BodyInertia]) -> System:
    bodies = tree.bodies
    root: list[int] = []
    for i, body in enumerate(bodies):
        root.append(i if body.parent == WORLD else root[body.parent])

    of_dofs = {}
    for name in (constant.name for constant in fields(_Dof)):
        values = [getattr(dof, name) for dof in tree.dofs]
        is_number = name in ("body", "mimic_dof")
        of_dofs[name] = integer_array(values) if is_number else real_array(values)
    return System(
        parent=integer_array([b.parent for b in bodies]),
        root=integer_array(root),
        joint_type=integer_array([b.joint_type for b in bodies]),
        q_index=integer_array([b.q_index for b in bodies]),
        v_index=integer_array([b.v_index for b in bodies]),
        placement_R=real_array([b.placement.R for b in bodies], (-1, 3, 3)),
        placement_p=real_array([b.placement.p for b in bodies], (-1, 3)),
        mass=real_array([i.mass for i in inertias]),
        com=real_array([i.com for i in inertias], (-1, 3)),
        inertia=real_array([i.inertia for i in inertias], (-1, 3, 3)),
        dof_body=of_dofs.pop("body"),
        **of_dofs,
    )


def _stated(limit: float) -> float:
    """Return a limit of effort or velocity; 0 and less (-1) mean that none is stated."""
    return _bound(limit) if limit > 0.0 else math.inf


def _bound(limit: float) -> float:
    """Return a limit, infinite where it is as far as exporters write for none."""
    return math.copysign(math.inf, limit) if abs(limit) > LARGEST else limit


def _axis(joint) -> list[float]:
    return [1.0, 0.0, 0.0] if joint.axis is None else joint.axis


def _origin_of(origin) -> Placement:
    return IDENTITY if origin is None else from_origin(origin.xyz, origin.rpy)


def _inertia_of(inertial) -> BodyInertia:
    at_com = BodyInertia(
        float(inertial.mass), np.zeros(3), np.array(inertial.inertia.to_matrix(), dtype=np.float64)
    )
    return at_com.seen_from(_origin_of(inertial.origin))
