# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read recordings from an .npz of recorded signals, with the same topics as in bags."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bag.reader import BagError
from hrpsim.bag.signal_files import read_signals
from hrpsim.bag.signal_log import SignalLog, TopicSignals
from hrpsim.bag.signal_types import JOINT_STATE, ODOMETRY
from hrpsim.common.errors import unknown_name

_FIELDS = {"position": "positions", "velocity": "velocities", "effort": "efforts"}


def fields_of_signals(
    path: Path,
    states: str | None = "joint_states",
    commands: str | None = "joint_commands",
    base: str | None = None,
    joints: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the fields of a `Recording` of a robot or body, from an .npz of signals.

    Args:
        path: path of the file.
        states: topic of measured joints. None for a body, which has no joints.
        commands: topic of commanded joints. None, or a topic that was not recorded: no commands.
        base: topic of the poses of a free base or body. The default is `odom` in the namespace of
            `states`, if recorded.
        joints: names of the joints to use. The default is all joints.

    Raises:
        BagError: the file or a topic cannot be read.
    """
    log = read_signals(path)
    fields: dict[str, Any] = {}
    if states is not None:
        topic = _topic(path, log, states, JOINT_STATE)
        measured = _columns(topic, joints)
        names = tuple(measured["position"]) if "position" in measured else ()
        fields |= {"time": topic.time, "joints": names}
        for field in ("position", "velocity"):
            if names and set(names) == set(measured.get(field, ())):
                fields[_FIELDS[field]] = np.transpose([measured[field][name] for name in names])
        base = base or odometry_beside(states, log.topics)
        if commands in log.topics:
            fields |= _commands(_topic(path, log, str(commands), JOINT_STATE))
    if base is not None:
        fields |= _base(_topic(path, log, base, ODOMETRY), fields.get("time"))
    return fields


def odometry_beside(states: str, topics: Collection[str]) -> str | None:
    """Return the odometry topic of a robot, or None if no such topic was recorded.

    The topic is `odom` in the namespace of the joint states, or else `odom` of the world. Other
    odometry topics belong to other robots and bodies.

    Args:
        states: topic of the joint states.
        topics: all recorded topics.
    """
    beside = f"{states.rpartition('/')[0]}/odom".removeprefix("/" * (not states.startswith("/")))
    return next((name for name in (beside, "/odom", "odom") if name in topics), None)


def _topic(path: Path, log: SignalLog, name: str, type_name: str) -> TopicSignals:
    topic = log.topics.get(name)
    alike = [other.topic for other in log.topics.values() if other.type_name == type_name]
    if topic is None:
        raise BagError(f"{path}: {unknown_name('topic', name, alike)}")
    if topic.type_name != type_name:
        raise BagError(f"{path}: {name} is of type {topic.type_name}, not {type_name}")
    return topic


def _columns(topic: TopicSignals, joints: Sequence[str] | None = None) -> dict[str, dict[str, Any]]:
    """Return the columns with numbers, by field and joint."""
    result: dict[str, dict[str, Any]] = {}
    for name in _FIELDS:
        if (own := topic.field(name)) is None:
            continue
        field, values = own
        columns = {k: v for k, v in zip(field.labels, values.T) if not np.isnan(v).all()}
        chosen = {k: v for k, v in columns.items() if joints is None or k in joints}
        if chosen:
            result[name] = chosen
    if joints is not None and (lacking := set(joints) - set(result.get("position", ()))):
        raise BagError(f"{topic.topic} has no joint {', '.join(sorted(lacking))}")
    return result


def _commands(topic: TopicSignals) -> dict[str, Any]:
    """Return the commands of all joints that were commanded at any time.

    If a position command has no velocity or effort, the velocity or effort is set to zero, which
    has the same effect.
    """
    columns = _columns(topic)
    names = tuple(dict.fromkeys(label for own in columns.values() for label in own))
    if not names:
        return {}
    fields: dict[str, Any] = {"command_time": topic.time, "command_joints": names}
    missing = np.full(len(topic.time), np.nan)
    rows = {
        field: np.transpose([own.get(name, missing) for name in names])
        for field, own in columns.items()
    }
    placed = ~np.isnan(rows["position"]) if "position" in rows else np.zeros(1, dtype=bool)
    for field, values in rows.items():
        fields[f"command_{_FIELDS[field]}"] = (
            values if field == "position" else np.where(np.isnan(values) & placed, 0.0, values)
        )
    return fields


def _base(topic: TopicSignals, time: np.ndarray | None) -> dict[str, Any]:
    """Return poses and velocities of the base at the times of the states."""
    values = {}
    for name in ("position", "orientation", "linear_velocity", "angular_velocity"):
        block = topic.field(name)
        if block is None or block[0].width != (4 if name == "orientation" else 3):
            raise BagError(
                f"{topic.topic}.{name} was recorded in part only. Record all its columns"
            )
        values[name] = block[1]
    at = np.arange(len(topic.time))
    if time is not None:
        at = np.searchsorted(topic.time, time)
        if len(at) and (at[-1] >= len(topic.time) or not np.array_equal(topic.time[at], time)):
            raise BagError(f"{topic.topic} and the states were recorded at different times")
    return {
        "time": topic.time if time is None else time,
        "base": np.hstack([values["position"], values["orientation"]])[at],
        "base_velocity": np.hstack([values["linear_velocity"], values["angular_velocity"]])[at],
    }
