# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topics that command one robot, live or recorded. Needs no ROS."""

from __future__ import annotations

from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock, StampedQueue
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
from hrpsim.world.objects.body import rotation_matrix

if TYPE_CHECKING:
    from geometry_msgs.msg import WrenchStamped


_LARGEST = 1e6  # [N] or [Nm], far above realistic values
# The topics that command joints. In lockstep a message on any of them answers a tick.
COMMANDS: dict[str, type[JointCommands]] = {
    "joint_commands": JointCommands,
    "dynamic_joint_commands": DynamicJointCommands,
}


@dataclass
class _Push:
    wrench: np.ndarray  # force [N], torque [Nm] in the link's frame (6,)
    first_step: int


class AppliedWrenches(RobotInput):
    """Applies each wrench to the link named in the header, at the origin of the link, in its axes.

    A wrench acts in full for `duration` [s] of simulated time, then falls linearly to zero within
    `ramp` [s]. A new wrench for the same link replaces the running wrench. A zero wrench ends the
    running wrench.
    """

    def __init__(
        self,
        queue: MessageQueue,
        rejections: Rejections,
        robot,
        frames: RobotFrames,
        clock: SimulationClock,
    ) -> None:
        super().__init__(queue, rejections)
        self.duration = 0.0
        self.ramp = 0.0
        self._robot = robot
        self._clock = clock
        self._links = {frames.of_link(link): link for link in robot.model.link_names}
        self._pushes: dict[str, _Push] = {}

    def validate(self, message: WrenchStamped) -> tuple[str, np.ndarray]:
        """Return the link and the wrench (6,). Raise WorldError for an invalid wrench."""
        name = message.header.frame_id
        link = self._links.get(name, name)
        if link not in self._robot.model.frames:
            raise WorldError(f"header.frame_id: {unknown_name('link', name, self._links)}")
        if self._robot.model.frame(link).body < 0:
            raise WorldError(f"link {link!r} is fixed to the world")
        parts = message.wrench.force, message.wrench.torque
        wrench = np.array([getattr(part, axis) for part in parts for axis in "xyz"])
        if not (np.abs(wrench) <= _LARGEST).all():
            raise WorldError(
                f"the wrench on {link!r} must be finite and at most {_LARGEST:g} N or Nm"
            )
        return link, wrench

    def accept(self, request: tuple[str, np.ndarray]) -> None:
        """Start a wrench on a link. A zero wrench ends the running wrench."""
        link, wrench = request
        if wrench.any():
            self._pushes[link] = _Push(wrench, self._clock.steps)
        else:
            self._pushes.pop(link, None)

    def apply(self) -> None:
        """Apply the wrenches for the next step."""
        for link, push in list(self._pushes.items()):
            fraction = self._mean_fraction(
                (self._clock.steps - push.first_step) * self._clock.time_step
            )
            if fraction <= 0.0:
                del self._pushes[link]
                continue
            R = rotation_matrix(self._robot.link_pose(link)[1])
            force, torque = fraction * push.wrench[:3], fraction * push.wrench[3:]
            self._robot.apply_wrench(link, R @ force, R @ torque)

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before a wrench changes."""
        return 1 if self._pushes else super().steps_to_next(most)

    def reset(self) -> None:
        """End all wrenches and drop the messages that have arrived."""
        super().reset()
        self._pushes.clear()

    def _mean_fraction(self, time: float) -> float:
        """Return the mean fraction of a wrench that acts in the step that begins at `time` [s].

        `time` counts from the start of the wrench. Because of the mean, the total impulse is wrench
        * (duration + ramp / 2).
        """
        step = self._clock.time_step
        return (self._reach(time + step) - self._reach(time)) / step

    def _reach(self, time: float) -> float:
        """Return the integral of the wrench's fraction from 0 to `time` [s]."""
        faded = min(max(time - self.duration, 0.0), self.ramp)
        return min(time, self.duration) + (faded * (1.0 - 0.5 * faded / self.ramp) if faded else 0)


class RobotInputs:
    """The inputs of one robot, one for each topic. `all` has the inputs in the order of `apply`.

    Args:
        robot: the robot.
        frames: names of the robot's frames.
        clock: simulated time.
        report: counters and logger for invalid messages.
        source: returns the subscription of a topic, or None for an unknown topic.
        in_lockstep: makes the queues of the topics in COMMANDS. None: a robot without lockstep.
        over: time over which position targets move [s]. None: the time since the previous command.
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
        for receiver in (*self.commands, *self._followers):
            receiver.off = joints


class Report(NamedTuple):
    """The counters and the logger with which inputs report invalid messages."""

    rejections: Rejections
    logger: Any
