# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One run of a world with its controller and pushes, tick by tick, and what comes of it."""

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
    """A run that goes on tick by tick; `outcomes` says what came of it so far.

    controller: of the robot called `robot`, None for a robot or a world that is left to itself.
    told: what the controller is told of the robot. period [s]: of a tick, where there is no
    controller. measured: the outcomes that are asked for, by default all.
    """

    def __init__(  # many parameters: keywords, told by name
        self,
        world: World,
        *,
        duration: float,
        pushes: Sequence[Push] = (),
        robot: str | None = None,
        controller: Controller | None = None,
        parameters: Mapping[str, Any] | None = None,
        told: Model | None = None,
        period: float = 0.005,
        measured: Collection[str] | None = None,
    ):
        self.world, self.controller, self._pushes = world, controller, pushes
        self.robot = None if robot is None else world.robots[robot]
        self._loop: ControlLoop | None = None
        if controller is not None:
            self._loop = ControlLoop(self.robot, controller, parameters, model=told)
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
        """Let one period pass."""
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
        """Simulated time until its end, if nothing ends it before [s]."""
        return (self._ticks - self._measures.ticks) * self.period

    def go_on(self) -> None:
        """Tick; once it is finished the world goes on with its last commands, to be looked at."""
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
        """Return all that may be asked for, as far as the run has come."""
        found = self._measures.outcomes()
        return found | walk_outcomes(planned_steps(self.controller), found, self._dcm_error)


def ticks_in(duration: float, period: float) -> int:
    """Return how many periods a run of `duration` [s] has, the last one whole."""
    return math.ceil(duration / period - 1e-9)
