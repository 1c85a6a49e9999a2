# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Commands beyond joint limits: counted, and logged once a second. Needs no ROS."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

import numpy as np

from hrpsim.ros.base.faults import RepeatFilter

_UNITS = {"positions": "position", "velocities": "velocity", "efforts": "effort"}
_ROUNDING = 1e-9  # relative and absolute


class LimitWatch:
    """Compares commands with the joint limits of a robot, which the simulation enforces."""

    def __init__(self, robot, logger, clock=time.monotonic):
        system, joints = robot.system, robot.model.joints
        self._index = {joint.name: joint.v_index for joint in joints}
        self._bounds = {
            "positions": (system.lower, system.upper),
            "velocities": (-system.velocity_limit, system.velocity_limit),
            "efforts": (-system.effort_limit, system.effort_limit),
        }
        self._logger = logger
        self._filter = RepeatFilter(period=1.0, capacity=1, clock=clock)
        self._names: Sequence[str] = ()
        self._reach: dict[str, tuple[np.ndarray, np.ndarray]] = {}  # of these names
        self.count = 0  # messages with any value beyond a limit

    def look(self, topic: str, names: Sequence[str], values: Mapping[str, np.ndarray]) -> None:
        """Count a command whose values (k,) for k joints are beyond limits; NaN and gains never."""
        if names != self._names:
            self._keep_reach(names)
        beyond = []
        for argument, (lower, upper) in self._reach.items():
            numbers = values.get(argument)
            if numbers is None:
                continue
            off = (numbers < lower) | (numbers > upper)
            if off.any():
                beyond += [self._describe(argument, k, numbers) for k in np.flatnonzero(off)]
        if beyond:
            self.count += 1
            if self._filter.passes(topic):
                more = f", and {len(beyond) - 1} more" if len(beyond) > 1 else ""
                self._logger.warning(f"{topic}: the limits hold: {beyond[0]}{more}")

    def _keep_reach(self, names: Sequence[str]) -> None:
        """Store the limits of these joints, widened by a tolerance for rounding."""
        indices = np.array([self._index[name] for name in names])
        self._names = list(names)
        for argument, (lower, upper) in self._bounds.items():
            low, high = lower[indices], upper[indices]
            slack = [_ROUNDING * (1.0 + np.abs(bound)) for bound in (low, high)]
            self._reach[argument] = low - slack[0], high + slack[1]

    def _describe(self, argument: str, k: int, numbers: np.ndarray) -> str:
        lower, upper = (bound[self._index[self._names[k]]] for bound in self._bounds[argument])
        return (
            f"{_UNITS[argument]} {numbers[k]:.6g} of {self._names[k]!r} is not within "
            f"{lower:.6g} to {upper:.6g}"
        )
