# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program of each process of a pair. It runs cells, each with separate ROS nodes."""

from __future__ import annotations

import sys
from typing import Any

from rclpy.parameter import Parameter

from hrpsim.control.framework.controller import period_of
from hrpsim.model.model import Model
from hrpsim.ros.base.program import StopSignal, run_program
from hrpsim.ros.sweeps.cell_processes import (
    NODE,
    OVER,
    START_LIMIT,
    CellFolder,
    CellRequest,
    cells_of,
)
from hrpsim.ros.sweeps.cell_watch import CellWatch, LockstepWatch, UnsynchronizedWatch
from hrpsim.sweeps.worlds.world_run import Measures, ticks_in

_PLUGIN = "hrpsim.ros.sweeps.cell_processes:CellController"


def main() -> int:
    """Run the cells that the folder requests. Return the exit code of a failed cell."""
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

    parameters = {
        "controller": _PLUGIN,
        "parameters": [f"folder:={folder.path}"],
        "base": folder.request.base,
        "lockstep": True,
    }
    return run_controller(
        lambda: stop() or folder.has(OVER), stop.user_code_started, **_options(folder, parameters)
    )


def _run_node(folder: CellFolder, stop: StopSignal) -> int:
    """Run a cell, destroy the ROS node, and write the results."""
    from hrpsim.ros.core.simulation_contents import LoadedWorld
    from hrpsim.ros.simulation.simulation_node import SimulationNode

    request = folder.request
    scenario, values = request.scenario, request.values
    world, model = scenario.world_of(values, request.seed)
    command = request.command
    period = _period(request, model)
    duration = ticks_in(scenario.duration_of(values), period) * period
    parameters = {"duration": duration, "publish_link_tf": False, "compile_ahead": False}
    if command is None or command.period is not None:
        parameters |= _lockstep(period)
    else:
        parameters |= {"real_time_factor": command.real_time_factor}
    options = _options(folder, parameters)
    if command is not None:
        del options["namespace"]
    node = SimulationNode(lambda _: (world, LoadedWorld()), **options)
    try:
        measures = Measures(world, scenario.robot, period)
        watched = (node.simulation, folder, measures, scenario.pushes_of(world, values), period)
        watch: CellWatch
        if "lockstep" in parameters:
            watch = LockstepWatch(*watched)
        else:
            watch = UnsynchronizedWatch(*watched, accepted=lambda: node.accepted_count)
        stop.loop_started()
        node.run(lambda: stop() or watch.over())
        report = {"ticks": measures.ticks, "outcomes": measures.outcomes()}
    finally:
        node.destroy()
    if stop():
        return 1
    folder.say(NODE, report)
    return 0


def _period(request: CellRequest, model: Model | None) -> float:
    """Return the time between control ticks of a cell [s]."""
    if request.command is not None:
        return request.command.period or request.scenario.period
    controller, parameters = request.scenario.controller_of(request.values, request.seed)
    controller.configure(model, parameters)  # sets its period
    controller.stop()
    return period_of(controller)


def _lockstep(period: float) -> dict[str, Any]:
    """Return the node's parameters for a run in lockstep with this control period [s]."""
    return {
        "lockstep": True,
        "lockstep_policy": "abort",
        "lockstep_timeout": START_LIMIT,
        "control_period": period,
        "real_time_factor": 0.0,
    }


def _options(folder: CellFolder, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return namespace and parameters of a cell's node."""
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    return {"namespace": folder.namespace, "parameter_overrides": overrides}


if __name__ == "__main__":
    sys.exit(main())
