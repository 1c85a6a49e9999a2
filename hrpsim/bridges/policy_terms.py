# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The terms of a policy's observation: their table, their histories, and the network they feed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hrpsim.bridges.onnx_network import Network
from hrpsim.control.framework.controller import BaseReading, ControllerError, ImuReading
from hrpsim.model.formats.urdf_writer import rpy_of
from hrpsim.model.shapes.placement import rotation_matrix

_LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Readings:
    """What terms are made of, at one time, for the n joints of a policy."""

    joint_positions: np.ndarray  # from the default posture (n,) [rad]
    joint_velocities: np.ndarray  # (n,) [rad/s]
    action: np.ndarray  # the last one (n,)
    command: np.ndarray  # velocities x, y, yaw (3,) [m/s, rad/s]
    phases: np.ndarray  # of the two legs (2,) [rad]
    imu: ImuReading  # of the base, where there is no IMU
    base: BaseReading  # at rest, where no term reads it
    encoding: np.ndarray  # output of the encoder (k,)

    @staticmethod
    def at_rest(count: int) -> Readings:
        """Return those of `count` joints in the default posture, upright, without a command."""
        zero, none = np.zeros(3), np.zeros(count)
        phases, imu = np.array([0.0, np.pi]), ImuReading(_LEVEL, zero, zero)
        base = BaseReading(zero, _LEVEL, zero, zero)
        return Readings(none, none, none, zero, phases, imu, base, np.zeros(0))


TERMS: dict[str, Callable[[Readings], np.ndarray]] = {
    "angular_velocity": lambda r: r.imu.angular_velocity,
    "linear_velocity": lambda r: r.base.linear_velocity,
    "acceleration": lambda r: r.imu.linear_acceleration,
    "gravity": lambda r: -_rotation(r)[2],
    "orientation": lambda r: r.imu.orientation,
    "euler": lambda r: np.array(rpy_of(_rotation(r))),
    "command": lambda r: r.command,
    "joint_positions": lambda r: r.joint_positions,
    "joint_velocities": lambda r: r.joint_velocities,
    "last_action": lambda r: r.action,
    "phase": lambda r: np.concatenate([np.cos(r.phases), np.sin(r.phases)]),
    "clock": lambda r: np.array([np.sin(r.phases[0]), np.cos(r.phases[0])]),
    "constant": lambda r: np.ones(1),
    "encoding": lambda r: r.encoding,
}


def _rotation(readings: Readings) -> np.ndarray:
    return rotation_matrix(readings.imu.orientation.tolist())


@dataclass(frozen=True)
class Term:
    """One part of what a policy observes."""

    term: str  # one of TERMS
    scale: np.ndarray  # by which its values are multiplied
    clip: float  # largest magnitude after that
    history: int  # number of its last values that are observed, oldest first
    components: tuple[int, ...] | None  # of its values, in this order; None: all of them

    def value(self, readings: Readings) -> np.ndarray:
        """Return the term at one time, scaled and bounded."""
        values = TERMS[self.term](readings)
        if self.components is not None:
            values = values[list(self.components)]
        return np.clip(values * self.scale, -self.clip, self.clip)

    def check(self, source: str, readings: Readings) -> None:
        """Raise ControllerError where scale or components do not fit the term's size."""
        size = len(TERMS[self.term](readings))
        if max(self.components or (0,)) >= size:
            raise ControllerError(
                f"{source}: {self.term}: component {max(self.components or ())} of {size} numbers, "
                "which count from 0"
            )
        size = size if self.components is None else len(self.components)
        if self.scale.ndim and self.term != "constant" and len(self.scale) != size:
            raise ControllerError(
                f"{source}: {self.term}: {len(self.scale)} scales for {size} numbers"
            )


@dataclass(frozen=True)
class Observation:
    """What a network observes: terms in its order."""

    network: Path
    terms: tuple[Term, ...]
    by_step: bool  # all terms of a step together, not each term's history
    from_zero: bool  # histories begin with zeros, not with the first values

    def has(self, *terms: str) -> bool:
        """Return whether one of these terms is observed."""
        return any(one.term in terms for one in self.terms)

    def columns(self, readings: Readings) -> list[str]:
        """Return a name for each number, such as "gravity[2]", with its age in a history."""
        pasts = [
            [
                [f"{one.term}[{k}]" + (f" {age} before" if age else "") for k in range(size)]
                for age in reversed(range(one.history))
            ]
            for one in self.terms
            for size in [len(one.value(readings))]
        ]
        return [name for value in self._in_order(pasts) for name in value]

    def stacked(self, pasts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        """Return the observation of histories, oldest first."""
        return np.concatenate(self._in_order(pasts))

    def _in_order(self, pasts: Sequence[Sequence]) -> list:
        rows = zip(*pasts, strict=True) if self.by_step else pasts
        return [value for row in rows for value in row]


class ObservingNetwork:
    """A network that is evaluated with the history of its observation."""

    def __init__(self, source: str, observation: Observation, sample: Readings):
        self.observation = observation
        for term in observation.terms:
            term.check(source, sample)
        path = observation.network
        if not path.is_file():
            raise ControllerError(f"{source}: policy {str(path)!r} does not exist")
        self.network = Network(path)
        first, total = self.network.inputs[0], len(observation.columns(sample))
        if isinstance(first.shape[-1], int) and first.shape[-1] != total:
            raise ControllerError(
                f"{source}: the observations are {total} numbers, and the network's input "
                f"{first.name!r} takes {first.shape[-1]}"
            )

    def start(self, readings: Readings) -> None:
        """Begin with a history of the present readings, or of zeros, and a memory of zeros."""
        self._memory = [np.zeros(one.shape, np.float32) for one in self.network.inputs[1:]]
        begun = 0.0 if self.observation.from_zero else 1.0
        self.pasts = [
            deque([begun * term.value(readings)] * term.history, term.history)
            for term in self.observation.terms
        ]

    def observe(self, readings: Readings) -> np.ndarray:
        """Add the readings to the history; return the observation."""
        for term, past in zip(self.observation.terms, self.pasts):
            past.append(term.value(readings))
        return self.observation.stacked(self.pasts)

    def answer(self, readings: Readings) -> np.ndarray:
        """Evaluate the network at the present readings."""
        action, *self._memory = self.network.evaluate(self.observe(readings), self._memory)
        return action
