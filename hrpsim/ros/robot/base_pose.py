# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic set_base_pose: moves the base of a robot to a pose, at rest.

Needs no ROS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hrpsim.errors import WorldError
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.geometry_values import pose_of
from hrpsim.ros.base.stamped_queue import MessageQueue
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.robot_input import RobotInput

if TYPE_CHECKING:
    from geometry_msgs.msg import PoseStamped


class BasePose(RobotInput):
    """Moves the base to a geometry_msgs/PoseStamped in the odom frame.

    Joint positions and commands stay as they are; base and joints lose their velocities.
    """

    consequence = "the base stays"

    def __init__(self, queue: MessageQueue, rejections: Rejections, robot, frames: RobotFrames):
        super().__init__(queue, rejections)
        self._robot = robot
        self._frame = frames.odom
        self._waiting: np.ndarray | None = None

    def accept(self, pose: np.ndarray) -> None:
        """Store a pose (7,) for the next step; the last one counts."""
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
        """Return position [m] and quaternion x y z w (7,); WorldError for an invalid pose."""
        frame = message.header.frame_id
        if frame not in ("", self._frame):
            raise WorldError(
                f"header.frame_id is {frame!r}; poses are in {self._frame!r}, also if empty"
            )
        return pose_of(message.pose)
