# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The transforms of one robot, computed for all joints at once."""

from __future__ import annotations

import math

import numpy as np
from geometry_msgs.msg import TransformStamped

import hrpsim
from hrpsim.engine.spatial.rotation import quaternion_from_rotation
from hrpsim.ros.base.geometry_values import fill
from hrpsim.ros.robot.frame_names import FrameEdge, RobotFrames


class RobotTransforms:
    """Names and poses of transforms: the base if `odometry`, the links if `links`."""

    def __init__(self, robot, frames: RobotFrames, *, odometry: bool, links: bool) -> None:
        self._robot = robot
        self._frames = frames
        model = robot.model
        edges = frames.edges() if links else []
        parts = model.system.ball  # their poses depend on three positions
        single = {j.name for j in model.joints if j.name in robot.joint_names and not parts[j.body]}
        hinged = [edge for edge in edges if edge.joint in single]
        self._others = [e for e in edges if e.moves and e.joint not in single]
        self._fixed = [edge for edge in edges if not edge.moves]
        self._odometry = odometry
        self._moving_base = odometry and model.base == "free"
        self.names = [(frames.odom, frames.base)] if self._moving_base else []
        for edge in (*hinged, *self._others):
            self.names.append((frames.of_link(edge.parent), frames.of_link(edge.child)))
        self._tables = _EdgeTables(robot, hinged)

    def write(self, rows: np.ndarray) -> None:
        """Write position [m] and quaternion x y z w of every transform of `names` (k, 7)."""
        if self._moving_base:
            rows[0] = self._robot.q[:7]
            rows = rows[1:]
        hinged = rows[: len(self._tables.indices)]
        self._tables.write(self._robot.joint_positions, hinged)
        for row, edge in zip(rows[len(hinged) :], self._others):
            row[:] = _relative_pose(*_link_poses(self._robot.model, self._robot.q, edge))

    def fixed(self) -> list[TransformStamped]:
        """Return the constant transforms, including sensor frames and a fixed base."""
        model, frames = self._robot.model, self._frames
        q = model.neutral()
        transforms = []
        if self._odometry and not self._moving_base:
            p, R = hrpsim.link_pose(model, q, model.base_link)
            transforms.append(
                transform_of(frames.odom, frames.base, _relative_pose(np.zeros(3), np.eye(3), p, R))
            )
        for edge in self._fixed:
            pose = _relative_pose(*_link_poses(model, q, edge))
            parent, child = frames.of_link(edge.parent), frames.of_link(edge.child)
            transforms.append(transform_of(parent, child, pose))
        for link, frame, p, R in frames.sensor_offsets():
            pose = _relative_pose(np.zeros(3), np.eye(3), p, R)
            transforms.append(transform_of(frames.of_link(link), frame, pose))
        return transforms


class _EdgeTables:
    """Poses across joints as functions of the joint positions.

    Across a hinge that has turned by theta the quaternion is cos(theta/2) q0 + sin(theta/2) q1 with
    q1 = q0 (axis, 0). Along a slide the position is p0 + d theta. The constants are read off the
    forward kinematics at theta = 0 and 1.
    """

    def __init__(self, robot, edges: list[FrameEdge]) -> None:
        model = robot.model
        order = {name: index for index, name in enumerate(robot.joint_names)}
        self.indices = np.array([order[edge.joint] for edge in edges], dtype=int)
        self._p0, self._slide = np.zeros((2, len(edges), 3))
        self._q0, self._q1 = np.zeros((2, len(edges), 4))
        for k, edge in enumerate(edges):
            q = model.neutral()
            start = _relative_pose(*_link_poses(model, q, edge))
            q[model.joint(edge.joint).q_index] += 1.0
            end = _relative_pose(*_link_poses(model, q, edge))
            self._p0[k], self._q0[k] = start[:3], start[3:]
            self._slide[k] = end[:3] - start[:3]
            end = end[3:] if end[3:] @ start[3:] >= 0.0 else -end[3:]
            # The quaternion at theta = 1 is cos(1/2) q0 + sin(1/2) q1. Without rotation it is q0.
            if abs(end @ start[3:]) < 1.0 - 1e-6:
                self._q1[k] = (end - math.cos(0.5) * start[3:]) / math.sin(0.5)
        self._turns = np.any(self._q1 != 0.0, axis=1)

    def write(self, joint_positions: np.ndarray, rows: np.ndarray) -> None:
        theta = joint_positions[self.indices]
        half = np.where(self._turns, 0.5 * theta, 0.0)[:, None]
        rows[:, :3] = self._p0 + self._slide * theta[:, None]
        rows[:, 3:] = np.cos(half) * self._q0 + np.sin(half) * self._q1


def transform_of(parent: str, child: str, pose=(0, 0, 0, 0, 0, 0, 1)) -> TransformStamped:
    """Return the message for a pose: position [m] and quaternion x y z w (7,)."""
    transform = TransformStamped(child_frame_id=child)
    transform.header.frame_id = parent
    fill_pose(transform, pose)
    return transform


def fill_pose(transform: TransformStamped, pose) -> None:
    """Write position and quaternion x y z w (7,) into a transform."""
    fill(transform.transform.translation, pose[:3])
    fill(transform.transform.rotation, pose[3:])


def _link_poses(model, q, edge: FrameEdge):
    return *hrpsim.link_pose(model, q, edge.parent), *hrpsim.link_pose(model, q, edge.child)


def _relative_pose(p_a, R_a, p_b, R_b) -> np.ndarray:
    """Return position and quaternion x y z w (7,) of frame b in frame a."""
    pose = np.empty(7)
    pose[:3] = R_a.T @ (p_b - p_a)
    quaternion_from_rotation(np.ascontiguousarray(R_a.T @ R_b), quaternion := np.empty(4))
    pose[3:] = quaternion
    return pose
