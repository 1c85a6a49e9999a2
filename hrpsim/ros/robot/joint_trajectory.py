# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The topic joint_trajectory: joints follow the points of a JointTrajectory.

Needs no ROS.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.interpolate import BPoly

from hrpsim.common.errors import WorldError, unknown_name
from hrpsim.engine.step.scene.status import LARGEST_COMMAND
from hrpsim.ros.base.entities import Refusal
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.robot.part_parameters import joints_with_gains
from hrpsim.ros.robot.robot_input import RobotInput
from hrpsim.world.objects.plausibility import LONGEST_RAMP, contradiction, listed, long_period

if TYPE_CHECKING:
    from trajectory_msgs.msg import JointTrajectory

_AT_REST = 1e-7  # largest velocity at a last point [rad/s or m/s]
_LONGEST_LEAD = 60.0  # [s], a stamp further ahead is of another clock


class TrajectoryMotion:
    """Positions and velocities of `names` against time since the start of the motion.

    The interpolation is as in joint_trajectory_controller of ros2_controllers. With positions only,
    the motion is piecewise linear. With velocities, it consists of cubic polynomials, continuous in
    velocity. With accelerations too, it consists of quintic polynomials, continuous in
    acceleration.

    Args:
        names: names of the joints.
        times: times of the points, ascending (n,) [s], the first at 0.
        given: positions, then velocities, then accelerations, the last two optional (1 to 3, n,
            joints).
    """

    def __init__(self, names: Sequence[str], times: np.ndarray, given: np.ndarray) -> None:
        self.names = tuple(names)
        self._times, self._points = times, given
        if len(times) > 1:
            self._positions = BPoly.from_derivatives(times, given.swapaxes(0, 1))
            self._velocities = self._positions.derivative()

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self._times[-1])

    def mean_motion(self) -> tuple[float, np.ndarray]:
        """Return the longest time between two points [s], and the largest mean speeds (joints,)."""
        if len(self._times) < 2:
            return 0.0, np.zeros(len(self.names))
        periods = np.diff(self._times)
        distances = np.abs(np.diff(self._points[0], axis=0))
        return periods.max(), (distances / periods[:, None]).max(axis=0)

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the state of the motion at `time` [s] after its start.

        After the end the joints are at rest.

        Returns:
            (positions (joints,), velocities (joints,)).
        """
        if time >= self.duration:
            return self._points[0, -1].copy(), np.zeros(len(self.names))
        return self._positions(time), self._velocities(time)

    def without(self, names) -> TrajectoryMotion | None:
        """Return the motion without some joints, or None if no joints remain."""
        columns = [k for k, name in enumerate(self.names) if name not in names]
        if not columns:
            return None
        return TrajectoryMotion(
            [self.names[k] for k in columns], self._times, self._points[:, :, columns]
        )


class TrajectoryPoints(NamedTuple):
    """The points of a trajectory. A field is None if no point has values."""

    times: Sequence[float]  # (n,) [s]
    positions: Sequence[Sequence[float]]  # (n, joints)
    velocities: Sequence[Sequence[float]] | None = None
    accelerations: Sequence[Sequence[float]] | None = None


def _check_times(times: np.ndarray) -> None:
    """Raise WorldError unless the times of the points (n,) [s] ascend from 0 or later."""
    if times[0] < 0.0:
        raise WorldError(f"point 0 is at {times[0]:g} s. Times must be >= 0")
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if late.size:
        k = int(late[0])
        raise WorldError(f"point {k + 1} is at {times[k + 1]:g} s, not after point {k}")


def _check_rows(names: Sequence[str], what: str, rows: Sequence[Sequence[float]]) -> None:
    """Raise WorldError unless each row has one finite value, within bounds, for each joint."""
    for k, row in enumerate(rows):
        if len(row) != len(names):
            raise WorldError(f"point {k} has {len(row)} {what} for {len(names)} joints")
        bad = np.flatnonzero(~(np.abs(row) <= LARGEST_COMMAND))
        if bad.size:
            raise WorldError(
                f"{what} of joint {names[bad[0]]!r} in point {k} are {row[bad[0]]}. A command "
                f"must be finite and at most {LARGEST_COMMAND:g}"
            )


def motion_through(names, points: TrajectoryPoints, start, start_velocity) -> TrajectoryMotion:
    """Return the motion from `start` (joints,) through the points.

    A first point at time 0 replaces `start`. Accelerations are ignored without velocities. Raises
    WorldError for a point that does not fit, and for a last point that is not at rest.
    """
    times = np.asarray(points.times, dtype=np.float64)
    _check_times(times)
    derivatives = []
    for field, rows in zip(TrajectoryPoints._fields[1:], points[1:]):
        if rows is None:
            break
        _check_rows(names, field, rows)
        derivatives.append(np.asarray(rows, dtype=np.float64))
    for name, rate in zip(names, derivatives[1][-1] if len(derivatives) > 1 else ()):
        if abs(rate) > _AT_REST:
            raise WorldError(
                f"the last point has the velocity {rate:g} of joint {name!r}. It must be 0"
            )
    if times[0] > 0.0:
        times = np.concatenate([[0.0], times])
        first = start, start_velocity, np.zeros(len(names))
        derivatives = [np.vstack([at_first, rows]) for at_first, rows in zip(first, derivatives)]
    return TrajectoryMotion(names, times, np.array(derivatives))


class TimedMotion(NamedTuple):
    """A motion and its starting step."""

    motion: TrajectoryMotion
    start: int  # step of the start


class JointTrajectories(RobotInput):
    """Runs one trajectory at a time on a robot, from the present targets.

    A trajectory starts at the header's stamp, or at once if the stamp is zero. A trajectory with a
    past stamp continues at the present time. `apply` sets the targets for the end of the next step.
    """

    consequence = "the running trajectory continues"

    def __init__(
        self, queue: MessageQueue, rejections: Rejections, robot, clock: SimulationClock
    ) -> None:
        super().__init__(queue, rejections)
        self._robot = robot
        self._clock = clock
        self._indices = {joint.name: joint.v_index for joint in robot.model.joints}
        self._gains = joints_with_gains(robot)
        self._run: TimedMotion | None = None
        self.off: AbstractSet[str] = frozenset()  # joints that do not receive commands
        self.others: Sequence[JointTrajectories] = ()  # these lose the joints of an accepted run

    def validate(self, message: JointTrajectory) -> Any:
        """Return the checked motion of a trajectory message, or None for a request to stop.

        Raises WorldError for an invalid trajectory. If the joints or the stamp are the cause, the
        error is a Refusal with the code INVALID_JOINTS or OLD_HEADER_TIMESTAMP of
        FollowJointTrajectory.
        """
        names = list(message.joint_names)
        self._check_joints(names)
        if not message.points:
            return None
        if not names:
            raise Refusal("INVALID_JOINTS", "the message names no joint")
        start = self._starting_step(message)
        motion = self._motion_of(message, names)
        if (self._clock.steps - start) * self._clock.time_step >= motion.duration > 0.0:
            raise Refusal(
                "OLD_HEADER_TIMESTAMP",
                "the stamp is in the past, and the trajectory would have ended already",
            )
        for text in self._doubts(names, message.points, motion):
            self._rejections.warn(self.topic, text)
        return TimedMotion(motion, start)

    def accept(self, request: Any) -> None:
        """Stop the running trajectory at the present point, and run this trajectory instead."""
        run: TimedMotion | None = request
        self._stop()
        if run is not None and not self.off.isdisjoint(run.motion.names):
            motion = run.motion.without(self.off)
            run = None if motion is None else run._replace(motion=motion)
        self._run = run
        for other in self.others:
            other.release(() if run is None else run.motion.names)

    def apply(self) -> None:
        """Command the targets of the running trajectory at the end of the next step."""
        if self._run is None or self._clock.steps < self._run.start:
            return
        motion, start = self._run
        time = (self._clock.steps + 1 - start) * self._clock.time_step
        self._command(motion, *motion.at(time))
        if time >= motion.duration:
            self._run = None

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before a target changes."""
        if self._run is None:
            return most
        return min(most, max(1, self._run.start - self._clock.steps))

    def release(self, names) -> None:
        """Take joints out of the trajectory. Other commands now apply to these joints."""
        if self._run is not None and not set(names).isdisjoint(self._run.motion.names):
            motion = self._run.motion.without(set(names))
            self._run = None if motion is None else self._run._replace(motion=motion)

    def reset(self) -> None:
        """Drop the running trajectory and the messages that have arrived."""
        super().reset()
        self._run = None

    def _check_joints(self, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._robot.joint_names:
                raise Refusal(
                    "INVALID_JOINTS", unknown_name("joint", name, self._robot.joint_names)
                )
            if name not in self._gains:
                text = f"joint {name!r} has no gains, so it cannot follow positions"
                raise Refusal("INVALID_JOINTS", text)
            if names.count(name) > 1:
                text = f"the message names joint {name!r} more than once"
                raise Refusal("INVALID_JOINTS", text)

    def _starting_step(self, message: JointTrajectory) -> int:
        stamp = message.header.stamp
        if stamp.sec == 0 and stamp.nanosec == 0:
            return self._clock.steps
        step = self._clock.step_at(stamp)
        if (step - self._clock.steps) * self._clock.time_step > _LONGEST_LEAD:
            raise WorldError(
                f"the stamp is more than {_LONGEST_LEAD:g} s ahead of simulated time. Zero means "
                "now"
            )
        return step

    def _motion_of(self, message: JointTrajectory, names: list[str]) -> TrajectoryMotion:
        times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
        points = TrajectoryPoints(
            times,
            [p.positions for p in message.points],
            _given_in_all("velocities", message.points),
            _given_in_all("accelerations", message.points),
        )
        motion = motion_through(names, points, *self._targets(names))
        positions, velocities = np.array(points.positions), np.array(points.velocities or [])
        self._check_plausible(names, times, positions, velocities)
        return motion

    def _check_plausible(self, names, times, positions, velocities) -> None:
        """Raise WorldError for points beyond limits or velocities that contradict the points."""
        for k, row in enumerate(positions):
            values = {"positions": row}
            if len(velocities):
                values["velocities"] = velocities[k]
            if beyond := self._robot.limits.beyond(names, values):
                raise WorldError(f"point {k}: {listed(beyond)}")
        for name, own, rates in zip(names, positions.T, velocities.T):
            if text := contradiction(np.array(times), own, rates):
                raise WorldError(f"joint {name!r}: {text}")

    def _doubts(self, names, points, motion: TrajectoryMotion) -> Iterator[str]:
        """Yield warnings about an accepted trajectory, such as fields without effect."""
        if any(len(point.effort) for point in points):
            yield "efforts of points have no effect"
        if any(len(point.accelerations) and not len(point.velocities) for point in points):
            yield "accelerations of points have no effect without velocities"
        longest, speeds = motion.mean_motion()
        if text := long_period("the time between two points", longest, LONGEST_RAMP, "a motion"):
            yield text
        if beyond := self._robot.limits.beyond(names, {"velocities": speeds}):
            yield f"the points are too far apart in position or too close in time: {listed(beyond)}"

    def _targets(self, names) -> tuple[np.ndarray, np.ndarray]:
        """Return the present targets of joints.

        Returns:
            (target positions, target velocities), each (k,). For a joint without position control
            these are the measured position and 0.
        """
        indices = [self._robot.first_v + self._indices[name] for name in names]
        control = self._robot.world.scene.control[indices]
        positions = dict(zip(self._robot.joint_names, self._robot.joint_positions))
        has_gains = control["kp"] > 0.0
        measured = np.array([positions[name] for name in names])
        return (
            np.where(has_gains, control["target_position"], measured),
            np.where(has_gains, control["target_velocity"], 0.0),
        )

    def _stop(self) -> None:
        """Hold the joints of the running trajectory at the present targets."""
        if self._run is not None and self._clock.steps > self._run.start:
            positions, velocities = self._targets(self._run.motion.names)
            self._command(self._run.motion, positions, np.zeros_like(velocities))
        self._run = None

    def _command(self, motion: TrajectoryMotion, positions, velocities) -> None:
        self._robot.command(names=motion.names, positions=positions, velocities=velocities)


def _given_in_all(field: str, points: Sequence[Any]) -> list[Sequence[float]] | None:
    """Return a field of all points, or None.

    Raise WorldError if only some points have the field.
    """
    rows = [getattr(point, field) for point in points]
    lacking = [k for k, row in enumerate(rows) if not len(row)]
    if lacking and len(lacking) < len(rows):
        raise WorldError(
            f"point {lacking[0]} has no {field}, but other points have. Give all or none"
        )
    return None if lacking else rows
