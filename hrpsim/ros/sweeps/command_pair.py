# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A node that runs one cell after another, with a user's controller started for each cell."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable

from hrpsim.ros.sweeps.cell_processes import (
    ABSENT,
    CONTROLLER,
    ENDED,
    NODE,
    CellRequest,
    ProcessPair,
)
from hrpsim.sweeps.framework.scenario import SweepError

_END = 5.0  # time for the end of a user's controller after SIGINT [s, wall]


class CommandPair(ProcessPair):
    """The node, and the command of the present cell. Both end with the thread of construction.

    The command must run until the node has made the last step. Exit code 0 ends the run there. Any
    other end is an error of the run.
    """

    programs = (NODE,)

    def run(self, request: CellRequest, stopping: Callable[[], bool]) -> dict[str, float]:
        """Return all outcomes of a cell, as `CellPairs.run` does."""
        folder = self._ask(request)
        self._controller = self._processes.start_module(
            CONTROLLER, "hrpsim.ros.sweeps.command_program", str(folder.path)
        )
        try:
            self._follow_node(folder, request.time_limit, stopping)
        except SweepError as error:
            log = self._end_controller(request)
            raise SweepError(f"{error} (its output: {log})" if log else str(error)) from error
        except BaseException:
            self._controller.stop(_END)
            raise
        self._end_controller(request)
        result = folder.said(NODE)["outcomes"]
        shutil.rmtree(folder.path)
        return result

    def _at_end(self, code: int) -> str:
        """Return the message to the node after the command has ended with an exit code."""
        return ENDED if code == 0 else ABSENT

    def _end_controller(self, request: CellRequest) -> str:
        """End the command, append the output to the log of the run, and return the log's path."""
        self._controller.stop(_END)
        logs = request.command.logs if request.command else None
        if logs is None:
            return ""
        path = logs / f"seed_{request.seed}.log"
        with contextlib.suppress(OSError):  # a full disk does not discard a result
            logs.mkdir(parents=True, exist_ok=True)
            with path.open("a") as file:
                print(f"# {json.dumps(dict(request.values), default=str)}", file=file)
                print(*self._controller.lines, sep="\n", file=file)
        return str(path)
