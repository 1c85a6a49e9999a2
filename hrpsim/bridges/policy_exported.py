# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find differences between a description and the metadata that the exporter wrote into the network.

This file compares orders of observations, histories and rates. `policy_check.py` compares names,
gains, default posture and scales.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from hrpsim.bridges.exported_entries import ENTRIES, NAMES, TERMS, list_in
from hrpsim.bridges.onnx_policy import OnnxPolicy
from hrpsim.bridges.policy_description import PolicyDescription
from hrpsim.bridges.policy_terms import Observation, Term
from hrpsim.common.errors import HrpsimError, ModelWarning
from hrpsim.control.framework.control_loop import ControlLoop
from hrpsim.model.model import Model
from hrpsim.world.fall import tilt
from hrpsim.world.objects.robot import Robot

_HISTORIES = "observation_history_lengths"  # BeyondMimic's exporter
_RATES = {"sim_dt": "period", "decimation": "decimation", "step_dt": "seconds"}
_WHERE = "in the network's metadata"
_PARTED = 0.01  # difference of a joint at which two runs count as different [rad or m]
_LIKE = 1e-3  # relative difference of equal rates


def of_observations(policy: PolicyDescription, metadata: Mapping[str, str]) -> Iterator[str]:
    """Compare a description with the network's metadata, and yield a line for each difference.

    The compared entries are the order of the observations, their histories, and the rates.
    """
    described, there = policy.observation.terms, _exported_terms(metadata)
    for k, (mine, other) in enumerate(zip(described, there)):
        if mine.term != other:
            yield f"observation {k}: {mine.term} in the description, {other} {_WHERE}"
    if there and len(there) != len(described):
        yield f"observations: {len(described)} terms in the description, {len(there)} {_WHERE}"
    for mine, length in zip(described, _numbers(metadata, _HISTORIES)):
        if mine.history != max(int(length), 1):
            yield (
                f"history of {mine.term}: {mine.history} in the description, {length:.0f} {_WHERE}"
            )
    for key, entry in _RATES.items():
        for value in _numbers(metadata, key)[:1]:
            own = getattr(policy, entry)
            if abs(own - value) > _LIKE * abs(value):
                yield f"{entry}: {own:g} in the description, {value:g} ({key}) {_WHERE}"


def as_exported(policy: PolicyDescription, metadata: Mapping[str, str]) -> PolicyDescription:
    """Replace entries of the description by the entries that the exporter wrote into the network.

    Entries that do not fit the joints or terms of the description stay unchanged.
    """
    names = next((list_in(metadata[key]) for key in NAMES if key in metadata), [])
    if names and sorted(map(str, names)) == sorted(policy.joints):
        policy = _with_joints(policy, names)
    fits = not names or tuple(names) == policy.joints
    by_joint = _entries_by_joint(metadata, len(policy.joints)) if fits else {}
    policy = replace(policy, **by_joint, observation=_observed_as(policy.observation, metadata))
    rates: dict[str, Any] = {}
    for key, entry in _RATES.items():
        for value in _numbers(metadata, key)[:1]:
            rates[entry] = value
    period = rates.get("period", policy.period)
    decimation = rates.get("decimation", policy.decimation)
    if "seconds" in rates:
        decimation = max(round(rates["seconds"] / period), 1)
    return replace(policy, period=period, decimation=int(decimation))


def _entries_by_joint(metadata: Mapping[str, str], count: int) -> dict[str, np.ndarray]:
    result = {}
    for entry, keys in ENTRIES.items():
        values = next((_numbers(metadata, key) for key in keys if key in metadata), [])
        if len(values) in (1, count):
            result[entry] = np.array(values * (count // len(values)))
    return result


def _with_joints(policy: PolicyDescription, names: list[str]) -> PolicyDescription:
    """Return the description with its joints in the order of `names`."""
    order = [policy.joints.index(name) for name in names]
    arrays = {
        field.name: value[order]
        for field in fields(policy)
        if isinstance(value := getattr(policy, field.name), np.ndarray)
    }
    return replace(policy, joints=tuple(names), **arrays)


def _observed_as(observation: Observation, metadata: Mapping[str, str]) -> Observation:
    """Return the observation in the metadata's order, if both have the same terms."""
    exported, terms = _exported_terms(metadata), list(observation.terms)
    if sorted(exported) == sorted(term.term for term in terms):
        ordered: list[Term] = []
        for name in exported:
            ordered.append(terms.pop(next(k for k, t in enumerate(terms) if t.term == name)))
        terms = ordered
    lengths = _numbers(metadata, _HISTORIES)
    if len(lengths) == len(terms) and not observation.by_step:
        terms = [replace(t, history=max(int(k), 1)) for t, k in zip(terms, lengths)]
    return replace(observation, terms=tuple(terms))


def _exported_terms(metadata: Mapping[str, str]) -> list[str]:
    names = map(str, list_in(metadata.get("observation_names", "")))
    return [TERMS.get(name, name) for name in names if name]


def _numbers(metadata: Mapping[str, str], key: str) -> list[float]:
    """Return the numbers in a metadata text, or [] if an entry is not a finite number."""
    values = list_in(metadata.get(key, ""))
    if any(isinstance(value, str | bool) or not np.isfinite(float(value)) for value in values):
        return []
    return [float(value) for value in values]


class _Described(OnnxPolicy):
    """A policy whose description is passed to the constructor."""

    def __init__(self, policy: PolicyDescription) -> None:
        self._policy = policy

    def described(self, parameters: Mapping[str, Any]) -> PolicyDescription:
        """Return the description that was passed to the constructor."""
        return self._policy


def in_motion(
    policy: PolicyDescription, other: PolicyDescription, robot: Robot, duration: float
) -> Iterator[str]:
    """Simulate a policy by the description and by the exported entries, and report the difference.

    Args:
        policy: the description.
        other: the description with the exported entries.
        robot: the robot at the start. The runs use copies of the world, so the robot does not move.
        duration: duration of each run [s].
    """
    if abs(policy.seconds - other.seconds) > _LIKE * policy.seconds:
        yield "the actions have different rates, so no runs are compared"
        return
    try:
        own, there = (_run(description, robot, duration) for description in (policy, other))
    except HrpsimError as error:
        yield f"the exported entries cannot run here: {error}"
        return
    count = min(len(own), len(there))
    at = robot.joint_index.q
    apart = np.abs(own[:count, at] - there[:count, at])
    parted = np.flatnonzero(apart.max(axis=1) > _PARTED)
    joint = robot.joint_names[int(apart.max(axis=0).argmax())]
    intro = f"simulated for {duration:g} s by the description and by the exported entries"
    if not len(parted):
        yield f"{intro}, both motions agree: {joint} differs by at most {apart.max():.2g}"
        return
    time = policy.seconds * (1 + parted[0])
    yield f"{intro}, the motions diverge after {time:.2f} s: {joint} differs by {apart.max():.2g}"
    if robot.model.base == "free":
        tilts = [f"{tilt(run[-1, 3:7].tolist()):.2f}" for run in (own, there)]
        yield f"{intro}, the base is tilted by {tilts[0]} and {tilts[1]} rad at the end"


def _run(policy: PolicyDescription, robot: Robot, duration: float) -> np.ndarray:
    """Simulate a policy. Return the robot's configuration after each evaluation (k, nq)."""
    world = robot.world.copy()
    mine, states = world.robots[robot.name], []
    model: Model = robot.model
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        with ControlLoop(mine, _Described(policy), {}, model=model) as loop:
            for tick in range(max(round(duration / policy.period), policy.decimation)):
                loop.tick()
                if (tick + 1) % policy.decimation == 0:
                    states.append(mine.q.copy())
    return np.array(states)
