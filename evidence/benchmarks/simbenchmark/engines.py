# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The engines of the suite by name. Only the process that needs an engine imports its module."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import numpy as np

from evidence.benchmarks.simbenchmark.robots import RobotScene
from evidence.benchmarks.simbenchmark.scenes import Scene, State

# folder with the last mujoco before 4 (see Makefile), because one process cannot load both versions
OLD_MUJOCO = Path(os.environ.get("HRPSIM_OLD_MUJOCO", Path(sys.prefix) / "mujoco3"))
OURS = "hrpsim"


class Unable(Exception):
    """Raised if an engine lacks a feature that a scene requires. The message names the feature."""


class LooseEngine(Protocol):
    """The free bodies of a Scene in an engine."""

    settings: str  # version and settings for the table

    def step(self, count: int) -> None:
        """Make `count` steps with the scene's force on the first body."""

    def state(self) -> State:
        """Return positions and velocities of the bodies, in the scene's order."""


class RobotEngine(Protocol):
    """The robots of a RobotScene in an engine. q and v have hrpsim's layout."""

    settings: str

    def step(self, count: int, lift: float = 0.0) -> None:
        """Make `count` steps.

        lift: upward force at the origin of the first robot's base [N].
        """

    def state(self) -> tuple[np.ndarray, np.ndarray]:
        """Return configuration (nq,) and velocity (nv,) of the first robot."""

    def ball_velocity(self) -> np.ndarray:
        """Return the velocity of the scene's ball (3,) [m/s]."""


class Engine(Protocol):
    """Makes scenes in one engine."""

    def loose(self, scene: Scene, time_step: float) -> LooseEngine:
        """Return the bodies in the initial state. Raises Unable if the engine lacks a feature."""

    def robots(self, scene: RobotScene, time_step: float) -> RobotEngine:
        """Return the robots of the scene in the initial state."""


@dataclass(frozen=True)
class Kind:
    """The module and class of an engine, its options, and the required package.

    path: folder that is searched first for the package.
    """

    module: str
    maker: str
    package: str
    options: dict = field(default_factory=dict)
    path: Path | None = None

    @property
    def installed(self) -> bool:
        """Whether the required package is installed."""
        if self.path is not None:
            return (self.path / self.package).is_dir()
        return find_spec(self.package) is not None


KINDS = {
    OURS: Kind("ours", "Ours", "hrpsim"),
    "hrpsim rk4": Kind("ours", "Ours", "hrpsim", {"integrator": "rk4"}),
    "mujoco 4": Kind("with_mujoco", "Mujoco", "mujoco"),
    "mujoco 4 dense": Kind("with_mujoco", "Mujoco", "mujoco", {"sparse": False}),
    "mujoco 4 rk4": Kind("with_mujoco", "Mujoco", "mujoco", {"integrator": "RK4"}),
    "mujoco 3": Kind("with_mujoco", "Mujoco", "mujoco", path=OLD_MUJOCO),
    "bullet": Kind("with_bullet", "Bullet", "pybullet"),
    "dart": Kind("with_dart", "Dart", "dartpy"),
    "drake": Kind("with_drake", "Drake", "pydrake"),
}


def installed() -> list[str]:
    """Return the names of the installed engines."""
    return [name for name, kind in KINDS.items() if kind.installed]


def make(name: str) -> Engine:
    """Return the engine with a name."""
    kind = KINDS[name]
    module = import_module(f"evidence.benchmarks.simbenchmark.{kind.module}")
    return getattr(module, kind.maker)(**kind.options)
