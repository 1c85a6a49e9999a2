# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Bodies, joints and sites of an MJCF as links and joints of a `RobotData`."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.model.readers.joint_graph import add_chain
from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.robot_data import WORLD_LINK, JointData, Notes, RobotData, free_name
from hrpsim.model.readers.urdf.joint_types import JOINT_TYPES
from hrpsim.model.shapes.placement import Placement, rotation_matrix

_NONE = np.zeros(3)
_TYPE_OF = {kind.mjcf_type: name for name, kind in JOINT_TYPES.items()}
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class BodyTree:
    """Builder of robot links from trees of a compiled MJCF.

    links: link of each body. joints: names for each MuJoCo joint, three for a ball, none for the
    joints of free bodies. free: name of the joint of each free body, "" for the base.
    force_sensors: name of the force-torque sensor at each site with one.
    """

    def __init__(self, m: MjcfModel, roots: list[int], robot: RobotData, notes: Notes) -> None:
        self.m, self.robot, self.notes = m, robot, notes
        self.links: dict[int, str] = {}
        self.joints: dict[int, tuple[str, ...]] = {}
        self.free: dict[int, str] = {}
        self.site_links: dict[int, str] = {}
        self.force_sensors: dict[int, str] = {}
        names = m.names["body"]
        self._children: dict[int, list[int]] = {}
        for body in range(1, m.nbody):
            self._children.setdefault(int(m.body_parentid[body]), []).append(body)
        self._taken = {name for name in names if name}
        self._body_names = [name or self._free(f"body{k}") for k, name in enumerate(names)]
        self._joint_names = self._unique_joint_names()
        if robot.root == WORLD_LINK:
            robot.add_link(WORLD_LINK)
            self.links[0] = WORLD_LINK
        pending = roots[::-1]
        while pending:
            body = pending.pop()
            self._add_body(body)
            pending += self._children.get(body, [])[::-1]
        self._add_sites()

    def _free(self, wanted: str) -> str:
        name = free_name(wanted, self._taken)
        self._taken.add(name)
        return name

    def _unique_joint_names(self) -> list[str]:
        m = self.m
        taken = {name for name in m.names["jnt"] if name}
        result = []
        for joint, name in enumerate(m.names["jnt"]):
            if not name:
                name = free_name(f"{self._body_names[m.jnt_bodyid[joint]]}_joint", taken)
                taken.add(name)
            result.append(name)
        return result

    def _add_body(self, body: int) -> None:
        """Add the link of a body. If the body has several joints, they form a chain above it."""
        m, robot = self.m, self.robot
        name = self._body_names[body]
        self.links[body] = name
        joints = range(int(m.body_jntadr[body]), int(m.body_jntadr[body] + m.body_jntnum[body]))
        steps = [(int(j), m.kind("mjtJoint", m.jnt_type[j])) for j in joints]
        if freely := free_joints(m, body):
            self._add_free(body, freely)
        else:
            self._add_joints(body, steps)
        link = robot.add_link(name)
        link.gravity_compensation = float(m.body_gravcomp[body])
        mass, inertia = float(m.body_mass[body]), m.body_inertia[body]
        if mass or inertia.any():
            R = rotation_of(m.body_iquat[body])
            moments = R @ np.diag(inertia) @ R.T
            link.inertial = (mass, m.body_ipos[body], 0.5 * (moments + moments.T))

    def _add_joints(self, body: int, steps: list[tuple[int, str]]) -> None:
        m, robot, name = self.m, self.robot, self._body_names[body]
        parent = self.links[int(m.body_parentid[body])]
        at = Placement(rotation_of(m.body_quat[body]), m.body_pos[body])
        anchor = _NONE
        single: list[JointData] = []
        for joint, kind in steps:
            at = at.then(Placement(np.eye(3), m.jnt_pos[joint] - anchor))
            anchor = m.jnt_pos[joint]
            made = self._ball(joint) if kind == "BALL" else [self._hinge_or_slide(joint, kind)]
            self.joints[joint] = tuple(data.name for data in made)
            for data, turn in made_with_turns(made, m, joint):
                data.origin, at = at.then(turn), Placement(np.eye(3), _NONE)
                single.append(data)
        fixed = free_name(f"{name}_fixed", m.names["jnt"])
        if not single:  # rigidly on its parent
            single = [JointData(fixed, "fixed", "", "", at)]
        ends = parent, name
        add_chain(robot, single, ends, anchor, lambda of: self._free(f"{name}_{of}"), fixed)

    def _hinge_or_slide(self, joint: int, kind: str) -> JointData:
        m = self.m
        data = JointData(self._joint_names[joint], "", "", "")
        data.type = _TYPE_OF[kind]
        x, y, z = map(float, m.jnt_axis[joint])
        data.axis = (x, y, z)
        if m.jnt_limited[joint]:
            data.lower, data.upper = (float(end) for end in m.jnt_range[joint])
        elif m.jnt_range[joint].any() and not m.jnt_range[joint][0] < m.jnt_range[joint][1]:
            self.notes.add("joint range, not from lower to upper", "no limit", data.name)
        self._describe(joint, 0, data)
        data.stiffness = float(m.jnt_stiffness[joint])
        data.rest = float(m.qpos_spring[m.jnt_qposadr[joint]])
        if m.jnt_actfrclimited[joint]:
            data.effort = float(np.abs(m.jnt_actfrcrange[joint]).max())
            if not math.isclose(-m.jnt_actfrcrange[joint][0], m.jnt_actfrcrange[joint][1]):
                why = "the larger bound holds both ways"
                self.notes.add("joint actuatorfrcrange, lopsided", why, data.name)
        return data

    def _ball(self, joint: int) -> list[JointData]:
        """Return the three parts NAME_x, NAME_y and NAME_z of a ball joint."""
        m, name = self.m, self._joint_names[joint]
        if m.jnt_limited[joint]:
            self.notes.add("joint ball range", "not limited", name)
        made = []
        for k, (letter, axis) in enumerate(_AXES.items()):
            free = free_name(f"{name}_{letter}", self._joint_names)
            data = JointData(free, "revolute", "", "", axis=axis, ball=k + 1)
            self._describe(joint, k, data)
            data.stiffness = float(m.jnt_stiffness[joint])
            made.append(data)
        return made

    def _describe(self, joint: int, offset: int, data: JointData) -> None:
        dof = int(self.m.jnt_dofadr[joint]) + offset
        data.damping = float(self.m.dof_damping[dof])
        data.friction = float(self.m.dof_frictionloss[dof])
        data.rotor_inertia = float(self.m.dof_armature[dof])

    def _add_free(self, body: int, joints: list[int]) -> None:
        """Make a free body the base, or attach the body by a floating joint."""
        m, name, label = self.m, self._body_names[body], self._joint_names[joints[-1]]
        why, dofs = "a free body has none", m.dof_bodyid == body
        for array in ("armature", "damping", "frictionloss"):
            if np.any(getattr(m, f"dof_{array}")[dofs]):
                self.notes.add(f"free joint {array}", why, label)
        if m.jnt_stiffness[joints].any():
            self.notes.add("free joint stiffness", why, label)
        self.joints |= dict.fromkeys(joints, ())
        self.free[body] = "" if name == self.robot.root else label
        if self.free[body]:
            parent = self.links[int(m.body_parentid[body])]
            at = Placement(rotation_of(m.body_quat[body]), m.body_pos[body])
            self.robot.add_joint(JointData(label, "floating", parent, name, at))

    def _add_sites(self) -> None:
        """Make each named site a separate link, fixed to the body's link."""
        m = self.m
        for site, name in enumerate(m.names["site"]):
            body = int(m.site_bodyid[site])
            if not name or body not in self.links or (body == 0 and self.robot.root == WORLD_LINK):
                continue
            link = self._free(name if name not in self._taken else f"{name}_site")
            joint = self.robot.free_joint_name(free_name(f"{link}_fixed", m.names["jnt"]))
            self.robot.add_link(link)
            self.robot.add_joint(
                JointData(joint, "fixed", self.links[body], link, site_placement(m, site))
            )
            self.site_links[site] = link


def free_joints(m: MjcfModel, body: int) -> list[int]:
    """Return the joints that let a child of the world move freely, or none.

    The joints are a free joint, or three slides at right angles and a ball. All must be without
    limits and actuators.
    """
    first = int(m.body_jntadr[body])
    joints = list(range(first, first + int(m.body_jntnum[body])))
    kinds = [m.kind("mjtJoint", m.jnt_type[joint]) for joint in joints]
    if kinds == ["FREE"]:
        return joints
    if kinds != ["SLIDE", "SLIDE", "SLIDE", "BALL"] or m.body_parentid[body] != 0:
        return []
    for kind, (driven, _) in zip(m.actuator_trntype, m.actuator_trnid, strict=True):
        if m.kind("mjtTrn", kind).startswith("JOINT") and driven in joints:
            return []
    axes = m.jnt_axis[joints[:3]]
    is_free = not m.jnt_limited[joints].any() and np.allclose(axes @ axes.T, np.eye(3))
    return joints if is_free else []


def made_with_turns(made: list[JointData], m: MjcfModel, joint: int):
    """Add to each joint the transform from position 0 to MuJoCo's reference position `ref`.

    Yields:
        The joints in `made`.
    """
    reference = float(m.qpos0[m.jnt_qposadr[joint]])
    for data in made:
        if len(made) == 3 or reference == 0.0:
            yield data, Placement(np.eye(3), _NONE)
        elif not JOINT_TYPES[data.type].is_turn:
            yield data, Placement(np.eye(3), -reference * np.array(data.axis))
        else:
            yield data, Placement(rotation_about(data.axis, -reference), _NONE)


def rotation_of(quaternion: np.ndarray) -> np.ndarray:
    """Return R (3, 3) of MuJoCo's quaternion w x y z. The length may differ slightly from 1."""
    w, x, y, z = np.asarray(quaternion, dtype=np.float64) / np.linalg.norm(quaternion)
    return rotation_matrix((x, y, z, w))


def rotation_about(axis, angle: float) -> np.ndarray:
    """Return the rotation by an angle [rad] about a unit vector, shape (3, 3)."""
    x, y, z = axis
    s, c = math.sin(angle), math.cos(angle)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + s * cross + (1.0 - c) * (cross @ cross)


def site_placement(m: MjcfModel, site: int) -> Placement:
    """Return the placement of a site in the body."""
    return Placement(rotation_of(m.site_quat[site]), m.site_pos[site])


def rotation_vector(quaternion: np.ndarray) -> np.ndarray:
    """Return the shortest rotation vector (3,) [rad] of a quaternion w x y z, of any length."""
    w, vector = quaternion[0], np.asarray(quaternion[1:], dtype=np.float64)
    sine = float(np.linalg.norm(vector))
    turn = 2.0 * math.atan2(sine, abs(w))
    return math.copysign(turn, w) / sine * vector if sine else vector
