# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The ROS interface of one robot: publications, subscriptions and parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from geometry_msgs.msg import PoseStamped, WrenchStamped
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from hrpsim.common.errors import optional_module
from hrpsim.engine.sensors.noise import NoiseLevels
from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.faults import Rejections
from hrpsim.ros.base.guarded_node import NodePart
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.stamps import SimulationClock, Stamp
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.joint_commands import JointCommands
from hrpsim.ros.robot.lockstep import Lockstep, LockstepSettings
from hrpsim.ros.robot.part_parameters import JointGains, JointModes, SensorRates
from hrpsim.ros.robot.robot_inputs import Report, RobotInputs
from hrpsim.ros.robot.robot_publishers import (
    CONTACT_POINTS,
    ContactPointPublisher,
    RobotPublishers,
    ZmpPublisher,
)
from hrpsim.ros.robot.robot_transforms import RobotTransforms
from hrpsim.ros.robot.sample_publishers import sample_publishers
from hrpsim.ros.robot.step_sensors import SensorReadings

_TYPES = {
    "joint_commands": JointState,
    "set_joint_states": JointState,
    "set_base_pose": PoseStamped,
    "joint_trajectory": JointTrajectory,
    "apply_wrench": WrenchStamped,
}


def _types(log: Callable[[str], object]) -> dict[str, type]:
    """Return the message types of the topics.

    `log` receives the consequence of a missing package.
    """
    control_msgs = optional_module(
        "control_msgs.msg",
        "no dynamic_joint_commands, follow_joint_trajectory, solver, energy, link_contacts",
        log,
    )
    if control_msgs is None:
        return _TYPES
    return _TYPES | {"dynamic_joint_commands": control_msgs.DynamicJointState}


class RobotNames(NamedTuple):
    """Prefixes of a robot's names in ROS. All are empty for the only robot of a world."""

    topics: str = ""  # prefix of its topics
    frames: str = ""  # prefix of its frames
    parameters: str = ""  # part of the names of its parameters


class RobotInterface:
    """The topics and parameters of one robot, which `part` creates on the node.

    With `lockstep`, simulated time waits for commands.
    """

    def __init__(
        self,
        part: NodePart,
        robot,
        names: RobotNames,
        clock: SimulationClock,
        levels: NoiseLevels,
        *,
        lockstep: bool,
    ) -> None:
        def value(name):
            return parameters.value_of(part, name)

        self.robot = robot
        self.names = names
        self.part = part
        self.frames = RobotFrames(
            robot.model, value("frame_prefix") + value("odom_frame"), names.frames
        )
        self.gains = JointGains(part, robot, "gains." + names.parameters)
        self.rates = SensorRates(part, robot, clock, "rates." + names.parameters)
        self.rejections = Rejections(part.get_logger(), part.faults)
        self.readings = SensorReadings(robot, clock, levels)
        self._publishers = RobotPublishers(
            part,
            robot,
            self.frames,
            self.readings,
            odometry=value("publish_odometry") and robot.model.base == "free",
            prefix=names.topics,
        )
        sensors = {s.name for s in robot.model.sensors if s.kind == "force_torque"}
        feet = [name for name in value("foot_sensors") if name in sensors]
        self._zmp = None
        if feet:
            topic = f"{names.topics}zmp"
            self._zmp = ZmpPublisher(part, robot, self.frames.odom, self.readings, feet, topic)
        self._contact_points = ContactPointPublisher(
            part, robot, self.frames.odom, names.topics + CONTACT_POINTS
        )
        self._samples = sample_publishers(part, robot, self.frames, clock, names.topics)
        self._attached: list[Callable[[], None]] = []
        made = self._make_inputs(part, names.topics, clock, lockstep)
        self.inputs, self.commands, self.wrenches = made.all, made.commands, made.wrenches
        self.release = made.release
        self.modes = JointModes(part, robot, made.release, "modes." + names.parameters)
        made.leave_off(self.modes.off)

    def _make_inputs(
        self, part: NodePart, prefix: str, clock: SimulationClock, lockstep: bool
    ) -> RobotInputs:
        self.lockstep, logger = None, part.get_logger()
        types = _types(lambda text: logger.info(text, once=True))

        def source(topic: str) -> PolledSubscription | None:
            if topic not in types:
                return None
            return PolledSubscription(part, types[topic], prefix + topic, qos.COMMAND)

        names = ("control_period", "lockstep_timeout", "lockstep_policy")
        settings = LockstepSettings(*(parameters.value_of(part, name) for name in names))
        over = settings.period if lockstep else None
        if not parameters.value_of(part, "interpolate_commands"):
            over = 0.0
        if lockstep:
            self.lockstep = Lockstep(clock, self.rejections, logger, settings)
        made = RobotInputs(
            self.robot,
            self.frames,
            clock,
            Report(self.rejections, logger),
            source,
            in_lockstep=self.lockstep and self.lockstep.queue,
            over=over,
        )
        if "dynamic_joint_commands" in types and optional_module(
            "control_msgs.action",
            "no follow_joint_trajectory",
            lambda text: logger.info(text, once=True),
        ):
            from hrpsim.ros.robot.trajectory_actions import offer_trajectory_actions

            offer_trajectory_actions(part, made, self.robot, prefix, clock)
        made.wrenches.duration = parameters.value_of(part, "wrench_duration")
        made.wrenches.ramp = parameters.value_of(part, "wrench_ramp")
        return made

    def attach(self, commands: JointCommands, publish: Callable[[], None]) -> None:
        """Add a further topic that commands the joints, and a publication of each state."""
        commands.off = self.modes.off
        self.commands.append(commands)
        self.inputs.append(commands)
        self._attached.append(publish)

    @property
    def accepted_count(self) -> int:
        """The number of accepted messages, on all topics."""
        return sum(robot_input.accepted_count for robot_input in self.inputs)

    def publish(self, stamp: Stamp, period: int, everything: bool) -> None:
        """Publish the joint states and due sensors.

        period: number of steps between publications. If `everything` is set, and at the ticks of
        lockstep, all sensors are published.
        """
        everything = everything or (self.lockstep is not None and self.lockstep.at_tick)
        self.readings.forget()
        self._publishers.publish(stamp, lambda name: everything or self.rates.is_due(name, period))
        if self._zmp is not None:
            self._zmp.publish(stamp)
        self._contact_points.publish(stamp)
        for sample in self._samples:
            sample.publish()
        for publish in self._attached:
            publish()

    def wait(self, longest: float) -> bool:
        """Wait for the command of this tick, at most `longest` [s, wall].

        Return whether steps can be made: the command arrived or is not needed. Raises
        CommandMissed if the policy of lockstep is "abort".
        """
        return self.lockstep is None or self.lockstep.wait(longest, self._poll_commands)

    def _poll_commands(self) -> None:
        for command in self.commands:
            command.poll()

    def reset(self) -> None:
        """Drop arrived, active and waiting messages after a reset.

        Gains and modes do not change.
        """
        for robot_input in self.inputs:
            robot_input.reset()
        self.modes.apply()

    def transforms(self, *, odometry: bool, links: bool) -> RobotTransforms:
        """Return the robot's transforms."""
        return RobotTransforms(self.robot, self.frames, odometry=odometry, links=links)

    def destroy(self) -> None:
        """Remove the robot's topics and parameters from the node."""
        self.part.destroy()
