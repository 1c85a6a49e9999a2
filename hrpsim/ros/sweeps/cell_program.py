# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program of one of a pair of processes: runs cells, each with ROS nodes of its own."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any

from rclpy.parameter import Parameter

from hrpsim.common.errors import WorldError
from hrpsim.control.framework.controller import period_of
from hrpsim.ros.base.program import StopSignal, run_program
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.sweeps.cell_processes import ABSENT, FINISHED, NODE, OVER, CellFolder, cells_of
from hrpsim.sweeps.worlds.world_run import Measures, Push, ticks_in

_LIFE = 0.5  # between two signs of life [s, wall]
_PLUGIN = "hrpsim.ros.sweeps.cell_processes:CellController"


class CellWatch:
    """An input of the simulation that applies pushes, and measures at each tick of lockstep.

    time_limit: for each command after the first, which includes the controller's start [s, wall].
    """

    def __init__(
        self,
        simulation: Simulation,
        folder: CellFolder,
        measures: Measures,
        pushes: Sequence[Push],
        period: float,
        time_limit: float,
    ):
        self.measures = measures
        self._simulation, self._folder, self._pushes = simulation, folder, pushes
        self._period, self._time_limit = period, time_limit
        (self._lockstep,) = simulation.robots.locksteps
        self._next_life = 0.0
        simulation.other_inputs.append(self)

    def poll(self) -> None:
        """Do nothing: the pushes are known in advance."""

    def apply(self) -> None:
        """Apply the pushes for the next steps; the force is constant within a tick."""
        for push in self._pushes:
            push.apply(self._simulation.world, self.measures.ticks * self._period, self._period)

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before the next tick."""
        return self._lockstep.steps_to_next(most)

    def over(self) -> bool:
        """Measure a tick that has been reached; return whether the robot fell or all is done."""
        if self._lockstep.at_tick:
            self._at_tick()
        now = time.monotonic()
        if now >= self._next_life:
            self._next_life = now + _LIFE
            print(f"at {self._simulation.clock.seconds:.3f} s", flush=True)
        measures = self.measures
        return measures.fell or self._folder.said(FINISHED) == measures.ticks

    def _at_tick(self) -> None:
        ticks = round(self._simulation.clock.seconds / self._period)
        if ticks > self.measures.ticks:
            self.measures.tick()
            self._lockstep.timeout = self._time_limit
        over = self.measures.fell
        if self._lockstep.is_waiting and not over and self._folder.has(ABSENT):
            raise WorldError("the controller has ended")


def main() -> int:
    """Run the cells that are requested in the folder; return the exit code of a failed one."""
    return run_program(_run, None)


def _run(stop: StopSignal) -> int:
    run_cell = _run_node if sys.argv[2] == NODE else _run_controller
    for folder in cells_of(sys.argv[1], stop):
        code = run_cell(folder, stop)
        if code:
            return code
    return 0


def _run_controller(folder: CellFolder, stop: StopSignal) -> int:
    from hrpsim.ros.controller.controller_node import run_controller

    given = {
        "controller": _PLUGIN,
        "parameters": [f"folder:={folder.path}"],
        "base": folder.request.base,
        "lockstep": True,
    }
    return run_controller(
        lambda: stop() or folder.has(OVER), stop.user_code_started, **_options(folder, given)
    )


def _run_node(folder: CellFolder, stop: StopSignal) -> int:
    """Run a cell, destroy its ROS node, and write the results."""
    from hrpsim.ros.core.simulation_contents import LoadedWorld
    from hrpsim.ros.simulation.simulation_node import SimulationNode
    from hrpsim.ros.sweeps.cell_processes import START_LIMIT

    scenario, values, seed, _, time_limit = folder.request
    controller, given = scenario.controller_of(values, seed)
    world, model = scenario.world_of(values, seed)
    controller.configure(model, given)  # sets its period, which the node needs at construction
    controller.stop()
    period = period_of(controller)
    given_to_node = {
        "lockstep": True,
        "lockstep_policy": "abort",
        "lockstep_timeout": START_LIMIT,
        "control_period": period,
        "real_time_factor": 0.0,
        "duration": ticks_in(scenario.duration_of(values), period) * period,
        "publish_link_tf": False,
        "compile_ahead": False,
    }
    node = SimulationNode(lambda _: (world, LoadedWorld()), **_options(folder, given_to_node))
    try:
        measures = Measures(world, scenario.robot, period)
        pushes = scenario.pushes_of(world, values)
        watch = CellWatch(node.simulation, folder, measures, pushes, period, time_limit)
        stop.loop_started()
        node.run(lambda: stop() or watch.over())
        found = {"ticks": measures.ticks, "outcomes": measures.outcomes()}
    finally:
        node.destroy()
    if stop():
        return 1
    folder.say(NODE, found)
    return 0


def _options(folder: CellFolder, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return namespace and parameters of a cell's node."""
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    return {"namespace": folder.namespace, "parameter_overrides": overrides}


if __name__ == "__main__":
    sys.exit(main())
