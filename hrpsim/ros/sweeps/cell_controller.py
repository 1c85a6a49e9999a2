# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The controller of a cell as a plug-in of hrpsim_controller. Needs no ROS."""

from __future__ import annotations

import math
import signal
from collections.abc import Mapping
from typing import Any

from hrpsim.control.framework.controller import Command, Controller, State
from hrpsim.model.model import Model
from hrpsim.orphans import signal_at_parent_end
from hrpsim.ros.sweeps.cell_processes import CONTROLLER, FINISHED, CellFolder
from hrpsim.sweeps.worlds.world_run import larger_dcm_error, planned_steps


class CellController(Controller):
    """Forwards calls to the controller of the cell in `folder`, and records its results.

    It never finishes by itself, or its last command might be lost with its process: it reports
    after which command its controller has finished, and repeats that one until it is stopped.
    """

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Configure the controller as the cell requests."""
        signal_at_parent_end(signal.SIGKILL)  # it may hang in a user's code
        self._folder = CellFolder(parameters["folder"])
        request = self._folder.request
        self._inner, given = request.scenario.controller_of(request.values, request.seed)
        self._inner.configure(model, given)
        self.period, self.needs = self._inner.period, self._inner.needs
        self._errors = [larger_dcm_error(math.nan, self._inner)]  # the largest by tick
        self._last: Command | None = None
        self._note_finish()

    def initialize(self, state: State) -> None:
        """Initialize the controller of the cell."""
        self._inner.initialize(state)

    def control(self, state: State) -> Command:
        """Return its command, the last one again once it has finished."""
        if self._inner.finished:
            return self._last or Command(positions=state.joint_positions)
        self._last = self._inner.control(state)
        self._errors.append(larger_dcm_error(self._errors[-1], self._inner))
        self._note_finish()
        return self._last

    def stop(self) -> None:
        """Stop it, and write its results."""
        self._inner.stop()
        results = {"largest_dcm_errors": self._errors, "ends": planned_steps(self._inner)}
        self._folder.say(CONTROLLER, results)

    def _note_finish(self) -> None:
        if self._inner.finished:
            self._folder.say(FINISHED, len(self._errors) - 1)
