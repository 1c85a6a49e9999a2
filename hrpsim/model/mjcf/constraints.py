# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Equalities of an MJCF as connections and mimics."""

from __future__ import annotations

import numpy as np

from hrpsim.model.formats.robot_data import WORLD_LINK, LoopData, RobotData
from hrpsim.model.mjcf.notes import Notes
from hrpsim.model.mjcf.read import MjcfModel
from hrpsim.model.mjcf.tree import BodyTree, rotation_of, site_placement
from hrpsim.model.shapes.placement import Placement

_LOOPS = {"CONNECT": "ball", "WELD": "fixed"}


def add_equalities(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> list[LoopData]:
    """Add connections and mimics; return the connections to a world that is no link of it."""
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
    """Return the connection of a connect or weld; None if it ties what cannot move apart."""
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
    """Let a joint follow another; return why it cannot, or nothing."""
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
    for other in robot.joints.values():  # those that follow what now follows
        if other.mimic is not None and other.mimic[0] == follower.name:
            _, r, o = other.mimic
            other.mimic = (leader.name, r * ratio, r * offset + o)
    return ""
