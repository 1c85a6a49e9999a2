# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Many worlds at once: hrpsim.Batch, mujoco.rollout and mjbatch, with one thread and two."""

from __future__ import annotations

import copy
import dataclasses
import os
import re
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from evidence.benchmarks.engines.hrpsim_standing import HrpsimStanding
from evidence.benchmarks.engines.mjbatch_worlds import PYTHON, MjbatchWorlds, randomise
from evidence.benchmarks.engines.mujoco_standing import MujocoStanding
from evidence.benchmarks.machine import core_count, use_cores
from evidence.benchmarks.results import Case, CaseResult, Claim, median_ratio
from evidence.benchmarks.timing import Effort, Subject
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes.standing import humanoid, mujoco_spec
from hrpsim import Batch

CALLS = (64, 50), (1024, 50), (1024, 5), (1024, 1)  # worlds, steps in a call
SPREAD = 0.05  # spread of the worlds' initial velocities [m/s and rad/s]
OURS, SWEPT = "hrpsim.Batch", "hrpsim.Batch, sweeps alone"
MUJOCO, MJBATCH = "mujoco.rollout, Newton", "mjbatch, Newton"
BEFORE = 100  # steps before the initial state of each measured call


class Variation(NamedTuple):
    """The differences between worlds: factors of masses and gains, friction, initial velocity."""

    masses: np.ndarray
    gains: np.ndarray
    frictions: np.ndarray
    seed: int = 1

    def velocities(self, count: int) -> np.ndarray:
        """Return the initial velocities (worlds, count) of all worlds."""
        random = np.random.default_rng(self.seed)
        return SPREAD * random.normal(size=(len(self.masses), count))


def variation(worlds: int) -> Variation:
    """Return the variation of a number of worlds, which is the same for every engine."""
    random = np.random.default_rng(2)
    ranges = (0.9, 1.1), (0.9, 1.1), (0.5, 1.0)
    return Variation(*(random.uniform(low, high, worlds) for low, high in ranges))


def our_subject(engine, varied: Variation, threads: int, steps: int) -> Subject:
    """Return hrpsim's batch as a subject. One call makes `steps` steps."""
    batch = Batch(engine.world, len(varied.masses), threads=threads)
    name, (kp, kd) = engine.robot.name, engine.robot.gains
    batch.scale_inertias(name, varied.masses)
    batch.set_gains(name, np.outer(varied.gains, kp), np.outer(varied.gains, kd))
    batch.set_friction("default", "default", varied.frictions)
    for world, velocity in zip(batch.worlds, varied.velocities(engine.model.nv)):
        world.robots[name].v = velocity
    batch.step(BEFORE)
    batch.close()
    batch = Batch.of(batch.worlds, threads=threads)
    each = len(batch) * steps
    return Subject(engine.name, lambda n: batch.step(n * steps), True, batch.reset, 1, each)


def rollout_subject(mujoco, engine: MujocoStanding, varied: Variation, threads, steps) -> Subject:
    """Return mujoco.rollout over the same worlds as a subject. One call makes `steps` steps."""
    from mujoco.rollout import Rollout

    count = len(varied.masses)
    models = [copy.copy(engine.mj) for _ in range(count)]
    fields = varied._asdict()
    for k, model in enumerate(models):
        own = {name: fields[name][k : k + 1] for name in ("masses", "gains", "frictions")}
        randomise(own, lambda name, model=model: getattr(model, name)[None])
        mujoco.mj_setConst(model, mujoco.MjData(model))
    data = [mujoco.MjData(engine.mj) for _ in range(threads)]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(engine.mj, full))
    mujoco.mj_getState(engine.mj, engine.data, state, full)
    states = np.tile(state, (count, 1))
    first = 1 + engine.mj.nq  # after time and configuration
    states[:, first : first + engine.mj.nv] = varied.velocities(engine.mj.nv)
    control = np.tile(engine.data.ctrl, (count, BEFORE, 1))
    pool = Rollout(nthread=threads if threads > 1 else 0)
    after, _ = pool.rollout(models, data, states, control)
    states, control = after[:, -1].copy(), control[:, :steps].copy()

    def run(calls) -> None:
        begin = states
        for _ in range(calls):
            after, _ = pool.rollout(models, data, begin, control)
            begin = after[:, -1]

    return Subject(MUJOCO, run, most=1, each=count * steps)


def _mjbatch_worlds(mujoco, engine: MujocoStanding, varied: Variation, threads: int):
    """Return mjbatch's worlds, or None if no interpreter for mjbatch is available."""
    if not os.environ.get(PYTHON):
        return None
    count, data = len(varied.masses), engine.data
    xml = mujoco_spec(mujoco, engine.model).to_xml()
    return MjbatchWorlds(
        re.sub(r' input="\w+"', "", xml),  # mjbatch's older MuJoCo assumes the default
        threads,
        qpos=np.tile(data.qpos, (count, 1)),
        qvel=varied.velocities(engine.mj.nv),
        ctrl=np.tile(data.ctrl, (count, 1)),
        masses=varied.masses,
        gains=varied.gains,
        frictions=varied.frictions,
    )


def _subjects(mujoco, ours, call, threads: int, closing: list) -> list[Subject]:
    worlds, steps = call
    varied = variation(worlds)
    subjects = [our_subject(engine, varied, threads, steps) for engine in ours]
    if mujoco is None:
        return subjects
    engine = MujocoStanding(mujoco, ours[0].model, ours[0].state()[0], "Newton")
    engine.step(2000)
    subjects.append(rollout_subject(mujoco, engine, varied, threads, steps))
    other = _mjbatch_worlds(mujoco, engine, varied, threads)
    if other is not None:
        closing.append(other)
        other.step(BEFORE)
        each = worlds * steps
        run = Subject(MJBATCH, lambda n: other.step(n * steps), False, other.reset, 1, each)
        subjects.append(run)
    return subjects


def _processor_time_with(others: list[MjbatchWorlds]) -> Callable[[], float]:
    return lambda: time.process_time() + sum(other.processor_time for other in others)


def run(result: CaseResult, effort: Effort) -> None:
    """Time calls with one thread, then with two threads, with the engines in turn."""
    model = humanoid(8)
    engines = [HrpsimStanding(model, OURS), HrpsimStanding(model, SWEPT, solver="iterative")]
    mujoco, throughput, names = mujoco_module(), {}, []
    effort = dataclasses.replace(effort, slice=0.1)
    for call in CALLS[:1] if effort.quick else CALLS:
        for threads in range(1, min(core_count(), 2) + 1):
            use_cores(threads)
            closing: list[MjbatchWorlds] = []
            try:
                subjects = _subjects(mujoco, engines, call, threads, closing)
                quantity = f"{call[0]} worlds, {call[1]} steps a call, {threads} thread"
                quantity += "s" if threads > 1 else ""
                clock = time.perf_counter if threads > 1 else _processor_time_with(closing)
                times = result.measure(quantity, subjects, dataclasses.replace(effort, clock=clock))
            finally:
                for closable in closing:
                    closable.close()
            throughput[quantity] = [f"{1e-3 / np.median(t):.0f}" for t in times.values()]
            names = list(times)
            for peer in names[len(engines) :]:
                ratio = median_ratio(times, peer, OURS)
                result.claims.append(
                    Claim(f"{quantity}: {peer} / hrpsim", ratio, 1.0, at_least=True)
                )
    head = ["thousand world-steps a second", *names]
    result.extra.append((head, [[name, *values] for name, values in throughput.items()]))
    result.notes += [
        "hrp2_like standing on 8 points. Worlds differ in masses and gains (±10 %), friction (0.5 "
        f"to 1) and initial velocities. Every call begins {BEFORE} steps later, in the same "
        "states. Microseconds are per world-step: processor time with one thread, wall time with "
        "two",
        f"{SWEPT}: by default Newton's method solves bodies that come to rest, to 1e-12 m/s",
        f"{PYTHON} names an interpreter with mjbatch, which needs its own MuJoCo",
    ]


CASE = Case("Many worlds at once", run, cores=2)
