# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The tasks of the suite: scenes, step sizes, numbers of robots, and limits of processor time."""

from __future__ import annotations

from dataclasses import dataclass

from evidence.benchmarks.simbenchmark.engines import KINDS, OURS
from evidence.benchmarks.simbenchmark.scenes import STEPS

ROBOT_STEPS = (4e-4, 1e-3, 4e-3, 1e-2)
KAPLA_STEP = 1e-2
ERROR_STEPS = {
    "rolling": STEPS,
    "bouncing": STEPS,
    "666": STEPS,
    "elastic 666": STEPS,
    "anymal momentum": ROBOT_STEPS,
    "anymal energy": ROBOT_STEPS,
    "kapla": (KAPLA_STEP,),
}
LIMIT, KAPLA_LIMIT, QUICK_LIMIT = 60.0, 420.0, 1.5  # processor time for one error [s]
_COUNTS = (1, 4, 9, 25, 100, 225)
_STANDING = {"anymal pd": (5e-3, _COUNTS), "atlas pd": (5e-4, (1,))}
_WHOLE_RUNS = ("rolling", "bouncing", "666", "elastic 666")
SCENES = tuple(dict.fromkeys((*ERROR_STEPS, *_STANDING)))
# settings with a measured step time. rk4 is another method, and dense is mujoco 4's default below
# 60 degrees of freedom
TIMED_ENGINES = tuple(name for name in KINDS if "rk4" not in name)
MOST_ROBOTS = {"drake": 9, "mujoco 4 dense": 25, "bullet": 100, "dart": 100}  # beyond: minutes


@dataclass(frozen=True)
class ErrorTask:
    """Measure the error of a scene in an engine at a step size [s].

    limit: processor time [s].
    """

    scene: str
    time_step: float
    engine: str
    limit: float


@dataclass(frozen=True)
class TimeTask:
    """Time the steps of a scene, with a given step size [s], in all engines in turn.

    whole: whether the complete scene is timed.
    """

    scene: str
    time_step: float
    count: int
    whole: bool

    @property
    def name(self) -> str:
        """The name of the task in the store and in tables."""
        return self.scene if self.count == 1 else f"{self.scene}, {self.count} robots"


def error_tasks(scenes, engines, limit: float | None = None, quick: bool = False):
    """Return the ErrorTasks. In each scene, hrpsim comes first."""
    tasks = []
    for scene in (s for s in ERROR_STEPS if s in scenes):
        usual = KAPLA_LIMIT if scene == "kapla" else LIMIT
        steps = ERROR_STEPS[scene]
        if quick:
            usual, steps = QUICK_LIMIT, [s for s in steps if s in (1e-3, 1e-2)]
        for engine in sorted(engines, key=lambda name: not name.startswith(OURS)):
            tasks += [ErrorTask(scene, step, engine, limit or usual) for step in steps]
    return tasks


def time_tasks(scenes, quick: bool = False) -> list[TimeTask]:
    """Return the TimeTasks: one robot, complete scenes, then more robots."""
    tasks = []
    for scene, (time_step, counts) in _STANDING.items():
        counts = counts[:1] if quick else counts
        tasks += [TimeTask(scene, time_step, count, False) for count in counts]
    tasks += [TimeTask(scene, 1e-3, 1, True) for scene in _WHOLE_RUNS]
    tasks.sort(key=lambda task: task.count)
    return [task for task in tasks if task.scene in scenes]
