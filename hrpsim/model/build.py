# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Build a `Model` from a `RobotData`: bodies, joints, and the arrays for the kernels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn

from hrpsim.common.errors import ModelError, WorldError
from hrpsim.model import body_inertia
from hrpsim.model.actuator import Actuator
from hrpsim.model.link_tree import WORLD, LinkTree, check_balls
from hrpsim.model.model import Lift, Model, Sensor
from hrpsim.model.readers.robot_data import WORLD_LINK, JointData, RobotData, TendonData
from hrpsim.model.sensors.kinds import SENSOR_KINDS
from hrpsim.model.sensors.sampled_sensor import sampled_sensor
from hrpsim.model.shapes.placement import IDENTITY, Placement
from hrpsim.model.shapes.solid_inertia import BodyInertia, total
from hrpsim.model.system import FIXED, FREE, System, new_system
from hrpsim.model.transmission import Tendon

_MOST_LISTED = 6  # names in a message
FREE_JOINT_NAME = "root_joint"  # what Pinocchio calls the joint of a free base


def build_model(
    robot: RobotData, base: str, accept_nonphysical_inertia: bool
) -> tuple[Model, list[str]]:
    """Return the model without shapes, and notes on suspicious inertias.

    If `base` is "free", the first body moves freely and has the frame of the root link. If `base`
    is "fixed", the root link is part of the world. Raises ModelError if an inertia is invalid.
    """
    tree, root = _grown_tree(robot, base), robot.links[robot.root]
    inertias = [total(body.parts) for body in tree.bodies]
    system = _arrays(tree, inertias)
    if not accept_nonphysical_inertia:
        notes = _check_physical(tree, inertias)
        _check_resisted(tree, system)
    else:
        if tree.bodies and not system.mass.any():
            robot.fail(root, "no moving link has a mass")
        notes = _unresisted_joints(tree, system)
    model = Model(
        name=robot.name,
        base=base,
        base_link=tree.bodies[0].link if base == "free" else root.name,
        system=system,
        joints=tuple(tree.joints),
        frames={link: tree.frames[link] for link in robot.links},
        sensors=tuple(_sensors(tree)),
        sampled_sensors=tuple(_sampled_sensors(tree)),
        gains=_stated(robot, "gains"),
        actuators={
            name: _actuator(robot, joint) for name, joint in robot.joints.items() if joint.actuator
        },
        command_interfaces=dict(robot.commanded),
        start=_stated(robot, "start"),
        transmissions=dict(robot.transmissions),
        tendons={tendon.name: _tendon(tendon) for tendon in robot.tendons},
        lifts=tuple(_lifts(tree)),
        connections=tuple(_connections(tree)),
    )
    return model, notes


def _grown_tree(robot: RobotData, base: str) -> LinkTree:
    """Return the tree of all bodies, on a free base or fixed to the world."""
    tree = LinkTree(robot, {s.link for s in robot.sensors if SENSOR_KINDS[s.kind].at_joint})
    if base == "free" and not _is_floating_already(robot):
        tree.add_body(_free_joint_name(robot), WORLD, FREE, IDENTITY, robot.root)
        tree.grow(robot.root, 0)
    else:
        tree.grow(robot.root, WORLD)
    tree.link_mimics()
    check_balls(tree)
    return tree


def _stated(robot: RobotData, name: str) -> dict[str, Any]:
    """Return {joint: value} of one property of joints, without joints whose value is None."""
    values = {joint.name: getattr(joint, name) for joint in robot.joints.values()}
    return {joint: value for joint, value in values.items() if value is not None}


def _actuator(robot: RobotData, joint: JointData) -> Actuator:
    try:
        return Actuator(**joint.actuator)
    except WorldError as error:
        robot.fail(joint, str(error))


def _tendon(data: TendonData) -> Tendon:
    gains = data.gains or (0.0, 0.0)
    return Tendon(data.name, data.joints, data.coefficients, gains, data.effort)


def _is_floating_already(robot: RobotData) -> bool:
    """Return whether the root link is massless and only carries a floating joint."""
    beneath = robot.joints_beneath()[robot.root]
    return (
        len(beneath) == 1
        and beneath[0].type == "floating"
        and robot.links[robot.root].inertial is None
    )


def stated_base(robot: RobotData) -> str:
    """Return the default base of a robot.

    The base is "fixed" if the root link is "world", unless "world" only carries a floating joint.
    Otherwise the base is "free".
    """
    is_held = robot.root == WORLD_LINK and not _is_floating_already(robot)
    return "fixed" if is_held else "free"


def _free_joint_name(robot: RobotData) -> str:
    name = FREE_JOINT_NAME
    while name in robot.joints:
        name = f"free_{name}"
    return name


def _refuse_inertia(robot: RobotData, link: str, on_it: list[str], cause: str) -> NoReturn:
    others = ", ".join(repr(name) for name in on_it if name != link)
    together = f" together with {others}, fixed to it" if others else ""
    robot.fail(
        robot.links[link],
        f"non-physical inertia{together}: {cause}"
        " (accept_nonphysical_inertia=True loads it as it is)",
    )


def _check_physical(tree: LinkTree, inertias: list[BodyInertia]) -> list[str]:
    """Raise ModelError for a non-physical inertia, and return notes on point masses and thin rods.

    Each body is checked together with all bodies that are fixed to it. Only the sum must be
    physical.
    """
    carrier = _carriers(tree)
    members: dict[int, list[BodyInertia]] = {}
    for i, body in enumerate(tree.bodies):
        owner, placement = carrier[i]
        if owner != WORLD and body.has_inertial:
            members.setdefault(owner, []).append(inertias[i].seen_from(placement))
    points = []
    for i, parts in sorted(members.items()):
        link, combined = tree.bodies[i].link, total(parts)
        if cause := body_inertia.why_nonphysical(combined):
            on_it = [f.name for f in tree.frames.values() if carrier.get(f.body, (None,))[0] == i]
            _refuse_inertia(tree.robot, link, on_it, cause)
        if body_inertia.lacks_inertia(combined):
            points.append(link)
    if not points:
        return []
    place = tree.robot.where(tree.robot.links[points[0]])
    return [
        f"{place}: no moment of inertia about at least one axis for {_listed('link', points)}. The "
        "links are loaded as points or thin rods, because other inertia resists each joint. "
        "Better give the moments of the shapes (<inertia>)"
    ]


def _carriers(tree: LinkTree) -> dict[int, tuple[int, Placement]]:
    """Find the nearest ancestor of each body that is not attached by a FIXED joint.

    Returns:
        For each body: (index of the ancestor, or of the body itself; placement of the body in this
        ancestor).
    """
    result: dict[int, tuple[int, Placement]] = {}
    for i, body in enumerate(tree.bodies):
        result[i] = (i, IDENTITY)
        if body.joint_type == FIXED:
            above, placement = result.get(body.parent, (WORLD, IDENTITY))
            result[i] = (above, placement.then(body.placement))
    return result


def _listed(kind: str, names: list[str]) -> str:
    """Return "link 'a'" or "links 'a', 'b' and 3 more"."""
    listed = ", ".join(map(repr, names[:_MOST_LISTED]))
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return f"{kind}{'s' if len(names) > 1 else ''} {listed}{more}"


def _joint_of(tree: LinkTree, body: int) -> str | None:
    return next((joint.name for joint in tree.joints if joint.body == body), None)


def _check_resisted(tree: LinkTree, system: System) -> None:
    unresisted = body_inertia.unresisted_bodies(system)
    if not unresisted:
        return
    link, name = tree.bodies[unresisted[0]].link, _joint_of(tree, unresisted[0])
    if name in tree.robot.joints:
        mimic = tree.robot.joints[name].mimic
        remark = f" (following {mimic[0]!r} is a constraint, not an inertia)" if mimic else ""
        accepted = (
            "accept_nonphysical_inertia=True loads the joint, if gains or damping resist its motion"
            if system.mass.any()
            else "no moving link has a mass"
        )
        tree.robot.fail(
            tree.robot.joints[name],
            f"no inertia resists this joint{remark}, so its acceleration is undefined. Give link"
            f" {link!r} or a link below an <inertial>, or the joint a rotor inertia (<rotor> of"
            f" <hrpsim>). {accepted}",
        )
    tree.robot.fail(
        tree.robot.links[link],
        "a free base needs inertia in every direction, but this link and the links below it"
        " have none. Add an <inertial>, or load with base='fixed'",
    )


def _unresisted_joints(tree: LinkTree, system: System) -> list[str]:
    """Return a note on joints that move no inertia, which the user accepted."""
    unresisted = body_inertia.unresisted_bodies(system)
    if not unresisted:
        return []
    names = [_joint_of(tree, i) or tree.bodies[i].link for i in unresisted]
    links = list(dict.fromkeys(tree.bodies[i].link for i in unresisted))
    where = tree.robot.where(tree.robot.links[links[0]])
    return [
        f"{where}: no inertia resists {_listed('joint', names)}:"
        " a step of a world fails as long as neither gains nor damping do. Give"
        f" {_listed('link', links)} an <inertial>, or each joint a rotor inertia (<hrpsim>,"
        " <rotor>)"
    ]


def _sensors(tree: LinkTree):
    for sensor in tree.robot.sensors:
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
    for sensor in tree.robot.sampled_sensors:
        frame = tree.frames[sensor.link]
        placement = Placement(frame.R, frame.p).then(sensor.placement)
        name, kind, link = sensor.name, sensor.kind, sensor.link
        try:
            made = sampled_sensor(name, kind, link, frame.body, placement, sensor.settings)
            yield replace(made, topic=sensor.topic, frame=sensor.frame)
        except ModelError as error:
            tree.robot.fail(sensor, str(error))


def _lifts(tree: LinkTree):
    for link in tree.robot.links.values():
        frame, part = tree.frames[link.name], link.gravity_compensation
        if frame.body < 0 or part == 0.0 or link.inertial is None:
            continue
        mass, centre, _ = link.inertial
        x, y, z = (frame.p + frame.R @ centre).tolist()
        yield Lift(frame.body, (x, y, z), part * mass)


def _connections(tree: LinkTree):
    for connection in tree.robot.connections:
        first, second = (tree.frames[link] for link in connection.links)
        if first.body == second.body:
            links = " and ".join(map(repr, connection.links))
            tree.robot.fail(
                tree.robot.links[first.name],
                f"connection {connection.name!r}: {links} do not move apart",
            )
        yield connection


def _arrays(tree: LinkTree, inertias: list[BodyInertia]) -> System:
    bodies = tree.bodies
    root: list[int] = []
    for i, body in enumerate(bodies):
        root.append(i if body.parent == WORLD else root[body.parent])
    names = ("parent", "joint_type", "ball", "q_index", "v_index")
    columns = {name: [getattr(body, name) for body in bodies] for name in names} | {"root": root}
    columns |= {f"placement_{part}": [getattr(b.placement, part) for b in bodies] for part in "Rp"}
    columns |= {name: [getattr(i, name) for i in inertias] for name in ("mass", "com", "inertia")}
    return new_system(columns, tree.dofs)
