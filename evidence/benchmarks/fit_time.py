# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Processor time of a fit of a humanoid with 30 joints: python -m evidence.benchmarks.fit_time.

hrp2_like on rubber bushes stands, sways and bounces for SECONDS (60). Encoders, base, foot
wrenches, IMU and torques have noise. The unknowns are damping and rotor inertia of six joints of
both legs, the tares of a foot sensor, and the biases of the IMU. The first two rows are the
derivatives with respect to all unknowns, and to the initial states of windows.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hrpsim
from evidence.benchmarks.fit_foot_forces import BIAS, FORCES, MOTIONS, NOISE, SENSORS, targets
from hrpsim.fitting import Recording, Signal
from hrpsim.fitting.predict import Predictor, scenario_of, unknowns_of
from hrpsim.fitting.recordings.measured_motion import BoundRecording
from hrpsim.fitting.slopes import DIFFERENCES, EXACT, Slopes

WORLD = """ground: true
robots:
  - name: hrp2
    urdf: package://hrpsim/urdf/hrp2_like.urdf.xacro
    xacro_arguments: {bush: true}
    position: [0, 0, 0.6487]
    joints: {RLEG_JOINT2: -0.4538, RLEG_JOINT3: 0.8727, RLEG_JOINT4: -0.4189,
             LLEG_JOINT2: -0.4538, LLEG_JOINT3: 0.8727, LLEG_JOINT4: -0.4189}
settle: true
"""
PERIOD, WINDOW, CHANGE = 0.01, 1.0, 1e-4  # of samples and commands [s], of windows [s], and of u
TARE, DAMPING = 5.0, 3.0  # true values [N or Nm, Nms/rad]


def recorded(world_file: Path, seconds: float) -> Recording:
    """Return the recording of a motion with noise."""
    world, random = hrpsim.load_world(world_file), np.random.default_rng(0)
    robot, rows = world.robots["hrp2"], []
    every = robot.joint_names
    motors = [k for k, name in enumerate(every) if "BUSH" not in name]
    names, first = tuple(every[k] for k in motors), robot.joint_positions[motors]
    legs = [name for name in names if "LEG_JOINT" in name]
    robot.set_joint_properties(legs, damping=DAMPING)
    for k in range(round(seconds / PERIOD) + 1):
        aim = targets(first, names, (k + 1) * PERIOD)
        sensors = [robot.sensors[name].reading for name in (*SENSORS, "imu")]
        rows.append(
            (k * PERIOD, robot.q.copy(), robot.v.copy(), robot.joint_efforts, aim, *sensors)
        )
        robot.command(names=names, positions=aim)
        world.step(round(PERIOD / world.time_step))
    moment, q, v, efforts, commands, left, right, imu = map(np.array, zip(*rows))
    angles, speeds = q[:, 7:][:, motors], v[:, 6:][:, motors]

    def noisy(values: np.ndarray, kind: str) -> np.ndarray:
        return values + NOISE[kind] * random.normal(size=values.shape)

    late = slice(1, None)
    signals = [
        Signal("wrench", name, moment[late], noisy(own, "wrench")[late])
        for name, own in zip(SENSORS, (left + TARE, right))
    ]
    signals.append(Signal("imu", "imu", moment[late], noisy(imu + BIAS, "imu")[late]))
    signals.append(
        Signal("torque", "torque", moment[late], noisy(efforts[:, motors], "effort")[late], names)
    )
    base = q[:, :7].copy()
    base[:, :3] = noisy(base[:, :3], "base")
    return Recording(
        moment,
        names,
        noisy(angles, "encoder"),
        noisy(speeds, "joint velocity"),
        base,
        noisy(v[:, :6], "base velocity"),
        moment,
        names,
        commands,
        signals=tuple(signals),
    )


def unknowns() -> dict[str, Any]:
    """Return the parameters of the fit."""
    settings: dict[str, Any] = {}
    for k in range(6):
        for kind, start in (("damping", 1.0), ("rotor_inertia", 0.1)):
            paths = [f"robots.hrp2.joints.?LEG_JOINT{k}.{kind}"]
            settings[f"{kind} {k}"] = {"start": start, "paths": paths, "scale": "log"}
    settings |= {f"signals.{SENSORS[0]}.tare_{column}": 0.0 for column in FORCES}
    return settings | {f"signals.imu.bias_{column}": 0.0 for column in MOTIONS}


def show(what: str, run: Callable[[], object]) -> None:
    """Print a row with the processor time and the wall time of a call."""
    begin, wall = time.process_time(), time.perf_counter()
    run()
    own, wall = time.process_time() - begin, time.perf_counter() - wall
    print(f"| {what} | {own:.0f} s | {wall:.0f} s |", flush=True)


def main() -> int:
    """Print the table."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stand.yaml"
        file.write_text(WORLD)
        recording, scenario = recorded(file, seconds), scenario_of(file)
        of = unknowns_of(unknowns(), scenario, [recording])
        world = scenario.world_of({}, seed=0)[0]
        bound = BoundRecording(recording, world, "hrp2")
        bound.bind_signals(world, of.signal_delays())
        predictor, u = Predictor(scenario, [bound], WINDOW, True), of.to_u(of.start)
        base, every = predictor.differences([of.by_path(u)])[0], np.ones(len(of), dtype=bool)
        world.linearize(outputs=("efforts", "sensors"))  # compiles
        print("| | processor | wall |\n| --- | --- | --- |")
        for how in (EXACT, DIFFERENCES):
            slopes = Slopes(predictor, of, CHANGE, how)
            show(f"derivatives, {how}", partial(slopes.at, u, every, None, base, True))
        options = {"window": WINDOW, "start": "fitted", "derivatives": EXACT}
        show("fit, exact", lambda: hrpsim.fit(file, [recording], unknowns(), **options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
