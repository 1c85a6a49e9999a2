# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Scenes of free bodies, with SimBenchmark's measures of error.

Source of all numbers and formulas: leggedrobotics/SimBenchmark, benchmark/res/yaml and
benchmark/include. Random positions have the same amplitude as in SimBenchmark, but other values,
because the generators differ.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import product

import numpy as np

GRAVITY = 9.81
FLOOR = "floor"


@dataclass(frozen=True)
class Body:
    """A uniform ball of radius `size` (1,), or box of edges `size` (3,) along the world's axes [m].

    `kind` names the material.
    """

    kind: str
    size: tuple[float, ...]
    mass: float
    position: tuple[float, float, float]

    @property
    def is_ball(self) -> bool:
        """Whether the body is a ball."""
        return len(self.size) == 1

    @property
    def moment(self) -> float:
        """The moment of inertia of a ball about the centre [kg m^2]."""
        return 0.4 * self.mass * self.size[0] ** 2


@dataclass(frozen=True)
class State:
    """Positions and velocities of the bodies (n, 3), along the world's axes [m, m/s, rad/s]."""

    positions: np.ndarray
    velocities: np.ndarray
    spins: np.ndarray


@dataclass(frozen=True)
class Scene:
    """Bodies on a floor at z = 0.

    Attributes:
        friction: friction coefficients of pairs of materials.
        restitution: restitution of all pairs.
        force: force on the first body throughout (3,) [N].
        error: error(scene, time, state) returns the error at the start of a step. The error of a
            run is the mean over `seconds`.
        fallen: the run ends if fallen(state) is true.
    """

    name: str
    bodies: tuple[Body, ...]
    seconds: float
    error: Callable[[Scene, float, State], float]
    unit: str
    friction: dict[tuple[str, str], float] = field(default_factory=dict)
    restitution: float = 0.0
    force: tuple[float, float, float] | None = None
    fallen: Callable[[State], bool] | None = None

    def mu(self, a: str, b: str) -> float:
        """Return the friction coefficient of two materials, 0.8 by default."""
        return self.friction.get((a, b), self.friction.get((b, a), 0.8))


STEPS = (4e-4, 1e-3, 4e-3, 1e-2, 4e-2, 1e-1)
_DIRECTION = np.array([0.5, 0.866025403784439, 0.0])
_RADIUS = 0.1


def rolling() -> Scene:
    """Return the scene of 25 balls on a box that is dragged over the floor.

    The exact motion has a closed form.
    """
    sink = 2e-5  # initial penetration of all bodies
    box = Body("box", (20.0, 20.0, 1.0), 10.0, (0.0, 0.0, 0.5 - sink))
    balls = [
        Body("ball", (0.5,), 1.0, (2.0 * i - 4.0, 2.0 * j - 4.0, 1.5 - 3 * sink))
        for i, j in product(range(5), repeat=2)
    ]
    return Scene(
        "rolling",
        (box, *balls),
        4.0,
        _velocity_error,
        "m2/s2",
        friction={(FLOOR, "box"): 0.4, (FLOOR, "ball"): 0.5, ("ball", "box"): 0.8},
        force=tuple(150.0 * _DIRECTION),
    )


def rolling_accelerations(push: float = 150.0) -> tuple[float, float]:
    """Return the accelerations of a sliding box, and of balls that roll on the box [m/s^2]."""
    mass, ball, count = 10.0, 1.0, 25
    floor = 0.4 * (mass + count * ball) * GRAVITY
    rub = (push - floor) / mass / (3.5 / ball + count / mass)
    return (push - floor - count * rub) / mass, rub / ball


def _velocity_error(scene: Scene, time: float, state: State) -> float:
    box, ball = rolling_accelerations()
    true = np.outer([box * time, ball * time], _DIRECTION)
    return float(((state.velocities[:2] - true) ** 2).sum())


def bouncing() -> Scene:
    """Return the scene of 49 balls that fall from 5 m and bounce without losses."""
    balls = tuple(
        Body("ball", (_RADIUS,), 10.0, (2.0 * i, 2.0 * j, 5.0))
        for i, j in product(range(7), repeat=2)
    )
    frictionless = {(FLOOR, "ball"): 0.0, ("ball", "ball"): 0.0}
    return Scene(
        "bouncing", balls, 20.0, _energy_error, "J2", friction=frictionless, restitution=1.0
    )


def energy(scene: Scene, state: State) -> float:
    """Return the total kinetic and potential energy of balls [J]."""
    mass = np.array([body.mass for body in scene.bodies])
    moment = np.array([body.moment for body in scene.bodies])
    kinetic = mass @ (state.velocities**2).sum(axis=1) + moment @ (state.spins**2).sum(axis=1)
    return float(0.5 * kinetic + GRAVITY * mass @ state.positions[:, 2])


def _energy_error(scene: Scene, time: float, state: State) -> float:
    start = GRAVITY * sum(body.mass * body.position[2] for body in scene.bodies)
    return (energy(scene, state) - start) ** 2


def _cube_of_balls(height: float) -> tuple[Body, ...]:
    shift = np.random.default_rng(42).uniform(0.0, 1e-3, (6, 6, 6, 3))
    return tuple(
        Body("ball", (_RADIUS,), 10.0, tuple(0.21 * np.array(at) + shift[at] + [0.0, 0.0, height]))
        for at in product(range(6), repeat=3)
    )


def six() -> Scene:
    """Return the scene of 6 x 6 x 6 frictionless balls that fall from 1 mm above the floor."""
    frictionless = {(FLOOR, "ball"): 0.0, ("ball", "ball"): 0.0}
    return Scene(
        "666", _cube_of_balls(0.101), 10.0, _penetration_error, "m2", friction=frictionless
    )


def elastic_six() -> Scene:
    """Return the scene `six` with balls that start 1 m higher and bounce without losses."""
    frictionless = {(FLOOR, "ball"): 0.0, ("ball", "ball"): 0.0}
    return Scene(
        "elastic 666",
        _cube_of_balls(1.101),
        10.0,
        _energy_error,
        "J2",
        friction=frictionless,
        restitution=1.0,
    )


def _penetration_error(scene: Scene, time: float, state: State) -> float:
    """Return the sum of the squares of all penetrations [m^2]."""
    p = state.positions
    order = np.argsort(p[:, 0], kind="stable")
    p = p[order]
    depths = [np.maximum(_RADIUS - p[:, 2], 0.0)]
    for apart in range(1, len(p)):  # in the order of x, until no pair is near enough
        between = p[apart:] - p[:-apart]
        near = between[:, 0] < 2.0 * _RADIUS
        if not near.any():
            break
        depths.append(2.0 * _RADIUS - np.linalg.norm(between[near], axis=1))
    return float((np.maximum(np.concatenate(depths), 0.0) ** 2).sum())


def kapla(floors: int = 6, columns: int = 8) -> Scene:
    """Return the scene of a Kapla tower of 102 blocks.

    The error is the time from the fall of the tower to the end of the run [s].
    """
    long, short, high = 0.2, 0.05, 0.1
    half = columns // 2
    blocks = []
    for level in range(floors):
        z = 2 * level * high
        wall, base = (long, short, high), (short, long + 0.05, high)
        blocks += [Body("block", base, 10.0, (j * long, 0.0, z + 0.05)) for j in range(columns)]
        sides = [(2 * j * long + 0.1, -0.5 * long) for j in range(half)]
        sides += [(2 * j * long + 0.3, 0.5 * long) for j in range(half - 1)]
        sides += [(0.1, 0.5 * long), (2 * (half - 1) * long + 0.1, 0.5 * long)]
        blocks += [Body("block", wall, 10.0, (*xy, z + 0.15)) for xy in sides]
    top = 2 * high * (floors - 1)
    return Scene(
        "kapla",
        tuple(blocks),
        600.0,
        _no_error,
        "s",
        fallen=lambda state: bool(state.positions[-1, 2] < top),
    )


def _no_error(scene: Scene, time: float, state: State) -> float:
    return 0.0


LOOSE = {scene().name: scene for scene in (rolling, bouncing, six, elastic_six, kapla)}
