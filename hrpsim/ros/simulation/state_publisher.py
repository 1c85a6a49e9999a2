# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Publication of the state: clock and robots at one rate, transforms and markers at others."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.faults import Faults
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import SimulationClock, Stamp
from hrpsim.ros.simulation.contact_publisher import ContactMarkers, offer_contacts
from hrpsim.ros.simulation.robot_interfaces import RobotInterfaces

_REPETITION_PERIOD = 0.1  # of a state while time stands still [s, wall]


@dataclass
class _Slow:
    """A publication with its own rate, rounded to whole periods of the state."""

    rate: str  # parameter [Hz]
    publish: Callable[[Stamp], None]
    period: int = 1  # [steps]
    shown: int = -1  # the step of its last publication


class StatePublisher:
    """Publishes /clock, the robots' sensors, transforms, contacts and their markers."""

    def __init__(
        self, node: Node, world, clock: SimulationClock, robots: RobotInterfaces, faults: Faults
    ):
        self._node = node
        self._clock = clock
        self._robots = robots
        self._faults = faults
        publisher = node.create_publisher(Clock, "/clock", qos.STATE)
        self._clock_template = SerializedTemplate(publisher, Clock(), _fill_clock, 0)
        frame = parameters.value_of(node, "frame_prefix") + parameters.value_of(node, "odom_frame")
        scale = parameters.value_of(node, "marker_force_scale")
        self._markers = ContactMarkers(node, world, frame, scale)
        self._contacts = offer_contacts(node, world, frame)
        self._slow = [_Slow("marker_rate", self._markers.publish)]
        if robots.transforms is not None:
            self._slow.insert(0, _Slow("tf_rate", robots.transforms.publish))
        if self._contacts is not None:
            self._slow.append(_Slow("contact_rate", self._contacts.publish))
        self._next_repetition = 0.0  # [s, wall]
        self.set_rates()

    def hold(self, world) -> None:
        """Switch to the state of another world."""
        self._markers.hold(world)
        if self._contacts is not None:
            self._contacts.hold(world)
        for slow in self._slow:
            slow.shown = -1
        self.set_rates()

    def set_rates(self) -> None:
        """Convert the rates in the parameters to whole numbers of steps."""
        step = self._clock.time_step

        def rate(name: str) -> float:
            return parameters.value_of(self._node, name)

        self._period = max(1, round(1.0 / (rate("publish_rate") * step)))
        for slow in self._slow:
            periods = max(1, round(1.0 / (rate(slow.rate) * step * self._period)))
            slow.period = self._period * periods

    @property
    def is_due(self) -> bool:
        """Whether a publication is due."""
        return self._clock.steps % self._period == 0

    def steps_to_next(self) -> int:
        """Return how many steps it is to the next publication, at least one."""
        return self._period - self._clock.steps % self._period

    def publish(self, everything: bool = False) -> None:
        """Publish clock and robots, and the slower publications that are due, or `everything`."""
        self._publish_clock_and_robots(everything)
        with self._faults.held("publishing"):
            self.publish_slowly(everything)

    def publish_slowly(self, everything: bool) -> None:
        """Publish transforms, markers and contacts, if due or `everything`; no stamp twice."""
        steps = self._clock.steps
        for slow in self._slow:
            if slow.shown != steps and (everything or steps % slow.period == 0):
                slow.publish(self._clock.stamp)
                slow.shown = steps

    def repeat_if_due(self) -> None:
        """Repeat clock and robots from time to time, for nodes that did not receive them."""
        if time.monotonic() >= self._next_repetition:
            self._publish_clock_and_robots(everything=True)

    def publish_clock(self) -> None:
        """Publish simulated time alone."""
        self._clock_template.publish(self._clock.stamp)

    def _publish_clock_and_robots(self, everything: bool) -> None:
        stamp = self._clock.stamp
        self.publish_clock()
        with self._faults.held("publishing"):
            for robot in self._robots:
                robot.publish(stamp, self._period, everything)
        self._next_repetition = time.monotonic() + _REPETITION_PERIOD


def _fill_clock(message: Clock, stamp, numbers) -> None:
    message.clock = stamp
