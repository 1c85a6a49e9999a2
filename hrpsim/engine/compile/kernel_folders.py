# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Folders of the kernels' machine code: in the user's cache, or in the package.

The machine code of a kernel contains the code of its callees, so a change of any file may affect
the kernel. Folders are therefore named by a hash of all source files of the step's kernels. The
cache is in a folder that the user may write. A read-only folder works as well if another user has
filled it with `hrpsim warm-up`.

Each package above the step (world, analysis, control, ...) has a folder within that folder, named
by a hash of the package's sources. An edit of one of these packages does not affect the kernels of
the step and of other packages.

A wheel may carry kernels for common processors (tools/ship_kernels.py): kernels/TARGET/SOURCES.
Shipped kernels do not depend on the version of numba. They are ignored if the processor or the
sources differ.
"""

import contextlib
import fcntl
import functools
import hashlib
import os
import pickle
import platform
import shutil
import zlib
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import llvmlite

from hrpsim.common.stored_files import (
    NOWHERE,
    VARIABLE,
    cache_home,
    make_folder,
    read_whole,
    remove_abandoned,
    say_once,
    trusted,
    write_whole,
)

PLAIN_COMPILER = os.environ.get("HRPSIM_PLAIN_COMPILER", "0") not in ("", "0")
HASH_LENGTH = 16

_KEPT_CACHES = 6
_SHIPPED = "kernels"
# Folders of the kernels of a step, and files in them without kernels that no kernel names.
_OF_STEP = ("engine", "common/constants.py", "model/system.py", "model/shapes/geometry.py")
_OF_STEP += ("model/sensors/quantities.py", "model/readers/urdf/joint_motions.py")
_NO_KERNELS = {"kernel_folders.py", "compiler_beside.py", "announcement.py"}
_PACKAGE = Path(__file__).parents[2]


def _tools() -> str:
    compiler = "plain" if PLAIN_COMPILER else "quick"
    return f"{_numba_version()} {llvmlite.__version__} {platform.python_version()} {compiler}"


def _numba_version() -> str:
    """Return a key of the installed numba release, without an import of numba."""
    spec = find_spec("numba")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("hrpsim needs numba: pip install numba", name="numba")
    version = Path(spec.origin).with_name("_version.py")
    if version.exists():
        return version.read_text(encoding="utf-8")
    from importlib.metadata import version as version_of

    return version_of("numba")


def _sources(*names: str) -> list[str]:
    """Return the paths of the named source files, and of all sources in the named folders."""
    result = []
    for name in names:
        path = _PACKAGE / name
        if path.suffix:
            result.append(str(path))
        for folder, _, files in os.walk(path):
            result += [os.path.join(folder, file) for file in files if file.endswith(".py")]
    return result


def _hash_of(sources: Iterable[str]) -> str:
    # The size of the head of Python's objects, which machine code contains, differs between builds.
    digest = hashlib.sha256(b"%d" % object.__basicsize__)
    for source in sorted(sources):
        if os.path.basename(source) not in _NO_KERNELS:
            digest.update(source.removeprefix(str(_PACKAGE)).encode())
            with open(source, "rb", buffering=0) as file:
                digest.update(file.read())
    return digest.hexdigest()[:HASH_LENGTH]


def _prepare_cache(home: Path, name: str) -> Path:
    """Return the folder `name` in `home`, created if necessary.

    A name ends with a hash. If several folders differ by the hash alone, the least recently used
    are removed.
    """
    folder = trusted(home / name)
    if folder == NOWHERE:
        return folder
    with contextlib.suppress(OSError):  # read only, or another process tidies up at the same time
        make_folder(folder)
        os.utime(folder)
        remove_abandoned(folder)
        _forget_oldest(home, name[:-HASH_LENGTH])
    return folder


def _forget_oldest(home: Path, prefix: str) -> None:
    """Remove all but the most recently used folders whose name is `prefix` and a hash."""
    siblings = sorted(
        (p for p in home.glob(f"{prefix}{'?' * HASH_LENGTH}") if p.is_dir()),
        key=lambda p: p.stat().st_mtime,
    )
    for stale in siblings[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)


# Of the sources alone, which a build of a package with kernels has as well.
_of_sources = _hash_of(_sources(*_OF_STEP))
cache_directory = _prepare_cache(
    cache_home(), hashlib.sha256(f"{_of_sources} {_tools()}".encode()).hexdigest()[:HASH_LENGTH]
)


@functools.cache
def _name_for(room: str, *more: str) -> str:
    """Return the folder name for a subpackage (`room`) and the sources `more`."""
    name = f"{room.replace('/', '-')}-{_hash_of(_sources(room, *more))}"
    _prepare_cache(cache_directory, name)
    return name


def cache_for(room: str, *more: str) -> Path:
    """Return the cache folder for the kernels of a subpackage (`room`).

    The folder changes if the subpackage's sources or the sources of the step's kernels change.
    """
    return trusted(cache_directory / _name_for(room, *more))


def cache_of(function) -> Path:
    """Return the folder for the compiled code of a function."""
    return trusted(_folder_in(cache_directory, function))


def shipped_with(function, target: str) -> Path:
    """Return the folder of shipped machine code of a function for a target, if any."""
    return _folder_in(shipped_directory(_PACKAGE / _SHIPPED, target), function)


def shipped_directory(home: Path, target: str) -> Path:
    """Return the folder in `home` with machine code for the present sources and a target."""
    return home / target / _of_sources


def _folder_in(folder: Path, function) -> Path:
    package, _, inner = function.__module__.partition(".")
    room = inner.partition(".")[0]
    is_above = package == "hrpsim" and room not in _OF_STEP
    return folder / _name_for(room) if is_above else folder


def shipped_targets() -> tuple[str, ...]:
    """Return the target processors for which the package ships kernels of the present sources."""
    home = _PACKAGE / _SHIPPED
    return tuple(
        path.name for path in home.glob("*") if shipped_directory(home, path.name).is_dir()
    )


@contextlib.contextmanager
def made_by_one(path: Path) -> Iterator[None]:
    """Hold a file lock while a file is made, so that parallel processes compile a kernel once.

    Nothing is locked on systems without file locks.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            lock = stack.enter_context((path.parent / ".making.lock").open("wb"))
            fcntl.lockf(lock, fcntl.LOCK_EX, 1, zlib.crc32(path.name.encode()))
        yield


_is_writable = True


def load_cached(path: Path) -> tuple | None:
    """Return the contents of a file that `keep` wrote, or None if the file is absent or invalid."""
    content = read_whole(path)
    return None if content is None else pickle.loads(content)


def keep(path: Path, kept: tuple) -> None:
    """Store a tuple of bytes and texts in a file, if the folder can be written."""
    global _is_writable
    if not _is_writable or path.is_relative_to(NOWHERE):
        return
    try:
        write_whole(path, pickle.dumps(kept))
    except OSError as error:
        _is_writable = False
        say_once(
            f"compiled kernels cannot be stored in {path.parent} ({error.strerror}): each process "
            f"compiles them again. Set {VARIABLE} to a folder that can be written",
            "unwritable",
        )
