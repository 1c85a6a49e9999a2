# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Files that are stored for later processes, complete or absent.

Each file of `write_whole` carries length and checksum. A damaged file is removed.

Stored files are run as code. A folder is therefore used only if nobody else can write there, as
OpenSSH requires for keys. This user or root must own the folder, others must not have write
permission, and no parent folder may be open to all (unless sticky, as /tmp is). Otherwise nothing
is read or stored, and a line on stderr gives the reason.
"""

import contextlib
import grp
import os
import pwd
import stat
import struct
import sys
import time
import zlib
from pathlib import Path

VARIABLE = "HRPSIM_CACHE_DIR"
_MAGIC = b"HRPSIM01"
_HEAD = struct.Struct("<8sQI")  # magic, length of the content, its CRC-32
_ABANDONED = 3600.0  # age of an incomplete file of an ended process [s]

# A folder in which no file can exist, instead of an invalid folder.
NOWHERE = Path("/dev/null/hrpsim")

_said: set[str] = set()
_judged: dict[Path, str] = {}


def cache_home() -> Path:
    """Return the folder for all stored files, or NOWHERE if others may write there."""
    return trusted(_chosen_home())


def trusted(folder: Path) -> Path:
    """Return a folder, or NOWHERE, with a line on stderr, if others may write there."""
    if folder.is_relative_to(NOWHERE):
        return NOWHERE
    if folder not in _judged:
        _judged[folder] = why_not(folder)
    if not _judged[folder]:
        return folder
    say_once(
        f"the cache {folder} is not used, because {_judged[folder]}. Each process compiles the "
        f"kernels again. Change the rights, or set {VARIABLE} to your own folder",
        f"untrusted {folder}",
    )
    return NOWHERE


def why_not(folder: Path) -> str:
    """Return why others may change the contents of a folder or a parent folder, or ""."""
    real = Path(os.path.realpath(folder))
    for path in (real, *real.parents):
        try:
            status = path.stat()
        except OSError:
            continue  # the file does not exist yet
        if path == real and status.st_uid not in (0, os.geteuid()):
            return f"user {status.st_uid} owns it, not you"
        if path == real and _others_write(status):
            return f"others may write there (chmod go-w {path})"
        if status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
            return f"all may write to {path} (chmod o-w {path})"
    return ""


def _others_write(found: os.stat_result) -> bool:
    """Return whether anyone except the owner may write. The user's private group does not count."""
    if found.st_mode & stat.S_IWOTH:
        return True
    return bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)


def _is_own_group(gid: int) -> bool:
    """Return whether a group has the name of this user and no other members."""
    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(gid)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


def _chosen_home() -> Path:
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrpsim"
    except RuntimeError:  # the user has neither HOME nor an entry in the list of users
        return Path("/nonexistent/hrpsim")


def read_whole(path: Path) -> bytes | None:
    """Return the content of a file, or None without a file. A damaged file is removed."""
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


def read_used(path: Path) -> bytes | None:
    """Return the content of a file as `read_whole` does, and mark the file as used now."""
    content = read_whole(path)
    if content is not None:
        with contextlib.suppress(OSError):
            os.utime(path)
    return content


def make_folder(folder: Path) -> None:
    """Make a folder and its parents, without write permission for others. Raises OSError."""
    for path in (*reversed(folder.parents), folder):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o755)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file with length and checksum, as `write_at_once` does."""
    write_at_once(path, _head_of(content), content)


def write_at_once(path: Path, *parts: bytes) -> None:
    """Write a file atomically: no process ever reads an incomplete file. Raises OSError."""
    make_folder(path.parent)
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


def keep_among(path: Path, content: bytes, kept: int) -> None:
    """Write a file as `write_whole` does, if possible.

    Of the files in the folder with the same suffixes, only the `kept` last used files remain.
    """
    with contextlib.suppress(OSError):
        write_whole(path, content)
        alike = path.parent.glob(f"*{''.join(path.suffixes)}")
        for old in sorted(alike, key=lambda path: path.stat().st_mtime)[:-kept]:
            old.unlink(missing_ok=True)


def remove_beyond(folder: Path, pattern: str, most: int) -> None:
    """Remove the least recently used files of a pattern, until at most `most` bytes are left.

    Raises OSError.
    """
    used = [(path.stat(), path) for path in folder.glob(pattern)]
    total = 0
    for status, path in sorted(used, key=lambda entry: entry[0].st_mtime, reverse=True):
        total += status.st_size
        if total > most:
            path.unlink(missing_ok=True)


def _head_of(content: bytes) -> bytes:
    return _HEAD.pack(_MAGIC, len(content), zlib.crc32(content))


def say_once(text: str, key: str) -> None:
    """Print a line to stderr, unless this process has printed a line with this key."""
    if key not in _said:
        _said.add(key)
        print(f"hrpsim: {text}", file=sys.stderr, flush=True)
