# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels: functions that are compiled when they are first needed, and where that is kept.

A kernel knows how it is to be compiled; numba is imported when that has to be done. What was
compiled is kept on disk as machine code (hrpsim.jit.machine_code) and loaded without numba, whose
import takes longer than all the rest of a start.

A caller has the code of its callees within it, so that a change of any file may concern it. The
cache folder is therefore named by a hash of every source in the package, and lies where the user
may write. A folder that can be read only, filled by `hrpsim warm-up` as another user, serves as
well.

Kernels of controllers have a folder of their own within it, named by a hash of the controllers'
sources as well, so that a change to a controller leaves the kernels of the step as they are.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import inspect
import os
import platform
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite

from hrpsim.jit.kernel_files import VARIABLE, keep, load_kept, remove_abandoned
from hrpsim.jit.kinds import kind_of, text_of

PLAIN_COMPILER = os.environ.get("HRPSIM_PLAIN_COMPILER", "0") not in ("", "0")

_KEPT_CACHES = 6
_HASH_LENGTH = 16
_WITHOUT_KERNELS = {"bag", "bridges", "commands", "control", "crane", "experiments"}
_WITHOUT_KERNELS |= {"geometry", "learning", "ros", "sweeps", "viewer"}
_NO_KERNELS = {"cli.py", "moved.py", "errors.py", "interrupts.py", "orphans.py"}
_NO_KERNELS |= {"resources.py", "user_modules.py"}
_NO_KERNELS |= {"kernel_files.py", "compiler_beside.py"}
_PACKAGE = Path(__file__).parent.parent
_CONTROL = "control"


def _source_hash() -> str:
    compilers = "plain" if PLAIN_COMPILER else "quick"
    tools = _numba_version(), llvmlite.__version__, platform.python_version(), compilers
    return _hash_of(" ".join(tools), _sources(_PACKAGE, _WITHOUT_KERNELS))


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


def _hash_of(seed: str, sources: Iterable[str]) -> str:
    digest = hashlib.sha256(seed.encode())
    for source in sorted(sources):
        if os.path.basename(source) not in _NO_KERNELS:
            digest.update(source.removeprefix(str(_PACKAGE)).encode())
            with open(source, "rb", buffering=0) as file:
                digest.update(file.read())
    return digest.hexdigest()[:_HASH_LENGTH]


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
        (p for p in home.iterdir() if p.is_dir() and len(p.name) == _HASH_LENGTH),
        key=lambda p: p.stat().st_mtime,
    )
    for stale in siblings[:-_KEPT_CACHES]:
        shutil.rmtree(stale, ignore_errors=True)


cache_directory = _prepare_cache(_cache_home(), _source_hash())


@functools.cache
def _control_directory() -> Path:
    """Return where the kernels of controllers are kept; found only where there are some."""
    name = _hash_of(cache_directory.name, _sources(_PACKAGE / _CONTROL, set()))
    return _prepare_cache(cache_directory, name)


def cache_of(function) -> Path:
    """Return the folder that keeps what is compiled of a function."""
    room = function.__module__.split(".")[:2]
    return _control_directory() if room == ["hrpsim", _CONTROL] else cache_directory


_one_at_a_time = threading.RLock()


class Kernel:
    """A function that is compiled for the kinds of arguments that it is called with.

    inner: only other kernels call it, whose part it becomes; inline: without a call even.
    called: Python calls it, and not only other kernels by its address.
    """

    def __init__(self, function, *, inner: bool = False, inline: bool = False, called: bool = True):
        self.py_func, self.inner, self.inline, self.called = function, inner, inline, called
        self.codes: dict[tuple, Any] = {}  # by kinds of arguments
        self.compiled = 0  # how often it was in this process
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__

    def __call__(self, *arguments, **named):
        """Call the machine code for such arguments."""
        code = self.py_func.__code__
        if named or len(arguments) != code.co_argcount:
            bound = inspect.signature(self.py_func).bind(*arguments, **named)
            bound.apply_defaults()
            arguments = bound.args
        return self.code(arguments).call(*arguments)

    def code(self, arguments: tuple) -> Any:
        """Return the machine code for such arguments: its `address`, and `call` for Python."""
        kinds = tuple(map(kind_of, arguments))
        found = self.codes.get(kinds)
        return self._make(kinds, arguments) if found is None else found

    def _make(self, kinds: tuple, arguments: tuple) -> Any:
        with _one_at_a_time:
            if kinds not in self.codes:
                self.codes[kinds] = self._load(kinds) or self._compile(kinds, arguments)
        return self.codes[kinds]

    def _load(self, kinds: tuple):
        """Return what an earlier process has compiled, or None."""
        if PLAIN_COMPILER:
            return None
        from hrpsim.jit.machine_code import MachineCode, load

        kept = load_kept(self._path(kinds))
        return None if kept is None else load(MachineCode(*kept), self.__name__)

    def _compile(self, kinds: tuple, arguments: tuple):
        from hrpsim.jit.machine_code import MachineCode, load
        from hrpsim.jit.numba_compiler import compile_kernel

        self.compiled += 1
        made = compile_kernel(self, arguments)
        if not isinstance(made, MachineCode):
            return made
        keep(self._path(kinds), tuple(made))
        return load(made, self.__name__)

    def _path(self, kinds: tuple) -> Path:
        """Return where the machine code for these kinds is kept."""
        from hrpsim.jit.machine_code import target

        digest = hashlib.sha256(f"{target()} {text_of(kinds)}".encode()).hexdigest()
        name = f"{file_name(self.py_func)}.{digest[:_HASH_LENGTH]}.nbc"
        return cache_of(self.py_func) / name


def file_name(function) -> str:
    """Return how the names of a function's files begin."""
    return f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"


def is_cached(kernel: Kernel) -> bool:
    """Return whether an earlier process left a kernel's machine code."""
    function = kernel.py_func
    folder, name = cache_of(function), file_name(function)
    of_numba = f"{name.removeprefix(function.__module__.rpartition('.')[0]).lstrip('.')}.*.nbi"
    return any(folder.glob(f"{name}.*.nbc")) or any(folder.glob(f"*/{of_numba}"))


def entry_point(kernel: Kernel, *arguments):
    """Return a kernel's machine code for arguments of the kinds of these, compiled if need be.

    What is returned does not look at what it is called with: it takes any array as if it were of
    the kind it was compiled for.
    """
    return kernel.code(arguments).call


def prepared(kernel: Kernel) -> Callable:
    """Return how to call a kernel whose arguments are always of the kinds that they are at first.

    For callers that see to that themselves: looking takes longer than a short kernel.
    """
    run: Callable | None = None

    def call(*arguments):
        nonlocal run
        if run is None:
            run = entry_point(kernel, *arguments)
        return run(*arguments)

    return call


def address_of(kernel: Kernel, *arguments) -> int:
    """Return the address of a kernel's machine code for arguments of the kinds of these."""
    return kernel.code(arguments).address


def kernel(function) -> Kernel:
    """Compile `function` with numba: no Python objects, no GIL, cached on disk, deterministic.

    Additions and multiplications may be fused; nothing else may be reordered, so that the same
    input gives the same bits. Array arguments are not reference counted (an atomic count costs as
    much as a small contact), so a kernel may read and write the arrays it is given, but must not
    create, return or keep any. It takes arrays, records, tuples of them, int, float and bool, and
    returns numbers, a tuple of numbers, or None.
    """
    return Kernel(function)


def uncalled_kernel(function) -> Kernel:
    """Compile `function` as a kernel that is called by its address only."""
    return Kernel(function, called=False)


def inner_kernel(function) -> Kernel:
    """Compile `function` as a kernel that other kernels call but Python cannot."""
    return Kernel(function, inner=True)


def inlined_kernel(function) -> Kernel:
    """Compile `function` as an inner kernel that always becomes part of its callers.

    For short ones on the hottest path, where a call that hands over many arrays costs more than
    the work.
    """
    return Kernel(function, inner=True, inline=True)
