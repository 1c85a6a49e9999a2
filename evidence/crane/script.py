# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A scripted player of the crane game, which executes a list of moves."""

import math
from dataclasses import dataclass

import numpy as np

from evidence.crane.control import Crane, Request
from hrpsim.control.framework.controller import Command, State

_CLOSING = 18.0  # closing time times the grip's force [Ns]
_RISE = 0.13  # clearance of the pads above objects [m]
_DROP = 0.004  # height from which objects are released [m]
_LOWEST = 0.027  # least height of the pads above the table [m]
_ARRIVED = 1e-9  # tolerance at a goal [m, rad and their rates]


@dataclass(frozen=True)
class Go:
    """A move to the position (x, y, z) [m] and the angle `yaw` [rad], which ends at rest."""

    position: tuple[float, float, float]
    yaw: float = 0.0


@dataclass(frozen=True)
class Grip:
    """A move that closes or opens the claws for `duration` [s]."""

    close: bool
    duration: float = 1.0


@dataclass(frozen=True)
class Wait:
    """A pause of `duration` [s]."""

    duration: float


@dataclass(frozen=True)
class Jerk:
    """An acceleration (3,) [m/s^2] for `duration` [s], beyond the crane's limits."""

    acceleration: tuple[float, float, float]
    duration: float


def fetching(bodies, goal, grip: float) -> list:
    """Return the moves that carry bodies one by one to places on a fixed shape.

    The crane grips each body at its centre, across the world's y axis. With a weaker grip the claws
    close more slowly, and the move takes longer.

    Args:
        bodies: bodies in the order of the moves.
        goal: the fixed shape.
        grip: force of the claws [N].
    """
    slots = _slots(goal, len(bodies))
    moves = []
    for body, (x, y, z) in zip(bodies, slots):
        at = np.maximum(body.position, (-np.inf, -np.inf, _LOWEST))
        above, over = (*at[:2], at[2] + _RISE), (x, y, _RISE + z)
        down = z + max(at[2], body.position[2]) + _DROP
        moves += [
            Grip(False, 0.5),
            Go(above),
            Wait(0.4),
            Go(tuple(at)),
            Grip(True, _CLOSING / grip),
        ]
        moves += [Go(above), Go(over), Go((x, y, down)), Grip(False, 0.6), Go(over)]
    return moves


def _slots(goal, count: int) -> list[np.ndarray]:
    """Return `count` places on top of the goal, in rows, the farthest places first."""
    x, y, z = goal.geometry.lengths
    rows = max(1, round(math.sqrt(count)))
    columns = math.ceil(count / rows)
    return [
        goal.p + (x * (0.5 - (i + 0.5) / columns), y * ((j + 0.5) / rows - 0.5), 0.5 * z)
        for i in range(columns)
        for j in range(rows)
    ][:count]


class ScriptedCrane(Crane):
    """A crane that executes `script`, a list of moves. `finished` is true after the last move.

    begun: start times of the moves so far [s].
    """

    def __init__(self, script) -> None:
        self.script = list(script)
        self.begun: list[float] = []

    def initialize(self, state: State) -> None:
        """Start the script."""
        super().initialize(state)
        self.begun = []
        self.finished = False
        self._ends = -math.inf
        self._close = False

    def control(self, state: State) -> Command:
        """Request the velocity of the present move, and advance the reference."""
        while not self.finished and self._is_done(state.time):
            if len(self.begun) == len(self.script):
                self.finished = True
                break
            self._begin(self.script[len(self.begun)], state.time)
        self.request = Request(*self._motion(), self._close)
        return super().control(state)

    @property
    def move(self):
        """The present move, or None before the first move."""
        return self.script[len(self.begun) - 1] if self.begun else None

    def _begin(self, move, time: float) -> None:
        self.begun.append(time)
        self._ends = -math.inf if isinstance(move, Go) else time + move.duration
        if isinstance(move, Grip):
            self._close = move.close

    def _is_done(self, time: float) -> bool:
        if isinstance(self.move, Go):
            return max(np.abs(self._remaining_way()).max(), np.abs(self.velocity).max()) < _ARRIVED
        return time >= self._ends - 0.5 * self.period

    def _remaining_way(self) -> np.ndarray:
        return np.array([*self.move.position, self.move.yaw]) - self.position

    def _motion(self) -> tuple[tuple[float, float, float], float]:
        """Return velocity and yaw rate of the present move in the next period."""
        if not isinstance(self.move, Go):
            return (0.0, 0.0, 0.0), 0.0
        return self.motion_along(self._remaining_way())

    def _next_velocity(self) -> np.ndarray:
        if isinstance(self.move, Jerk) and not self.finished:
            change = np.append(self.move.acceleration, 0.0) * self.period
            return self.velocity + change
        return super()._next_velocity()
