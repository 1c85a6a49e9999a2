# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Additions to a node that runs a cell: its pushes, its measures, its end. Needs no ROS."""

from __future__ import annotations

import time
from collections.abc import Sequence

from hrpsim.errors import WorldError
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.sweeps.cell_folder import ABSENT, FINISHED, CellFolder
from hrpsim.sweeps.worlds.measures import Measures
from hrpsim.sweeps.worlds.pushes import Push

_LIFE = 0.5  # between two signs of life [s, wall]


class CellWatch:
    """An input of the simulation that applies pushes, and measures at each tick of lockstep.

    patience [s, wall]: for each command after the first; that one includes the controller's start.
    """

    def __init__(
        self,
        simulation: Simulation,
        folder: CellFolder,
        measures: Measures,
        pushes: Sequence[Push],
        period: float,
        patience: float,
    ):
        self.measures = measures
        self._simulation, self._folder, self._pushes = simulation, folder, pushes
        self._period, self._patience = period, patience
        (self._lockstep,) = simulation.robots.locksteps
        self._next_life = 0.0
        simulation.other_inputs.append(self)

    def poll(self) -> None:
        """Do nothing: the pushes are known in advance."""

    def apply(self) -> None:
        """Apply the pushes for the next steps; the force is constant within a tick."""
        for push in self._pushes:
            push.apply(self._simulation.world, self.measures.ticks * self._period, self._period)

    def steps_to_next(self, most: int) -> int:
        """Return how many steps, at most `most`, can be made before the next tick."""
        return self._lockstep.steps_to_next(most)

    def over(self) -> bool:
        """Measure a tick that has been reached; return whether the robot fell or all is done."""
        if self._lockstep.at_tick:
            self._at_tick()
        now = time.monotonic()
        if now >= self._next_life:
            self._next_life = now + _LIFE
            print(f"at {self._simulation.clock.seconds:.3f} s", flush=True)
        measures = self.measures
        return measures.fell or self._folder.said(FINISHED) == measures.ticks

    def _at_tick(self) -> None:
        ticks = round(self._simulation.clock.seconds / self._period)
        if ticks > self.measures.ticks:
            self.measures.tick()
            self._lockstep.timeout = self._patience
        over = self.measures.fell
        if self._lockstep.is_waiting and not over and self._folder.has(ABSENT):
            raise WorldError("the controller has ended")
