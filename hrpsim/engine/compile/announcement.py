# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Announcing the compilation of the first step of a first run.

The announcement is printed once, because the program seems to hang meanwhile. A child process
compiles the kernels that most worlds need soon after.
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
    """Start a child process that compiles its share of a first step that is not in the cache.

    For programs that do other work before their first step.
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
    """Print that the first call of a kernel compiles. Return when that began, or None.

    needed: lazily compiled kernels that this kernel calls, requested by the callback of
        `let_compile`.
    share: kernels that a child process compiles meanwhile, in that order, without such a callback
    and with a second processor. The rest is compiled here.
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
    """Print how long that took."""
    took = time.perf_counter() - began
    print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)


def _compile_beside(names: tuple[str, ...]) -> None:
    from hrpsim.common.orphans import signal_at_parent_end
    from hrpsim.engine.compile.compiler_beside import CompilerBeside

    absent = set(absent_kernels())
    wanted = tuple(name for name in names if name in absent)
    child = CompilerBeside(prepare=signal_at_parent_end)
    if wanted and child.request(wanted):
        let_compile(child.wait_for)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
