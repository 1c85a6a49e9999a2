# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Kernels: functions that are compiled when they are first needed.

numba is imported only to compile. Kernels are stored on disk as machine code (machine_code.py) in
the folders of kernel_folders.py. Stored kernels are loaded without numba, whose import takes longer
than all the rest of a start.
"""

import functools
import hashlib
import inspect
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hrpsim.engine.compile.kernel_folders import (
    HASH_LENGTH,
    PLAIN_COMPILER,
    cache_of,
    keep,
    load_cached,
    made_by_one,
    shipped_targets,
    shipped_with,
)
from hrpsim.engine.compile.kinds import kind_of, text_of
from hrpsim.engine.compile.numba_code import KernelFunction

_one_at_a_time = threading.RLock()


class Kernel(KernelFunction):
    """A function that is compiled once for each combination of argument types."""

    def __init__(self, function, **asked: bool) -> None:
        super().__init__(function, **asked)
        self.codes: dict[tuple, Any] = {}  # by kinds of arguments
        self.compiled = 0  # how often it was in this process

    def __call__(self, *arguments, **named):
        """Call the machine code for the types of these arguments. Compile the code if necessary."""
        code = self.py_func.__code__
        if named or len(arguments) != code.co_argcount:
            bound = inspect.signature(self.py_func).bind(*arguments, **named)
            bound.apply_defaults()
            arguments = bound.args
        return self.code(arguments).call(*arguments)

    def code(self, arguments: tuple) -> Any:
        """Return the machine code for the types of `arguments`, compiled if necessary.

        Returns:
            An object with `address`, and with `call`, a Python callable.
        """
        kinds = tuple(map(kind_of, arguments))
        machine_code = self.codes.get(kinds)
        return self._make(kinds, arguments) if machine_code is None else machine_code

    def _make(self, kinds: tuple, arguments: tuple) -> Any:
        with _one_at_a_time:
            if kinds not in self.codes:
                self.codes[kinds] = self._load(kinds) or self._compile_once(kinds, arguments)
        return self.codes[kinds]

    def _compile_once(self, kinds: tuple, arguments: tuple):
        *_, path = self._paths(kinds)
        with made_by_one(path):
            return self._load(kinds) or self._compile(kinds, arguments)

    def _load(self, kinds: tuple):
        """Return the code compiled by an earlier process, or shipped with the package, or None."""
        if PLAIN_COMPILER:
            return None
        from hrpsim.engine.compile.machine_code import MachineCode, load

        for path in self._paths(kinds):
            cached = load_cached(path)
            if cached is not None:
                return load(MachineCode(*cached), self.__name__)
        return None

    def _compile(self, kinds: tuple, arguments: tuple):
        from hrpsim.engine.compile.machine_code import MachineCode, load
        from hrpsim.engine.compile.numba_compiler import compile_kernel

        self.compiled += 1
        made = compile_kernel(self, arguments)
        if not isinstance(made, MachineCode):
            return made
        *_, path = self._paths(kinds)
        keep(path, tuple(made))
        return load(made, self.__name__)

    def _paths(self, kinds: tuple) -> Iterator[Path]:
        """Yield the possible files of the machine code for these types, the user's cache last."""
        from hrpsim.engine.compile.machine_code import target

        text = text_of(kinds)
        for folder, code in (*_shipped(self.py_func), (cache_of(self.py_func), target())):
            digest = hashlib.sha256(f"{code} {text}".encode()).hexdigest()
            yield folder / f"{file_name(self.py_func)}.{digest[:HASH_LENGTH]}.nbc"


def _shipped(function) -> Iterator[tuple[Path, str]]:
    """Yield the folder of shipped kernels for this processor, and its target, if there is one."""
    common = _shipped_target()
    if common:
        from hrpsim.engine.compile.machine_code import target

        yield shipped_with(function, common), target(common)


@functools.cache
def _shipped_target() -> str:
    """Return the name of the target whose shipped kernels are used, "" for none."""
    present = shipped_targets()
    if PLAIN_COMPILER or not present:
        return ""
    from hrpsim.engine.compile.machine_code import common_target

    return common_target(present)


def file_name(function) -> str:
    """Return the prefix of all file names that belong to a function in the cache."""
    return f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"


def is_cached(kernel: Kernel) -> bool:
    """Return whether a kernel's machine code is in the cache or shipped with the package."""
    function = kernel.py_func
    folder, name = cache_of(function), file_name(function)
    if any(any(f.glob(f"{name}.*.nbc")) for f, _ in _shipped(function)):
        return True
    of_numba = f"{name.removeprefix(function.__module__.rpartition('.')[0]).lstrip('.')}.*.nbi"
    return any(folder.glob(f"{name}.*.nbc")) or any(folder.glob(f"*/{of_numba}"))


def entry_point(kernel: Kernel, *arguments):
    """Return a kernel's machine code for the types of the arguments, compiled if necessary.

    The machine code does not check the types of its arguments. A call with other types corrupts
    memory.
    """
    return kernel.code(arguments).call


def prepared(kernel: Kernel) -> Callable:
    """Return a callable for a kernel that checks argument types at the first call only.

    The caller must pass the same types in all calls. A check takes longer than a short kernel.
    """
    run: Callable | None = None

    def call(*arguments):
        nonlocal run
        if run is None:
            run = entry_point(kernel, *arguments)
        return run(*arguments)

    return call


def address_of(kernel: Kernel, *arguments) -> int:
    """Return the address of a kernel's machine code for the types of `arguments`."""
    return kernel.code(arguments).address


def kernel(function) -> Kernel:
    """Compile `function` with numba: no Python objects, no GIL, cached on disk, deterministic.

    Additions and multiplications may be fused. Nothing else may be reordered, so that the same
    input gives the same bits. Array arguments are not reference counted, because an atomic count
    costs as much as a small contact. A kernel may read and write array arguments, but must not
    create, return or store arrays. Arguments are arrays, records, tuples of arrays or records, int,
    float and bool. A kernel returns numbers, a tuple of numbers, or None.
    """
    return Kernel(function)


def uncalled_kernel(function) -> Kernel:
    """Compile `function` as a kernel that is called by its address only."""
    return Kernel(function, called=False)


def inner_kernel(function) -> Kernel:
    """Compile `function` as a kernel that other kernels call but Python cannot."""
    return Kernel(function, inner=True)


def inlined_kernel(function) -> Kernel:
    """Compile `function` as an inner kernel that is always inlined into its callers.

    Inlining pays for short functions in frequent calls, where passing many arrays costs more than
    the computation.
    """
    return Kernel(function, inner=True, inline=True)
