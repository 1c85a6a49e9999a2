# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write recorded signals to .npz and .mcap files, and read these and all bags of ROS topics.

An .npz has an array TOPIC.FIELD (n, width) for each field, TOPIC.time (n,) [s], and `signals`, a
JSON text with the labels, units, frames and types of messages. NumPy alone can read this file. An
.mcap has messages of ROS 2 with type definitions, as `ros2 bag record` writes them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.bag.reader import BagError, seconds, timed_messages, topic_types
from hrpsim.bag.signal_log import SignalLog, TopicSignals
from hrpsim.bag.signal_types import (
    MESSAGE_PARTS,
    NAMED_UNITS,
    NAMED_VALUES,
    SignalField,
    chosen_columns,
)
from hrpsim.common.errors import HrpsimError
from hrpsim.common.file_names import writing
from hrpsim.common.foreign.arrays import names_in_npz, read_npz
from hrpsim.common.foreign.json_text import parse_json
from hrpsim.common.stored_files import write_at_once

TABLE = "signals"
"""Name of the array of an .npz that describes the other arrays."""

SUFFIXES = (".npz", ".mcap")
_VERSION = 1
_LIMIT = "SIGNALS_SIZE"
_Row = list[tuple[str, tuple[str, ...], Any]]  # field, labels, numbers


def check_path(path: str | Path) -> Path:
    """Return the path of a file to write.

    Raises HrpsimError if the suffix or a package is wrong.
    """
    path = Path(path)
    if path.suffix not in SUFFIXES:
        raise HrpsimError(f"{path}: the name of a recording must end in {' or '.join(SUFFIXES)}")
    if path.suffix == ".mcap":
        from hrpsim.bag.mcap_writer import require_writer

        require_writer()
    return path


def write_signals(log: SignalLog, path: str | Path) -> None:
    """Write recorded signals to a file: .npz, or .mcap. The file is complete or absent.

    Raises:
        HrpsimError: for another suffix, a package that is not installed, or a file that cannot be
            written.
    """
    path = check_path(path)
    with writing(path, HrpsimError):
        if path.suffix == ".mcap":
            from hrpsim.bag.mcap_writer import write_mcap

            write_mcap(log, path)
        else:
            _write_npz(log, path)


def read_signals(path: str | Path, names: Iterable[str] | None = None) -> SignalLog:
    """Return the signals of a recording: an .npz of `write_signals`, or any bag.

    Args:
        path: file, or folder of a bag.
        names: signals to read. The default is all signals.

    Raises:
        BagError: the file cannot be read.
        HrpsimError: the file has no signal of a name. The error names similar signals.
    """
    path, requested = Path(path), None if names is None else list(names)
    log = _read_npz(path) if path.suffix == ".npz" else _read_bag(path, requested)
    if requested is not None:
        try:
            chosen_columns(requested, log.columns)
        except HrpsimError as error:
            raise BagError(f"{path}: {error}") from error
    return log.part(requested)


def has_signals(path: Path) -> bool:
    """Return whether a file is an .npz of `write_signals`."""
    try:
        return TABLE in names_in_npz(path, BagError, _LIMIT)
    except BagError:
        return False


def _write_npz(log: SignalLog, path: Path) -> None:
    from io import BytesIO

    arrays: dict[str, Any] = {}
    described = []
    for topic in log.topics.values():
        arrays[f"{topic.topic}.time"] = topic.time
        fields = []
        for field in topic.fields:
            signal = topic.field(field.name)
            assert signal is not None
            arrays[f"{topic.topic}.{field.name}"] = signal[1]
            fields.append(field._asdict())
        described.append(
            {"topic": topic.topic, "type": topic.type_name, "frame": topic.frame, "fields": fields}
        )
    arrays[TABLE] = np.array(json.dumps({"version": _VERSION, "topics": described}))
    content = BytesIO()
    np.savez_compressed(content, **arrays)
    write_at_once(path, content.getvalue())


def _read_npz(path: Path) -> SignalLog:
    if not path.exists():
        raise BagError(f"there is no recording {str(path)!r}")
    if TABLE not in names_in_npz(path, BagError, _LIMIT):
        raise BagError(f"{path}: not a recording of signals: there is no array {TABLE!r}")
    stored = read_npz(path, BagError, _LIMIT, None)
    try:
        table = parse_json(str(stored[TABLE]))
        if table["version"] != _VERSION:
            raise BagError(
                f"{path}: has version {table['version']} of the format, but hrpsim reads version "
                f"{_VERSION}"
            )
        return SignalLog([_topic_of(stored, entry) for entry in table["topics"]])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, BagError):
            raise
        raise BagError(f"{path}: a damaged recording of signals: {error}") from error


def _topic_of(stored: dict[str, np.ndarray], given: dict[str, Any]) -> TopicSignals:
    name = str(given["topic"])
    fields = tuple(
        SignalField(str(entry["name"]), tuple(map(str, entry["labels"])), str(entry["unit"]))
        for entry in given["fields"]
    )
    time = np.asarray(stored[f"{name}.time"], dtype=np.float64)
    blocks = [np.asarray(stored[f"{name}.{field.name}"], dtype=np.float64) for field in fields]
    if time.ndim != 1:
        raise ValueError(f"{name}.time has shape {time.shape}. It must have one axis")
    for field, block in zip(fields, blocks):
        needed = len(time), field.width
        if block.shape != needed:
            raise ValueError(f"{name}.{field.name} has shape {block.shape} instead of {needed}")
    values = np.hstack(blocks) if blocks else np.empty((len(time), 0))
    return TopicSignals(name, str(given["type"]), fields, time, values, str(given["frame"]))


def _read_bag(path: Path, wanted: list[str] | None) -> SignalLog:
    """Return the signals of a bag. Only topics that the names may mean are decoded."""
    types = topic_types(path)
    known = {
        topic.lstrip("/"): (topic, kind)
        for topic, kind in types.items()
        if kind in MESSAGE_PARTS or kind == NAMED_VALUES
    }
    chosen = known
    if wanted is not None:
        named = {name: [topic for topic in known if _may_mean(name, topic)] for name in wanted}
        if all(named.values()):
            chosen = {
                topic: known[topic] for topic in known if any(topic in n for n in named.values())
            }
    read = (_read_topic(path, topic, *of_bag) for topic, of_bag in chosen.items())
    return SignalLog(filter(None, read))


def _may_mean(name: str, topic: str) -> bool:
    return name == topic or name.startswith(f"{topic}.") or any(c in name for c in "*?[")


def _read_rows(path: Path, name: str, topic: str, kind: str) -> tuple[list, list[_Row], str]:
    """Read the messages of a topic.

    Returns:
        (times [s]; (field, labels, numbers) of each message; frame of the last message).
    """
    named = partial(_named_numbers, topic=name)
    numbers_of: Callable[[Any], Any] = named if kind == NAMED_VALUES else _numbers(kind)
    times, rows, frame = [], [], ""
    try:
        for _, message in timed_messages(path, topic):
            times.append(seconds(message.header.stamp))
            rows.append([(field, labels or ("",), x) for field, labels, x in numbers_of(message)])
            frame = message.header.frame_id
    except (AttributeError, TypeError) as error:
        raise BagError(f"{path}: {topic} does not have the fields of {kind}: {error}") from error
    return times, rows, frame


def _table(rows: list[_Row]) -> tuple[dict[tuple[str, str], int], np.ndarray]:
    """Combine the rows of a topic to one table.

    Returns:
        (column of each (field, label), numbers (rows, columns)). Missing numbers are NaN.
    """
    places: dict[tuple[str, str], int] = {}
    for field, labels, _ in chain(*rows):
        for label in labels:
            places.setdefault((field, label), len(places))
    values = np.full((len(rows), len(places)), np.nan)
    for k, row in enumerate(rows):
        for field, labels, numbers in row:
            values[k, [places[field, label] for label in labels]] = numbers
    return places, values


def _read_topic(path: Path, name: str, topic: str, kind: str) -> TopicSignals | None:
    """Return the signals of a topic, or None if there are no messages or numbers."""
    times, rows, frame = _read_rows(path, name, topic, kind)
    places, values = _table(rows)
    order = _by_field(places, ~np.isnan(values).all(axis=0))
    if not order:
        return None
    fields = tuple(
        SignalField(field, tuple(label for label, _ in own if label), _unit(kind, field))
        for field, own in order.items()
    )
    columns = [k for own in order.values() for _, k in own]
    return TopicSignals(name, kind, fields, np.array(times), values[:, columns], frame)


def _by_field(places, has_numbers) -> dict[str, list[tuple[str, int]]]:
    """Return (label, column) of each column with numbers, by field."""
    result: dict[str, list[tuple[str, int]]] = {}
    for (field, label), k in places.items():
        if has_numbers[k]:
            result.setdefault(field, []).append((label, k))
    return result


def _unit(kind: str, field: str) -> str:
    return NAMED_UNITS.get(field, "") if kind == NAMED_VALUES else MESSAGE_PARTS[kind][field][2]


def _numbers(kind: str):
    """Return a function that returns (field, labels, numbers) for each field of a message."""
    parts = [
        (field, path.split("."), labels) for field, (path, labels, _) in MESSAGE_PARTS[kind].items()
    ]

    def numbers(message) -> list[tuple[str, tuple[str, ...], Any]]:
        result = []
        for field, path, labels in parts:
            part = message
            for name in path:
                part = getattr(part, name)
            if labels:
                result.append((field, labels, [getattr(part, label) for label in labels]))
            elif len(part) == len(message.name):
                result.append((field, tuple(message.name), part))
        return result

    return numbers


def _named_numbers(message, topic: str) -> list[tuple[str, tuple[str, ...], Any]]:
    """Return the numbers of NAMED_VALUES. A number with the name of the topic has no label."""
    return [
        (field, () if name == topic else (name,), [value])
        for name, values in zip(message.joint_names, message.interface_values)
        for field, value in zip(values.interface_names, values.values)
    ]
