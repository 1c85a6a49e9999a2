# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step of hrp2_like that sways and swings the arms. No solver starts at the solution."""

from __future__ import annotations

import time

import numpy as np

from evidence.benchmarks.cases.standing_step import OURS, engines
from evidence.benchmarks.engines.bullet_scenes import BulletStanding
from evidence.benchmarks.figures import draw_bars
from evidence.benchmarks.results import Case, CaseResult
from evidence.benchmarks.standing_engine import exactness
from evidence.benchmarks.timing import Effort, Subject

SWING = 1000  # steps
CONTROL_PERIOD = 10  # steps between two targets
# joint: amplitude [rad] at 1 Hz
SWAY = {
    "LLEG_JOINT1": 0.02,
    "RLEG_JOINT1": 0.02,
    "LLEG_JOINT5": -0.02,
    "RLEG_JOINT5": -0.02,
    "LARM_JOINT0": 0.3,
    "RARM_JOINT0": -0.3,
    "CHEST_JOINT0": 0.1,
}


class Swaying:
    """An engine with a swaying robot, whose targets move."""

    def __init__(self, engine, q: np.ndarray) -> None:
        self.engine, self.middle, self.k = engine, q, 0

    def aim(self) -> None:
        """Move the targets to the present phase."""
        q, model = self.middle.copy(), self.engine.model
        for name, amplitude in SWAY.items():
            q[model.joint(name).q_index] += amplitude * np.sin(2.0 * np.pi * self.k / SWING)
        self.k += CONTROL_PERIOD
        self.engine.aim(q)

    def exactness(self) -> dict:
        """Return the largest errors over the steps of one control period in motion."""
        self.aim()
        self.engine.step(SWING // 8)
        return exactness(self.engine, at_rest=False, steps=CONTROL_PERIOD)


class SwayingSubject(Subject):
    """A subject that times whole periods of a swaying robot. Setting targets is not timed."""

    def timed(self, count: int, clock=time.process_time) -> float:
        """Return the time of a step over `count` periods of swaying [s]."""
        if self.reset is not None:
            self.reset()
        total = 0.0
        for _ in range(count * self.each // CONTROL_PERIOD):
            self.run.aim()
            begin = clock()
            self.run.engine.step(CONTROL_PERIOD)
            total += clock() - begin
        return total / (count * self.each)


def run(result: CaseResult, effort: Effort) -> None:
    """Time one period of swaying in every engine, in turn."""
    for points in (8,) if effort.quick else (8, 64):
        scenes = engines(points)
        robots = [Swaying(engine, engine.state()[0]) for engine in scenes]
        subjects = []
        for robot in robots:
            name = robot.engine.name
            subjects.append(SwayingSubject(name, robot, name in OURS, most=1, each=SWING))
        result.measure(
            f"{points} points",
            subjects,
            effort,
            lambda robots=robots: {robot.engine.name: robot.exactness() for robot in robots},
        )
        sweeps = scenes[0].world.stats.iterations
        result.notes.append(f"{points} points: hrpsim used {sweeps} sweeps in the last step")
        for engine in scenes:
            if isinstance(engine, BulletStanding):
                engine.close()
    result.notes += [
        f"New targets every {CONTROL_PERIOD} steps, set outside the measured time: hips and "
        "ankles 0.02 rad, arms 0.3 rad, chest 0.1 rad at 1 Hz",
        f"contact speed: largest of {CONTROL_PERIOD} steps. The exact value is 0",
    ]


def draw(result: CaseResult, figure) -> None:
    """Draw times at every number of contact points as bars."""
    quantities = list(dict.fromkeys(m.quantity for m in result.measurements))
    draw_bars(result, figure.subplots(), quantities)


CASE = Case("A step of hrp2_like, swaying", run, draw)
