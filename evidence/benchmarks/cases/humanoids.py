# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Humanoids of many manufacturers that stand, sway and walk, in hrpsim and in MuJoCo.

The robots' files are not part of hrpsim. The environment variable HRPSIM_BENCHMARK_ROBOTS names the
folder of the descriptions, in formats of `hrpsim walk --robot`. This command also computes gains
and posture, because most robots fall within a second with the gains published for learning. Robots
with closed loops are MJCF files with a keyframe `home`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evidence.benchmarks.cases.swaying_step import CONTROL_PERIOD, SwayingSubject
from evidence.benchmarks.engines.servoed import (
    PATTERN,
    SWING,
    TIME_STEP,
    ClosedLoops,
    MujocoWalk,
    OpenLegs,
    OurWalk,
    Servoed,
    described,
)
from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.tables import number
from evidence.benchmarks.timing import Effort, interleave
from evidence.experiments.framework.engines import mujoco_module, peer_name
from hrpsim.common.errors import HrpsimError

FOLDER = "HRPSIM_BENCHMARK_ROBOTS"
ROBOTS = (
    *("berkeley_humanoid", "g1", "t1", "apollo", "talos", "icub", "romeo", "jvrc1", "hrp4"),
    *("atlas", "valkyrie", "digit", "op3"),
)
MOTIONS = {"standing": 0.0, "swaying": 0.015}  # amplitude of every target [rad]
WALK = 1000  # number of periods of the walking controller
ROUNDS = 7
BOUND = 1.25  # ratio of the times of a step with and without joint friction
OURS, SMOOTH, OWN = "hrpsim", "without joint friction", "with its own feet"
PUBLIC, ACCURATE = "public", "accurate"
HEAD = [
    *("robot", "motion", "hrpsim [us]", "public / hrpsim", "accurate / hrpsim", "sweeps"),
    *("factorisations", "points", "MuJoCo's points", "with / without friction"),
    *("own feet / boxes", "fell"),
]


def found_robots(folder: Path) -> dict[str, Path]:
    """Return the files in a folder of the listed robots, by name."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return {name: file for name in ROBOTS for file in files if file.stem == name}


@dataclass
class Line:
    """The results of one robot in one motion.

    Attributes:
        times: time of a step by engine [s].
        counts: mean numbers of sweeps, factorisations and contact points in hrpsim.
        points: mean number of contact points in MuJoCo.
        fell: engines in which the robot fell.
    """

    times: dict[str, float]
    counts: np.ndarray  # numbers of sweeps, factorisations and points
    points: float
    fell: list[str]

    def ratio(self, over: str, under: str = OURS) -> float:
        """Return the ratio of two engines' times, or NaN if a time is missing or a robot fell."""
        if over in self.fell or under in self.fell:
            return np.nan
        return self.times.get(over, np.nan) / self.times.get(under, np.nan)

    def cells(self) -> list[str]:
        """Return the cells of this result in the table."""
        times = 1e6 * self.times[OURS], self.ratio(PUBLIC), self.ratio(ACCURATE)
        sweeps, factorisations, points = self.counts
        counts = f"{sweeps:.1f}", f"{factorisations:.2f}", f"{points:.1f}", f"{self.points:.1f}"
        shares = self.ratio(OURS, SMOOTH), self.ratio(OWN)
        cells = [*map(number, times), *counts, *map(number, shares)]
        return [*("-" if cell == "nan" else cell for cell in cells), ", ".join(self.fell) or "-"]


def run(result: CaseResult, effort: Effort) -> None:
    """Time each robot whose file is in the folder."""
    files, mujoco = found_robots(Path(os.environ.get(FOLDER, ""))), mujoco_module()
    effort = replace(effort, rounds=min(effort.rounds, ROUNDS))
    lines: dict[tuple[str, str], Line] = {}
    for name, path in files.items():
        try:
            robot = described(path)
            for motion, line in under_servos(robot, mujoco, effort).items():
                lines[name, motion] = line
            if isinstance(robot, OpenLegs):
                lines[name, "walking"] = walking(robot, mujoco)
        except HrpsimError as error:
            result.notes.append(f"{name}: {error}")
    result.extra.append((HEAD, [[*key, *line.cells()] for key, line in lines.items()]))
    for motion in (*MOTIONS, "walking"):
        _claim(
            result, {name: line for (name, kind), line in lines.items() if kind == motion}, motion
        )
    absent = [name for name in ROBOTS if name not in files]
    if absent:
        result.notes.append(f"not in the folder that {FOLDER} names: {', '.join(absent)}")
    result.notes += [
        f"{TIME_STEP * 1e3:g} ms. Swaying: all targets by {MOTIONS['swaying']} rad, one period in "
        f"{SWING} steps, new ones every {CONTROL_PERIOD} steps, the call not timed. Least of "
        f"{effort.rounds} swings in turn",
        f"walking: the first {WALK} periods of `{PATTERN}`, the same controller in each engine, "
        "all period by period in turn. Only steps are timed, of who falls until then",
        "public: settings of MuJoCo Playground, Newton, 3 iterations, pyramids. Accurate: Newton, "
        "100 iterations, tolerance 1e-12, elliptic cones. Ours to 1e-8 m/s. Feet are boxes in both",
        peer_name(mujoco),
    ]


def _peers(make: Callable, mujoco) -> dict:
    """Return the results of `make` for MuJoCo with each of two solver settings."""
    results = {}
    for name, accurate in ((PUBLIC, False), (ACCURATE, True)) if mujoco is not None else ():
        with contextlib.suppress(ValueError):  # bodies without mass
            results[name] = make(mujoco, accurate)
    return results


def under_servos(robot: OpenLegs | ClosedLoops, mujoco, effort: Effort) -> dict[str, Line]:
    """Time a standing and swaying robot. Return the results by motion."""
    engines = {OURS: robot.ours()}
    if np.any(robot.model.system.friction > 0.0):
        engines[SMOOTH] = robot.ours(friction=False)
    if isinstance(robot, OpenLegs):
        engines[OWN] = robot.with_own_feet()
    engines |= _peers(robot.theirs, mujoco)
    subjects = [
        SwayingSubject(name, engine, reset=engine.restart, most=1, each=SWING)
        for name, engine in engines.items()
    ]
    lines = {}
    for motion, amplitude in MOTIONS.items():
        for engine in engines.values():
            engine.amplitude = amplitude
        times = {name: float(t.min()) for name, t in interleave(subjects, effort).items()}
        fell = [name for name, engine in engines.items() if engine.fallen]
        theirs = _swing(engines[ACCURATE], CONTROL_PERIOD) if ACCURATE in engines else [np.nan]
        counts = np.mean(_swing(engines[OURS], 1), axis=0)
        lines[motion] = Line(times, counts, float(np.mean(theirs)), fell)
    return lines


def _swing(engine: Servoed, steps: int) -> list:
    """Simulate one period of swaying. Return the counts after each step."""
    engine.restart()
    counts = []
    for _ in range(SWING // CONTROL_PERIOD):
        engine.aim()
        for _ in range(CONTROL_PERIOD // steps):
            engine.step(steps)
            counts.append(engine.counts())
    return counts


def walking(robot: OpenLegs, mujoco) -> Line:
    """Time a walking robot. Raises HrpsimError if the robot cannot walk."""
    walkers = {OURS: OurWalk(robot.biped)}
    walkers |= {n: MujocoWalk(r) for n, r in _peers(robot.in_mujoco, mujoco).items()}
    counts: dict[str, list] = {name: [] for name in walkers}
    fell = []
    for k in range(1, WALK + 1):
        for name, walker in walkers.items():
            if walker.watch.fallen:
                continue
            walker.tick()
            counts[name].append(walker.counts())
            if walker.watch.fallen:
                fell.append(f"{name} at {k * walker.controller.period:.1f} s")
    times = {name: walker.step_time() for name, walker in walkers.items()}
    theirs = counts.get(ACCURATE, [np.nan])
    return Line(times, np.mean(counts[OURS], axis=0), float(np.mean(theirs)), fell)


def _claim(result: CaseResult, lines: dict[str, Line], motion: str) -> None:
    """Add claims for the worst robots in a motion."""
    public = {name: line.ratio(PUBLIC) for name, line in lines.items()}
    friction = {name: line.ratio(OURS, SMOOTH) for name, line in lines.items()}
    if not np.isnan(list(public.values())).all():
        name = min(public, key=lambda n: np.nan_to_num(public[n], nan=np.inf))
        text = f"{motion}: public / hrpsim, smallest, {name}"
        result.claims.append(Claim(text, public[name], 1.0, at_least=True))
    if not np.isnan(list(friction.values())).all():
        name = max(friction, key=lambda n: np.nan_to_num(friction[n]))
        text = f"{motion}: with / without joint friction, largest, {name}"
        result.claims.append(Claim(text, friction[name], BOUND))


CASE = Case("Humanoids of many makers", run)
