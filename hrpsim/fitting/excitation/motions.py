# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Motions of joints within limits: finite Fourier series that start and end at rest, and chirps.

A series is q(t) = q0 + s sum_k [a_k sin(w_k t) + b_k (cos(w_k t) - 1)] / w_k with frequencies w_k
that are multiples of 2 pi / duration (Swevers et al. 1997). The conditions sum_k a_k = 0 and sum_k
b_k w_k = 0 make velocity and acceleration zero at both ends. The factor s scales the motion to the
limits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.fitting.unknowns import FitError
from hrpsim.world.objects.robot import Robot

_OPEN_RANGE = 0.5 * np.pi  # excursion of a joint without limits [rad or m]
_TAPER = 0.1  # fraction of a chirp's duration at each end with a changing amplitude
_LEAST_LEVEL = 0.05  # fraction of the limits


class ExcitingMotion(NamedTuple):
    """Targets of joints at regular times."""

    time: np.ndarray  # (n,) [s]
    joints: tuple[str, ...]
    positions: np.ndarray  # (n, joints) [rad or m]
    velocities: np.ndarray  # (n, joints) [rad/s or m/s]


class MotionLimits(NamedTuple):
    """Limits of position and velocity of some joints, relative to a motion's initial posture."""

    joints: tuple[str, ...]
    centre: np.ndarray  # (joints,) [rad or m]
    below: np.ndarray  # (joints,) largest excursion to smaller positions
    above: np.ndarray  # (joints,) largest excursion to larger positions
    speed: np.ndarray  # (joints,) largest velocity


def room_of(
    robot: Robot, joints: Sequence[str], share: float, amplitude: float | None
) -> MotionLimits:
    """Return the limits of a motion of some joints.

    Args:
        robot: robot in the posture where the motion begins.
        joints: names of the joints.
        share: fraction of the limits of position and velocity that the motion may use.
        amplitude: largest excursion [rad or m]. None allows excursions up to the limits.

    Raises:
        FitError: a joint is already at a limit.
    """
    at = robot.joint_index.v[robot.joint_index.indices(joints)]
    centre = robot.joint_positions[robot.joint_index.indices(joints)]
    system, most = robot.model.system, np.inf if amplitude is None else amplitude
    ends = [
        np.clip(side * (end[at] - centre), 0.0, None)
        for side, end in ((-1.0, system.lower), (1.0, system.upper))
    ]
    ends = [np.where(np.isfinite(end), share * end, _OPEN_RANGE).clip(max=most) for end in ends]
    for name, below, above in zip(joints, *ends):
        if min(below, above) <= 0.0:
            raise FitError(
                f"{name} starts at a limit. Give the robot another posture in the world file"
            )
    return MotionLimits(tuple(joints), centre, ends[0], ends[1], share * system.velocity_limit[at])


class Series:
    """Fourier series of some joints, described by a coefficient vector x with entries from -1 to 1.

    Args:
        room: limits of the motion.
        duration: duration of the motion [s].
        period: time between targets [s].
        harmonics: number of frequencies of each joint.
        frequency: the highest frequency [Hz].
    """

    def __init__(
        self, room: MotionLimits, duration: float, period: float, harmonics: int, frequency: float
    ) -> None:
        self.room = room
        self.time = period * np.arange(round(duration / period) + 1)
        most = max(round(frequency * duration), 2)
        multiples = np.unique(np.round(np.geomspace(1, most, max(harmonics, 2))))
        self._w = 2.0 * np.pi * multiples / duration
        phases = np.outer(self.time, self._w)
        self._q = np.sin(phases) / self._w, (np.cos(phases) - 1.0) / self._w
        self._v = np.cos(phases), -np.sin(phases)
        self.size = len(room.joints) * (2 * len(self._w) + 1)

    def draw(self, rng: np.random.Generator, slope: float) -> np.ndarray:
        """Return a random coefficient vector (size,) whose motion reaches the limits.

        slope: exponent. The velocity amplitudes are proportional to this power of the frequency.
        """
        rows = rng.uniform(-1.0, 1.0, (len(self.room.joints), 2 * len(self._w) + 1))
        rows[:, :-1] *= np.tile((self._w / self._w[-1]) ** slope, 2)
        rows[:, -1] = 1.0
        return rows.ravel()

    def motion(self, x: np.ndarray) -> ExcitingMotion:
        """Return the motion of a coefficient vector (size,), scaled to the limits."""
        rows = x.reshape(len(self.room.joints), -1)
        count = len(self._w)
        a, b, level = rows[:, :count], rows[:, count : 2 * count], rows[:, -1]
        a = a - a.mean(axis=1, keepdims=True)
        b = b - np.outer(b @ self._w, self._w) / (self._w @ self._w)
        q = self._q[0] @ a.T + self._q[1] @ b.T
        v = self._v[0] @ a.T + self._v[1] @ b.T
        return within(
            self.room, self.time, q, v, _LEAST_LEVEL + (1.0 - _LEAST_LEVEL) * 0.5 * (1.0 + level)
        )


def within(
    room: MotionLimits, time: np.ndarray, q: np.ndarray, v: np.ndarray, level: np.ndarray
) -> ExcitingMotion:
    """Return the motion with excursions q and velocities v (n, joints), scaled to the limits.

    level: fraction of the limits that each joint uses (joints,).
    """
    tiny = 1e-12
    factor = np.minimum(
        room.above / q.max(axis=0).clip(tiny), room.below / (-q.min(axis=0)).clip(tiny)
    )
    factor = np.minimum(factor, room.speed / np.abs(v).max(axis=0).clip(tiny))
    factor = np.where(np.isfinite(factor), factor, 0.0) * level
    return ExcitingMotion(time, room.joints, room.centre + q * factor, v * factor)


def chirp(
    room: MotionLimits, time: np.ndarray, frequency: float, level: float = 1.0
) -> ExcitingMotion:
    """Return a linear chirp of all joints from 0 to `frequency` [Hz], tapered at both ends.

    level: fraction of the limits that each joint uses (joints,).
    """
    duration = time[-1]
    taper = np.clip(np.minimum(time, duration - time) / (_TAPER * duration), 0.0, 1.0)
    taper = taper**2 * (3.0 - 2.0 * taper)
    q = taper * np.sin(np.pi * frequency * time**2 / duration)
    q = np.repeat(q[:, None], len(room.joints), axis=1)
    return within(room, time, q, np.gradient(q, time, axis=0), np.full(len(room.joints), level))
