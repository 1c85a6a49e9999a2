# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""One run of a world with its controller and pushes, tick by tick, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.control.balance.fall import FallWatch, tilt
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.control.framework.controller import Controller
from hrpsim.control.framework.controller_host import steps_in_period
from hrpsim.control.walk_trial import step_ends
from hrpsim.model.model import Model
from hrpsim.sweeps.framework.scenario import Outcome
from hrpsim.sweeps.worlds.pushes import Push
from hrpsim.world.world import World

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


class WorldRun:
    """A run that goes on tick by tick; `outcomes` says what came of it so far.

    controller: of the robot called `robot`, None for a robot or a world that is left to itself.
    told: what the controller is told of the robot. period [s]: of a tick, where there is no
    controller.
    """

    def __init__(
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
    ):
        self.world, self.controller, self._pushes = world, controller, pushes
        self.robot = None if robot is None else world.robots[robot]
        self._begin, self._ticks = world.time, 0
        self._loop: ControlLoop | None = None
        if controller is not None:
            self._loop = ControlLoop(self.robot, controller, parameters, model=told)
            period = controller.period
            self._steps = self._loop.steps_per_period
        else:
            self._steps = steps_in_period("the period of the run", period, world.time_step)
        self.period = period
        self._left = math.ceil(duration / period - 1e-9)
        self._watch = FallWatch()
        self._fell_at = math.nan
        self._dcm_error = math.nan
        if self.robot is not None:
            self._start = self.robot.q[:2].copy()
            limits = self.robot.model.system.effort_limit[self.robot._joint_v]
            self._effort_limits = np.where(limits > 0.0, limits, np.inf)
            self._efforts = np.zeros(len(limits))  # the largest so far
            self._effort = np.zeros(len(limits))
            self._note()

    @property
    def finished(self) -> bool:
        """Whether time is up, the controller has finished, or the robot has fallen."""
        done = self.controller is not None and self.controller.finished
        return self._left <= 0 or done or not math.isnan(self._fell_at)

    def tick(self) -> None:
        """Let one period pass."""
        now = self._ticks * self.period
        for push in self._pushes:
            push.apply(self.world, now, self.period)
        if self._loop is None:
            self.world.step(self._steps)
        else:
            self._loop.tick()
        self._ticks += 1
        self._left -= 1
        if self.robot is not None:
            self._note()

    @property
    def left(self) -> float:
        """Simulated time until its end, if nothing ends it before [s]."""
        return self._left * self.period

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

    def _note(self) -> None:
        if self.robot.model.base == "free":
            _, _, height, *quaternion = self.robot.q[:7].tolist()
            self._watch.add(height, quaternion)
        if math.isnan(self._fell_at) and self._watch.fallen:
            self._fell_at = self._ticks * self.period
        error = getattr(self.controller, "signals", {}).get("dcm_error")
        if error is not None:
            size = math.hypot(*error)
            self._dcm_error = size if math.isnan(self._dcm_error) else max(self._dcm_error, size)
        np.abs(self.robot.joint_efforts, out=self._effort)
        np.maximum(self._efforts, self._effort, out=self._efforts)

    def outcomes(self) -> dict[str, float]:
        """Return all that may be asked for, as far as the run has come."""
        end = self._ticks * self.period
        found = {"time": end, "unconverged": float(self.world.stats.since_reset.unconverged)}
        for name, entity in self.world.entities.items():
            if len(entity.q) >= 7:
                found.update(_of_entity(name, entity))
        if self.robot is None:
            return found
        fell = not math.isnan(self._fell_at)
        found.update(
            fell=float(fell),
            fell_at=self._fell_at,
            largest_tilt=self._watch.largest_tilt,
            lowest_height=self._watch.lowest_height,
            x=float(self.robot.q[0] - self._start[0]),
            y=float(self.robot.q[1] - self._start[1]),
            largest_effort=float((self._efforts / self._effort_limits).max(initial=0.0)),
        )
        sequence = getattr(self.controller, "sequence", None)
        if sequence is not None:
            ends = step_ends(sequence)
            steps = int(np.sum(ends <= (self._fell_at if fell else end) + 1e-9))
            found.update(
                steps=float(steps),
                completed=float(not fell and steps == len(ends)),
                largest_dcm_error=self._dcm_error,
            )
        return found


def _of_entity(name: str, entity) -> dict[str, float]:
    q = entity.q
    return {
        f"{name}.x": float(q[0]),
        f"{name}.y": float(q[1]),
        f"{name}.z": float(q[2]),
        f"{name}.speed": float(np.linalg.norm(entity.v[:3])),
        f"{name}.tilt": tilt(q[3:7]),
    }
