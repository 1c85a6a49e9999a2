# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Marks of tests: which go to one worker of pytest-xdist, and which packages they need."""

import ctypes
import functools
import importlib.util
from collections.abc import Iterable
from fnmatch import fnmatchcase

import pytest

# Of Linux: <sched.h>, <sys/mount.h>
_CLONE_NEWNS, _MS_REC, _MS_PRIVATE = 0x20000, 0x4000, 0x40000


def one_worker_each(parameters: Iterable) -> list:
    """Return the parameters of an expensive fixture: all tests of one go to one worker."""
    return [
        pytest.param(parameter, marks=pytest.mark.xdist_group(f"of {parameter}"))
        for parameter in parameters
    ]


def one_compiles(kernels: str) -> pytest.MarkDecorator:
    """Return the mark of tests with large kernels of their own: one worker compiles and runs them.

    Other workers would wait until the kernels are there.
    """
    return pytest.mark.xdist_group(f"kernels of {kernels}")


def left_out(cases: Iterable[str], patterns: Iterable[str]) -> list[str]:
    """Return the cases, by their ids, that no pattern of `quick_cases` matches.

    Where the patterns match none, no case is left out: a law does not go unguarded by a misprint.
    """
    cases = list(cases)
    others = [case for case in cases if not any(fnmatchcase(case, name) for name in patterns)]
    return others if len(others) < len(cases) else []


def needs(*packages: str) -> pytest.MarkDecorator:
    """Return the mark that skips tests where a package is missing.

    Unlike `pytest.importorskip` it imports none: each worker of pytest-xdist imports all files.
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {', '.join(missing)}")


def ros_group(name: str) -> pytest.MarkDecorator:
    """Return the mark of tests whose processes talk over ROS 2.

    Whatever its domain, a participant's ports in shared memory are the first that are free on the
    machine: those of processes that are killed would be taken over by another worker's. Where each
    worker has a /dev/shm of its own, a group is one of `name`; else one worker runs them all.
    FASTDDS_BUILTIN_TRANSPORTS does not help: on one machine rmw_fastrtps chooses both transports.
    """
    return pytest.mark.xdist_group(f"ros {name}" if own_shared_memory() else "ros")


@functools.cache
def own_shared_memory() -> bool:
    """Give this process and its children an empty /dev/shm; return whether that is permitted.

    It needs CAP_SYS_ADMIN. A user namespace would give it to everyone, but a worker of
    pytest-xdist has threads, and the kernel refuses it to a process that has (unshare(2)).
    """
    try:
        libc = ctypes.CDLL(None)
        return (
            libc.unshare(_CLONE_NEWNS) == 0
            and libc.mount(None, b"/", None, _MS_REC | _MS_PRIVATE, None) == 0
            and libc.mount(b"none", b"/dev/shm", b"tmpfs", 0, None) == 0
        )
    except AttributeError:  # not Linux
        return False
