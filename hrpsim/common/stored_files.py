# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Files that are stored for later processes, complete or absent.

Each file of `write_whole` carries its length and a checksum; one that is damaged is removed.
"""

import contextlib
import os
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
    say_once(f"{path} is damaged: it is removed and made again", str(path))
    return None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file with its length and checksum, as `write_at_once` does."""
    write_at_once(path, _head_of(content), content)


def write_at_once(path: Path, *parts: bytes) -> None:
    """Write a file atomically: no process ever reads a part of it. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.writelines(parts)
        unfinished.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            unfinished.unlink()
        raise


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


def remove_beyond(folder: Path, pattern: str, most: int) -> None:
    """Remove files of a pattern, those unused for longest, beyond `most` bytes. Raises OSError."""
    used = [(path.stat(), path) for path in folder.glob(pattern)]
    total = 0
    for status, path in sorted(used, key=lambda one: one[0].st_mtime, reverse=True):
        total += status.st_size
        if total > most:
            path.unlink(missing_ok=True)


def _head_of(content: bytes) -> bytes:
    return _HEAD.pack(_MAGIC, len(content), zlib.crc32(content))


def say_once(text: str, key: str) -> None:
    """Print a line to stderr, unless this process has printed one with this key."""
    if key not in _said:
        _said.add(key)
        print(f"hrpsim: {text}", file=sys.stderr, flush=True)
