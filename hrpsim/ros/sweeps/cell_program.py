# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program of one of a pair of processes: runs cells, each with ROS nodes of its own.

python -m hrpsim.ros.sweeps.cell_program FOLDER node|controller
"""

from __future__ import annotations

import sys
from typing import Any

from rclpy.parameter import Parameter

from hrpsim.control.framework.controller import period_of
from hrpsim.ros.base.program import run_program
from hrpsim.ros.base.stop_signal import StopSignal
from hrpsim.ros.sweeps.cell_folder import NODE, OVER, CellFolder, cells_of

_PLUGIN = "hrpsim.ros.sweeps.cell_controller:CellController"


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
    from hrpsim.ros.core.world_source import LoadedWorld
    from hrpsim.ros.simulation.simulation_node import SimulationNode
    from hrpsim.ros.sweeps.cell_processes import START_LIMIT
    from hrpsim.ros.sweeps.cell_watch import CellWatch
    from hrpsim.sweeps.worlds.measures import Measures
    from hrpsim.sweeps.worlds.world_run import ticks_in

    scenario, values, seed, _, patience = folder.request
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
        watch = CellWatch(node.simulation, folder, measures, pushes, period, patience)
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
