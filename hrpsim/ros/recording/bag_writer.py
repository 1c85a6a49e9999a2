# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Writes serialised messages, of types found by name, to a rosbag2 folder with one file."""

from __future__ import annotations

import errno
import json
import re
import sqlite3
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from io import SEEK_END, BytesIO
from os.path import isfile
from pathlib import Path

from rclpy.qos import QoSProfile
from rosbags import interfaces
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from hrpsim.bag.checked_writer import CheckedWriter
from hrpsim.bag.checksums import announce, seal
from hrpsim.bag.metadata import LOST_MESSAGES
from hrpsim.common.errors import HrpsimError

_LENGTH = struct.Struct("<I")
_NAME = re.compile(r"([a-z][a-z0-9_]*)/msg/([A-Z][A-Za-z0-9]*)")
_KEEP_SIZE = 1_000_000  # largest number of bytes flushed at once
_KEEP_PERIOD = 0.5  # longest loss if the recorder is killed [s, wall]


class SpooledRecords:
    """A list of BytesIO, stored in a temporary file in `folder` instead of in memory.

    The operating system removes the file when the process ends.
    """

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)
        self._count = 0

    def append(self, record: BytesIO) -> None:
        """Store a copy of a record."""
        content = record.getvalue()
        self._file.write(_LENGTH.pack(len(content)) + content)
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[BytesIO]:
        """Yield the records in order, each positioned at the end for writing."""
        self._file.seek(0)
        for _ in range(self._count):
            (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
            record = BytesIO(self._file.read(length))
            record.seek(0, SEEK_END)
            yield record
        self._file.seek(0, SEEK_END)


def definition_file(type_name: str) -> Path:
    """Return the .msg file of a type, in the share folder of the Python package's prefix.

    Imports nothing. Raises HrpsimError for names that are not a type of an installed package.
    """
    match = _NAME.fullmatch(type_name)
    if match is None:
        raise HrpsimError(
            f"{type_name!r} is not the name of a message type. Write package/msg/Name"
        )
    spec = find_spec(match[1])
    inside = Path("share", match[1], "msg", f"{match[2]}.msg")
    for folder in [] if spec is None else spec.submodule_search_locations or ():
        for prefix in Path(folder).parents:
            if isfile(prefix / inside):  # also for a name that is too long for a file
                return prefix / inside
    raise HrpsimError(f"no installed package has the message type {type_name}")


def message_type(type_name: str) -> type:
    """Return the class of a message type. Raise HrpsimError as `definition_file` does.

    Nothing is imported if the name is invalid.
    """
    definition_file(type_name)
    package, _, name = type_name.split("/")
    return getattr(import_module(f"{package}.msg"), name)


class BagFull(HrpsimError, OSError):
    """A bag that can no longer be written. The message names file and cause."""


class BagWriter:
    """A bag that is being written. Use the bag as a context manager: the exit writes the index.

    `storage` is "mcap" or "sqlite3". `write` calls `keep` after each megabyte. Messages before the
    last `keep` survive a crash of the process. Raises rosbags.rosbag2.WriterError if `path` exists.
    Raises BagFull, which names the file, if the disk is full or the file is gone. The end of the
    `with` adds the checksums.
    """

    def __init__(self, path: Path, storage: str = "mcap") -> None:
        self.path = path
        plugin = StoragePlugin[storage.upper()]
        self._writer = CheckedWriter(path, version=9, storage_plugin=plugin)
        self._types = get_typestore(Stores.EMPTY)
        self._connections: dict[str, interfaces.Connection] = {}
        self._file: Path | None = None  # None before it is open
        self._identity: tuple[int, int] | None = None
        self._not_kept = 0  # bytes not flushed yet
        self._next_keep = 0.0  # [s, wall]

    def __enter__(self) -> BagWriter:
        with self._named():
            self._writer.open()
            storage = self._writer.storage
            file = self._file = storage.path
            self._identity = _identity_of(file)
            announce(file.name, self._writer.set_custom_data)
            if hasattr(storage, "chunks"):  # mcap: an entry for each call of `keep`
                storage.chunks = SpooledRecords(self.path)
        return self

    def __exit__(self, kind, *exception) -> None:
        if kind is not None and issubclass(kind, BagFull):
            with suppress(OSError, sqlite3.Error):
                self._writer.abort()  # the content of the file remains
        else:
            with self._named():
                self._require_file()
                self._writer.close()
                seal(self.path, self._file.name)

    def add_topic(self, topic: str, type_name: str, qos: QoSProfile) -> None:
        """Declare a topic before its first message. Raise an error if the type is not installed."""
        self._learn(type_name)
        with self._named():
            self._connections[topic] = self._writer.add_connection(
                topic, type_name, typestore=self._types, offered_qos_profiles=[_offered(qos)]
            )

    def write(self, topic: str, time: int, data: bytes) -> None:
        """Append the serialised message `data` that was received at `time` [ns]."""
        with self._named():
            self._writer.write(self._connections[topic], time, data)
        self._not_kept += len(data)
        if self._not_kept > _KEEP_SIZE:
            self.keep()

    def keep_if_due(self) -> None:
        """Call `keep` at most twice a second."""
        now = time.monotonic()
        if now >= self._next_keep:
            self.keep()
            self._next_keep = now + _KEEP_PERIOD

    def keep(self) -> None:
        """Flush to the operating system.

        A crash of this process then loses none of these messages.
        """
        storage, self._not_kept = self._writer.storage, 0
        with self._named():
            self._require_file()
            if hasattr(storage, "conn"):
                storage.conn.commit()
            elif storage.chunk.msgs:
                storage.close_chunk()
                storage.bio.flush()

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Convert an error of the disk to BagFull, which names the file."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            why = getattr(error, "strerror", None) or error
            raise BagFull(f"{self._file or self.path}: {why}") from error

    def _require_file(self) -> None:
        """Raise OSError if the file was removed, moved or replaced."""
        if _identity_of(self._file) != self._identity:
            raise FileNotFoundError(errno.ENOENT, "removed or moved while recording")

    def note_losses(self, losses: dict[str, int | None]) -> None:
        """Store the number of lost messages of each topic in metadata.yaml. None means unknown."""
        self._writer.set_custom_data(LOST_MESSAGES, json.dumps(losses))

    def _learn(self, type_name: str) -> None:
        """Register the installed definition of a type and of the types of its fields."""
        if type_name in self._types.fielddefs:
            return
        definition = get_types_from_msg(definition_file(type_name).read_text(), type_name)
        for part in _types_within(definition):
            self._learn(part)
        self._types.register(definition)


def _identity_of(path: Path | None) -> tuple[int, int] | None:
    try:
        status = path.stat() if path else None
    except OSError:
        return None
    return status and (status.st_dev, status.st_ino)


def _types_within(definition) -> list[str]:
    """Return the names of the message types that a parsed definition refers to."""
    names = []
    for _, fields in definition.values():
        for _, (kind, detail) in fields:
            while kind.name in ("ARRAY", "SEQUENCE"):
                kind, detail = detail[0]
            if kind.name == "NAME":
                names.append(detail)
    return names


def _offered(qos: QoSProfile) -> interfaces.Qos:
    forever = interfaces.QosTime(9223372036, 854775807)
    return interfaces.Qos(
        interfaces.QosHistory[qos.history.name],
        qos.depth,
        interfaces.QosReliability[qos.reliability.name],
        interfaces.QosDurability[qos.durability.name],
        forever,
        forever,
        interfaces.QosLiveliness.AUTOMATIC,
        forever,
        False,
    )
