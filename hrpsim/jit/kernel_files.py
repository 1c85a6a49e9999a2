# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compiled kernels on disk.

A damaged one is compiled again: LLVM aborts on machine code that has lost a bit. Where nothing can
be written, existing files are read, with one warning.
"""

import contextlib
import fcntl
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path

from hrpsim.stored_files import VARIABLE, read_whole, say_once, write_whole


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
        say_once(
            f"compiled kernels cannot be stored in {path.parent} ({error.strerror}): each "
            f"process compiles them again; set {VARIABLE} to a folder that can be written",
            "unwritable",
        )
