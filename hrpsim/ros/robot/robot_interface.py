"""All of one robot that ROS sees and changes: what it publishes and what it listens to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hrpsim.ros.base import parameters
from hrpsim.ros.base.rejections import Rejections
from hrpsim.ros.base.stamps import SimulationClock, Stamp
from hrpsim.ros.robot.applied_wrenches import AppliedWrenches
from hrpsim.ros.robot.base_pose import BasePose
from hrpsim.ros.robot.commands import CommandChannel, JointCommands
from hrpsim.ros.robot.frames import RobotFrames
from hrpsim.ros.robot.joint_gains import PREFIX, JointGains
from hrpsim.ros.robot.joint_trajectory import JointTrajectories
from hrpsim.ros.robot.lockstep import Lockstep
from hrpsim.ros.robot.node_part import NodePart
from hrpsim.ros.robot.robot_publishers import RobotPublishers
from hrpsim.ros.robot.robot_transforms import RobotTransforms
from hrpsim.ros.robot.sensor_noise import NoiseLevels
from hrpsim.ros.robot.sensor_readings import SensorReadings
from hrpsim.ros.robot.zmp_publisher import ZmpPublisher


class Place(NamedTuple):
    """Where a robot stands in the names of ROS; all empty for the only robot of a world."""

    topics: str = ""  # prefix of its topics
    frames: str = ""  # prefix of its frames
    parameters: str = ""  # part of the names of its parameters


class RobotInterface:
    """Topics and parameters of one robot, made on `part`; with `lockstep` time waits for it."""

    def __init__(
        self,
        part: NodePart,
        robot,
        place: Place,
        clock: SimulationClock,
        levels: NoiseLevels,
        *,
        lockstep: bool,
    ):
        def value(name):
            return parameters.value_of(part, name)

        self.robot = robot
        self._part = part
        self.frames = RobotFrames(
            robot.model, value("frame_prefix") + value("odom_frame"), place.frames
        )
        self.gains = JointGains(part, robot, PREFIX + place.parameters)
        self.rejections = Rejections(part.get_logger(), part.faults)
        self._readings = SensorReadings(robot, clock, levels)
        self._publishers = RobotPublishers(
            part,
            robot,
            self.frames,
            self._readings,
            odometry=value("publish_odometry") and robot.model.base == "free",
            prefix=place.topics,
        )
        sensors = {s.name for s in robot.model.sensors if s.kind == "force_torque"}
        feet = [name for name in value("foot_sensors") if name in sensors]
        self._zmp = None
        if feet:
            topic = f"{place.topics}zmp"
            self._zmp = ZmpPublisher(part, robot, self.frames, self._readings, feet, topic)
        self._listen(part, place.topics, clock, lockstep)

    def _listen(self, part: NodePart, prefix: str, clock: SimulationClock, lockstep: bool) -> None:
        robot, rejections = self.robot, self.rejections
        self.trajectories = JointTrajectories(
            part, robot, clock, f"{prefix}joint_trajectory", rejections
        )
        channel = CommandChannel(
            part, robot, clock, f"{prefix}joint_commands", rejections, self._commanded
        )
        self.lockstep: Lockstep | None = None
        if lockstep:
            self.lockstep = Lockstep(
                channel,
                period=parameters.value_of(part, "control_period"),
                timeout=parameters.value_of(part, "lockstep_timeout"),
                policy=parameters.value_of(part, "lockstep_policy"),
                interpolate=parameters.value_of(part, "interpolate_commands"),
            )
        self.commands = self.lockstep or JointCommands(channel)
        self.wrenches = AppliedWrenches(
            part, robot, self.frames, clock, f"{prefix}apply_wrench", rejections
        )
        self.wrenches.duration = parameters.value_of(part, "wrench_duration")
        self.wrenches.ramp = parameters.value_of(part, "wrench_ramp")
        self._acting = [self.trajectories, self.wrenches]
        if robot.model.base == "free":
            topic = f"{prefix}set_base_pose"
            self._acting.insert(0, BasePose(part, robot, self.frames, topic, rejections))
        self._inputs = [self.commands, *self._acting]

    @property
    def accepted_count(self) -> int:
        """How many messages were followed, on all topics."""
        return sum(taken.accepted_count for taken in self._inputs)

    def publish(self, stamp: Stamp) -> None:
        """Publish what the robot's sensors and encoders say."""
        self._readings.forget()
        self._publishers.publish(stamp)
        if self._zmp is not None:
            self._zmp.publish(stamp)

    def take(self) -> None:
        """Take in what has arrived on all topics."""
        for taken in self._inputs:
            taken.take()

    def act(self) -> None:
        """Do what messages ask for during the step to come."""
        for taken in self._acting:
            taken.act()

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before `act` is needed again."""
        for timed in (self.commands, self.trajectories, self.wrenches):
            most = timed.steps_to_next(most)
        return most

    def begin_anew(self) -> None:
        """After a reset: drop all that has arrived, runs or waits; keep the gains."""
        for taken in self._inputs:
            taken.discard()
        self.gains.apply()

    def transforms(self, *, odometry: bool, links: bool) -> RobotTransforms:
        """Return the robot's transforms."""
        return RobotTransforms(self.robot, self.frames, odometry=odometry, links=links)

    def destroy(self) -> None:
        """Take topics and parameters off the node."""
        self._part.destroy()

    def _commanded(self, names: Sequence[str]) -> None:
        self.trajectories.release(names)
