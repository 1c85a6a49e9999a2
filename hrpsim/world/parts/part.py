# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the parts of a world have in common: what they know."""

from __future__ import annotations

from typing import NamedTuple

from hrpsim.world.parts.contents import Contents
from hrpsim.world.parts.convergence import ConvergenceRecord
from hrpsim.world.parts.scenes import Scenes
from hrpsim.world.parts.sleep import Sleep


class Core(NamedTuple):
    """What every part of a world knows: its contents, their scene, what sleeps, convergence."""

    contents: Contents
    scenes: Scenes
    sleep: Sleep
    convergence: ConvergenceRecord


class Part:
    """A base of World: a part of its methods, on what all parts know."""

    def __init__(self, core: Core):
        self._contents, self._scenes, self._sleep, self._convergence = core
