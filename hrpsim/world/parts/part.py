# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What parts of a world have in common: whom they know."""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.world.parts.contents import Contents
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep


class Core(NamedTuple):
    """What every part of a world knows: its contents, their scene, and what sleeps."""

    contents: Contents
    scenes: Scenes
    sleep: Sleep


class Part:
    """A part that changes or reads contents, their scene, and what sleeps."""

    def __init__(self, core: Core):
        self._contents, self._scenes, self._sleep = core
