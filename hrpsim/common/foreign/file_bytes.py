# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Open regular files only, and read at most as many bytes as a limit allows."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NoReturn

from hrpsim.common import limits
from hrpsim.common.errors import HrpsimError

_POINTER = b"version https://git-lfs.github.com/spec/"  # first bytes of Git LFS's pointers
_READING = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC  # O_NONBLOCK: the file may be a pipe
_PART = 1 << 20  # bytes that are read at once
_KINDS = {
    stat.S_IFDIR: "Is a directory",
    stat.S_IFIFO: "Is a pipe",
    stat.S_IFCHR: "Is a device",
    stat.S_IFBLK: "Is a device",
    stat.S_IFSOCK: "Is a socket",
}


def refuse_pointer(path: Path, head: bytes | bytearray, error: type[HrpsimError]) -> None:
    """Raise `error` if a file is only a pointer of Git LFS to a file that was not downloaded."""
    if head.startswith(_POINTER):
        raise error(f"{path}: is a Git LFS pointer, not the file itself. Run `git lfs pull`")


@contextlib.contextmanager
def open_file(
    path: Path, error: type[HrpsimError], limit: str | None, what: str = "file"
) -> Iterator[BinaryIO]:
    """Open a regular file whose size is within a limit.

    Pipes, devices, sockets and folders are refused before they are opened. Opening a pipe would
    block, and opening a device can have side effects.

    Args:
        path: name of the file.
        error: class of the error.
        limit: name of the constant in `limits` [bytes]. None: files of any size are opened.
        what: the file's purpose, for the message.

    Raises:
        error: the file is missing, unreadable, not regular, or too large.
    """
    try:
        mode = os.stat(path).st_mode
        handle = os.open(path, _READING) if stat.S_ISREG(mode) else -1
    except (OSError, ValueError) as cause:  # ValueError: a name with a null character
        _unreadable(path, cause, error, what)
    _require_regular(mode, path, error, what)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        _require_regular(status.st_mode, path, error, what)
        if limit is not None and status.st_size > getattr(limits, limit):
            raise too_large(path, limit, error)
        try:
            yield file
        except OSError as cause:
            _unreadable(path, cause, error, what)


def read_bytes(path: Path, error: type[HrpsimError], limit: str, what: str = "file") -> bytes:
    """Return the content of a regular file. Raises `error` as `open_file` does.

    A pointer of Git LFS is refused, too.
    """
    size, data = getattr(limits, limit), bytearray()
    with open_file(path, error, limit, what) as file:
        while part := file.read(_PART):  # a read of `size` bytes would allocate as many
            data += part
            if len(data) > size:  # files of /proc have no size
                raise too_large(path, limit, error)
    refuse_pointer(path, data, error)
    return bytes(data)


def file_digest(path: Path, error: type[HrpsimError], limit: str) -> bytes:
    """Return the SHA-256 of a regular file. Raises `error` as `open_file` does."""
    digest = hashlib.sha256()
    with open_file(path, error, limit) as file:
        while part := file.read(_PART):
            digest.update(part)
    return digest.digest()


def too_large(path: Path, limit: str, error: type[HrpsimError]) -> HrpsimError:
    """Return the error for a file that is larger than a limit of `limits`."""
    return error(f"{path}: {limits.excess(limit, 'bytes')}. Use a smaller file")


def _require_regular(mode: int, path: Path, error: type[HrpsimError], what: str) -> None:
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "Is no file")
        raise error(f"{what} {path}: cannot be read: {kind}. Name a regular file")


def _unreadable(path: Path, cause: Exception, error: type[HrpsimError], what: str) -> NoReturn:
    reason = getattr(cause, "strerror", None) or cause
    raise error(f"{what} {path}: cannot be read: {reason}") from cause
