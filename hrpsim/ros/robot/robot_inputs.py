# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics that command one robot, live or recorded. Needs no ROS."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamped_queue import MessageQueue, StampedQueue
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.applied_wrenches import AppliedWrenches
from hrpsim.ros.robot.base_pose import BasePose
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.joint_commands import JointCommands
from hrpsim.ros.robot.joint_trajectory import JointTrajectories
from hrpsim.ros.robot.placed_joints import PlacedJoints
from hrpsim.ros.robot.robot_input import RobotInput


class RobotInputs:
    """One input for each topic; `all` has them in the order in which they act.

    source: returns the queue of a topic (`MessageQueue`). in_lockstep: the queue of joint_commands
    in lockstep, else None. over: the time in which position targets then move [s].
    """

    def __init__(
        self,
        robot,
        frames: RobotFrames,
        clock: SimulationClock,
        report: Report,
        source: Callable[[str], Any],
        *,
        in_lockstep: MessageQueue | None,
        over: float,
    ):
        rejections, logger = report
        self.trajectories = JointTrajectories(
            MessageQueue(source("joint_trajectory")), rejections, robot, clock
        )
        self.commands = JointCommands(
            in_lockstep or StampedQueue(source("joint_commands"), clock),
            rejections,
            robot,
            self.trajectories.release,
            logger,
            nan_holds=in_lockstep is None,
            over=0.0 if in_lockstep is None else over,
            consequence="the last command holds" if in_lockstep is None else "",
        )
        self.wrenches = AppliedWrenches(
            StampedQueue(source("apply_wrench"), clock), rejections, robot, frames, clock
        )
        placed = PlacedJoints(MessageQueue(source("set_joint_states")), rejections, robot)
        self.all: list[RobotInput] = [self.commands, placed, self.trajectories, self.wrenches]
        if robot.model.base == "free":
            base = BasePose(MessageQueue(source("set_base_pose")), rejections, robot, frames)
            self.all.insert(1, base)


class Report(NamedTuple):
    """Where inputs report invalid messages."""

    rejections: Rejections
    logger: Any
