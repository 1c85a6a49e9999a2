# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The case to explain: a policy on a robot in hrpsim, the initial states, and the duration."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from hrpsim.bridges.policy_description import PolicyDescription, read_policy
from hrpsim.common.errors import HrpsimError, ModelWarning, require_name
from hrpsim.common.file_names import exists
from hrpsim.world.file.load_world import load_world
from hrpsim.world.objects.robot import Robot
from hrpsim.world.perturbed_start import perturbed
from hrpsim.world.world import World

Start = tuple[np.ndarray, np.ndarray]
"""Configuration (nq,) and velocity (nv,) in hrpsim's layout."""


class ExplainError(HrpsimError, ValueError):
    """Raised if a policy's run and the reference cannot be compared."""


@dataclass(frozen=True)
class Case:
    """A policy, the world in which the policy runs in hrpsim, and the runs to make.

    Args:
        policy: description of the policy (YAML).
        world: world file or MJCF with the robot in its initial state.
        robot: name of the robot. None: the first robot.
        keyframe: name of a posture in the description in which runs start. "": the initial state of
            the world.
        commands: rows of time [s], velocities x, y [m/s] and yaw [rad/s].
        duration: duration of a run [s].
        starts: number of initial states. The first initial state is not perturbed.
        joint_spread: standard deviation of the initial joint positions [rad or m].
        velocity_spread: standard deviation of the initial base velocity [m/s, rad/s].
    """

    policy: Path
    world: Path
    robot: str | None = None
    keyframe: str = ""
    commands: tuple[tuple[float, float, float, float], ...] = ()
    duration: float = 3.0
    starts: int = 8
    joint_spread: float = 0.02
    velocity_spread: float = 0.05

    def description(self) -> PolicyDescription:
        """Return the description of the policy."""
        return read_policy(self.policy)

    def parameters(self) -> dict:
        """Return the parameters of the controller."""
        return {"description": str(self.policy), "commands": [list(row) for row in self.commands]}

    def times(self) -> np.ndarray:
        """Return the times at which runs are compared: each evaluation of the policy [s]."""
        policy = self.description()
        apart = policy.period * policy.decimation
        return apart * np.arange(max(round(self.duration / apart), 1) + 1)

    def load(self, time_step: float | None = None, integrator: str | None = None) -> World:
        """Return a new world in the initial state. None keeps the value of the world file."""
        settings = time_step, integrator, self.robot, self.keyframe
        return _loaded(self.world, stamp_of(self.world), *settings).copy()

    def robot_in(self, world: World) -> Robot:
        """Return the robot of a world that `load` returned."""
        return world.robots[self.robot or next(iter(world.robots))]

    def first_start(self) -> Start:
        """Return the initial state without a perturbation."""
        robot = self.robot_in(self.load())
        return robot.q.copy(), robot.v.copy()

    def start(self, number: int, first: Start) -> Start:
        """Return an initial state. Start 0 is `first`, and other starts are perturbed.

        The perturbation depends only on the number. The lowest point of a perturbed robot is as
        high as in `first`.
        """
        world = self.load()
        robot = self.robot_in(world)
        robot.q, robot.v = first
        if number == 0:
            return first[0].copy(), first[1].copy()
        chance = np.random.default_rng(number)
        return perturbed(world, robot, chance, self.joint_spread, self.velocity_spread)


def stamp_of(path: Path) -> int:
    """Return the modification time of a file [ns], as a key for cached contents."""
    return path.stat().st_mtime_ns if exists(path) else 0


@lru_cache(maxsize=8)
def _loaded(  # many parameters: they are the key of the cache
    path: Path,
    stamp: int,
    time_step: float | None,
    integrator: str | None,
    name: str | None,
    keyframe: str,
) -> World:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # check-model lists these elements
        world = load_world(path, time_step=time_step, integrator=integrator)
        if not world.robots:
            raise ExplainError(f"{path}: the world has no robot")
        if name is not None:
            require_name("robot", name, world.robots, ExplainError)
        robot = world.robots[name or next(iter(world.robots))]
        if keyframe:
            require_name("keyframe", keyframe, robot.model.keyframes, ExplainError)
            robot.q = robot.model.keyframes[keyframe]
    return world
