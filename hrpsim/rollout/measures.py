# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Measures of a run of a policy: tracking, energy, foot forces, and time series of these."""

from __future__ import annotations

import math

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.sweeps.framework.scenario import Outcome
from hrpsim.world.objects.robot import Robot

OUTCOMES = {
    "velocity_error": Outcome("m/s", "root mean square of the base's horizontal velocity"),
    "yaw_rate_error": Outcome("rad/s", "root mean square of the base's turning rate"),
    "energy": Outcome("J", "positive mechanical work of all joints"),
    "cost_of_transport": Outcome("", "energy by weight and horizontal path of the base"),
    "largest_foot_force": Outcome("", "largest upward force on one link, by the weight"),
}
COURSES = {
    "velocity_x": Outcome("m/s", "of the base, forward"),
    "command_x": Outcome("m/s", "commanded velocity, forward"),
    "power": Outcome("W", "positive mechanical power of all joints"),
    "foot_force": Outcome("", "upward force on the link that bears most, by the weight"),
}
_LEAST_PATH = 1e-3  # least path for a cost of transport [m]


class RolloutMeasures:
    """Measure one robot after each control period.

    Velocities are the velocities of the base, in the frame of the base. A robot on a fixed base has
    no tracking error and no path. The time series have one sample for each evaluation of the
    network: the mean over the time since the last evaluation, or for forces the maximum.

    Args:
        robot: a robot that belongs to a world.
        period: time between two calls of `add` [s].
        ticks: number of calls of `add` between two samples of the time series.
        samples: number of samples of each time series.
    """

    def __init__(self, robot: Robot, period: float, ticks: int, samples: int) -> None:
        self._robot, self._period, self._ticks = robot, period, ticks
        self._free = robot.model.base == "free"
        self._weight = max(robot.model.mass * STANDARD_GRAVITY, 1e-9)
        self._at = robot.joint_index.v
        self._count = 0
        self._squares = np.zeros(2)  # sums of squared errors of velocity and turning rate
        self._energy = self._path = self._largest = 0.0
        self._courses = {name: np.full(samples, math.nan) for name in COURSES}
        self._sum = dict.fromkeys(COURSES, 0.0)

    def add(self, commanded: np.ndarray) -> None:
        """Measure the state at the end of a period.

        commanded: commanded velocities x, y [m/s] and yaw [rad/s] (3,).
        """
        robot = self._robot
        v = robot.v
        power = float(np.maximum(robot.joint_efforts * v[self._at], 0.0).sum())
        force = self._foot_force()
        self._count += 1
        self._energy += power * self._period
        self._largest = max(self._largest, force)
        forward = math.nan
        if self._free:
            error = commanded - [v[0], v[1], v[5]]
            self._squares += [error[0] ** 2 + error[1] ** 2, error[2] ** 2]
            self._path += self._horizontal_speed(v[:3]) * self._period
            forward = float(v[0])
        self._sample(forward, float(commanded[0]), power, force)

    def _horizontal_speed(self, velocity: np.ndarray) -> float:
        x, y, z, w = self._robot.q[3:7]
        upward = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        rising = float(upward @ velocity)
        return math.sqrt(max(float(velocity @ velocity) - rising * rising, 0.0))

    def _foot_force(self) -> float:
        contacts = self._robot.contact_arrays()
        if not len(contacts.links):
            return 0.0
        on_links = np.bincount(contacts.links, np.maximum(contacts.forces[:, 2], 0.0))
        return float(on_links.max()) / self._weight

    def _sample(self, forward: float, commanded: float, power: float, force: float) -> None:
        sums = self._sum
        weight = 1.0 / self._ticks
        sums["velocity_x"] += weight * forward
        sums["command_x"] += weight * commanded
        sums["power"] += weight * power
        sums["foot_force"] = max(sums["foot_force"], force)
        if self._count % self._ticks == 0:
            k = self._count // self._ticks - 1
            for name, course in self._courses.items():
                if k < len(course):
                    course[k] = sums[name]
            self._sum = dict.fromkeys(COURSES, 0.0)

    def outcomes(self) -> dict[str, float | np.ndarray]:
        """Return the outcomes and time series so far.

        After the end of a run, time series are NaN.
        """
        errors = np.full(2, math.nan)
        if self._free and self._count:
            errors = np.sqrt(self._squares / self._count)
        moved = self._path > _LEAST_PATH
        return {
            "velocity_error": float(errors[0]),
            "yaw_rate_error": float(errors[1]),
            "energy": self._energy,
            "cost_of_transport": self._energy / (self._weight * self._path) if moved else math.nan,
            "largest_foot_force": self._largest,
            **self._courses,
        }
