# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Worlds that are read and settled once, and reused by one run after another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from hrpsim.model.model import Model
from hrpsim.world.checkpoint import Checkpoint
from hrpsim.world.world import World


class BaseWorld:
    """A settled world, as its file with some other values describes it, and its robot's model."""

    def __init__(self, world: World, model: Model | None):
        self.world, self.model = world, model
        self._returned: list[tuple[World, Checkpoint]] = []

    @contextmanager
    def lent(self) -> Iterator[World]:
        """Yield a copy, restored and reused after the block: restoring is faster than copying."""
        try:
            world, start = self._returned.pop()
        except IndexError:
            world = self.world.copy()
            start = Checkpoint(world)
        yield world
        start.restore()
        self._returned.append((world, start))
