# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measure a world from tick to tick, independent of who steps it."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.control.framework.controller import Controller
from hrpsim.control.walk_trial import step_ends
from hrpsim.sweeps.framework.scenario import Outcome, SweepError
from hrpsim.world.objects.fall import FallWatch, clearance, tilt
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


class Measures:
    """Measures a world and its robot `robot` (None: no robot); `period` of a tick [s].

    Made at the beginning of a run; `tick` must be called after each tick. Raises SweepError for a
    robot that lies already: such a run would end before its first tick. measured: the requested
    outcomes, by default all; `largest_effort` is NaN if not requested.
    """

    def __init__(
        self,
        world: World,
        robot: str | None,
        period: float,
        measured: Collection[str] | None = None,
    ):
        self._world, self._period = world, period
        self._robot = None if robot is None else world.robots[robot]
        self.ticks = 0  # that have passed
        self._watch = FallWatch(lambda: clearance(self._robot))
        self._fell_at = math.nan
        if self._robot is not None:
            self._moves = self._robot.model.base == "free"
            self._start = self._robot.q[:2].copy() if self._moves else np.zeros(2)
            limits = self._robot.model.system.effort_limit[self._robot.joint_index.v]
            self._effort_limits = np.where(limits > 0.0, limits, np.inf)
            asks = measured is None or "largest_effort" in measured
            self._efforts = np.zeros(len(limits)) if asks else None  # the largest so far
            self._effort = np.zeros(len(limits))
            self._note()
            if self.fell:
                raise SweepError(self._fallen_before())

    def _fallen_before(self) -> str:
        said = (
            f"robot {self._robot.name!r} lies before the run begins, tilted by "
            f"{self._watch.largest_tilt:.2f} rad"
        )
        if not np.any(self._robot.gains[0]):
            said += ": its joints have no gains, which are in the world file under `gains`"
        return said

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
        """Return the outcomes so far, without those of a walk."""
        unconverged = float(self._world.stats.since_reset.unconverged)
        found = {"time": self.ticks * self._period, "unconverged": unconverged}
        for name, entity in self._world.entities.items():
            if len(entity.q) >= 7:
                found.update(_of_entity(name, entity))
        if self._robot is None:
            return found
        x, y = self._robot.q[:2] - self._start if self._moves else self._start
        largest = math.nan
        if self._efforts is not None:
            largest = float((self._efforts / self._effort_limits).max(initial=0.0))
        found.update(
            fell=float(self.fell),
            fell_at=self._fell_at,
            largest_tilt=self._watch.largest_tilt,
            lowest_height=self._watch.lowest_height,
            x=float(x),
            y=float(y),
            largest_effort=largest,
        )
        return found


def planned_steps(controller: Controller | None) -> list[float] | None:
    """Return when the steps of a controller's motion end [s]; None if it has no motion."""
    sequence = getattr(controller, "sequence", None)
    begin = getattr(controller, "begin", None) or 0.0
    return None if sequence is None else (begin + step_ends(sequence)).tolist()


def larger_dcm_error(largest: float, controller: Controller | None) -> float:
    """Return the size of a controller's present error if it is larger than the largest so far."""
    error = getattr(controller, "signals", {}).get("dcm_error")
    if error is None:
        return largest
    size = math.hypot(*error)
    return size if math.isnan(largest) else max(largest, size)


def walk_outcomes(
    ends: Sequence[float] | None, found: Mapping[str, Any], largest_dcm_error: float
) -> dict[str, float]:
    """Return the outcomes of a walk whose steps end at `ends`, from the other outcomes."""
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
