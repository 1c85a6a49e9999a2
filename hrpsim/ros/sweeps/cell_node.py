# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program of a cell: the simulation node with the cell's world, until the cell is over.

python -m hrpsim.ros.sweeps.cell_node FOLDER
"""

from __future__ import annotations

import sys

from rclpy.parameter import Parameter

from hrpsim.ros.base.program import run_program
from hrpsim.ros.base.stop_signal import StopSignal
from hrpsim.ros.core.world_source import LoadedWorld
from hrpsim.ros.simulation.simulation_node import SimulationNode
from hrpsim.ros.sweeps.cell_folder import NODE, CellFolder
from hrpsim.ros.sweeps.cell_processes import START_LIMIT
from hrpsim.ros.sweeps.cell_watch import CellWatch
from hrpsim.sweeps.worlds.measures import Measures
from hrpsim.sweeps.worlds.world_run import ticks_in


def main() -> int:
    """Run the cell of the folder that is named; return the exit code, 0 once it is over."""
    folder = CellFolder(sys.argv[1])
    return run_program(lambda stop: _run(folder, stop), None)


def _run(folder: CellFolder, stop: StopSignal) -> int:
    scenario, values, seed, patience = folder.request
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
        parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()],
    )
    try:
        measures = Measures(world, scenario.robot, period)
        pushes = scenario.pushes_of(world, values)
        watch = CellWatch(node.simulation, folder, measures, pushes, period, patience)
        stop.loop_started()
        node.run(lambda: stop() or watch.over())
        if stop():
            return 1
        folder.leave(NODE, {"ticks": measures.ticks, "outcomes": measures.outcomes()})
        return 0
    finally:
        node.destroy()


if __name__ == "__main__":
    sys.exit(main())
