# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Records that are needed at the end only, stored in an unnamed file: memory does not grow."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from io import SEEK_END, BytesIO
from pathlib import Path

_LENGTH = struct.Struct("<I")


class SpooledRecords:
    """Replaces a list of BytesIO for appending and iteration.

    The file is in `folder` and disappears with the process.
    """

    def __init__(self, folder: Path):
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
        """Yield the records in order, each positioned at its end for writing."""
        self._file.seek(0)
        for _ in range(self._count):
            (length,) = _LENGTH.unpack(self._file.read(_LENGTH.size))
            record = BytesIO(self._file.read(length))
            record.seek(0, SEEK_END)
            yield record
        self._file.seek(0, SEEK_END)
