# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels on disk, in files that are complete or absent.

Each file carries its length and a checksum. One that is damaged is removed and its kernel compiled
again: LLVM aborts on machine code that has lost a bit. Where nothing can be written, existing
files are read, with one warning.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import pickle
import struct
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path

VARIABLE = "HRPSIM_CACHE_DIR"
_MAGIC = b"HRPSIM01"
_HEAD = struct.Struct("<8sQI")  # magic, length of the content, its CRC-32
_ABANDONED = 3600.0  # age of a file that a process never finished writing [s]

_said: set[str] = set()


def cache_home() -> Path:
    """Return the folder for all that is stored for later processes."""
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrpsim"
    except RuntimeError:  # nobody's home: neither HOME nor an entry in the list of users
        return Path("/nonexistent/hrpsim")


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
    """Write a file with its length and checksum, as `write_at_once` does."""
    write_at_once(path, _head_of(content) + content)


def write_at_once(path: Path, data: bytes) -> None:
    """Write a file atomically: no process ever reads a part of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


@contextlib.contextmanager
def made_by_one(path: Path) -> Iterator[None]:
    """Wait while another process makes a file; no waiting where locks are not possible.

    Processes that start together would compile every kernel as often as there are processes.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context((path.parent / ".making.lock").open("wb"))
            fcntl.lockf(lock, fcntl.LOCK_EX, 1, zlib.crc32(path.name.encode()))
        yield


def remove_abandoned(folder: Path) -> None:
    """Remove incomplete files of processes that were killed."""
    for path in folder.glob(".*.tmp"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()


def remove_oldest(folder: Path, pattern: str, kept: int) -> None:
    """Remove all files of a pattern but the `kept` last used. Raises OSError."""
    files = sorted(folder.glob(pattern), key=lambda path: path.stat().st_mtime)
    for path in files[:-kept]:
        path.unlink(missing_ok=True)


def _head_of(content: bytes) -> bytes:
    return _HEAD.pack(_MAGIC, len(content), zlib.crc32(content))


def _say(text: str, key: str) -> None:
    if key not in _said:
        _said.add(key)
        print(f"hrpsim: {text}", file=sys.stderr, flush=True)


_is_writable = True


def load_cached(path: Path) -> tuple | None:
    """Return what `keep` put into a file, or None where there is none."""
    content = read_whole(path)
    return None if content is None else pickle.loads(content)


def keep(path: Path, kept: tuple) -> None:
    """Store a tuple of bytes and texts, if it can be written."""
    global _is_writable
    if not _is_writable:
        return
    try:
        write_whole(path, pickle.dumps(kept))
    except OSError as error:
        _is_writable = False
        _say(
            f"compiled kernels cannot be stored in {path.parent} ({error.strerror}): each "
            f"process compiles them again; set {VARIABLE} to a folder that can be written",
            "unwritable",
        )
