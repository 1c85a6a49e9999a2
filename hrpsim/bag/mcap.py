# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read the intact records of an MCAP file, without the index at the end. Needs no ROS."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import BinaryIO

from hrpsim.bag.bag_contents import BagTopic, Stored, Unpacking
from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError
from hrpsim.common.foreign.file_bytes import open_file

_MAGIC = b"\x89MCAP0\r\n"
_NOT_CLOSED = "the recording was not closed"
_HEADER = 0x01  # the kind of the first record
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK = 0x03, 0x04, 0x05, 0x06  # of the MCAP format's records
_FOOTER, _DATA_END = 0x02, 0x0F
_READ = (_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK)
_HEAD = struct.Struct("<BQ")  # of a record: kind, length
_MESSAGE_HEAD = struct.Struct("<HIQQ")  # channel, number, time of reception, time of publication
_FOOTER_HEAD = struct.Struct("<QQI")  # begin of the summary, of its offsets, checksum
_CHUNK_HEAD = struct.Struct("<QQQI")  # first and last time, size unpacked, checksum
_LEAST = {_CHUNK: _CHUNK_HEAD.size, _DATA_END: 4, _FOOTER: _FOOTER_HEAD.size}  # bytes of content


class McapFile:
    """The messages of an MCAP file. `damage` describes the unreadable part of the last read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damage = ""
        self._schemas: dict[int, tuple[str, str | None]] = {}  # type, definition
        self._channels: dict[int, BagTopic] = {}

    def is_begun(self) -> bool:
        """Return whether the file begins like an MCAP file."""
        with open_file(self.path, HrpsimError, None) as file:
            magic, kind = file.read(len(_MAGIC)), file.read(1)
        return _MAGIC.startswith(magic) and kind in (b"", bytes([_HEADER]))

    def problems(self) -> list[str]:
        """Return texts about wrong checksums of all data and of the summary."""
        return list(self._check()[0])

    def unchecked(self) -> str:
        """Return a description of the parts without a checksum, or ""."""
        return self._check()[1]

    def _check(self) -> tuple[list[str], str]:
        """Check the checksums outside of chunks. A checksum of 0 means that there is none.

        Returns:
            (texts about wrong checksums; text about the parts without a checksum, or "").
        """
        problems: list[str] = []
        bare, covered = 0, 0
        running = zlib.crc32(_MAGIC)  # of the present part of the file
        for kind, head, content in self._records():
            if kind == _DATA_END:
                (covered,) = struct.unpack_from("<I", content)
                if covered not in (0, running):
                    problems.append("the checksum of its data does not match")
                running = 0
                continue
            if kind == _FOOTER:
                checksum = _FOOTER_HEAD.unpack(content)[2]
                if checksum not in (0, zlib.crc32(head + content[:-4], running)):
                    problems.append("the checksum of its summary does not match")
                break
            bare += kind == _MESSAGE or (kind == _CHUNK and not _CHUNK_HEAD.unpack_from(content)[3])
            running = zlib.crc32(content, zlib.crc32(head, running))
        is_bare = bare and not covered
        return problems, f"{bare} chunks or messages have no checksum" if is_bare else ""

    def _records(self) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield kind, head and content of the records, up to the first incomplete record."""
        size = self.path.stat().st_size
        with open_file(self.path, HrpsimError, None) as file:
            file.seek(len(_MAGIC))
            while len(head := file.read(_HEAD.size)) == _HEAD.size:
                kind, length = _HEAD.unpack(head)
                if not _LEAST.get(kind, 0) <= length <= min(size - file.tell(), limits.BAG_CHUNK):
                    return
                yield kind, head, file.read(length)

    def channels(self) -> dict[int, BagTopic]:
        """Return the channels that `messages` has found so far."""
        return self._channels

    def messages(self, wanted: Collection[int] | None) -> Iterator[Stored]:
        """Yield the messages of some channels, or of all, in the file's order."""
        self.damage = _NOT_CLOSED
        size = self.path.stat().st_size
        unpacking = Unpacking(size)
        with open_file(self.path, HrpsimError, None) as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                self.damage = "it does not begin like an MCAP file"
                return
            while (offset := file.tell()) < size:
                head = file.read(_HEAD.size)
                if head == _MAGIC:
                    if self.damage == _NOT_CLOSED:
                        self.damage = ""
                    return
                if (length := self._length(head, offset, size)) is None:
                    if head[0] == _CHUNK and len(head) == _HEAD.size:
                        yield from self._read_cut_chunk(file.read(limits.BAG_CHUNK), wanted)
                    return
                if head[0] not in _READ:
                    file.seek(length, 1)
                    continue
                try:
                    yield from self._read_record(file, head[0], length, wanted, unpacking)
                except (ValueError, KeyError, IndexError, struct.error) as error:
                    self.damage = f"the record at byte {offset} is damaged ({error})"

    def _length(self, head: bytes, offset: int, size: int) -> int | None:
        if len(head) == _HEAD.size:
            length = _HEAD.unpack(head)[1]
            if length <= size - offset - _HEAD.size:
                return length
        self.damage = f"its last {size - offset} bytes are not a complete record"
        return None

    def _read_record(
        self, file: BinaryIO, kind: int, length: int, wanted, unpacking: Unpacking
    ) -> Iterator[Stored]:
        if length > limits.BAG_CHUNK:
            file.seek(length, 1)
            raise ValueError(limits.excess("BAG_CHUNK", "bytes"))
        content = file.read(length)
        if kind != _CHUNK:
            yield from self._read(kind, content, wanted)
            return
        yield from self._read_records(_unpacked(content, unpacking), wanted)

    def _read_cut_chunk(self, content: bytes, wanted) -> Iterator[Stored]:
        """Yield the messages of the last chunk of a cut file, if the chunk is not compressed."""
        try:
            compression, offset = _text(content, _CHUNK_HEAD.size)
            if not compression:
                yield from self._read_records(content[offset + 8 :], wanted)
        except (ValueError, KeyError, IndexError, struct.error):
            self.damage = "its last chunk is incomplete"

    def _read_records(self, records: bytes, wanted) -> Iterator[Stored]:
        """Yield the messages of a chunk. ValueError at the first incomplete record."""
        offset = 0
        while offset < len(records):
            kind, length = _HEAD.unpack_from(records, offset)
            offset += _HEAD.size
            if length > len(records) - offset:
                raise ValueError("an inner record is incomplete")
            if kind in (_SCHEMA, _CHANNEL, _MESSAGE):  # a chunk within a chunk is invalid
                yield from self._read(kind, records[offset : offset + length], wanted)
            offset += length

    def _read(self, kind: int, content: bytes, wanted) -> Iterator[Stored]:
        if kind == _MESSAGE:
            channel, _, time, _ = _MESSAGE_HEAD.unpack_from(content)
            if channel not in self._channels:
                raise ValueError(f"a message belongs to channel {channel}, which is not declared")
            if wanted is None or channel in wanted:
                yield Stored(channel, time, content[_MESSAGE_HEAD.size :])
        elif kind == _SCHEMA:
            (number,) = struct.unpack_from("<H", content)
            name, offset = _text(content, 2)
            encoding, offset = _text(content, offset)
            text, _ = _text(content, offset)
            self._schemas[number] = name, text if encoding == "ros2msg" else None
        else:
            number, schema = struct.unpack_from("<HH", content)
            topic, offset = _text(content, 4)
            encoding, _ = _text(content, offset)
            if number not in self._channels:
                self._channels[number] = BagTopic(topic, *self._schemas[schema], encoding)


def _text(content: bytes, offset: int) -> tuple[str, int]:
    """Return the string at an offset of a record, and the offset after the string."""
    (size,) = struct.unpack_from("<I", content, offset)
    end = offset + 4 + size
    if end > len(content):
        raise ValueError("a string is incomplete")
    return content[offset + 4 : end].decode(), end


def _unpacked(content: bytes, unpacking: Unpacking) -> bytes:
    """Return the records of a chunk. Raises ValueError if the checksum fails."""
    _, _, size, checksum = _CHUNK_HEAD.unpack_from(content)
    compression, offset = _text(content, _CHUNK_HEAD.size)
    records = content[offset + 8 :]
    if compression:
        records = unpacking.unpack(records, compression, size)
    if len(records) != size or (checksum and zlib.crc32(records) != checksum):
        raise ValueError("the checksum of a chunk does not match")
    return records
