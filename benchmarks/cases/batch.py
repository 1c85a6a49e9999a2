# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Many worlds at once: hrpsim.Batch beside mujoco.rollout, with one thread and two."""

from __future__ import annotations

import dataclasses
import time

import numpy as np

from benchmarks.engines.hrpsim_standing import HrpsimStanding
from benchmarks.engines.mujoco_standing import MujocoStanding
from benchmarks.machine import core_count, use_cores
from benchmarks.registry import Case
from benchmarks.results import CaseResult, Claim, median_ratio
from benchmarks.timing import Effort, Subject
from hrpsim import Batch
from hrpsim.experiments.framework.peers import mujoco_module
from hrpsim.experiments.scenes.standing import humanoid

WORLDS = 64
SPREAD = 0.05  # of the velocities that the worlds begin with [m/s and rad/s]
OURS, MUJOCO = "hrpsim.Batch", "mujoco.rollout, Newton"
STEPS = 50  # of a call


def _our_subject(world, threads: int) -> Subject:
    batch = Batch(world, WORLDS, threads=threads)
    random = np.random.default_rng(1)
    for one in batch.worlds:
        robot = next(iter(one.robots.values()))
        robot.v = SPREAD * random.normal(size=robot.model.nv)
    return Subject(OURS, lambda n: batch.step(n * STEPS), ours=True, each=WORLDS * STEPS)


def _mujoco_subject(mujoco, engine: MujocoStanding, threads: int) -> Subject:
    from mujoco.rollout import Rollout

    data = [mujoco.MjData(engine.mj) for _ in range(threads)]
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.zeros(mujoco.mj_stateSize(engine.mj, full))
    mujoco.mj_getState(engine.mj, engine.data, state, full)
    states = np.tile(state, (WORLDS, 1))
    random = np.random.default_rng(1)
    first = 1 + engine.mj.nq  # after time and configuration
    states[:, first : first + engine.mj.nv] = SPREAD * random.normal(size=(WORLDS, engine.mj.nv))
    control = np.tile(engine.data.ctrl, (WORLDS, STEPS, 1))
    pool = Rollout(nthread=threads if threads > 1 else 0)

    def run(count):
        for _ in range(count):
            after, _ = pool.rollout(engine.mj, data, states, control)
            states[:] = after[:, -1]

    return Subject(MUJOCO, run, each=WORLDS * STEPS)


def run(result: CaseResult, effort: Effort) -> None:
    """Time calls of one thread, then of two, each in turn with MuJoCo's."""
    model = humanoid(8)
    ours = HrpsimStanding(model)
    mujoco, throughput = mujoco_module(), {}
    effort = dataclasses.replace(effort, clock=time.perf_counter, slice=0.1)
    for threads in range(1, min(core_count(), 2) + 1):
        use_cores(threads)
        subjects = [_our_subject(ours.world, threads)]
        if mujoco is not None:
            engine = MujocoStanding(mujoco, model, ours.state()[0], "Newton")
            engine.step(2000)
            subjects.append(_mujoco_subject(mujoco, engine, threads))
        quantity = f"{threads} thread{'s' if threads > 1 else ''}"
        times = result.measure(quantity, subjects, effort)
        throughput[quantity] = [f"{1e-3 / np.median(t):.0f}" for t in times.values()]
        if mujoco is not None:
            ratio = median_ratio(times, MUJOCO, OURS)
            result.claims.append(Claim(f"{quantity}: mujoco / ours", ratio, 1.0, at_least=True))
    head = ["thousand world-steps a second", *times]
    result.extra.append((head, [[name, *values] for name, values in throughput.items()]))
    result.notes += [
        f"{WORLDS} worlds of hrp2_like standing on 8 points, {STEPS} steps a call, each from a "
        "state of its own; microseconds are wall time over world-steps",
    ]


CASE = Case("Many worlds at once", run, cores=2)
