# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Policies described by YAML files: terms of the observation, histories, the network."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import numpy as np

from hrpsim.bridges.onnx_network import Network
from hrpsim.common import schema
from hrpsim.common.foreign.yaml_text import read_yaml
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE
from hrpsim.control.framework.controller import BaseReading, ControllerError, ImuReading
from hrpsim.control.framework.controller_host import ESTIMATED, TRUE
from hrpsim.control.framework.plugins import PERIOD
from hrpsim.model.readers.urdf_writer import rpy_of
from hrpsim.model.shapes.placement import rotation_matrix

_LEVEL = np.array([0.0, 0.0, 0.0, 1.0])
_MOST = 1000  # joints, steps of history


@dataclass(frozen=True)
class Readings:
    """The quantities behind the observed terms at one time, for the n joints of a policy."""

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
        """Return the readings of `count` joints in the default posture, without a command.

        The base is upright.
        """
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
    """One part of the observation of a policy."""

    term: str  # one of TERMS
    scale: np.ndarray  # by which its values are multiplied
    clip: float  # largest magnitude after that
    history: int  # number of its last values that are observed
    components: tuple[int, ...] | None  # of its values, in this order; None: all of them

    def value(self, readings: Readings) -> np.ndarray:
        """Return the term at one time, scaled and bounded."""
        values = TERMS[self.term](readings)
        if self.components is not None:
            values = values[list(self.components)]
        return np.clip(values * self.scale, -self.clip, self.clip)

    def check(self, source: str, readings: Readings) -> None:
        """Raise ControllerError if scale or components do not fit the term's size."""
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
    """The observation of a network: terms in order."""

    network: Path
    terms: tuple[Term, ...]
    by_step: bool  # all terms of a step together, not each term's history
    newest_first: bool  # histories begin with the newest values
    from_zero: bool  # histories begin with zeros, not with the first values

    def has(self, *terms: str) -> bool:
        """Return whether any of these terms is observed."""
        return any(one.term in terms for one in self.terms)

    def columns(self, readings: Readings) -> list[str]:
        """Return a name for each number, such as "gravity[2]", with its age in the history."""
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

    def other_orders(self) -> Iterator[tuple[str, Observation]]:
        """Yield the observations of the same values in other orders, with their entries."""
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
    """A network with the history of its observation."""

    def __init__(self, source: str, observation: Observation, sample: Readings) -> None:
        self.observation = observation
        for term in observation.terms:
            term.check(source, sample)
        path = observation.network
        if not os.path.isfile(path):
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
        """Add the readings to the history, and return the observation."""
        for term, past in zip(self.observation.terms, self.pasts):
            past.append(term.value(readings))
        return self.observation.stacked(self.pasts)

    def answer(self, readings: Readings) -> np.ndarray:
        """Evaluate the network at the present readings."""
        action, *self._memory = self.network.evaluate(self.observe(readings), self._memory)
        return action


def _numbers(kind):
    return schema.either("a number, or a list of them", kind, schema.listing(kind, 1, _MOST))


_ANY = _numbers(schema.numeric())
_TERM = schema.mapping(
    {
        "scale": _ANY,
        "clip": schema.numeric(POSITIVE),
        "history": schema.integer(1, _MOST),
        "components": schema.listing(schema.integer(0, _MOST), 1, _MOST),
    },
    {"term": schema.one_of("term", TERMS)},
)
_TERMS = schema.listing(_TERM, 1, _MOST)
_DESCRIPTION = schema.mapping(
    {
        "decimation": schema.integer(1, 10_000),
        "kd": _numbers(schema.numeric(NOT_NEGATIVE)),
        "action": schema.mapping({"scale": _ANY, "clip": schema.numeric(POSITIVE)}),
        "history_by_step": schema.flag,
        "history_from_zero": schema.flag,
        "history_newest_first": schema.flag,
        "encoder": schema.mapping({}, {"network": schema.name, "observations": _TERMS}),
        "imu": schema.name,
        "base": schema.one_of("base", (TRUE, ESTIMATED)),
        "frequency": schema.numeric(POSITIVE),
        "standing_below": schema.numeric(NOT_NEGATIVE),
    },
    {
        "policy": schema.name,
        "period": schema.numeric(PERIOD),
        "joints": schema.listing(schema.name, 1, _MOST),
        "default": _ANY,
        "kp": _numbers(schema.numeric(NOT_NEGATIVE)),
        "observations": _TERMS,
    },
)


@dataclass(frozen=True)
class PolicyDescription:
    """The description of a policy. Arrays have an entry for each of the policy's n joints."""

    source: str
    period: float  # of the PD control [s]
    decimation: int  # periods between two evaluations
    joints: tuple[str, ...]
    default: np.ndarray  # posture (n,) [rad]
    kp: np.ndarray  # (n,) [Nm/rad]
    kd: np.ndarray  # (n,) [Nms/rad]
    action_scale: np.ndarray  # (n,) [rad]
    action_clip: float
    observation: Observation
    encoder: Observation | None  # of the network that answers the term `encoding`
    imu: str  # "": the first one
    base: str  # TRUE or ESTIMATED, where the base is observed
    frequency: float  # of the gait, for `phase` and `clock` [Hz]
    standing_below: float  # norm of the command under which the gait's phases are pi

    def has(self, *terms: str) -> bool:
        """Return whether the policy or its encoder observes any of these terms."""
        encoded = self.encoder is not None and self.encoder.has(*terms)
        return encoded or self.observation.has(*terms)


def read_policy(path: Path) -> PolicyDescription:
    """Return a policy's description. A mistake raises ControllerError with file and line."""
    text = read_yaml(path, ControllerError, "policy description")
    values, keys, mistake = schema.first_mistake(_DESCRIPTION, text.data)
    if mistake:
        where = f"{'.'.join(map(str, keys))}: " if keys else ""
        raise ControllerError(f"{text.location(keys)}: {where}{mistake}")
    joints = tuple(values["joints"])
    if len(set(joints)) != len(joints):
        twice = next(joint for joint in joints if joints.count(joint) > 1)
        raise ControllerError(f"{text.location(['joints'])}: joint {twice!r} is named twice")

    def vector(keys: list, given) -> np.ndarray:
        if not isinstance(given, list):
            return np.full(len(joints), float(given))
        if len(given) != len(joints):
            raise ControllerError(
                f"{text.location(keys)}: {'.'.join(keys)}: {len(given)} numbers for "
                f"{len(joints)} joints"
            )
        return np.array(given, dtype=float)

    action, encoder = values.get("action", {}), values.get("encoder")
    by_step = values.get("history_by_step", False)

    def observation(file: str, observed: list[dict], keys: list) -> Observation:
        terms = tuple(_term(one) for one in observed)
        if by_step and len({term.history for term in terms}) > 1:
            raise ControllerError(
                f"{text.location(keys)}: history_by_step needs one history for all terms"
            )
        flags = (values.get(f"history_{key}", False) for key in ("newest_first", "from_zero"))
        return Observation(path.parent / Path(file).expanduser(), terms, by_step, *flags)

    if encoder and any(one["term"] == "encoding" for one in encoder["observations"]):
        raise ControllerError(
            f"{text.location(['encoder'])}: an encoder does not observe its output"
        )
    actor = observation(values["policy"], values["observations"], ["observations"])
    if actor.has("encoding") != (encoder is not None):
        raise ControllerError(
            f"{text.location(['observations'])}: an encoder and the term `encoding` need each other"
        )
    return PolicyDescription(
        source=str(path),
        period=values["period"],
        decimation=values.get("decimation", 1),
        joints=joints,
        default=vector(["default"], values["default"]),
        kp=vector(["kp"], values["kp"]),
        kd=vector(["kd"], values.get("kd", 0.0)),
        action_scale=vector(["action", "scale"], action.get("scale", 1.0)),
        action_clip=float(action.get("clip", math.inf)),
        observation=actor,
        encoder=encoder
        and observation(encoder["network"], encoder["observations"], ["encoder", "observations"]),
        imu=values.get("imu", ""),
        base=values.get("base", TRUE),
        frequency=values.get("frequency", 1.0),
        standing_below=values.get("standing_below", 0.0),
    )


def _term(given: dict) -> Term:
    components = given.get("components")
    return Term(
        given["term"],
        np.array(given.get("scale", 1.0), dtype=float),
        float(given.get("clip", math.inf)),
        given.get("history", 1),
        None if components is None else tuple(components),
    )
