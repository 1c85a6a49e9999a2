# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Quantities of a world that can be plotted against time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hrpsim.bag.signal_types import fits
from hrpsim.bag.world_signals import moves_freely, sources_of
from hrpsim.world.objects.robot import Robot

# Choices of pages and films, in the order of the lists.
OFFERED = ("*.force.z", "*.force.*", "*.torque.*", "*odom.position.*")
OFFERED += ("solver.contact_count", "solver.max_penetration")


def signals_of(world: Any, offered: Sequence[str] = OFFERED) -> dict[str, Callable[[], float]]:
    """Return the signals that can be plotted.

    Args:
        world: the world.
        offered: patterns of names, in the order of the signals.

    Returns:
        {name with unit: function that reads the signal}. The names are the same as in recordings
        (`hrpsim.bag`).
    """
    sources = sources_of(world)
    result: dict[str, Callable[[], float]] = {}
    for pattern in offered:
        for source in sources:
            units = [field.unit for field in source.fields for _ in range(field.width)]
            for k, (column, unit) in enumerate(zip(source.columns, units)):
                if fits(pattern, column):
                    name = f"{column} [{unit}]" if unit else column
                    result.setdefault(name, lambda read=source.read, k=k: read()[k])
    return result


class History:
    """The values of one signal within the last `duration` [s].

    Going back in time clears the history.
    """

    def __init__(self, read: Callable[[], float], duration: float = 10.0) -> None:
        self._read = read
        self.duration = duration
        self._samples: deque[tuple[float, float]] = deque()

    def add(self, time: float) -> None:
        """Store the present value with `time` [s], unless this time is already stored."""
        if self._samples and time < self._samples[-1][0]:
            self._samples.clear()
        if self._samples and time == self._samples[-1][0]:
            return
        self._samples.append((time, float(self._read())))
        while time - self._samples[0][0] > self.duration:
            self._samples.popleft()

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return times (k,) [s] and values (k,)."""
        samples = np.array(self._samples, dtype=np.float64).reshape(-1, 2)
        return samples[:, 0].copy(), samples[:, 1].copy()


def middle_of(world, follow: str = "") -> tuple[np.ndarray, float]:
    """Return the centre of the moving bodies, and the size of a picture that shows all of them.

    follow: the robot or body to show, instead of all moving bodies.

    Returns:
        (centre (3,) [m], size [m]).
    """
    entities = [world.entities[follow]] if follow else filter(moves_freely, world.entities.values())
    extents = [_extent(entity) for entity in entities]
    if not extents:
        return np.array([0.0, 0.0, 0.5]), 1.0
    middle = np.mean([own for own, _ in extents], axis=0)
    return middle, max(float(np.linalg.norm(own - middle)) + reach for own, reach in extents)


def _extent(entity) -> tuple[np.ndarray, float]:
    """Return the centre of an entity (3,) [m], and its largest extent from the centre [m]."""
    if not isinstance(entity, Robot):
        return entity.q[:3].copy(), 0.4
    links = entity.link_poses()[0]
    low, high = links.min(axis=0), links.max(axis=0)
    height = low[2] + 0.55 * (high[2] - low[2])  # the top of the head is above its joint
    return np.array([*entity.q[:2], height]), max(0.4, 0.8 * float(np.linalg.norm(high - low)))
