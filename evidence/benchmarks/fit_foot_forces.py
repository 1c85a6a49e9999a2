# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Accuracy of a fit of bushes, tares and delays to foot forces simulated by MuJoCo.

python -m evidence.benchmarks.fit_foot_forces [SEEDS] prints the table of
docs/verification/fits_sensors.md. In MuJoCo, hrp2_like sways and bounces on rubber bushes in steps
of 0.025 ms, with stiff contacts. The bushes differ from the description. Force sensors, IMU,
efforts and the pose of the base have noise. The sensors have tares, biases and delays. The initial
state, including the bushes, is fitted too, because its errors cause oscillations for seconds.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.special import stdtrit

import hrpsim
from evidence.benchmarks.coverage import COLOURS, coloured, number_of_seeds
from evidence.benchmarks.walkers.mujoco_walk import MujocoRobot
from evidence.experiments.framework.engines import mujoco_module
from evidence.experiments.scenes.standing import Conditions, described, half_sitting
from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.fitting import FitResult, Recording, Signal
from hrpsim.fitting.intervals import of_coloured_noise
from hrpsim.fitting.predict import Predictor, scenario_of, unknowns_of
from hrpsim.fitting.recordings.measured_motion import BoundRecording
from hrpsim.fitting.starts import Starts

WORLD = """world: {time_step: %s}
ground: {material: floor}
friction:
  - {between: [sole, floor], static: 0.8, kinetic: 0.8}
robots:
  - name: hrp2
    urdf: package://hrpsim/urdf/hrp2_like.urdf.xacro
    xacro_arguments: {bush: true}
    position: [0, 0, 0.6487]
    joints: {RLEG_JOINT2: -0.4538, RLEG_JOINT3: 0.8727, RLEG_JOINT4: -0.4189,
             LLEG_JOINT2: -0.4538, LLEG_JOINT3: 0.8727, LLEG_JOINT4: -0.4189}
settle: true
"""
STEP, SOLREF = 2.5e-5, 7.5e-5  # of MuJoCo [s]
IMPEDANCE, FRICTION_RATIO = 0.999, 10.0  # of contacts: MuJoCo's soft soles would creep
AT_REST = 10.0  # factor of the damping of bushes before the motion
MEAN = 40  # steps of which force sensors and IMU read the mean: contacts chatter in single steps
MIDDLE = 0.5 * (MEAN - 1) * STEP  # from the mean of a reading to its end [s]
PERIOD = 0.005  # of commands and samples [s]
REST, LONGEST = 2.0, 4.0  # before the motion, and the motion [s]
TURN, SLIDE = (800.0, 20.0), (4e5, 800.0)  # true stiffness and damping of the bushes
FIRST = {"turn": (1000.0, 25.0), "slide": (5e5, 1e3)}  # initial values from the description
SENSORS = ("lfsensor", "rfsensor")
FORCES = ("fx", "fy", "fz", "tx", "ty", "tz")
MOTIONS = ("wx", "wy", "wz", "ax", "ay", "az")
TARE = np.array([3.0, -2.0, 8.0, 0.5, -0.7, 0.2])  # left foot, negative for the right foot
BIAS = np.array([0.01, -0.02, 0.005, 0.1, -0.1, 0.05])
FORCE_DELAY, IMU_DELAY = 0.004, 0.002  # [s]
NOISE = {  # standard deviations
    "encoder": 1e-5,
    "joint velocity": 1e-3,
    "base": 1e-4,
    "base velocity": 1e-3,
    "wrench": np.repeat([1.0, 0.05], 3),
    "imu": np.repeat([2e-3, 2e-2], 3),
    "effort": 0.5,
}
KINDS = {  # of states and efforts: key of the noise
    "position": "encoder",
    "velocity": "joint velocity",
    "base_position": "base",
    "base_rotation": "base",
    "base_velocity": "base velocity",
    "base_turning": "base velocity",
    "torque": "effort",
}
TIME_STEP = 2.5e-4  # of hrpsim in the table: at 1 ms, the error of the step exceeds the noise [s]
CHANGE = 1e-3  # of the unknowns, for differences
BEGIN = 0.2  # begin of the compared signals after the start of the only window [s]


class Motion(NamedTuple):
    """The motion of the true robot, one row for each sample."""

    time: np.ndarray  # (n,) [s]
    base: np.ndarray  # (n, 7)
    base_velocity: np.ndarray  # (n, 6), along the axes of the base
    positions: np.ndarray  # (n, motors)
    velocities: np.ndarray
    efforts: np.ndarray
    wrenches: np.ndarray  # (n, 2, 6)
    imu: np.ndarray  # (n, 6)
    commands: np.ndarray  # (n, motors)
    motors: tuple[str, ...]


class BushedRobot(MujocoRobot):
    """The robot in MuJoCo, on the true bushes."""

    def _start(self) -> None:
        for number in range(self.mj.njnt):
            joint = self.mj.joint(number)
            if "BUSH" in joint.name:
                stiffness, damping = SLIDE if joint.name.endswith("_Z") else TURN
                self.mj.jnt_stiffness[number] = stiffness
                self.mj.dof_damping[joint.dofadr[0]] = damping
        self.mj.geom_solimp[:, :2] = IMPEDANCE
        self.mj.opt.impratio = FRICTION_RATIO
        super()._start()

    def rest(self) -> None:
        """Simulate until the robot rests. Extra damping of the bushes shortens the time."""
        dampings = self.mj.dof_damping.copy()
        for number in range(self.mj.njnt):
            joint = self.mj.joint(number)
            if "BUSH" in joint.name:
                self.mj.dof_damping[joint.dofadr[0]] *= AT_REST
        self.mujoco.mj_step(self.mj, self.data, nstep=round(REST / STEP))
        self.mj.dof_damping[:] = dampings

    def velocities(self) -> np.ndarray:
        """Return the velocities (nv,) at the time of the positions.

        In MuJoCo's integrator, velocities belong to the middle between two positions.
        """
        return self.data.qvel + 0.5 * STEP * self.data.qacc

    def readings(self) -> np.ndarray:
        """Return the present wrenches of both soles and the reading of the IMU (18,)."""
        imu = self._imus[0]
        force = self._imu(self.q(), imu).linear_acceleration
        return np.concatenate([self.wrenches().ravel(), imu.R.T @ self.velocities()[3:6], force])

    def follow_and_read(self, positions: np.ndarray, steps: int) -> np.ndarray:
        """Move to target positions, and return the mean of `readings` over the last steps (18,).

        MuJoCo computes forces at the beginning of a step, with the targets of that time.
        """
        total, begin = np.zeros(18), self._target
        for k in range(1, steps + 1):
            self.mujoco.mj_step(self.mj, self.data)
            self.data.ctrl[:] = begin + k / steps * (positions - begin)
            if k > steps - MEAN:
                self.mujoco.mj_forward(self.mj, self.data)
                total += self.readings() / MEAN
        self._target = positions
        return total

    def wrenches(self) -> np.ndarray:
        """Return the readings (2, 6) of the tared foot sensors, in and about the sole's frame."""
        mj, data, rows = self.mj, self.data, []
        self.mujoco.mj_rnePostConstraint(mj, data)
        for link in ("LLEG_SOLE", "RLEG_SOLE"):
            body = mj.body(link).id
            R = data.xmat[body].reshape(3, 3)
            sensor = data.xpos[body] + R @ (0.0, 0.0, -0.055)
            moment, force = np.split(data.cfrc_int[body], 2)
            moment = moment + np.cross(data.subtree_com[mj.body_rootid[body]] - sensor, force)
            weight = np.array([0.0, 0.0, -mj.body_mass[body] * STANDARD_GRAVITY])
            moment = moment + np.cross(data.xipos[body] - sensor, weight)
            rows.append(-np.concatenate([R.T @ (force + weight), R.T @ moment]))
        return np.array(rows)


def targets(start: np.ndarray, motors: tuple[str, ...], time: float) -> np.ndarray:
    """Return the targets of the motors, which sway sideways and forward, and bounce."""
    positions, grows = start.copy(), min(max(time - 0.3, 0.0) / 0.5, 1.0)
    sway = 0.02 * grows * np.sin(2.0 * np.pi * 0.8 * time)
    lean = 0.008 * grows * np.sin(2.0 * np.pi * 1.1 * time)
    bend = grows * (
        0.015 * np.sin(2.0 * np.pi * 1.9 * time) + 0.004 * np.sin(2.0 * np.pi * 5.0 * time)
    )
    moves = {1: sway, 5: -sway, 2: -bend, 3: 2.0 * bend, 4: -bend + lean}
    for k, name in enumerate(motors):
        if "LEG_JOINT" in name:
            positions[k] += moves.get(int(name[-1]), 0.0)
    return positions


def swayed(mujoco: ModuleType, duration: float = LONGEST) -> Motion:
    """Return the motion of the true robot."""
    model = described(Conditions())
    prepared = SimpleNamespace(
        urdf=model.urdf, model=model, soles=("l_sole", "r_sole"), start=half_sitting(model)
    )
    robot = BushedRobot(mujoco, prepared, STEP, SOLREF)  # type: ignore[arg-type]
    data, motors = robot.data, tuple(robot.names)
    robot.rest()
    first, steps, rows = robot._target.copy(), round(PERIOD / STEP), []
    mujoco.mj_forward(robot.mj, data)
    readings = robot.readings()
    for k in range(round(duration / PERIOD) + 1):
        q = robot.q()
        turn = Rotation.from_quat(q[3:7])
        v = robot.velocities()
        speed = np.concatenate([turn.inv().apply(v[:3]), v[3:6]])
        aim = targets(first, motors, (k + 1) * PERIOD)
        rows.append(
            (
                k * PERIOD,
                q[:7],
                speed,
                data.qpos[robot._q_index].copy(),
                v[robot._v_index],
                data.actuator_force.copy(),
                readings[:12].reshape(2, 6),
                readings[12:],
                aim,
            )
        )
        readings = robot.follow_and_read(aim, steps)
    return Motion(*map(np.array, zip(*rows)), motors)


def measured(motion: Motion, seed: int | None, colour: float) -> Recording:
    """Return a recording of the motion with noise, tares, biases and delays of the sensors.

    Args:
        motion: the true motion.
        seed: random seed, or None for no noise.
        colour: autoregressive coefficient of the noise of force sensors and IMU.
    """
    random, time = np.random.default_rng(seed), motion.time
    count, size = len(time), float(seed is not None)

    def noise(kind: str, *shape: int) -> np.ndarray:
        return size * NOISE[kind] * random.normal(size=(count, *shape))

    def lasting(kind: str) -> np.ndarray:
        return size * NOISE[kind] * coloured(random, colour, count, 6)

    base = motion.base.copy()
    base[:, :3] += noise("base", 3)
    turns = Rotation.from_rotvec(noise("base", 3))
    base[:, 3:] = (Rotation.from_quat(base[:, 3:]) * turns).as_quat()
    positions = motion.positions + noise("encoder", len(motion.motors))
    velocities = motion.velocities + noise("joint velocity", len(motion.motors))
    speed = motion.base_velocity + noise("base velocity", 6)
    standing = time < REST_OF_START  # the robot stands, so the mean is a better start
    for rows in (base, positions, velocities, speed):
        rows[0] = rows[standing].mean(axis=0)
    base[0, 3:] /= np.linalg.norm(base[0, 3:])
    late = time >= BEGIN
    signals = [
        Signal(
            "wrench",
            name,
            time[late] - MIDDLE + FORCE_DELAY,
            (motion.wrenches[:, k] + sign * TARE + lasting("wrench"))[late],
        )
        for k, (name, sign) in enumerate(zip(SENSORS, (1.0, -1.0)))
    ]
    own = motion.imu + BIAS + lasting("imu")
    signals.append(Signal("imu", "imu", time[late] - MIDDLE + IMU_DELAY, own[late]))
    efforts = motion.efforts + noise("effort", len(motion.motors))
    signals.append(Signal("torque", "torque", time[late], efforts[late], motion.motors))
    return Recording(
        time,
        motion.motors,
        positions,
        velocities,
        base,
        speed,
        time,
        motion.motors,
        motion.commands,
        interpolate=True,
        signals=tuple(signals),
    )


REST_OF_START = 0.25  # [s]


def unknowns() -> tuple[dict[str, object], dict[str, float]]:
    """Return the parameters of the fit, and their true values."""
    settings: dict[str, object] = {}
    truth: dict[str, float] = {}
    joints = {"turn": ("PITCH", "ROLL"), "slide": ("Z",)}
    for (kind, axes), values in zip(joints.items(), (TURN, SLIDE)):
        for key, start, true in zip(("stiffness", "damping"), FIRST[kind], values):
            paths = [f"robots.hrp2.joints.?LEG_BUSH_{axis}.{key}" for axis in axes]
            settings[f"{kind} {key}"] = {
                "start": start,
                "between": (0.2 * start, 5.0 * start),
                "scale": "log",
                "paths": paths,
            }
            truth[f"{kind} {key}"] = true
    for name, sign in zip(SENSORS, (1.0, -1.0)):
        for column, tare in zip(FORCES, sign * TARE):
            settings[f"signals.{name}.tare_{column}"] = 0.0
            truth[f"signals.{name}.tare_{column}"] = float(tare)
    for column, bias in zip(MOTIONS, BIAS):
        settings[f"signals.imu.bias_{column}"] = 0.0
        truth[f"signals.imu.bias_{column}"] = float(bias)
    for name, paths, delay in (
        ("force delay", ["signals.?fsensor.delay"], FORCE_DELAY),
        ("IMU delay", ["signals.imu.delay"], IMU_DELAY),
    ):
        settings[name] = {"start": 0.001, "between": (0.0, 0.01), "paths": paths}
        truth[name] = delay
    settings["delay"] = {"start": 0.0, "between": (-0.002, 0.002)}  # delay of targets within a step
    return settings, truth


def fitted(
    motion: Motion, folder: Path, seed: int, colour: float, time_step: float = 1e-3
) -> FitResult:
    """Return the fit to one recording."""
    world = folder / "foot.yaml"
    world.write_text(WORLD % time_step)
    settings, _ = unknowns()
    recording = measured(motion, seed, colour)
    return hrpsim.fit(world, [recording], settings, window=LONGEST, start="fitted")  # type: ignore[arg-type]


class Linear:
    """The fit, linearised about the truth. All fits to a motion share the derivatives.

    A full fit takes minutes. Noise changes the values by only a thousandth, so the linearisation is
    accurate.
    """

    def __init__(self, motion: Motion, folder: Path) -> None:
        world = folder / "foot.yaml"
        world.write_text(WORLD % TIME_STEP)
        self.motion, self.scenario = motion, scenario_of(world)
        settings, truth = unknowns()
        recording = measured(motion, None, 0.0)
        self.unknowns = unknowns_of(settings, self.scenario, [recording])
        self.u = self.unknowns.to_u(np.array([truth.get(n, 0.0) for n in self.unknowns.names]))
        self._world = self.scenario.world_of({}, seed=0)[0]
        predictor = self._predictor(recording)
        base, *moved = self._differences(predictor, [0.0 * self.u, *CHANGE * np.eye(len(self.u))])
        self._rows, kinds = predictor.rows(), list(predictor.kinds)
        self._weights = 1.0 / np.array([_deviation(kind) for kind in kinds])[self._rows.kind]
        self._starts = Starts(predictor)
        values = self.unknowns.by_path(self.u)
        self._starts.weigh(self._starts.differentiate(values), self._weights)
        self._J = self._starts.without((np.array(moved) - base).T / CHANGE * self._weights[:, None])

    def _predictor(self, one: Recording) -> Predictor:
        bound = BoundRecording(one, self._world, "hrp2")
        bound.bind_signals(self._world, self.unknowns.signal_delays())
        return Predictor(self.scenario, [bound], LONGEST, True)

    def _differences(self, predictor: Predictor, moves: list[np.ndarray]) -> np.ndarray:
        return predictor.differences([self.unknowns.by_path(self.u + move) for move in moves])

    def fitted(self, seed: int | None, colour: float) -> tuple[np.ndarray, np.ndarray]:
        """Return errors of the unknowns and half widths (p,). Errors of logarithms are relative."""
        predictor = self._predictor(measured(self.motion, seed, colour))
        differences = self._differences(predictor, [0.0 * self.u])[0] * self._weights
        differences, J = self._starts.without(differences[:, None])[:, 0], self._J
        error = -np.linalg.lstsq(J, differences, rcond=None)[0]
        residual = differences + J @ error
        matrix, degrees = of_coloured_noise(J, residual, self._rows, self._starts.without)
        half = stdtrit(degrees, 0.975) * np.sqrt(np.diag(matrix))
        scale = np.where(self.unknowns.log, 1.0, self.unknowns.unit)
        return error * scale, half * scale


def _deviation(kind: str) -> float:
    """Return the standard deviation of the noise of a kind of quantity."""
    signal, _, quantity = kind.rpartition(".")
    if signal:
        own = NOISE["imu" if signal == "imu" else "wrench"]
        return float(np.ravel(own)[-1 if quantity in ("torque", "accelerometer") else 0])
    return float(np.ravel(NOISE[KINDS[kind]])[0])


def main() -> int:
    """Print the table."""
    seeds = number_of_seeds()
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        linear = Linear(swayed(mujoco_module()), Path(folder))
        columns.append(linear.fitted(None, 0.0)[0])
        for colour in COLOURS:
            results = np.array([linear.fitted(seed, colour) for seed in range(seeds)])
            errors, halves = results[:, 0], results[:, 1]
            columns.append((np.abs(errors) <= halves).sum(axis=0))
            columns.append(np.abs(errors).max(axis=0))
            columns.append(halves.mean(axis=0))
    print(
        f"| unknown | error without noise | white noise, of {seeds} | largest error | half width "
        f"| coloured noise, of {seeds} | largest error | half width |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, bias, *own in zip(linear.unknowns.names, *columns):
        inside, worst, half, others, worst_other, half_other = own
        numbers = f"{bias:.2g} | {inside} | {worst:.2g} | {half:.2g} | {others} | {worst_other:.2g}"
        print(f"| {name} | {numbers} | {half_other:.2g} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
