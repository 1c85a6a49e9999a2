# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""When the state is published: clock and robots at one rate, transforms and markers at theirs."""

from __future__ import annotations

import time

from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.faults import Faults
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.simulation.contact_markers import ContactMarkers
from hrpsim.ros.simulation.contact_publisher import offer_contacts
from hrpsim.ros.simulation.robot_interfaces import RobotInterfaces

_REPETITION_PERIOD = 0.1  # of a state while time stands still [s, wall]


class StatePublisher:
    """Publishes /clock, what the robots' sensors say, transforms, contacts and their markers."""

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
        self._next_repetition = 0.0  # [s, wall]
        self._forget_shown()
        self.set_rates()

    def hold(self, world) -> None:
        """Publish the state of another world from now on."""
        self._markers.hold(world)
        if self._contacts is not None:
            self._contacts.hold(world)
        self._forget_shown()
        self.set_rates()

    def _forget_shown(self) -> None:
        """Let nothing have been published: the steps at which it was last."""
        self._transforms_shown = self._markers_shown = self._contacts_shown = -1

    def set_rates(self) -> None:
        """Turn the rates of the parameters into whole numbers of steps."""
        step = self._clock.time_step

        def rate(name: str) -> float:
            return parameters.value_of(self._node, name)

        self._period = max(1, round(1.0 / (rate("publish_rate") * step)))
        self._tf_period, self._marker_period, self._contact_period = (
            self._period * max(1, round(1.0 / (rate(name) * step * self._period)))
            for name in ("tf_rate", "marker_rate", "contact_rate")
        )

    @property
    def is_due(self) -> bool:
        """Whether now is the time of a publication."""
        return self._clock.steps % self._period == 0

    def steps_to_next(self) -> int:
        """Return how many steps it is to the next publication, at least one."""
        return self._period - self._clock.steps % self._period

    def publish(self, everything: bool = False) -> None:
        """Publish clock and robots; what has a rate of its own at its times, or `everything`."""
        self._publish_clock_and_robots(everything)
        with self._faults.held("publishing"):
            self.publish_slowly(everything)

    def publish_slowly(self, everything: bool) -> None:
        """Publish transforms, markers and contacts, if it is time or `everything`.

        Never a stamp twice.
        """
        steps = self._clock.steps
        due = everything or steps % self._tf_period == 0
        if self._robots.transforms and due and self._transforms_shown != steps:
            self._robots.transforms.publish(self._clock.stamp)
            self._transforms_shown = steps
        due = everything or steps % self._marker_period == 0
        if due and self._markers_shown != steps:
            self._markers.publish(self._clock.stamp)
            self._markers_shown = steps
        due = everything or steps % self._contact_period == 0
        if self._contacts is not None and due and self._contacts_shown != steps:
            self._contacts.publish(self._clock.stamp)
            self._contacts_shown = steps

    def repeat_if_due(self) -> None:
        """Publish clock and robots once more, now and then, for nodes that did not hear them."""
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
