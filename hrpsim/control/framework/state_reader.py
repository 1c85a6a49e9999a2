# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The state of a robot in the simulator's process, as controllers get it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hrpsim.constants import NANOSECONDS
from hrpsim.control.framework.contact_points import ContactSums, pressing_points
from hrpsim.control.framework.controller import BaseReading, ImuReading, State
from hrpsim.control.framework.needs import TRUE, Needs
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.robot_reader import RobotReader


class StateReader:
    """Reads joints, sensors and what `needs` asks for of a robot."""

    def __init__(self, robot: Robot, joint_names: Sequence[str], needs: Needs):
        self._robot = robot
        self._count = len(joint_names)
        self._needs = needs
        self._reader = RobotReader(robot, joint_names, with_base=needs.base == TRUE)
        at = 3 * self._count
        self._wrenches: dict[str, slice] = {}
        self._imus: list[tuple[str, slice, slice, slice]] = []
        turned = at + 6 * len(robot.model.sensors)
        for sensor in robot.model.sensors:
            if sensor.kind == "force_torque":
                self._wrenches[sensor.name] = slice(at, at + 6)
            elif sensor.kind == "imu":
                parts = slice(turned, turned + 4), slice(at, at + 3), slice(at + 3, at + 6)
                self._imus.append((sensor.name, *parts))
                turned += 4
            at += 6
        self._base = turned
        self._asks_more = bool(needs.base == TRUE or needs.contacts or needs.zmp)
        self._sums = ContactSums(robot.model, needs.contacts)

    def read(self, time: float) -> State:
        """Return what is measured at `time` [s], in arrays that nobody else holds."""
        numbers, n = self._reader.read(), self._count
        state = State(
            round(time * NANOSECONDS) / NANOSECONDS,
            numbers[:n],
            numbers[n : 2 * n],
            numbers[2 * n : 3 * n],
            {name: numbers[part] for name, part in self._wrenches.items()},
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
        if needs.contacts or needs.zmp:
            pressing = pressing_points(robot)
            contacts = self._sums.of_links(pressing)
            zmp = self._sums.zero_moment_point(pressing) if needs.zmp else None
        return state._replace(base=base, contacts=contacts, zmp=zmp)
