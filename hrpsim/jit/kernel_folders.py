# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Where machine code of kernels lies: in the user's cache, or in the package it was built into.

A caller has the code of its callees within it, so that a change of any file may concern it. Folders
are therefore named by a hash of every source in the package. The cache lies where the user may
write; a folder that can be read only, filled by `hrpsim warm-up` as another user, serves as well.

Kernels of controllers have a folder of their own within it, named by a hash of the controllers'
sources, so that a change to a controller leaves the kernels of the step as they are.

A wheel may carry kernels for common processors (tools/ship_kernels.py): kernels/TARGET/SOURCES.
They serve with any numba, and where the processor or the sources are others they are not looked at.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import platform
import shutil
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import llvmlite

from hrpsim.jit.kernel_files import VARIABLE, remove_abandoned

PLAIN_COMPILER = os.environ.get("HRPSIM_PLAIN_COMPILER", "0") not in ("", "0")
HASH_LENGTH = 16

_KEPT_CACHES = 6
_SHIPPED = "kernels"
_WITHOUT_KERNELS = {"bag", "bridges", "commands", "control", "crane", "experiments"}
_WITHOUT_KERNELS |= {"geometry", "learning", "ros", "sweeps", "viewer", _SHIPPED}
_NO_KERNELS = {"cli.py", "moved.py", "errors.py", "interrupts.py", "orphans.py"}
_NO_KERNELS |= {"resources.py", "uninterrupted.py", "user_modules.py", "version.py"}
_NO_KERNELS |= {"kernel_files.py", "kernel_folders.py", "compiler_beside.py", "announcement.py"}
_PACKAGE = Path(__file__).parent.parent
_CONTROL = "control"


def _tools() -> str:
    compilers = "plain" if PLAIN_COMPILER else "quick"
    return f"{_numba_version()} {llvmlite.__version__} {platform.python_version()} {compilers}"


def _numba_version() -> str:
    """Return what tells releases of numba apart, without importing it."""
    found = find_spec("numba")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("hrpsim needs numba", name="numba")
    version = Path(found.origin).with_name("_version.py")
    if version.exists():
        return version.read_text(encoding="utf-8")
    from importlib.metadata import version as version_of

    return version_of("numba")


def _sources(folder: Path, without: set[str]) -> Iterator[str]:
    """Yield the paths of all sources below a folder, but for rooms in it."""
    for place, rooms, files in os.walk(folder):
        if place == str(folder):
            rooms[:] = [room for room in rooms if room not in without]
        yield from (os.path.join(place, file) for file in files if file.endswith(".py"))


def _hash_of(sources: Iterable[str]) -> str:
    # How large the head of Python's objects is, which machine code knows: not the same everywhere.
    digest = hashlib.sha256(b"%d" % object.__basicsize__)
    for source in sorted(sources):
        if os.path.basename(source) not in _NO_KERNELS:
            digest.update(source.removeprefix(str(_PACKAGE)).encode())
            with open(source, "rb", buffering=0) as file:
                digest.update(file.read())
    return digest.hexdigest()[:HASH_LENGTH]


def _cache_home() -> Path:
    chosen = os.environ.get(VARIABLE)
    if chosen:
        return Path(chosen).absolute()
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hrpsim"
    except RuntimeError:  # nobody's home: neither HOME nor an entry in the list of users
        return Path("/nonexistent/hrpsim")


def _prepare_cache(home: Path, name: str) -> Path:
    """Return the folder `name` in `home`, made if need be; those used longest ago are removed."""
    folder = home / name
    with contextlib.suppress(OSError):  # read only, or another process tidies up at the same time
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        remove_abandoned(folder)
        _forget_oldest(home)
    return folder


def _forget_oldest(home: Path) -> None:
    siblings = sorted(
        (p for p in home.iterdir() if p.is_dir() and len(p.name) == HASH_LENGTH),
        key=lambda p: p.stat().st_mtime,
    )
    for stale in siblings[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)


# Of the sources alone, which whoever builds kernels into a package has as well.
_of_sources = _hash_of(_sources(_PACKAGE, _WITHOUT_KERNELS))
cache_directory = _prepare_cache(
    _cache_home(), hashlib.sha256(f"{_of_sources} {_tools()}".encode()).hexdigest()[:HASH_LENGTH]
)


@functools.cache
def _of_control() -> str:
    """Return the name of controllers' folders; found only where there are some."""
    name = _hash_of(_sources(_PACKAGE / _CONTROL, set()))
    _prepare_cache(cache_directory, name)
    return name


def cache_of(function) -> Path:
    """Return the folder that keeps what is compiled of a function."""
    return _room(function, cache_directory)


def shipped_with(function, target: str) -> Path:
    """Return where a package has what was compiled of a function for a target, if it has any."""
    return _room(function, shipped_directory(_PACKAGE / _SHIPPED, target))


def shipped_directory(home: Path, target: str) -> Path:
    """Return the folder, of those in `home`, for kernels of these sources and a target."""
    return home / target / _of_sources


def _room(function, folder: Path) -> Path:
    is_controller = function.__module__.split(".")[:2] == ["hrpsim", _CONTROL]
    return folder / _of_control() if is_controller else folder


def shipped_targets() -> tuple[str, ...]:
    """Return the targets that this package has kernels for, with these sources."""
    home = _PACKAGE / _SHIPPED
    return tuple(
        path.name for path in home.glob("*") if shipped_directory(home, path.name).is_dir()
    )
