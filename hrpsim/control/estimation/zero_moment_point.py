# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The zero-moment point of force sensors at the feet, with the true poses of the feet."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from hrpsim.common.constants import STANDARD_GRAVITY
from hrpsim.control.estimation.base_estimator import sole_depth
from hrpsim.model.model import Sensor
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.robot import Robot

FOOT_SENSORS = ("lfsensor", "rfsensor")
"""Names of the force sensors at the feet, by default."""

_LEAST_LOAD = 0.01  # fraction of the weight, below which the ratio of torque to force is noise


class Support(NamedTuple):
    """Force and torque on one foot, along the world's axes, as plain numbers."""

    force: Sequence[float]  # [N]
    torque: Sequence[float]  # about `origin` [Nm]
    origin: Sequence[float]  # [m]
    sole_height: float  # [m]


def zero_moment_point(supports: Sequence[Support], least_force: float):
    """Return the zero-moment point (x, y, z) [m] of forces and torques on the feet.

    About this point, the total moment has no horizontal component. The height of the point is the
    mean height of the soles, weighted by the vertical forces. If both feet stand on one floor, this
    is the floor's height (Kajita et al., Introduction to Humanoid Robotics, chapter 3). Returns
    None if the total vertical force is below `least_force` [N].
    """
    loaded = [max(support.force[2], 0.0) for support in supports]
    f_z = sum(support.force[2] for support in supports)
    if not f_z >= least_force > 0.0:
        return None
    height = sum(f * support.sole_height for f, support in zip(loaded, supports)) / sum(loaded)
    about_x = about_y = 0.0
    for (f_x, f_y, f_z_foot), (t_x, t_y, _), (x, y, z), _ in supports:
        about_x += t_x + y * f_z_foot - (z - height) * f_y
        about_y += t_y + (z - height) * f_x - x * f_z_foot
    return -about_y / f_z, about_x / f_z, height


class MeasuredZmp:
    """The zero-moment point of some force sensors of a robot.

    Args:
        robot: the robot, in its world.
        sensors: names of force sensors at the feet.
        wrench_of: function that takes a sensor's name and returns the wrench (6,).
    """

    def __init__(
        self, robot: Robot, sensors: Sequence[str], wrench_of: Callable[[str], np.ndarray]
    ) -> None:
        self._robot, self._wrench_of = robot, wrench_of
        descriptions = [robot.sensors[name].description for name in sensors]
        self._feet = [(sensor, sole_depth(robot.model, sensor)) for sensor in descriptions]
        self._least_force = _LEAST_LOAD * robot.model.mass * STANDARD_GRAVITY

    def point(self) -> tuple[float, float, float] | None:
        """Return the point (x, y, z) [m], or None if the feet bear less than 1 % of the weight."""
        return zero_moment_point([self._support(*foot) for foot in self._feet], self._least_force)

    def _support(self, sensor: Sensor, depth: float) -> Support:
        p, orientation = self._robot.frame_pose(sensor.body, sensor.R, sensor.p)
        R = rotation_matrix(orientation)
        force, torque = (self._wrench_of(sensor.name).reshape(2, 3) @ R.T).tolist()
        return Support(force, torque, p.tolist(), float(p[2] - depth * R[2, 2]))
