# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Find sensor signals in columns of CSV files, and in topics of bags and recorded signals."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bag.reader import BagError
from hrpsim.bag.signal_files import read_signals
from hrpsim.bag.signal_log import TopicSignals
from hrpsim.bag.signal_types import IMU, JOINT_STATE, POINT, WRENCH
from hrpsim.common.errors import FitError, require_names, unknown_name
from hrpsim.fitting.signals.signal import Signal
from hrpsim.fitting.signals.signal_kinds import SIGNAL_KINDS

_FIELDS = {  # by topic type: kind of signal, and fields of the columns
    WRENCH: ("wrench", ("force", "torque")),
    IMU: ("imu", ("angular_velocity", "linear_acceleration")),
    POINT: ("point", ("point",)),
    JOINT_STATE: ("torque", ("effort",)),
}
_POSITION = "motor_position"  # a signal in the field `position` of JointState
TOPIC = "topic"


def _place(name: str) -> tuple[str, str]:
    """Split the name of a column into the name of the signal and the label of the column."""
    kind, _, label_part = name.partition(".")
    own = SIGNAL_KINDS[kind].columns
    if not own:
        return kind, label_part
    of, _, label = label_part.rpartition(".") if len(own) > 1 else (label_part, "", own[0])
    if label not in own or not of:
        raise FitError(unknown_name("column", name, [f"{kind}.NAME.{column}" for column in own]))
    return of, label


def signals_of_columns(
    time: np.ndarray, columns: Mapping[str, np.ndarray], described: Mapping[str, Any]
) -> tuple[tuple[Signal, ...], dict[str, np.ndarray]]:
    """Find the signals of sensors in the columns of a table.

    A column is KIND.JOINT, or KIND.NAME.COLUMN such as `wrench.lfsensor.fx`, or `contact.NAME`. NaN
    means that the sensor has no sample at this time.

    Args:
        time: times of the rows (n,) [s].
        columns: columns (n,) by name.
        described: entries `of` and `known` of signals, by name.

    Returns:
        (signals, columns that are not signals).

    Raises:
        FitError: a signal lacks a column, or a described signal has no columns.
    """
    parts: dict[tuple[str, str], dict[str, np.ndarray]] = {}
    others = {}
    for name, values in columns.items():
        kind, _, label_part = name.partition(".")
        if kind not in SIGNAL_KINDS or not label_part:
            others[name] = values
            continue
        of, label = _place(name)
        parts.setdefault((kind, of), {})[label] = values
    require_names("signal", described, [name for _, name in parts], FitError)
    made = (_from_columns(*key, time, own, described) for key, own in parts.items())
    return tuple(made), others


def _from_columns(
    kind: str, name: str, time: np.ndarray, own: dict[str, np.ndarray], described: Mapping[str, Any]
) -> Signal:
    columns = SIGNAL_KINDS[kind].columns
    if missing := [column for column in columns if column not in own]:
        raise FitError(f"columns are missing: {kind}.{name}.{', '.join(missing)}")
    values = np.transpose([own[label] for label in columns or own])
    joints = () if columns else tuple(own)
    return Signal(kind, name, time, values, joints, **described.get(name, {}))


def signals_of_topics(path: Path, wanted: Mapping[str, Any]) -> tuple[Signal, ...]:
    """Read signals from topics of a bag, or of an .npz of recorded signals.

    Args:
        path: file, or folder of a bag.
        wanted: {name of the signal: topic}, or {name: mapping with `topic`}. The mapping may also
            have `kind`, `of` (the sensor or link, by default the name) and `known` (values of
            unknowns, as {"delay": 0.002}), as for Signal. By default the topic's type determines
            the kind. For a JointState, the name of the signal is the kind.

    Raises:
        BagError: the file or a topic cannot be read, or the topic's type is not a sensor signal.
        FitError: the messages do not form a valid signal.
    """
    entries = {
        n: {TOPIC: entry} if isinstance(entry, str) else dict(entry) for n, entry in wanted.items()
    }
    for name, entry in entries.items():
        if TOPIC not in entry:
            raise FitError(f"{path}: signal {name} needs a topic. Give `topic`")
    topics = {name: str(entry.pop(TOPIC)).lstrip("/") for name, entry in entries.items()}
    log = read_signals(path, topics.values()).topics if topics else {}
    return tuple(_from_topic(path, n, log[topics[n]], own) for n, own in entries.items())


def _from_topic(path: Path, name: str, topic: TopicSignals, given: dict[str, Any]) -> Signal:
    if topic.type_name not in _FIELDS:
        raise BagError(
            f"{path}: {topic.topic} is of type {topic.type_name}, which is not a signal. "
            f"Available: {', '.join(_FIELDS)}"
        )
    kind, fields = _FIELDS[topic.type_name]
    kind = given.pop("kind", name if topic.type_name == JOINT_STATE else kind)
    parts = [topic.field("position" if kind == _POSITION else field) for field in fields]
    blocks = [part for part in parts if part is not None]
    if len(blocks) < len(fields):
        raise BagError(f"{path}: {topic.topic} must have the fields {', '.join(fields)}")
    joints = blocks[0][0].labels if topic.type_name == JOINT_STATE else ()
    values = np.hstack([block for _, block in blocks])
    new = np.append(True, np.diff(topic.time) != 0.0)  # a paused simulation repeats its messages
    return Signal(kind, name, topic.time[new], values[new], joints, **given)
