# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A slow walk by TSID's torques: centre of mass above one foot, then the other foot forward.

The zero-moment point stays in the sole, references include their rates, and a foot bears load once
a contact force acts on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.bridges.tsid import TsidController
from hrpsim.control.biped.prepare import PreparedBiped
from hrpsim.control.framework.controller import State
from hrpsim.control.pattern.support_polygon import sole_outline
from hrpsim.dynamics.functions import center_of_mass
from hrpsim.model.model import Model

_SHIFT, _SWING = 2.0, 1.0  # durations [s]
_SINK = 0.02  # of a foot that is late [m/s]
_BEARING = 0.6  # share of the distance to the sole's edges that bears, as its corners are round
_STRIDE, _LIFT = 0.1, 0.07  # relative to the height of the base
_SMOOTH = np.polynomial.Polynomial([0, 0, 0, 10, -15, 6])  # from 0 to 1, at rest at both ends
_BUMP = np.polynomial.Polynomial([0, 0, 0, 64, -192, 192, -64])  # up to 1 and down again


class SlowWalk(TsidController):
    """Walk a number of steps with a biped; the first and the last are half as long.

    `stride` is half the length of the others [m]; `duration` is the time of the walk if every foot
    lands in time [s]; `finished`: the last foot has landed; `creep` is the largest displacement of
    a foot that bears alone within a step [m].

    Args:
        biped: the robot, from `prepare_biped`.
        steps: number of steps.
    """

    def __init__(self, biped: PreparedBiped, steps: int = 4) -> None:
        """Read the soles and the first posture of a prepared biped."""
        self._feet, self._steps = biped.soles, steps
        height = biped.start[2]
        self.stride, self._height = _STRIDE * height, _LIFT * height
        self.duration = steps * (_SHIFT + _SWING)
        sole = sole_outline(biped.model, self._feet[0])
        length, width = (_BEARING * sole).T
        self._lengths, self._widths = (length.max(), -length.min()), (width.max(), -width.min())
        height = center_of_mass(biped.model, biped.start)[2]
        self._above_foot = np.append(sole.mean(axis=0), height)

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Require the contacts of the feet."""
        self.needs = {"base": "true", "contacts": list(self._feet)}
        super().configure(model, parameters)

    def initialize(self, state: State) -> None:
        """Start, with both feet on the floor."""
        self.finished, self.creep = False, 0.0
        super().initialize(state)

    def build(self, q: np.ndarray, v: np.ndarray) -> None:
        """Stand on both feet."""
        self.com_task(weight=1.0, kp=30.0)
        self.posture_task(weight=1e-3, kp=10.0)
        self._frames = {foot: self.frame_task(foot, weight=1.0, kp=200.0) for foot in self._feet}
        for foot in self._feet:
            self.stand_on(foot, self._lengths, self._widths)
        self._step, self._goal = -1, self.com0
        self._begin_step(0.0)

    def update(self, time: float) -> None:
        """Follow smooth reference trajectories; a step ends when its foot touches the floor."""
        elapsed = time - self._begun
        in_air = self._swing not in self.contacts
        late = elapsed > _SHIFT + 0.5 * _SWING
        if in_air and late and self.state.contacts[self._swing].touches:
            self.stand_on(self._swing, self._lengths, self._widths)
            self.finished = self._step == self._steps - 1
            self._begin_step(time)
            return
        trajectory = np.outer(_trajectory(_SMOOTH, elapsed, _SHIFT), self._goal - self._from)
        trajectory[0] += self._from
        self.move_com(*trajectory)
        if elapsed > _SHIFT and not in_air:
            self.lift(self._swing)
            self._stood = self.place(self._stance).translation
        elif in_air:
            slip = self.place(self._stance).translation - self._stood
            self.creep = max(self.creep, float(np.linalg.norm(slip[:2])))
        self._move_foot(elapsed - _SHIFT)

    def _begin_step(self, time: float) -> None:
        """Plan the next step from the feet's present poses."""
        self._step, self._begun, self._from = self._step + 1, time, self._goal
        self._swing, self._stance = self._feet if self._step % 2 == 0 else self._feet[::-1]
        self._lifted_from = self.place(self._swing)
        self._goal = self.place(self._stance).translation + self._above_foot

    def _move_foot(self, elapsed: float) -> None:
        """Set the reference of the swing foot at a time since lift-off [s]."""
        length = self.stride * (1 if self._step in (0, self._steps - 1) else 2)
        moved = np.zeros((3, 6))
        moved[:, 0] = length * _trajectory(_SMOOTH, elapsed, _SWING)
        moved[:, 2] = self._height * _trajectory(_BUMP, elapsed, _SWING)
        moved[0, 2] -= _SINK * max(elapsed - _SWING, 0.0)
        place = self._lifted_from.copy()
        place.translation = place.translation + moved[0, :3]
        self.move_frame(self._frames[self._swing], place, *moved[1:])


def _trajectory(shape: np.polynomial.Polynomial, time: float, duration: float) -> np.ndarray:
    """Return a reference trajectory's position, rate and acceleration at a time [s]."""
    s = np.clip(time / duration, 0.0, 1.0)
    return np.array([shape(s), shape.deriv()(s) / duration, shape.deriv(2)(s) / duration**2])
