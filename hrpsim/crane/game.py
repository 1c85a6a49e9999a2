# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The crane game over ROS 2 without a launcher: simulation node and crane as two processes."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from hrpsim.ros.base.child_process import ChildProcess
from hrpsim.ros.base.stop_signal import StopSignal

_PERIOD = 0.1  # between looks at the processes [s, wall]


def commands(world: Path, time_step: float | None, parameters: Mapping[str, float]) -> dict:
    """Return the command line of each process by its name."""
    step = [] if time_step is None else ["-p", f"time_step:={float(time_step)}"]
    period = float(time_step or parameters["period"])
    own = [f"{name}:={float(value)}" for name, value in {**parameters, "period": period}.items()]
    common = [sys.executable, "-m"]
    lockstep = ["-p", "lockstep:=true"]
    return {
        "node": [
            *(*common, "hrpsim.ros.simulation.node", "--ros-args", *lockstep),
            *("-p", f"world_file:={world}"),
            *("-p", f"control_period:={period}", *step),
        ],
        "crane": [
            *(*common, "hrpsim.ros.controller.controller_node", "--ros-args", *lockstep),
            *("-p", "base:=fixed"),
            *("-p", "controller:=hrpsim.crane:JoystickCrane"),
            *("-p", f"parameters:={own}"),
        ],
    }


def play(world: Path, time_step: float | None, parameters: Mapping[str, float]) -> int:
    """Run both until one ends or a signal comes; return 0, or 1 where one failed."""
    with StopSignal() as stop, tempfile.TemporaryDirectory(prefix="hrpsim-crane-") as folder:
        children = [
            ChildProcess(name, command, Path(folder, f"{name}.log"), os.environ)
            for name, command in commands(world, time_step, parameters).items()
        ]
        stop.loop_started()
        told = dict.fromkeys(children, 0)
        try:
            while not stop() and all(child.exit_code is None for child in children):
                for child in children:
                    for line in child.lines[told[child] :]:
                        print(f"{child.name}: {line}", flush=True)
                        told[child] += 1
                time.sleep(_PERIOD)
            failed = [child for child in children if child.exit_code]
            for child in failed:
                print(
                    "\n".join([f"hrpsim: {child.name} ended:", *child.lines[-5:]]), file=sys.stderr
                )
        finally:
            for child in children:
                child.stop(timeout=60.0)
        return 1 if failed else 0
