# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact sensors of links: wrench of the contacts alone, pressure, times in contact and in air."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hrpsim.model.sampled_sensors import SampledSensor
from hrpsim.world.objects.body import rotation_matrix
from hrpsim.world.objects.entity import _frozen
from hrpsim.world.objects.sampled_view import SampledView


class ContactValues(NamedTuple):
    """The values of one sample of a contact sensor."""

    wrench: np.ndarray  # (6,) force [N] and torque [Nm]
    pressure: np.ndarray  # (nx, ny) [Pa]
    in_contact: bool
    contact_time: float  # [s]
    air_time: float
    last_contact_time: float
    last_air_time: float


class ContactView(SampledView):
    """The contacts of one link in the last step before each sample.

    A force sensor above a sole measures the sole's weight and inertia as well; this does not.
    Contacts of rigid bodies have their forces at points, at the corners of flat soles: pressure is
    their force along z over the area of the cell that they are in, or are nearest to.
    """

    def __init__(self, robot, description: SampledSensor):
        self._shape = description.pattern.shape
        super().__init__(robot, description)

    def forget(self) -> None:
        """Drop all samples, and the times."""
        super().forget()
        self._last = ContactValues(np.zeros(6), np.zeros(self._shape), False, 0.0, 0.0, 0.0, 0.0)
        self._ends = 0  # step of the last sample

    def _unfinished(self) -> tuple[ContactValues, int]:
        return self._last, self._ends

    def _resume(self, unfinished: tuple[ContactValues, int]) -> None:
        self._last, self._ends = unfinished

    def _finish(self, number: int) -> ContactValues:
        at, before = self.description, self._last
        contacts = self.robot.contact_arrays(at.link)
        p, quaternion = self.robot.frame_pose(at.body, at.R, at.p)
        R = rotation_matrix(quaternion)
        points, forces = (contacts.points - p) @ R, contacts.forces @ R
        wrench = np.concatenate([forces.sum(axis=0), np.cross(points, forces).sum(axis=0)])
        passed = (self._start - self._ends) * self.robot.world.time_step
        self._ends = self._start
        touches = bool(np.linalg.norm(wrench[:3]) >= at.pattern.threshold)
        times = before.contact_time, before.air_time
        last = before.last_contact_time, before.last_air_time
        if touches != before.in_contact:
            last = (last[0], times[1]) if touches else (times[0], last[1])
            times = 0.0, 0.0
        times = (times[0] + passed, 0.0) if touches else (0.0, times[1] + passed)
        pressure = self._pressure(points, forces[:, 2])
        self._last = ContactValues(wrench, pressure, touches, *times, *last)
        return self._last

    def _pressure(self, points: np.ndarray, loads: np.ndarray) -> np.ndarray:
        """Return the pressure on each cell (nx, ny) [Pa]."""
        pressure, cell = np.zeros(self._shape), self.description.pattern.cell
        if pressure.size:
            places = points[:, :2] / cell + 0.5 * np.array(self._shape)
            i, j = np.clip(np.floor(places).astype(int), 0, np.array(self._shape) - 1).T
            np.add.at(pressure, (i, j), loads / cell**2)
        return pressure

    def _values(self) -> ContactValues:
        found = self.latest()
        return self._last if found is None else found.values

    @property
    def wrench(self) -> np.ndarray:
        """Force [N] then torque [Nm] of the contacts on the link, in and about the frame (6,)."""
        return _frozen(self._values().wrench.copy())

    @property
    def pressure(self) -> np.ndarray:
        """Pressure on each cell (nx, ny) [Pa]; times the cells' area, its sum is the force's z."""
        return _frozen(self._values().pressure.copy())

    @property
    def in_contact(self) -> bool:
        """Whether the force is at least the threshold."""
        return self._values().in_contact

    @property
    def contact_time(self) -> float:
        """Time in contact since it began [s]; 0 in the air."""
        return self._values().contact_time

    @property
    def air_time(self) -> float:
        """Time in the air since it began [s]; 0 in contact."""
        return self._values().air_time

    @property
    def last_contact_time(self) -> float:
        """Duration of the last contact that has ended [s]."""
        return self._values().last_contact_time

    @property
    def last_air_time(self) -> float:
        """Duration of the last time in the air that has ended [s]."""
        return self._values().last_air_time
