# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Humanoids of many manufacturers on a level floor, held by servos, in hrpsim and in MuJoCo."""

from __future__ import annotations

import copy
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from evidence.benchmarks.cases.swaying_step import CONTROL_PERIOD
from evidence.benchmarks.walkers.mujoco_walk import (
    MujocoLoop,
    MujocoRobot,
    add_servo,
    compiled,
    put_on_floor,
)
from hrpsim import Model, ModelWarning, World, load_model
from hrpsim.commands.parts.walk_robot import parameters_of, robot_in_world
from hrpsim.control import BipedOptions, ControlLoop, PreparedBiped, Walk, prepare_biped
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.world.fall import FallWatch

TIME_STEP = 0.001  # [s]
SWING = 2000  # number of steps in a period of the swaying
REST = 5000  # number of steps before the swaying
PATTERN = "forward"
LOOP_GAINS = (2000.0, 40.0)  # gains of the motors of a robot with closed loops [Nm/rad, Nms/rad]
HOME = "home"  # keyframe of the posture


class Stopwatch:
    """Wraps a function, and measures the total time and the number of calls."""

    def __init__(self, function) -> None:
        self.function, self.seconds, self.calls = function, 0.0, 0

    def __call__(self, *arguments) -> None:
        """Call the function, and add the duration of the call."""
        begin = time.process_time()
        self.function(*arguments)
        self.seconds += time.process_time() - begin
        self.calls += 1


class Servoed:
    """A robot whose targets are a posture plus a sine with the same amplitude for all joints."""

    def __init__(self, posture: np.ndarray) -> None:
        self.posture, self.amplitude, self.k, self.engine = posture, 0.0, 0, self
        self.step(REST)
        self.start_height = self.height()

    @property
    def fallen(self) -> bool:
        """Whether the base has fallen by more than a fifth of its height."""
        return self.height() < 0.8 * self.start_height

    def aim(self) -> None:
        """Move the targets to the present phase."""
        sine = np.sin(2.0 * np.pi * self.k / SWING)
        self.k += CONTROL_PERIOD
        self.command(self.posture + self.amplitude * sine)


class OursServoed(Servoed):
    """A humanoid in hrpsim. Dry friction of the joints can be removed."""

    def __init__(self, world: World, names, friction: bool = True) -> None:
        (self.robot,), self.world, self.names = world.robots.values(), world, names
        if not friction:
            self.robot.set_joint_properties(friction=0.0)
        model = self.robot.model
        super().__init__(self.robot.q[[model.joint(name).q_index for name in names]])
        self._saved = world.snapshot()

    def restart(self) -> None:
        """Return to the initial state at rest."""
        self.world.restore(self._saved)
        self.k = 0

    def command(self, targets: np.ndarray) -> None:
        """Set the targets of all servos [rad]."""
        self.robot.command(positions=targets, names=self.names)

    def step(self, count: int) -> None:
        """Make `count` steps."""
        self.world.step(count)

    def height(self) -> float:
        """Return the height of the robot's base [m]."""
        return float(self.robot.q[2])

    def counts(self) -> tuple[int, int, int]:
        """Return sweeps, factorisations and contact points of the last step."""
        return counts_of(self.world)


class MujocoServoed(Servoed):
    """A humanoid in MuJoCo. `data` has the targets of the posture."""

    def __init__(self, mujoco, mj, data) -> None:
        self.mujoco, self.mj, self.data = mujoco, mj, data
        super().__init__(data.ctrl.copy())
        self._saved = copy.copy(data)

    def restart(self) -> None:
        """Return to the initial state at rest."""
        self.mujoco.mj_copyData(self.data, self.mj, self._saved)
        self.k = 0

    def command(self, targets: np.ndarray) -> None:
        """Set the targets of all servos [rad]."""
        self.data.ctrl[:] = targets

    def step(self, count: int) -> None:
        """Make `count` steps."""
        self.mujoco.mj_step(self.mj, self.data, nstep=count)

    def height(self) -> float:
        """Return the height of the base [m]."""
        return float(self.data.qpos[2])

    def counts(self) -> int:
        """Return the number of contact points of the last step."""
        return self.data.ncon


class OurWalk(ControlLoop):
    """The walking controller on a biped in hrpsim."""

    def __init__(self, biped: PreparedBiped) -> None:
        robot, self.watch = robot_in_world(biped, None), FallWatch()
        robot.world.settle()
        self.steps = robot.world.step = Stopwatch(robot.world.step)
        super().__init__(robot, Walk(), {**parameters_of(biped), "pattern": PATTERN})

    def tick(self) -> None:
        """Simulate one control period."""
        super().tick()
        q = self.robot.q
        self.watch.add(q[2], tuple(q[3:7]))

    def step_time(self) -> float:
        """Return the mean time of a step [s]."""
        return self.steps.seconds / (self.steps.calls * self.steps_per_period)

    def counts(self) -> tuple[int, int, int]:
        """Return sweeps, factorisations and contact points of the last step."""
        return counts_of(self.robot.world)


class MujocoWalk(MujocoLoop):
    """The same controller in MuJoCo. Times include the Python call of each step."""

    def __init__(self, robot: MujocoRobot) -> None:
        super().__init__(robot, PATTERN)
        self.watched = Stopwatch(robot.mujoco.mj_step)
        robot.mujoco = SimpleNamespace(**vars(robot.mujoco) | {"mj_step": self.watched})

    def step_time(self) -> float:
        """Return the mean time of a step [s]."""
        return self.watched.seconds / self.watched.calls

    def counts(self) -> int:
        """Return the number of contact points of the last step."""
        return self.robot.data.ncon


def counts_of(world: World) -> tuple[int, int, int]:
    """Return the numbers of sweeps, factorisations and contact points of the last step."""
    stats = world.stats
    return stats.iterations, stats.newton_factorisations, stats.contact_count


def set_accuracy(mujoco, mj, accurate: bool) -> None:
    """Set the options of MuJoCo's solver, for high accuracy or as in MuJoCo Playground."""
    if accurate:
        mj.opt.iterations, mj.opt.ls_iterations, mj.opt.tolerance = 100, 50, 1e-12
    else:
        mj.opt.cone = mujoco.mjtCone.mjCONE_PYRAMIDAL
        mj.opt.iterations, mj.opt.ls_iterations = 3, 5


class OpenLegs:
    """A biped of any description, as `hrpsim walk --robot` prepares the robot.

    In both engines the feet are boxes with the length and width of the soles. `own` keeps the feet
    of the description.
    """

    def __init__(self, path: Path) -> None:
        self.own = prepare_biped(path, BipedOptions(accept_nonphysical_inertia=True))
        outline = sole_outline(self.own.model, self.own.soles[0])
        (behind, right), (before, left) = outline.min(axis=0), outline.max(axis=0)
        sole = (-behind, before, left - right)
        options = BipedOptions(accept_nonphysical_inertia=True, sole=tuple(map(float, sole)))
        self.biped = prepare_biped(path, options)
        self.model, gains = self.biped.model, self.biped.model.gains
        self.names = [n for n in self.model.joint_names if gains.get(n, (0.0,))[0] > 0.0]

    def with_own_feet(self) -> OursServoed:
        """Return the robot in hrpsim, with the feet of its file."""
        return OursServoed(robot_in_world(self.own, None).world, self.names)

    def ours(self, friction: bool = True) -> OursServoed:
        """Return the robot in hrpsim."""
        return OursServoed(robot_in_world(self.biped, None).world, self.names, friction)

    def in_mujoco(self, mujoco, accurate: bool) -> MujocoRobot:
        """Return the robot in MuJoCo. Raises ValueError if MuJoCo refuses the robot."""
        robot = MujocoRobot(mujoco, self.biped, TIME_STEP, solref=2.0 * TIME_STEP)
        set_accuracy(mujoco, robot.mj, accurate)
        return robot

    def theirs(self, mujoco, accurate: bool) -> MujocoServoed:
        """Return the robot in MuJoCo, held by servos."""
        robot = self.in_mujoco(mujoco, accurate)
        return MujocoServoed(mujoco, robot.mj, robot.data)


class ClosedLoops:
    """The robot of an MJCF with closed loops, in the keyframe `home`. The motors become servos."""

    def __init__(self, path: Path, model: Model) -> None:
        self.path, self.model, self.names = path, model, list(model.command_interfaces)

    def ours(self, friction: bool = True) -> OursServoed:
        """Return the robot in hrpsim."""
        world = World(time_step=TIME_STEP)
        world.add_ground()
        robot = world.add_robot(self.model, q=self.model.keyframes[HOME])
        robot.set_gains(*LOOP_GAINS, self.names)
        return OursServoed(world, self.names, friction)

    def theirs(self, mujoco, accurate: bool) -> MujocoServoed:
        """Return the robot in MuJoCo."""
        spec = mujoco.MjSpec.from_file(str(self.path))
        put_on_floor(mujoco, spec, 2.0 * TIME_STEP)
        for equality in spec.equalities:
            equality.solref[0] = 2.0 * TIME_STEP
        for motor in list(spec.actuators):
            spec.delete(motor)
        for name in self.names:
            add_servo(mujoco, spec, name, LOOP_GAINS)
        mj = compiled(mujoco, spec, TIME_STEP)
        set_accuracy(mujoco, mj, accurate)
        data = mujoco.MjData(mj)
        mujoco.mj_resetDataKeyframe(mj, data, mj.key(HOME).id)
        data.ctrl[:] = [data.joint(name).qpos[0] for name in self.names]
        return MujocoServoed(mujoco, mj, data)


def described(path: Path) -> OpenLegs | ClosedLoops:
    """Return the robot of a file. Raises ModelError if it has neither legs nor a keyframe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        if path.suffix == ".xml":
            model = load_model(path, base="free")
            if model.connections:
                return ClosedLoops(path, model)
        return OpenLegs(path)
