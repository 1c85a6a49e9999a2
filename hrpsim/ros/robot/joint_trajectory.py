"""The topic joint_trajectory: joints follow the points of a trajectory_msgs/JointTrajectory."""

from __future__ import annotations

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from hrpsim.errors import WorldError, unknown_name
from hrpsim.ros.base import qos
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.rejections import Rejections
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.robot.joint_gains import joints_with_gains
from hrpsim.ros.robot.trajectory import JointMotion, motion_through

_LONGEST_LEAD = 60.0  # [s]; a stamp further ahead is taken for another clock's


class JointTrajectories:
    """Runs one trajectory at a time on a robot; the next one replaces it from where it is.

    It starts at the header's stamp, or at once where that is zero; one whose stamp has passed is
    joined in its course. `act` sets the targets for the end of the step to come.
    """

    def __init__(
        self, node: Node, robot, clock: SimulationClock, topic: str, rejections: Rejections
    ):
        self._robot = robot
        self._clock = clock
        self._subscription = PolledSubscription(node, JointTrajectory, topic, qos.COMMAND)
        self._rejections = rejections
        self._places = {joint.name: joint.v_index for joint in robot.model.joints}
        self._gains = joints_with_gains(robot)
        self._motion: JointMotion | None = None
        self._start = 0  # the step at which the motion begins
        self.accepted_count = 0

    @property
    def topic(self) -> str:
        """The full topic name."""
        return self._subscription.topic

    def take(self) -> None:
        """Take in what has arrived."""
        for message, _ in self._subscription.take_all():
            self._rejections.follow(self._take, message, self.topic, "what runs goes on")

    def act(self) -> None:
        """Command what the running trajectory asks for at the end of the step to come."""
        if self._motion is None or self._clock.steps < self._start:
            return
        time = (self._clock.steps + 1 - self._start) * self._clock.time_step
        self._command(*self._motion.at(time))
        if time >= self._motion.duration:
            self._motion = None

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before a target changes."""
        if self._motion is None:
            return most
        return min(most, max(1, self._start - self._clock.steps))

    def release(self, names) -> None:
        """Leave joints to those who command them otherwise."""
        if self._motion is not None and not set(names).isdisjoint(self._motion.names):
            self._motion = self._motion.without(set(names))

    def discard(self) -> None:
        """Drop the running trajectory and all that has arrived."""
        self._motion = None
        for _ in self._subscription.take_all():
            pass

    def _take(self, message: JointTrajectory) -> None:
        names = list(message.joint_names)
        for name in names:
            if name not in self._robot.joint_names:
                raise WorldError(unknown_name("joint", name, self._robot.joint_names))
            if name not in self._gains:
                raise WorldError(f"joint {name!r} has no gains, so it cannot follow positions")
        if len(set(names)) != len(names):
            raise WorldError("a joint is named twice")
        if not message.points:
            self._stop()
            self.accepted_count += 1
            return
        if not names:
            raise WorldError("the message names no joint")
        start = self._starting_step(message)
        motion = self._motion_of(message, names)
        if (self._clock.steps - start) * self._clock.time_step >= motion.duration > 0.0:
            raise WorldError("its stamp has passed so long ago that it would be over by now")
        self._stop()
        self._motion, self._start = motion, start
        self.accepted_count += 1

    def _starting_step(self, message: JointTrajectory) -> int:
        stamp = message.header.stamp
        if stamp.sec == 0 and stamp.nanosec == 0:
            return self._clock.steps
        step = self._clock.step_at(stamp)
        if (step - self._clock.steps) * self._clock.time_step > _LONGEST_LEAD:
            raise WorldError(
                f"its stamp is more than {_LONGEST_LEAD:g} s ahead of simulated time; zero is now"
            )
        return step

    def _motion_of(self, message: JointTrajectory, names: list[str]) -> JointMotion:
        times = [p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points]
        with_velocities = [len(p.velocities) > 0 for p in message.points]
        if any(with_velocities) and not all(with_velocities):
            k = with_velocities.index(False)
            raise WorldError(f"point {k} has no velocities, others have; give all or none")
        return motion_through(
            names,
            times,
            [p.positions for p in message.points],
            [p.velocities for p in message.points] if all(with_velocities) else None,
            *self._targets(names),
        )

    def _targets(self, names) -> tuple[np.ndarray, np.ndarray]:
        """Return the position targets of joints, or where they are, and the targets' velocities."""
        places = [self._robot.first_v + self._places[name] for name in names]
        control = self._robot.world.scene.control[places]
        positions = dict(zip(self._robot.joint_names, self._robot.joint_positions))
        held = control["kp"] > 0.0
        measured = np.array([positions[name] for name in names])
        return (
            np.where(held, control["target_position"], measured),
            np.where(held, control["target_velocity"], 0.0),
        )

    def _stop(self) -> None:
        """Let the joints of the running trajectory stand where it has brought them."""
        if self._motion is not None and self._clock.steps > self._start:
            positions, velocities = self._targets(self._motion.names)
            self._command(positions, np.zeros_like(velocities))
        self._motion = None

    def _command(self, positions, velocities) -> None:
        self._robot.command(names=self._motion.names, positions=positions, velocities=velocities)
