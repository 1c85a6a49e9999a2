# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measure the published errors, and the processor time, of scenes in any engine."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass

import numpy as np

from evidence.benchmarks.simbenchmark.engines import Engine
from evidence.benchmarks.simbenchmark.robots import ROBOTS, RobotScene, robot_energy, robot_momentum
from evidence.benchmarks.simbenchmark.scenes import LOOSE

MOMENTUM_SECONDS, PULL_SECONDS, FLIGHT_SECONDS = 10.0, 1.0, 2.0


@dataclass(frozen=True)
class Found:
    """The mean error of a scene up to the time `reached` of `seconds` [s].

    The error is infinite if the state diverged.
    """

    error: float
    reached: float
    seconds: float
    settings: str
    fell: bool = False

    def as_data(self) -> dict:
        """Return the measurement for JSON."""
        return asdict(self)


def error(engine: Engine, name: str, time_step: float, limit: float) -> Found:
    """Return the mean error of a scene. Stop after `limit` [s] of processor time."""
    if name in LOOSE:
        return _loose_error(engine, name, time_step, limit)
    scene = ROBOTS[name]()
    measure = {"anymal momentum": _momentum_error, "anymal energy": _energy_error}[name]
    return measure(engine, scene, time_step, limit)


def _loose_error(engine: Engine, name: str, time_step: float, limit: float) -> Found:
    scene = LOOSE[name]()
    bodies = engine.loose(scene, time_step)

    def sample(time: float) -> tuple[float, bool]:
        state = bodies.state()
        fell = scene.fallen is not None and scene.fallen(state)
        return scene.error(scene, time, state), fell

    return _mean(sample, bodies, scene.seconds, time_step, limit)


def _momentum_error(engine: Engine, scene: RobotScene, time_step: float, limit: float) -> Found:
    robots = engine.robots(scene, time_step)
    start = scene.ball.mass * np.array(scene.ball.velocity)

    def sample(time: float) -> tuple[float, bool]:
        total = scene.ball.mass * robots.ball_velocity() + robot_momentum(scene, *robots.state())
        return float(((total - start) ** 2).sum()), False

    return _mean(sample, robots, MOMENTUM_SECONDS, time_step, limit)


def _energy_error(engine: Engine, scene: RobotScene, time_step: float, limit: float) -> Found:
    robots = engine.robots(scene, time_step)
    lift = 2.0 * scene.gravity * scene.model.mass
    for _ in range(int(PULL_SECONDS / time_step + 1e-9)):
        robots.step(1, lift)
    start = robot_energy(scene, *robots.state())

    def sample(time: float) -> tuple[float, bool]:
        return (robot_energy(scene, *robots.state()) - start) ** 2, False

    return _mean(sample, robots, FLIGHT_SECONDS, time_step, limit)


def _mean(sample, moving, seconds: float, time_step: float, limit: float) -> Found:
    """Return the mean error.

    sample(time) returns the error at a time, and whether the bodies have fallen.
    """
    steps = int(seconds / time_step + 1e-9)
    total, until, done, fell = 0.0, time.process_time() + limit, steps, False
    for k in range(steps):
        value, fell = sample(k * time_step)
        total += value
        if fell or not np.isfinite(total) or time.process_time() > until:
            done = k
            break
        moving.step(1)
    mean = float(total) / max(done, 1) if np.isfinite(total) else float("inf")
    return Found(mean, done * time_step, steps * time_step, moving.settings, fell)


class Ride:
    """A timed scene.

    `run` makes the next steps, and restarts the scene if too few steps are left.
    """

    def __init__(self, engine: Engine, name: str, time_step: float, count: int = 1) -> None:
        self.engine, self.name, self.time_step = engine, name, time_step
        if name in LOOSE:
            self.scene = LOOSE[name]()
            self.steps = int(self.scene.seconds / time_step + 1e-9)
        else:
            self.scene = ROBOTS[name]().many(count)
            self.steps = 1 << 40  # standing robots have no end
        self._begin()

    def _begin(self) -> None:
        make = self.engine.loose if self.name in LOOSE else self.engine.robots
        self.moving, self.left = make(self.scene, self.time_step), self.steps

    def run(self, steps: int) -> tuple[float, float]:
        """Make `steps` steps. Return processor time and wall time of one step [s]."""
        if steps > self.left:
            self._begin()
        began, begin = time.perf_counter(), time.process_time()
        self.moving.step(steps)
        taken, wall = time.process_time() - begin, time.perf_counter() - began
        self.left -= steps
        return taken / steps, wall / steps
