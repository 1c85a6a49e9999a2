# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Goals of the action FollowJointTrajectory: trajectories with tolerances and a result.

Results are as from joint_trajectory_controller of ros2_controllers. Needs no ROS.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.joint_trajectory import JointTrajectories, TimedMotion

STOPPED_VELOCITY = 0.01  # default tolerance at the end [rad/s or m/s]
GOAL_TIME = 5.0  # default time after the trajectory for reaching the goal tolerances [s]
_FEEDBACK_PERIOD = 0.05  # [s]


class JointState(NamedTuple):
    """Positions and velocities of joints, (joints,) each."""

    positions: np.ndarray
    velocities: np.ndarray


class Goal(Protocol):
    """The interface of a goal that a client has sent."""

    @property
    def request(self) -> Any:
        """The FollowJointTrajectory.Goal."""

    @property
    def is_cancel_requested(self) -> bool:
        """Whether the client has asked to cancel the goal."""

    def begin(self) -> None:
        """Record that the goal is being executed."""

    def report(
        self, names: Sequence[str], time: float, desired: JointState, actual: JointState
    ) -> None:
        """Send feedback. time: since the start of the trajectory [s]."""

    def finish(self, status: str, code: str, text: str) -> None:
        """Send the result: "succeeded", "aborted" or "canceled", with a code by name and a text."""


class Tolerances(NamedTuple):
    """Largest differences (joints,) between desired and actual state. inf means no limit."""

    kind: str  # "path" or "goal"
    positions: np.ndarray
    velocities: np.ndarray

    def violation(self, names: Sequence[str], desired: JointState, actual: JointState) -> str:
        """Return a text with the joint, the violated tolerance and the difference, or ""."""
        for quantity, unit, is_, target, limits in (
            ("position", "rad or m", actual.positions, desired.positions, self.positions),
            ("velocity", "rad/s or m/s", actual.velocities, desired.velocities, self.velocities),
        ):
            difference = np.abs(target - is_)
            beyond = np.flatnonzero(~(difference <= limits))
            if beyond.size:
                k = int(beyond[0])
                return (
                    f"joint {names[k]!r} has the {quantity} {is_[k]:.6g}, {difference[k]:.3g} "
                    f"from the desired {target[k]:.6g}; its {self.kind} tolerance is "
                    f"{limits[k]:g} {unit}"
                )
        return ""


class _Active(NamedTuple):
    goal: Goal
    run: TimedMotion
    path: Tolerances
    end: Tolerances
    goal_time: float  # [s]
    first: int  # first step with a check of the tolerances


class TrajectoryGoals(JointTrajectories):
    """Follows one goal at a time on some `joints` of a robot. A new goal aborts the running goal.

    The queue has Goal objects. A goal that is aborted or cancelled holds the present positions.
    """

    consequence = "the running goal continues"

    def __init__(
        self,
        queue: MessageQueue,
        rejections: Rejections,
        robot,
        clock: SimulationClock,
        joints: Collection[str],
    ) -> None:
        super().__init__(queue, rejections, robot, clock)
        self._joints = list(joints)
        self._active: _Active | None = None

    def poll(self) -> None:
        """Cancel the running goal at the client's request, and accept new goals."""
        if self._active is not None and self._active.goal.is_cancel_requested:
            self._finish("canceled", "SUCCESSFUL", "canceled by the client. Positions are held")
        super().poll()

    def validate(self, message: Any) -> Any:
        """Return the checked request of a goal.

        An invalid goal is aborted, and an error is raised.
        """
        try:
            return self._validated(message)
        except WorldError as error:
            message.finish("aborted", getattr(error, "code", "INVALID_GOAL"), str(error))
            raise

    def accept(self, request: Any) -> None:
        """Abort the running goal and stop its other joints. Follow this goal instead."""
        before, self._active = self._active, request
        super().accept(request.run)
        if before is not None:
            before.goal.finish("aborted", "INVALID_GOAL", "a new goal has replaced this one")
        request.goal.begin()

    def apply(self) -> None:
        """Send the result after the end of the goal.

        Otherwise command the targets for the next step.
        """
        if self._active is not None:
            self._watch(self._active)
        super().apply()

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before the goal must be checked again."""
        if self._active is None:
            return most
        return min(most, max(1, self._active.run.start - self._clock.steps))

    def release(self, names) -> None:
        """Abort the goal if another command reaches one of the joints. Hold the other joints."""
        followed = () if self._active is None else self._active.run.motion.names
        taken = [name for name in followed if name in names]
        if taken:
            text = f"joint {taken[0]!r} was commanded by another message"
            self._finish("aborted", "INVALID_GOAL", text, [n for n in followed if n not in taken])

    def reset(self) -> None:
        """Abort all goals of the time before a reset."""
        self.abort_all("another state of the world was set")
        super().reset()

    def abort_all(self, reason: str) -> None:
        """Abort the waiting and the running goals, without commands to the joints."""
        for goal in self._queue.take_due():
            goal.finish("aborted", "INVALID_GOAL", reason)
        self._finish("aborted", "INVALID_GOAL", reason, ())

    def _check_joints(self, names: Sequence[str]) -> None:
        super()._check_joints(names)
        for name in names:
            if name not in self._joints:
                raise Refusal("INVALID_JOINTS", unknown_name("joint", name, self._joints))
            if name in self.off or name in self._robot.locked:
                raise Refusal(
                    "INVALID_JOINTS", f"joint {name!r} is off or locked. Set its parameter mode"
                )

    def _validated(self, goal: Goal) -> _Active:
        request = goal.request
        several = request.multi_dof_trajectory
        if several.joint_names or several.points:
            raise WorldError(
                "multi_dof_trajectory must be empty, as no joint has several degrees of freedom"
            )
        fields = "component_path_tolerance", "component_goal_tolerance"
        if present := [field for field in fields if getattr(request, field, ())]:
            self._rejections.warn(self.topic, f"{present[0]} has no effect")
        run = super().validate(request.trajectory)
        if run is None:
            raise WorldError("the trajectory has no points")
        names, late = run.motion.names, request.goal_time_tolerance
        return _Active(
            goal,
            run,
            self._tolerances("path", request.path_tolerance, names, np.inf),
            self._tolerances("goal", request.goal_tolerance, names, STOPPED_VELOCITY),
            _tolerance("goal_time_tolerance", late.sec + 1e-9 * late.nanosec, GOAL_TIME),
            max(run.start, self._clock.steps) + 1,
        )

    def _tolerances(
        self, kind: str, given: Sequence[Any], names: Sequence[str], velocity: float
    ) -> Tolerances:
        limits = Tolerances(kind, np.full(len(names), np.inf), np.full(len(names), velocity))
        for tolerance in given:
            where = f"{kind}_tolerance of joint {tolerance.name!r}"
            if tolerance.name not in self._joints:
                raise Refusal(
                    "INVALID_JOINTS",
                    f"{where}: {unknown_name('joint', tolerance.name, self._joints)}",
                )
            position = _tolerance(f"{where}: position", tolerance.position, np.inf)
            rate = _tolerance(f"{where}: velocity", tolerance.velocity, velocity)
            if tolerance.name in names:
                k = names.index(tolerance.name)
                limits.positions[k], limits.velocities[k] = position, rate
        return limits

    def _watch(self, active: _Active) -> None:
        """Compare the present state with the desired state.

        Send feedback, and the result at the end.
        """
        steps, (motion, start) = self._clock.steps, active.run
        if steps < active.first:
            return
        time = (steps - start) * self._clock.time_step
        desired, actual = JointState(*motion.at(time)), self._measured(motion.names)
        if (steps - active.first) % max(1, round(_FEEDBACK_PERIOD / self._clock.time_step)) == 0:
            active.goal.report(motion.names, time, desired, actual)
        late = time - motion.duration
        violation = (active.path if late < 0.0 else active.end).violation(
            motion.names, desired, actual
        )
        if late < 0.0 and violation:
            text = f"{violation}, {time:.4g} s after the start"
            self._finish("aborted", "PATH_TOLERANCE_VIOLATED", text)
        elif late >= 0.0 and not violation:
            self._finish("succeeded", "SUCCESSFUL", "the goal is reached", ())
        elif late > active.goal_time:
            text = f"{violation}, {late:.4g} s after the end of the trajectory"
            self._finish("aborted", "GOAL_TOLERANCE_VIOLATED", text)

    def _measured(self, names: Sequence[str]) -> JointState:
        places = [self._robot.joint_names.index(name) for name in names]
        return JointState(self._robot.joint_positions[places], self._robot.joint_velocities[places])

    def _finish(self, status: str, code: str, text: str, held: Sequence[str] | None = None) -> None:
        """Send the result of the running goal, if any. The joints `held`, by default all, stop."""
        if self._active is None:
            return
        active, self._active, self._run = self._active, None, None
        names = active.run.motion.names if held is None else held
        if names and self._clock.steps >= active.first:
            positions = self._measured(names).positions
            self._robot.command(
                names=names, positions=positions, velocities=np.zeros(len(positions))
            )
        active.goal.finish(status, code, text)


def _tolerance(what: str, value: float, default: float) -> float:
    """Return a tolerance of a goal. 0 stands for `default`, -1 for no limit."""
    if value == -1.0:
        return np.inf
    if not value >= 0.0:
        raise WorldError(
            f"{what} is {value:g}. It must be positive, 0 (the default) or -1 (no limit)"
        )
    return value or default
