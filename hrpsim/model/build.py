# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build a `Model` from a valid description: bodies in Pinocchio's order, the kernels' arrays."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model import body_inertia
from hrpsim.model.described import Extension
from hrpsim.model.link_tree import WORLD, Dof, LinkTree
from hrpsim.model.model import Lift, Model, Sensor
from hrpsim.model.readers.urdf.description import Description
from hrpsim.model.sampled_sensors import sampled_sensor
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.model.system import FIXED, FREE, System, integer_array, real_array

_MOST_LISTED = 6  # names in a message
FREE_JOINT_NAME = "root_joint"  # what Pinocchio calls the joint of a free base


def build_model(
    description: Description, extension: Extension, base: str, accept_nonphysical_inertia: bool
) -> tuple[Model, list[str]]:
    """Return the model without its collision shapes, and notes on suspicious inertias.

    With base "free" the first body is a FREE body in the frame of the root link. With base "fixed"
    the root link is part of the world. ModelError if an inertia is invalid.
    """
    cut_links = {s.link for s in extension.sensors.values() if s.kind == "force_torque"}
    cut_joints = {description.parent_joint[link] for link in cut_links}
    tree = LinkTree(description, extension, cut_joints)
    root = description.root
    if base == "free" and not _is_floating_already(description):
        tree.add_body(_free_joint_name(description), WORLD, FREE, IDENTITY, root)
        tree.grow(root, 0)
    else:
        tree.grow(root, WORLD)
    tree.link_mimics()
    inertias = [body_inertia.total(body.parts) for body in tree.bodies]
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
        sampled_sensors=tuple(_sampled_sensors(tree)),
        gains=dict(extension.gains),
        actuators=dict(extension.actuators),
        command_interfaces=dict(extension.command_interfaces),
        start=dict(extension.start),
        transmissions=dict(extension.transmissions),
        tendons=dict(extension.tendons),
        lifts=tuple(_lifts(tree)),
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
    """Return "fixed" if the root link is "world" and has more than a floating base, else "free"."""
    is_held = description.root == "world" and not _is_floating_already(description)
    return "fixed" if is_held else "free"


def _free_joint_name(description: Description) -> str:
    name = FREE_JOINT_NAME
    while name in description.joints:
        name = f"free_{name}"
    return name


def _check_physical(tree: LinkTree, inertias: list[body_inertia.BodyInertia]) -> list[str]:
    """Check each body together with the FIXED bodies on it. Only the whole must be physical.

    Returns a note on bodies that have mass or an <inertial>, but no moments of inertia.
    """
    members: dict[int, list[body_inertia.BodyInertia]] = {i: [] for i in range(len(inertias))}
    carrier: dict[int, tuple[int, Placement]] = {}
    for i, body in enumerate(tree.bodies):
        carrier[i] = (i, IDENTITY)
        if body.joint_type == FIXED:
            above, placement = carrier.get(body.parent, (WORLD, IDENTITY))
            carrier[i] = (above, placement.then(body.placement))
        owner, placement = carrier[i]
        if owner != WORLD and body.has_inertial:
            members[owner].append(inertias[i].seen_from(placement))
    points = []
    for i, parts in members.items():
        cause = body_inertia.why_nonphysical(body_inertia.total(parts)) if parts else None
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
        if parts and body_inertia.lacks_inertia(body_inertia.total(parts)):
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


def _joint_of(tree: LinkTree, body: int) -> str | None:
    return next((joint.name for joint in tree.joints if joint.body == body), None)


def _check_resisted(tree: LinkTree, system: System) -> None:
    unresisted = body_inertia.unresisted_bodies(system)
    if not unresisted:
        return
    link, name = tree.bodies[unresisted[0]].link, _joint_of(tree, unresisted[0])
    if name in tree.description.joints:
        mimic = tree.description.joints[name].mimic
        law = f"; following {mimic.joint!r} is a constraint, not an inertia" if mimic else ""
        accepted = (
            "accept_nonphysical_inertia=True loads it as it is, for gains or damping to resist it"
            if system.mass.any()
            else "nothing that moves has any mass"
        )
        tree.description.fail_at_joint(
            name,
            f"no inertia resists this joint, so its acceleration is undefined{law}: give link"
            f" {link!r}, or one beneath it, an <inertial>, or the joint a rotor inertia (<hrpsim>,"
            f" <rotor>); {accepted}",
        )
    tree.description.fail_at_link(
        link,
        "a free base needs inertia in every direction, and neither this link nor what hangs on it"
        " has any: give it an <inertial>, or load with base='fixed'",
    )


def _unresisted_joints(tree: LinkTree, system: System) -> list[str]:
    """Return a note on accepted joints that no inertia resists."""
    unresisted = body_inertia.unresisted_bodies(system)
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


def _sensors(tree: LinkTree):
    for sensor in tree.extension.sensors.values():
        frame = tree.frames[sensor.link]
        placement = Placement(frame.R, frame.p).then(sensor.placement)
        yield Sensor(
            *(sensor.name, sensor.kind, sensor.link, frame.body),
            *(placement.R, placement.p, sensor.tare, sensor.rate),
            *(sensor.noise, sensor.bias, sensor.topic, sensor.frame),
            latency=sensor.latency,
            bias_mean=sensor.bias_mean,
            reversed=sensor.reversed,
        )


def _sampled_sensors(tree: LinkTree):
    for sensor in tree.extension.sampled.values():
        frame = tree.frames[sensor.link]
        placement = Placement(frame.R, frame.p).then(sensor.placement)
        name, kind, link = sensor.name, sensor.kind, sensor.link
        try:
            made = sampled_sensor(name, kind, link, frame.body, placement, sensor.settings)
            yield replace(made, topic=sensor.topic, frame=sensor.frame)
        except ModelError as error:
            tree.description.document.fail(sensor.element, str(error))


def _lifts(tree: LinkTree):
    for link, part in tree.extension.gravity_compensation.items():
        frame, inertial = tree.frames[link], tree.description.links[link].inertial
        if frame.body < 0 or part == 0.0:
            continue
        centre = np.zeros(3) if inertial.origin is None else np.array(inertial.origin.xyz)
        x, y, z = (frame.p + frame.R @ centre).tolist()
        yield Lift(frame.body, (x, y, z), part * float(inertial.mass))


def _connections(tree: LinkTree):
    for connection in tree.extension.connections.values():
        first, second = (tree.frames[link] for link in connection.links)
        if first.body == second.body:
            links = " and ".join(map(repr, connection.links))
            tree.description.fail_at_link(
                first.name, f"connection {connection.name!r}: {links} do not move apart"
            )
        yield connection


def _arrays(tree: LinkTree, inertias: list[body_inertia.BodyInertia]) -> System:
    bodies = tree.bodies
    root: list[int] = []
    for i, body in enumerate(bodies):
        root.append(i if body.parent == WORLD else root[body.parent])

    of_dofs = {}
    for name in (constant.name for constant in fields(Dof)):
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
