# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One run of a world with its controller and pushes, tick by tick, and its outcomes."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import Controller
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.model.model import Model
from hrpsim.sweeps.worlds.measures import (
    Measures,
    larger_dcm_error,
    planned_steps,
    walk_outcomes,
)
from hrpsim.sweeps.worlds.pushes import Push
from hrpsim.world.world import World


class WorldRun:
    """A run, tick by tick; `outcomes` returns its results so far.

    controller: of the robot `robot`; None: no controller.
    description: the robot model that the controller gets. period [s]: of a tick, where there is no
    controller. measured: the requested outcomes, by default all.
    """

    def __init__(  # many parameters: keywords, passed by name
        self,
        world: World,
        *,
        duration: float,
        pushes: Sequence[Push] = (),
        robot: str | None = None,
        controller: Controller | None = None,
        parameters: Mapping[str, Any] | None = None,
        description: Model | None = None,
        period: float = 0.005,
        measured: Collection[str] | None = None,
    ):
        self.world, self.controller, self._pushes = world, controller, pushes
        self.robot = None if robot is None else world.robots[robot]
        self._loop: ControlLoop | None = None
        if controller is not None:
            self._loop = ControlLoop(self.robot, controller, parameters, model=description)
            period = controller.period
            self._steps = self._loop.steps_per_period
        else:
            self._steps = steps_in_period("the period of the run", period, world.time_step)
        self.period = period
        self._ticks = ticks_in(duration, period)
        self._measures = Measures(world, robot, period, measured)
        self._dcm_error = larger_dcm_error(math.nan, controller)

    @property
    def finished(self) -> bool:
        """Whether time is up, the controller has finished, or the robot has fallen."""
        done = self.controller is not None and self.controller.finished
        return self._measures.ticks >= self._ticks or done or self._measures.fell

    def tick(self) -> None:
        """Simulate one period."""
        now = self._measures.ticks * self.period
        for push in self._pushes:
            push.apply(self.world, now, self.period)
        if self._loop is None:
            self.world.step(self._steps)
        else:
            self._loop.tick()
        self._measures.tick()
        self._dcm_error = larger_dcm_error(self._dcm_error, self.controller)

    @property
    def left(self) -> float:
        """Simulated time until its planned end [s]."""
        return (self._ticks - self._measures.ticks) * self.period

    def go_on(self) -> None:
        """Tick; after the end the world continues with its last commands, for the viewer."""
        if self.finished:
            self.world.step(self._steps)
        else:
            self.tick()

    def run(self) -> dict[str, float]:
        """Tick until it is finished; stop the controller; return the outcomes."""
        try:
            while not self.finished:
                self.tick()
            return self.outcomes()
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop the controller."""
        if self._loop is not None:
            self._loop.stop()

    def outcomes(self) -> dict[str, float]:
        """Return all outcomes of the run so far."""
        found = self._measures.outcomes()
        return found | walk_outcomes(planned_steps(self.controller), found, self._dcm_error)


def ticks_in(duration: float, period: float) -> int:
    """Return how many periods a run of `duration` [s] has, the last one whole."""
    return math.ceil(duration / period - 1e-9)
