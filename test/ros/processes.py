# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Which processes there are, as Linux tells it in /proc, and waiting for what they do."""

import time
from contextlib import suppress
from pathlib import Path


def until(condition, limit=300.0, pause=0.02):
    """Return what `condition()` gives: as soon as that is true, or at the limit; times in [s]."""
    end = time.monotonic() + limit
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(pause)
    return found


def descendants(pid):
    """Return the process ids of all that the threads of a process have started, and they have."""
    children = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ends before it is read
            children += thread.read_text().split()
    return [one for child in map(int, children) for one in (child, *descendants(child))]


def is_alive(pid):
    """Return whether a process runs: one that has ended and is not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def have_ended(pids):
    """Return whether all of some processes end within the limit."""
    return until(lambda: not any(map(is_alive, pids)))


def command_line(pid):
    """Return what a process was started with, nothing once it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
