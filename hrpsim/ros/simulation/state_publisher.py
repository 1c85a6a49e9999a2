# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Publication of the state: clock and robots at one rate, transforms and contacts at others.

Contacts are sent as from Gazebo's bridge, and as arrows and cones for RViz.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from geometry_msgs.msg import Point
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from hrpsim.bag.world_signals import OF_WORLD, sources_of_whole
from hrpsim.ros.base import parameters, qos
from hrpsim.ros.base.faults import Faults
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import SimulationClock, Stamp
from hrpsim.ros.robot.contact_messages import contact_types, contacts_message
from hrpsim.ros.robot.named_values import named_values, value_types
from hrpsim.ros.simulation.robot_interfaces import RobotInterfaces

_REPETITION_PERIOD = 0.1  # period of repeated states during a pause [s, wall]
TOPIC = "contacts"
_CONE_SLANT = 0.06  # length of a cone's side [m]
_CONE_FACETS = 12
_ARROW = (0.008, 0.016, 0.0)  # diameters of shaft and head [m], RViz chooses the head's length
_ARROW_COLOR = ColorRGBA(r=1.0, g=0.3, b=0.1, a=1.0)
_CONE_COLOR = ColorRGBA(r=0.2, g=0.6, b=1.0, a=0.35)
_LEAST_FORCE = 1e-3  # [N], a smaller force has no arrow


class WorldValues:
    """Publishes `solver` and `energy` of the last step, each if there is a subscription."""

    def __init__(self, node: Node, world, types: ModuleType) -> None:
        self._types = types
        kind = types.DynamicJointState
        self._publishers = {
            topic: node.create_publisher(kind, topic, qos.STATE) for topic in OF_WORLD
        }
        self.hold(world)

    def hold(self, world) -> None:
        """Switch to the numbers of another world."""
        self._sources = []
        for source in sources_of_whole(world):
            message, fill = named_values(self._types, source, "")
            publisher, count = self._publishers[source.topic], len(source.columns)
            template = SerializedTemplate(publisher, message, fill, count)
            self._sources.append((template, source.read))

    def publish(self, stamp: Stamp) -> None:
        """Publish the present numbers."""
        for template, read in self._sources:
            if template.is_heard:
                template.numbers[:] = read()
                template.publish(stamp)


class ContactPublisher:
    """Publishes the contacts of the last step, in the world's axes, if there is a subscription.

    `messages` is the module of the message types.
    """

    def __init__(self, node, world, frame: str, messages) -> None:
        self._world, self._frame, self._types = world, frame, messages
        self._publisher = node.create_publisher(messages.Contacts, TOPIC, qos.STATE)

    def hold(self, world) -> None:
        """Switch to the contacts of another world."""
        self._world = world

    def publish(self, stamp: Stamp) -> None:
        """Publish the present contacts. The list is empty without contact."""
        if self._publisher.get_subscription_count():
            self._publisher.publish(self.message(stamp))

    def message(self, stamp: Stamp):
        """Return the message of the present contacts."""
        world = self._world
        message = contacts_message(self._types, world.contact_arrays(), world.link_names)
        message.header.stamp, message.header.frame_id = stamp.to_message(), self._frame
        return message


def offer_contacts(node, world, frame: str) -> ContactPublisher | None:
    """Return the publisher. Without the types, log the absence and return None."""
    messages = contact_types(node, f"no topic {TOPIC}")
    return messages and ContactPublisher(node, world, frame, messages)


class ContactMarkers:
    """Publishes markers of the contacts of the last step, in the world's axes.

    Namespace "force": an arrow for each contact point, which starts at the point, with the length
    `force_scale` [m/N] times the force. Namespace "friction": one marker with the cone of static
    friction about each normal. Both show the forces on the first of the two bodies, or on the
    second if the first is the world.
    """

    def __init__(self, node: Node, world, frame: str, force_scale: float) -> None:
        self._world = world
        self._frame = frame
        self._force_scale = force_scale
        self._arrow_count = 0  # number of arrows in the last message
        self._layout: tuple | None = None  # layout of the last message
        self._template: SerializedTemplate | None = None
        self._publisher = node.create_publisher(MarkerArray, "contact_markers", qos.STATE)

    def hold(self, world) -> None:
        """Switch to the contacts of another world."""
        self._world = world

    def publish(self, stamp: Stamp) -> None:
        """Publish markers of the present contacts, and delete markers of former contacts."""
        if self._publisher.get_subscription_count() == 0:
            return
        contacts = self._world.contact_arrays()
        moving_count = len(self._world.link_names) - len(self._world.fixed_shapes)
        sign = np.where(contacts.links < moving_count, 1.0, -1.0)[:, None]
        points, normals, forces = contacts.points, sign * contacts.normals, sign * contacts.forces
        has_arrow = np.linalg.norm(forces, axis=1) >= _LEAST_FORCE
        has_arrow = has_arrow.tolist() + [False] * (self._arrow_count - len(contacts))
        self._arrow_count = len(contacts)
        arrows = np.stack([points, points + self._force_scale * forces], axis=1)
        cones = _cones(points, normals, self._frictions())
        numbers = np.concatenate([arrows[has_arrow[: len(contacts)]].ravel(), cones.ravel()])
        self._send(stamp, (*has_arrow, len(contacts)), numbers)

    def _send(self, stamp: Stamp, layout: tuple, numbers: np.ndarray) -> None:
        """Publish coordinates in a layout. Make a template if the layout repeats."""
        if layout != self._layout:
            self._layout, self._template = layout, None
            message = self._message(*layout)
            _fill(message, stamp.to_message(), numbers.tolist())
            self._publisher.publish(message)
            return
        if self._template is None:
            message = self._message(*layout)
            self._template = SerializedTemplate(self._publisher, message, _fill, len(numbers))
        self._template.numbers[:] = numbers
        self._template.publish(stamp)

    def _message(self, *layout) -> MarkerArray:
        """Return a message with space for arrows and friction cones.

        layout: whether each contact has an arrow, then the number of cones.
        """
        *has_arrow, cone_count = layout
        arrows = [
            self._marker("force", number, Marker.ARROW, _ARROW_COLOR, 2 * there)
            for number, there in enumerate(has_arrow)
        ]
        for arrow in arrows:
            arrow.scale.x, arrow.scale.y, arrow.scale.z = _ARROW
        corners = 3 * _CONE_FACETS * cone_count
        cones = self._marker("friction", 0, Marker.TRIANGLE_LIST, _CONE_COLOR, corners)
        cones.scale.x = cones.scale.y = cones.scale.z = 1.0
        return MarkerArray(markers=[*arrows, cones])

    def _marker(self, name: str, number: int, kind: int, color: ColorRGBA, points: int) -> Marker:
        """Return a marker for a number of points. Without points the marker is deleted."""
        action = Marker.ADD if points else Marker.DELETE
        marker = Marker(ns=name, id=number, type=kind, action=action, color=color)
        marker.header.frame_id = self._frame
        marker.pose.orientation.w = 1.0
        marker.points = [Point() for _ in range(points)]
        return marker

    def _frictions(self) -> np.ndarray:
        """Return the coefficient of static friction of each contact."""
        scene = self._world.scene
        records = self._world.contact_records()
        material = scene.collision.shapes["material"]
        pairs = material[records["shape_a"]], material[records["shape_b"]]
        return scene.materials["static"][pairs]


def _fill(message: MarkerArray, stamp, numbers) -> None:
    iterator = iter(numbers)
    for marker in message.markers:
        marker.header.stamp = stamp
        for point in marker.points:
            point.x, point.y, point.z = next(iterator), next(iterator), next(iterator)


def _cones(apexes, normals, frictions) -> np.ndarray:
    """Return the corners (n, facets, 3, 3) [m] of friction cones about normals (n, 3)."""
    axes = np.eye(3)[np.argmin(np.abs(normals), axis=1)]
    x = np.cross(normals, axes)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.cross(normals, x)
    angles = np.linspace(0.0, 2.0 * math.pi, _CONE_FACETS, endpoint=False)[:, None]
    half = np.arctan(frictions)[:, None, None]
    outward = np.cos(angles) * x[:, None] + np.sin(angles) * y[:, None]
    rim = np.cos(half) * normals[:, None] + np.sin(half) * outward
    rim = apexes[:, None] + _CONE_SLANT * rim
    apex = np.broadcast_to(apexes[:, None], rim.shape)
    return np.stack([apex, rim, np.roll(rim, 1, axis=1)], axis=2)


@dataclass
class _Slow:
    """A publication with a separate rate, rounded to whole periods of the state."""

    rate: str  # name of the rate's parameter [Hz]
    publish: Callable[[Stamp], None]
    period: int = 1  # [steps]
    shown: int = -1  # step of the last publication


class StatePublisher:
    """Publishes /clock, robots' sensors, the world's numbers, transforms, contacts, markers."""

    def __init__(
        self, node: Node, world, clock: SimulationClock, robots: RobotInterfaces, faults: Faults
    ) -> None:
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
        types = value_types()
        self._values = types and WorldValues(node, world, types)
        self._next_repetition = 0.0  # [s, wall]
        self.set_rates()

    def hold(self, world) -> None:
        """Switch to the state of another world."""
        self._markers.hold(world)
        if self._contacts is not None:
            self._contacts.hold(world)
        if self._values is not None:
            self._values.hold(world)
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
        """Return the number of steps to the next publication, at least one."""
        return self._period - self._clock.steps % self._period

    def publish(self, everything: bool = False) -> None:
        """Publish clock and robots, and the slower publications that are due.

        everything: publish all slower publications, due or not.
        """
        self._publish_clock_and_robots(everything)
        with self._faults.held("publishing"):
            self.publish_slowly(everything)

    def publish_slowly(self, everything: bool) -> None:
        """Publish transforms, markers and contacts if due. No stamp is sent twice.

        everything: publish all of these, due or not.
        """
        steps = self._clock.steps
        for slow in self._slow:
            if slow.shown != steps and (everything or steps % slow.period == 0):
                slow.publish(self._clock.stamp)
                slow.shown = steps

    def repeat_if_due(self) -> None:
        """Repeat clock and robots from time to time, for nodes that missed a message."""
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
            if self._values is not None:
                self._values.publish(stamp)
        self._next_repetition = time.monotonic() + _REPETITION_PERIOD


def _fill_clock(message: Clock, stamp, numbers) -> None:
    message.clock = stamp
