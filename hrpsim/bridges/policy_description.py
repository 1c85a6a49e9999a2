# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Descriptions of policies: a YAML file of hrpsim, a file of another project, or an ONNX file.

`policy_formats.py` lists the formats of other projects. A file in such a format is first converted
to the entries of hrpsim's YAML file. docs/howto/policies.md shows hrpsim's format.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bridges.exported_entries import from_metadata
from hrpsim.bridges.policy_actuators import ACTUATORS, ActuatorModel, mistake_in, model_of
from hrpsim.bridges.policy_formats import translated
from hrpsim.bridges.policy_terms import MOTION, REFERENCE, TERMS, Observation, Term
from hrpsim.common import schema
from hrpsim.common.errors import require_name, require_names
from hrpsim.common.foreign.arrays import read_npz
from hrpsim.common.foreign.yaml_text import YamlText, read_yaml
from hrpsim.common.resources import user_path
from hrpsim.common.values import NOT_NEGATIVE, POSITIVE, Range
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.framework.needs import ESTIMATED, TRUE
from hrpsim.control.framework.plugins import PERIOD

_MOST = 1000  # largest number of joints, and of steps of history
_ONNX = ".onnx"


def _numbers(kind):
    return schema.either("a number, or a list of them", kind, schema.listing(kind, 1, _MOST))


_ANY = _numbers(schema.numeric())
_NOT_NEGATIVE = _numbers(schema.numeric(NOT_NEGATIVE))
_NAMES = schema.listing(schema.name, 1, _MOST)
_TERM = schema.mapping(
    {
        "scale": _ANY,
        "clip": schema.numeric(POSITIVE),
        "history": schema.integer(1, _MOST),
        "components": schema.listing(schema.integer(0, _MOST), 1, _MOST),
        "output": schema.name,
        "file": schema.name,
        "array": schema.name,
    },
    {"term": schema.one_of("term", (*TERMS, REFERENCE, MOTION))},
)
_TERMS = schema.listing(_TERM, 1, _MOST)
_ACTION = schema.mapping(
    {
        "scale": _ANY,
        "clip": _numbers(schema.numeric(POSITIVE)),
        "lower": _ANY,
        "upper": _ANY,
        "filter": _numbers(schema.numeric(Range(0.0, 1.0))),
        "velocity": _NAMES,
        "effort": _NAMES,
    }
)
_DESCRIPTION = schema.mapping(
    {
        "decimation": schema.integer(1, 10_000),
        "kd": _NOT_NEGATIVE,
        "action": _ACTION,
        "armature": _NOT_NEGATIVE,
        "actuators": ACTUATORS,
        "history_by_step": schema.flag,
        "history_from_zero": schema.flag,
        "history_newest_first": schema.flag,
        "inputs": schema.table(_TERMS, "from inputs of the network to terms"),
        "encoder": schema.mapping({}, {"network": schema.name, "observations": _TERMS}),
        "imu": schema.name,
        "base": schema.one_of("base", (TRUE, ESTIMATED)),
        "frequency": schema.numeric(POSITIVE),
        "standing_below": schema.numeric(NOT_NEGATIVE),
    },
    {
        "policy": schema.name,
        "period": schema.numeric(PERIOD),
        "joints": _NAMES,
        "default": _ANY,
        "kp": _NOT_NEGATIVE,
        "observations": _TERMS,
    },
)


@dataclass(frozen=True)
class PolicyDescription:
    """The description of a policy. Arrays have an entry for each of the policy's n joints."""

    source: str
    period: float  # period of the PD control [s]
    decimation: int  # number of periods between two evaluations
    joints: tuple[str, ...]
    default: np.ndarray  # default posture (n,) [rad]
    kp: np.ndarray  # (n,) [Nm/rad]
    kd: np.ndarray  # (n,) [Nms/rad]
    action_scale: np.ndarray  # (n,) [rad, rad/s or Nm]
    action_lower: np.ndarray  # smallest used outputs of the network (n,)
    action_upper: np.ndarray  # largest used outputs of the network (n,)
    action_filter: np.ndarray  # weight of the last filtered action in the next one (n,)
    by_velocity: np.ndarray  # whether an action is a velocity target (n,)
    by_effort: np.ndarray  # whether an action is a torque (n,)
    armature: np.ndarray | None  # rotor inertia at the joints (n,) [kg m^2]
    actuators: tuple[ActuatorModel, ...]  # models for joints without ideal PD control
    observation: Observation
    inputs: Mapping[str, Observation]  # further inputs of the network
    encoder: Observation | None  # input of the network for the term `encoding`
    imu: str  # "" for the first IMU
    base: str  # TRUE or ESTIMATED, for observations of the base
    frequency: float  # frequency of the gait, for `phase` and `clock` [Hz]
    standing_below: float  # norm of the command, below which the gait's phases are pi

    @property
    def seconds(self) -> float:
        """Return the time between two evaluations of the network [s]."""
        return self.period * self.decimation

    def has(self, *terms: str) -> bool:
        """Return whether the policy or the encoder observes any of these terms."""
        every = (self.observation, *self.inputs.values(), self.encoder)
        return any(observation is not None and observation.has(*terms) for observation in every)


def read_policy(path: Path) -> PolicyDescription:
    """Read a policy's description.

    Missing entries are read from the metadata that the exporter wrote into the network. The path
    may also be the ONNX file itself.

    Raises:
        ControllerError: the description has an error. The message names file and line.
    """
    if path.suffix == _ONNX:
        text = YamlText(str(path), {"policy": path.name}, None, {})
    else:
        text = read_yaml(path, ControllerError, "policy description")
        text = text._replace(data=translated(path, text))
    data = text.data
    if isinstance(data, dict):
        text = text._replace(data=from_metadata(path, data))
    values, keys, mistake = schema.first_mistake(_DESCRIPTION, text.data)
    if mistake:
        where = f"{'.'.join(map(str, keys))}: " if keys else ""
        raise ControllerError(f"{text.location(keys)}: {where}{mistake}")
    return _described(path, text, values)


class _Joints(NamedTuple):
    """The joints of a description, and readers of entries with one value for each joint."""

    names: tuple[str, ...]
    text: YamlText

    def vector(self, keys: Sequence[str], given: Any) -> np.ndarray:
        """Return one number for each joint, from one number or a list with an entry per joint."""
        if not isinstance(given, list):
            return np.full(len(self.names), float(given))
        if len(given) != len(self.names):
            raise ControllerError(
                f"{self.text.location(keys)}: {'.'.join(keys)}: must be one number, or "
                f"{len(self.names)} numbers, one for each joint, got {len(given)}"
            )
        return np.array(given, dtype=float)

    def among(self, keys: Sequence[str], given: Sequence[str]) -> np.ndarray:
        """Return for each joint whether a list names the joint.

        Raises ControllerError for an unknown joint.
        """
        where = f"{self.text.location(keys)}: {'.'.join(keys)}"
        require_names("joint", given, self.names, ControllerError, where=where)
        return np.isin(self.names, given)


def _described(path: Path, text: YamlText, values: dict[str, Any]) -> PolicyDescription:
    names = tuple(values["joints"])
    if len(set(names)) != len(names):
        twice = next(joint for joint in names if names.count(joint) > 1)
        raise ControllerError(f"{text.location(['joints'])}: joint {twice!r} is named twice")
    joints = _Joints(names, text)
    observed = _observations(path, text, values)
    action, encoder = values.get("action", {}), values.get("encoder")
    by_velocity, by_effort = (
        joints.among(["action", key], action.get(key, ())) for key in ("velocity", "effort")
    )
    if (by_velocity & by_effort).any():
        twice = names[int(np.argmax(by_velocity & by_effort))]
        raise ControllerError(
            f"{text.location(['action'])}: action: {twice!r} is listed under both velocity and "
            "effort"
        )
    return PolicyDescription(
        source=str(path),
        period=values["period"],
        decimation=values.get("decimation", 1),
        joints=names,
        default=joints.vector(["default"], values["default"]),
        kp=joints.vector(["kp"], values["kp"]),
        kd=joints.vector(["kd"], values.get("kd", 0.0)),
        action_scale=joints.vector(["action", "scale"], action.get("scale", 1.0)),
        action_lower=_bound(joints, action, "lower", -1.0),
        action_upper=_bound(joints, action, "upper", 1.0),
        action_filter=joints.vector(["action", "filter"], action.get("filter", 0.0)),
        by_velocity=by_velocity,
        by_effort=by_effort,
        armature=joints.vector(["armature"], values["armature"]) if "armature" in values else None,
        actuators=_actuators(path, joints, values.get("actuators", ()), by_effort | by_velocity),
        observation=observed(values["policy"], values["observations"], ["observations"]),
        inputs={
            name: observed(values["policy"], terms, ["inputs", name])
            for name, terms in values.get("inputs", {}).items()
        },
        encoder=encoder
        and observed(encoder["network"], encoder["observations"], ["encoder", "observations"]),
        imu=values.get("imu", ""),
        base=values.get("base", TRUE),
        frequency=values.get("frequency", 1.0),
        standing_below=values.get("standing_below", 0.0),
    )


def _actuators(
    path: Path, joints: _Joints, entries: Sequence[Mapping[str, Any]], unplaced: np.ndarray
) -> tuple[ActuatorModel, ...]:
    """Make the actuator models of the entries.

    unplaced: joints (n,) that are not commanded by position. Such a joint cannot have a learned
    actuator.
    """
    models: list[ActuatorModel] = []
    taken = np.zeros(len(joints.names), dtype=bool)
    for k, entry in enumerate(entries):
        where = f"{joints.text.location(['actuators', k])}: actuators.{k}"
        own = joints.among(["actuators", str(k)], entry.get("joints", joints.names))
        mistake = mistake_in(entry)
        if not mistake and (own & taken).any():
            mistake = f"joint {joints.names[int(np.argmax(own & taken))]!r} has two actuators"
        if not mistake and "network" in entry and (own & unplaced).any():
            mistake = "a network needs joints that are commanded by position"
        if mistake:
            raise ControllerError(f"{where}: {mistake}")
        taken |= own
        models.append(model_of(entry, np.flatnonzero(own), path.parent))
    return tuple(models)


def _bound(joints: _Joints, action: dict[str, Any], key: str, sign: float) -> np.ndarray:
    """Return the lower or upper bound of the network's outputs (n,). `clip` sets both bounds."""
    clip = sign * joints.vector(["action", "clip"], action.get("clip", math.inf))
    return joints.vector(["action", key], action[key]) if key in action else clip


def _observations(
    path: Path, text: YamlText, values: dict[str, Any]
) -> Callable[[str, list[dict], list[str]], Observation]:
    """Return a function that makes an Observation from a network's path, terms, and their keys."""
    _check_encoder(text, values)
    flags = [values.get(f"history_{key}", False) for key in ("by_step", "newest_first")]
    from_zero = values.get("history_from_zero", False)

    def observation(file: str, observed: list[dict], keys: list[str]) -> Observation:
        terms = tuple(_term(path, text, keys, entry) for entry in observed)
        if flags[0] and len({term.history for term in terms}) > 1:
            raise ControllerError(
                f"{text.location(keys)}: history_by_step needs the same history of all terms"
            )
        return Observation(path.parent / user_path(file), terms, *flags, from_zero)

    return observation


def _check_encoder(text: YamlText, values: dict[str, Any]) -> None:
    encoder = values.get("encoder")
    if encoder and any(entry["term"] == "encoding" for entry in encoder["observations"]):
        raise ControllerError(
            f"{text.location(['encoder'])}: remove the term `encoding`, the encoder's own output"
        )
    observed = [values["observations"], *values.get("inputs", {}).values()]
    encoded = any(term["term"] == "encoding" for terms in observed for term in terms)
    if encoded != (encoder is not None):
        raise ControllerError(
            f"{text.location(['observations'])}: `encoder` and the term `encoding` go together. "
            "Give both, or neither"
        )


def _term(path: Path, text: YamlText, keys: list[str], given: dict) -> Term:
    if (given["term"] == REFERENCE) != ("output" in given):
        raise ControllerError(
            f"{text.location(keys)}: {given['term']}: `output` belongs to the term `{REFERENCE}`, "
            "which needs it"
        )
    components = given.get("components")
    return Term(
        given["term"],
        np.array(given.get("scale", 1.0), dtype=float),
        float(given.get("clip", math.inf)),
        given.get("history", 1),
        None if components is None else tuple(components),
        given.get("output", ""),
        _motion(path, text, keys, given),
    )


def _motion(path: Path, text: YamlText, keys: list[str], given: dict) -> np.ndarray | None:
    """Read the rows of a recorded motion (t, k) from an .npz. Return None for other terms."""
    is_motion = given["term"] == MOTION
    if any((entry in given) != is_motion for entry in ("file", "array")):
        raise ControllerError(
            f"{text.location(keys)}: {given['term']}: `file` and `array` belong to the term "
            f"`{MOTION}`, which needs both"
        )
    if not is_motion:
        return None
    file, name = path.parent / user_path(given["file"]), given["array"]
    arrays = read_npz(file, ControllerError, "SEQUENCE_SIZE", None)
    require_name("array", name, arrays, ControllerError, where=file)
    rows = np.asarray(arrays[name])
    if (
        rows.dtype.kind not in "fiu"
        or rows.ndim < 2
        or not rows.size
        or not np.isfinite(rows).all()
    ):
        raise ControllerError(
            f"{file}: {name}: must be rows of finite numbers, got an array of {rows.dtype} of "
            "shape "
            f"{rows.shape}"
        )
    return rows.reshape(len(rows), -1).astype(float)
