# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What happens about the first step of a first run, which compiles.

It is said once, as it takes so long that a user would think it hung; and what most worlds need soon
after is compiled by a process beside at the same time.
"""

from __future__ import annotations

import os
import sys
import time

from hrpsim.jit.compiled import is_cached
from hrpsim.jit.on_demand import (
    absent_kernels,
    asked_elsewhere,
    compiles_elsewhere,
    let_compile,
)

_looked = False  # at the cache, which takes longer than a step


def announce_compilation(
    dispatcher, needed: tuple[str, ...], soon: tuple[str, ...]
) -> float | None:
    """Say that the first call of a kernel compiles; return when that began, None if it need not.

    needed: kernels on demand that it calls, which somebody else compiles meanwhile: whom
    `let_compile` has named, or else a process beside, where there is a processor for it. That
    compiles `soon` after them, which may not be needed.
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
    if compiles_elsewhere():
        asked_elsewhere(needed)
    elif _processors() > 1:
        _compile_beside((*needed, *soon))
    return time.perf_counter()


def say_compiled(began: float) -> None:
    """Say how long that took."""
    took = time.perf_counter() - began
    print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)


def _compile_beside(names: tuple[str, ...]) -> None:
    from hrpsim.jit.compiler_beside import CompilerBeside
    from hrpsim.orphans import signal_at_parent_end

    absent = set(absent_kernels())
    wanted = tuple(name for name in names if name in absent)
    beside = CompilerBeside(prepare=signal_at_parent_end)
    if wanted and beside.request(wanted):
        let_compile(beside.wait_for)


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
