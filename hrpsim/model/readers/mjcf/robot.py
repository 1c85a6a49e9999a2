# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a compiled MJCF to robots. Note elements that are simulated differently."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelError
from hrpsim.model.readers.mjcf.actuators import add_actuators, joints_of_tendon, note_tendons
from hrpsim.model.readers.mjcf.geoms import add_geoms, collides
from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.mjcf.sensors import add_keyframes, add_sensors
from hrpsim.model.readers.mjcf.tree import BodyTree, free_joints, rotation_of, site_placement
from hrpsim.model.readers.robot_data import WORLD_LINK, ConnectionData, Notes, RobotData
from hrpsim.model.shapes.placement import Placement

_LOOPS = {"CONNECT": "ball", "WELD": "fixed"}
_SOLREF, _SOLIMP = (0.02, 1.0), (0.9, 0.95, 0.001, 0.5, 2.0)  # MuJoCo's own

# mjModel's sizes of unsupported elements
_NOT_DRAWN = {"nskin": "skin", "nlight": "light", "ntex": "texture"}
_NOT_READ = {"nnumeric": "custom numeric", "ntext": "custom text", "ntuple": "custom tuple"}
_COUNTED = {
    "nflex": ("flex", "soft bodies are not simulated"),
    "npair": ("contact pair", "contacts are rigid"),
    "nplugin": ("plugin", "not run"),
    "ncam": ("camera", "not simulated"),
    **{size: (feature, "not drawn") for size, feature in _NOT_DRAWN.items()},
    **{size: (feature, "not read") for size, feature in _NOT_READ.items()},
}
_ARRAYS = (  # elements that MuJoCo simulates and hrpsim does not: array, element, why
    ("geom_margin", "geom margin", "contacts act when surfaces touch"),
    ("geom_gap", "geom gap", "contacts act when surfaces touch"),
    ("jnt_margin", "joint margin", "limits act where they are"),
    ("geom_adhesion", "geom adhesion", "not simulated"),
    ("geom_surfacevel", "geom surfacevel", "not simulated"),
    ("dof_dampingpoly", "joint damping, polynomial", "its linear part is simulated"),
    ("jnt_stiffnesspoly", "joint stiffness, polynomial", "its linear part is simulated"),
    ("jnt_springyield", "joint springyield", "springs never yield"),
    ("sensor_noise", "sensor noise", "sensors are exact"),
    ("sensor_cutoff", "sensor cutoff", "readings are not cut off"),
)


def _rows_set(values: np.ndarray | None) -> int:
    """Return the number of nonzero rows of an array, 0 if this MuJoCo version lacks the array."""
    if values is None or not len(values):
        return 0
    return int(np.any(np.reshape(values, (len(values), -1)) != 0.0, axis=1).sum())


def note_the_rest(m: MjcfModel, notes: Notes) -> None:
    """Note unsupported elements that the other functions of this folder do not read."""
    for size, (element, why) in _COUNTED.items():
        notes.add(element, why, times=m.count(size))
    note_tendons(m, notes)
    for name, count in m.source.key_lengths():
        if count < m.nq:
            why = f"{m.nq} are needed; the others are as at first (qpos0)"
            notes.add(f"keyframe qpos of {count} numbers", why, name)
    for name in m.source.radians_in_degrees():
        notes.add("euler", 'read in degrees: for radians write <compiler angle="radian"/>', name)
    _note_options(m, notes)
    _note_softness(m, notes)
    for joint in np.flatnonzero(m.jnt_actgravcomp):
        why = "no actuator bears the compensation of gravity"
        notes.add("joint actuatorgravcomp", why, m.names["jnt"][joint])
    for array, element, why in _ARRAYS:
        notes.add(element, why, times=_rows_set(getattr(m, array)))
    if len(set(m.geom_priority[_collides(m)])) > 1:
        notes.add("geom priority", "decides friction alone, in load_world")
    if m.geom_fluid is not None and np.any(m.geom_fluid):
        notes.add("geom fluidshape", "fluids are not simulated")


def _collides(m: MjcfModel) -> np.ndarray:
    return (m.geom_contype != 0) | (m.geom_conaffinity != 0)


def _note_options(m: MjcfModel, notes: Notes) -> None:
    for name in ("density", "viscosity"):
        if m.option[name]:
            notes.add(f"option {name}", "fluids are not simulated")
    if any(m.option["wind"]):
        notes.add("option wind", "fluids are not simulated")
    for flag in m.disabled_flags:
        notes.add(f"option flag {flag}=disable", "not read")
    for flag in m.enabled_flags:
        notes.add(f"option flag {flag}=enable", "not read")


def _note_softness(m: MjcfModel, notes: Notes) -> None:
    geoms = _collides(m)
    limited = m.jnt_limited.astype(bool)
    friction = m.dof_frictionloss > 0
    active = m.eq_active0.astype(bool)
    for element, chosen, solref, solimp in (
        ("geom solref, solimp", geoms, m.geom_solref, m.geom_solimp),
        ("joint solreflimit, solimplimit", limited, m.jnt_solref, m.jnt_solimp),
        ("joint solreffriction, solimpfriction", friction, m.dof_solref, m.dof_solimp),
        ("equality solref, solimp", active, m.eq_solref, m.eq_solimp),
    ):
        odd = np.any(solref != _SOLREF, axis=1) | np.any(solimp != _SOLIMP, axis=1)
        why = "constraints are rigid. set_contact makes contacts yield"
        notes.add(element, why, times=int((odd & chosen).sum()))


class WorldLoop(NamedTuple):
    """A connection of a robot to the world, or to the mocap body called `mocap`."""

    loop: ConnectionData
    mocap: str


class MjcfRobot(NamedTuple):
    """A robot, its links and joints by MuJoCo's numbers, and its connections to the world."""

    data: RobotData
    tree: BodyTree
    to_world: list[WorldLoop]


def whole_robot(m: MjcfModel) -> RobotData:
    """Return all moving bodies of an MJCF as one robot.

    A single tree on a free joint has a free base. Otherwise the root link is the world, to which
    the joints of the trees are attached.
    """
    notes = Notes()
    roots = moving_trees(m)
    if not roots:
        raise ModelError(
            f"{m.label}: no body has a joint, so nothing can move. Use load_world for this file"
        )
    robot = robot_of(m, roots, m.name or "robot", notes)
    notes.add("equality with the world", "load_world has it", times=len(robot.to_world))
    for body in np.flatnonzero(m.body_mocapid >= 0):
        notes.add("mocap body", "load_world has it", m.names["body"][body])
    scenery = [
        geom
        for geom in range(m.ngeom)
        if int(m.geom_bodyid[geom]) not in robot.tree.links or m.geom_bodyid[geom] == 0
    ]
    for geom in scenery:
        if collides(m, geom):
            why = "no part of the robot. load_world has it"
            notes.add("geom of the world", why, m.names["geom"][geom])
    note_the_rest(m, notes)
    robot.data.notes += notes.lines()
    return robot.data


def robot_of(m: MjcfModel, roots: list[int], name: str, notes: Notes) -> MjcfRobot:
    """Return the robot that consists of the trees with the given root bodies."""
    is_free = len(roots) == 1 and bool(free_joints(m, roots[0]))
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


def moving_trees(m: MjcfModel) -> list[int]:
    """Return the children of the world that move or carry moving bodies."""
    result = []
    for body in range(1, m.nbody):
        if m.body_jntnum[body]:
            while m.body_parentid[body] != 0:
                body = int(m.body_parentid[body])
            if body not in result:
                result.append(body)
    return result


def tied_trees(m: MjcfModel) -> list[list[int]]:
    """Return the root bodies of moving trees in groups that <equality> elements join."""
    groups = [[root] for root in moving_trees(m)]
    for k in range(m.neq):
        pair = welded_together(m, k)
        if pair is None:
            continue
        tops = [_top_of(m, body) for body in pair]
        first, second = ([group for group in groups if top in group] for top in tops)
        if first and second and first != second:
            first[0] += second[0]
            groups.remove(second[0])
    return groups


def _top_of(m: MjcfModel, body: int) -> int:
    """Return the root body of a body's tree. The world is its own root."""
    while body and m.body_parentid[body] != 0:
        body = int(m.body_parentid[body])
    return body


def mocap_name(m: MjcfModel, body: int) -> str:
    """Return the name of a mocap body, "" for any other body."""
    return m.names["body"][body] or f"body{body}" if m.body_mocapid[body] >= 0 else ""


def add_equalities(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> list[WorldLoop]:
    """Add the <equality> elements of a robot: connections and mimic joints.

    Returns:
        Connections to a mocap body or to the world, which the caller must add. A connection to the
        world is added to the robot if the world is the robot's root link.
    """
    to_world = []
    for k in range(m.neq):
        kind, name = m.kind("mjtEq", m.eq_type[k]), m.names["eq"][k]
        label = name or f"equality {k}"
        if not m.eq_active0[k]:
            notes.add(f"equality {kind.lower()}, inactive", "left out", label)
        elif kind in _LOOPS:
            world_loop = _loop(m, tree, k, kind, name)
            if world_loop is not None and _is_to_world(world_loop, robot):
                to_world.append(world_loop)
            elif world_loop is not None:
                robot.connections.append(world_loop.loop)
        elif kind in _TIES:
            why = _TIES[kind](m, tree, robot, k)
            if why:
                notes.add(f"equality {kind.lower()}, {why}", "not simulated", label)
        else:
            notes.add(f"equality {kind.lower()}", "not simulated", label)
    return to_world


def _is_to_world(found: WorldLoop, robot: RobotData) -> bool:
    ends_at_world = WORLD_LINK in found.loop.links and robot.root != WORLD_LINK
    return bool(found.mocap) or ends_at_world


def welded_together(m: MjcfModel, k: int) -> tuple[int, int] | None:
    """Return the two bodies that equality k connects, or None for another kind of equality."""
    kind = m.kind("mjtEq", m.eq_type[k])
    ids = (int(m.eq_obj1id[k]), int(m.eq_obj2id[k]))
    if kind in _LOOPS:
        if m.kind("mjtObj", m.eq_objtype[k]) == "SITE":
            return int(m.site_bodyid[ids[0]]), int(m.site_bodyid[ids[1]])
        return ids
    if kind == "JOINT" and ids[1] >= 0:
        return int(m.jnt_bodyid[ids[0]]), int(m.jnt_bodyid[ids[1]])
    if kind == "TENDON" and len(joints := [j for j, _ in joints_of_tendon(m, ids[0])]) == 2:
        return int(m.jnt_bodyid[joints[0]]), int(m.jnt_bodyid[joints[1]])
    return None


def _loop(m: MjcfModel, tree: BodyTree, k: int, kind: str, name: str) -> WorldLoop | None:
    """Convert a connect or weld to a connection. Return None if the ends cannot move apart."""
    pair = welded_together(m, k)
    assert pair is not None
    fixed = [body for body in pair if body not in tree.links]
    ends, anchors = m.body_weldid[list(pair)], m.body_weldid[fixed]
    of_another_robot = (anchors != 0) & (m.body_mocapid[anchors] < 0)
    still = (ends == 0) | (m.body_mocapid[ends] >= 0)
    if len(fixed) == 2 or ends[0] == ends[1] or still.all() or of_another_robot.any():
        return None
    sides = zip(pair, _frames(m, k, kind), strict=True)
    (body_a, a), (body_b, b) = (_out_of_scenery(m, tree, *end) for end in sides)
    links = tree.links.get(body_a, WORLD_LINK), tree.links.get(body_b, WORLD_LINK)
    label = name or f"{links[0]}-{links[1]}-{k}"
    loop = ConnectionData(label, _LOOPS[kind], None, links, (a, b))
    return WorldLoop(loop, mocap_name(m, body_a) or mocap_name(m, body_b))


def _out_of_scenery(
    m: MjcfModel, tree: BodyTree, body: int, frame: Placement
) -> tuple[int, Placement]:
    """Find the link, mocap body or world to which a body is fixed.

    Returns:
        (number of this body, `frame` relative to this body).
    """
    while body not in tree.links and body != 0 and not mocap_name(m, body):
        above = Placement(rotation_of(m.body_quat[body]), m.body_pos[body])
        frame, body = above.then(frame), int(m.body_parentid[body])
    return body, frame


def _frames(m: MjcfModel, k: int, kind: str) -> tuple[Placement, Placement]:
    """Return the frame of a connect or weld in the first body, and the frame in the second body."""
    if m.kind("mjtObj", m.eq_objtype[k]) == "SITE":
        return site_placement(m, int(m.eq_obj1id[k])), site_placement(m, int(m.eq_obj2id[k]))
    data, straight = m.eq_data[k], np.eye(3)
    if kind == "CONNECT":
        return Placement(straight, data[0:3]), Placement(straight, data[3:6])
    return Placement(rotation_of(data[6:10]), data[3:6]), Placement(straight, data[0:3])


def _mimic(m: MjcfModel, tree: BodyTree, robot: RobotData, k: int) -> str:
    """Add the mimic joint of an equality of two joints. Return the reason for a failure, or ""."""
    ids = [int(m.eq_obj1id[k]), int(m.eq_obj2id[k])]
    if ids[0] not in tree.joints:
        return ""
    if ids[1] < 0:
        return "of one joint"
    if any(len(tree.joints.get(joint, ())) != 1 for joint in ids):
        return "of no hinge or slide"
    c0, c1, *higher = (float(c) for c in m.eq_data[k][:5])
    if any(higher):
        return "not linear"
    q1, q2 = (float(m.qpos0[m.jnt_qposadr[joint]]) for joint in ids)
    return _follow(tree, robot, ids, c1, q1 + c0 - c1 * q2)


def _constant_tendon(m: MjcfModel, tree: BodyTree, robot: RobotData, k: int) -> str:
    """Add the mimic joint that keeps the length of a fixed tendon of two joints constant.

    Return the reason for a failure, or "".
    """
    tendon, other = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    joints = joints_of_tendon(m, tendon)
    if joints and joints[0][0] not in tree.joints:
        return ""
    if other >= 0 or len(joints) != 2:
        return "but of one fixed tendon of two joints"
    (first, a), (second, b) = joints
    if any(len(tree.joints.get(joint, ())) != 1 for joint in (first, second)):
        return "of no hinge or slide"
    length = float(m.tendon_length0[tendon]) + float(m.eq_data[k][0])
    return _follow(tree, robot, [first, second], -b / a, length / a)


_TIES = {"JOINT": _mimic, "TENDON": _constant_tendon}  # by the kind of equality


def _follow(tree: BodyTree, robot: RobotData, ids: list[int], ratio: float, offset: float) -> str:
    """Make the first of two joints follow the second. Return the reason for a failure, or ""."""
    follower, leader = (robot.joints[tree.joints[joint][0]] for joint in ids)
    if follower.mimic is not None:
        return "a second of one joint"
    if leader.mimic is not None:
        above, r, o = leader.mimic
        ratio, offset, leader = ratio * r, offset + ratio * o, robot.joints[above]
    if leader is follower:
        return "in a circle"
    follower.mimic = (leader.name, ratio, offset)
    for other in robot.joints.values():  # those that follow a joint that now follows
        if other.mimic is not None and other.mimic[0] == follower.name:
            _, r, o = other.mimic
            other.mimic = (leader.name, r * ratio, r * offset + o)
    return ""
