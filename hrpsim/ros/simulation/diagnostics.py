"""/diagnostics: how the simulation, its robots and their controllers are doing, once a second."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from hrpsim.ros.base import qos
from hrpsim.world.results import Convergence, Unmet

if TYPE_CHECKING:
    from hrpsim.ros.robot.robot_interface import RobotInterface
    from hrpsim.ros.simulation.simulation_node import SimulationNode

PERIOD = 1.0  # [s, wall]
_WELL = "ok"
_BEHIND = 0.95  # of the wanted real-time factor; less is reported


class Diagnostics:
    """Publishes one status for the simulation and one for the commands of each robot.

    Rates and times are those since the last message. A status that turns bad stays so for one
    message after its cause, which is told in its message.
    """

    def __init__(self, simulation: SimulationNode):
        self._simulation = simulation
        self._publisher = simulation.node.create_publisher(
            DiagnosticArray, "/diagnostics", qos.REPORT
        )
        self._name = simulation.node.get_fully_qualified_name().lstrip("/")
        self._next = 0.0
        self._begun = time.monotonic()
        self._first_step = 0
        self._seconds_stepping = 0.0
        self._unconverged_count = 0  # steps since the node started
        self._made, self._unmet = 0, Unmet()  # steps since the last message
        self._seen: dict[str, int] = {}

    def count(self, seconds: float, made: Convergence) -> None:
        """Add the wall time of some steps [s], and how the solver did in them."""
        self._seconds_stepping += seconds
        self._made += made.steps
        if made.unconverged:
            self._unconverged_count += made.unconverged
            self._unmet.add(made.unconverged, made.worst_residual, lambda: made.worst)

    def begin_interval(self) -> None:
        """Measure rates and times from now."""
        self._begun, self._seconds_stepping = time.monotonic(), 0.0
        self._first_step = self._simulation.clock.steps

    def publish_if_due(self) -> None:
        """Publish if the last message is a second old."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + PERIOD
        message = DiagnosticArray()
        message.header.stamp = self._simulation.clock.stamp.to_message()
        message.status = [self._of_simulation(now)]
        message.status += [self._of_commands(robot) for robot in self._simulation.robots]
        self._publisher.publish(message)
        if self._unmet.count:
            self._simulation.node.get_logger().warning(self._describe_unmet())
        self._made, self._unmet = 0, Unmet()
        self.begin_interval()

    def _of_simulation(self, now: float) -> DiagnosticStatus:
        simulation = self._simulation
        steps = simulation.clock.steps - self._first_step
        elapsed = max(now - self._begun, 1e-9)
        factor = steps * simulation.clock.time_step / elapsed
        wanted = simulation.pacer.real_time_factor
        stats = simulation.world.stats
        per_step = 1e6 * self._seconds_stepping / steps if steps else math.nan
        status = self._status("simulation", "hrpsim")
        if simulation.failure:
            _add(status, DiagnosticStatus.ERROR, simulation.failure)
        elif simulation.paused:
            status.message = "paused"
        elif elapsed > 0.5 * PERIOD and factor < _BEHIND * wanted:
            _add(status, DiagnosticStatus.WARN, f"slower than real_time_factor {wanted:g}")
        if self._unmet.count:
            _add(status, DiagnosticStatus.WARN, self._describe_unmet())
        if self._namesakes() > 0:
            text = f"another node is called /{self._name}, too: requests reach either of them"
            _add(status, DiagnosticStatus.WARN, text)
        if self._is_more("faults", simulation.faults.count):
            _add(status, DiagnosticStatus.ERROR, simulation.faults.last)
        status.values = _values(
            {
                "simulated time [s]": f"{simulation.clock.seconds:.9g}",
                "steps": simulation.clock.steps,
                "real-time factor": f"{factor:.3f}",
                "wanted real-time factor": f"{wanted:g}",
                "time per step [us]": f"{per_step:.1f}",
                "contacts": stats.contact_count,
                "constraint rows": stats.row_count,
                "solver iterations": stats.iterations,
                "solver residual [m/s]": f"{stats.residual:.3g}",
                "converged": str(stats.converged).lower(),
                "steps not converged": self._unconverged_count,
                "largest penetration [m]": f"{stats.max_penetration:.3g}",
                "internal errors": simulation.faults.count,
            }
        )
        return status

    def _namesakes(self) -> int:
        """Return how many other nodes have this one's name; say so in the log when that changes."""
        node = self._simulation.node
        own = (node.get_name(), node.get_namespace())
        count = node.get_node_names_and_namespaces().count(own) - 1
        if self._is_more("namesakes", count):
            node.get_logger().warning(f"another node is called /{self._name}, too")
        return count

    def _of_commands(self, robot: RobotInterface) -> DiagnosticStatus:
        commands, lockstep = robot.commands, robot.lockstep
        senders = commands.publisher_count()
        status = self._status(f"commands of {robot.robot.name}", robot.robot.model.name)
        values = {
            "publishers of joint_commands": senders,
            "accepted": robot.accepted_count,
            "rejected": robot.rejections.count,
        }
        if senders > 1:
            rule = "the first for each tick" if lockstep else "the last"
            _add(status, DiagnosticStatus.WARN, f"{senders} publishers; {rule} counts")
        if lockstep is None:
            values["dropped"] = commands.lost_count
            if self._is_more(f"{robot.robot.name} dropped", commands.lost_count):
                _add(status, DiagnosticStatus.WARN, "commands come faster than they are taken")
        if self._is_more(f"{robot.robot.name} rejected", robot.rejections.count):
            _add(status, DiagnosticStatus.WARN, robot.rejections.last)
        if lockstep is not None:
            trips = np.array(lockstep.take_round_trips() or [math.nan]) * 1e6
            values |= {
                "lockstep stalls": lockstep.stall_count,
                "ticks without a command": lockstep.held_count,
                "round trip, median [us]": f"{np.median(trips):.0f}",
                "round trip, 99th percentile [us]": f"{np.percentile(trips, 99):.0f}",
                "round trip, longest [us]": f"{trips.max():.0f}",
            }
            if lockstep.is_stalled:
                held = lockstep.policy == "hold"
                text = "the last command holds: none comes" if held else lockstep.describe_wait()
                _add(status, DiagnosticStatus.ERROR, text)
        status.values = _values(values)
        return status

    def _describe_unmet(self) -> str:
        """Say how many steps did not converge, and which constraint was furthest off."""
        unmet = self._unmet
        text = f"the solver did not converge in {unmet.count} of {self._made} steps"
        worst = f", furthest off is {unmet.worst}" if unmet.worst else ""
        return f"{text}{worst}; largest residual {unmet.residual:.3g} m/s"

    def _status(self, name: str, hardware: str) -> DiagnosticStatus:
        return DiagnosticStatus(
            level=DiagnosticStatus.OK,
            name=f"{self._name}: {name}",
            message=_WELL,
            hardware_id=hardware,
        )

    def _is_more(self, what: str, count: int) -> bool:
        """Return whether a count has gone up since it was asked for last."""
        before, self._seen[what] = self._seen.get(what, 0), count
        return count > before


def _add(status: DiagnosticStatus, level: bytes, message: str) -> None:
    """Raise a status to `level`, with what else its message says already."""
    is_first = status.message == _WELL
    status.message = message if is_first else f"{status.message}; {message}"
    status.level = max(status.level, level)


def _values(values: dict[str, object]) -> list[KeyValue]:
    return [KeyValue(key=key, value=str(value)) for key, value in values.items()]
