# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A client of a node's simulation_interfaces services, which it finds by their types."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rclpy.action.graph import get_action_server_names_and_types_by_node
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from simulator_conformance.errors import ConformanceError

PACKAGE = "simulation_interfaces"
_FIRST = f"{PACKAGE}/srv/GetSimulatorFeatures"
_ACTION = f"{PACKAGE}/action/SimulateSteps"
_SPIN = 0.05  # [s, wall]
_LATE = 30.0  # longest wait for the last feedback after a result [s, wall]
_SETTLING = 1.0  # without a new service of the node, until all count as discovered [s, wall]


class Unanswered(ConformanceError):
    """A request without an answer in time."""


class Simulator:
    """Calls the services of the node `name`; without a name, of the only simulator.

    Calls wait `timeout` [s, wall] for an answer, the constructor `discovery` for the node. Raises
    ConformanceError, which names the simulators that were found, if it does not exist.
    """

    def __init__(self, name: str, timeout: float, discovery: float):
        self.timeout = timeout
        self._context = Context()
        rclpy.init(context=self._context)
        self._node: Node = rclpy.create_node("conformance_check", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        self._clients: dict[str, Any] = {}
        self._steps: ActionClient | None = None
        try:
            self.name = self._found(name, discovery)
            self._services = self._services_of(self.name)
            self._action = self._action_of(self.name)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leave the graph."""
        self._executor.shutdown(timeout_sec=1.0)
        if self._steps is not None:
            self._steps.destroy()
        self._node.destroy_node()
        self._context.try_shutdown()
        self._context.destroy()

    def offers(self, kind: str) -> bool:
        """Return whether the node offers a service of this type, such as SpawnEntity."""
        return kind in self._services or (kind == "SimulateSteps" and bool(self._action))

    def is_there(self) -> bool:
        """Return whether the node is still in the graph."""
        self._spin(4 * _SPIN)
        return self.name in self._names()

    def call(self, kind: str, request: Any = None, timeout: float | None = None) -> Any:
        """Return the answer of a service; Unanswered after the time-out [s, wall]."""
        service_type = interface(kind)
        if kind not in self._clients:
            self._clients[kind] = self._node.create_client(service_type, self._services[kind])
        limit = timeout or self.timeout
        client = self._clients[kind]
        if not self.wait_for(client.service_is_ready, limit):
            raise Unanswered(f"the service is not ready within {limit:g} s")
        future = client.call_async(request or service_type.Request())
        if not self.wait_for(future.done, limit):
            client.remove_pending_request(future)
            raise Unanswered(f"no answer within {limit:g} s")
        return future.result()

    def simulate_steps(self, steps: int) -> tuple[bool, Any, list[Any]]:
        """Return whether a goal was accepted, its result if so, and the feedback."""
        kind = importlib.import_module(f"{PACKAGE}.action").SimulateSteps
        if self._steps is None:
            self._steps = ActionClient(self._node, kind, self._action)
            if not self.wait_for(self._steps.server_is_ready):
                raise Unanswered(f"the action is not ready within {self.timeout:g} s")
            self._meet()
        feedback: list[Any] = []
        sent = self._steps.send_goal_async(
            kind.Goal(steps=steps), lambda message: feedback.append(message.feedback)
        )
        self._expect(sent)
        goal = sent.result()
        if not goal.accepted:
            return False, None, feedback
        future = goal.get_result_async()
        self._expect(future)
        result = future.result().result
        # Feedback may arrive after the result; a goal that failed may have none.
        if result.result.result == type(result.result).RESULT_OK:
            self.wait_for(lambda: bool(feedback) and feedback[-1].completed_steps >= steps, _LATE)
        return True, result, feedback

    def wait_for(self, condition: Callable[[], bool], limit: float | None = None) -> bool:
        """Spin until a condition holds; return whether it did in time [s, wall]."""
        end = time.monotonic() + (self.timeout if limit is None else limit)
        while not condition():
            if time.monotonic() > end:
                return False
            self._executor.spin_once(timeout_sec=_SPIN)
        return True

    def _meet(self) -> None:
        """Wait until the server has answered a new client: it then knows all earlier entities.

        DDS announces entities in the order of creation; the feedback subscription is one of them.
        """
        kind = _FIRST.rpartition("/")[2]
        client = self._node.create_client(interface(kind), self._services[kind])
        try:
            if not self.wait_for(client.service_is_ready):
                raise Unanswered(f"the service is not ready within {self.timeout:g} s")
            self._expect(client.call_async(interface(kind).Request()))
        finally:
            self._node.destroy_client(client)

    def _expect(self, future: Any) -> None:
        if not self.wait_for(future.done):
            raise Unanswered(f"no answer within {self.timeout:g} s")

    def _spin(self, duration: float) -> None:
        end = time.monotonic() + duration
        self.wait_for(lambda: time.monotonic() > end, duration + 1.0)

    def _names(self) -> list[str]:
        """Return the full names of the discovered nodes."""
        found = self._node.get_node_names_and_namespaces()
        return [f"{namespace.rstrip('/')}/{name}" for name, namespace in found]

    def _found(self, name: str, discovery: float) -> str:
        """Return the full name of the simulator, once it is discovered with its services."""
        wanted = f"/{name.lstrip('/')}" if name else ""
        end = time.monotonic() + discovery
        while time.monotonic() < end:
            self._executor.spin_once(timeout_sec=_SPIN)
            simulators = self._simulators()
            if wanted in simulators or (not wanted and len(simulators) == 1):
                found = wanted or simulators[0]
                self._see_all_services(found, end)
                return found
        names = ", ".join(self._simulators()) or "none"
        found = f"simulators found within {discovery:g} s: {names}"
        if wanted:
            raise ConformanceError(f"no {_FIRST} at {wanted!r}; {found}")
        raise ConformanceError(f"--node is needed: {found}")

    def _see_all_services(self, name: str, end: float) -> None:
        """Wait until no further service of a node is discovered, or until a time [s, wall]."""
        seen: dict[str, str] | None = None
        while seen != (found := self._services_of(name)) and time.monotonic() < end:
            seen = found
            self._spin(_SETTLING)

    def _simulators(self) -> list[str]:
        names = dict.fromkeys(self._names())
        return [name for name in names if "GetSimulatorFeatures" in self._services_of(name)]

    def _services_of(self, full_name: str) -> dict[str, str]:
        """Return the names of a node's services by their types of the standard."""
        namespace, _, name = full_name.rpartition("/")
        try:
            offered = self._node.get_service_names_and_types_by_node(name, namespace or "/")
        except Exception:  # NodeNameNonExistentError, which rclpy does not export
            return {}
        found: dict[str, str] = {}
        for service, kinds in offered:
            package, _, kind = kinds[0].partition("/srv/")
            usual = service.endswith(f"/{_usual_name(kind)}")
            if package == PACKAGE and (kind not in found or usual):
                found[kind] = service
        return found

    def _action_of(self, full_name: str) -> str:
        namespace, _, name = full_name.rpartition("/")
        offered = get_action_server_names_and_types_by_node(self._node, name, namespace or "/")
        return next((action for action, kinds in offered if _ACTION in kinds), "")


def interface(kind: str) -> Any:
    """Return the class of a service; ConformanceError if the installed release has none."""
    services = importlib.import_module(f"{PACKAGE}.srv")
    if not hasattr(services, kind):
        raise ConformanceError(f"the installed {PACKAGE} has no {kind}")
    return getattr(services, kind)


def _usual_name(kind: str) -> str:
    """Return the usual name of a service of this type: spawn_entity for SpawnEntity."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


def message(name: str) -> Any:
    """Return the class of a message of the standard."""
    return getattr(importlib.import_module(f"{PACKAGE}.msg"), name)
