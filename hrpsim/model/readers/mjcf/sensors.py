# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Sensors, keyframes and motions of free joints of an MJCF."""

from __future__ import annotations

import numpy as np

from hrpsim.model.readers.mjcf.read import MjcfModel
from hrpsim.model.readers.mjcf.tree import BodyTree, rotation_of, rotation_vector, site_placement
from hrpsim.model.readers.robot_data import (
    LONGEST_DELAY,
    KeyframeData,
    Notes,
    RobotData,
    SensorData,
    free_name,
)
from hrpsim.model.sensors.kinds import SENSOR_KINDS
from hrpsim.model.sensors.sensor_kind import SensorKind
from hrpsim.model.shapes.placement import Placement

_KIND_OF_TYPE = {name: kind for kind in SENSOR_KINDS.values() for name in kind.mjcf_types}
_OF_STATE = ("JOINT", "FRAME", "BALL", "VELOCIMETER", "SUBTREE", "CLOCK", "ACTUATOR")
_UNTURNED = np.array([1.0, 0.0, 0.0, 0.0])


class FreeMotion:
    """The pose and velocity of a body with `free_joints` (tree.py), as entries of qpos and qvel.

    `m` is an MjcfModel or a mujoco.MjModel. `qpos` is the index of the first of seven entries:
    positions, then a quaternion w x y z. `qvel` is the index of the first of six entries: rates,
    then the angular velocity in the body's axes.
    """

    def __init__(self, m, body: int) -> None:
        first, count = int(m.body_jntadr[body]), int(m.body_jntnum[body])
        self.qpos, self.qvel = int(m.jnt_qposadr[first]), int(m.jnt_dofadr[first])
        self.axes, self.turn = np.eye(3), _UNTURNED
        self.origin = self.anchor = np.zeros(3)
        if count > 1:
            self.turn = np.array(m.body_quat[body])
            R = rotation_of(self.turn)
            self.axes = R @ np.transpose(m.jnt_axis[first : first + 3])
            self.anchor = np.array(m.jnt_pos[first + 3])  # of the ball, in the body
            start = self.axes @ m.qpos0[self.qpos : self.qpos + 3]
            self.origin = m.body_pos[body] + R @ self.anchor - start

    def pose(self, qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the pose of the body in the world.

        qpos: configuration of MuJoCo (nq,).

        Returns:
            (position (3,) [m], quaternion w x y z (4,)).
        """
        turn = _product(self.turn, qpos[self.qpos + 3 : self.qpos + 7])
        moved = self.origin + self.axes @ qpos[self.qpos : self.qpos + 3]
        return moved - rotation_of(turn) @ self.anchor, turn

    def velocity(self, turn: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocity of the body.

        turn: quaternion of the body, from `pose`. qvel: velocity of MuJoCo (nv,).

        Returns:
            (velocity of the body's origin in the world (3,) [m/s], angular velocity in the body's
            frame (3,) [rad/s]).
        """
        spin, R = qvel[self.qvel + 3 : self.qvel + 6], rotation_of(turn)
        return self.axes @ qvel[self.qvel : self.qvel + 3] - R @ np.cross(spin, self.anchor), spin


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the quaternion w x y z of rotation a after rotation b."""
    vector = a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return np.append(a[0] * b[0] - a[1:] @ b[1:], vector)


def _note_left_out(sort: str, name: str, delay: float, notes: Notes) -> None:
    is_state = sort.startswith(_OF_STATE)
    why = "read it from the state of the robot" if is_state else "not simulated"
    notes.add(f"sensor {sort.lower()}", why + ", without its delay" * bool(delay), name)


def _free_name(robot: RobotData, *wanted: str) -> str:
    """Return the first nonempty name of `wanted`, with a number if a sensor has the name."""
    first = next(filter(None, wanted))
    return free_name(first, {sensor.name for sensor in robot.sensors})


def add_sensors(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Add one force-torque sensor and one IMU for all of MuJoCo's sensors at a site.

    Each sensor has the name of its site.
    """
    latencies: dict[tuple[int, type[SensorKind]], float] = {}
    with_joint = {joint.child for joint in robot.joints.values()}
    delays = np.zeros(m.nsensor) if m.sensor_delay is None else m.sensor_delay
    for k in range(m.nsensor):
        sort = m.kind("mjtSensor", m.sensor_type[k])
        name = m.names["sensor"][k]
        delay = float(delays[k])
        kind = _KIND_OF_TYPE.get(sort)
        if kind is None:
            _note_left_out(sort, name, delay, notes)
            continue
        site = int(m.sensor_objid[k])
        body = int(m.site_bodyid[site])
        if body not in tree.links:
            continue
        latency = min(delay, LONGEST_DELAY)
        simulated = latencies.get((site, kind), latency)
        why = f"{simulated:g} s is simulated, that of the first sensor at the site"
        is_other = not simulated == latency == delay
        notes.add("sensor delay", f"{why}, {LONGEST_DELAY:g} s at most", name, times=is_other)
        if (site, kind) in latencies:
            continue
        if kind.at_joint and tree.links[body] not in with_joint:
            notes.add(f"sensor {sort.lower()} on the base", "no joint above carries a force", name)
            continue
        latencies[site, kind] = latency
        label = _free_name(robot, m.names["site"][site], name, f"site{site}")
        placement = site_placement(m, site)
        if kind.at_joint:
            tree.force_sensors[site] = label
        robot.sensors.append(SensorData(label, kind.kind, tree.links[body], placement, latency))


def add_keyframes(m: MjcfModel, tree: BodyTree, robot: RobotData, notes: Notes) -> None:
    """Add the postures of all keyframes."""
    for k in range(m.nkey):
        name = m.names["key"][k] or f"key{k}"
        label = free_name(name, {key.name for key in robot.keyframes})
        robot.keyframes.append(posture(m, tree, label, m.key_qpos[k]))
        for word in ("qvel", "ctrl", "act"):
            values = getattr(m, f"key_{word}")
            if values is not None and np.size(values) and np.any(values[k]):
                notes.add(f"keyframe {word}", "only postures are kept", name)
        bodies = np.flatnonzero(m.body_mocapid >= 0)
        mocaps = m.body_mocapid[bodies]
        moved = (m.key_mpos[k].reshape(-1, 3)[mocaps] != m.body_pos[bodies]).any(axis=1)
        moved |= (m.key_mquat[k].reshape(-1, 4)[mocaps] != m.body_quat[bodies]).any(axis=1)
        notes.add("keyframe mpos, mquat", "only postures are kept", name, times=int(moved.sum()))


def posture(m: MjcfModel, tree: BodyTree, name: str, qpos: np.ndarray) -> KeyframeData:
    """Return a keyframe with the joint positions of MuJoCo's configuration `qpos` (nq,)."""
    base, joints = None, {}
    for body, free in tree.free.items():
        position, turn = FreeMotion(m, body).pose(qpos)
        if free:
            w, x, y, z = turn
            joints[free] = (*map(float, position), *map(float, (x, y, z, w)))
        else:
            base = Placement(rotation_of(turn), position)
    for joint, names in tree.joints.items():
        at = int(m.jnt_qposadr[joint])
        kind = m.kind("mjtJoint", m.jnt_type[joint])
        if not names:
            continue
        if kind == "BALL":
            for part, turn in zip(names, rotation_vector(qpos[at : at + 4]), strict=True):
                joints[part] = (float(turn),)
        else:
            joints[names[0]] = (float(qpos[at]),)
    return KeyframeData(name, base, joints)
