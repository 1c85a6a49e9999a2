# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels on disk, in files that are whole or not there: the cache that numba is given.

Each file carries its length and a checksum. One that is damaged is removed and its kernel compiled
again: numba would unpickle it, and LLVM aborts on machine code that has lost a bit. Where nothing
can be written, what is there is read, and that is said once.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import struct
import sys
import time
import zlib
from pathlib import Path

VARIABLE = "HRPSIM_CACHE_DIR"
_MAGIC = b"HRPSIM01"
_HEAD = struct.Struct("<8sQI")  # magic, length of the content, its CRC-32
_ABANDONED = 3600.0  # age of a file that a process never finished writing [s]

_said: set[str] = set()


def read_whole(path: Path) -> bytes | None:
    """Return the content of a file, or None where there is none; a damaged file is removed."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    content = data[_HEAD.size :]
    if data[: _HEAD.size] == _head_of(content):
        return content
    with contextlib.suppress(OSError):
        path.unlink()
    _say(f"{path} is damaged: it is removed and made again", str(path))
    return None


def write_whole(path: Path, content: bytes) -> None:
    """Put a file in its place at once: nobody ever sees a part of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(_head_of(content))
            file.write(content)
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


def remove_abandoned(folder: Path) -> None:
    """Remove what processes that were killed have left half written."""
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def _head_of(content: bytes) -> bytes:
    return _HEAD.pack(_MAGIC, len(content), zlib.crc32(content))


def _say(text: str, key: str) -> None:
    if key not in _said:
        _said.add(key)
        print(f"hrpsim: {text}", file=sys.stderr, flush=True)


class KernelFiles:
    """The files of one function: an index of signatures, and each one's machine code.

    It stands for numba's IndexDataCacheFile. The name of a file of machine code is its checksum, so
    that two processes that compile different signatures at once do not write to one file.
    """

    _is_writable = True

    def __init__(self, folder: Path, name: str, dump=pickle.dumps):
        self._folder, self._name, self._dump = folder, name, dump

    def load(self, key):
        """Return what was saved for a signature, or None."""
        file = self._index().get(key)
        content = None if file is None else read_whole(self._folder / file)
        return None if content is None else pickle.loads(content)

    def save(self, key, data) -> None:
        """Keep what was compiled for a signature, if it can be written."""
        if not KernelFiles._is_writable:
            return
        content = self._dump(data)
        file = f"{self._name}.{zlib.crc32(content):08x}{len(content):x}.nbc"
        try:
            write_whole(self._folder / file, content)
            write_whole(self._index_path, self._dump({**self._index(), key: file}))
        except OSError as error:
            KernelFiles._is_writable = False
            _say(
                f"compiled kernels cannot be kept in {self._folder} ({error.strerror}): each "
                f"process compiles them anew; set {VARIABLE} to a folder that can be written",
                "unwritable",
            )

    def flush(self) -> None:
        """Forget all signatures."""
        with contextlib.suppress(OSError):
            self._index_path.unlink()

    @property
    def _index_path(self) -> Path:
        return self._folder / f"{self._name}.nbi"

    def _index(self) -> dict:
        content = read_whole(self._index_path)
        return {} if content is None else pickle.loads(content)
