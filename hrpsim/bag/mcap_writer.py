# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Write recorded signals as messages of ROS 2 to one MCAP file. Needs rosbags, and no ROS."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bag.signal_log import SignalLog, TopicSignals
from hrpsim.bag.signal_types import IMU, JOINT_STATE, MESSAGE_PARTS, NAMED_VALUES, ODOMETRY
from hrpsim.common.errors import require_packages

_DEFINITIONS = {
    "control_msgs/msg/InterfaceValue": "string[] interface_names\nfloat64[] values\n",
    NAMED_VALUES: (
        "std_msgs/Header header\nstring[] joint_names\nInterfaceValue[] interface_values\n"
    ),
}
_HEADER = 4  # bytes before the body of a message
_FIRST_MARK = 3.0e15  # integers up to 2**53 are exact in float64
_AT_ONCE = 1000  # rows


def require_writer() -> None:
    """Raise HrpsimError if rosbags is not installed."""
    require_packages(
        "an .mcap", ("rosbags",), "pip install 'hrpsim[record]'; an .npz needs nothing"
    )


def write_mcap(log: SignalLog, path: Path) -> None:
    """Write a file with the profile ros2. The time of a message is its stamp in simulated time."""
    require_writer()
    from rosbags.rosbag2 import StoragePlugin

    from hrpsim.bag.checked_writer import CheckedWriter

    store = _typestore()
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with CheckedWriter(folder, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
            topics = [_with_numbers(topic) for topic in log.topics.values() if len(topic.time)]
            connections = [
                writer.add_connection(f"/{topic.topic}", topic.type_name, typestore=store)
                for topic in topics
            ]
            templates = [_Template(store, topic) for topic in topics]
            for k, time, data in _in_order(topics, templates):
                writer.write(connections[k], time, data)
        os.replace(folder / f"{folder.name}.mcap", path)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _typestore() -> Any:
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    for name, text in _DEFINITIONS.items():
        store.register(get_types_from_msg(text, name))
    return store


def _in_order(topics: list[TopicSignals], templates) -> Iterator[tuple[int, int, bytes]]:
    """Yield (number of the topic, time [ns], message) of all topics in the order of time."""
    times = [np.rint(1e9 * topic.time).astype(np.int64) for topic in topics]
    edges = np.unique(np.concatenate(times))[::_AT_ONCE] if times else np.zeros(0)
    for begin, end in zip(edges, [*edges[1:], np.iinfo(np.int64).max]):
        entries = []
        for k, (topic, own) in enumerate(zip(topics, times)):
            rows = slice(*np.searchsorted(own, (begin, end)))
            messages = templates[k].messages(own[rows], topic.values[rows])
            entries += [(time, k, data) for time, data in zip(own[rows].tolist(), messages)]
        entries.sort(key=lambda entry: entry[:2])
        yield from ((k, time, data) for time, k, data in entries)


def _with_numbers(topic: TopicSignals) -> TopicSignals:
    """Return a topic without the columns that have no number, such as joints without commands."""
    there = ~np.isnan(topic.values).all(axis=0)
    return topic.part({name for name, has in zip(topic.columns, there) if has}) or topic


class _Template:
    """A serialised message of one topic. Stamp and numbers are overwritten for each message."""

    def __init__(self, store, topic: TopicSignals) -> None:
        columns = {(f, label): k for k, (f, label) in enumerate(_columns(topic))}
        marks = _FIRST_MARK + np.arange(len(columns))

        def mark(field: str, label: str) -> float:
            at = columns.get((field, label))
            return np.nan if at is None else float(marks[at])

        made = store.serialize_cdr(_message(store.types, topic, mark), topic.type_name)
        data = np.frombuffer(made, dtype=np.uint8)
        self._begin = data[:_HEADER].tobytes()
        self._size = len(data) - _HEADER
        self._body = np.zeros(-(-self._size // 8) * 8, dtype=np.uint8)
        self._body[: self._size] = data[_HEADER:]
        floats = self._body.view(np.float64)
        places = {value: k for k, value in enumerate(floats.tolist()) if value in set(marks)}
        self._at = [places[value] for value in marks.tolist()]

    def messages(self, times: np.ndarray, values: np.ndarray) -> Iterator[bytes]:
        """Yield the messages of times (n,) [ns] and rows (n, columns)."""
        rows = np.tile(self._body, (len(times), 1))
        if len(rows):
            stamps = rows.view(np.uint32)
            stamps[:, 0], stamps[:, 1] = times // 10**9, times % 10**9
            rows.view(np.float64)[:, self._at] = values
        for row in rows:
            yield self._begin + row[: self._size].tobytes()


def _columns(topic: TopicSignals) -> Iterator[tuple[str, str]]:
    for field in topic.fields:
        yield from ((field.name, label) for label in field.labels or ("",))


def _message(types, topic: TopicSignals, mark: Callable[[str, str], float]) -> Any:
    """Return a message in which each number is `mark(field, label)`."""
    header = types["std_msgs/msg/Header"](types["builtin_interfaces/msg/Time"](0, 0), topic.frame)
    build = _BUILDERS.get(topic.type_name, _vectors)
    return types[topic.type_name](header, *build(_Marked(types, topic, mark)))


class _Marked(NamedTuple):
    """Builds a message of a topic. `mark` returns the number to write for a field and label."""

    types: Any
    topic: TopicSignals
    mark: Callable[[str, str], float]

    @property
    def labels(self) -> list[str]:
        return list(dict.fromkeys(label for field in self.topic.fields for label in field.labels))

    def geometry(self, name: str, *parts: Any) -> Any:
        """Return a message of geometry_msgs with the given parts."""
        return self.types[f"geometry_msgs/msg/{name}"](*parts)

    def vector(self, name: str, field: str) -> Any:
        """Return the message of a field with x, y, z and, for quaternions, w."""
        labels = MESSAGE_PARTS[self.topic.type_name][field][1]
        return self.geometry(name, *(self.mark(field, label) for label in labels))


def _named_values(of: _Marked) -> tuple[Any, ...]:
    names = [field.name for field in of.topic.fields]
    kind = of.types["control_msgs/msg/InterfaceValue"]
    rows = [
        kind(names, np.array([of.mark(name, label) for name in names]))
        for label in of.labels or [""]
    ]
    return of.labels or [of.topic.topic], rows


def _joint_state(of: _Marked) -> tuple[Any, ...]:
    there = {field.name for field in of.topic.fields}
    rows = [
        np.array([of.mark(name, label) for label in of.labels] if name in there else [])
        for name in MESSAGE_PARTS[JOINT_STATE]
    ]
    return of.labels, *rows


def _odometry(of: _Marked) -> tuple[Any, ...]:
    place = of.vector("Point", "position"), of.vector("Quaternion", "orientation")
    speed = of.vector("Vector3", "linear_velocity"), of.vector("Vector3", "angular_velocity")
    pose, twist = of.geometry("Pose", *place), of.geometry("Twist", *speed)
    return (
        "",
        of.geometry("PoseWithCovariance", pose, np.zeros(36)),
        of.geometry("TwistWithCovariance", twist, np.zeros(36)),
    )


def _imu(of: _Marked) -> tuple[Any, ...]:
    fields = {"orientation": "Quaternion", "angular_velocity": "Vector3"}
    fields |= {"linear_acceleration": "Vector3"}
    return tuple(
        part for field, kind in fields.items() for part in (of.vector(kind, field), np.zeros(9))
    )


def _vectors(of: _Marked) -> tuple[Any, ...]:
    """Return the content of a stamped message after the header: a point or a wrench."""
    fields = list(MESSAGE_PARTS[of.topic.type_name])
    if len(fields) == 1:
        return (of.vector("Point", *fields),)
    return (of.geometry("Wrench", *(of.vector("Vector3", field) for field in fields)),)


_BUILDERS = {NAMED_VALUES: _named_values, JOINT_STATE: _joint_state, ODOMETRY: _odometry, IMU: _imu}
