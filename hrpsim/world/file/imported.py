# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Functions shared by the readers of worlds in foreign formats."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path

from hrpsim.common.errors import ModelWarning
from hrpsim.model.readers.robot_data import ConnectionData
from hrpsim.model.shapes.placement import quaternion_of
from hrpsim.world.world import World


def finish(world: World, path: Path, lines: Iterable[str], stacklevel: int) -> World:
    """Warn of elements that are not simulated and of misplaced robots. Return the world.

    Args:
        world: the world of a file.
        path: path of the file, for the warning.
        lines: the elements that are not simulated, one text each.
        stacklevel: stack level of the ModelWarning, counted from the caller.
    """
    if listed := "; ".join(lines):
        why = f"{path}: not simulated as it says: {listed}"
        warnings.warn(why, ModelWarning, stacklevel=stacklevel + 1)
    world.check_placed(stacklevel=stacklevel + 2)
    return world


def connect(world: World, ends: Iterable[str], loop: ConnectionData, name: str) -> None:
    """Connect two ends, each "entity/link" or "world", by a loop. Raises WorldError."""
    a, b = ends
    frame_a, frame_b = ((frame.p, quaternion_of(frame.R)) for frame in loop.frames)
    made = world.connect(a, b, loop.kind, frame_a=frame_a, frame_b=frame_b, name=name)
    made.keep_as_initial()
