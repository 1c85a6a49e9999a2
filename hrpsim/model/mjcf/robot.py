# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Convert a compiled MJCF to a robot, or to several."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hrpsim.errors import ModelError
from hrpsim.model.formats.robot_data import (
    LONGEST_DELAY,
    WORLD_LINK,
    JointData,
    LoopData,
    Notes,
    RobotData,
)
from hrpsim.model.mjcf.geoms import add_geoms, collides
from hrpsim.model.mjcf.notes import note_the_rest
from hrpsim.model.mjcf.read import MjcfModel
from hrpsim.model.mjcf.sensors import add_keyframes, add_sensors
from hrpsim.model.mjcf.tree import BodyTree, free_joints, rotation_of, site_placement
from hrpsim.model.shapes.placement import Placement

_SCALAR_JOINTS = ("HINGE", "SLIDE")
_LOOPS = {"CONNECT": "ball", "WELD": "fixed"}


class MjcfRobot(NamedTuple):
    """A robot, the map from MuJoCo's bodies and joints, and its connections to the world."""

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
    """Return the robot of some trees, given by their root bodies."""
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
    found = []
    for body in range(1, m.nbody):
        if m.body_jntnum[body]:
            while m.body_parentid[body] != 0:
                body = int(m.body_parentid[body])
            if body not in found:
                found.append(body)
    return found


def tied_trees(m: MjcfModel) -> list[list[int]]:
    """Return the moving trees in groups; equalities join those of a group."""
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


def add_equalities(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> list[LoopData]:
    """Add connections and mimics; return the connections to the world if it is not a link."""
    to_world = []
    for k in range(m.neq):
        kind, name = m.kind("mjtEq", m.eq_type[k]), m.names["eq"][k]
        label = name or f"equality {k}"
        if not m.eq_active0[k]:
            notes.add(f"equality {kind.lower()}, inactive", "left out", label)
        elif kind in _LOOPS:
            loop = _loop(m, tree, k, kind, name)
            if loop is None:
                continue
            if WORLD_LINK in loop.links and robot.root != WORLD_LINK:
                to_world.append(loop)
            else:
                robot.loops.append(loop)
        elif kind == "JOINT":
            why = _mimic(m, tree, robot, k)
            if why:
                notes.add(f"equality joint, {why}", "not simulated", label)
        else:
            notes.add(f"equality {kind.lower()}", "not simulated", label)
    return to_world


def welded_together(m: MjcfModel, k: int) -> tuple[int, int] | None:
    """Return the two bodies that equality k ties to each other, None for other kinds."""
    kind = m.kind("mjtEq", m.eq_type[k])
    ids = (int(m.eq_obj1id[k]), int(m.eq_obj2id[k]))
    if kind in _LOOPS:
        if m.kind("mjtObj", m.eq_objtype[k]) == "SITE":
            return int(m.site_bodyid[ids[0]]), int(m.site_bodyid[ids[1]])
        return ids
    if kind == "JOINT" and ids[1] >= 0:
        return int(m.jnt_bodyid[ids[0]]), int(m.jnt_bodyid[ids[1]])
    return None


def _loop(m: MjcfModel, tree: BodyTree, k: int, kind: str, name: str) -> LoopData | None:
    """Return the connection of a connect or weld; None if its ends cannot move apart."""
    pair = welded_together(m, k)
    assert pair is not None
    others = [body for body in pair if body not in tree.links and m.body_weldid[body] != 0]
    if others or m.body_weldid[pair[0]] == m.body_weldid[pair[1]]:
        return None
    if m.kind("mjtObj", m.eq_objtype[k]) == "SITE":
        sites = (int(m.eq_obj1id[k]), int(m.eq_obj2id[k]))
        frames = tuple(site_placement(m, site) for site in sites)
    else:
        data = m.eq_data[k]
        if kind == "CONNECT":
            frames = tuple(Placement(np.eye(3), data[at : at + 3]) for at in (0, 3))
        else:
            frames = (
                Placement(rotation_of(data[6:10]), data[3:6]),
                Placement(np.eye(3), data[0:3]),
            )
    links, placed = [], []
    for body, frame in zip(pair, frames, strict=True):
        while body not in tree.links and body != 0:  # scenery, which stands still
            above = Placement(rotation_of(m.body_quat[body]), m.body_pos[body])
            frame, body = above.then(frame), int(m.body_parentid[body])
        links.append(WORLD_LINK if body == 0 else tree.links[body])
        placed.append(frame)
    label = name or f"{links[0]}-{links[1]}-{k}"
    return LoopData(label, _LOOPS[kind], (links[0], links[1]), (placed[0], placed[1]))


def _mimic(m: MjcfModel, tree: BodyTree, robot: RobotData, k: int) -> str:
    """Make a joint follow another; return the reason why it cannot, or ""."""
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
    follower, leader = (robot.joints[tree.joints[joint][0]] for joint in ids)
    q1, q2 = (float(m.qpos0[m.jnt_qposadr[joint]]) for joint in ids)
    ratio, offset = c1, q1 + c0 - c1 * q2
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


def add_actuators(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Map each actuator that is affine in its joint's position and velocity to that joint.

    Its torque g (gain u + b0 + b1 g q + b2 g v) is that of a servo with kp = -b1 g^2 and
    kd = -b2 g^2, of a brake where it has no kp, or of a motor.
    """
    for k in range(m.nu if m.count("nactuator") == 0 else m.nactuator):
        name = m.names["actuator"][k]
        joint = _joint_of(m, tree, robot, notes, k, name)
        if joint is None:
            continue
        why = _why_not_affine(m, k)
        if why:
            notes.add(f"actuator, {why}", "not simulated", name)
            continue
        if joint.name in robot.commanded and not _damps_servo(m, k, joint, robot):
            notes.add("actuator, a second on a joint", "not simulated", name)
        elif joint.name not in robot.commanded:
            _describe(m, k, joint, robot, notes, name)


def _joint_of(
    m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes, k: int, name: str
) -> JointData | None:
    """Return the joint that an actuator moves; None, with a note, where it moves something else."""
    transmission = m.kind("mjtTrn", m.actuator_trntype[k])
    if transmission not in ("JOINT", "JOINTINPARENT"):
        notes.add(f"actuator on a {transmission.lower()}", "not simulated", name)
        return None
    joint = int(m.actuator_trnid[k][0])
    if joint not in tree.joints:  # another robot's
        return None
    if m.kind("mjtJoint", m.jnt_type[joint]) not in _SCALAR_JOINTS:
        notes.add("actuator on a ball or free joint", "not simulated", name)
        return None
    return robot.joints[tree.joints[joint][0]]


def _why_not_affine(m: MjcfModel, k: int) -> str:
    """Return the reason why an actuator is no servo or motor, or ""."""
    if _is_plain_dc_motor(m, k):
        return ""
    if m.kind("mjtDyn", m.actuator_dyntype[k]) != "NONE":
        return "with a state of its own"
    gain, bias = (m.actuator_gaintype[k], m.actuator_biastype[k])
    if m.kind("mjtGain", gain) != "FIXED" or m.kind("mjtBias", bias) not in ("NONE", "AFFINE"):
        return "not affine"
    if m.kind("mjtBias", bias) == "AFFINE" and np.any(m.actuator_biasprm[k][1:3] > 0.0):
        return "that pushes away from its target"
    return ""


def _is_plain_dc_motor(m: MjcfModel, k: int) -> bool:
    """Return whether an actuator is a DC motor of resistance and motor constant alone."""
    if m.kind("mjtGain", m.actuator_gaintype[k]) != "DCMOTOR":
        return False
    more = m.actuator_gainprm[k][2:], m.actuator_biasprm[k], m.actuator_dynprm[k]
    return m.actuator_actnum[k] == 0 and not any(np.any(part) for part in more)


def _affine(m: MjcfModel, k: int) -> tuple[float, float, float, float]:
    """Return gain, b0, b1 and b2 of an actuator; ctrl of a DC motor is its voltage."""
    gain = float(m.actuator_gainprm[k][0])
    if m.kind("mjtGain", m.actuator_gaintype[k]) == "DCMOTOR":
        constant = float(m.actuator_gainprm[k][1])
        return constant / gain, 0.0, 0.0, -constant * constant / gain  # gain: the resistance
    if m.kind("mjtBias", m.actuator_biastype[k]) != "AFFINE":
        return gain, 0.0, 0.0, 0.0
    b0, b1, b2 = map(float, m.actuator_biasprm[k][:3])
    return gain, b0, b1, b2


def _damps_servo(m: MjcfModel, k: int, joint: JointData, robot: RobotData) -> bool:
    """Merge a velocity servo into its joint's position servo as damping; return success."""
    gain, _, b1, b2 = _affine(m, k)
    is_plain = m.actuator_gear[k][0] == 1.0 and not m.actuator_forcelimited[k]
    if not (is_plain and b1 == 0.0 and gain > 0.0 and math.isclose(gain, -b2)):
        return False
    if robot.commanded[joint.name] != ("position",) or joint.gains is None or joint.gains[1]:
        return False
    joint.gains = (joint.gains[0], gain)
    robot.commanded[joint.name] = ("position", "velocity")
    return True


def _describe(
    m: MjcfModel, k: int, joint: JointData, robot: RobotData, notes: Notes, name: str
) -> None:
    gear, (gain, b0, b1, b2) = float(m.actuator_gear[k][0]), _affine(m, k)
    kp, kd = -b1 * gear * gear, -b2 * gear * gear
    if kp > 0.0:
        joint.gains = (kp, kd)
        robot.commanded[joint.name] = ("position",)
        if not (math.isclose(gain, -b1) and gear == 1.0) or b0:
            why = f"the joint's target is {_target(gain, b0, kp, gear)}"
            notes.add("actuator, a servo with a scaled ctrl", why, name)
    elif kd > 0.0 and math.isclose(gain, -b2):
        joint.gains = (0.0, kd)
        robot.commanded[joint.name] = ("velocity",)
        if gear != 1.0:
            notes.add("actuator, a velocity servo with a gear", "ctrl is gear times the rate", name)
    else:
        robot.commanded[joint.name] = ("effort",)
        joint.damping += kd
        if gain * gear != 1.0:
            why = "the joint's effort is gear times gain times ctrl"
            notes.add("actuator, a motor with a gear", why, name)
        if b0:
            notes.add("actuator, a motor with a constant force", "without it", name)
    _limit(m, k, joint, notes, name, abs(gear), abs(gain * gear))
    _delay(m, k, joint, notes, name)
    for array in ("actuator_armature", "actuator_damping"):
        values = getattr(m, array)
        if values is not None:
            value = float(np.ravel(values[k])[0]) * gear * gear
            if array == "actuator_armature":
                joint.rotor_inertia += value
            else:
                joint.damping += value


def _delay(m: MjcfModel, k: int, joint: JointData, notes: Notes, name: str) -> None:
    """Delay the joint's commands as the actuator's."""
    if m.actuator_delay is None or not m.actuator_delay[k]:
        return
    joint.delay = float(m.actuator_delay[k])
    if joint.delay > LONGEST_DELAY:
        notes.add("actuator delay", f"of {LONGEST_DELAY:g} s at most", name)
        joint.delay = LONGEST_DELAY


def _target(gain: float, b0: float, kp: float, gear: float) -> str:
    return f"{gain * gear / kp:.6g} ctrl" + (f" + {b0 * gear / kp:.6g}" if b0 else "")


def _limit(
    m: MjcfModel, k: int, joint: JointData, notes: Notes, name: str, gear: float, scale: float
) -> None:
    """Bound the joint's effort by what the actuator can deliver."""
    at = k if m.actuator_ctrladr is None else int(m.actuator_ctrladr[k])
    is_motor = joint.gains is None
    bounds = []
    if m.actuator_forcelimited[k]:
        bounds.append(gear * m.actuator_forcerange[k])
    if 0 <= at < len(m.actuator_ctrllimited) and m.actuator_ctrllimited[at]:
        if is_motor:
            bounds.append(scale * m.actuator_ctrlrange[at])
        else:
            notes.add("actuator ctrlrange of a servo", "targets are not cut off", name)
    for lower, upper in bounds:
        if not math.isclose(-lower, upper):
            why = "the larger bound holds both ways"
            notes.add("actuator forcerange, ctrlrange, lopsided", why, name)
        joint.effort = min(joint.effort, float(max(abs(lower), abs(upper))))
