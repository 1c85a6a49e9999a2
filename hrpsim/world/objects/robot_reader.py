# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read poses and velocities of many links, or all measurements of a robot, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, NewType

import numpy as np

from hrpsim.engine.compile.compiled import entry_point, inlined_kernel, inner_kernel, kernel
from hrpsim.engine.compile.kernel_types import Kinematics, Mat3, Matrix, Record, Vec3, Vector
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.kinematics.forest import Forest
from hrpsim.engine.kinematics.forward import (
    new_kinematics,
    place_body,
    update_poses,
    update_velocities,
)
from hrpsim.engine.kinematics.layout import velocity_from_kernel
from hrpsim.engine.spatial.rotation import quaternion_from_rotation
from hrpsim.engine.step.arrays import Scene
from hrpsim.model.model import Frame, Model
from hrpsim.model.sensors.kinds import STEP_KINDS
from hrpsim.model.system import System

BASE_SIZE = 13  # size of a free base: position, quaternion, linear and angular velocity
# a link's frame in the body of the link
LINK = np.dtype(
    [
        ("body", "i8"),  # -1: the world
        ("R", "f8", (3, 3)),
        ("p", "f8", (3,)),  # [m]
    ]
)
RobotLink = NewType("RobotLink", Record)


class LinkSources(NamedTuple):
    """The arrays from which states of links are computed."""

    forest: Forest
    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,) kernels' layout
    kinematics: np.ndarray  # (n,) KINEMATICS, work
    links: np.ndarray  # (k,) LINK
    rotation: np.ndarray  # (3, 3) work


class LinkReaders:
    """The kernels that read links, prepared for one scene at first use."""

    @cached_property
    def links(self) -> TupleReference:
        """The arrays from which states of links are read."""
        raise NotImplementedError

    @cached_property
    def read_poses(self):
        """The compiled `read_link_poses`. Its first argument is `links`."""
        return entry_point(read_link_poses, self.links, np.empty((0, 3)), np.empty((0, 4)))

    @cached_property
    def read_velocities(self):
        """The compiled `read_link_velocities`. Its first argument is `links`."""
        return entry_point(read_link_velocities, self.links, np.empty((0, 3)), np.empty((0, 3)))


def link_records(frames) -> np.ndarray:
    """Return LINK records of frames. A frame is any object with `body`, `R` and `p`."""
    links = np.zeros(len(frames), dtype=LINK)
    for record, frame in zip(links, frames, strict=True):
        record["body"], record["R"], record["p"] = frame.body, frame.R, frame.p
    return links


@kernel
def read_link_poses(s: LinkSources, positions: Matrix, orientations: Matrix) -> int:
    """Write positions (k, 3) [m] and quaternions x y z w (k, 4) of the links in the world."""
    update_poses(s.forest, s.q, s.kinematics)
    for k in range(s.links.shape[0]):
        place_link(s, s.links[k], s.rotation, positions[k])
        quaternion_from_rotation(s.rotation, orientations[k])
    return 0


@inlined_kernel
def place_link(s: LinkSources, link: RobotLink, R_out: Mat3, position_out: Vec3) -> None:
    """Write rotation (3, 3) and origin (3,) [m] of a LINK in the world.

    Poses of the bodies must be current.
    """
    L, t = link.R, link.p
    if link.body < 0:
        for r in range(3):
            position_out[r] = t[r]
            for c in range(3):
                R_out[r, c] = L[r, c]
        return
    body = s.kinematics[link.body]
    origin = s.kinematics[s.forest.bodies[link.body].root].origin
    R = body.R
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        position_out[r] = origin[r] + (body.p[r] + (x * t[0] + y * t[1] + z * t[2]))
        for c in range(3):
            R_out[r, c] = x * L[0, c] + y * L[1, c] + z * L[2, c]


@kernel
def read_link_velocities(s: LinkSources, linear: Matrix, angular: Matrix) -> int:
    """Write velocities of the links' origins (k, 3) [m/s] and angular velocities (k, 3) [rad/s]."""
    update_poses(s.forest, s.q, s.kinematics)
    update_velocities(s.forest, s.velocity, s.kinematics)
    for k in range(s.links.shape[0]):
        link = s.links[k]
        if link.body < 0:
            for r in range(3):
                linear[k, r] = angular[k, r] = 0.0
        else:
            _read_velocity(s.kinematics[link.body], link.p, linear[k], angular[k])
    return 0


@inlined_kernel
def _read_velocity(here: Kinematics, t: Vec3, linear_out: Vector, angular_out: Vector) -> None:
    """Write the velocity of a point of a body, and the body's angular velocity, in the world.

    t: the point in the body's frame (3,) [m].
    """
    R, p, v = here.R, here.p, here.v
    x = p[0] + (R[0, 0] * t[0] + R[0, 1] * t[1] + R[0, 2] * t[2])
    y = p[1] + (R[1, 0] * t[0] + R[1, 1] * t[1] + R[1, 2] * t[2])
    z = p[2] + (R[2, 0] * t[0] + R[2, 1] * t[1] + R[2, 2] * t[2])
    linear_out[0] = v[3] + (v[1] * z - v[2] * y)
    linear_out[1] = v[4] + (v[2] * x - v[0] * z)
    linear_out[2] = v[5] + (v[0] * y - v[1] * x)
    for r in range(3):
        angular_out[r] = v[r]


class RobotLinks:
    """The part of Robot that reads poses and velocities of its links."""

    model: Model
    system: System
    forest: Forest
    frames: tuple[Frame, ...]
    access: Any  # RobotAccess
    q: np.ndarray

    def link_poses(self) -> tuple[np.ndarray, np.ndarray]:
        """Return positions (k, 3) [m] and quaternions x y z w (k, 4) of all links in the world.

        The links have the order of `model.link_names`. Quaternions have w >= 0.
        """
        access, count = self.access, len(self.frames)
        poses = np.empty((count, 3)), np.empty((count, 4))
        access.read_poses(access.links, *poses)
        return poses

    def link_velocities(self) -> tuple[np.ndarray, np.ndarray]:
        """Return velocities (k, 3) [m/s] and angular velocities (k, 3) [rad/s] of all links.

        Linear velocities are the velocities of the links' origins. All are along the world's axes.
        The links have the order of `model.link_names`.
        """
        access, count = self.access, len(self.frames)
        velocities = np.empty((count, 3)), np.empty((count, 3))
        access.read_velocities(access.links, *velocities)
        return velocities

    def link_pose(self, link: str) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) of a link in the world."""
        frame = self.model.frame(link)
        return self.frame_pose(frame.body, frame.R, frame.p)

    def frame_pose(self, body: int, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position (3,) [m] and quaternion x y z w (4,) in the world of a frame in a body.

        Args:
            body: index of the body in `system`, or -1 for a frame that is fixed to the world.
            R: rotation from the frame to the body (3, 3).
            p: origin in the body's frame (3,) [m].
        """
        orientation = np.empty(4)
        if body < 0:
            quaternion_from_rotation(np.ascontiguousarray(R), orientation)
            return p.copy(), orientation
        poses = new_kinematics(self.model.body_count)
        update_poses(self.forest, self.q.copy(), poses)
        R_body = poses[body]["R"]
        origin = poses[self.system.root[body]]["origin"]
        quaternion_from_rotation(np.ascontiguousarray(R_body @ R), orientation)
        return origin + (poses[body]["p"] + R_body @ p), orientation


class ReadingSources(NamedTuple):
    """The arrays from which readings of a robot with n chosen joints and m sensors are computed."""

    forest: Forest
    q: np.ndarray  # (nq,)
    velocity: np.ndarray  # (nv,) kernels' layout
    control: np.ndarray  # (nv,) CONTROL
    joint_q: np.ndarray  # (n,) indices of the joints in q
    joint_v: np.ndarray  # (n,) indices of the joints in velocity and control
    sensors: np.ndarray  # (m,) SENSOR
    imus: np.ndarray  # (i,) indices of the IMUs among the sensors
    frames: np.ndarray  # (i,) LINK, of the IMUs
    kinematics: np.ndarray  # (n,) KINEMATICS, work
    rotation: np.ndarray  # (3, 3) work
    public_velocity: np.ndarray  # (nv,) work


@kernel
def read_robot(s: ReadingSources, with_base: bool, out: Vector) -> int:
    """Write the measurements of joints, sensors and IMU orientations, and optionally the base.

    `out` has 3 n + 6 m + 4 i numbers for n joints, m sensors and i IMUs. These are positions,
    velocities and efforts of the joints, six numbers for each sensor, and quaternions x y z w of
    the IMUs. If `with_base` is set, q (7,) and the public v (6,) of the base follow.
    """
    count = s.joint_q.shape[0]
    for k in range(count):
        out[k] = s.q[s.joint_q[k]]
        out[count + k] = s.velocity[s.joint_v[k]]
        out[2 * count + k] = s.control[s.joint_v[k]].applied
    at = 3 * count
    for k in range(s.sensors.shape[0]):
        reading = s.sensors[k].reading
        for r in range(6):
            out[at + r] = reading[r]
        at += 6
    needed = 0
    for k in range(s.imus.shape[0]):
        needed = max(needed, s.frames[k].body + 1)
    for i in range(needed):  # parents come first
        place_body(s.forest, s.q, i, s.kinematics)
    for k in range(s.imus.shape[0]):
        _write_orientation(s, k, out[at : at + 4])
        at += 4
    if with_base:
        velocity_from_kernel(s.forest, s.q, s.velocity, s.public_velocity)
        for r in range(7):
            out[at + r] = s.q[r]
        for r in range(6):
            out[at + 7 + r] = s.public_velocity[r]
    return 0


@inner_kernel
def _write_orientation(s: ReadingSources, k: int, out: Vector) -> None:
    """Write the orientation of IMU k in the world, a quaternion x y z w (4,)."""
    frame, turned = s.frames[k], s.rotation
    L = frame.R
    if frame.body < 0:
        quaternion_from_rotation(L, out)
        return
    R = s.kinematics[frame.body].R
    for r in range(3):
        x, y, z = R[r, 0], R[r, 1], R[r, 2]
        for c in range(3):
            turned[r, c] = x * L[0, c] + y * L[1, c] + z * L[2, c]
    quaternion_from_rotation(turned, out)


class RobotReader:
    """Reader of joints, sensors and the free base of a robot in one call.

    joint_names: the joints to read, in order. The readings are laid out as in `read_robot`. With
    `with_base` the readings end with the true pose and velocity of the base. A fixed base does not
    accept `with_base`.
    """

    def __init__(self, robot, joint_names: Sequence[str], *, with_base: bool = False) -> None:
        self.with_base = with_base
        self._robot = robot
        names = robot.joint_names
        at = [names.index(name) for name in joint_names]
        self._joints = np.array(at, dtype=np.int64)
        joints = [joint for joint in robot.model.joints if joint.name in set(names)]
        self._joint_q = np.array([joints[k].q_index for k in at], dtype=np.int64)
        self._joint_v = np.array([joints[k].v_index for k in at], dtype=np.int64)
        sensors = robot.model.sensors
        indices = [k for k, sensor in enumerate(sensors) if STEP_KINDS[sensor.kind].has_orientation]
        self._imus = np.array(indices, dtype=np.int64)
        self._frames = link_records([sensors[k] for k in indices])
        self.size = 3 * len(at) + 6 * len(sensors) + 4 * len(indices)
        self.size += BASE_SIZE if with_base else 0
        self._scene: Scene | None = None
        self._sources: TupleReference | None = None
        self._read: Any = None

    def __getstate__(self) -> dict:
        """Leave out addresses in memory."""
        return self.__dict__ | {"_scene": None, "_sources": None, "_read": None}

    def read(self) -> np.ndarray:
        """Return the present readings (size,) in a new array."""
        out = np.empty(self.size)
        if self._scene is None or self._scene is not self._robot.world.present_scene:
            self._refer(out)
        self._read(self._sources, self.with_base, out)
        if self._robot.fitted_actuators:
            n = len(self._joints)
            self._robot.measure(self._joints, out[:n], out[n : 2 * n], out[2 * n : 3 * n])
        return out

    def _refer(self, out: np.ndarray) -> None:
        robot = self._robot
        world = robot.world
        self._scene = scene = world.scene
        first, dofs = world.first_sensor(robot), slice(robot.first_v, robot.first_v + robot.nv)
        self._sources = TupleReference(
            ReadingSources(
                robot.forest,
                scene.q[robot.first_q : robot.first_q + robot.nq],
                scene.velocity[dofs],
                scene.control[dofs],
                self._joint_q,
                self._joint_v,
                scene.sensors[first : first + len(robot.model.sensors)],
                self._imus,
                self._frames,
                new_kinematics(robot.model.body_count),
                np.zeros((3, 3)),
                np.zeros(robot.nv),
            )
        )
        self._read = entry_point(read_robot, self._sources, self.with_base, out)
