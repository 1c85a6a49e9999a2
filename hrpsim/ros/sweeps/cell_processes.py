# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Node and controller as two processes that run one cell after another, and pairs of processes.

A start costs seconds of processor time, mostly to load programs and kernels. Pairs are therefore
reused. Each cell still has a separate world, controller and ROS nodes. Needs no ROS.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from hrpsim.common.orphans import signal_at_parent_end
from hrpsim.control.framework.controller import Command, Controller, State
from hrpsim.model.model import Model
from hrpsim.ros.base.child_process import ChildProcess, Processes
from hrpsim.ros.base.domain import PrivateDomain
from hrpsim.ros.sweeps.user_command import UserCommand
from hrpsim.sweeps.executors import ONE_THREAD
from hrpsim.sweeps.framework.scenario import SweepError
from hrpsim.sweeps.worlds.world_run import larger_dcm_error, planned_steps, walk_outcomes
from hrpsim.sweeps.worlds.world_scenario import WorldScenario

START_LIMIT = 300.0  # time for the start of a process and for compilation [s, wall]
_LOOK = 0.01  # [s]
_END, _END_OF_STUCK = 60.0, 5.0  # time for the end of a controller, and of a process [s, wall]
_LOG_PREFIX = re.compile(r"^(\[[^\]]*\]:? ?)+")
NODE, CONTROLLER = "node", "controller"
REQUEST, FINISHED, ABSENT, OVER = "request", "finished", "absent", "over"
ENDED = "ended"
_NEXT_LOOK = 0.005  # period of checks for the next cell [s, wall]


class CellRequest(NamedTuple):
    """The description of the cell to run."""

    scenario: WorldScenario
    values: Mapping[str, Any]
    seed: int
    base: str  # base of the robot, "free" or "fixed"
    time_limit: float  # longest wait for a command after the first [s, wall]
    command: UserCommand | None = None  # starts a user's controller, None: the scenario's


class CellFolder:
    """A folder through which processes exchange messages about a cell, one file for each message.

    Files are written atomically.

    The program writes the request (REQUEST). The program reports when the controller has ended
    early (ABSENT) or with exit code 0 (ENDED), and when the node has made its last step (OVER). The
    controller reports the number of commands at the end (FINISHED). Node and controller write
    results (NODE, CONTROLLER).
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def ask(self, request: CellRequest) -> None:
        """Make the folder and write the request."""
        self.path.mkdir()
        self._write(REQUEST, pickle.dumps(request))

    @property
    def request(self) -> CellRequest:
        """The description of the cell, read from the folder."""
        return pickle.loads((self.path / REQUEST).read_bytes())

    @property
    def namespace(self) -> str:
        """The namespace of the cell. No message of earlier cells arrives in this namespace."""
        return f"cell_{self.path.name}"

    def say(self, what: str, value: Any = True) -> None:
        """Write a value as JSON to the file `what`. Numbers keep all bits."""
        self._write(what, json.dumps(value).encode())

    def said(self, what: str) -> Any:
        """Return the value in the file `what`, or None if the file does not exist."""
        try:
            return json.loads((self.path / what).read_text())
        except FileNotFoundError:
            return None

    def has(self, what: str) -> bool:
        """Return whether the file `what` exists."""
        return (self.path / what).exists()

    def _write(self, name: str, data: bytes) -> None:
        temporary = self.path / f"{name}.new"
        temporary.write_bytes(data)
        temporary.replace(self.path / name)


def cell_folder(pair: str | Path, number: int) -> CellFolder:
    """Return the folder of a cell of a pair of processes, counted from 0."""
    return CellFolder(Path(pair, str(number)))


def cells_of(pair: str | Path, stopping: Callable[[], bool]) -> Iterator[CellFolder]:
    """Yield the cells of a pair of processes one after another, as they are requested.

    The iteration ends when `stopping()` is true.
    """
    for number in count():
        folder = cell_folder(pair, number)
        while not folder.has(REQUEST):
            if stopping():
                return
            time.sleep(_NEXT_LOOK)
        yield folder


class CellPairs:
    """Pairs of processes, each in a separate ROS domain, reused until `close` or an error.

    make: constructs a pair.
    """

    def __init__(self, make: Callable[[], ProcessPair] | None = None) -> None:
        self._make = make or ProcessPair
        self._idle: list[ProcessPair] = []
        self._lock = threading.Lock()
        self._closed = False

    def run(self, request: CellRequest) -> dict[str, float]:
        """Return all outcomes of a cell.

        Raise SweepError if a process ends early or prints nothing for too long.
        """
        with self._lock:
            pair = self._idle.pop() if self._idle else None
        if pair is None:
            pair = self._make()
        try:
            result = pair.run(request, lambda: self._closed)
        except BaseException:
            pair.stop(_END_OF_STUCK)
            raise
        with self._lock:
            closed = self._closed
            if not closed:
                self._idle.append(pair)
        if closed:
            pair.stop(_END)
        return result

    def close(self) -> None:
        """End all processes. The running cells fail."""
        with self._lock:
            self._closed = True
        for pair in self._idle:
            pair.stop(_END)
        self._idle.clear()


class ProcessPair:
    """Node and controller as two processes, which end with the thread that made the pair."""

    programs: tuple[str, ...] = (NODE, CONTROLLER)  # programs that run one cell after another
    _controller: ChildProcess

    def __init__(self) -> None:
        self._domain = PrivateDomain()
        self._folder = tempfile.mkdtemp(prefix="hrpsim_cell_")
        self._cells = 0
        environment = {
            **ONE_THREAD,
            **self._domain.environment(),
            "ROS_LOG_DIR": self._folder,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # as in spawned processes
        }
        self._processes = Processes(Path(self._folder), environment)
        try:
            started = {name: self._start(name) for name in self.programs}
        except BaseException:
            self.stop(_END)
            raise
        self._node = started[NODE]
        if CONTROLLER in started:
            self._controller = started[CONTROLLER]

    def _start(self, name: str) -> ChildProcess:
        module = "hrpsim.ros.sweeps.cell_program"
        return self._processes.start_module(name, module, self._folder, name)

    def run(self, request: CellRequest, stopping: Callable[[], bool]) -> dict[str, float]:
        """Return all outcomes of a cell. `stopping()`: whether to abort, as in CellPairs.run."""
        folder = self._ask(request)
        self._follow_node(folder, request.time_limit, stopping)
        folder.say(OVER)
        self._follow_controller(folder, stopping)
        result = _outcomes(folder)
        shutil.rmtree(folder.path)
        return result

    def _ask(self, request: CellRequest) -> CellFolder:
        """Request the next cell, and return the folder of the cell."""
        folder = cell_folder(self._folder, self._cells)
        self._cells += 1
        folder.ask(request)
        return folder

    def stop(self, time_limit: float) -> None:
        """End the processes, each within `time_limit` [s, wall]. Remove the files of the pair."""
        self._processes.stop(time_limit)
        self._domain.release()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _follow_node(
        self, folder: CellFolder, time_limit: float, stopping: Callable[[], bool]
    ) -> None:
        """Wait for the results of the node. Raise SweepError if the node writes none."""
        silence, absent = _Silence(self._node, time_limit), False
        while not folder.has(NODE):
            ended = self._node.wait(_LOOK) is not None
            if ended and not folder.has(NODE):
                raise SweepError(described(self._controller if absent else self._node))
            silence.check()
            if stopping():
                raise SweepError("the sweep has ended already")
            if not absent and (code := self._controller.exit_code) is not None:
                absent = True
                folder.say(self._at_end(code))

    def _at_end(self, code: int) -> str:
        """Return the message to the node after the controller has ended with an exit code."""
        return ABSENT

    def _follow_controller(self, folder: CellFolder, stopping: Callable[[], bool]) -> None:
        """Wait for the results of the controller. Raise SweepError if there are none."""
        end = time.monotonic() + _END
        while not folder.has(CONTROLLER):
            ended = self._controller.wait(_LOOK) is not None
            if ended and not folder.has(CONTROLLER):
                raise SweepError(described(self._controller))
            if time.monotonic() > end:
                raise SweepError(f"the controller did not stop within {_END:g} s")
            if stopping():
                raise SweepError("the sweep has ended already")


class _Silence:
    """Watches the output of a node for silence. A first step may take START_LIMIT [s, wall]."""

    def __init__(self, node: ChildProcess, limit: float) -> None:
        self._node, self._limit = node, limit
        self._count, self._heard = len(node.lines), time.monotonic()
        self._last, self._begun = "", False

    def check(self) -> None:
        """Raise SweepError if the node has been silent for too long."""
        now = time.monotonic()
        if lines := self._node.lines[self._count :]:
            self._count, self._heard, self._last = self._count + len(lines), now, lines[-1]
            self._begun = self._begun or any(line.startswith("at ") for line in lines)
        limit = self._limit if self._begun else START_LIMIT
        if now - self._heard > limit:
            after = f", after {self._last!r}" if self._last else ""
            raise SweepError(f"the node was silent for {limit:g} s{after}")


def _outcomes(folder: CellFolder) -> dict[str, float]:
    node, controller = folder.said(NODE), folder.said(CONTROLLER)
    outcomes: dict[str, Any] = node["outcomes"]
    largest = controller["largest_dcm_errors"][node["ticks"]]
    return outcomes | walk_outcomes(controller["ends"], outcomes, largest)


def described(child: ChildProcess) -> str:
    """Return a text about the end of a process, with its last line."""
    lines = [line for line in child.lines if line.strip()]
    fatal = [line for line in lines if line.startswith("[FATAL]")]
    last_line = _LOG_PREFIX.sub("", (fatal or lines or [""])[-1]).strip()
    return f"the {child.name} ended with code {child.exit_code}" + (
        f": {last_line}" if last_line else ""
    )


class CellController(Controller):
    """Forwards calls to the controller of the cell in `folder`, and records the results.

    This controller never finishes by itself, because the last command might be lost with the
    process. The last command of the inner controller is repeated until `stop`.
    """

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Configure the controller as the cell requests."""
        signal_at_parent_end(signal.SIGKILL)  # a user's code may block it
        self._folder = CellFolder(parameters["folder"])
        request = self._folder.request
        self._inner, inner_parameters = request.scenario.controller_of(request.values, request.seed)
        self._inner.configure(model, inner_parameters)
        self.period, self.needs = self._inner.period, self._inner.needs
        self._errors = [larger_dcm_error(math.nan, self._inner)]  # largest error up to each tick
        self._last: Command | None = None
        self._note_finish()

    def initialize(self, state: State) -> None:
        """Initialize the controller of the cell."""
        self._inner.initialize(state)

    def control(self, state: State) -> Command:
        """Return the next command. After the end, repeat the last command."""
        if self._inner.finished:
            return self._last or Command(positions=state.joint_positions)
        self._last = self._inner.control(state)
        self._errors.append(larger_dcm_error(self._errors[-1], self._inner))
        self._note_finish()
        return self._last

    def stop(self) -> None:
        """Stop the controller, and write the results."""
        self._inner.stop()
        results = {"largest_dcm_errors": self._errors, "ends": planned_steps(self._inner)}
        self._folder.say(CONTROLLER, results)

    def _note_finish(self) -> None:
        if self._inner.finished:
            self._folder.say(FINISHED, len(self._errors) - 1)
