# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Read text files of a size that is bounded before anything is read."""

from pathlib import Path

from hrpsim.common.errors import HrpsimError

_POINTER = b"version https://git-lfs.github.com/spec/"  # how Git LFS's pointers begin


def refuse_pointer(path: Path, head: bytes, error: type[HrpsimError]) -> None:
    """Raise `error` for a file that begins as what Git LFS has in place of one."""
    if head.startswith(_POINTER):
        raise error(f"{path}: is a pointer of Git LFS, not the file itself: git lfs pull gets it")


def read_text(
    path: Path, error: type[HrpsimError], size: int, limit: str, what: str = "file"
) -> str:
    """Return the UTF-8 text of a file of at most `size` bytes; `limit` names the bound.

    Raises `error` for a file that cannot be read, is larger, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            data = file.read(size + 1)
    except (OSError, ValueError) as cause:  # ValueError: a name with a null character
        raise error(f"{what} {path}: {getattr(cause, 'strerror', None) or cause}") from cause
    refuse_pointer(path, data, error)
    if len(data) > size:
        raise error(f"{path}: over {size} bytes, the limit of such files ({limit})")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise error(
            f"{path}:{line}: not UTF-8: byte 0x{data[cause.start]:02x} at offset {cause.start}"
        ) from cause
