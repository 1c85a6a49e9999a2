# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Forces that push an entity for a time, with exact impulses for any length of the periods."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hrpsim.schema import numeric
from hrpsim.sweeps.framework.scenario import Parameter
from hrpsim.values import NOT_NEGATIVE, POSITIVE

PUSH = {
    "impulse": Parameter(numeric(), "N s"),
    "heading": Parameter(numeric(), "rad"),
    "begin": Parameter(numeric(NOT_NEGATIVE), "s"),
    "duration": Parameter(numeric(POSITIVE), "s"),
}
PUSH_DEFAULTS = {"impulse": 0.0, "heading": 0.0, "begin": 0.0, "duration": 0.1}


@dataclass(frozen=True)
class Push:
    """A horizontal force of constant size on the origin of a link, or of a free body."""

    entity: str
    link: str | None  # None: of a free body
    impulse: float  # [Ns]
    heading: float  # where the force points, from x [rad]
    begin: float  # [s]
    duration: float  # [s]

    def apply(self, world: Any, time: float, period: float) -> None:
        """Push in the next call of `step`, `period` [s] long: by the mean, so impulses add up."""
        overlap = min(self.begin + self.duration, time + period) - max(self.begin, time)
        if overlap <= 1e-9 * period or self.impulse == 0.0:
            return
        size = self.impulse / self.duration * min(overlap / period, 1.0)
        force = size * np.array([math.cos(self.heading), math.sin(self.heading), 0.0])
        entity = world.entities[self.entity]
        if self.link is None:
            entity.apply_wrench(force=force)
        else:
            entity.apply_wrench(self.link, force=force)
