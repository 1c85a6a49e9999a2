# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The journal of a sweep: one line for each finished run, appended as soon as the run ends.

Each line has a checksum. The next start cuts off a line left half written by a killed process.
Every whole line is a finished run. The arrays of the store are written from the journal.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from hrpsim.common.errors import shown_value
from hrpsim.sweeps.cells import DONE, FAILED, Result
from hrpsim.sweeps.framework.scenario import SweepError


class Journal:
    """The journal file, locked by the process that opened it. The first line is a header."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise SweepError(f"cannot write {path}: {error.strerror}") from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            why = "another process is running this sweep"
            if not isinstance(error, BlockingIOError):
                why = f"cannot be locked here ({error.strerror}), and two drivers would corrupt it"
            raise SweepError(f"{path}: {why}") from error
        self._end = 0

    def read(self) -> tuple[dict[str, Any] | None, list[Result]]:
        """Return the header and all results, and cut off an incomplete last line.

        The header of a new file is None.
        """
        header, results, self._end = read_journal(self.path)
        os.ftruncate(self._file, self._end)
        return header, results

    def append(self, entries: list[dict[str, Any]]) -> None:
        """Append all entries or none. Raises SweepError if the disk is full."""
        data = b"".join(_line(entry) for entry in entries)
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            os.ftruncate(self._file, self._end)
            raise SweepError(
                f"cannot write {self.path}: {error.strerror}. The finished cells are stored. Free "
                "some space, and start the sweep again to continue"
            ) from error
        self._end += len(data)

    def sync(self) -> None:
        """Flush the file to the disk, against a loss of power."""
        os.fsync(self._file)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def read_journal(path: Path) -> tuple[dict[str, Any] | None, list[Result], int]:
    """Read a journal, to which another process may be writing.

    Returns:
        (header, all results, end of the last whole line [bytes]).
    """
    header, results, end = None, [], 0
    with open(path, "rb") as file:
        if not _may_be_journal(file.readline()):
            raise SweepError(
                f"{path} is not the journal of a sweep. Name another store, or move this file"
            )
        file.seek(0)
        for line in file:
            entry = _entry(line)
            if entry is None and _was_whole(line):
                raise SweepError(
                    f"{path} is damaged: the checksum of the line at byte {end} does not match. "
                    "Restore the file, or remove the file and run its cells again"
                )
            if entry is None:
                break
            if header is None:
                header = entry
            else:
                results.append(_result(path, entry))
            end += len(line)
    return header, results, end


def _result(path: Path, entry: Any) -> Result:
    with suppress(TypeError):
        result = Result(**entry)
        kinds = zip(result, (int, int, dict, str), strict=False)
        is_finished = result.number >= 0 and result.status in (DONE, FAILED)
        if is_finished and all(isinstance(value, kind) for value, kind in kinds):
            return result
    raise SweepError(f"{path}: {shown_value(entry)} is not a result of a cell")


def kept(result: Result) -> dict[str, Any]:
    """Return the part of a result that is stored: everything except the wall time."""
    entry = result._asdict()
    del entry["seconds"]
    return entry


def _line(entry: dict[str, Any]) -> bytes:
    text = json.dumps(entry).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _may_be_journal(first: bytes) -> bool:
    """Return whether a first line is a complete header, or may be the beginning of a header."""
    if first[-1:] == b"\n":
        return _entry(first) is not None
    return not first[:8].strip(b"0123456789abcdef") and first[8:10] in (b"", b" ", b" {")


def _was_whole(line: bytes) -> bool:
    """Return whether a line without a valid checksum was once complete, and is now damaged."""
    return line[-1:] == b"\n" or _entry(line[:-1] + b"\n") is not None


def _entry(line: bytes) -> dict[str, Any] | None:
    """Return the content of a line, or None if the line is incomplete."""
    try:
        if line[-1:] != b"\n" or line[:9] != b"%08x " % zlib.crc32(line[9:-1]):
            return None
        return json.loads(line[9:])
    except ValueError:
        return None
