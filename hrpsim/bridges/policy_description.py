# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The YAML file that describes a policy: its observations and actions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

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

TERMS = (
    "angular_velocity",
    "linear_velocity",
    "gravity",
    "command",
    "joint_positions",
    "joint_velocities",
    "last_action",
    "phase",
    "clock",
)
_MOST = 1000  # joints, steps of history


def _numbers(kind):
    return either("a number, or a list of them", kind, listing(kind, 1, _MOST))


_ANY = _numbers(numeric())
_TERM = mapping(
    {"scale": _ANY, "clip": numeric(POSITIVE), "history": integer(1, _MOST)},
    {"term": one_of("term", TERMS)},
)
_DESCRIPTION = mapping(
    {
        "decimation": integer(1, 10_000),
        "kd": _numbers(numeric(NOT_NEGATIVE)),
        "action": mapping({"scale": _ANY, "clip": numeric(POSITIVE)}),
        "history_by_step": flag,
        "imu": name,
        "base": one_of("base", (TRUE, ESTIMATED)),
        "frequency": numeric(POSITIVE),
    },
    {
        "policy": name,
        "period": numeric(PERIOD),
        "joints": listing(name, 1, _MOST),
        "default": _ANY,
        "kp": _numbers(numeric(NOT_NEGATIVE)),
        "observations": listing(_TERM, 1, _MOST),
    },
)


@dataclass(frozen=True)
class Term:
    """One part of what a policy observes."""

    term: str  # one of TERMS
    scale: np.ndarray  # by which its values are multiplied
    clip: float  # largest magnitude after that
    history: int  # number of its last values that are observed, oldest first


@dataclass(frozen=True)
class PolicyDescription:
    """A policy's description; arrays have an entry for each of its n joints."""

    source: str
    network: Path
    period: float  # of the PD control [s]
    decimation: int  # periods between two evaluations
    joints: tuple[str, ...]
    default: np.ndarray  # posture (n,) [rad]
    kp: np.ndarray  # (n,) [Nm/rad]
    kd: np.ndarray  # (n,) [Nms/rad]
    action_scale: np.ndarray  # (n,) [rad]
    action_clip: float
    observations: tuple[Term, ...]
    history_by_step: bool  # all terms of a step together, not each term's history
    imu: str  # "": the first one
    base: str  # TRUE or ESTIMATED, where the base is observed
    frequency: float  # of the gait, for `phase` and `clock` [Hz]

    def has(self, term: str) -> bool:
        """Return whether a term is observed."""
        return any(one.term == term for one in self.observations)


def read_policy(path: Path) -> PolicyDescription:
    """Return a policy's description; ControllerError, with file and line, for a mistake."""
    text = read_yaml(path, ControllerError, "policy description")
    values, place, mistake = first_mistake(_DESCRIPTION, text.data)
    if mistake:
        where = f"{'.'.join(map(str, place))}: " if place else ""
        raise ControllerError(f"{text.place(place)}: {where}{mistake}")
    joints = tuple(values["joints"])
    if len(set(joints)) != len(joints):
        twice = next(joint for joint in joints if joints.count(joint) > 1)
        raise ControllerError(f"{text.place(['joints'])}: joint {twice!r} is named twice")

    def vector(place: list, given) -> np.ndarray:
        if not isinstance(given, list):
            return np.full(len(joints), float(given))
        if len(given) != len(joints):
            raise ControllerError(
                f"{text.place(place)}: {'.'.join(place)}: {len(given)} numbers for "
                f"{len(joints)} joints"
            )
        return np.array(given, dtype=float)

    action = values.get("action", {})
    terms = tuple(
        Term(
            one["term"],
            np.array(one.get("scale", 1.0), dtype=float),
            float(one.get("clip", math.inf)),
            one.get("history", 1),
        )
        for one in values["observations"]
    )
    by_step = values.get("history_by_step", False)
    if by_step and len({term.history for term in terms}) > 1:
        raise ControllerError(
            f"{text.place(['observations'])}: history_by_step needs one history for all terms"
        )
    return PolicyDescription(
        source=str(path),
        network=path.parent / Path(values["policy"]).expanduser(),
        period=values["period"],
        decimation=values.get("decimation", 1),
        joints=joints,
        default=vector(["default"], values["default"]),
        kp=vector(["kp"], values["kp"]),
        kd=vector(["kd"], values.get("kd", 0.0)),
        action_scale=vector(["action", "scale"], action.get("scale", 1.0)),
        action_clip=float(action.get("clip", math.inf)),
        observations=terms,
        history_by_step=by_step,
        imu=values.get("imu", ""),
        base=values.get("base", TRUE),
        frequency=values.get("frequency", 1.0),
    )
