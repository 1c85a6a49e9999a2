# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Application of pushes on the robot, and measurements, at each control tick of a cell."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

from hrpsim.common.errors import WorldError
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.ros.core.simulation import Simulation
from hrpsim.ros.sweeps.cell_processes import ABSENT, ENDED, FINISHED, START_LIMIT, CellFolder
from hrpsim.sweeps.worlds.world_run import Measures, Push

_LIFE = 0.5  # period of signs of life [s, wall]


class CellWatch(ABC):
    """An input of the simulation that applies pushes, and measures at each control tick.

    Args:
        simulation: simulation to which this object is added as an input.
        folder: folder of the cell.
        measures: measurements of the cell, with the control period.
        pushes: pushes on the robot or other entities. The force is constant within a control
            period.
        period: control period [s].
    """

    def __init__(
        self,
        simulation: Simulation,
        folder: CellFolder,
        measures: Measures,
        pushes: Sequence[Push],
        period: float,
    ) -> None:
        self.measures = measures
        self._simulation, self._folder, self._pushes = simulation, folder, pushes
        self._period = period
        self._steps = steps_in_period("the period of the run", period, simulation.clock.time_step)
        self._next_life = 0.0
        self._time_limit = folder.request.time_limit
        simulation.other_inputs.append(self)

    def poll(self) -> None:  # noqa: B027  the simulation calls it
        """Do nothing, because the pushes are known in advance."""

    def apply(self) -> None:
        """Apply the pushes for the next steps."""
        for push in self._pushes:
            push.apply(self._simulation.world, self.measures.ticks * self._period, self._period)

    def steps_to_next(self, most: int) -> int:
        """Return the number of steps, at most `most`, before the next tick."""
        return min(most, self._steps - self._simulation.clock.steps % self._steps)

    def over(self) -> bool:
        """Measure at the tick that was reached. Return whether the robot fell or the cell ended."""
        self._measure()
        now = time.monotonic()
        if now >= self._next_life:
            self._next_life = now + _LIFE
            print(f"at {self._simulation.clock.seconds:.3f} s", flush=True)
        if self.measures.fell or self._folder.has(ENDED):
            return True
        return self._folder.said(FINISHED) == self.measures.ticks or self._look_at_controller(now)

    def _measure(self) -> None:
        """Add the measurements of the present tick, once."""
        ticks, remainder = divmod(self._simulation.clock.steps, self._steps)
        if remainder == 0 and ticks > self.measures.ticks:
            self.measures.tick()

    @abstractmethod
    def _look_at_controller(self, now: float) -> bool:
        """Raise WorldError if no further command can arrive. Otherwise return False.

        now: time of a monotonic clock [s, wall].
        """


class LockstepWatch(CellWatch):
    """The watch of a cell in lockstep, in which simulated time waits for a command at each tick.

    The first wait includes the start of the controller.
    """

    def _look_at_controller(self, now: float) -> bool:
        (lockstep,) = self._simulation.robots.locksteps
        if self.measures.ticks > 0:
            lockstep.timeout = self._time_limit
        if lockstep.is_waiting and self._folder.has(ABSENT):
            raise WorldError("the controller has ended before the end of the run")
        return False


class UnsynchronizedWatch(CellWatch):
    """The watch of a cell without lockstep. The world starts at the controller's first command.

    The world then runs without waiting for commands. accepted: returns the number of commands
    that the node has accepted.
    """

    def __init__(self, *arguments, accepted: Callable[[], int]) -> None:
        super().__init__(*arguments)
        self._accepted, self._count, self._heard = accepted, 0, time.monotonic()
        self._simulation.pause()

    def _look_at_controller(self, now: float) -> bool:
        count = self._accepted()
        if count > self._count:
            self._count, self._heard = count, now
            if self._simulation.paused:
                self._simulation.resume()
        limit = self._time_limit if self._count else START_LIMIT
        if now - self._heard > limit:
            raise WorldError(f"the controller sent no command for {limit:g} s")
        if self._folder.has(ABSENT):
            raise WorldError("the controller has ended before the end of the run")
        return False
