"""Reads what plots and verdicts need from a bag, ours or `ros2 bag record`'s. Needs no ROS.

A bag that was not ended, or that is damaged, is read as far as its records are whole; what is
missing is said on stderr.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from rosbags.interfaces import Connection, MessageDefinitionFormat, Typestore
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from hrpsim.errors import HrpsimError
from hrpsim.ros.bag_salvage import SalvagedBag

LOST_MESSAGES = "lost_messages"  # key in the custom data of metadata.yaml
_ENCAPSULATION = 4  # bytes before the body of a serialised message; the second tells the byte order

# What metadata.yaml raises that is missing or damaged.
_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
_UNREADABLE += (yaml.YAMLError,)
_said: set[Path] = set()


class Wrenches(NamedTuple):
    """The messages of one wrench topic."""

    time: np.ndarray  # (n,) simulated time from the stamps [s]
    force: np.ndarray  # (n, 3) in the sensor frame [N]
    torque: np.ndarray  # (n, 3) in and about the sensor frame [Nm]


class Points(NamedTuple):
    """The messages of one topic of points."""

    time: np.ndarray  # (n,) simulated time from the stamps [s]
    position: np.ndarray  # (n, 3) in the frame of the messages [m]


class BagError(HrpsimError, ValueError):
    """A bag that cannot be read or lacks what is asked for."""


def message_counts(bag: Path) -> dict[str, int]:
    """Return the number of messages of each topic, as the bag's metadata.yaml tells.

    Where there is none they are counted.
    """
    try:
        return {
            str(entry["topic_metadata"]["name"]): int(entry["message_count"])
            for entry in _metadata(bag)["topics_with_message_count"]
        }
    except _UNREADABLE:
        return {c.topic: c.msgcount for c in _salvaged(bag).connections}


def lost_messages(bag: Path) -> dict[str, int | None]:
    """Return what the recorder noted as lost for each topic; empty where nothing was noted."""
    try:
        return dict(json.loads((_metadata(bag).get("custom_data") or {}).get(LOST_MESSAGES, "{}")))
    except _UNREADABLE:
        return {}


def topic_types(bag: Path) -> dict[str, str]:
    """Return the topics of a bag, in alphabetical order, and their types."""
    connections = _read(bag, lambda reader: list(reader.connections))
    return {c.topic: c.msgtype for c in sorted(connections, key=lambda c: c.topic)}


def full_name(bag: Path, topic: str, type_name: str | None = None) -> str:
    """Return the absolute name of `topic`, which is one or the end of one ("lfsensor").

    Raises BagError that names the topics there are where none or several end so, or where it has
    another type than `type_name`.
    """
    types = topic_types(bag)
    wanted = "/" + topic.lstrip("/")
    found = [wanted] if wanted in types else [name for name in types if name.endswith(wanted)]
    if len(found) > 1:
        raise BagError(f"{bag}: topic {topic!r} can be {' or '.join(found)}; give its full name")
    if not found:
        alike = [name for name, its_type in types.items() if its_type == type_name]
        of_type = f"; those of type {type_name}: {', '.join(alike)}" if alike else ""
        names = ", ".join(types) or "nothing"
        raise BagError(f"{bag} has no topic {topic!r}; it has: {names}{of_type}")
    if type_name not in (None, types[found[0]]):
        raise BagError(f"{bag}: {found[0]} is of type {types[found[0]]}, not {type_name}")
    return found[0]


def messages(bag: Path, topic: str) -> Iterator:
    """Yield the messages of `topic`, an absolute name or the end of one, in order of reception.

    Raises BagError as `full_name` does, and for a message that is cut short.
    """
    name = full_name(bag, topic)

    def read(reader) -> list:
        connections = [c for c in reader.connections if c.topic == name]
        return [(c, bytes(data)) for c, _, data in reader.messages(connections=connections)]

    stored = _read(bag, read)
    types = _types_of(stored[0][0]) if stored else None
    for connection, data in stored:
        yield _deserialized(types, connection, data)


def wrenches(bag: Path, topic: str) -> Wrenches:
    """Return all messages of a geometry_msgs/WrenchStamped topic. Raises BagError."""
    name = full_name(bag, topic, "geometry_msgs/msg/WrenchStamped")
    table = _table(
        bag,
        name,
        lambda m: (seconds(m.header.stamp), *_xyz(m.wrench.force), *_xyz(m.wrench.torque)),
        columns=7,
    )
    return Wrenches(table[:, 0], table[:, 1:4], table[:, 4:])


def points(bag: Path, topic: str) -> Points:
    """Return all messages of a geometry_msgs/PointStamped topic. Raises BagError."""
    name = full_name(bag, topic, "geometry_msgs/msg/PointStamped")
    table = _table(bag, name, lambda m: (seconds(m.header.stamp), *_xyz(m.point)), columns=4)
    return Points(table[:, 0], table[:, 1:])


def _table(bag: Path, name: str, row: Callable[[Any], tuple], columns: int) -> np.ndarray:
    """Return a row of numbers for each message; BagError where the bag defines them otherwise."""
    try:
        rows = [row(message) for message in messages(bag, name)]
        return np.array(rows, dtype=float).reshape(-1, columns)
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BagError):
            raise
        raise BagError(f"{bag}: {name} has other fields: {_one_line(error)}") from error


def seconds(stamp) -> float:
    """Return a builtin_interfaces/Time in seconds."""
    return stamp.sec + 1e-9 * stamp.nanosec


def _read(bag: Path, what: Callable[[Any], Any]) -> Any:
    """Return what is read from a bag, or from as much of it as is whole. Raises BagError."""
    if not bag.exists():
        raise BagError(f"there is no bag {str(bag)!r}")
    try:
        with Reader(bag) as reader:
            return what(reader)
    except Exception as error:  # readers of damaged files raise whatever they like
        salvaged = _salvaged(bag, error)
    try:
        return what(salvaged)
    except Exception as error:
        raise BagError(f"{bag} cannot be read: {_one_line(error)}") from error


def _salvaged(bag: Path, cause: Exception | None = None) -> SalvagedBag:
    """Return the whole records of a bag, once with a word about those that are not."""
    try:
        salvaged = SalvagedBag(bag)
    except Exception as error:  # damage takes every form
        raise BagError(f"{bag} is no bag that can be read: {_one_line(error)}") from error
    if not salvaged.connections:
        raise BagError(f"{bag}: no record is whole: {salvaged.missing or cause}")
    if bag not in _said:
        _said.add(bag)
        missing = salvaged.missing or f"its index is missing or damaged ({_one_line(cause)})"
        print(
            f"hrpsim: {bag}: {salvaged.count} messages can be read; {missing}",
            file=sys.stderr,
            flush=True,
        )
    return salvaged


def _one_line(error: Exception | None) -> str:
    return "it was not ended" if error is None else " ".join(str(error).split())[:200]


def _types_of(connection: Connection) -> Typestore:
    """Return the types that the bag defines a topic's with; where it does not, ROS 2 Jazzy's.

    Raises BagError for a definition that is none.
    """
    definition = connection.msgdef
    if definition.format != MessageDefinitionFormat.MSG:
        return get_typestore(Stores.ROS2_JAZZY)
    types = get_typestore(Stores.EMPTY)
    try:
        types.register(get_types_from_msg(definition.data, connection.msgtype))
    except Exception as error:  # the parser of a damaged definition raises whatever it likes
        raise BagError(
            f"{connection.topic}: the bag's definition of {connection.msgtype} cannot be read: "
            f"{_one_line(error)}"
        ) from error
    return types


def _deserialized(types: Typestore, connection: Connection, data: bytes):
    """Return a message; bytes after its end are passed over, as ROS's middlewares do.

    They come from publishers of serialised messages that trust the length of rmw_serialize.
    """
    try:
        definition = types.get_msgdef(connection.msgtype)
        is_little_endian = data[1] == 1
        decode = (definition.deserialize_cdr_be, definition.deserialize_cdr_le)[is_little_endian]
        return decode(data[_ENCAPSULATION:], 0, definition.cls, types)[0]
    except Exception as error:  # so does the code that is made from such a definition
        raise BagError(
            f"{connection.topic}: a message of type {connection.msgtype} cannot be decoded: "
            f"{type(error).__name__}: {_one_line(error)}"
        ) from error


def _metadata(bag: Path) -> dict:
    """Return the content of metadata.yaml; raises one of _UNREADABLE."""
    return yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]


def _xyz(vector) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z
