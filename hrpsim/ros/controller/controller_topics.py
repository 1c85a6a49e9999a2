# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A controller's topics: description, states of one stamp, commands, command period."""

from __future__ import annotations

import math
import time
from functools import lru_cache
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState, PointCloud2
from std_msgs.msg import String

from hrpsim.common.errors import HrpsimError, unknown_name
from hrpsim.control.framework.contact_points import ContactSums
from hrpsim.control.framework.controller import BaseReading, Command, State, controlled_joints
from hrpsim.control.framework.controller_host import seconds_of
from hrpsim.control.framework.needs import TRUE, Needs
from hrpsim.model.extension import robot_name
from hrpsim.model.load import load_model
from hrpsim.model.model import Model
from hrpsim.model.sensor_names import sensor_topic
from hrpsim.ros.base import qos
from hrpsim.ros.base.faults import Faults, Rejections
from hrpsim.ros.base.geometry_values import numbers_of
from hrpsim.ros.base.polling import PolledSubscription
from hrpsim.ros.base.serialized_template import SerializedTemplate
from hrpsim.ros.base.stamps import Stamp
from hrpsim.ros.robot.robot_publishers import CONTACT_POINTS, points_of
from hrpsim.ros.robot.step_sensors import STEP_MESSAGES

_JOINT_STATES, _ODOMETRY = "joint_states", "odom"
_DELIVERY = 4.0  # [s, wall], acknowledgements arrive with heartbeats, every 3 s in Fast DDS
_PARAMETER = "control_period"
_TIMEOUT = 20.0  # for nodes that do not answer [s, wall], an answer ends the wait at once


@lru_cache(8)
def _described(text: str, base: str) -> Model:
    """Return the model of a description, cached for several controllers in a process."""
    return load_model(text, base)


class DescriptionListener:
    """Subscribes to robot_description. The root link is fixed to the world if base is "fixed"."""

    def __init__(self, node: Node, base: str) -> None:
        self._base = base
        self._subscription = PolledSubscription(node, String, "robot_description", qos.LATCHED)

    def wait(self, longest: float) -> tuple[Model, str] | None:
        """Return the model and the robot's name in the world, or None after `longest` [s, wall].

        The name is "" if the description has no name. Raises ModelError for an invalid description.
        """
        self._subscription.wait(longest)
        for message, _ in self._subscription.take_all():
            return _described(message.data, self._base), robot_name(message.data)
        return None


class StateListener:
    """Combines joint_states and the sensors' messages of one stamp into a `State`.

    `rejections` counts and logs invalid messages. A message is invalid if it has other joints, or
    if a value is missing or not finite. The true base comes from odom, if the controller needs it.
    Contacts and zero-moment point come from contact_points.
    """

    def __init__(self, node: Node, model: Model, needs: Needs) -> None:
        self.rejections = Rejections(node.get_logger(), Faults(node.get_logger))
        self._joint_names = controlled_joints(model)
        self._sensors = {sensor_topic(sensor): sensor for sensor in model.sensors}
        types = {_JOINT_STATES: JointState}
        types.update({t: STEP_MESSAGES[s.kind].type for t, s in self._sensors.items()})
        if needs.base == TRUE:
            types[_ODOMETRY] = Odometry
        if needs.contacts or needs.zmp:
            types[CONTACT_POINTS] = PointCloud2
        self._needs, self._link_count = needs, len(model.link_names)
        self._sums = ContactSums(model, needs.contacts)
        self._subscriptions = {
            topic: PolledSubscription(node, message_type, topic, qos.COMMAND)
            for topic, message_type in types.items()
        }
        self._arrived: dict[str, dict[Stamp, Any]] = {topic: {} for topic in types}
        self._names: list[str] = []  # names in joint_states for which `_indices` is valid
        self._indices = np.zeros(0, dtype=np.int64)

    @property
    def topic(self) -> str:
        """The full name of joint_states."""
        return self._subscriptions[_JOINT_STATES].topic

    @property
    def is_connected(self) -> bool:
        """Whether every topic has a publisher."""
        return all(s.publisher_count() > 0 for s in self._subscriptions.values())

    def wait(self, longest: float) -> tuple[Stamp, State] | None:
        """Return the stamp and the newest complete state, or None after `longest` [s, wall]."""
        self._take_all()
        stamp = self._complete()
        if stamp is None:
            self._subscriptions[self._lacking()[-1]].wait(longest)
            self._take_all()
            stamp = self._complete()
        if stamp is None:
            return None
        return stamp, self._state(stamp)

    def describe_lack(self) -> str:
        """Return a text that names the topics missing in the newest state."""
        return "waiting for " + ", ".join(self._subscriptions[t].topic for t in self._lacking())

    def _take_all(self) -> None:
        for topic, subscription in self._subscriptions.items():
            arrived = self._arrived[topic]
            for message, _ in subscription.take_all():
                try:
                    reading = self._reading(topic, message)
                except Exception as error:
                    self.rejections.note(error, subscription.topic)
                    continue
                stamp = Stamp(message.header.stamp.sec, message.header.stamp.nanosec)
                arrived.pop(stamp, None)  # a repeated stamp counts as new, the newest is last
                arrived[stamp] = reading
                if len(arrived) > qos.COMMAND.depth:
                    del arrived[next(iter(arrived))]

    def _reading(self, topic: str, message) -> Any:
        """Convert a message to a reading or to arrays. Raise HrpsimError for an invalid message."""
        if isinstance(message, PointCloud2):
            return points_of(message, self._link_count)
        if isinstance(message, JointState):
            reading: Any = self._joints(message)
        elif isinstance(message, Odometry):
            pose, twist = message.pose.pose, message.twist.twist
            parts = pose.position, pose.orientation, twist.linear, twist.angular
            reading = BaseReading(*map(numbers_of, parts))
        else:
            reading = STEP_MESSAGES[self._sensors[topic].kind].reading_of(message)
        arrays = reading if isinstance(reading, tuple) else (reading,)
        if not all(np.isfinite(array).all() for array in arrays):
            raise HrpsimError("the message has values that are not finite")
        return reading

    def _joints(self, message: JointState) -> tuple[np.ndarray, ...]:
        """Return the positions, velocities and efforts of the controlled joints, (k,) each."""
        if message.name != self._names:
            self._indices, self._names = self._indices_in(message), message.name
        fields = []
        for field in ("position", "velocity", "effort"):
            values = np.array(getattr(message, field))
            if len(values) != len(message.name):
                raise HrpsimError(
                    f"{field!r} has {len(values)} values for {len(message.name)} names"
                )
            fields.append(values[self._indices])
        return tuple(fields)

    def _complete(self) -> Stamp | None:
        """Return the newest stamp that all topics have."""
        for stamp in reversed(self._arrived[_JOINT_STATES]):
            if all(stamp in arrived for arrived in self._arrived.values()):
                return stamp
        return None

    def _lacking(self) -> list[str]:
        """Return the topics missing for the newest joint states, in the order of publication."""
        newest = next(reversed(self._arrived[_JOINT_STATES]), None)
        return [topic for topic, arrived in self._arrived.items() if newest not in arrived]

    def _pop(self, topic: str, stamp: Stamp) -> Any:
        """Return a topic's reading of `stamp`. Drop this reading and older readings."""
        arrived = self._arrived[topic]
        while (oldest := next(iter(arrived))) != stamp:
            del arrived[oldest]
        return arrived.pop(stamp)

    def _state(self, stamp: Stamp) -> State:
        readings = {topic: self._pop(topic, stamp) for topic in self._arrived}
        of_kind: dict[str, dict[str, Any]] = {kind: {} for kind in STEP_MESSAGES}
        for topic, sensor in self._sensors.items():
            of_kind[sensor.kind][sensor.name] = readings[topic]
        state = State(
            seconds_of(stamp.total),
            *readings[_JOINT_STATES],
            of_kind["force_torque"],
            of_kind["imu"],
            readings.get(_ODOMETRY),
        )
        if CONTACT_POINTS not in readings:
            return state
        pressing = readings[CONTACT_POINTS]
        zmp = self._sums.zero_moment_point(pressing) if self._needs.zmp else None
        return state._replace(contacts=self._sums.of_links(pressing), zmp=zmp)

    def _indices_in(self, joints: JointState) -> np.ndarray:
        """Return the indices of the controlled joints in a message."""
        indices = {name: index for index, name in enumerate(joints.name)}
        for name in self._joint_names:
            if name not in indices:
                raise HrpsimError(unknown_name("joint", name, joints.name))
        return np.array([indices[name] for name in self._joint_names], dtype=np.int64)


class CommandPublisher:
    """Publishes commands of a controller as joint_commands."""

    def __init__(self, node: Node, joint_names: tuple[str, ...]) -> None:
        self._joint_names = list(joint_names)
        self._publisher = node.create_publisher(JointState, "joint_commands", qos.STATE)
        self._templates: dict[tuple[bool, ...], SerializedTemplate] = {}

    @property
    def listener_count(self) -> int:
        """The number of matched subscriptions."""
        return self._publisher.get_subscription_count()

    def publish(self, stamp: Stamp, command: Command) -> None:
        """Publish `command` with `stamp`."""
        fields = command[:3]
        present = tuple(values is not None for values in fields)
        if present not in self._templates:
            self._templates[present] = self._template(present)
        template = self._templates[present]
        template.numbers[:] = np.concatenate([v for v in fields if v is not None])
        template.publish(stamp)

    def wait_until_delivered(self) -> None:
        """Wait up to four seconds for acknowledgements.

        Destruction of the publisher drops unsent commands.
        """
        self._publisher.wait_for_all_acked(Duration(seconds=_DELIVERY))

    def _template(self, given: tuple[bool, ...]) -> SerializedTemplate:
        count = len(self._joint_names)

        def fill(message: JointState, stamp, numbers) -> None:
            message.header.stamp = stamp
            fields = [f for f, there in zip(("position", "velocity", "effort"), given) if there]
            for k, field in enumerate(fields):
                setattr(message, field, numbers[k * count : (k + 1) * count])

        message = JointState(name=self._joint_names)
        return SerializedTemplate(self._publisher, message, fill, count * sum(given))


class WantedPeriod:
    """Reader of the period of commands, a parameter of the nodes that publish `topic`.

    An executor must spin `node`. A node without the parameter, or without a response in time, is
    treated as a node without a period.
    """

    def __init__(self, node: Node, topic: str) -> None:
        self._node, self._topic = node, topic
        self._clients: dict[str, Client] = {}
        self._answers: dict[str, Future] = {}
        self._end = math.inf  # end of the time-out [s, wall]

    def poll(self) -> float | None:
        """Return the period [s], or 0 if no node has one.

        Return None while the period is unknown.
        """
        self._ask()
        answers = [answer.result() for answer in self._answers.values() if answer.done()]
        values = [value for answer in answers for value in answer.values]
        periods = [v.double_value for v in values if v.type == ParameterType.PARAMETER_DOUBLE]
        all_answered = 0 < len(answers) == len(self._clients)
        if periods or all_answered or time.monotonic() > self._end:
            for client in self._clients.values():
                self._node.destroy_client(client)
            return periods[0] if periods else 0.0
        return None

    def describe_wait(self) -> str:
        """Return a text that names the nodes without a response so far."""
        if not self._clients:
            return f"waiting for a publisher of {self._topic}"
        answered = [name for name, answer in self._answers.items() if answer.done()]
        silent = [name for name in self._clients if name not in answered]
        return f"waiting for {_PARAMETER} of {', '.join(silent)}, {_TIMEOUT:g} s at most"

    def _ask(self) -> None:
        """Send a request for the period to each new publisher of the topic."""
        for info in self._node.get_publishers_info_by_topic(self._topic):
            name = f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            if name not in self._clients and info.node_name != "_NODE_NAME_UNKNOWN_":
                service = f"{name}/get_parameters"
                self._clients[name] = self._node.create_client(GetParameters, service)
                self._end = min(self._end, time.monotonic() + _TIMEOUT)
        for name, client in self._clients.items():
            if name not in self._answers and client.service_is_ready():
                self._answers[name] = client.call_async(GetParameters.Request(names=[_PARAMETER]))
