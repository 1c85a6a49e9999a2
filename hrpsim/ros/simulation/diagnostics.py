# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""/diagnostics: the status of the simulation, of robots, controllers and the graph, each second."""

from __future__ import annotations

import math
import time

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from hrpsim.ros.base import qos
from hrpsim.ros.base.graph_faults import astray, name_of, unheard
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.robot.lockstep import Lockstep
from hrpsim.ros.robot.robot_interface import RobotInterface
from hrpsim.world.parts.energy import EnergyBalance

PERIOD = 1.0  # [s, wall]
_WELL = "ok"
_BEHIND = 0.95  # fraction of the requested real-time factor, below which a warning is published


class GraphWatch:
    """Checks the graph on request. Logs each new problem once."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._own = (node.get_name(), node.get_namespace())
        self._reported: dict[str, list[str]] = {}  # problems by owner

    def problems(self) -> list[str]:
        """Return the problems of the node itself."""
        node, problems = self._node, []
        name = node.get_fully_qualified_name()
        # Uses a topic of every node, because the list of nodes may contain ended nodes.
        senders = [
            (info.node_name, info.node_namespace)
            for info in node.get_publishers_info_by_topic("/parameter_events")
        ]
        if senders.count(self._own) > 1:
            problems.append(f"another node has the name {name}, too. A request reaches either node")
        problems += self._rivals("/clock", "Time jumps for all subscribers")
        return self._report(name, problems)

    def problems_of(self, robot: RobotInterface) -> list[str]:
        """Return the problems of publishers to a robot's topics."""
        problems = [
            text for robot_input in robot.inputs for text in unheard(self._node, robot_input.topic)
        ]
        for name in ("joint_states", "lowstate"):
            states = self._node.resolve_topic_name(f"{robot.names.topics}{name}")
            problems += self._rivals(states, "Subscribers receive both in turns")
        problems += astray(self._node, [robot_input.topic for robot_input in robot.inputs])
        return self._report(robot.robot.name, problems)

    def _rivals(self, topic: str, consequence: str) -> list[str]:
        """Return texts about other nodes that publish a topic of this node."""
        own = self._node.get_fully_qualified_name()
        names = [name_of(info) for info in self._node.get_publishers_info_by_topic(topic)]
        if own not in names:
            return []
        names.remove(own)
        return [f"{other} publishes {topic}, too. {consequence}" for other in sorted(set(names))]

    def _report(self, owner: str, found: list[str]) -> list[str]:
        """Log the problems that are new, and return all problems."""
        before, self._reported[owner] = self._reported.get(owner, []), found
        for text in found:
            if text not in before:
                self._node.get_logger().warning(text)
        return found


def _energy_values(energy: EnergyBalance | None) -> dict[str, str]:
    """Return the balance of energy of a world with an audit. Return nothing without an audit."""
    if energy is None:
        return {}
    gaining = f", {energy.gaining}" if energy.gaining else ""
    return {
        "energy [J]": f"{energy.total:.6g}",
        "work of inputs [J]": f"{energy.since_reset.work:.6g}",
        "created energy [J]": f"{energy.since_reset.created:.3g}",
        "largest gain within a second": f"{energy.largest_gain:.3g}{gaining}",
    }


class Diagnostics:
    """Publishes one status for the simulation and one for the commands of each robot.

    Rates and times refer to the interval since the last message. A warning or error lasts for one
    message after the cause, and the text states the cause.
    """

    def __init__(self, node: GuardedNode, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        self._publisher = node.create_publisher(DiagnosticArray, "/diagnostics", qos.COMMAND)
        self._name = node.get_fully_qualified_name().lstrip("/")
        self._graph = GraphWatch(node)
        self.last: list[DiagnosticStatus] = []  # last published
        self._next = 0.0
        self._seen: dict[str, int] = {}

    def publish_if_due(self) -> None:
        """Publish if the last message is at least one second old."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PERIOD
        message = DiagnosticArray()
        message.header.stamp = self._simulation.clock.stamp.to_message()
        message.status = [self._of_simulation()]
        message.status += [self._of_commands(robot) for robot in self._simulation.robots]
        self._publisher.publish(message)
        self.last = message.status
        account = self._simulation.account
        if account.unmet.count:
            self._node.get_logger().warning(account.describe_unmet())
        account.begin_report()

    def publish_start(self, seconds: float) -> None:
        """Publish that the kernels have been compiling for `seconds` [s, wall]."""
        status = self._status("simulation", "hrpsim")
        status.message = f"starting: kernels have been compiling for {seconds:.0f} s"
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._simulation.clock.stamp.to_message()
        self._publisher.publish(message)

    def _of_simulation(self) -> DiagnosticStatus:
        simulation, account, faults = self._simulation, self._simulation.account, self._node.faults
        elapsed, factor = account.elapsed, account.real_time_factor
        target = simulation.pacer.real_time_factor
        stats = simulation.world.stats
        status = self._status("simulation", "hrpsim")
        if simulation.failure:
            _add(status, DiagnosticStatus.ERROR, simulation.failure)
        elif simulation.kernels.is_busy:
            status.message = f"time stands still: compiling {', '.join(simulation.kernels.names)}"
        elif simulation.paused:
            status.message = "paused"
        elif elapsed > 0.5 * PERIOD and factor < _BEHIND * target:
            _add(status, DiagnosticStatus.WARN, f"slower than real_time_factor {target:g}")
        if account.unmet.count:
            _add(status, DiagnosticStatus.WARN, account.describe_unmet())
        for problem in self._graph.problems():
            _add(status, DiagnosticStatus.WARN, problem)
        if self._is_more("faults", faults.count):
            _add(status, DiagnosticStatus.ERROR, faults.last)
        status.values = _values(
            {
                "simulated time [s]": f"{simulation.clock.seconds:.9g}",
                "steps": simulation.clock.steps,
                "real-time factor": f"{factor:.3f}",
                "wanted real-time factor": f"{target:g}",
                "time per step [us]": f"{1e6 * account.time_per_step:.1f}",
                "contacts": stats.contact_count,
                "constraint rows": stats.row_count,
                "solver iterations": stats.iterations,
                "solver residual [m/s]": f"{stats.residual:.3g}",
                "converged": str(stats.converged).lower(),
                "steps not converged": account.unconverged_count,
                "steps with Newton's method": account.newton_count,
                "largest penetration [m]": f"{stats.max_penetration:.3g}",
                "internal errors": faults.count,
                **_energy_values(stats.energy),
            }
        )
        return status

    def _of_commands(self, robot: RobotInterface) -> DiagnosticStatus:
        commands, lockstep = robot.commands, robot.lockstep
        senders = sum(command.publisher_count() for command in commands)
        beyond = sum(command.limits.count for command in commands)
        status = self._status(f"commands of {robot.robot.name}", robot.robot.model.name)
        values = {
            "publishers of joint_commands": senders,
            "accepted": robot.accepted_count,
            "rejected": robot.rejections.count,
            "beyond limits": beyond,
        }
        name, rule = robot.robot.name, "the first for each tick" if lockstep else "the last"
        warnings = dict.fromkeys(self._graph.problems_of(robot), True)
        warnings["commands are beyond the limits of joints"] = self._is_more(
            f"{name} beyond limits", beyond
        )
        warnings[f"{senders} publishers; {rule} counts"] = senders > 1
        if lockstep is None:
            values["dropped"] = lost = sum(command.lost_count for command in commands)
            is_more = self._is_more(f"{name} dropped", lost)
            warnings["commands arrive faster than they are read"] = is_more
        rejected = self._is_more(f"{name} rejected", robot.rejections.count)
        warnings[robot.rejections.last] = rejected
        for text in (text for text, holds in warnings.items() if holds):
            _add(status, DiagnosticStatus.WARN, text)
        if lockstep is not None:
            values |= _values_of_lockstep(lockstep)
            if lockstep.is_stalled:
                _add(status, DiagnosticStatus.ERROR, _describe_stall(lockstep))
        status.values = _values(values)
        return status

    def _status(self, name: str, hardware: str) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=DiagnosticStatus.OK,
            name=f"{self._name}: {name}",
            message=_WELL,
            hardware_id=hardware,
        )

    def _is_more(self, what: str, count: int) -> bool:
        """Return whether a count has increased since the last call."""
        before, self._seen[what] = self._seen.get(what, 0), count
        return count > before


def _add(status: DiagnosticStatus, level: bytes, message: str) -> None:
    """Raise a status to `level`, and append to the message."""
    is_first = status.message == _WELL
    status.message = message if is_first else f"{status.message}; {message}"
    status.level = max(status.level, level)


def _describe_stall(lockstep: Lockstep) -> str:
    if lockstep.policy == "hold":
        return "the last command holds: none arrives"
    return lockstep.describe_wait()


def _values_of_lockstep(lockstep: Lockstep) -> dict[str, object]:
    trips = np.array(lockstep.take_round_trips() or [math.nan]) * 1e6
    return {
        "lockstep stalls": lockstep.stall_count,
        "ticks without a command": lockstep.held_count,
        "round trip, median [us]": f"{np.median(trips):.0f}",
        "round trip, 99th percentile [us]": f"{np.percentile(trips, 99):.0f}",
        "round trip, longest [us]": f"{trips.max():.0f}",
    }


def _values(values: dict[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=str(value)) for key, value in values.items()]
