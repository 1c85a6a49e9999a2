# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One cell with node and controller as processes: their start, their end, what came of it.

Needs no ROS itself.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import yaml

from hrpsim.ros.base.child_process import ChildProcess, Processes
from hrpsim.ros.base.domain import PrivateDomain
from hrpsim.ros.sweeps.cell_folder import CONTROLLER, NODE, CellFolder, CellRequest
from hrpsim.sweeps.engines import ONE_THREAD
from hrpsim.sweeps.framework.errors import SweepError
from hrpsim.sweeps.worlds.measures import walk_outcomes

START_LIMIT = 300.0  # [s, wall] for a process to start, kernels to be compiled
_LOOK = 0.02  # [s]
_END, _END_OF_STUCK = 60.0, 5.0  # for a process to end [s, wall]
_PLUGIN = "hrpsim.ros.sweeps.cell_controller:CellController"
_LOG_PREFIX = re.compile(r"^(\[[^\]]*\]:? ?)+")


def run_over_ros(request: CellRequest, base: str, stopping: Callable[[], bool]) -> dict[str, float]:
    """Return all outcomes of a cell; its processes have ended then, come what may.

    base: of the robot, "free" or "fixed". Raises SweepError where a process ends early or is silent
    for too long, and where `stopping` says so.
    """
    with PrivateDomain() as domain, tempfile.TemporaryDirectory(prefix="hrpsim_cell_") as name:
        folder = CellFolder(name)
        folder.ask(request)
        parameters = folder.path / "controller.yaml"
        parameters.write_text(yaml.safe_dump({"folder": name}))
        environment = {
            **ONE_THREAD,
            **domain.environment(),
            "ROS_LOG_DIR": name,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # as spawned processes have it
        }
        processes = Processes(folder.path, environment)
        patience = _END_OF_STUCK
        try:
            node = processes.start_module(NODE, "hrpsim.ros.sweeps.cell_node", name)
            controller = processes.start_module(
                CONTROLLER,
                *("hrpsim.ros.controller.controller_node", "--ros-args", "-p", "lockstep:=true"),
                *("-p", f"controller:={_PLUGIN}", "-p", f"base:={base}"),
                *("-p", f"parameters_file:={parameters}"),
            )
            _follow(node, controller, folder, request.patience, stopping)
            patience = _END
        finally:
            processes.stop(patience)
        return _outcomes(folder, controller)


def _follow(
    node: ChildProcess,
    controller: ChildProcess,
    folder: CellFolder,
    patience: float,
    stopping: Callable[[], bool],
) -> None:
    """Wait for the end of a node that has left what it found; SweepError for any other end."""
    said, heard = 0, time.monotonic()
    begun = absent = False
    while node.wait(_LOOK) is None:
        now, lines = time.monotonic(), node.lines
        begun = begun or any(line.startswith("at ") for line in lines[said:])
        if len(lines) > said:
            said, heard = len(lines), now
        if now - heard > (limit := patience if begun else START_LIMIT):
            last = f", after {lines[-1]!r}" if lines else ""
            raise SweepError(f"the node said nothing for {limit:g} s{last}")
        if stopping():
            raise SweepError("the sweep has ended before")
        if not absent and controller.exit_code is not None:
            absent = True
            folder.note_absence()
    if folder.found_by(NODE) is None:
        raise SweepError(_described(controller if absent else node))


def _outcomes(folder: CellFolder, controller: ChildProcess) -> dict[str, float]:
    node, told = folder.found_by(NODE), folder.found_by(CONTROLLER)
    if told is None:
        raise SweepError(_described(controller))
    found: dict[str, Any] = node["outcomes"]
    largest = told["largest_dcm_errors"][node["ticks"]]
    return found | walk_outcomes(told["ends"], found, largest)


def _described(child: ChildProcess) -> str:
    """Return how a process ended, and the last that it said."""
    lines = [line for line in child.lines if line.strip()]
    fatal = [line for line in lines if line.startswith("[FATAL]")]
    said = _LOG_PREFIX.sub("", (fatal or lines or [""])[-1]).strip()
    return f"the {child.name} ended with code {child.exit_code}" + (f": {said}" if said else "")
