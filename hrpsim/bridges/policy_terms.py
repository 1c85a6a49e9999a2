# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The observations of policies: terms, histories, and the network that observes the terms."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from types import MappingProxyType

import numpy as np

from hrpsim.bridges.network_files import open_network
from hrpsim.bridges.policy_network import Answer, PolicyNetwork, Question
from hrpsim.control.framework.controller import BaseReading, ControllerError, ImuReading
from hrpsim.model.readers.urdf_writer import rpy_of
from hrpsim.model.shapes.placement import rotation_matrix

_LEVEL = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass(frozen=True)
class PolicyReadings:
    """The quantities from which terms are computed, at one time, for the n joints of a policy."""

    joint_positions: np.ndarray  # relative to the default posture (n,) [rad]
    joint_velocities: np.ndarray  # (n,) [rad/s]
    action: np.ndarray  # last action (n,)
    command: np.ndarray  # velocities x, y, yaw (3,) [m/s, rad/s]
    phases: np.ndarray  # gait phases of the two legs (2,) [rad]
    imu: ImuReading  # of the base if there is no IMU
    base: BaseReading  # zero if no term needs it
    encoding: np.ndarray  # output of the encoder (k,)
    # Outputs of the last evaluation, by name.
    references: Mapping[str, np.ndarray] = field(default_factory=dict)
    evaluations: int = 0  # earlier evaluations of the network
    answers: int = 0  # earlier answers to the robot, without the evaluation at zeros

    @staticmethod
    def at_rest(count: int) -> PolicyReadings:
        """Return the readings of an upright robot in the default posture, without a command.

        count: number of the policy's joints.
        """
        zero, none = np.zeros(3), np.zeros(count)
        phases, imu = np.array([0.0, np.pi]), ImuReading(_LEVEL, zero, zero)
        base = BaseReading(zero, _LEVEL, zero, zero)
        return PolicyReadings(none, none, none, zero, phases, imu, base, np.zeros(0))


TERMS: dict[str, Callable[[PolicyReadings], np.ndarray]] = {
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
    "step": lambda r: np.array([float(r.evaluations)]),
}
REFERENCE = "reference"  # term for a further output of the network
MOTION = "motion"  # term for a recorded motion


def _rotation(readings: PolicyReadings) -> np.ndarray:
    return rotation_matrix(readings.imu.orientation.tolist())


@dataclass(frozen=True)
class Term:
    """One term of the observation of a policy."""

    term: str  # one of TERMS
    scale: np.ndarray  # factors on the values
    clip: float  # largest magnitude after scaling
    history: int  # number of observed past values
    components: tuple[int, ...] | None  # indices of the observed values, in order, None for all
    output: str = ""  # output of the network, for the term `reference`
    rows: np.ndarray | None = None  # values of the term `motion`, one row for each answer (t, k)

    def value(self, readings: PolicyReadings) -> np.ndarray:
        """Return the term at one time, scaled and clipped."""
        values = self._raw(readings)
        if self.components is not None:
            values = values[list(self.components)]
        return np.clip(values * self.scale, -self.clip, self.clip)

    def check(self, source: str, readings: PolicyReadings) -> None:
        """Raise ControllerError if scale or components do not fit the term's size.

        source: the description, for messages.
        """
        size = len(self._raw(readings))
        if max(self.components or (0,)) >= size:
            raise ControllerError(
                f"{source}: {self.term}: component {max(self.components or ())} does not "
                f"exist. The term has {size} components, counted from 0"
            )
        size = size if self.components is None else len(self.components)
        if self.scale.ndim and self.term != "constant" and len(self.scale) != size:
            raise ControllerError(
                f"{source}: {self.term}: scale must be one number or {size}, got {len(self.scale)}"
            )

    def _raw(self, readings: PolicyReadings) -> np.ndarray:
        if self.term == REFERENCE:
            return readings.references[self.output]
        if self.rows is not None:
            return self.rows[min(readings.answers, len(self.rows) - 1)]
        return TERMS[self.term](readings)


@dataclass(frozen=True)
class Observation:
    """The input of a network: an ordered list of terms."""

    network: Path
    terms: tuple[Term, ...]
    by_step: bool  # whether the history is ordered by step instead of by term
    newest_first: bool  # whether histories begin with the newest values
    from_zero: bool  # whether histories start with zeros instead of the first values

    def has(self, *terms: str) -> bool:
        """Return whether any of these terms is observed."""
        return any(term.term in terms for term in self.terms)

    def columns(self, readings: PolicyReadings) -> list[str]:
        """Return a name for each observed value, with the age in the history: "gravity[2]"."""
        pasts = [
            [
                [f"{term.term}[{k}]" + (f" {age} before" if age else "") for k in range(size)]
                for age in reversed(range(term.history))
            ]
            for term in self.terms
            for size in [len(term.value(readings))]
        ]
        return [name for value in self._in_order(pasts) for name in value]

    def stacked(self, pasts: Sequence[Sequence[np.ndarray]]) -> np.ndarray:
        """Return the observation as one vector.

        pasts: history of each term, oldest value first.
        """
        return np.concatenate(self._in_order(pasts))

    def other_orders(self) -> Iterator[tuple[str, Observation]]:
        """Yield each other order of the same histories.

        Yields:
            The entries of a description that select the order, and the reordered observation.
        """
        for by_step, newest_first in product((False, True), repeat=2):
            alike = not by_step or len({term.history for term in self.terms}) == 1
            if alike and (by_step, newest_first) != (self.by_step, self.newest_first):
                flags = {"history_by_step": by_step, "history_newest_first": newest_first}
                entries = ", ".join(f"{key}: {str(flag).lower()}" for key, flag in flags.items())
                yield entries, replace(self, by_step=by_step, newest_first=newest_first)

    def _in_order(self, pasts: Sequence[Sequence]) -> list:
        if self.newest_first:
            pasts = [list(reversed(past)) for past in pasts]
        rows = zip(*pasts, strict=True) if self.by_step else pasts
        return [value for row in rows for value in row]


class ObservingNetwork:
    """A network with the histories of all observed terms.

    Args:
        source: the description, for messages.
        observation: terms of the first input.
        sample: readings of the robot at rest.
        further: terms of the additional inputs, by input name.
        opened: opens a network, `open_network` by default.
    """

    def __init__(
        self,
        source: str,
        observation: Observation,
        sample: PolicyReadings,
        further: Mapping[str, Observation] = MappingProxyType({}),
        opened: Callable[..., PolicyNetwork] = open_network,
    ) -> None:
        self.observation, self._further = observation, dict(further)
        path = observation.network
        if not os.path.isfile(path):
            raise ControllerError(f"{source}: policy {str(path)!r} does not exist")
        every = [
            term for observed in (observation, *self._further.values()) for term in observed.terms
        ]
        references = tuple(dict.fromkeys(term.output for term in every if term.term == REFERENCE))
        self.network = opened(path, tuple(self._further), references)
        self.sample = replace(sample, references=self._at_rest(source, references))
        for term in every:
            term.check(source, self.sample)
        self._check("", source, observation, self.network.width)
        for name, observed in self._further.items():
            self._check(name, source, observed, self.network.width_of(name))

    def _at_rest(self, source: str, wanted: Sequence[str]) -> dict[str, np.ndarray]:
        sizes = {name: self.network.width_of(name) for name in wanted}
        if open_ones := [name for name, size in sizes.items() if size is None]:
            raise ControllerError(
                f"{source}: {REFERENCE}: the network does not declare the size of its output "
                f"{open_ones[0]!r}. Export it with a fixed size"
            )
        return {name: np.zeros(size or 0) for name, size in sizes.items()}

    def _check(self, name: str, source: str, one: Observation, width: int | None) -> None:
        total = len(one.columns(self.sample))
        if width is not None and width != total:
            raise ControllerError(
                f"{source}: the observations have {total} numbers, but the network's input "
                f"{(name or self.network.observed)!r} has {width}"
            )

    def start(self, readings: PolicyReadings) -> None:
        """Reset histories and memory.

        The histories contain the present readings, or zeros if the description asks for zeros. If
        terms observe outputs of the network, the network is evaluated once for an observation of
        zeros.
        """
        self._memory: Sequence[np.ndarray] = self.network.first_memory()
        self._references, self._evaluations = dict(self.sample.references), 0
        self._begin(readings)
        if self._references:
            question = self.question(readings)
            zeros = np.zeros_like(question.observation)
            self.take(self.network.answer(question._replace(observation=zeros)))
            self._memory = self.network.first_memory()
            self._begin(readings)

    def _begin(self, readings: PolicyReadings) -> None:
        complete = self._with_outputs(readings)
        self._pasts = {
            name: [_begun(observed, term, complete) for term in observed.terms]
            for name, observed in self._observed()
        }

    @property
    def pasts(self) -> list[deque]:
        """The history of each term of the first input, oldest value first."""
        return self._pasts[""]

    def question(self, readings: PolicyReadings) -> Question:
        """Add the readings to the histories, and return the inputs of the network."""
        complete = self._with_outputs(readings)
        inputs = {name: self._newest(name, complete) for name, _ in self._observed()}
        return Question(inputs.pop(""), self._memory, inputs)

    def take(self, answer: Answer) -> np.ndarray:
        """Store memory and outputs for the next evaluation, and return the action."""
        self._memory, self._evaluations = answer.memory, self._evaluations + 1
        self._references.update(answer.outputs)
        return answer.action

    def answer(self, readings: PolicyReadings) -> np.ndarray:
        """Evaluate the network at the present readings."""
        return self.take(self.network.answer(self.question(readings)))

    def _observed(self) -> list[tuple[str, Observation]]:
        return [("", self.observation), *self._further.items()]

    def _newest(self, name: str, readings: PolicyReadings) -> np.ndarray:
        observation = self._further[name] if name else self.observation
        for term, past in zip(observation.terms, self._pasts[name]):
            past.append(term.value(readings))
        return observation.stacked(self._pasts[name])

    def _with_outputs(self, readings: PolicyReadings) -> PolicyReadings:
        count = self._evaluations
        answers = max(count - bool(self._references), 0)
        return replace(readings, references=self._references, evaluations=count, answers=answers)


def _begun(observation: Observation, term: Term, readings: PolicyReadings) -> deque:
    begun = 0.0 if observation.from_zero else 1.0
    return deque([begun * term.value(readings)] * term.history, term.history)
