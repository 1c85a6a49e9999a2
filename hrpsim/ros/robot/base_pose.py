"""The topic set_base_pose: puts the base of a robot somewhere else, at rest."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from hrpsim.errors import WorldError
from hrpsim.ros.base import qos
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.rejections import Rejections
from hrpsim.ros.robot.frames import RobotFrames

_FARTHEST = 1e4  # [m]; there positions are still exact to 2e-12 m


class BasePose:
    """Moves the base to a geometry_msgs/PoseStamped in the odom frame.

    Joint positions and commands stay as they are; base and joints lose their velocities.
    """

    def __init__(self, node: Node, robot, frames: RobotFrames, topic: str, rejections: Rejections):
        self._robot = robot
        self._frame = frames.odom
        self._subscription = PolledSubscription(node, PoseStamped, topic, qos.COMMAND)
        self._rejections = rejections
        self._waiting: np.ndarray | None = None
        self.accepted_count = 0

    @property
    def topic(self) -> str:
        """The full topic name."""
        return self._subscription.topic

    def take(self) -> None:
        """Take in what has arrived."""
        for message, _ in self._subscription.take_all():
            self._rejections.follow(self._take, message, self.topic, "the base stays")

    def act(self) -> None:
        """Move the base, before the step to come."""
        if self._waiting is not None:
            q = self._robot.q.copy()
            q[:7] = self._waiting
            self._waiting = None
            self._robot.q = q
            self._robot.v = np.zeros(self._robot.nv)

    def discard(self) -> None:
        """Drop all that has arrived."""
        self._waiting = None
        for _ in self._subscription.take_all():
            pass

    def _take(self, message: PoseStamped) -> None:
        self._waiting = self._pose_of(message)
        self.accepted_count += 1

    def _pose_of(self, message: PoseStamped) -> np.ndarray:
        frame = message.header.frame_id
        if frame not in ("", self._frame):
            raise WorldError(
                f"header.frame_id is {frame!r}; poses are taken in {self._frame!r}, also if empty"
            )
        position, turn = message.pose.position, message.pose.orientation
        p = np.array([position.x, position.y, position.z])
        orientation = np.array([turn.x, turn.y, turn.z, turn.w])
        if not (np.abs(p) <= _FARTHEST).all():
            raise WorldError(
                f"the position must be finite, {_FARTHEST:g} m from the origin at most"
            )
        if not abs(np.linalg.norm(orientation) - 1.0) < 1e-2:
            raise WorldError("the orientation must be a quaternion of length 1")
        return np.concatenate([p, orientation])
