# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One run of a settled world with its controller and pushes, tick by tick, and its outcomes."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import Controller
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.model.model import Model
from hrpsim.schema import numeric
from hrpsim.sweeps.framework.scenario import Parameter
from hrpsim.sweeps.worlds.measures import Measures, larger_dcm_error, planned_steps, walk_outcomes
from hrpsim.values import NOT_NEGATIVE, POSITIVE
from hrpsim.world.checkpoint import Checkpoint
from hrpsim.world.world import World

PUSH = {
    "impulse": Parameter(numeric(), "N s"),
    "heading": Parameter(numeric(), "rad"),
    "begin": Parameter(numeric(NOT_NEGATIVE), "s"),
    "duration": Parameter(numeric(POSITIVE), "s"),
}
PUSH_DEFAULTS = {"impulse": 0.0, "heading": 0.0, "begin": 0.0, "duration": 0.1}


@dataclass(frozen=True)
class Push:
    """A horizontal force of constant size on the origin of a link, or of a free body."""

    entity: str
    link: str | None  # None: of a free body
    impulse: float  # [Ns]
    heading: float  # where the force points, from x [rad]
    begin: float  # [s]
    duration: float  # [s]

    def apply(self, world: Any, time: float, period: float) -> None:
        """Push in the next call of `step`, `period` [s] long: by the mean, so impulses add up."""
        overlap = min(self.begin + self.duration, time + period) - max(self.begin, time)
        if overlap <= 1e-9 * period or self.impulse == 0.0:
            return
        size = self.impulse / self.duration * min(overlap / period, 1.0)
        force = size * np.array([math.cos(self.heading), math.sin(self.heading), 0.0])
        entity = world.entities[self.entity]
        if self.link is None:
            entity.apply_wrench(force=force)
        else:
            entity.apply_wrench(self.link, force=force)


class BaseWorld:
    """A settled world, as its file with some other values describes it, and its robot's model."""

    def __init__(self, world: World, model: Model | None):
        self.world, self.model = world, model
        self._returned: list[tuple[World, Checkpoint]] = []

    @contextmanager
    def lent(self) -> Iterator[World]:
        """Yield a copy, restored and reused after the block: restoring is faster than copying."""
        try:
            world, start = self._returned.pop()
        except IndexError:
            world = self.world.copy()
            start = Checkpoint(world)
        yield world
        start.restore()
        self._returned.append((world, start))


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
