# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Announce the compilation of kernels before the first step after an install.

The announcement is printed once, because the program seems to hang while kernels are compiled. A
child process compiles part of the kernels at the same time.
"""

import os
import sys
import time

from hrpsim.engine.compile.compiled import is_cached
from hrpsim.engine.compile.lazy_kernels import (
    absent_kernels,
    asked_elsewhere,
    compiles_elsewhere,
    let_compile,
)

_looked = False  # at the cache, which takes longer than a step
_is_begun = False  # the child process


def begin_beside(dispatcher, share: tuple[str, ...]) -> None:
    """Compile kernels in a child process if the kernel of the first step is not in the cache.

    Call this function early in a program that does other work before its first step.

    Args:
        dispatcher: kernel of the step. If this kernel is in the cache, nothing is compiled.
        share: names of the kernels that the child process compiles.
    """
    global _is_begun
    if _looked or _is_begun or compiles_elsewhere() or is_cached(dispatcher):
        return
    _is_begun = True
    if _processors() > 1:
        _compile_beside(share)


def announce_compilation(
    dispatcher, needed: tuple[str, ...], share: tuple[str, ...]
) -> float | None:
    """Print that kernels are being compiled, if the cache does not have the kernel of a step.

    Args:
        dispatcher: kernel of the step.
        needed: names of lazily compiled kernels that the step calls. If `let_compile` has set a
            callback, the callback is asked to compile these kernels.
        share: names of kernels that a child process compiles, in this order. The child process is
            started only if there is a second processor and no callback. This process compiles all
            other kernels.

    Returns:
        Start of the compilation (time.perf_counter) [s], or None if nothing was printed.
    """
    global _looked
    if _looked:
        return None
    _looked = True
    if is_cached(dispatcher):
        return None
    print(
        "hrpsim: compiling the kernels, once after an install or a change (up to a minute) ...",
        file=sys.stderr,
        flush=True,
    )
    if _is_begun:
        return time.perf_counter()
    if compiles_elsewhere():
        asked_elsewhere(needed)
    elif _processors() > 1:
        _compile_beside(share)
    return time.perf_counter()


def say_compiled(began: float) -> None:
    """Print the duration of a compilation that began at `began` (time.perf_counter) [s]."""
    took = time.perf_counter() - began
    print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)


def _compile_beside(names: tuple[str, ...]) -> None:
    from hrpsim.common.orphans import signal_at_parent_end
    from hrpsim.engine.compile.compiler_beside import CompilerBeside

    absent = set(absent_kernels())
    missing = tuple(name for name in names if name in absent)
    child = CompilerBeside(prepare=signal_at_parent_end)
    if missing and child.request(missing):
        let_compile(child.wait_for)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
