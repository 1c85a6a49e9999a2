# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Advance many scenes by one call, without Python between the scenes."""

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, kernel
from hrpsim.engine.compile.kernel_types import Records, Span, Turn
from hrpsim.engine.compile.numba_code import NumbaCode
from hrpsim.engine.step.arrays import Scene
from hrpsim.engine.step.step import LONGEST_CALL, monotonic_seconds

call_advance = NumbaCode("hrpsim.engine.compile.intrinsics", "call_advance")
reference_at = NumbaCode("hrpsim.engine.compile.intrinsics", "reference_at")
request_line = NumbaCode("hrpsim.engine.compile.intrinsics", "request_line")

_LINE = 64  # bytes of a line of the cache

# A scene to advance: the address of its reference and the number of remaining steps; the result
# of `advance` for the last steps, and whether that requires an action.
TURN = np.dtype(
    [
        ("scene", "i8"),
        ("left", "i8"),
        ("status", "i8"),
        ("unmet", "i8"),
        ("by_newton", "i8"),
        ("asks", "i8"),
    ]
)

# Memory between two addresses.
SPAN = np.dtype([("begin", "i8"), ("end", "i8")])


@kernel
def advance_side_by_side(
    example: Scene, address: int, turns: Records[Turn], memory: Records[Span]
) -> None:
    """Advance each scene by its remaining steps, until the time limit of the call.

    Scenes may share working memory. Each scene therefore begins by numbering its own constraint
    bodies. The wrenches on a scene end with its steps.

    Args:
        example: a reference to any of the scenes.
        address: address of `advance`, compiled for that scene.
        turns: TURN records (n,).
        memory: SPAN records (n, spans), addresses of each scene's memory. While a scene steps, the
            memory of the next scene is loaded into the processor's cache.
    """
    end = monotonic_seconds() + LONGEST_CALL
    for k in range(len(turns)):
        turn = turns[k]
        if turn.left == 0:
            continue
        if k + 1 < len(turns) and turns[k + 1].left > 0:
            _request(memory[k + 1])
        _advance(example, address, turn)
        if monotonic_seconds() > end:
            break


@inlined_kernel
def _advance(example: Scene, address: int, turn: Turn) -> None:
    """Advance the scene of a TURN record, and write the result of `advance`."""
    scene = reference_at(example, turn.scene)
    if scene.constrained.supports.shape[0] > 0:
        scene.constrained.supports[0].known_count = 0
    done, status, unmet, by_newton = call_advance(address, (scene, turn.left))
    turn.left -= done
    turn.status, turn.unmet, turn.by_newton = status, unmet, by_newton
    if status != 0 or unmet > 0 or by_newton > 0:
        turn.asks = 1
    if turn.left == 0:
        scene.counts[0].wrench_count = 0


@inlined_kernel
def _request(spans: Records[Span]) -> None:
    """Prefetch memory into the processor's cache."""
    for k in range(len(spans)):
        for at in range(spans[k].begin, spans[k].end, _LINE):
            request_line(at)
