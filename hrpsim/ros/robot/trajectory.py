# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""A motion of some joints through given points, from where they are. Needs no ROS."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.control.motion.motion_sequence import Channel
from hrpsim.errors import WorldError


class JointMotion:
    """Positions and velocities of `names` against time since the start of the motion.

    times: ascending (n,) [s], the first at 0; positions, and optionally velocities, (n, joints).
    With velocities the joints follow cubics between the points (Hermite's, continuous in
    velocity); without, the quintics of `Channel`, which begin and end at rest.
    """

    def __init__(self, names: Sequence[str], times, positions, velocities=None):
        self.names = tuple(names)
        self._times = np.asarray(times, dtype=np.float64)
        self._positions = np.asarray(positions, dtype=np.float64)
        self._velocities = None if velocities is None else np.asarray(velocities, dtype=np.float64)
        self._channel = Channel(self._times, self._positions) if velocities is None else None

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self._times[-1])

    def at(self, time: float) -> tuple[np.ndarray, np.ndarray]:
        """Return positions and velocities (joints,); after the end the joints are at rest."""
        if time >= self.duration:
            return self._positions[-1].copy(), np.zeros(len(self.names))
        if self._channel is not None:
            return self._channel.at([time])[0], self._channel.rates_at([time])[0]
        i = max(int(np.searchsorted(self._times, time, side="right")) - 1, 0)
        h = self._times[i + 1] - self._times[i]
        s = (time - self._times[i]) / h
        (a, b), (u, v) = self._positions[i : i + 2], self._velocities[i : i + 2]
        rise = b - a
        position = a + s * s * (3.0 - 2.0 * s) * rise
        position += h * s * (1.0 - s) * ((1.0 - s) * u - s * v)
        velocity = 6.0 * s * (1.0 - s) * rise / h
        velocity += (1.0 - s) * (1.0 - 3.0 * s) * u + s * (3.0 * s - 2.0) * v
        return position, velocity

    def without(self, names) -> JointMotion | None:
        """Return the motion of the other joints, None if there are none."""
        kept = [k for k, name in enumerate(self.names) if name not in names]
        if not kept:
            return None
        velocities = None if self._velocities is None else self._velocities[:, kept]
        names = [self.names[k] for k in kept]
        return JointMotion(names, self._times, self._positions[:, kept], velocities)


def motion_through(names, times, positions, velocities, start, start_velocity) -> JointMotion:
    """Return the motion from `start` through the points.

    times (n,) [s], positions (n, joints), velocities (n, joints) or None. A first point at time 0
    replaces `start` (joints,). Raises WorldError that names the point which does not fit.
    """
    times = np.asarray(times, dtype=np.float64)
    if times[0] < 0.0:
        raise WorldError(f"point 0 is at {times[0]:g} s; times from the start are >= 0")
    late = np.flatnonzero(np.diff(times) <= 0.0)
    if late.size:
        k = int(late[0])
        raise WorldError(f"point {k + 1} is at {times[k + 1]:g} s, not after point {k}")
    for what, rows in (("positions", positions), ("velocities", velocities)):
        for k, row in enumerate(() if rows is None else rows):
            if len(row) != len(names):
                raise WorldError(f"{len(row)} {what} in point {k} for {len(names)} joints")
            bad = np.flatnonzero(~np.isfinite(row))
            if bad.size:
                raise WorldError(
                    f"{what} of joint {names[bad[0]]!r} in point {k} are {row[bad[0]]}"
                )
    if times[0] > 0.0:
        times = np.concatenate([[0.0], times])
        positions = np.vstack([start, positions])
        if velocities is not None:
            velocities = np.vstack([start_velocity, velocities])
    return JointMotion(names, times, positions, velocities)
