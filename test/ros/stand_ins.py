# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What stands for ROS around a Simulation: topics, robots, publications, a log. Needs no ROS."""

from types import SimpleNamespace

from hrpsim import World, load_model
from hrpsim.ros.base.entities import Entities
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import SimulationClock, StampedQueue
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.robot.joint_commands import IntervalInterpolation, JointCommands
from hrpsim.ros.robot.lockstep import Lockstep, LockstepSettings

ARM = """<robot name="arm"><link name="world"/><link name="b"><inertial><mass value="1"/>
<origin xyz="0.1 0 0"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
</inertial></link><joint name="j" type="continuous"><parent link="world"/><child link="b"/>
<axis xyz="0 0 1"/></joint><hrpsim reference="j"><gains kp="100" kd="10"/></hrpsim></robot>"""


class Topic:
    """What a PolledSubscription does, filled by hand."""

    topic = "/joint_commands"

    def __init__(self):
        self.arrived = []
        self.publishers = 1

    def take_all(self):
        while self.arrived:
            yield self.arrived.pop(0), {}

    def publisher_count(self):
        return self.publishers

    def wait(self, longest):
        pass


class Log:
    """Takes what a logger would."""

    def __init__(self):
        self.lines = []

    def info(self, text):
        self.lines.append(text)

    error = warning = info


class Robots:
    """One arm that listens to joint_commands."""

    def __init__(self, commands, lockstep):
        self.inputs = [commands]
        self.locksteps = [lockstep] if lockstep else []
        self.added, self.dropped, self.held = [], 0, []
        self.problem, self.holding = None, lambda: None

    def wait(self, longest):
        return all(one.wait(longest, self.inputs[0].poll) for one in self.locksteps)

    def add(self, robot, namespace):
        self.added.append(robot.name)
        return f"{namespace or robot.name}/"

    def drop_removed(self):
        self.dropped += 1

    def check(self, world):
        if self.problem:
            raise self.problem

    def hold(self, world):
        self.held.append(world)
        if error := self.holding():
            raise error

    def reset(self):
        for one in self.inputs:
            one.reset()


class Publications:
    """Keeps the times of what is published, every 5 steps."""

    PERIOD = 5

    def __init__(self, clock):
        self._clock = clock
        self.times, self.repeated, self.held = [], 0, []

    def hold(self, world):
        self.held.append(world)

    @property
    def is_due(self):
        return self._clock.steps % self.PERIOD == 0

    def steps_to_next(self):
        return self.PERIOD - self._clock.steps % self.PERIOD

    def publish(self, everything=False):
        self.times.append(self._clock.steps)

    def publish_slowly(self, everything):
        pass

    def repeat_if_due(self):
        self.repeated += 1


class Rig:
    """A Simulation of an arm, with stand-ins for all that ROS does around it."""

    def __init__(self, policy=None, timeout=0.02, interpolates=False, **options):
        world = World(time_step=1e-3)
        self.robot = world.add_robot(load_model(ARM, base="fixed"))
        self.log, self.topic = Log(), Topic()
        faults = Faults(lambda: self.log)
        clock = SimulationClock(world.time_step)
        rejections = self.rejections = Rejections(self.log, faults)
        self.lockstep = None
        if policy:
            settings = LockstepSettings(5e-3, timeout, policy)
            self.lockstep = Lockstep(clock, rejections, self.log, settings)
        queue = self.lockstep.queue(self.topic) if policy else StampedQueue(self.topic, clock)
        self.commanded = []
        self.commands = JointCommands(
            queue,
            rejections,
            self.robot,
            self.commanded.extend,
            self.log,
            nan_holds=not policy,
            interpolation=IntervalInterpolation(self.robot, clock) if interpolates else None,
        )
        self.robots, self.publications = Robots(self.commands, self.lockstep), Publications(clock)
        self.simulation = Simulation(
            Entities(world), clock, self.robots, self.publications, faults, **options
        )

    def send(self, steps=0, **fields):
        """Let a message arrive with the stamp of a number of steps."""
        stamp = SimpleNamespace(sec=0, nanosec=steps * 1_000_000)
        fields = {"name": ["j"], "position": [], "velocity": [], "effort": []} | fields
        self.topic.arrived.append(SimpleNamespace(header=SimpleNamespace(stamp=stamp), **fields))

    @property
    def target(self):
        return float(self.simulation.world.scene.control["target_position"][0])
