# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The common base class of the components of a world."""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.world.parts.results import ConvergenceRecord
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep
from hrpsim.world.parts.world_contents import Contents


class Core(NamedTuple):
    """The references that every component of a world has: contents, scene, sleep, convergence."""

    contents: Contents
    scenes: Scenes
    sleep: Sleep
    convergence: ConvergenceRecord


class Part:
    """Base class of the mixins from which World is composed."""

    def __init__(self, core: Core) -> None:
        self._contents, self._scenes, self._sleep, self._convergence = core
