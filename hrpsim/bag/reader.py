# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the data of plots and checks from a bag, ours or `ros2 bag record`'s. Needs no ROS.

An unfinished or damaged bag is read as far as its records are intact; stderr reports what is
missing.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rosbags.typesys import Stores, TypesysError, get_typestore

from hrpsim.bag.bag_contents import Channel
from hrpsim.bag.files import BagError, Metadata, StoredBag, one_line, stored_bag
from hrpsim.bag.types import Types, decode, read_types

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


def message_counts(bag: Path) -> dict[str, int]:
    """Return the number of messages of each topic, from metadata.yaml, or counted without one."""
    counts = Metadata(bag).counts()
    if counts is not None:
        return counts
    stored = _opened(bag)
    _report_missing(bag, stored)
    return stored.counts


def lost_messages(bag: Path) -> dict[str, int | None]:
    """Return each topic's lost messages that the recorder noted; empty if it noted none."""
    return Metadata(bag).losses()


def topic_types(bag: Path) -> dict[str, str]:
    """Return the topics of a bag, in alphabetical order, and their types."""
    channels = _opened(bag).channels
    return {topic: channels[topic].type_name for topic in sorted(channels)}


def full_name(bag: Path, topic: str, type_name: str | None = None) -> str:
    """Return the name in the bag of `topic`, which is one or the end of one ("lfsensor").

    Names are absolute, except those that a program gave rosbag2's writer without a slash.
    Raises BagError with the existing topics where none or several end so, or where it has
    another type than `type_name`.
    """
    types = topic_types(bag)
    wanted = "/" + topic.lstrip("/")
    found = [name for name in (topic, wanted) if name in types][:1]
    found = found or [name for name in types if f"/{name}".endswith(wanted)]
    if len(found) > 1:
        raise BagError(f"{bag}: topic {topic!r} can be {' or '.join(found)}; give its full name")
    if not found:
        alike = [name for name, its_type in types.items() if its_type == type_name]
        of_type = f"; those of type {type_name}: {', '.join(alike)}" if alike else ""
        names = ", ".join(types) or "nothing"
        if not types and (missing := _opened(bag).missing):
            names += f" ({missing})"
        raise BagError(f"{bag} has no topic {topic!r}; it has: {names}{of_type}")
    if type_name not in (None, types[found[0]]):
        raise BagError(f"{bag}: {found[0]} is of type {types[found[0]]}, not {type_name}")
    return found[0]


def messages(bag: Path, topic: str) -> Iterator:
    """Yield the messages of a topic in order of reception.

    Args:
        bag: file or folder.
        topic: an absolute name or the end of one.

    Raises:
        BagError: for an unknown or ambiguous topic, and for a message that is cut short.
    """
    for _, message in timed_messages(bag, topic):
        yield message


def timed_messages(bag: Path, topic: str) -> Iterator[tuple[int, Any]]:
    """Yield time of reception [ns] and message, as `messages` does."""
    name = full_name(bag, topic)
    stored = _opened(bag)
    channel = stored.channels[name]
    types = None
    try:
        for time, data in stored.timed_messages(name):
            types = types or _types_of(channel)
            yield time, decode(types, channel.type_name, data)
    except (ValueError, IndexError, struct.error) as error:
        if isinstance(error, BagError):
            raise
        raise BagError(
            f"{name}: a message of type {channel.type_name} cannot be decoded: {one_line(error)}"
        ) from error


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
    """Return a row of numbers per message; BagError where the bag's definition differs."""
    try:
        rows = (row(message) for message in messages(bag, name))
        return np.fromiter(rows, dtype=np.dtype((float, columns)))
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BagError):
            raise
        raise BagError(f"{bag}: {name} has other fields: {one_line(error)}") from error


def seconds(stamp) -> float:
    """Return a builtin_interfaces/Time in seconds."""
    return stamp.sec + 1e-9 * stamp.nanosec


def _opened(bag: Path) -> StoredBag:
    """Return a bag; report once what is missing from it. Raises BagError."""
    try:
        stored = stored_bag(bag)
    except OSError as error:
        raise BagError(f"{bag} cannot be read: {one_line(error)}") from error
    if stored.missing and not stored.channels and not stored.is_begun:
        raise BagError(f"{bag}: no record is whole: {stored.missing}")
    if stored.channels:  # without channels the next request raises
        _report_missing(bag, stored)
    return stored


def _report_missing(bag: Path, stored: StoredBag) -> None:
    if stored.missing and bag not in _said:
        _said.add(bag)
        said = f"hrpsim: {bag}: {stored.count} messages can be read; {stored.missing}"
        print(said, file=sys.stderr, flush=True)


def _types_of(channel: Channel) -> Types:
    """Return the bag's type definitions of a topic, else ROS 2 Jazzy's. Raises BagError."""
    definition = channel.definition
    try:
        if definition is None:
            definition, _ = get_typestore(Stores.ROS2_JAZZY).generate_msgdef(
                channel.type_name, ros_version=2
            )
        return read_types(definition, channel.type_name)
    except (ValueError, TypesysError, AssertionError) as error:
        raise BagError(
            f"{channel.topic}: the definition of {channel.type_name} cannot be read: "
            f"{one_line(error)}"
        ) from error


def _xyz(vector) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z
