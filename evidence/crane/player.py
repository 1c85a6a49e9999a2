# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A crane controlled by keys and buttons, by sliders, or by a stick."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from evidence.crane.control import Crane, Request
from hrpsim.common.errors import unknown_name
from hrpsim.control.framework.controller import Command, ControllerError, State
from hrpsim.model.model import Model

# Fractions of the hand's speed and turning speed.
DIRECTIONS = {
    "forward": (1.0, 0.0, 0.0, 0.0),
    "back": (-1.0, 0.0, 0.0, 0.0),
    "left": (0.0, 1.0, 0.0, 0.0),
    "right": (0.0, -1.0, 0.0, 0.0),
    "up": (0.0, 0.0, 1.0, 0.0),
    "down": (0.0, 0.0, -1.0, 0.0),
    "turn left": (0.0, 0.0, 0.0, 1.0),
    "turn right": (0.0, 0.0, 0.0, -1.0),
}


class PlayedCrane(Crane):
    """A crane that moves for some time after each pressed button, or moves to `target`.

    close: whether the claws close. target: (x, y, z, yaw) [m, rad], or None.
    """

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the parameters, see Crane."""
        super().configure(model, parameters)
        self._let_go()

    def initialize(self, state: State) -> None:
        """Start at rest at the present position, with open claws."""
        super().initialize(state)
        self._let_go()

    def press(self, direction: str, duration: float = 0.2) -> None:
        """Move in one of DIRECTIONS for `duration` [s].

        Raises ControllerError for another direction.
        """
        if direction not in DIRECTIONS:
            raise ControllerError(f"crane: {unknown_name('direction', direction, DIRECTIONS)}")
        self.target = None
        self._remaining[direction] = duration

    def push_stick(self, shares, duration: float = 0.5) -> None:
        """Move for `duration` [s] with fractions of the largest speeds.

        shares: fractions (x, y, z, turn) from -1 to 1.
        """
        self.target = None
        self._stick, self._stick_left = np.clip(shares, -1.0, 1.0), duration

    def send_to(self, target) -> None:
        """Move to `target` (x, y, z, yaw) [m, rad], clipped to the range of the slides."""
        self.target = np.fmin(np.fmax(target, self._lowest), self._highest)  # also limits NaN

    def control(self, state: State) -> Command:
        """Convert the pressed buttons, or the target, to a request, and advance the reference."""
        self.request = Request(*self._motion(), self.close)
        self._remaining = {
            k: t - self.period for k, t in self._remaining.items() if t > self.period
        }
        self._stick_left -= self.period
        return super().control(state)

    def _let_go(self) -> None:
        self.close = False
        self.target: np.ndarray | None = None
        self._remaining: dict[str, float] = {}  # remaining time of each pressed direction [s]
        self._stick, self._stick_left = np.zeros(4), 0.0

    def _motion(self) -> tuple[tuple[float, ...], float]:
        if self.target is not None:
            return self.motion_along(self.target - self.position)
        shares = np.array(sum((np.array(DIRECTIONS[k]) for k in self._remaining), np.zeros(4)))
        if self._stick_left > 0.0:
            shares = shares + self._stick
        return tuple(self.speed * shares[:3]), float(self.turn_speed * shares[3])
