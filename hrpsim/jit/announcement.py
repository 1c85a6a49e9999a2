# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Says once that a first run compiles: it takes so long that a user would think it hung."""

from __future__ import annotations

import sys
import time

from hrpsim.jit.compiled import is_cached

_looked = False  # at the cache, which takes longer than a step


def announce_compilation(dispatcher) -> float | None:
    """Say that the first call of a kernel compiles; return when that began, None if it need not."""
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
    return time.perf_counter()


def say_compiled(began: float) -> None:
    """Say how long that took."""
    took = time.perf_counter() - began
    print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)
