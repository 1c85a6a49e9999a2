# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The period at which a simulation in lockstep expects commands: its `control_period`."""

from __future__ import annotations

import math
import time

from rcl_interfaces.msg import ParameterType
from rcl_interfaces.srv import GetParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

_PARAMETER = "control_period"
_TIMEOUT = 20.0  # with nodes that do not answer [s, wall]; an answer ends the wait at once


class WantedPeriod:
    """Requests the period from the nodes that publish `topic`, while an executor serves `node`.

    Nodes without the parameter, or without an answer in time, expect none.
    """

    def __init__(self, node: Node, topic: str):
        self._node, self._topic = node, topic
        self._clients: dict[str, Client] = {}
        self._answers: dict[str, Future] = {}
        self._end = math.inf  # of the time-out [s, wall]

    def poll(self) -> float | None:
        """Return the period [s], 0 if no node expects one; None while it is not known."""
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
        """Describe which nodes have yet to answer."""
        if not self._clients:
            return f"waiting for a publisher of {self._topic}"
        answered = [name for name, answer in self._answers.items() if answer.done()]
        silent = [name for name in self._clients if name not in answered]
        return f"waiting for {_PARAMETER} of {', '.join(silent)}, {_TIMEOUT:g} s at most"

    def _ask(self) -> None:
        """Send a request to each node that has not had one."""
        for info in self._node.get_publishers_info_by_topic(self._topic):
            name = f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            if name not in self._clients and info.node_name != "_NODE_NAME_UNKNOWN_":
                service = f"{name}/get_parameters"
                self._clients[name] = self._node.create_client(GetParameters, service)
                self._end = min(self._end, time.monotonic() + _TIMEOUT)
        for name, client in self._clients.items():
            if name not in self._answers and client.service_is_ready():
                self._answers[name] = client.call_async(GetParameters.Request(names=[_PARAMETER]))
