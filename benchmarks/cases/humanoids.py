# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Humanoids of many makers that stand and sway under their servos, in our world and in MuJoCo.

Their files are no part of hrpsim. A folder, which the environment variable names, has one for each:
an MJCF with servos and a keyframe, as MuJoCo Playground publishes it, or any description of a biped
that `hrpsim walk --robot` takes, which gets the gains and the posture of that command.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from benchmarks.cases.swaying_step import CONTROL_PERIOD, SWING, SwayingSubject
from benchmarks.registry import Case
from benchmarks.results import CaseResult, Claim, median_ratio
from benchmarks.tables import number
from benchmarks.timing import Effort
from benchmarks.walkers.mujoco_walk import MujocoRobot
from hrpsim import ModelWarning, World, load_world
from hrpsim.control import BipedOptions, PreparedBiped, prepare_biped
from hrpsim.errors import HrpsimError
from hrpsim.experiments.framework.engines import mujoco_module, peer_name

FOLDER = "HRPSIM_BENCHMARK_ROBOTS"
ROBOTS = (
    *("g1", "t1", "berkeley_humanoid", "op3"),
    *("talos", "icub", "romeo", "jvrc1", "hrp4", "atlas", "valkyrie", "digit"),
)
TIME_STEP = 0.002  # [s]
AMPLITUDE = 0.015  # of every target [rad], one period in SWING steps
BOUND = 1.25  # of a step with joint friction, over one without
OURS, SMOOTH = "hrpsim", "hrpsim without joint friction"
PUBLIC, ACCURATE = "mujoco, public settings", "mujoco, accurate"
HEAD = ["robot", "joints", "motion", "sweeps", "Newton's method", "mujoco / ours", "friction"]


class Servoed:
    """A robot whose targets are a posture, plus a sine of the same amplitude for all joints."""

    def __init__(self, posture: np.ndarray, amplitude: float):
        self.posture, self.amplitude, self.k = posture, amplitude, 0
        self.engine = self

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


class MujocoServoed(Servoed):
    """In MuJoCo, from its present posture; `accurate`: elliptic cones, iterations to the end."""

    def __init__(self, mujoco, mj, data, amplitude: float, accurate: bool):
        self.mujoco, self.mj, self.data = mujoco, mj, data
        mj.opt.timestep = TIME_STEP
        if accurate:
            mj.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
            mj.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
            mj.opt.iterations, mj.opt.ls_iterations, mj.opt.tolerance = 100, 50, 1e-12
        places = [mj.joint(mj.actuator_trnid[k, 0]).qposadr[0] for k in range(mj.nu)]
        super().__init__(data.qpos[places].copy(), amplitude)

    def command(self, targets: np.ndarray) -> None:
        """Give every servo its target [rad]."""
        self.data.ctrl[:] = targets

    def step(self, count: int) -> None:
        """Do so many steps."""
        self.mujoco.mj_step(self.mj, self.data, nstep=count)


class Published:
    """An MJCF with servos and keyframes, of which the last is its posture."""

    def __init__(self, path: Path):
        self.path = path

    def ours(self, amplitude: float, friction: bool) -> OursServoed:
        """Return it in our world."""
        world = load_world(self.path, time_step=TIME_STEP)
        robot = next(iter(world.robots.values()))
        robot.q = list(robot.model.keyframes.values())[-1]
        return OursServoed(world, amplitude, friction)

    def theirs(self, mujoco, amplitude: float, accurate: bool) -> MujocoServoed:
        """Return it in MuJoCo."""
        mj = mujoco.MjModel.from_xml_path(str(self.path))
        data = mujoco.MjData(mj)
        mujoco.mj_resetDataKeyframe(mj, data, mj.nkey - 1)
        return MujocoServoed(mujoco, mj, data, amplitude, accurate)


class Prepared:
    """A description without servos; it stands as before a walk."""

    def __init__(self, path: Path):
        self.biped: PreparedBiped = prepare_biped(
            path, BipedOptions(accept_nonphysical_inertia=True)
        )

    def ours(self, amplitude: float, friction: bool) -> OursServoed:
        """Return it in our world."""
        world = World(time_step=TIME_STEP)
        world.add_ground()
        world.add_robot(self.biped.model, q=self.biped.start)
        return OursServoed(world, amplitude, friction)

    def theirs(self, mujoco, amplitude: float, accurate: bool) -> MujocoServoed:
        """Return it in MuJoCo."""
        robot = MujocoRobot(mujoco, self.biped, TIME_STEP, solref=2.0 * TIME_STEP)
        if not accurate:
            robot.mj.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
        return MujocoServoed(mujoco, robot.mj, robot.data, amplitude, accurate)


def found_robots(folder: Path) -> dict[str, Path]:
    """Return the files of the robots that are in a folder."""
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    return {name: file for name in ROBOTS for file in files if file.stem == name}


def source_of(path: Path) -> Published | Prepared:
    """Return how to simulate a robot; ModelError where it is no biped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        text = path.read_text(encoding="utf-8")
        return Published(path) if "<mujoco" in text and "<key" in text else Prepared(path)


def run(result: CaseResult, effort: Effort) -> None:
    """Time each robot that is there, standing and swaying."""
    files, mujoco = found_robots(Path(os.environ.get(FOLDER, ""))), mujoco_module()
    for name, path in files.items():
        try:
            source = source_of(path)
        except HrpsimError as error:
            result.notes.append(f"{name}: {error}")
            continue
        for motion, amplitude in (("standing", 0.0), ("swaying", AMPLITUDE)):
            measure(result, effort, (name, motion, amplitude), source, mujoco)
    absent = [name for name in ROBOTS if name not in files]
    if absent:
        result.notes.append(f"not in the folder that {FOLDER} names: {', '.join(absent)}")
    result.notes += [
        f"{TIME_STEP * 1e3:g} ms; swaying: all targets by {AMPLITUDE} rad, one period in {SWING} "
        f"steps, new ones every {CONTROL_PERIOD} steps, the call not timed",
        "public settings: those of the file where it has a keyframe, else MuJoCo's own; accurate: "
        "Newton, elliptic cones, 100 iterations, tolerance 1e-12; ours to 1e-8 m/s",
        peer_name(mujoco),
    ]


def measure(result: CaseResult, effort: Effort, motion, source, mujoco) -> None:
    """Time a robot in one motion (name, its word, amplitude); add a row and claims."""
    name, word, amplitude = motion
    robots = {OURS: source.ours(amplitude, True)}
    world, dofs = robots[OURS].world, robots[OURS].robot.model.system
    if np.any(dofs.friction > 0.0):
        robots[SMOOTH] = source.ours(amplitude, False)
    if mujoco is not None:
        robots[PUBLIC] = source.theirs(mujoco, amplitude, False)
        robots[ACCURATE] = source.theirs(mujoco, amplitude, True)
    subjects = [
        SwayingSubject(key, robot, key in (OURS, SMOOTH), most=1, each=SWING)
        for key, robot in robots.items()
    ]
    label = f"{name}, {word}"
    times = result.measure(label, subjects, effort)
    seen = world.stats.since_reset
    row = [name, str(len(robots[OURS].names)), word, str(world.stats.iterations)]
    row.append(f"{100.0 * seen.newton_steps / seen.steps:.0f} %")
    ratio = median_ratio(times, PUBLIC, OURS) if PUBLIC in times else float("nan")
    row.append(number(ratio))
    if PUBLIC in times:
        result.claims.append(Claim(f"{label}: mujoco / ours", ratio, 1.0, at_least=True))
    row.append("none")
    if SMOOTH in times:
        share = median_ratio(times, OURS, SMOOTH)
        row[-1] = number(share)
        result.claims.append(Claim(f"{label}: with friction / without", share, BOUND))
    result.extra = result.extra or [(HEAD, [])]
    result.extra[0][1].append(row)


CASE = Case("Humanoids of many makers", run)
