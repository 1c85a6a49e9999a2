# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What parts of a world have in common: whom they know."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hrpsim.world.parts.contents import Contents
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep

if TYPE_CHECKING:
    from hrpsim.world.objects.world_state import WorldState
    from hrpsim.world.parts.exclusions import Exclusions


class Core(NamedTuple):
    """What every part of a world knows: its contents, their scene, and what sleeps."""

    contents: Contents
    scenes: Scenes
    sleep: Sleep


class Part:
    """A part that changes or reads contents, their scene, and what sleeps."""

    def __init__(self, core: Core):
        self._contents, self._scenes, self._sleep = core


class JoiningPart(Part):
    """A part that makes objects of the `world` which keep shapes from colliding."""

    def __init__(self, world: WorldState, core: Core, exclusions: Exclusions):
        super().__init__(core)
        self._world, self._exclusions = world, exclusions
        self._made = 0  # ever
