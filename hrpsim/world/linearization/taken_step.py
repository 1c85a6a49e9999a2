# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A step that was taken, as its derivatives read it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.jit.reference import Reference
from hrpsim.step.arrays import Scene
from hrpsim.world.linearization.room import Room


class TakenStep(NamedTuple):
    """The step, its rows and contacts, and the room in which it is differentiated."""

    scene: Scene
    reference: Reference[Scene]
    room: Reference[Room]
    coordinates: int
    time_step: float
    rows: np.ndarray  # (k,) ROW
    contacts: np.ndarray  # (c,) CONTACT; their rows come first
    margin: float  # [m/s or rad/s]

    def jacobians(self, rows: np.ndarray, kind: str = "J") -> np.ndarray:
        """Return J or F (k, nv) of rows (k,) HELD_ROW."""
        w, entries = self.room.whole, np.arange(12)
        where = rows["at"][:, entries // 6] + entries % 6
        where[rows[kind] == 0.0] = 0  # no coordinate need be there
        dense = np.zeros((len(rows), self.coordinates))
        np.add.at(dense, (np.arange(len(rows))[:, None], where), rows[kind])
        return dense @ w.Z[: self.coordinates]
