# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program of the nodes of cells, one after another, each with the world of its cell.

python -m hrpsim.ros.sweeps.cell_node FOLDER
"""

from __future__ import annotations

import sys
from typing import Any

from rclpy.parameter import Parameter

from hrpsim.ros.base.program import run_program
from hrpsim.ros.base.stop_signal import StopSignal
from hrpsim.ros.core.world_source import LoadedWorld
from hrpsim.ros.simulation.simulation_node import SimulationNode
from hrpsim.ros.sweeps.cell_folder import NODE, CellFolder, cells_of
from hrpsim.ros.sweeps.cell_processes import START_LIMIT
from hrpsim.ros.sweeps.cell_watch import CellWatch
from hrpsim.sweeps.worlds.measures import Measures
from hrpsim.sweeps.worlds.world_run import ticks_in


def main() -> int:
    """Run the cells that are asked for in the folder that is named; return the exit code."""
    return run_program(_run, None)


def _run(stop: StopSignal) -> int:
    for folder in cells_of(sys.argv[1], stop):
        found = _run_cell(folder, stop)
        if stop():
            return 1
        folder.leave(NODE, found)
    return 0


def _run_cell(folder: CellFolder, stop: StopSignal) -> dict[str, Any]:
    """Return what came of a cell, whose ROS node is gone then."""
    scenario, values, seed, _, patience = folder.request
    controller, given = scenario.controller_of(values, seed)
    world, told = scenario.world_of(values, seed)
    controller.configure(told, given)  # tells its period, which the node must know at first
    controller.stop()
    period = controller.period
    parameters = {
        "lockstep": True,
        "lockstep_policy": "abort",
        "lockstep_timeout": START_LIMIT,
        "control_period": period,
        "real_time_factor": 0.0,
        "duration": ticks_in(scenario.duration_of(values), period) * period,
        "publish_link_tf": False,
        "compile_ahead": False,
    }
    node = SimulationNode(
        lambda _: (world, LoadedWorld()),
        namespace=folder.namespace,
        parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()],
    )
    try:
        measures = Measures(world, scenario.robot, period)
        pushes = scenario.pushes_of(world, values)
        watch = CellWatch(node.simulation, folder, measures, pushes, period, patience)
        stop.loop_started()
        node.run(lambda: stop() or watch.over())
        return {"ticks": measures.ticks, "outcomes": measures.outcomes()}
    finally:
        node.destroy()


if __name__ == "__main__":
    sys.exit(main())
