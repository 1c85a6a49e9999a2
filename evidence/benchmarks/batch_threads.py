# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The speed-up of a batch by threads: python -m evidence.benchmarks.batch_threads [WORLDS [STEPS]].

hrpsim's batch and mujoco.rollout run in turn with 1, 2, 4 ... threads. Wall time is measured. The
machine should run nothing else, so the script prints the load before and after. The defaults are 64
worlds and 50 steps a call.
"""

from __future__ import annotations

import dataclasses
import os
import sys
import time

import numpy as np

from evidence.benchmarks.cases.batch import MUJOCO, OURS, our_subject, rollout_subject, variation
from evidence.benchmarks.engines.hrpsim_standing import HrpsimStanding
from evidence.benchmarks.engines.mujoco_standing import MujocoStanding
from evidence.benchmarks.machine import core_count, use_cores
from evidence.benchmarks.results import median_ratio
from evidence.benchmarks.timing import Effort, interleave
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes.standing import humanoid


def main(worlds: int = 64, steps: int = 50) -> None:
    """Print the time of a step of a world, the speed-up by threads, and the ratio to rollout."""
    load, mujoco, varied = os.getloadavg()[0], mujoco_module(), variation(worlds)
    engine, subjects = HrpsimStanding(humanoid(8), OURS), []
    counts = [2**k for k in range(core_count().bit_length())]
    use_cores(core_count())
    for threads in counts:
        both = [our_subject(engine, varied, threads, steps)]
        if mujoco is not None:
            other = MujocoStanding(mujoco, engine.model, engine.state()[0], "Newton")
            other.step(2000)
            both.append(rollout_subject(mujoco, other, varied, threads, steps))
        subjects += [dataclasses.replace(s, name=f"{s.name}, {threads}") for s in both]
    times = interleave(subjects, Effort(slice=0.1, budget=60.0, clock=time.perf_counter))
    print(f"{worlds} worlds, {steps} steps a call; load {load:.2f}, {os.getloadavg()[0]:.2f} after")
    for name, taken in times.items():
        gain = median_ratio(times, f"{name.rpartition(',')[0]}, 1", name)
        print(f"{name} threads: {1e6 * np.median(taken):.2f} us, {gain:.2f} times as fast as one")
    for threads in counts if mujoco is not None else ():
        ratio = median_ratio(times, f"{MUJOCO}, {threads}", f"{OURS}, {threads}")
        print(f"{threads} threads: rollout / ours {ratio:.2f}")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
