# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The part `times` of the suite: time engines in turn, and detect other load of the machine.

A moving scene is divided into slices. In each round, all engines simulate slice after slice in
turn. The time of a slice is the minimum over all rounds. A scene at rest is a single slice, which
is repeated.
"""

from __future__ import annotations

import datetime
import os
import time
from itertools import product

import numpy as np

from evidence.benchmarks.simbenchmark.host import Child, Ride, RideFailure, ride
from evidence.benchmarks.simbenchmark.plan import MOST_ROBOTS, TIMED_ENGINES, TimeTask
from evidence.benchmarks.simbenchmark.store import Store
from evidence.benchmarks.tables import number

SLICES, WHOLE_ROUNDS = 20, 2
TURN, STANDING_ROUNDS = 0.03, 15  # duration of one engine's turn with standing robots [s], rounds
MOST = 6.0  # processor time of one engine in one round of a complete scene [s]
_STANDING_BUDGET = 10.0  # wall time for a task with standing robots [s]
# least processor share of the wall time, and largest spread, without other programs on the cores
LEAST_SHARE, MOST_SPREAD = 0.97, 0.10


def run_times(tasks, engines, store: Store, budget: float, quick: bool = False) -> None:
    """Measure the tasks in order. No task begins after `budget` [s]."""
    children = {name: Child(name) for name in TIMED_ENGINES if name in engines}
    until = time.monotonic() + budget
    try:
        for task in tasks:
            if time.monotonic() > until:
                print(f"{task.name}: not measured, {budget:g} s are over", flush=True)
                continue
            record = measure(task, children, until, quick)
            store.add_time(task.name, record)
            times = {
                name: number(1e6 * mean(ride_times))
                for name, ride_times in record["engines"].items()
            }
            state = "quiet" if not record["busy"] else f"BUSY: {record['busy']}"
            print(f"{task.name} [us a step]: {times}; machine {state}", flush=True)
    finally:
        for child in children.values():
            child.end()


def measure(task: TimeTask, children, until: float, quick: bool = False) -> dict:
    """Return the record of a task. No second round begins after `until` on the monotonic clock."""
    rides, unable = {}, {}
    for name, child in children.items():
        if task.count > MOST_ROBOTS.get(name, task.count):
            continue
        outcome = ride(child, task.scene, task.time_step, task.count)
        if isinstance(outcome, Ride):
            rides[name] = outcome
        else:
            unable[name] = outcome
    load, engines = os.getloadavg()[0], None
    while engines is None:
        try:
            engines = _whole(rides, until, quick) if task.whole else _standing(rides, quick)
        except RideFailure as failure:  # the measurement continues without this engine
            unable[failure.engine] = str(failure)
            del rides[failure.engine]
    for child in children.values():  # the scenes of other engines only use memory
        if task.count > 25:
            child.end()
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="minutes"),
        "time_step": task.time_step,
        "load_average": [round(load, 2), round(os.getloadavg()[0], 2)],
        "busy": busy(engines),
        "engines": engines,
        "unable": unable,
    }


def _whole(rides: dict[str, Ride], until: float, quick: bool) -> dict:
    """Time the scene slice by slice from its start, with the engines in turn.

    An engine stops when its processor time in the first round exceeds MOST seconds. Later rounds
    stop at the same slice.
    """
    slices, rounds = (2, 1) if quick else (SLICES, WHOLE_ROUNDS)
    times, walls = ({name: np.zeros((rounds, slices)) for name in rides} for _ in range(2))
    reach, done = dict.fromkeys(rides, slices), 0
    for engine in rides.values():  # not measured: compilation and loading at first use
        engine.run(engine.steps // SLICES)
    for round_ in range(rounds):
        if round_ > 0 and time.monotonic() > until:
            break
        done += 1
        _time_slices(rides, round_, times, walls, reach)
    return {
        name: _record(*(a[name][:done, : reach[name]] for a in (times, walls)), engine, slices)
        for name, engine in rides.items()
    }


def _time_slices(rides: dict[str, Ride], round_: int, times, walls, reach: dict) -> None:
    """Write the times of one round to `times` and `walls` (rounds, slices).

    The first round sets `reach`, the number of slices of each engine.
    """
    for engine in rides.values():
        engine.restart()
    for k, (name, engine) in product(range(max(reach.values(), default=0)), rides.items()):
        if k < reach[name]:
            steps = engine.steps // SLICES
            times[name][round_, k], walls[name][round_, k] = engine.run(steps)
            if round_ == 0 and steps * times[name][0, : k + 1].sum() > MOST:
                reach[name] = k + 1


def _standing(rides: dict[str, Ride], quick: bool) -> dict:
    """Time standing robots in turns of about TURN seconds, with the engines in turn."""
    rounds = 3 if quick else STANDING_ROUNDS
    counts = {}
    for name, engine in rides.items():
        first, _ = engine.run(1)
        taken, _ = engine.run(20 if first < TURN else 1)
        counts[name] = int(np.clip(TURN / taken, 1, 1_000_000))
    begin, turns = time.monotonic(), []
    while len(turns) < rounds:
        turns.append([engine.run(counts[name]) for name, engine in rides.items()])
        if time.monotonic() - begin > _STANDING_BUDGET and len(turns) >= 3:
            break
    both = np.array(turns).reshape(len(turns), len(rides), 2)  # processor and wall
    return {
        name: _record(both[:, k, :1], both[:, k, 1:], engine, 1)
        for k, (name, engine) in enumerate(rides.items())
    }


def _record(times: np.ndarray, walls: np.ndarray, one: Ride, slices: int) -> dict:
    """Summarise the times of one engine.

    Args:
        times: processor time of a step by round and slice [s].
        walls: wall time of a step by round and slice [s].
        one: the timed scene.
        slices: number of slices of the complete scene.

    Returns:
        Minimum time by slice, spread (median over minimum time of a round, minus one), share of
        processor time in wall time, and the completed part of the scene.
    """
    wholes = times.sum(axis=1)
    return {
        "settings": one.settings,
        "slices": [float(value) for value in times.min(axis=0)],
        "spread": float(np.median(wholes) / wholes.min() - 1.0),
        "share": float(times.sum() / walls.sum()),
        "part": times.shape[1] / slices,
    }


def busy(engines: dict) -> str:
    """Describe the evidence that other programs used the machine, or return ""."""
    if not engines:
        return ""
    core_share = min(engine["share"] for engine in engines.values())
    spread = float(np.median([engine["spread"] for engine in engines.values()]))
    signs = []
    if core_share < LEAST_SHARE:
        signs.append(f"a process had {100 * core_share:.0f} % of its core")
    if spread > MOST_SPREAD:
        signs.append(f"rounds differ by {100 * spread:.0f} %")
    return ", ".join(signs)


def mean(one: dict) -> float:
    """Return the mean time of a step of an engine over the measured slices [s]."""
    return float(np.mean(one["slices"]))


def ratio(record: dict, over: str, under: str) -> float | None:
    """Return the ratio of two engines' times over common slices, or None without common slices."""
    engines = record["engines"]
    if over not in engines or under not in engines:
        return None
    count = min(len(engines[name]["slices"]) for name in (over, under))
    both = [sum(engines[name]["slices"][:count]) for name in (over, under)]
    return both[0] / both[1]
