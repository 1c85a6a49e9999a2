"""Advancing a world, and saying so where that compiles the kernels first."""

from __future__ import annotations

import sys
import time

from hrpsim.compiled import is_compiled, note_compiled
from hrpsim.world.scene import Scene
from hrpsim.world.step import advance

_ready: set[bool] = set()


def advance_announced(scene: Scene, steps: int) -> tuple[int, int]:
    """Do up to `steps` steps; return (steps done, status).

    There are two forms of the kernels, without and with what connections and direct rows need;
    each is compiled when a world first steps in it after an install or a change.
    """
    mixed = scene.direct is not None
    if mixed in _ready:
        return advance(scene, steps)
    form = "mixed" if mixed else "plain"
    begin = None
    if not is_compiled(form):
        begin = time.perf_counter()
        what = "the kernels for connections" if mixed else "the kernels"
        print(
            f"hrpsim: compiling {what}, once after an install or a change (half a minute) ...",
            file=sys.stderr,
            flush=True,
        )
    result = advance(scene, steps)
    if begin is not None:
        took = time.perf_counter() - begin
        print(f"hrpsim: compiled in {took:.0f} s", file=sys.stderr, flush=True)
    note_compiled(form)
    _ready.add(mixed)
    return result
