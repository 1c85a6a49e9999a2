# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Humanoids of many makers that stand and sway under their servos, in our world and in MuJoCo.

Their files are no part of hrpsim. A folder, which the environment variable HRPSIM_BENCHMARK_ROBOTS
names, has a description of each that `hrpsim walk --robot` takes. They have the gains and the
posture of that command: under the gains and keyframes published for learning most fall in a second.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from benchmarks.cases.swaying_step import CONTROL_PERIOD, SwayingSubject
from benchmarks.registry import Case
from benchmarks.results import CaseResult, Claim, median_ratio
from benchmarks.tables import number
from benchmarks.timing import Effort
from benchmarks.walkers.mujoco_walk import MujocoRobot
from hrpsim import ModelWarning, World
from hrpsim.control import BipedOptions, prepare_biped
from hrpsim.errors import HrpsimError
from hrpsim.experiments.framework.engines import mujoco_module, peer_name

FOLDER = "HRPSIM_BENCHMARK_ROBOTS"
ROBOTS = (
    *("g1", "t1", "berkeley_humanoid", "op3", "apollo"),
    *("talos", "icub", "romeo", "jvrc1", "hrp4", "atlas", "valkyrie"),
)
TIME_STEP = 0.001  # [s]
AMPLITUDE, SWING = 0.015, 2000  # of every target [rad], one period in so many steps
BOUND = 1.25  # of a step with joint friction, over one without
OURS, SMOOTH = "hrpsim", "hrpsim without joint friction"
PUBLIC, ACCURATE = "mujoco, public settings", "mujoco, accurate"
HEAD = [
    *("robot", "motion", "joints", "sweeps", "Newton's method in"),
    *("mujoco, public / ours", "accurate / ours", "with friction / without", "fell"),
]


class Servoed:
    """A robot whose targets are a posture, plus a sine of the same amplitude for all joints."""

    def __init__(self, posture: np.ndarray, amplitude: float):
        self.posture, self.amplitude, self.k = posture, amplitude, 0
        self.engine, self.start_height = self, self.height()

    def aim(self) -> None:
        """Move the targets to the present phase."""
        sine = np.sin(2.0 * np.pi * self.k / SWING)
        self.k += CONTROL_PERIOD
        self.command(self.posture + self.amplitude * sine)

    def command(self, targets: np.ndarray) -> None:
        """Give every servo its target [rad]."""
        raise NotImplementedError

    def step(self, count: int) -> None:
        """Do so many steps."""
        raise NotImplementedError

    def height(self) -> float:
        """Return that of the base [m]."""
        raise NotImplementedError


class OursServoed(Servoed):
    """In our world; its joints may lose their dry friction."""

    def __init__(self, world: World, amplitude: float, friction: bool):
        self.world, self.robot = world, next(iter(world.robots.values()))
        gains = self.robot.model.gains
        self.names = [n for n in self.robot.joint_names if gains.get(n, (0.0,))[0] > 0.0]
        if not friction:
            self.robot.set_joint_properties(friction=0.0)
        model = self.robot.model
        posture = self.robot.q[[model.joint(name).q_index for name in self.names]]
        super().__init__(posture, amplitude)

    def command(self, targets: np.ndarray) -> None:
        """Give every servo its target [rad]."""
        self.robot.command(positions=targets, names=self.names)

    def step(self, count: int) -> None:
        """Do so many steps."""
        self.world.step(count)

    def height(self) -> float:
        """Return that of the base [m]."""
        return float(self.robot.q[2])


class MujocoServoed(Servoed):
    """In MuJoCo: `accurate`, or with the settings of MuJoCo Playground."""

    def __init__(self, mujoco, mj, data, amplitude: float, accurate: bool):
        self.mujoco, self.mj, self.data = mujoco, mj, data
        if accurate:
            mj.opt.iterations, mj.opt.ls_iterations, mj.opt.tolerance = 100, 50, 1e-12
        else:
            mj.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
            mj.opt.iterations, mj.opt.ls_iterations = 3, 5
        places = [mj.joint(mj.actuator_trnid[k, 0]).qposadr[0] for k in range(mj.nu)]
        super().__init__(data.qpos[places].copy(), amplitude)

    def command(self, targets: np.ndarray) -> None:
        """Give every servo its target [rad]."""
        self.data.ctrl[:] = targets

    def step(self, count: int) -> None:
        """Do so many steps."""
        self.mujoco.mj_step(self.mj, self.data, nstep=count)

    def height(self) -> float:
        """Return that of the base [m]."""
        return float(self.data.qpos[2])


class Standing:
    """A biped of any description as it stands before a walk; ModelError where it is none."""

    def __init__(self, path: Path):
        options = BipedOptions(accept_nonphysical_inertia=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ModelWarning)
            self.biped = prepare_biped(path, options)

    def ours(self, amplitude: float, friction: bool) -> OursServoed:
        """Return it in our world."""
        world = World(time_step=TIME_STEP)
        world.add_ground()
        world.add_robot(self.biped.model, q=self.biped.start)
        return OursServoed(world, amplitude, friction)

    def theirs(self, mujoco, amplitude: float, accurate: bool) -> MujocoServoed:
        """Return it in MuJoCo; ValueError for what MuJoCo does not take."""
        robot = MujocoRobot(mujoco, self.biped, TIME_STEP, solref=2.0 * TIME_STEP)
        return MujocoServoed(mujoco, robot.mj, robot.data, amplitude, accurate)


def found_robots(folder: Path) -> dict[str, Path]:
    """Return the files of the robots that are in a folder."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return {name: file for name in ROBOTS for file in files if file.stem == name}


def run(result: CaseResult, effort: Effort) -> None:
    """Time each robot that is there, standing and swaying."""
    files, mujoco = found_robots(Path(os.environ.get(FOLDER, ""))), mujoco_module()
    rows: list[list[str]] = []
    for name, path in files.items():
        try:
            robot = Standing(path)
            for motion, amplitude in (("standing", 0.0), ("swaying", AMPLITUDE)):
                label, engines = f"{name}, {motion}", _engines(robot, amplitude, mujoco)
                rows.append([name, motion, *_measured(result, effort, label, engines)])
        except HrpsimError as error:
            result.notes.append(f"{name}: {error}")
    result.extra.append((HEAD, rows))
    absent = [name for name in ROBOTS if name not in files]
    if absent:
        result.notes.append(f"not in the folder that {FOLDER} names: {', '.join(absent)}")
    result.notes += [
        f"{TIME_STEP * 1e3:g} ms; swaying: all targets by {AMPLITUDE} rad, one period in {SWING} "
        f"steps, new ones every {CONTROL_PERIOD} steps, the call not timed",
        "public settings: MuJoCo Playground's, Newton, 3 iterations, pyramids; accurate: Newton, "
        "100 iterations, tolerance 1e-12, elliptic cones; ours to 1e-8 m/s",
        peer_name(mujoco),
    ]


def _engines(robot: Standing, amplitude: float, mujoco) -> dict[str, Servoed]:
    """Return a robot in all engines that take it."""
    engines: dict[str, Servoed] = {OURS: robot.ours(amplitude, True)}
    if np.any(robot.biped.model.system.friction > 0.0):
        engines[SMOOTH] = robot.ours(amplitude, False)
    for name, accurate in ((PUBLIC, False), (ACCURATE, True)) if mujoco is not None else ():
        try:
            engines[name] = robot.theirs(mujoco, amplitude, accurate)
        except ValueError:  # bodies without mass
            break
    return engines


def _measured(result: CaseResult, effort: Effort, label: str, engines) -> list[str]:
    """Time a robot in its engines; add claims, return the rest of its row."""
    ours = engines[OURS]
    subjects = [
        SwayingSubject(name, engine, name in (OURS, SMOOTH), most=1, each=SWING)
        for name, engine in engines.items()
    ]
    times = result.measure(label, subjects, effort)
    seen = ours.world.stats.since_reset
    sweeps = []
    for _ in range(SWING // CONTROL_PERIOD):
        ours.aim()
        ours.step(CONTROL_PERIOD)
        sweeps.append(ours.world.stats.iterations)
    row = [str(len(ours.names)), f"{np.mean(sweeps):.0f}"]
    row.append(f"{100.0 * seen.newton_steps / seen.steps:.0f} %")
    for name in (PUBLIC, ACCURATE):
        row.append(number(median_ratio(times, name, OURS)) if name in times else "-")
    if PUBLIC in times:
        ratio, text = median_ratio(times, PUBLIC, OURS), f"{label}: mujoco's public settings / ours"
        result.claims.append(Claim(text, ratio, 1.0, at_least=True))
    row.append("no friction")
    if SMOOTH in times:
        share = median_ratio(times, OURS, SMOOTH)
        row[-1] = number(share)
        result.claims.append(Claim(f"{label}: with friction / without", share, BOUND))
    fallen = [name for name, engine in engines.items() if engine.height() < 0.8 * ours.start_height]
    return [*row, ", ".join(fallen) or "none"]


CASE = Case("Humanoids of many makers", run)
