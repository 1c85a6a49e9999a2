# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walks of other robots: python -m evidence.benchmarks.walkers FILE ... [--pattern P ...].

Each robot walks each pattern in hrpsim with the defaults of `hrpsim walk --robot`. The same
controller, gains, limits and friction are then used in MuJoCo. Robot files are not part of hrpsim
and must be supplied. Each row is printed when it is complete. The factor is simulated time divided
by processor time. Both simulators use one thread. The processor time includes the controller, but
not planning and compilation.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import warnings
from pathlib import Path

from evidence.benchmarks.walkers.mujoco_walk import MujocoRobot, mujoco_walk
from evidence.experiments.framework.engines import mujoco_module, peer_name
from hrpsim import HrpsimError, ModelWarning
from hrpsim.commands.parts.walk_robot import parameters_of, robot_in_world
from hrpsim.control import BipedOptions, PreparedBiped, Trial, Walk, prepare_biped, simulate_walk
from hrpsim.control.walk_trial import sole_motion

PATTERNS = ("forward", "sideways", "turn")
HEAD = "| robot | pattern | engine | walks | turn | creep | factor | load |"


def main(arguments: list[str] | None = None) -> int:
    """Simulate each robot's walk, and print a row for each."""
    parser = argparse.ArgumentParser(
        prog="python -m evidence.benchmarks.walkers", description=__doc__
    )
    parser.add_argument("robots", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--pattern", action="append", help=f"by default {', '.join(PATTERNS)}")
    parser.add_argument("--accept-nonphysical-inertia", action="store_true")
    parser.add_argument("--package-path", action="append", metavar="NAME=DIR", default=[])
    parser.add_argument("--step", type=float, default=0.25e-3, help="MuJoCo's time step [s]")
    parser.add_argument("--solref", type=float, default=3e-3, help="its time constant [s]")
    options = parser.parse_args(arguments)
    mujoco = mujoco_module()
    print(peer_name(mujoco, f"{options.step:g} s, solref {options.solref:g} s"), file=sys.stderr)
    print(HEAD + "\n" + "| --- " * HEAD.count(" |") + "|", flush=True)
    for path in options.robots:
        try:
            prepared = _prepared(path, options)
        except HrpsimError as error:
            print(f"| {path.name} | | | {_line(error)} |", flush=True)
            continue
        for pattern in options.pattern or PATTERNS:
            _show(
                path, pattern, "hrpsim", prepared, lambda p=pattern, r=prepared: _hrpsim_walk(r, p)
            )
            if mujoco is not None:
                _show(
                    path,
                    pattern,
                    "MuJoCo",
                    prepared,
                    lambda p=pattern, r=prepared: mujoco_walk(
                        MujocoRobot(mujoco, r, options.step, options.solref), p
                    ),
                )
    return 0


def _prepared(path: Path, options: argparse.Namespace) -> PreparedBiped:
    known = BipedOptions(accept_nonphysical_inertia=options.accept_nonphysical_inertia)
    folders = dict(entry.split("=", 1) for entry in options.package_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        return prepare_biped(path, known, package_paths=folders)


def _hrpsim_walk(prepared: PreparedBiped, pattern: str) -> Trial:
    """Walk in hrpsim. The `wall_time` of the trial is processor time."""
    begin: list[float] = []

    def each_tick(now: float) -> None:
        if not begin:
            begin.append(time.process_time())

    parameters = {**parameters_of(prepared), "pattern": pattern}
    robot = robot_in_world(prepared, None)
    robot.world.settle()
    trial = simulate_walk(robot, Walk(), parameters, each_tick=each_tick)
    trial.wall_time = time.process_time() - begin[0]
    return trial


def _show(path: Path, pattern: str, engine: str, prepared: PreparedBiped, walked) -> None:
    try:
        trial = walked()
    except (HrpsimError, ValueError) as error:
        print(f"| {path.name} | {pattern} | {engine} | refused: {_line(error)} |", flush=True)
        return
    moved = sole_motion(prepared.model, trial)
    fell = "" if trial.fell_at is None else f", fell at {trial.fell_at:.2f} s"
    steps = f"{trial.steps} of {trial.planned_steps} steps"
    cells = (
        path.name,
        pattern,
        engine,
        f"{moved.distance:.2f} m, {steps}{fell}",
        f"{math.degrees(moved.turn):.0f} degrees",
        "-" if moved.creep is None else f"{1e3 * moved.creep:.3f} mm",
        f"{trial.real_time_factor:.1f}",
        f"{os.getloadavg()[0]:.1f}",
    )
    print(f"| {' | '.join(cells)} |", flush=True)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
