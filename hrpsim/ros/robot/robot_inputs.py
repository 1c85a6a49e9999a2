# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics that command one robot, live or recorded. Needs no ROS."""

from __future__ import annotations

from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock, StampedQueue
from hrpsim.ros.robot.applied_wrenches import AppliedWrenches
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.joint_commands import (
    DynamicJointCommands,
    Interpolation,
    IntervalInterpolation,
    JointCommands,
)
from hrpsim.ros.robot.joint_trajectory import JointTrajectories
from hrpsim.ros.robot.placed_joints import BasePose, PlacedJoints
from hrpsim.ros.robot.robot_input import RobotInput
from hrpsim.ros.robot.trajectory_goals import TrajectoryGoals

# The topics that command joints. In lockstep a message on any of them answers a tick.
COMMANDS: dict[str, type[JointCommands]] = {
    "joint_commands": JointCommands,
    "dynamic_joint_commands": DynamicJointCommands,
}


class RobotInputs:
    """The inputs of one robot, one for each topic. `all` has the inputs in the order of `apply`.

    source: returns the subscription of a topic, or None for an unknown topic. in_lockstep: makes
    the queues of the topics in COMMANDS for a robot in lockstep, otherwise None. over: time over
    which position targets move [s]. None means the time since the previous command.
    """

    def __init__(
        self,
        robot,
        frames: RobotFrames,
        clock: SimulationClock,
        report: Report,
        source: Callable[[str], Any],
        *,
        in_lockstep: Callable[[Any], MessageQueue] | None,
        over: float | None,
    ) -> None:
        rejections, logger = report
        self._rejections, self._robot, self._clock = rejections, robot, clock
        interpolation = IntervalInterpolation(robot, clock) if over is None else Interpolation(over)
        self._followers = [
            JointTrajectories(MessageQueue(source("joint_trajectory")), rejections, robot, clock)
        ]
        self.commands = [
            kind(
                in_lockstep(topic) if in_lockstep else StampedQueue(topic, clock),
                rejections,
                robot,
                self.release,
                logger,
                nan_holds=in_lockstep is None,
                interpolation=interpolation,
                consequence="" if in_lockstep else "the last command holds",
            )
            for name, kind in COMMANDS.items()
            if (topic := source(name)) is not None
        ]
        self.wrenches = AppliedWrenches(
            StampedQueue(source("apply_wrench"), clock), rejections, robot, frames, clock
        )
        placed = PlacedJoints(MessageQueue(source("set_joint_states")), rejections, robot)
        base: list[RobotInput] = []
        if robot.model.base == "free":
            queue = MessageQueue(source("set_base_pose"))
            base = [BasePose(queue, rejections, robot, frames)]
        self.all = [*self.commands, *base, placed, *self._followers, self.wrenches]

    def follow_goals(self, source: Any, joints: Collection[str]) -> TrajectoryGoals:
        """Follow the goals of an action for these joints.

        `source` returns the goals as messages.
        """
        goals = TrajectoryGoals(
            MessageQueue(source), self._rejections, self._robot, self._clock, joints
        )
        self._followers.append(goals)
        for follower in self._followers:
            follower.others = [other for other in self._followers if other is not follower]
        self.all.append(goals)
        return goals

    def release(self, names: Collection[str]) -> None:
        """Take joints out of all trajectories. Other commands now apply to these joints."""
        for follower in self._followers:
            follower.release(names)

    def leave_off(self, joints: AbstractSet[str]) -> None:
        """Ignore commands to the joints in this set."""
        for one in (*self.commands, *self._followers):
            one.off = joints


class Report(NamedTuple):
    """Where inputs report invalid messages: counters and logger."""

    rejections: Rejections
    logger: Any
