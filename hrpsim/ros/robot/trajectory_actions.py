# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The action follow_joint_trajectory, of a robot and of groups of joints."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from trajectory_msgs.msg import JointTrajectoryPoint

from hrpsim.common.constants import NANOSECONDS
from hrpsim.ros.base import parameters
from hrpsim.ros.base.guarded_node import NodePart
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.robot_inputs import RobotInputs
from hrpsim.ros.robot.trajectory_goals import JointState

ACTION = "follow_joint_trajectory"


class TrajectoryServer:
    """An action server with the methods of a PolledSubscription: `take_all` yields the goals.

    A goal is accepted on arrival, because ROS 2 has no text for a rejection. An invalid goal is
    aborted at once, with error code and cause.
    """

    def __init__(self, part: NodePart, name: str, clock: SimulationClock) -> None:
        self._clock = clock
        self._waiting: list[ServerGoalHandle] = []
        self.server = part.create_action_server(
            FollowJointTrajectory,
            name,
            handle_accepted_callback=self._waiting.append,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        self.topic = part.resolve_topic_name(name)

    def publisher_count(self) -> int:
        """Return 0, because an action has no publishers."""
        return 0

    def take_all(self) -> Iterator[tuple[TrajectoryGoal, dict[str, Any]]]:
        """Yield the goals that have arrived and were not yielded before."""
        while self._waiting:
            yield TrajectoryGoal(self.server, self._waiting.pop(0), self._clock), {}


class TrajectoryGoal:
    """A Goal of trajectory_goals.py, sent over ROS."""

    def __init__(self, server: Any, handle: ServerGoalHandle, clock: SimulationClock) -> None:
        self._server, self._handle, self._clock = server, handle, clock
        self.request: FollowJointTrajectory.Goal = handle.request

    @property
    def is_cancel_requested(self) -> bool:
        """Whether the client has asked to cancel the goal."""
        return self._handle.is_cancel_requested

    def begin(self) -> None:
        """Record that the goal is being executed."""
        self._handle.execute()

    def report(
        self, names: Sequence[str], time: float, desired: JointState, actual: JointState
    ) -> None:
        """Send feedback. time: since the start of the trajectory [s]."""
        error = JointState(*(target - is_ for target, is_ in zip(desired, actual)))
        feedback = FollowJointTrajectory.Feedback(joint_names=list(names))
        feedback.header.stamp = self._clock.stamp.to_message()
        since = Duration(
            sec=int(time), nanosec=min(round(time % 1.0 * NANOSECONDS), NANOSECONDS - 1)
        )
        for field, state in (("desired", desired), ("actual", actual), ("error", error)):
            point = JointTrajectoryPoint(
                positions=state.positions, velocities=state.velocities, time_from_start=since
            )
            setattr(feedback, field, point)
        self._handle.publish_feedback(feedback)

    def finish(self, status: str, code: str, text: str) -> None:
        """Send the result: "succeeded", "aborted" or "canceled", with a code by name and a text."""
        if self._handle.status == GoalStatus.STATUS_ACCEPTED:  # a goal cannot end in this state
            self.begin()
        ends = {
            "succeeded": self._handle.succeed,
            "aborted": self._handle.abort,
            "canceled": self._handle.canceled,
        }
        ends[status]()
        result = FollowJointTrajectory.Result(
            error_code=getattr(FollowJointTrajectory.Result, code), error_string=text
        )
        self._server.answer(self._handle, result)


def offer_trajectory_actions(
    part: NodePart, inputs: RobotInputs, robot, prefix: str, clock: SimulationClock
) -> None:
    """Make the actions of a robot. `prefix` begins the names of the topics."""
    for name, joints in joints_of_actions(
        robot.joint_names, parameters.value_of(part, "trajectory_groups")
    ).items():
        goals = inputs.follow_goals(TrajectoryServer(part, prefix + name, clock), joints)
        part.before_destruction(partial(goals.abort_all, "the robot was removed or unloaded"))


def joints_of_actions(names: Sequence[str], groups: Sequence[str]) -> Mapping[str, list[str]]:
    """Return the joints of each action: all `names` for the robot, and one action for each group.

    groups: texts "name:=pattern" with a regular expression. A group without any of these joints has
    no action. Raises ParameterError for an invalid ROS name or an invalid pattern.
    """
    actions = {ACTION: list(names)}
    for group, pattern in parameters.named_values("trajectory_groups", list(groups)).items():
        if not (group.isidentifier() and group.isascii()):
            raise parameters.ParameterError(
                f"trajectory_groups: {group!r} must be a valid name in ROS"
            )
        try:
            joints = [name for name in names if re.fullmatch(pattern, name)]
        except re.error as error:
            raise parameters.ParameterError(
                f"trajectory_groups: {group!r} has the pattern {pattern!r}: {error}"
            ) from error
        if joints:
            actions[f"{group}_controller/{ACTION}"] = joints
    return actions
