# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game over ROS 2 without a launch file: simulation node and crane as two processes."""

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from hrpsim.ros.base.child_process import Processes
from hrpsim.ros.base.program import StopSignal

_PERIOD = 0.1  # between checks of the processes [s, wall]


def programs(world: Path, time_step: float | None, parameters: Mapping[str, float]) -> dict:
    """Return module and arguments of each process by name."""
    step = [] if time_step is None else ["-p", f"time_step:={float(time_step)}"]
    period = float(time_step or parameters["period"])
    own = [f"{name}:={float(value)}" for name, value in {**parameters, "period": period}.items()]
    lockstep = ["--ros-args", "-p", "lockstep:=true"]
    return {
        "node": [
            *("hrpsim.ros.simulation.node", *lockstep, "-p", f"world_file:={world}"),
            *("-p", f"control_period:={period}", *step),
        ],
        "crane": [
            *("hrpsim.ros.controller.controller_node", *lockstep, "-p", "base:=fixed"),
            *("-p", "controller:=evidence.crane:JoystickCrane"),
            *("-p", f"parameters:={own}"),
        ],
    }


def play(world: Path, time_step: float | None, parameters: Mapping[str, float]) -> int:
    """Run both processes until one ends or a signal arrives.

    Return 1 if a process failed, else 0.
    """
    with StopSignal() as stop, tempfile.TemporaryDirectory(prefix="hrpsim-crane-") as folder:
        processes = Processes(Path(folder), os.environ)
        try:
            for name, arguments in programs(world, time_step, parameters).items():
                processes.start_module(name, *arguments)
            stop.loop_started()
            printed = [0] * len(processes.all)
            while not stop() and all(child.exit_code is None for child in processes.all):
                for k, child in enumerate(processes.all):
                    for line in child.lines[printed[k] :]:
                        print(f"{child.name}: {line}", flush=True)
                        printed[k] += 1
                time.sleep(_PERIOD)
            failed = [child for child in processes.all if child.exit_code]
        finally:
            processes.stop(timeout=60.0)
        for child in failed:
            last = "\n".join([f"hrpsim: {child.name} ended:", *child.lines[-5:]])
            print(last, file=sys.stderr)
        return int(bool(failed))
