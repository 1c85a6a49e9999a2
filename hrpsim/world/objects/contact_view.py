# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Contact sensors of links: contact wrench, pressure, times in contact and in the air."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from hrpsim.engine.compile.compiled import entry_point, kernel
from hrpsim.engine.compile.kernel_types import Index, Mat3, Matrix, Vec6
from hrpsim.engine.compile.reference import TupleReference
from hrpsim.engine.kinematics.forward import update_poses
from hrpsim.engine.spatial.vector import transposed_times
from hrpsim.model.sensors.sampled_sensor import SampledSensor
from hrpsim.world.objects.contact_arrays import ContactArrays, ContactSources, read_contact
from hrpsim.world.objects.entity import _frozen
from hrpsim.world.objects.robot_reader import LinkSources, link_records, place_link
from hrpsim.world.objects.sensor_view import SampledView, SamplingRobot


@kernel
def read_pad(
    contacts: ContactSources,
    frame: LinkSources,
    first: Index,
    end: Index,
    cell: float,
    work: Mat3,
    wrench: Vec6,
    pressure: Matrix,
) -> int:
    """Add the contacts of the links from `first` to `end` - 1 to a wrench and a pressure.

    Args:
        contacts: arrays with the contacts of the last step.
        frame: links to read. The first link is the sensor frame.
        first: index of the first link.
        end: index after the last link.
        cell: edge length of a square pressure cell [m].
        work: work array (3, 3).
        wrench: force [N] and torque [Nm] (6,), added to, in and about the sensor frame.
        pressure: (nx, ny) [Pa], added to. The cells lie in the xy plane of the sensor frame,
            centred at its origin. Contacts beyond the cells count in the nearest cell.
    """
    update_poses(frame.forest, frame.q, frame.kinematics)
    R, p = frame.rotation, work[0]
    place_link(frame, frame.links[0], R, p)
    point, force = work[1], work[2]
    ox, oy, oz = p[0], p[1], p[2]
    nx, ny = pressure.shape
    for c in range(contacts.counts[0].contact_count):
        contact = contacts.contacts[c]
        for side in range(2):
            shape = contact.shape_a if side == 0 else contact.shape_b
            link = contacts.link_of_shape[shape]
            if link < first or link >= end:
                continue
            read_contact(contacts, contact, 1.0 if side == 0 else -1.0, point, work[0], force)
            x, y, z = point[0] - ox, point[1] - oy, point[2] - oz
            px, py, pz = transposed_times(R, x, y, z)
            fx, fy, fz = transposed_times(R, force[0], force[1], force[2])
            wrench[0] += fx
            wrench[1] += fy
            wrench[2] += fz
            wrench[3] += py * fz - pz * fy
            wrench[4] += pz * fx - px * fz
            wrench[5] += px * fy - py * fx
            if nx > 0:
                i = int(min(max(math.floor(px / cell + 0.5 * nx), 0.0), nx - 1.0))
                j = int(min(max(math.floor(py / cell + 0.5 * ny), 0.0), ny - 1.0))
                pressure[i, j] += fz / (cell * cell)
    return 0


class ContactValues(NamedTuple):
    """The values of one sample of a contact sensor."""

    wrench: np.ndarray  # (6,) force [N] and torque [Nm]
    pressure: np.ndarray  # (nx, ny) [Pa]
    in_contact: bool
    contact_time: float  # [s]
    air_time: float
    last_contact_time: float
    last_air_time: float
    contacts: ContactArrays | None = None  # arrays of the view


class ContactView(SampledView):
    """The contacts of one link in the last step before each sample.

    A force sensor above a sole also measures the weight and inertia of the sole. A contact sensor
    does not. Contacts of rigid bodies have forces at points, such as the corners of a flat sole.
    The force along z of each point counts in the nearest cell. The pressure of a cell is the sum of
    these forces, divided by the area of the cell. With `keeps_contacts`, a sample also has the
    contacts themselves.
    """

    keeps_contacts = False

    def __init__(self, robot: SamplingRobot, description: SampledSensor) -> None:
        self._shape, self._work = description.pattern.shape, np.zeros((3, 3))
        self._reader: Any = None  # reader of the next two arrays
        self._frame: TupleReference | None = None
        self._read: Any = None
        super().__init__(robot, description)

    def __getstate__(self) -> dict:
        """Leave out addresses in memory."""
        return self.__dict__ | {"_reader": None, "_frame": None, "_read": None}

    def forget(self) -> None:
        """Drop all samples and times."""
        super().forget()
        self._last = ContactValues(np.zeros(6), np.zeros(self._shape), False, 0.0, 0.0, 0.0, 0.0)
        self._ends = 0  # step at the end of the last sample

    def _unfinished(self) -> tuple[ContactValues, int]:
        return self._last, self._ends

    def _resume(self, unfinished: tuple[ContactValues, int]) -> None:
        self._last, self._ends = unfinished

    def _finish(self, number: int) -> ContactValues:
        robot, pad, before = self.robot, self.description.pattern, self._last
        world = robot.world
        wrench, pressure = np.zeros(6), np.zeros(self._shape)
        self._feel(world.reader, wrench, pressure)
        passed = (self._start - self._ends) * world.time_step
        self._ends = self._start
        touches = math.sqrt(wrench[:3] @ wrench[:3]) >= pad.threshold
        times = before.contact_time, before.air_time
        last = before.last_contact_time, before.last_air_time
        if touches != before.in_contact:
            last = (last[0], times[1]) if touches else (times[0], last[1])
            times = 0.0, 0.0
        times = (times[0] + passed, 0.0) if touches else (0.0, times[1] + passed)
        contacts = world.contacts_of(robot, self.description.link) if self.keeps_contacts else None
        self._last = ContactValues(wrench, pressure, touches, *times, *last, contacts)
        return self._last

    def _feel(self, reader, wrench: np.ndarray, pressure: np.ndarray) -> None:
        """Add the contacts of the last step to `wrench` (6,) and `pressure` (nx, ny).

        Both arrays are zero at the call.
        """
        robot, at = self.robot, self.description
        if self._reader is not reader or self._frame is None:
            self._reader, own = reader, robot.access.links.whole
            self._range = reader.table.range_of(robot, at.link)
            self._frame = TupleReference(own._replace(links=link_records([at])))
            arguments = reader.contacts, self._frame, *self._range, at.pattern.cell
            self._read = entry_point(read_pad, *arguments, self._work, wrench, pressure)
        arguments = reader.contacts, self._frame, *self._range, at.pattern.cell
        self._read(*arguments, self._work, wrench, pressure)

    def _values(self) -> ContactValues:
        sample = self.latest()
        return self._last if sample is None else sample.values

    @property
    def wrench(self) -> np.ndarray:
        """Force [N], then torque [Nm] of the contacts on the link, in and about the frame (6,)."""
        return _frozen(self._values().wrench.copy())

    @property
    def pressure(self) -> np.ndarray:
        """Pressure on each cell (nx, ny) [Pa].

        The sum times the area of a cell is the force along z.
        """
        return _frozen(self._values().pressure.copy())

    @property
    def in_contact(self) -> bool:
        """Whether the contact force is at least the sensor's threshold."""
        return self._values().in_contact

    @property
    def contact_time(self) -> float:
        """Time in contact since the contact began [s]. The time is 0 in the air."""
        return self._values().contact_time

    @property
    def air_time(self) -> float:
        """Time in the air since the link lifted off [s]. The time is 0 in contact."""
        return self._values().air_time

    @property
    def last_contact_time(self) -> float:
        """Duration of the last complete contact [s]."""
        return self._values().last_contact_time

    @property
    def last_air_time(self) -> float:
        """Duration of the last complete time in the air [s]."""
        return self._values().last_air_time
