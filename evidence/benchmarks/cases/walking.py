# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Twenty seconds of walking with the stabiliser, next to MuJoCo's step in the same posture."""

from __future__ import annotations

import time

import numpy as np

from evidence.benchmarks.engines.mujoco_standing import MujocoStanding
from evidence.benchmarks.engines.servoed import Stopwatch
from evidence.benchmarks.results import Case, CaseResult, Claim
from evidence.benchmarks.timing import Effort, Subject
from evidence.benchmarks.yardstick import yardstick
from evidence.experiments.framework.engines import mujoco_module
from hrpsim import load_world, share_path
from hrpsim.control import ControlLoop, Walk

SECONDS, PART = 20.0, 1.0
WHOLE, PHYSICS, CONTROL = "hrpsim walks", "of that, its steps", "of that, controller and loop"
MUJOCO = "mujoco Newton stands"


def run(result: CaseResult, effort: Effort) -> None:
    """Time each second of walking, and in turn one second of standing in MuJoCo.

    Times are per step.
    """
    world = load_world(share_path("config/walking_demo.yaml"), xacro_arguments={"bush": "true"})
    (robot,) = world.robots.values()
    others = [yardstick()]
    if (mujoco := mujoco_module()) is not None:
        stands = MujocoStanding(mujoco, robot.model, robot.q, "Newton")
        others = [Subject(MUJOCO, stands.step)]
    world.step = steps = Stopwatch(world.step)
    parts: dict[str, list[float]] = {name: [] for name in (WHOLE, PHYSICS, CONTROL)}
    parts |= {subject.name: [] for subject in others}
    sweeps = []
    with ControlLoop(robot, Walk()) as loop:
        count = round(PART / world.time_step)
        for _ in range(round((3.0 if effort.quick else SECONDS) / PART)):
            steps.seconds, begin = 0.0, time.process_time()
            for _ in range(count // loop.steps_per_period):
                loop.tick()
                sweeps.append(world.stats.iterations)
            elapsed = time.process_time() - begin
            parts[WHOLE].append(elapsed / count)
            parts[PHYSICS].append(steps.seconds / count)
            parts[CONTROL].append((elapsed - steps.seconds) / count)
            for subject in others:
                parts[subject.name].append(subject.timed(count))
    times = {name: np.array(values) for name, values in parts.items()}
    is_ours = {name: name in (WHOLE, PHYSICS, CONTROL) for name in times}
    result.note("a step of 1 ms", times, others[0].name, is_ours, {})
    factor = world.time_step / float(np.mean(times[WHOLE]))
    standing = "upright" if robot.q[2] > 0.5 else "fallen"
    head = ["simulated [s]", "real-time factor", "sweeps a step, median", "at the end"]
    row = [f"{world.time:.1f}", f"{factor:.1f}", f"{np.median(sweeps):g}", standing]
    result.extra.append((head, [row]))
    result.claims.append(Claim("real-time factor", factor, 1.0, at_least=True))
    result.notes += [
        "hrp2_like with rubber bushes, default walk with stabiliser, control period "
        f"{1000.0 * loop.controller.period:g} ms. Medians over seconds of simulated time",
        "No other engine walks. In mujoco the robot stands in its first posture",
    ]


CASE = Case("Walking", run)
