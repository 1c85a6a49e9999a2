# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The simulation as a ROS node: parameters, topics and services around a `Simulation`."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from std_srvs.srv import Trigger

from hrpsim.common.errors import ModelWarning, WorldError, optional_module
from hrpsim.common.orphans import signal_at_parent_end
from hrpsim.engine.compile.compiler_beside import CompilerBeside, use_compiler_beside
from hrpsim.engine.sensors.noise import NoiseLevels
from hrpsim.ros.base import parameters
from hrpsim.ros.base.entities import Entities, SpawnLimits
from hrpsim.ros.base.guarded_node import GuardedNode
from hrpsim.ros.base.parameters import SPECIFICATIONS
from hrpsim.ros.base.stamps import SimulationClock
from hrpsim.ros.core.simulation import Simulation, compile_step
from hrpsim.ros.core.simulation_contents import LoadedWorld
from hrpsim.ros.core.turns import make_steps
from hrpsim.ros.simulation.description_publisher import DescriptionPublisher
from hrpsim.ros.simulation.diagnostics import Diagnostics
from hrpsim.ros.simulation.robot_interfaces import RobotInterfaces
from hrpsim.ros.simulation.state_publisher import StatePublisher
from hrpsim.ros.simulation.world_setup import warn_of_lockstep
from hrpsim.world.objects.plausibility import LONGEST_RAMP, long_period

_BEAT = 1.0  # period of signs of life during compilation [s, wall]
_WORD_PERIOD = 10.0  # period of log entries about compilation [s, wall]
_CALLBACK_PERIOD = 0.02  # [s, wall], a turn of the executor takes 0.1 to 0.2 ms
_RATES = ("publish_rate", "tf_rate", "marker_rate", "contact_rate")
_SOLVER = {"solver_sweep_limit": "sweep_limit", "solver_tolerance": "tolerance"}
_SOLVER["solver_accuracy"] = "accuracy"
_WRENCH = {"wrench_duration": "duration", "wrench_ramp": "ramp"}
_LIMITS = {
    "entity_limit": "entities",
    "spawn_size_limit": "text",
    "spawn_link_limit": "links",
    "spawn_xacro": "xacro",
    "spawn_mjcf": "mjcf",
}
_NOISE = {
    "noise_seed": "seed",
    "imu_gyro_noise": "gyro",
    "imu_gyro_bias": "gyro_bias",
    "imu_accel_noise": "accelerometer",
    "imu_accel_bias": "accelerometer_bias",
    "wrench_force_noise": "force",
    "wrench_torque_noise": "torque",
}


class TriggerServices:
    """Offers ~/pause, ~/resume, ~/reset, ~/save_state, ~/load_state and ~/step on the node.

    Services run between two steps of the loop. While ~/step makes many steps, or waits for kernels,
    the other services respond. The parameter `state_name` names the state to save or to load.
    """

    def __init__(self, node: Node, simulation: Simulation) -> None:
        self._node = node
        self._simulation = simulation
        actions = {
            "pause": self._pause,
            "resume": self._resume,
            "reset": self._reset,
            "save_state": self._save_state,
            "load_state": self._load_state,
            "step": self._step,
        }
        self._services = [
            node.create_service(Trigger, f"~/{name}", action) for name, action in actions.items()
        ]

    def _at(self, what: str) -> str:
        return f"{what}; time {self._simulation.clock.seconds:.9g} s"

    def _pause(self, request, response) -> str:
        already = self._simulation.paused
        self._simulation.pause()
        return self._at("already paused" if already else "paused")

    def _resume(self, request, response) -> str:
        already = not self._simulation.paused
        self._simulation.resume()
        return self._at("already running" if already else "running")

    def _reset(self, request, response) -> str:
        self._simulation.reset()
        return self._at("the world is back in its initial state")

    def _save_state(self, request, response) -> str:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.save_state(name)
        return self._at(f"saved {name!r}")

    def _load_state(self, request, response) -> str:
        name = parameters.value_of(self._node, "state_name")
        self._simulation.load_state(name)
        return self._at(f"the world is in the state {name!r}")

    async def _step(self, request, response) -> str:
        if not self._simulation.paused:
            raise WorldError("the simulation is running. Call ~/pause before ~/step")
        steps = parameters.value_of(self._node, "step_count")
        await make_steps(self._simulation, steps)
        return self._at(f"made {steps} steps")


@contextmanager
def heartbeat(period: float, beat: Callable[[float], None]) -> Iterator[None]:
    """Call `beat(seconds since the start)` in a thread every `period` [s, wall] in a `with`."""
    ended, begun = threading.Event(), time.monotonic()

    def run() -> None:
        while not ended.wait(period):
            beat(time.monotonic() - begun)

    thread = threading.Thread(target=run, name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


class SimulationNode:
    """The node that simulates a world.

    `make_world(node)` returns the world and its notes. The attribute `simulation` is the running
    simulation.
    """

    def __init__(
        self, make_world: Callable[[Node], tuple[Any, LoadedWorld]], **node_options
    ) -> None:
        self.node = node = GuardedNode("hrpsim", **node_options)
        parameters.declare(node, SPECIFICATIONS)
        world, loaded = make_world(node)
        limits, noise = SpawnLimits(), NoiseLevels()
        entities = Entities(world, parameters.value_of(node, "odom_frame"), limits)
        entities.hold(world, loaded.notes.entities)
        clock = SimulationClock(world.time_step)
        self.robots = RobotInterfaces(node, world, clock, noise)
        self._publications = publications = StatePublisher(
            node, world, clock, self.robots, node.faults
        )
        self.simulation = Simulation(
            entities,
            clock,
            self.robots,
            publications,
            node.faults,
            real_time_factor=parameters.value_of(node, "real_time_factor"),
            paused=parameters.value_of(node, "start_paused"),
            loaded=loaded,
        )
        self.simulation.compiling = lambda: heartbeat(_BEAT, self._report_start)
        self._diagnostics = Diagnostics(node, self.simulation)
        self._services = [
            TriggerServices(node, self.simulation),
            DescriptionPublisher(node, self.simulation),
            *offer_standard_services(node, self.simulation),
        ]
        self._live_parameters = LiveParameters(
            node, self.simulation, publications.set_rates, noise, limits
        )
        parameters.refuse_unknown(node)
        warn_of_lockstep(node)
        with self.simulation.compiling():
            compile_step(world)
        self._compile_beside()
        self._next_callbacks = 0.0
        self._viewer = None
        if parameters.value_of(node, "viewer"):
            self._viewer = self._make_viewer(parameters.value_of(node, "viewer_port"))
            self.simulation.world_changed.append(self._renew_viewer)

    @property
    def accepted_count(self) -> int:
        """The number of accepted messages, of all robots and topics."""
        return sum(robot.accepted_count for robot in self.robots)

    @property
    def rejected_count(self) -> int:
        """The number of rejected messages, of all robots and topics."""
        return sum(robot.rejections.count for robot in self.robots)

    def run(self, stop_requested: Callable[[], bool]) -> None:
        """Call `Simulation.run` with the node's callbacks and the parameter `duration`."""
        executor = SingleThreadedExecutor(context=self.node.context)
        executor.add_node(self.node)
        try:
            self.simulation.run(
                lambda longest: self._turn(executor, longest),
                stop_requested,
                parameters.value_of(self.node, "duration"),
            )
        finally:
            executor.remove_node(self.node)
            executor.shutdown(timeout_sec=1.0)

    def destroy(self) -> None:
        """Remove the node from the ROS graph."""
        use_compiler_beside(None)
        self.simulation.kernels.close()
        if self._viewer:
            self._viewer.close()
        self.node.destroy_node()

    def _turn(self, executor: SingleThreadedExecutor, longest: float) -> None:
        """Serve the page and, if due or if `longest` [s, wall] is positive, one ROS callback."""
        faults, now = self.node.faults, time.monotonic()
        if self._viewer:
            with faults.held("the viewer"):
                self._viewer.turn()
        if longest > 0.0 or now >= self._next_callbacks:
            with faults.held("ROS callbacks"):
                executor.spin_once(timeout_sec=longest)
                self._diagnostics.publish_if_due()
            self._next_callbacks = now + _CALLBACK_PERIOD

    def _compile_beside(self) -> None:
        """Start a process that compiles kernels on demand, and in advance if requested."""
        logger = self.node.get_logger()
        self.simulation.kernels = kernels = CompilerBeside(logger.info, signal_at_parent_end)
        use_compiler_beside(kernels)
        names = kernels.compile_ahead() if parameters.value_of(self.node, "compile_ahead") else ()
        if names:
            logger.info(
                f"a process of low priority compiles {len(names)} kernels that steps may "
                "need, once after an install or a change"
            )

    def _report_start(self, seconds: float) -> None:
        """Report that kernels are being compiled: in the clock, the diagnostics and the log."""
        self._publications.publish_clock()
        self._diagnostics.publish_start(seconds)
        self.node.get_logger().info(
            f"the kernels of this world have been compiling for {seconds:.0f} s. The first "
            "compilation takes up to two minutes",
            throttle_duration_sec=_WORD_PERIOD,
        )

    def _make_viewer(self, port: int):
        from hrpsim.ros.simulation.viewer_beside import ViewerBeside

        viewer = ViewerBeside(self.node, self.simulation, self._diagnostics, port)
        self.simulation.other_inputs.append(viewer.session)
        return viewer

    def _renew_viewer(self) -> None:
        """Replace the viewer by a viewer of the present world."""
        self.simulation.other_inputs.remove(self._viewer.session)
        self._viewer.close()
        self._viewer = self._make_viewer(self._viewer.port)


def offer_standard_services(node: Node, simulation: Simulation) -> list:
    """Make and return the services and the action of simulation_interfaces on the node.

    If the package is not installed, log this and return [].
    """
    consequence = "only the std_srvs services are offered"
    if not optional_module("simulation_interfaces", consequence, node.get_logger().info):
        return []
    from hrpsim.ros.simulation.entity_services import EntityServices
    from hrpsim.ros.simulation.simulation_services import (
        SimulateStepsAction,
        SimulationServices,
        WorldServices,
    )

    return [
        SimulationServices(node, simulation),
        EntityServices(node, simulation),
        WorldServices(node, simulation),
        SimulateStepsAction(node, simulation),
    ]


class LiveParameters:
    """Applies parameters to the simulation: at the start, and after each change."""

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        set_rates: Callable[[], None],
        noise: NoiseLevels,
        limits: SpawnLimits,
    ) -> None:
        self._simulation = simulation
        self._setters: dict[str, Callable[[str, Any], None]] = {
            **dict.fromkeys(_RATES, lambda name, value: set_rates()),
            **dict.fromkeys(_NOISE, lambda name, value: noise.change(**{_NOISE[name]: value})),
            **dict.fromkeys(_LIMITS, lambda name, value: setattr(limits, _LIMITS[name], value)),
            **dict.fromkeys(_SOLVER, self._set_solver),
            **dict.fromkeys(_WRENCH, self._set_wrenches),
            "real_time_factor": lambda _, value: setattr(
                simulation.pacer, "real_time_factor", value
            ),
            "state_limit": lambda _, value: setattr(simulation.states, "limit", value),
        }
        for name in (*_NOISE, *_SOLVER, *_LIMITS, "state_limit"):
            if problem := self._problem(name, parameters.value_of(node, name)):
                raise parameters.ParameterError(problem)
            self._react(name, parameters.value_of(node, name))
        parameters.on_change(node, self._problem, self._react)

    def _problem(self, name: str, value: Any) -> str:
        if name in _SOLVER:
            return self._simulation.solver.problem(_SOLVER[name], value)
        for robot in self._simulation.robots:
            for group in (robot.gains, robot.modes, robot.rates):
                if group.knows(name):
                    return group.problem(name, value)
        return ""

    def _react(self, name: str, value: Any) -> None:
        self._setters.get(name, self._set_of_robots)(name, value)

    def _set_solver(self, name: str, value: Any) -> None:
        setattr(self._simulation.solver, _SOLVER[name], value)
        self._simulation.solver.apply()

    def _set_wrenches(self, name: str, value: Any) -> None:
        if text := long_period(name, value, LONGEST_RAMP, "a push"):
            warnings.warn(text, ModelWarning, stacklevel=2)
        for robot in self._simulation.robots:
            setattr(robot.wrenches, _WRENCH[name], value)

    def _set_of_robots(self, name: str, value: Any) -> None:
        for robot in self._simulation.robots:
            for group in (robot.gains, robot.modes, robot.rates):
                if group.knows(name):
                    group.change(name, value)
        self._simulation.contents.notify()
