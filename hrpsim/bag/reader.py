# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read data for plots and checks from a bag of hrpsim or of `ros2 bag record`. Needs no ROS.

An unfinished or damaged bag is read up to the end of its intact records. stderr reports missing
data.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from hrpsim.bag.bag_contents import ZSTD, BagTopic, Unpacking
from hrpsim.bag.checksums import checksum
from hrpsim.bag.mcap import McapFile
from hrpsim.bag.metadata import BagError, Metadata
from hrpsim.bag.needed_fields import lacking_field
from hrpsim.bag.sqlite import SqliteFile
from hrpsim.bag.types import Types, decode, read_types
from hrpsim.common import limits
from hrpsim.common.errors import one_line
from hrpsim.common.extras import missing_package

_SHOWN = 200  # largest number of characters of another error in a message
_said: set[Path] = set()
_FILES: dict[str, type[McapFile] | type[SqliteFile]] = {".mcap": McapFile, ".db3": SqliteFile}
_PACKED = (".zstd", ".zst")


class StoredBag:
    """The messages of a bag, a folder or one file.

    `missing` describes unreadable data, `count` is the number of readable messages. `is_begun` is
    true if the recorder may have ended before its first message. Raises BagError if there is
    nothing to read.
    """

    def __init__(self, bag: Path) -> None:
        self._folder: TemporaryDirectory | None = None  # folder of uncompressed files
        metadata = Metadata(bag)
        damages = [metadata.damage]
        paths = [bag] if bag.is_file() else sorted(filter(Path.is_file, bag.iterdir()))
        names = {path.name for path in paths}
        damages += [f"{name} is missing" for name in metadata.files() if name not in names]
        self._files: list[McapFile | SqliteFile] = []
        self.is_begun = False
        self.has_checksums = bool(metadata.checksums)
        for path in paths:
            noted = metadata.checksums.get(path.name)
            if noted is not None and noted != checksum(path):
                damages.append(f"{path.name} has another checksum than when it was recorded")
            damages.append(self._add(path))
        if not self._files:
            raise BagError(f"{bag} is not a bag: no file ends in {' or '.join(_FILES)}")
        self.channels: dict[str, BagTopic] = {}
        self.counts: dict[str, int] = {}
        self._channels_in: dict[str, list[tuple[int, set[int]]]] = {}  # topic: file, channels
        for number, file in enumerate(self._files):
            self._look_into(number, file)
        damages += [f"{file.path.name}: {file.damage}" for file in self._files if file.damage]
        self.count = sum(self.counts.values())
        self.missing = "; ".join(filter(None, damages))

    def _add(self, path: Path) -> str:
        """Add a file, unpacked if it is packed. Return the damage of the packed file, or ""."""
        damage = ""
        if path.suffix in _PACKED and Path(path.stem).suffix in _FILES:
            path, damage = self._unpacked(path)
        if path.suffix in _FILES:
            file = _FILES[path.suffix](path)
            self._files.append(file)
            self.is_begun = self.is_begun or (not damage and file.is_begun())
        return damage

    def _unpacked(self, path: Path) -> tuple[Path, str]:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="hrpsim_bag_")
        target = Path(self._folder.name) / path.stem
        damage = Unpacking(path.stat().st_size).unpack_file(path, target)
        return target, f"{path.name}: {damage}" if damage else ""

    def _look_into(self, number: int, file: McapFile | SqliteFile) -> None:
        counted: dict[int, int] = {}
        for stored in file.messages(None):
            counted[stored.channel] = counted.get(stored.channel, 0) + 1
        keys_by_topic: dict[str, set[int]] = {}
        for key, channel in file.channels().items():
            self.channels.setdefault(channel.topic, channel)
            keys_by_topic.setdefault(channel.topic, set()).add(key)
            count = self.counts.get(channel.topic, 0) + counted.get(key, 0)
            self.counts[channel.topic] = count
        for topic, keys in keys_by_topic.items():
            self._channels_in.setdefault(topic, []).append((number, keys))

    @property
    def files(self) -> list[McapFile | SqliteFile]:
        """The files of the bag, unpacked."""
        return list(self._files)

    def messages(self, topic: str) -> Iterator[bytes]:
        """Yield the messages of a topic in the order of reception. Raises ValueError if damaged."""
        for _, data in self.timed_messages(topic):
            yield data

    def timed_messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield time of reception [ns] and message, in the order of `messages`."""
        times = np.fromiter((time for time, _ in self._stored(topic)), dtype=np.uint64)
        if np.all(times[1:] >= times[:-1]):
            yield from self._stored(topic)
            return
        stored_messages, size = [], 0
        for stored in self._stored(topic):
            stored_messages.append(stored)
            size += len(stored[1])
            if size > limits.BAG_UNSORTED:
                raise ValueError(
                    "the messages are not in the order of time, and have "
                    f"{limits.excess('BAG_UNSORTED', 'bytes')}"
                )
        for number in np.argsort(times, kind="stable"):
            yield stored_messages[number]

    def _stored(self, topic: str) -> Iterator[tuple[int, bytes]]:
        for number, keys in self._channels_in[topic]:
            file = self._files[number]
            unpacking = Unpacking(file.path.stat().st_size)
            for _, time, data in file.messages(keys):
                packed = data.startswith(ZSTD)
                yield time % 2**64, unpacking.unpack(data, "zstd") if packed else data


def stored_bag(bag: Path) -> StoredBag:
    """Return a bag. The bag is scanned again only if the files change."""
    bag = Path(bag)  # users may pass a text
    if not (os.path.isfile(bag) or os.path.isdir(bag)):
        raise BagError(f"there is no bag {str(bag)!r}. Name a folder or a regular file")
    paths = [bag] if bag.is_file() else sorted(bag.iterdir())
    stamps = tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in paths)
    return _looked_through(bag, stamps)


@lru_cache(maxsize=4)
def _looked_through(bag: Path, stamps: tuple) -> StoredBag:
    return StoredBag(bag)


class Wrenches(NamedTuple):
    """The messages of one wrench topic."""

    time: np.ndarray  # (n,) simulated time from the stamps [s]
    force: np.ndarray  # (n, 3) in the sensor frame [N]
    torque: np.ndarray  # (n, 3) in and about the sensor frame [Nm]


class PointMessages(NamedTuple):
    """The messages of one topic of points."""

    time: np.ndarray  # (n,) simulated time from the stamps [s]
    position: np.ndarray  # (n, 3) in the frame of the messages [m]


def message_counts(bag: Path) -> dict[str, int]:
    """Return the number of messages of each topic, from metadata.yaml or else by counting."""
    counts = Metadata(bag).counts()
    if counts is not None:
        return counts
    stored = _opened(bag)
    _report_missing(bag, stored)
    return stored.counts


def lost_messages(bag: Path) -> dict[str, int | None]:
    """Return the lost messages of each topic, as noted by the recorder. Empty without a note."""
    return Metadata(bag).losses()


def topic_types(bag: Path) -> dict[str, str]:
    """Return the types by topic of a bag, in alphabetical order."""
    channels = _opened(bag).channels
    return {topic: channels[topic].type_name for topic in sorted(channels)}


def _topics_in(bag: Path, type_name: str | None) -> str:
    """Return a text that lists the topics of a bag, and the topics of type `type_name`.

    Without topics, the text states the reason.
    """
    types = topic_types(bag)
    alike = [name for name, its_type in types.items() if its_type == type_name]
    of_type = f". Topics of type {type_name}: {', '.join(alike)}" if alike else ""
    names = ", ".join(types) or "nothing"
    if not types and (missing := _opened(bag).missing):
        names += f" ({missing})"
    return names + of_type


def full_name(bag: Path, topic: str, type_name: str | None = None) -> str:
    """Return the full name in the bag of `topic`, a full name or the end of a name ("lfsensor").

    Names are absolute, except names that a program gave to rosbag2's writer without a slash.
    BagError lists the existing topics if no topic or several topics end with `topic`. BagError is
    also raised if the topic has another type than `type_name`, or if the bag's definition of the
    type lacks a field that hrpsim reads.
    """
    types = topic_types(bag)
    absolute_name = "/" + topic.lstrip("/")
    matches = [name for name in (topic, absolute_name) if name in types][:1]
    matches = matches or [name for name in types if f"/{name}".endswith(absolute_name)]
    if len(matches) > 1:
        raise BagError(f"{bag}: topic {topic!r} can be {' or '.join(matches)}. Give its full name")
    if not matches:
        raise BagError(f"{bag} has no topic {topic!r}. Topics: {_topics_in(bag, type_name)}")
    if type_name is not None:
        _check_type(bag, matches[0], types[matches[0]], type_name)
    return matches[0]


def _check_type(bag: Path, name: str, found: str, wanted: str) -> None:
    """Raise BagError for a topic of another type, or with a definition that lacks a field."""
    if found != wanted:
        raise BagError(f"{bag}: {name} is of type {found}, not {wanted}")
    if lacking := lacking_field(_types_of(_opened(bag).channels[name]), wanted):
        raise BagError(
            f"{bag}: {name}: the bag's definition of {wanted} lacks the field {lacking!r}, or"
            " the field has another type"
        )


def messages(bag: Path, topic: str) -> Iterator:
    """Yield the messages of a topic in order of reception.

    Args:
        bag: file or folder.
        topic: an absolute name or the end of a name.

    Raises:
        BagError: the topic is unknown or ambiguous, or a message is cut short.
    """
    for _, message in timed_messages(bag, topic):
        yield message


def timed_messages(bag: Path, topic: str) -> Iterator[tuple[int, Any]]:
    """Yield time of reception [ns] and message, in the order of `messages`."""
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
            f"{name}: a message of type {channel.type_name} cannot be decoded: "
            f"{one_line(error, _SHOWN)}"
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


def points(bag: Path, topic: str) -> PointMessages:
    """Return all messages of a geometry_msgs/PointStamped topic. Raises BagError."""
    name = full_name(bag, topic, "geometry_msgs/msg/PointStamped")
    table = _table(bag, name, lambda m: (seconds(m.header.stamp), *_xyz(m.point)), columns=4)
    return PointMessages(table[:, 0], table[:, 1:])


def _table(bag: Path, name: str, row: Callable[[Any], tuple], columns: int) -> np.ndarray:
    """Return the numbers (n, columns) of n messages. Raises BagError if the definition differs.

    row: returns the numbers of a message.
    """
    try:
        rows = (row(message) for message in messages(bag, name))
        return np.fromiter(rows, dtype=np.dtype((float, columns)))
    except (AttributeError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, BagError):
            raise
        raise BagError(
            f"{bag}: {name} does not have the expected fields: {one_line(error, _SHOWN)}"
        ) from error


def seconds(stamp) -> float:
    """Return a builtin_interfaces/Time in seconds."""
    return stamp.sec + 1e-9 * stamp.nanosec


def _opened(bag: Path) -> StoredBag:
    """Return a bag, and report missing data once. Raises BagError."""
    try:
        stored = stored_bag(bag)
    except OSError as error:
        raise BagError(f"{bag} cannot be read: {one_line(error, _SHOWN)}") from error
    if stored.missing and not stored.channels and not stored.is_begun:
        raise BagError(f"{bag}: contains no complete record: {stored.missing}")
    if stored.channels:  # without channels the next request raises
        _report_missing(bag, stored)
    return stored


def _report_missing(bag: Path, stored: StoredBag) -> None:
    if stored.missing and bag not in _said:
        _said.add(bag)
        message = f"hrpsim: {bag}: {stored.count} messages can be read; {stored.missing}"
        print(message, file=sys.stderr, flush=True)


def _types_of(channel: BagTopic) -> Types:
    """Return the type definitions of a topic in the bag, or else in ROS 2 Jazzy.

    Raises BagError.
    """
    try:
        definition = channel.definition
        if definition is None:
            definition = _definition_of_jazzy(channel.type_name)
        return read_types(definition, channel.type_name)
    except (ValueError, AssertionError) as error:
        raise BagError(
            f"{channel.topic}: the definition of {channel.type_name} cannot be read: "
            f"{one_line(error, _SHOWN)}"
        ) from error


def _definition_of_jazzy(type_name: str) -> str:
    """Return the definition of a type in ROS 2 Jazzy, for a type that the bag does not define.

    Raises ValueError for an unknown type, and MissingPackageError without rosbags.
    """
    try:
        from rosbags.typesys import Stores, TypesysError, get_typestore
    except ModuleNotFoundError as error:
        raise missing_package("a bag without definitions of its types", error) from error
    try:
        return get_typestore(Stores.ROS2_JAZZY).generate_msgdef(type_name, ros_version=2)[0]
    except TypesysError as error:
        raise ValueError(str(error)) from error


def _xyz(vector) -> tuple[float, float, float]:
    return vector.x, vector.y, vector.z
