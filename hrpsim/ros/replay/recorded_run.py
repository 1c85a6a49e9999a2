# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A recorded run in a bag: description, commands and states. Needs no ROS."""

from __future__ import annotations

import bisect
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import voluptuous as vol

from hrpsim.bag.reader import BagError, full_name, messages, timed_messages, topic_types
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.common.schema import flag, numeric, vector
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.ros.core.simulation_contents import DESCRIPTION_VERSION
from hrpsim.ros.robot.robot_inputs import COMMANDS

STATES = "joint_states"
INPUTS = (*COMMANDS, "set_base_pose", "set_joint_states", "joint_trajectory", "apply_wrench")
_DESCRIPTION = "simulation_description"
_TEXT = "std_msgs/msg/String"

# The entries of simulation_description (hrpsim.ros.simulation.description_publisher) that are used.
_JOINT = {"name": str, "gains": vector(2), "mode": str}
_ROBOT = {"name": str, "topics": str, vol.Optional("frames"): str, "joints": [_JOINT]}
_WORLD = {
    "uri": str,
    "text": str,
    "xacro_arguments": [str],
    "time_step": numeric(POSITIVE),
    "integrator": str,
}
_SETTINGS = {
    vol.Optional("lockstep"): flag,
    vol.Optional("interpolate_commands"): flag,
    vol.Optional("control_period"): numeric(POSITIVE),
    vol.Optional("wrench_duration"): numeric(NOT_NEGATIVE),
    vol.Optional("wrench_ramp"): numeric(NOT_NEGATIVE),
}
_DESCRIBED = vol.Schema(
    {
        "version": vol.In(range(1, DESCRIPTION_VERSION + 1)),
        vol.Optional("settings"): _SETTINGS,
        vol.Optional("world"): vol.Maybe(vol.Schema(_WORLD, required=True, extra=vol.ALLOW_EXTRA)),
        "robots": [_ROBOT],
    },
    required=True,
    extra=vol.ALLOW_EXTRA,
)


class RecordedState(NamedTuple):
    """The contents of one message of joint_states."""

    names: list[str]
    values: np.ndarray  # (3, k) position, velocity, effort


class Arrival(NamedTuple):
    """A message, and the time of the clock at its arrival [ns]."""

    time: int
    message: Any


class RecordedTopics:
    """The topics of a simulation in a bag.

    `description` is the content of the first message of simulation_description, or empty. Raises
    BagError for a bag without joint states, or with joint states of several simulations.
    """

    def __init__(self, bag: Path) -> None:
        self.bag = bag
        self._types = topic_types(bag)
        self.description = self._read_description()
        self._clock = self._read_clock()

    def prefixes(self) -> dict[str, str]:
        """Return the topic prefixes of robots by name.

        A robot without a description has the name "".
        """
        robots = self.description.get("robots")
        if robots is None:
            return {"": full_name(self.bag, STATES).removesuffix(STATES)}
        prefixes = {str(robot["name"]): self._prefix + str(robot["topics"]) for robot in robots}
        return {name: prefix for name, prefix in prefixes.items() if prefix + STATES in self._types}

    def states(self, prefix: str) -> dict[int, RecordedState]:
        """Return a robot's states by stamp [ns]. The last of repeated states counts."""
        states = {}
        for message in messages(self.bag, prefix + STATES):
            lists = message.position, message.velocity, message.effort
            if any(len(values) != len(message.name) for values in lists):
                raise BagError(
                    f"{self.bag}: {prefix + STATES}: a message has {len(message.name)} names, but "
                    f"{', '.join(str(len(values)) for values in lists)} positions, velocities and "
                    "efforts"
                )
            if not message.name:
                continue
            values = np.array(lists, dtype=float)
            states[nanoseconds(message.header.stamp)] = RecordedState(list(message.name), values)
        return dict(sorted(states.items()))

    def arrivals(self, prefix: str, topic: str) -> list[Arrival]:
        """Return the messages on one topic to a robot, in the order of the bag.

        Args:
            prefix: namespace of the robot, with "/" at the end.
            topic: name of the topic within this namespace.
        """
        if prefix + topic not in self._types:
            return []
        heard, clock_times = self._clock
        result = []
        for received, message in timed_messages(self.bag, prefix + topic):
            at = bisect.bisect_right(heard, received) - 1
            result.append(Arrival(clock_times[at] if at >= 0 else 0, message))
        return result

    @property
    def begin(self) -> int:
        """The first recorded time of the clock [ns]."""
        return self._clock[1][0] if self._clock[1] else 0

    def _read_description(self) -> dict[str, Any]:
        names = [n for n, kind in self._types.items() if n.endswith(f"/{_DESCRIPTION}")]
        if len(names) != 1 or self._types[names[0]] != _TEXT:
            self._prefix = "/"
            return {}
        self._prefix = names[0].removesuffix(_DESCRIPTION)
        for message in messages(self.bag, names[0]):
            try:
                return _DESCRIBED(parse_json(message.data))
            except vol.MultipleInvalid as error:
                where = "".join(f"[{key!r}]" for key in error.errors[0].path)
                text = f"{self.bag}: {names[0]}: {where or 'it'}: {error.errors[0].error_message}"
                raise BagError(text) from None
            except ValueError as error:
                raise BagError(f"{self.bag}: {names[0]} is not JSON: {error}") from None
        return {}

    def _read_clock(self) -> tuple[list[int], list[int]]:
        """Return the times of reception, and the values of the clock [ns]."""
        clocks = [n for n, kind in self._types.items() if kind == "rosgraph_msgs/msg/Clock"]
        heard, clock_times = [], []
        for received, message in timed_messages(self.bag, clocks[0]) if clocks else ():
            heard.append(received)
            clock_times.append(nanoseconds(message.clock))
        return heard, clock_times


def nanoseconds(stamp) -> int:
    """Return a builtin_interfaces/Time in nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec
