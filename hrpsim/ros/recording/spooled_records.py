# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records that are needed at the end only, kept in a file without a name: memory stays as it is."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from io import SEEK_END, BytesIO
from pathlib import Path

_LENGTH = struct.Struct("<I")


class SpooledRecords:
    """Takes the place of a list of BytesIO that is appended to and iterated over.

    The file lies in `folder` and goes with the process.
    """

    def __init__(self, folder: Path):
        self._file = tempfile.TemporaryFile(dir=folder)
        self._count = 0

    def append(self, record: BytesIO) -> None:
        """Keep a copy of a record."""
        content = record.getvalue()
        self._file.write(_LENGTH.pack(len(content)) + content)
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[BytesIO]:
        """Yield the records in their order, each to be written to at its end."""
        self._file.seek(0)
        for _ in range(self._count):
            (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
            record = BytesIO(self._file.read(length))
            record.seek(0, SEEK_END)
            yield record
        self._file.seek(0, SEEK_END)
