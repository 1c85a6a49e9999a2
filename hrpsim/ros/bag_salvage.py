"""What is whole in a bag whose recorder was killed, whose disk was full, or that lost some bytes.

Reads the files record by record, without the index that is written at the end. Needs no ROS.
"""

from __future__ import annotations

import sqlite3
import struct
import sys
import zlib
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, NamedTuple
from urllib.parse import quote

from rosbags.interfaces import (
    Connection,
    ConnectionExtRosbag2,
    MessageDefinition,
    MessageDefinitionFormat,
)

SUFFIXES = (".mcap", ".db3")
_MAGIC = b"\x89MCAP0\r\n"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = 0x03, 0x04, 0x05, 0x06  # of the MCAP format's records
_ZSTD = b"\x28\xb5\x2f\xfd"
_LARGEST = 1 << 30  # of a chunk [bytes]; no recorder writes larger ones
_FORMATS = {"ros2msg": MessageDefinitionFormat.MSG, "ros2idl": MessageDefinitionFormat.IDL}


class Stored(NamedTuple):
    """A message as it lies in a file."""

    channel: int
    time: int  # of reception [ns]
    data: bytes


class SalvagedBag:
    """A bag as far as its records are whole; it stands for a Reader of rosbags.

    `missing` says in words what could not be read, `count` how many messages could. A bag is a
    folder or one file. Raises ValueError where there is nothing to read.
    """

    def __init__(self, bag: Path):
        paths = [bag] if bag.is_file() else sorted(p for p in bag.iterdir() if p.is_file())
        files = [_FILES[path.suffix](path) for path in paths if path.suffix in SUFFIXES]
        if not files:
            raise ValueError(f"it holds no file that ends in {' or '.join(SUFFIXES)}")
        self._files = files
        self.connections: list[Connection] = []
        self._places: dict[str, list[tuple[int, int]]] = {}  # topic: file, channel
        counts: dict[str, int] = {}
        for number, file in enumerate(files):
            found: dict[int, int] = {}
            for stored in file.messages(None):
                found[stored.channel] = found.get(stored.channel, 0) + 1
            for channel, connection in file.channels().items():
                if connection.topic not in self._places:
                    self.connections.append(connection)
                self._places.setdefault(connection.topic, []).append((number, channel))
                counts[connection.topic] = counts.get(connection.topic, 0) + found.get(channel, 0)
        self.connections = [c._replace(msgcount=counts[c.topic]) for c in self.connections]
        self.count = sum(counts.values())
        self.missing = "; ".join(f"{f.path.name}: {f.damage}" for f in files if f.damage)

    def messages(self, connections: Collection[Connection]) -> Iterator:
        """Yield connection, time of reception [ns] and data of each message, in order of time."""
        found = []
        for connection in connections:
            for number, channel in self._places[connection.topic]:
                file = self._files[number]
                found += [(s.time, connection, s.data) for s in file.messages({channel})]
        for time, connection, data in sorted(found, key=lambda item: item[0]):
            yield connection, time, _decompressed(data)


class _McapFile:
    """The whole records of an MCAP file."""

    def __init__(self, path: Path):
        self.path = path
        self.damage = ""
        self._schemas: dict[int, tuple[str, MessageDefinition]] = {}
        self._channels: dict[int, Connection] = {}

    def channels(self) -> dict[int, Connection]:
        """Return the connection of each channel that `messages` has come across."""
        return self._channels

    def messages(self, wanted: Collection[int] | None) -> Iterator[Stored]:
        """Yield the messages of some channels, or of all."""
        self.damage = ""
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                self.damage = "it does not begin as an MCAP file"
                return
            yield from self._messages_in(file, size, wanted)

    def _messages_in(self, file: BinaryIO, size: int, wanted) -> Iterator[Stored]:
        while (place := file.tell()) < size:
            head = file.read(9)
            if head == _MAGIC[:9] or size - place == len(_MAGIC):
                return  # the end of a file that is whole
            length = int.from_bytes(head[1:], "little")
            if len(head) < 9 or length > size - file.tell():
                self.damage = f"its last {size - place} bytes are no whole record"
                return
            if head[0] in (_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK):
                content = file.read(length)
                try:
                    yield from self._read(head[0], content, wanted)
                except (ValueError, KeyError, IndexError, struct.error) as error:
                    self.damage = f"the record at byte {place} is damaged ({error})"
            else:
                file.seek(length, 1)

    def _read(self, kind: int, content: bytes, wanted) -> Iterator[Stored]:
        if kind == _MESSAGE:
            channel, _, time, _ = struct.unpack_from("<HIQQ", content)
            if channel not in self._channels:
                raise ValueError(f"no channel {channel}")
            if wanted is None or channel in wanted:
                yield Stored(channel, time, content[22:])
        elif kind == _CHUNK:
            records = _unpacked(content)
            yield from self._messages_in(BytesIO(records), len(records), wanted)
        elif kind == _SCHEMA:
            (number,) = struct.unpack_from("<H", content)
            name, place = _text(content, 2)
            encoding, place = _text(content, place)
            text, _ = _text(content, place)
            form = _FORMATS.get(encoding, MessageDefinitionFormat.NONE)
            self._schemas[number] = name, MessageDefinition(form, text)
        else:
            number, schema = struct.unpack_from("<HH", content)
            topic, place = _text(content, 4)
            encoding, _ = _text(content, place)
            if number not in self._channels:
                name, definition = self._schemas[schema]
                self._channels[number] = _connection(number, topic, name, definition, encoding)


class _SqliteFile:
    """The rows of a bag in SQLite that can be read."""

    def __init__(self, path: Path):
        self.path = path
        self.damage = ""
        self._channels: dict[int, Connection] | None = None

    def channels(self) -> dict[int, Connection]:
        """Return the connection of each topic."""
        if self._channels is None:
            self._channels = {}
            for number, topic, name, encoding in self._rows(
                "SELECT id, name, type, serialization_format FROM topics"
            ):
                definition = self._definition(name)
                self._channels[number] = _connection(number, topic, name, definition, encoding)
        return self._channels

    def messages(self, wanted: Collection[int] | None) -> Iterator[Stored]:
        """Yield the messages of some topics, or of all."""
        for channel, time, data in self._rows("SELECT topic_id, timestamp, data FROM messages"):
            if channel in self.channels() and (wanted is None or channel in wanted):
                yield Stored(channel, time, bytes(data))

    def _definition(self, name: str) -> MessageDefinition:
        kept, found = self.damage, MessageDefinition(MessageDefinitionFormat.NONE, "")
        for encoding, text, of in self._rows(
            "SELECT encoding, encoded_message_definition, topic_type FROM message_definitions"
        ):
            if of == name:
                found = MessageDefinition(_FORMATS[encoding], text)
        self.damage = kept  # bags of older recorders have no such table
        return found

    def _rows(self, query: str) -> Iterator[tuple]:
        """Yield the rows up to the first that is damaged; SQLite takes back what was not ended."""
        address = f"file:{quote(str(self.path.absolute()))}"
        for mode in ("rw", "ro&immutable=1"):
            try:
                database = sqlite3.connect(f"{address}?mode={mode}", uri=True)
                database.execute("SELECT count(*) FROM sqlite_master").fetchone()
                break
            except sqlite3.Error as error:
                self.damage = str(error)
        else:
            return
        self.damage = ""
        try:
            yield from database.execute(query)
        except sqlite3.Error as error:
            self.damage = str(error)
        finally:
            database.close()


_FILES = {".mcap": _McapFile, ".db3": _SqliteFile}


def _connection(number, topic, name, definition, encoding) -> Connection:
    ext = ConnectionExtRosbag2(encoding, [])
    return Connection(number, topic, name, definition, "", 0, ext, None)


def _text(content: bytes, place: int) -> tuple[str, int]:
    """Return a text of a record, and where it ends."""
    (size,) = struct.unpack_from("<I", content, place)
    end = place + 4 + size
    if end > len(content):
        raise ValueError("a text is cut short")
    return content[place + 4 : end].decode(), end


def _decompressed(data: bytes) -> bytes:
    """Return data that zstd may have compressed; CDR never begins as its frames do."""
    if not data.startswith(_ZSTD):
        return data
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    try:
        return zstd.decompress(data)
    except zstd.ZstdError as error:
        raise ValueError(str(error)) from error


def _unpacked(content: bytes) -> bytes:
    """Return the records of a chunk; ValueError where they are not what was written."""
    _, _, size, checksum = struct.unpack_from("<QQQI", content)
    compression, place = _text(content, 28)
    records = content[place + 8 :]
    if size > _LARGEST:
        raise ValueError(f"a chunk of {size} bytes")
    if compression == "lz4":
        import lz4.frame

        records = lz4.frame.decompress(records)
    elif compression == "zstd":
        records = _decompressed(records)
    elif compression:
        raise ValueError(f"compression {compression!r}")
    if len(records) != size or (checksum and zlib.crc32(records) != checksum):
        raise ValueError("its checksum is another one")
    return records
