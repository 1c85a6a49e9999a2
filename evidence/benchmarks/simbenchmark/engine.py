# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The interface of the engines of the suite: free bodies, and robots with or without PD."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from evidence.benchmarks.simbenchmark.robots import RobotScene
from evidence.benchmarks.simbenchmark.scenes import Scene, State


class Unable(Exception):
    """Raised if an engine cannot do what a scene requires. The message names the requirement."""


class LooseEngine(Protocol):
    """The interface of the bodies of a Scene in an engine."""

    settings: str  # version and settings for the table

    def step(self, count: int) -> None:
        """Do `count` steps under the scene's force on the first body."""

    def state(self) -> State:
        """Return positions and velocities of the bodies, in the scene's order."""


class RobotEngine(Protocol):
    """The interface of the robots of a RobotScene in an engine.

    q and v have the layout of hrpsim's model of the robot.
    """

    settings: str

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps, with an upward force `lift` [N] at the origin of the first base."""

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Return configuration (nq,) and velocity (nv,) of the first robot."""

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity (3,) of the ball that the scene has [m/s]."""


class Engine(Protocol):
    """The interface of an engine, which makes scenes."""

    def loose(self, scene: Scene, time_step: float) -> LooseEngine:
        """Return the bodies at the start. Raises Unable for features that the engine lacks."""

    def robots(self, scene: RobotScene, time_step: float) -> RobotEngine:
        """Return the robots of the scene in the initial state."""
