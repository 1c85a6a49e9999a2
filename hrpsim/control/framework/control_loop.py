# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Run a controller in the simulator's process, period by period."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hrpsim.common.closed import Closed
from hrpsim.common.constants import NANOSECONDS
from hrpsim.common.errors import StateError
from hrpsim.common.typed_values import require_fit
from hrpsim.common.values import LIMIT, flag, number
from hrpsim.control.framework.contact_points import ContactSums, pressing_points
from hrpsim.control.framework.controller import (
    BaseReading,
    Command,
    Controller,
    ControllerError,
    ImuReading,
    State,
)
from hrpsim.control.framework.controller_host import ControllerHost, steps_in_period
from hrpsim.control.framework.needs import TRUE, Needs
from hrpsim.model.model import Model
from hrpsim.world.objects.robot import Robot
from hrpsim.world.objects.robot_reader import RobotReader


class StateReader:
    """Reader of a robot's joints, sensors and the quantities in `needs`."""

    def __init__(self, robot: Robot, joint_names: Sequence[str], needs: Needs) -> None:
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
        """Return the measured state at `time` [s], in new arrays."""
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
        """Return the state with true base, contacts and zero-moment point, as needed."""
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


class ControlLoop(Closed):
    """A loop that runs a controller on a robot and steps the robot's world by the control period.

    Use the loop as a context manager, or call `run`. Both stop the controller in any case. After a
    reset of the world, the controller is initialised again. `steps_per_period` is the number of
    steps in a tick.

        with ControlLoop(robot, Balance(), {"gain": 0.3}) as loop:
            while world.time < 2.0:
                state = loop.tick()

    Args:
        robot: the robot to control, in its world.
        controller: the controller to run.
        parameters: parameters of the controller.
        interpolate: move position targets linearly over the period, instead of at once.
        model: model of the robot for the controller. The default is the true model.

    Raises:
        ControllerError: for a period that is not a whole multiple of the world's time step.
    """

    def __init__(
        self,
        robot: Robot,
        controller: Controller,
        parameters: Mapping[str, Any] | None = None,
        interpolate: bool = True,
        model: Model | None = None,
    ) -> None:
        if not isinstance(robot, Robot):
            raise ControllerError(
                f"a control loop needs a robot, such as world.robots['NAME'], got {robot!r}"
            )
        require_fit("the model of a control loop", model, Model | None, ControllerError)
        self.robot = robot
        self.controller = controller
        self._host = ControllerHost(controller, model or robot.model, parameters, robot.name)
        try:
            self.steps_per_period = steps_in_period(
                f"{self._host.name}: the period", controller.period, robot.world.time_step
            )
        except ControllerError:
            self._host.stop()
            raise
        self._over = controller.period if flag("interpolate", interpolate) else 0.0
        self._readings = StateReader(robot, self._host.joint_names, self._host.needs)
        self._last_time = -math.inf

    def __enter__(self) -> ControlLoop:
        return self

    def __exit__(self, *exception) -> None:
        self.stop()

    @property
    def joint_names(self) -> tuple[str, ...]:
        """The names of the joints, in the order of states and commands."""
        return self._host.joint_names

    def run(self, duration: float = math.inf) -> None:
        """Tick until `duration` [s] has passed or the controller has finished. Stop the controller.

        Raises:
            WorldError: the duration is negative or not a number.
        """
        number("duration", duration, LIMIT)
        ticks = duration / self.controller.period
        made = 0
        with self:
            while made < ticks - 1e-6 and not self._host.finished:
                self.tick()
                made += 1

    def tick(self) -> State:
        """Control the robot and step the world by one period.

        Return the state given to the controller.
        """
        state = self.control()
        self.robot.world.step(self.steps_per_period)
        return state

    def control(self) -> State:
        """Read the state, call the controller and command the robot. Return the state.

        Raises ControllerError for a command that the robot cannot follow.
        """
        state = self._present()
        self._give(self._host.command(state))
        return state

    def sense(self) -> State:
        """Return the present state for the controller. Pass it to `act`.

        `sense` followed by `act` equals `control`. Several controllers can be evaluated in one
        batch between the two calls.
        """
        return self._host.sense(self._present())

    def act(self, sensed: State) -> None:
        """Call the controller with a state from `sense`, and command the robot, as in `control`."""
        self._give(self._host.decide(sensed))

    def _present(self) -> State:
        time = self.robot.world.time
        if time < self._last_time:
            self._host.restart()
        self._last_time = time
        return self._readings.read(time)

    def _give(self, command: Command) -> None:
        positions, velocities, efforts, modes = command
        try:
            self.robot.command(
                positions,
                velocities,
                efforts,
                self._host.joint_names,
                self._over,
                nan_holds=modes is not None,
            )
        except StateError as error:
            self._host.stop()
            raise ControllerError(f"{self._host.name}: {error}") from error

    def stop(self) -> None:
        """Stop the controller. The robot keeps its last command."""
        self._host.stop()
