# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Compute distances between runs, and the time at which the distance exceeds the noise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.explain.runs.trace import Trace, up_in_base

_TRAVEL = ("travel x", "travel y", "heading")
_BASE = ("height", "forward lean", "sideways lean")
_BASE += tuple(f"{kind} velocity {axis}" for kind in ("linear", "angular") for axis in "xyz")
_FLOORS = {"travel": 0.1, "heading": 0.1, "height": 0.01, "lean": 0.02, "linear": 0.1}
_FLOORS |= {"angular": 0.2, "joint": 0.05}
_BEYOND, _MORE = 2.0, 0.25  # runs separate at this multiple of the noise plus this distance
_LASTING = 5  # number of successive samples
_STANDING = 0.5  # share of pairs of runs without a fall from which their spread is compared
_UNLIKELY = 0.01  # probability of spreads that differ as much, if both had the same


def channels(trace: Trace, is_free: bool, at_q: np.ndarray) -> np.ndarray:
    """Return the compared quantities of a trace (n, channels), in the order of `Yardstick.names`.

    Args:
        trace: motion of the run.
        is_free: whether the robot has a free base, which precedes the joints in q and v.
        at_q: indices of the joints in q.
    """
    joints = trace.q[:, at_q]
    if not is_free:
        return joints
    x, y, z, w = trace.q[:, 3:7].T
    heading = np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    known = ~np.isnan(heading)
    heading[known] = np.unwrap(heading[known])
    travel = np.column_stack([trace.q[:, :2], heading])
    lean = -up_in_base(trace.q[:, 3:7])[:, :2]
    return np.hstack([travel - travel[0], trace.q[:, 2:3], lean, trace.v[:, :6], joints])


class Yardstick(NamedTuple):
    """The names, sizes and groups of the compared quantities.

    Each group has its own distance: travel of the robot, motion of the base, and posture. The phase
    of a gait is random, so postures may differ even if the travel is the same.
    """

    names: tuple[str, ...]
    sizes: np.ndarray  # (channels,)
    groups: dict[str, slice]

    @staticmethod
    def of(is_free: bool, joints: Sequence[str], reference: np.ndarray) -> Yardstick:
        """Return a yardstick whose sizes are standard deviations of the reference's motions.

        reference: motions (starts, n, channels).
        """
        base = (*_TRAVEL, *_BASE) if is_free else ()
        groups = {"posture": slice(len(base), None)}
        if is_free:
            ends = len(_TRAVEL), len(base)
            groups = {"travel": slice(0, ends[0]), "base": slice(*ends), **groups}
        kinds = [
            next(word for word in (*name.split(), "joint") if word in _FLOORS) for name in base
        ]
        floors = np.array([_FLOORS[kind] for kind in (*kinds, *("joint" for _ in joints))])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # for times after all falls
            spread = np.nan_to_num(np.nanstd(reference, axis=(0, 1)))
        return Yardstick((*base, *joints), np.maximum(spread, floors), groups)

    def distances(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the distance of two motions (n, channels) at each time in each group (n, groups).

        The distance is the root mean square of the differences divided by the sizes, clipped to 1.
        The distance is 1 while only one robot has fallen, and 0 after both have fallen.
        """
        squares = ((a - b) / self.sizes) ** 2
        apart = np.sqrt([squares[:, own].mean(axis=1) for own in self.groups.values()]).T
        fallen = np.isnan(a).any(axis=1), np.isnan(b).any(axis=1)
        apart[fallen[0] != fallen[1]] = 1.0
        apart[fallen[0] & fallen[1]] = 0.0
        return np.minimum(apart, 1.0)


class Parting(NamedTuple):
    """The time at which runs diverge, and the quantity that diverges first.

    `here` and `there` are values in hrpsim and in the reference. They are means of a channel, or
    the distances of runs from different starts, if the spread of a group differs.
    """

    time: float  # [s]
    channel: str  # the channel that separates first, or "spread of" a group
    here: float
    there: float


def noise_of(yardstick: Yardstick, motions: np.ndarray) -> np.ndarray:
    """Return the median distance of one simulator's runs from different starts (n, groups).

    A run is used until its fall. The noise is 0 if fewer than two runs have not fallen yet.

    Args:
        yardstick: sizes of the compared quantities.
        motions: motions from each start (starts, n, channels).
    """
    apart = _neighbours(yardstick, motions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # for times without a standing pair
        return np.nan_to_num(np.nanmedian(apart, axis=0))


def _neighbours(yardstick: Yardstick, motions: np.ndarray) -> np.ndarray:
    """Return the distance of each run from the run before, NaN after a fall (starts, n, groups)."""
    turned = np.roll(motions, 1, axis=0)
    apart = np.array([yardstick.distances(a, b) for a, b in zip(motions, turned)])
    apart[np.isnan(motions).any(axis=2) | np.isnan(turned).any(axis=2)] = np.nan
    return apart


def parting(
    yardstick: Yardstick,
    times: np.ndarray,
    here: np.ndarray,
    there: np.ndarray,
    *,
    is_recorded: bool = False,
) -> Parting | None:
    """Find the time at which the distance of paired runs exceeds the noise of both simulators.

    If the distances do not, find the time at which the noise of one simulator exceeds the noise of
    the other.

    Args:
        yardstick: sizes of the compared quantities.
        times: times of the samples (n,) [s].
        here: motions in hrpsim (starts, n, channels).
        there: motions in the reference from the same starts.
        is_recorded: whether the reference is one recording, which has no noise.
    """
    apart = np.median([yardstick.distances(a, b) for a, b in zip(here, there)], axis=0)
    noise = np.maximum(noise_of(yardstick, here), noise_of(yardstick, there))
    beyond = _first_beyond(apart, noise, len(times))
    if beyond is None:
        return None if is_recorded else _spread(yardstick, times, here, there)
    k, group = beyond
    own = list(yardstick.groups.values())[group]
    means = []
    for motions in (here, there):
        part = motions[:, k : k + _LASTING]
        known = part[~np.isnan(part).any(axis=2)]
        means.append(known.mean(axis=0) if len(known) else np.zeros(len(yardstick.names)))
    at = int(np.argmax((np.abs(means[0] - means[1]) / yardstick.sizes)[own]))
    values = [float(mean[own][at]) for mean in means]
    return Parting(float(times[k]), yardstick.names[own][at], *values)


def _first_beyond(apart: np.ndarray, noise: np.ndarray, count: int) -> tuple[int, int] | None:
    """Return the first sample and group whose distance (n, groups) lastingly exceeds the noise."""
    beyond = apart > _BEYOND * noise + _MORE
    lasting = [np.convolve(own, np.ones(_LASTING), "valid") == _LASTING for own in beyond.T]
    first = [int(np.argmax(own)) if own.any() else count for own in lasting]
    group = int(np.argmin(first))
    return None if first[group] == count else (first[group], group)


def _spread(
    yardstick: Yardstick, times: np.ndarray, here: np.ndarray, there: np.ndarray
) -> Parting | None:
    """Find the time at which runs of one simulator scatter more than runs of the other.

    Distances of a group, averaged over time, must also differ by the test of Mann and Whitney.
    """
    from scipy.stats import mannwhitneyu  # slow to import

    pairs = [_neighbours(yardstick, motions) for motions in (here, there)]
    known = [np.isfinite(own[..., 0]).mean(axis=0) > _STANDING for own in pairs]
    noises = [noise_of(yardstick, motions) for motions in (here, there)]
    widest = np.max(noises, axis=0) * (known[0] & known[1])[:, None]
    beyond = _first_beyond(widest, np.min(noises, axis=0), len(times))
    if beyond is None:
        return None
    k, group = beyond
    means = [np.nan_to_num(np.nanmean(own[:, k:, group], axis=1)) for own in pairs]
    if mannwhitneyu(*means).pvalue >= _UNLIKELY:
        return None
    name = f"spread of {list(yardstick.groups)[group]}"
    return Parting(float(times[k]), name, *(float(noise[k, group]) for noise in noises))


def chance_of_falls(falls: int, others: int, starts: int, other_starts: int) -> float:
    """Return the p value of Fisher's exact test of equal fall rates in both simulators.

    Args:
        falls: number of falls in hrpsim.
        others: number of falls in the reference.
        starts: number of runs in hrpsim.
        other_starts: number of runs of the reference.
    """
    from scipy.stats import fisher_exact  # slow to import

    return float(fisher_exact([[falls, starts - falls], [others, other_starts - others]])[1])
