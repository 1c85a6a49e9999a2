# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What parts of a world have in common: whom they know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hrpsim.world.parts.contents import Contents
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep

if TYPE_CHECKING:
    from hrpsim.world.objects.world_state import WorldState
    from hrpsim.world.parts.exclusions import Exclusions


class Part:
    """A part that changes or reads contents, their scene, and what sleeps."""

    def __init__(self, contents: Contents, scenes: Scenes, sleep: Sleep):
        self._contents, self._scenes, self._sleep = contents, scenes, sleep


class JoiningPart(Part):
    """A part that makes objects of the `world` which keep shapes from colliding."""

    def __init__(
        self,
        world: WorldState,
        contents: Contents,
        scenes: Scenes,
        sleep: Sleep,
        exclusions: Exclusions,
    ):
        super().__init__(contents, scenes, sleep)
        self._world, self._exclusions = world, exclusions
        self._made = 0  # ever
