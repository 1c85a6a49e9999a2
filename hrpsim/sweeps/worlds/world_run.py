# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One run of a settled world with controller and pushes, and the measures of the run."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.common.schema import numeric
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import Controller
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.control.walk_trial import step_ends
from hrpsim.model.model import Model
from hrpsim.sweeps.framework.scenario import Outcome, Parameter, SweepError
from hrpsim.world.checkpoint import Checkpoint
from hrpsim.world.fall import FallWatch, clearance, tilt
from hrpsim.world.world import World

PUSH = {
    "impulse": Parameter(numeric(), "N s"),
    "heading": Parameter(numeric(), "rad"),
    "begin": Parameter(numeric(NOT_NEGATIVE), "s"),
    "duration": Parameter(numeric(POSITIVE), "s"),
}
PUSH_DEFAULTS = {"impulse": 0.0, "heading": 0.0, "begin": 0.0, "duration": 0.1}
ROBOT_OUTCOMES = {
    "fell": Outcome("", "1 if the robot fell, else 0"),
    "fell_at": Outcome("s", "when it fell; NaN if it did not"),
    "largest_tilt": Outcome("rad", "of its base from the vertical"),
    "lowest_height": Outcome("m", "of its base"),
    "x": Outcome("m", "how far its base came, along x"),
    "y": Outcome("m", "how far its base came, along y"),
    "largest_effort": Outcome("", "of a joint, as a share of its limit"),
}
WALK_OUTCOMES = {
    "steps": Outcome("", "steps of the motion made before the end or the fall"),
    "completed": Outcome("", "1 if it made all steps and stood at the end, else 0"),
    "largest_dcm_error": Outcome("m", "of the divergent component of motion, NaN without one"),
}
WORLD_OUTCOMES = {
    "time": Outcome("s", "simulated until the end"),
    "unconverged": Outcome("", "steps in which the solver did not converge"),
}
ENTITY_OUTCOMES = {
    "x": Outcome("m", "at the end"),
    "y": Outcome("m", "at the end"),
    "z": Outcome("m", "at the end"),
    "speed": Outcome("m/s", "at the end"),
    "tilt": Outcome("rad", "at the end"),
}


class Measures:
    """Measurements of a world and a robot during a run.

    Construct the object at the beginning of a run, and call `tick` after each tick.

    Args:
        world: the world.
        robot: name of the robot. None: no robot.
        period: control period [s].
        measured: the requested outcomes, by default all. `largest_effort` is NaN if not requested.

    Raises:
        SweepError: the robot already lies on the floor. The run would end before the first tick.
    """

    def __init__(
        self,
        world: World,
        robot: str | None,
        period: float,
        measured: Collection[str] | None = None,
    ) -> None:
        self._world, self._period = world, period
        self._robot = None if robot is None else world.robots[robot]
        self.ticks = 0  # number of passed ticks
        self._watch = FallWatch(lambda: clearance(self._robot))
        self._fell_at = math.nan
        if self._robot is not None:
            self._moves = self._robot.model.base == "free"
            self._start = self._robot.q[:2].copy() if self._moves else np.zeros(2)
            limits = self._robot.model.system.effort_limit[self._robot.joint_index.v]
            self._effort_limits = np.where(limits > 0.0, limits, np.inf)
            asks = measured is None or "largest_effort" in measured
            self._efforts = np.zeros(len(limits)) if asks else None  # largest efforts
            self._effort = np.zeros(len(limits))
            self._note()
            if self.fell:
                raise SweepError(self._fallen_before())

    def _fallen_before(self) -> str:
        message = (
            f"robot {self._robot.name!r} lies before the run begins, tilted by "
            f"{self._watch.largest_tilt:.2f} rad"
        )
        if not np.any(self._robot.gains[0]):
            message += ": its joints have no gains, which are in the world file under `gains`"
        return message

    @property
    def fell(self) -> bool:
        """Whether the robot has fallen."""
        return not math.isnan(self._fell_at)

    def tick(self) -> None:
        """Measure the state at the end of one more tick."""
        self.ticks += 1
        if self._robot is not None:
            self._note()

    def _note(self) -> None:
        if self._moves:
            first = self._robot.first_q
            _, _, height, *quaternion = self._world.scene.q[first : first + 7].tolist()
            self._watch.add(height, quaternion)
        if math.isnan(self._fell_at) and self._watch.fallen:
            self._fell_at = self.ticks * self._period
        if self._efforts is not None:
            np.abs(self._robot.joint_efforts, out=self._effort)
            np.maximum(self._efforts, self._effort, out=self._efforts)

    def outcomes(self) -> dict[str, float]:
        """Return the outcomes so far, without the outcomes of a walk."""
        unconverged = float(self._world.stats.since_reset.unconverged)
        result = {"time": self.ticks * self._period, "unconverged": unconverged}
        for name, entity in self._world.entities.items():
            if len(entity.q) >= 7:
                result.update(_of_entity(name, entity))
        if self._robot is None:
            return result
        x, y = self._robot.q[:2] - self._start if self._moves else self._start
        largest = math.nan
        if self._efforts is not None:
            largest = float((self._efforts / self._effort_limits).max(initial=0.0))
        result.update(
            fell=float(self.fell),
            fell_at=self._fell_at,
            largest_tilt=self._watch.largest_tilt,
            lowest_height=self._watch.lowest_height,
            x=float(x),
            y=float(y),
            largest_effort=largest,
        )
        return result


def planned_steps(controller: Controller | None) -> list[float] | None:
    """Return the times at which steps of the controller's motion end [s], or None."""
    sequence = getattr(controller, "sequence", None)
    begin = getattr(controller, "begin", None) or 0.0
    return None if sequence is None else (begin + step_ends(sequence)).tolist()


def larger_dcm_error(largest: float, controller: Controller | None) -> float:
    """Return the larger of a controller's present DCM error and the largest error so far."""
    error = getattr(controller, "signals", {}).get("dcm_error")
    if error is None:
        return largest
    size = math.hypot(*error)
    return size if math.isnan(largest) else max(largest, size)


def walk_outcomes(
    ends: Sequence[float] | None, found: Mapping[str, Any], largest_dcm_error: float
) -> dict[str, float]:
    """Return the outcomes of a walk.

    Args:
        ends: times at which the planned steps end [s]. None: the outcomes are empty.
        found: the other outcomes of the run.
        largest_dcm_error: largest DCM error of the controller [m].
    """
    if ends is None:
        return {}
    fell = found["fell"] > 0.0
    last = found["fell_at"] if fell else found["time"]
    steps = sum(end <= last + 1e-9 for end in ends)
    return {
        "steps": float(steps),
        "completed": float(not fell and steps == len(ends)),
        "largest_dcm_error": largest_dcm_error,
    }


def _of_entity(name: str, entity) -> dict[str, float]:
    q = entity.q
    return {
        f"{name}.x": float(q[0]),
        f"{name}.y": float(q[1]),
        f"{name}.z": float(q[2]),
        f"{name}.speed": float(np.linalg.norm(entity.v[:3])),
        f"{name}.tilt": tilt(q[3:7]),
    }


@dataclass(frozen=True)
class Push:
    """A horizontal force of constant size on the origin of a link, or of a free body."""

    entity: str
    link: str | None  # None: of a free body
    impulse: float  # [Ns]
    heading: float  # direction of the force, from x [rad]
    begin: float  # [s]
    duration: float  # [s]

    def apply(self, world: Any, time: float, period: float) -> None:
        """Apply the mean force of the next `period` [s], so that the impulse is exact."""
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
    """A settled world, from a world file with some values changed, and the model of the robot."""

    def __init__(self, world: World, model: Model | None) -> None:
        self.world, self.model = world, model
        self._returned: list[tuple[World, Checkpoint]] = []

    @contextmanager
    def lent(self) -> Iterator[World]:
        """Yield a copy of the world.

        The copy is restored and reused after the block, to save time.
        """
        try:
            world, start = self._returned.pop()
        except IndexError:
            world = self.world.copy()
            start = Checkpoint(world)
        yield world
        start.restore()
        self._returned.append((world, start))


class WorldRun:
    """One run of a world, advanced one control period at a time.

    `outcomes` returns the results so far.

    Args:
        world: the world.
        duration: planned duration of the run [s].
        pushes: pushes on links and free bodies.
        robot: name of the controlled and measured robot. None: no robot.
        controller: commands the robot. None leaves the robot without a controller.
        parameters: parameters of the controller.
        description: the controller's model of the robot.
        period: time of a tick without a controller [s].
        measured: the requested outcomes, by default all.
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
    ) -> None:
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
        """Whether the time is over, the controller has finished, or the robot has fallen."""
        done = self.controller is not None and self.controller.finished
        return self._measures.ticks >= self._ticks or done or self._measures.fell

    def tick(self) -> None:
        """Simulate one period."""
        time = self._measures.ticks * self.period
        for push in self._pushes:
            push.apply(self.world, time, self.period)
        if self._loop is None:
            self.world.step(self._steps)
        else:
            self._loop.tick()
        self._measures.tick()
        self._dcm_error = larger_dcm_error(self._dcm_error, self.controller)

    @property
    def left(self) -> float:
        """Simulated time until the planned end of the run [s]."""
        return (self._ticks - self._measures.ticks) * self.period

    def go_on(self) -> None:
        """Make one control period. After the end, the world continues with the last commands.

        The viewer uses this method.
        """
        if self.finished:
            self.world.step(self._steps)
        else:
            self.tick()

    def run(self) -> dict[str, float]:
        """Tick until the run is finished, stop the controller, and return the outcomes."""
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
        measured = self._measures.outcomes()
        return measured | walk_outcomes(planned_steps(self.controller), measured, self._dcm_error)


def ticks_in(duration: float, period: float) -> int:
    """Return the number of whole periods that cover a run of `duration` [s]."""
    return math.ceil(duration / period - 1e-9)
