# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Replay: recorded commands in a new world, compared with recorded states. Needs no ROS."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bag.reader import BagError
from hrpsim.common.errors import require_name
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.stamps import MessageQueue, SimulationClock
from hrpsim.ros.replay.recorded_run import (
    INPUTS,
    Arrival,
    RecordedState,
    RecordedTopics,
    nanoseconds,
)
from hrpsim.ros.robot.frame_names import RobotFrames
from hrpsim.ros.robot.robot_input import RobotInput
from hrpsim.ros.robot.robot_inputs import COMMANDS, Report, RobotInputs
from hrpsim.world.file.load_world import WORLD_FORMATS, build_world, load_world, open_world_text

FIELDS = ("position", "velocity", "effort")
_DEFAULTS = {
    "lockstep": False,
    "control_period": 0.005,
    "interpolate_commands": True,
    "wrench_duration": 0.1,
    "wrench_ramp": 0.02,
}


class Departure(NamedTuple):
    """The first number that differs from the recording."""

    time: float  # simulated time [s]
    robot: str
    joint: str
    field: str  # one of FIELDS
    recorded: float
    replayed: float


class StateComparison:
    """Comparison of states with recorded states, up to `tolerance`. 0 compares bit for bit."""

    def __init__(self, tolerance: float) -> None:
        self.tolerance = tolerance
        self.count = 0  # number of states
        self.departure: Departure | None = None
        self.largest = dict.fromkeys(FIELDS, 0.0)

    def add(self, time: float, robot, recorded: RecordedState) -> None:
        """Compare the present state of a robot with a recorded state."""
        self.count += 1
        present = robot.joint_positions, robot.joint_velocities, robot.joint_efforts
        for name in recorded.names:
            require_name("recorded joint", name, robot.joint_names)
        indices = [robot.joint_names.index(name) for name in recorded.names]
        replayed = np.array(present)[:, indices]
        gaps = np.abs(replayed - recorded.values)
        gaps[np.isnan(gaps)] = np.inf  # a recorded NaN counts as a difference
        for field, gap in zip(FIELDS, gaps):
            self.largest[field] = max(self.largest[field], float(gap.max(initial=0.0)))
        off = gaps > self.tolerance
        if self.departure is None and off.any():
            row, k = np.argwhere(off)[0]
            values = float(recorded.values[row, k]), float(replayed[row, k])
            self.departure = Departure(time, robot.name, recorded.names[k], FIELDS[row], *values)


class RecordedTopic:
    """A substitute for PolledSubscription with recorded messages, which arrive at clock times.

    With `by_stamp` messages arrive at the time of the stamp, as in lockstep. A second message with
    the same stamp is skipped.
    """

    def __init__(
        self, topic: str, arrivals: list[Arrival], clock: SimulationClock, *, by_stamp: bool = False
    ) -> None:
        self.topic = topic
        self._clock = clock
        if by_stamp:
            first: dict[int, Arrival] = {}
            for arrival in arrivals:
                time = nanoseconds(arrival.message.header.stamp)
                first.setdefault(time, Arrival(time, arrival.message))
            arrivals = [first[time] for time in sorted(first)]
        self._arrivals = arrivals
        self._next = 0

    def take_all(self) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Yield the messages that have arrived and were not yielded before."""
        clock_time = self._clock.stamp.total
        while self._next < len(self._arrivals) and self._arrivals[self._next].time <= clock_time:
            self._next += 1
            yield self._arrivals[self._next - 1].message, {}

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, until the next message arrives."""
        if self._next == len(self._arrivals):
            return most
        time = self._arrivals[self._next].time
        step = round(time / (self._clock.time_step * 1e9))
        return max(1, min(most, step - self._clock.steps))

    def publisher_count(self) -> int:
        """Return 1, because one recorded program publishes to the topic."""
        return 1


class Replay:
    """A new world that receives the commands of a recording.

    world: a world file that replaces the recorded world. It is required for a bag without
    simulation_description. Raises BagError or HrpsimError for a recording that cannot be replayed.
    """

    def __init__(
        self, recording: RecordedTopics, world: Path | None = None, **overrides: Any
    ) -> None:
        self.recording = recording
        description = recording.description
        self.settings = _DEFAULTS | description.get("settings", {})
        self.world = _world_of(recording, world, overrides)
        self.clock = SimulationClock(self.world.time_step)
        self.rejections = Rejections(_StderrLogger(), Faults(_StderrLogger))
        self._topics: list[RecordedTopic] = []
        self._inputs: list[RobotInput] = []
        self._states: dict[str, dict[int, RecordedState]] = {}  # by robot and step
        described = {robot["name"]: robot for robot in description.get("robots", ())}
        for name, prefix in recording.prefixes().items():
            robot = self._robot(name)
            self._set_up(robot, described.get(name, {}))
            self._inputs += self._inputs_of(robot, prefix, described.get(name, {}))
            step = self.world.time_step * 1e9
            states = recording.states(prefix).items()
            self._states[robot.name] = {round(time / step): state for time, state in states}
        if not any(self._states.values()):
            raise BagError(f"{recording.bag} has no joint states of a robot of this world")

    @property
    def accepted_count(self) -> int:
        """The number of accepted messages."""
        return sum(robot_input.accepted_count for robot_input in self._inputs)

    def run(self, tolerance: float = 0.0, duration: float = 0.0) -> StateComparison:
        """Step to the last recorded state. Return the comparison of all states.

        duration: time from the first to the last compared state [s]. The default is the whole
        recording.
        """
        comparison = StateComparison(tolerance)
        steps = sorted({step for states in self._states.values() for step in states})
        last = steps[-1]
        if duration > 0.0:
            last = min(last, steps[0] + round(duration / self.world.time_step))
        self._compare(comparison)
        for end in (step for step in steps if 0 < step <= last):
            while self.clock.steps < end:
                self._advance(end - self.clock.steps)
            self._compare(comparison)
        return comparison

    def _advance(self, most: int) -> None:
        for robot_input in self._inputs:
            robot_input.poll()
        for robot_input in (*self._topics, *self._inputs):
            most = robot_input.steps_to_next(most)
        for robot_input in self._inputs:
            robot_input.apply()
        self.world.step(most)
        self.clock.steps += most

    def _compare(self, comparison: StateComparison) -> None:
        for name, states in self._states.items():
            if self.clock.steps in states:
                robot, state = self.world.robots[name], states[self.clock.steps]
                comparison.add(self.clock.seconds, robot, state)

    def _robot(self, name: str):
        robots = self.world.robots
        if not name and len(robots) == 1:
            return next(iter(robots.values()))
        require_name("recorded robot", name, robots)
        return robots[name]

    def _set_up(self, robot, description: dict[str, Any]) -> None:
        """Set the recorded gains and modes of the joints."""
        gains = dict(zip(robot.joint_names, zip(*robot.gains)))
        for joint in description.get("joints", ()):
            name, recorded = joint["name"], tuple(joint["gains"])
            require_name("recorded joint", name, gains)
            if recorded != tuple(map(float, gains[name])):
                robot.set_gains(*recorded, names=[name])
            if joint["mode"] == "locked" and name not in robot.locked:
                robot.lock([name])
            if joint["mode"] == "off":
                robot.command(names=[name], efforts=[0.0])

    def _inputs_of(self, robot, prefix: str, description: dict[str, Any]) -> list[RobotInput]:
        """Return one input for each topic, in the order in which the node applies the inputs."""
        lockstep = self.settings["lockstep"]
        topics = {
            topic: RecordedTopic(
                prefix + topic,
                self.recording.arrivals(prefix, topic),
                self.clock,
                by_stamp=lockstep and topic in COMMANDS,
            )
            for topic in INPUTS
        }
        self._topics += topics.values()
        over = self.settings["control_period"] if lockstep else None
        interpolates = lockstep or self.recording.description.get("version", 1) > 1
        if not (interpolates and self.settings["interpolate_commands"]):
            over = 0.0
        made = RobotInputs(
            robot,
            RobotFrames(robot.model, "odom", description.get("frames", "")),
            self.clock,
            Report(self.rejections, _StderrLogger()),
            topics.__getitem__,
            in_lockstep=MessageQueue if lockstep else None,
            over=over,
        )
        joints = description.get("joints", ())
        made.leave_off({joint["name"] for joint in joints if joint["mode"] == "off"})
        made.wrenches.duration = self.settings["wrench_duration"]
        made.wrenches.ramp = self.settings["wrench_ramp"]
        return made.all


class _StderrLogger:
    """A logger that prints on stderr."""

    def info(self, text: str) -> None:
        print(f"hrpsim: {text}", file=sys.stderr, flush=True)

    warning = error = info


def _world_of(recording: RecordedTopics, path: Path | None, overrides: dict[str, Any]):
    """Return a new world from the file `path`, or from the recording."""
    described = recording.description.get("world")
    if path is not None:
        return load_world(path, **overrides)
    if not described:
        raise BagError(
            f"{recording.bag} has no topic simulation_description, which names the simulated "
            "world. Give --world FILE"
        )
    texts = [text.partition(":=") for text in described["xacro_arguments"]]
    settings = {
        "time_step": described["time_step"],
        "integrator": described["integrator"],
        "xacro_arguments": {name: value for name, _, value in texts},
    }
    settings |= {name: value for name, value in overrides.items() if value}
    if described["text"]:
        return build_world(open_world_text(described["text"], "simulation_description"), **settings)
    from hrpsim.ros.base.entities import located

    suffixes = tuple(suffix for form in WORLD_FORMATS for suffix in form.suffixes)
    titles = " or ".join(form.title for form in WORLD_FORMATS)
    path = located(described["uri"], suffixes, f"a world is {titles}")
    return load_world(path, **settings)
