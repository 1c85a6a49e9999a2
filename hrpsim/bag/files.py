# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The files of a bag, read record by record as far as they are intact. Needs no ROS.

The index that is written at the end of a recording is not used, so that a bag whose recorder was
killed, whose disk was full, or that lost some bytes is read like any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hrpsim import limits
from hrpsim.bag.bag_contents import ZSTD, Channel, Unpacking
from hrpsim.bag.mcap import McapFile
from hrpsim.bag.sqlite import SqliteFile
from hrpsim.errors import HrpsimError
from hrpsim.yaml_text import read_yaml

LOST_MESSAGES = "lost_messages"  # key in the custom data of metadata.yaml
_FILES: dict[str, type[McapFile] | type[SqliteFile]] = {".mcap": McapFile, ".db3": SqliteFile}
_PACKED = (".zstd", ".zst")


class BagError(HrpsimError, ValueError):
    """A bag that cannot be read or lacks the requested data."""


class Metadata:
    """The contents of metadata.yaml; `damage` is why there are none."""

    def __init__(self, bag: Path):
        self.damage = ""
        self._content: dict[str, Any] = {}
        path = bag / "metadata.yaml"
        if not path.is_file():
            self.damage = "it was not ended: there is no metadata.yaml" if bag.is_dir() else ""
            return
        try:
            self._content = dict(read_yaml(path, BagError).data["rosbag2_bagfile_information"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.damage = f"metadata.yaml is damaged ({one_line(error)})"

    def counts(self) -> dict[str, int] | None:
        """Return the number of messages of each topic, None where it is unknown."""
        try:
            return {
                str(entry["topic_metadata"]["name"]): int(entry["message_count"])
                for entry in self._content["topics_with_message_count"]
            }
        except (KeyError, TypeError, ValueError, OverflowError):
            return None

    def losses(self) -> dict[str, int | None]:
        """Return each topic's lost messages that the recorder noted; empty if it noted none."""
        try:
            return dict(json.loads(self._content["custom_data"][LOST_MESSAGES]))
        except (KeyError, TypeError, ValueError, RecursionError):
            return {}

    def files(self) -> list[str]:
        """Return the names of the bag's files."""
        names = self._content.get("relative_file_paths")
        if not isinstance(names, list):
            return []
        return [Path(name).name for name in names if isinstance(name, str) and "\0" not in name]


class StoredBag:
    """The messages of a bag, a folder or one file.

    `missing` describes what could not be read, `count` is the number of readable messages,
    `is_begun` whether a recorder may have ended before its first. Raises BagError where there is
    nothing to read.
    """

    def __init__(self, bag: Path):
        self._folder: TemporaryDirectory | None = None  # of unpacked files
        metadata = Metadata(bag)
        damages = [metadata.damage]
        paths = [bag] if bag.is_file() else sorted(path for path in bag.iterdir() if path.is_file())
        names = {path.name for path in paths}
        damages += [f"{name} is missing" for name in metadata.files() if name not in names]
        self._files: list[McapFile | SqliteFile] = []
        self.is_begun = False
        for path in paths:
            if path.suffix in _PACKED and Path(path.stem).suffix in _FILES:
                path, damage = self._unpacked(path)
                damages.append(damage)
            else:
                damage = ""
            if path.suffix in _FILES:
                file = _FILES[path.suffix](path)
                self._files.append(file)
                self.is_begun = self.is_begun or (not damage and file.is_begun())
        if not self._files:
            raise BagError(f"{bag} is no bag: it holds no file that ends in {' or '.join(_FILES)}")
        self.channels: dict[str, Channel] = {}
        self.counts: dict[str, int] = {}
        self._channels_in: dict[str, list[tuple[int, set[int]]]] = {}  # topic: file, channels
        for number, file in enumerate(self._files):
            self._look_into(number, file)
        damages += [f"{file.path.name}: {file.damage}" for file in self._files if file.damage]
        self.count = sum(self.counts.values())
        self.missing = "; ".join(filter(None, damages))

    def _unpacked(self, path: Path) -> tuple[Path, str]:
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="hrpsim_bag_")
        target = Path(self._folder.name) / path.stem
        damage = Unpacking(path.stat().st_size).unpack_file(path, target)
        return target, f"{path.name}: {damage}" if damage else ""

    def _look_into(self, number: int, file: McapFile | SqliteFile) -> None:
        found: dict[int, int] = {}
        for stored in file.messages(None):
            found[stored.channel] = found.get(stored.channel, 0) + 1
        keys_by_topic: dict[str, set[int]] = {}
        for key, channel in file.channels().items():
            self.channels.setdefault(channel.topic, channel)
            keys_by_topic.setdefault(channel.topic, set()).add(key)
            count = self.counts.get(channel.topic, 0) + found.get(key, 0)
            self.counts[channel.topic] = count
        for topic, keys in keys_by_topic.items():
            self._channels_in.setdefault(topic, []).append((number, keys))

    def messages(self, topic: str) -> Iterator[bytes]:
        """Yield the messages of a topic in the order of their reception. Raises ValueError."""
        for _, data in self.timed_messages(topic):
            yield data

    def timed_messages(self, topic: str) -> Iterator[tuple[int, bytes]]:
        """Yield time of reception [ns] and message, as `messages` does."""
        times = np.fromiter((time for time, _ in self._stored(topic)), dtype=np.uint64)
        if np.all(times[1:] >= times[:-1]):
            yield from self._stored(topic)
            return
        kept, size = [], 0
        for stored in self._stored(topic):
            kept.append(stored)
            size += len(stored[1])
            if size > limits.BAG_UNSORTED:
                raise ValueError(f"over {limits.BAG_UNSORTED} bytes in no order (BAG_UNSORTED)")
        for number in np.argsort(times, kind="stable"):
            yield kept[number]

    def _stored(self, topic: str) -> Iterator[tuple[int, bytes]]:
        for number, keys in self._channels_in[topic]:
            file = self._files[number]
            unpacking = Unpacking(file.path.stat().st_size)
            for _, time, data in file.messages(keys):
                packed = data.startswith(ZSTD)
                yield time % 2**64, unpacking.unpack(data, "zstd") if packed else data


def stored_bag(bag: Path) -> StoredBag:
    """Return a bag, which is scanned once as long as its files do not change."""
    if not bag.exists():
        raise BagError(f"there is no bag {str(bag)!r}")
    paths = [bag] if bag.is_file() else sorted(bag.iterdir())
    stamps = tuple((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in paths)
    return _looked_through(bag, stamps)


@lru_cache(maxsize=4)
def _looked_through(bag: Path, stamps: tuple) -> StoredBag:
    return StoredBag(bag)


def one_line(error: Exception) -> str:
    """Return an error's text on one line of limited length."""
    return " ".join(str(error).split())[:200]
