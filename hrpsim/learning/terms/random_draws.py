# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Random numbers of many worlds. Each world has its own sequence, and one call draws for all.

The generator is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
OOPSLA 2014). Its state is a counter, so one expression can draw for any subset of worlds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FACTORS = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFTS = np.uint64(30), np.uint64(27), np.uint64(31)
_UNIT, _LOW_BITS = 2.0**-53, np.uint64(11)


def split_mix(state: np.ndarray) -> np.ndarray:
    """Return the outputs of SplitMix64 (uint64) for states (uint64) that were already advanced."""
    z = (state ^ (state >> _SHIFTS[0])) * _FACTORS[0]
    z = (z ^ (z >> _SHIFTS[1])) * _FACTORS[1]
    return z ^ (z >> _SHIFTS[2])


class EpisodeRandom:
    """Random numbers that depend only on seed, world, episode and number of earlier draws.

    Args:
        count: number of worlds.
        seed: seed of all worlds.
        episodes_of: world k has the same numbers as world k mod `episodes_of`. The default is
            `count`.
    """

    def __init__(self, count: int, seed: int = 0, episodes_of: int | None = None) -> None:
        self._names = np.arange(count) % (count if episodes_of is None else episodes_of)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Restart all worlds with another seed, before their first episode."""
        self.episodes = np.full(len(self._names), -1)
        self._counters = np.zeros(len(self._names), dtype=np.uint64)
        self._base = split_mix(np.array([seed % 2**64], dtype=np.uint64) + _STEP)
        self._keys = self._keyed(np.arange(len(self._names)))

    def begin(self, worlds: np.ndarray) -> None:
        """Begin the next episode of worlds (m,)."""
        self.episodes[worlds] += 1
        self._counters[worlds] = 0
        self._keys[worlds] = self._keyed(worlds)

    def _keyed(self, worlds: np.ndarray) -> np.ndarray:
        key = split_mix(self._base ^ split_mix(self._names[worlds].astype(np.uint64) * _STEP))
        episodes = (self.episodes[worlds] + 2).astype(np.uint64)
        return split_mix(key ^ split_mix(episodes * _STEP))

    def uniform(
        self, worlds: np.ndarray, low: ArrayLike, high: ArrayLike, columns: int = 1
    ) -> np.ndarray:
        """Return uniform random numbers in [low, high) for worlds (m,), of shape (m, columns)."""
        places = self._counters[worlds][:, None] + np.arange(1, columns + 1, dtype=np.uint64)
        self._counters[worlds] += np.uint64(columns)
        bits = split_mix(self._keys[worlds][:, None] + places * _STEP)
        low = np.asarray(low, dtype=np.float64)
        return low + (high - low) * ((bits >> _LOW_BITS).astype(np.float64) * _UNIT)

    def normal(self, worlds: np.ndarray, columns: int = 1) -> np.ndarray:
        """Return standard normal random numbers for worlds (m,), of shape (m, columns)."""
        first, second = np.split(self.uniform(worlds, 0.0, 1.0, 2 * columns), 2, axis=1)
        return np.sqrt(-2.0 * np.log1p(-first)) * np.cos(2.0 * np.pi * second)
