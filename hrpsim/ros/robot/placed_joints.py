# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics set_base_pose and set_joint_states. Needs no ROS."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError, require_name
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.geometry_values import pose_of
from hrpsim.ros.base.stamps import MessageQueue
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.robot_input import RobotInput
from hrpsim.world.objects.plausibility import listed

if TYPE_CHECKING:
    from geometry_msgs.msg import PoseStamped
    from sensor_msgs.msg import JointState

_FASTEST = 1e4  # [rad/s], [m/s], no step is short enough for higher velocities


class BasePose(RobotInput):
    """Moves the base to a geometry_msgs/PoseStamped in the odom frame.

    Joint positions and commands do not change. Base and joints lose all velocity.
    """

    consequence = "the base stays"

    def __init__(
        self, queue: MessageQueue, rejections: Rejections, robot, frames: RobotFrames
    ) -> None:
        super().__init__(queue, rejections)
        self._robot = robot
        self._frame = frames.odom
        self._waiting: np.ndarray | None = None

    def accept(self, pose: np.ndarray) -> None:
        """Store a pose (7,) for the next step. A later pose replaces an earlier pose."""
        self._waiting = pose

    def apply(self) -> None:
        """Move the base, before the next step."""
        if self._waiting is not None:
            q = self._robot.q.copy()
            q[:7] = self._waiting
            self._waiting = None
            self._robot.q = q
            self._robot.v = np.zeros(self._robot.nv)

    def reset(self) -> None:
        """Drop the messages that have arrived."""
        super().reset()
        self._waiting = None

    def validate(self, message: PoseStamped) -> np.ndarray:
        """Return position [m] and quaternion x y z w (7,). Raise WorldError for an invalid pose."""
        frame = message.header.frame_id
        if frame not in ("", self._frame):
            raise WorldError(f"header.frame_id must be {self._frame!r} or empty, got {frame!r}")
        return pose_of(message.pose)


class Placing(NamedTuple):
    """The joint positions and velocities to set."""

    names: list[str]
    positions: np.ndarray  # (k,) NaN: unchanged
    velocities: np.ndarray  # (k,)


class PlacedJoints(RobotInput):
    """Sets the joint positions of a sensor_msgs/JointState before the next step.

    Joints without a velocity are then at rest. Joints under position control hold the new position.
    Other joints and the base do not change.
    """

    consequence = "the joints stay"

    def __init__(self, queue: MessageQueue, rejections: Rejections, robot) -> None:
        super().__init__(queue, rejections)
        self._robot = robot
        self._joints = {joint.name: joint for joint in robot.model.joints}
        self._waiting: list[Placing] = []

    def validate(self, message: JointState) -> Placing:
        """Return the new joint states.

        Raise WorldError for a message that does not fit this robot.
        """
        robot, names = self._robot, list(message.name)
        if not names:
            raise WorldError("the message names no joint")
        for name in names:
            require_name("joint", name, robot.joint_names)
            if name in robot.locked:
                raise WorldError(f"joint {name!r} is locked")
            if names.count(name) > 1:
                raise WorldError(f"the message names joint {name!r} more than once")
        if len(message.effort):
            raise WorldError("only positions and velocities of joints can be set, not efforts")
        if not len(message.position) and not len(message.velocity):
            raise WorldError(f"the message has neither position nor velocity for {names}")
        positions = self._numbers("position", message.position, names, np.nan)
        velocities = self._numbers("velocity", message.velocity, names, 0.0)
        if beyond := robot.limits.beyond(names, {"positions": positions}):
            raise WorldError(listed(beyond))
        return Placing(names, positions, velocities)

    def accept(self, placing: Placing) -> None:
        """Store the joint states for the next step, after earlier joint states."""
        self._waiting.append(placing)

    def apply(self) -> None:
        """Set the joint states, before the next step."""
        waiting, self._waiting = self._waiting, []
        for placing in waiting:
            self._put(placing)

    def reset(self) -> None:
        """Drop the messages that have arrived."""
        super().reset()
        self._waiting = []

    def _put(self, placing: Placing) -> None:
        robot = self._robot
        q, v = robot.q.copy(), robot.v.copy()
        joints = [self._joints[name] for name in placing.names]
        moved = ~np.isnan(placing.positions)
        indices = np.array([joint.q_index for joint in joints])
        q[indices[moved]] = placing.positions[moved]
        v[[joint.v_index for joint in joints]] = placing.velocities
        robot.q, robot.v = q, v

    def _numbers(self, field: str, values, names: list[str], missing: float) -> np.ndarray:
        if not len(values):
            return np.full(len(names), missing)
        if len(values) != len(names):
            raise WorldError(f"{field!r} has {len(values)} values for {len(names)} names")
        numbers = np.asarray(values, dtype=float)
        if not (np.abs(numbers) <= _FASTEST).all():
            raise WorldError(f"values in {field!r} must be finite and at most {_FASTEST:g}")
        return numbers
