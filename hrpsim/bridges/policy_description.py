# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The YAML file that describes a policy: its observations and actions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from hrpsim.bridges.policy_terms import TERMS, Observation, Term
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.framework.controller_host import ESTIMATED, TRUE
from hrpsim.control.framework.plugins import PERIOD
from hrpsim.schema import (
    either,
    first_mistake,
    flag,
    integer,
    listing,
    mapping,
    name,
    numeric,
    one_of,
)
from hrpsim.values import NOT_NEGATIVE, POSITIVE
from hrpsim.yaml_text import read_yaml

_MOST = 1000  # joints, steps of history


def _numbers(kind):
    return either("a number, or a list of them", kind, listing(kind, 1, _MOST))


_ANY = _numbers(numeric())
_TERM = mapping(
    {
        "scale": _ANY,
        "clip": numeric(POSITIVE),
        "history": integer(1, _MOST),
        "components": listing(integer(0, _MOST), 1, _MOST),
    },
    {"term": one_of("term", TERMS)},
)
_TERMS = listing(_TERM, 1, _MOST)
_DESCRIPTION = mapping(
    {
        "decimation": integer(1, 10_000),
        "kd": _numbers(numeric(NOT_NEGATIVE)),
        "action": mapping({"scale": _ANY, "clip": numeric(POSITIVE)}),
        "history_by_step": flag,
        "history_from_zero": flag,
        "encoder": mapping({}, {"network": name, "observations": _TERMS}),
        "imu": name,
        "base": one_of("base", (TRUE, ESTIMATED)),
        "frequency": numeric(POSITIVE),
        "standing_below": numeric(NOT_NEGATIVE),
    },
    {
        "policy": name,
        "period": numeric(PERIOD),
        "joints": listing(name, 1, _MOST),
        "default": _ANY,
        "kp": _numbers(numeric(NOT_NEGATIVE)),
        "observations": _TERMS,
    },
)


@dataclass(frozen=True)
class PolicyDescription:
    """A policy's description; arrays have an entry for each of its n joints."""

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
        """Return whether policy or encoder observe one of these terms."""
        encoded = self.encoder is not None and self.encoder.has(*terms)
        return encoded or self.observation.has(*terms)


def read_policy(path: Path) -> PolicyDescription:
    """Return a policy's description; ControllerError, with file and line, for a mistake."""
    text = read_yaml(path, ControllerError, "policy description")
    values, keys, mistake = first_mistake(_DESCRIPTION, text.data)
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
        network = path.parent / Path(file).expanduser()
        return Observation(network, terms, by_step, values.get("history_from_zero", False))

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
