# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The motion of one run of any simulator, in the coordinates of hrpsim's robot."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from hrpsim.world.fall import LARGEST_TILT, LOWEST_HEIGHT_RATIO


@dataclass(frozen=True, eq=False)
class Trace:
    """Samples of one run at the n times of `time`. Samples after a fall are NaN.

    q and v have hrpsim's layout: first the free base, if any, then the joints.
    """

    time: np.ndarray  # from the start (n,) [s]
    q: np.ndarray  # (n, nq)
    v: np.ndarray  # (n, nv)
    forces: np.ndarray  # upward contact force on each link (n, links) [N]
    is_free: bool  # whether the base is free
    fell_at: float  # [s], NaN without a fall

    @property
    def fell(self) -> bool:
        """Whether the robot fell."""
        return not math.isnan(self.fell_at)

    def sampled(self, times: np.ndarray) -> Trace:
        """Interpolate the samples linearly at other times [s]."""
        q = self.q.copy()
        if self.is_free:
            turns = q[:, 3:7]
            flips = np.where((turns[1:] * turns[:-1]).sum(axis=1) < 0.0, -1.0, 1.0)
            turns[1:] *= np.cumprod(flips)[:, None]
        late = times > self.time[-1] + 1e-9
        q, v, forces = (_between(times, self.time, rows) for rows in (q, self.v, self.forces))
        for values in (q, v, forces):
            values[late] = np.nan
        if self.is_free:
            q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
        return replace(self, time=times, q=q, v=v, forces=forces)


def _between(times: np.ndarray, known: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Interpolate columns (n, k) linearly from the known times to other times."""
    return np.column_stack([np.interp(times, known, column) for column in values.T])


def up_in_base(quaternions: np.ndarray) -> np.ndarray:
    """Return the world's upward direction in the frame of a base.

    Args:
        quaternions: orientations of the base, x y z w (n, 4).

    Returns:
        Unit vectors (n, 3).
    """
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    return np.stack(
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)], axis=-1
    )


def has_fallen(q: np.ndarray, standing: float) -> bool:
    """Return whether a free base is tilted by more than 45 degrees, or has sunk to half its height.

    Args:
        q: configuration that begins with the base (nq,).
        standing: initial height of the base [m].
    """
    if not np.isfinite(q).all():
        return True
    tilted = up_in_base(q[3:7])[2] < math.cos(LARGEST_TILT)
    return bool(tilted or q[2] < (1.0 - LOWEST_HEIGHT_RATIO) * standing)


class TraceWriter:
    """Collects the samples of a run.

    Args:
        is_free: whether the robot has a free base. A robot with a fixed base cannot fall.
    """

    def __init__(self, is_free: bool) -> None:
        self._is_free = is_free
        self._rows: list[tuple[float, np.ndarray, np.ndarray, np.ndarray]] = []
        self._standing = math.nan
        self.fell_at = math.nan

    def add(self, time: float, q: np.ndarray, v: np.ndarray, forces: np.ndarray) -> bool:
        """Add a sample. Return whether the robot has fallen, which ends the run."""
        if self._is_free and math.isnan(self._standing):
            self._standing = float(q[2])
        if self._is_free and has_fallen(q, self._standing):
            self.fell_at = time
            return True
        self._rows.append((time, q, v, forces))
        return False

    def trace(self) -> Trace:
        """Return the recorded samples."""
        time, *parts = zip(*self._rows)
        arrays = (np.array(part) for part in parts)
        return Trace(np.array(time), *arrays, self._is_free, self.fell_at)
