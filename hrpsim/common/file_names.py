# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Questions about file names that a file or a user gives, and a gate for writing.

`Path.exists` and its kin raise OSError for a name that is too long, and ValueError for a null
character. These functions answer for any name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from hrpsim.common.errors import HrpsimError


def is_file(path: str | os.PathLike) -> bool:
    """Return whether a regular file has a name. False for a name that no file can have."""
    return os.path.isfile(path)


def is_folder(path: str | os.PathLike) -> bool:
    """Return whether a folder has a name. False for a name that no folder can have."""
    return os.path.isdir(path)


def exists(path: str | os.PathLike) -> bool:
    """Return whether anything has a name. False for a name that nothing can have."""
    return os.path.exists(path)


def resolved(path: Path) -> Path:
    """Return a path without links, or the absolute path if links form a circle."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # a name that no file can have
        return path.absolute()


@contextlib.contextmanager
def writing(path: Path, error: type[HrpsimError]) -> Iterator[None]:
    """Raise `error`, which names the file, if a file cannot be written."""
    try:
        yield
    except HrpsimError:
        raise
    except (OSError, ValueError) as cause:  # ValueError: a name that no file can have
        reason = getattr(cause, "strerror", None) or cause
        raise error(f"{path}: cannot be written: {reason}") from cause
