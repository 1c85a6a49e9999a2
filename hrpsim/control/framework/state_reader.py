# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The state of a robot in the simulator's process, as controllers get it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.constants import NANOSECONDS, STANDARD_GRAVITY
from hrpsim.control.framework.controller import BaseReading, ImuReading, LinkContact, State
from hrpsim.control.framework.needs import TRUE, Needs
from hrpsim.world.objects.contact_arrays import ContactArrays
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.robot_reader import RobotReader

_LEAST_LOAD = 0.01  # of the weight; less is no support


class StateReader:
    """Reads joints, sensors and what `needs` asks for of a robot."""

    def __init__(self, robot: Robot, joint_names: Sequence[str], needs: Needs):
        self._robot = robot
        self._count = len(joint_names)
        self._needs = needs
        self._reader = RobotReader(robot, joint_names, with_base=needs.base == TRUE)
        at = 3 * self._count
        self._wrenches: list[tuple[str, slice]] = []
        self._imus: list[tuple[str, slice, slice, slice]] = []
        turned = at + 6 * len(robot.model.sensors)
        for sensor in robot.model.sensors:
            if sensor.kind == "force_torque":
                self._wrenches.append((sensor.name, slice(at, at + 6)))
            elif sensor.kind == "imu":
                parts = slice(turned, turned + 4), slice(at, at + 3), slice(at + 3, at + 6)
                self._imus.append((sensor.name, *parts))
                turned += 4
            at += 6
        self._base = turned
        self._asks_more = bool(needs.base == TRUE or needs.contacts or needs.zmp)
        shapes, frames = robot.model.shapes, robot.model.frames
        self._carried = {  # links with shapes that move as one with those asked for
            link: sorted({shape.link for shape in shapes if shape.body == frames[link].body})
            for link in needs.contacts
        }
        self._least_force = _LEAST_LOAD * robot.model.mass * STANDARD_GRAVITY

    def read(self, time: float) -> State:
        """Return what is measured at `time` [s], in arrays that nobody else holds."""
        numbers, n = self._reader.read(), self._count
        state = State(
            round(time * NANOSECONDS) / NANOSECONDS,
            numbers[:n],
            numbers[n : 2 * n],
            numbers[2 * n : 3 * n],
            {name: numbers[place] for name, place in self._wrenches},
            {
                name: ImuReading(numbers[turned], numbers[rate], numbers[force])
                for name, turned, rate, force in self._imus
            },
        )
        return self._with_more(state, numbers) if self._asks_more else state

    def _with_more(self, state: State, numbers: np.ndarray) -> State:
        """Return the state with the true base, contacts and zero-moment point, as asked for."""
        needs, robot, k = self._needs, self._robot, self._base
        base, zmp, contacts = None, None, {}
        if needs.base == TRUE:
            parts = numbers[k : k + 3], numbers[k + 3 : k + 7], numbers[k + 7 : k + 10]
            base = BaseReading(*parts, numbers[k + 10 : k + 13])
        if needs.contacts:
            poses = dict(zip(robot.model.link_names, robot.link_poses()[0]))
            for link, carried in self._carried.items():
                found = [robot.contact_arrays(one) for one in carried]
                contacts[link] = _contact(found, poses[link])
        if needs.zmp:
            zmp = zero_moment_point(robot.contact_arrays(), self._least_force)
        return state._replace(base=base, contacts=contacts, zmp=zmp)


def _contact(found: Sequence[ContactArrays], origin: np.ndarray) -> LinkContact:
    points = np.concatenate([np.empty((0, 3)), *(one.points for one in found)])
    forces = np.concatenate([np.empty((0, 3)), *(one.forces for one in found)])
    pressing = forces.any(axis=1)
    points, forces = points[pressing], forces[pressing]
    torque = np.cross(points - origin, forces).sum(axis=0)
    return LinkContact(forces.sum(axis=0), torque, points, forces)


def zero_moment_point(contacts: ContactArrays, least_force: float) -> np.ndarray | None:
    """Return the point (3,) [m] about which the contact forces have no horizontal moment.

    It lies at the mean height of the points that press, weighted by their vertical forces. None
    where the vertical force in all is below `least_force` [N].
    """
    points, forces = contacts.points, contacts.forces
    f_z = forces[:, 2].sum()
    if not f_z >= least_force > 0.0:
        return None
    bearing = np.maximum(forces[:, 2], 0.0)
    height = bearing @ points[:, 2] / bearing.sum()
    above = (points[:, 2] - height)[:, None]
    x, y = (points[:, :2] * forces[:, 2:] - above * forces[:, :2]).sum(axis=0) / f_z
    return np.array([x, y, height])
