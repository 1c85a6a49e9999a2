# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Tests of file names from files or users, and errors of writing.

`Path.exists` and similar methods raise OSError for a name that is too long, and ValueError for a
null character. These functions accept any name.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from hrpsim.common.errors import HrpsimError


def is_file(path: str | os.PathLike) -> bool:
    """Return whether a path is a regular file. An impossible name gives False."""
    return os.path.isfile(path)


def is_folder(path: str | os.PathLike) -> bool:
    """Return whether a path is a folder. An impossible name gives False."""
    return os.path.isdir(path)


def exists(path: str | os.PathLike) -> bool:
    """Return whether a path exists. An impossible name gives False."""
    return os.path.exists(path)


def resolved(path: Path) -> Path:
    """Return a path without symbolic links, or the absolute path if links form a cycle."""
    try:
        return Path(os.path.realpath(path))
    except ValueError:  # impossible file name
        return path.absolute()


@contextlib.contextmanager
def writing(path: Path, error: type[HrpsimError]) -> Iterator[None]:
    """Convert an OSError within the block to `error`, which names the file."""
    try:
        yield
    except HrpsimError:
        raise
    except (OSError, ValueError) as cause:  # ValueError: impossible file name
        reason = getattr(cause, "strerror", None) or cause
        raise error(f"{path}: cannot be written: {reason}") from cause
