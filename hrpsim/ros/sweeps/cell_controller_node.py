# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The program of the controllers of cells, one after another, each in a ROS node of its own.

python -m hrpsim.ros.sweeps.cell_controller_node FOLDER
"""

from __future__ import annotations

import sys

from rclpy.parameter import Parameter

from hrpsim.ros.base.program import run_program
from hrpsim.ros.base.stop_signal import StopSignal
from hrpsim.ros.controller.controller_node import run_controller
from hrpsim.ros.sweeps.cell_folder import CellFolder, cells_of

_PLUGIN = "hrpsim.ros.sweeps.cell_controller:CellController"


def main() -> int:
    """Run the controllers of the cells that are asked for; return the exit code of a bad one."""
    return run_program(_run, None)


def _run(stop: StopSignal) -> int:
    for folder in cells_of(sys.argv[1], stop):
        code = _run_cell(folder, stop)
        if code:
            return code
    return 0


def _run_cell(folder: CellFolder, stop: StopSignal) -> int:
    parameters = {
        "controller": _PLUGIN,
        "parameters": [f"folder:={folder.path}"],
        "base": folder.request.base,
        "lockstep": True,
    }
    return run_controller(
        lambda: stop() or folder.is_over,
        stop.loop_started,
        namespace=folder.namespace,
        parameter_overrides=[Parameter(name, value=value) for name, value in parameters.items()],
    )


if __name__ == "__main__":
    sys.exit(main())
