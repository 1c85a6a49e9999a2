# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Configure, call and stop one controller, in the simulator's process and over ROS alike."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import numpy as np

from hrpsim.common.constants import NANOSECONDS
from hrpsim.common.errors import shown_value
from hrpsim.common.values import as_numbers, is_number
from hrpsim.control.framework.controller import (
    MODES,
    BaseReading,
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
    period_of,
    used_by,
)
from hrpsim.control.framework.needs import BASE, CONTACTS, ESTIMATED, JOINTS, ZMP, Needs, needs_of
from hrpsim.engine.sensors.noise import SensorNoise
from hrpsim.model.model import Model


class Perception:
    """Adds noise and delays to measured states, and estimates the base from the result.

    Noise depends on the seed, the names of robot and sensor, and the number of the tick. A run
    therefore repeats exactly, in process and over ROS. The first measurement is used until a delay
    has passed. `time` is never delayed. Raises ModelError if the base cannot be estimated.
    """

    def __init__(
        self, model: Model, joint_names: Sequence[str], needs: Needs, period: float, robot: str
    ) -> None:
        self._needs = needs
        self._period = period
        self._noises: dict[str, SensorNoise] = {}
        if needs.noise is not None:
            self._noises = {
                s.name: SensorNoise(s.name, s.kind, needs.noise, robot=robot) for s in model.sensors
            }
        self._estimator = None
        if needs.base == ESTIMATED:
            from hrpsim.control.estimation.base_estimator import BaseEstimator

            self._estimator = BaseEstimator(model, joint_names, period, needs.feet)
        self.reset()

    def reset(self) -> None:
        """Clear noise, delays and estimate. The next state is the first state of a run."""
        self._past = {name: deque[Any](maxlen=n + 1) for name, n in self._needs.delays.items()}
        if self._estimator is not None:
            self._estimator.reset()

    def perceive(self, state: State) -> State:
        """Return the state for the controller: with noise, delays and the estimated base."""
        if self._noises:
            self._add_noise(state)
        if self._past:
            state = self._make_late(state)
        if self._estimator is None:
            return state
        imu = state.imus[self._estimator.imu.name]
        base = self._estimator.update(
            state.joint_positions, state.joint_velocities, *imu, state.wrenches
        )
        return state._replace(base=BaseReading(*base))

    def _add_noise(self, state: State) -> None:
        tick = round(state.time / self._period)
        for sensor, wrench in state.wrenches.items():
            wrench += self._noises[sensor].at(tick)
        for sensor, imu in state.imus.items():
            error = self._noises[sensor].at(tick)
            imu.angular_velocity[:] += error[:3]
            imu.linear_acceleration[:] += error[3:]

    def _make_late(self, state: State) -> State:
        joints = state.joint_positions, state.joint_velocities, state.joint_efforts
        positions, velocities, efforts = self._late(JOINTS, joints)
        return State(
            state.time,
            positions,
            velocities,
            efforts,
            {name: self._late(name, wrench) for name, wrench in state.wrenches.items()},
            {name: self._late(name, imu) for name, imu in state.imus.items()},
            self._late(BASE, state.base),
            self._late(CONTACTS, state.contacts) if self._needs.contacts else state.contacts,
            self._late(ZMP, state.zmp),
        )

    def _late(self, what: str, present):
        """Return the measurement `delays[what]` ticks ago, or the first measurement."""
        past = self._past.get(what)
        if past is None:
            return present
        past.append(present)
        return past[0] if len(past) == past.maxlen else deepcopy(past[0])


class ControllerHost:
    """Host of one controller: configures it, checks its commands, and stops it once.

    If the controller raises an error, the host stops the controller and the error propagates. The
    controller is not stopped after a failed `configure`. The states passed to `command` must
    contain the true base, contacts and zero-moment point if required. The host computes the other
    requirements.

    Args:
        controller: the controller to run.
        model: model of the robot.
        parameters: parameters of the controller.
        robot: name of the robot in its world, which determines the noise. The default is the name
            of the model.

    Attributes:
        joint_names: names of the joints, in the order of states and commands.
        needs: the checked requirements of the controller.

    Raises:
        ControllerError: for a period that is not positive and finite.
    """

    def __init__(
        self,
        controller: Controller,
        model: Model,
        parameters: Mapping[str, Any] | None = None,
        robot: str = "",
    ) -> None:
        _check_arguments(controller, parameters)
        self.controller = controller
        self.name = type(controller).__name__
        self.joint_names = controlled_joints(model)
        self._shape = (len(self.joint_names),)
        self._begun = False
        self._ended = False
        controller.configure(model, dict(parameters or {}))
        with self._stopped_by_errors():
            period = period_of(controller)
            self.needs = needs_of(self.name, controller.needs, model, period)
            self._perception = None
            if self.needs.base == ESTIMATED or self.needs.noise or self.needs.delays:
                self._perception = Perception(
                    model, self.joint_names, self.needs, period, robot or model.name
                )

    @property
    def finished(self) -> bool:
        """Whether the controller has finished."""
        return self.controller.finished

    def restart(self) -> None:
        """Initialise the controller again before its next command.

        Call this after a reset of the simulation.
        """
        self._begun = False

    def command(self, state: State) -> Command:
        """Return the controller's command at `state`, in new float64 arrays.

        Raises ControllerError, with the names of controller and joint, for a command of the wrong
        type or shape, without values, or with values that are not finite.
        """
        return self.decide(self.sense(state))

    def sense(self, state: State) -> State:
        """Return the state that the controller gets: with noise, delays and the estimated base.

        The first call initialises the controller.
        """
        if self._ended:
            raise ControllerError(f"{self.name} was stopped. Make a new host for another run")
        with self._stopped_by_errors():
            if self._perception is not None:
                if not self._begun:
                    self._perception.reset()
                state = self._perception.perceive(state)
            if not self._begun:
                self.controller.initialize(state)
                self._begun = True
        return state

    def decide(self, sensed: State) -> Command:
        """Return the controller's command for a state that `sense` returned."""
        with self._stopped_by_errors():
            return self._checked(self.controller.control(sensed))

    @contextmanager
    def _stopped_by_errors(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the controller, unless it was stopped before."""
        if not self._ended:
            self._ended = True
            self.controller.stop()

    def _checked(self, command: Command) -> Command:
        if not isinstance(command, Command):
            raise ControllerError(
                f"{self.name}.control must return a Command, got {type(command).__name__}"
            )
        positions, velocities, efforts, modes = command
        if modes is not None:
            return self._mixed(command)
        if positions is velocities is efforts is None:
            raise ControllerError(
                f"{self.name}.control returned a Command without positions, velocities or efforts"
            )
        fields = zip(Command._fields, command[:3])
        return Command(*(None if v is None else self._values(name, v) for name, v in fields))

    def _mixed(self, command: Command) -> Command:
        """Return a command with modes, with NaN for each value that a joint does not use."""
        modes = np.asarray(command.modes)
        chosen = [modes == mode for mode in MODES]
        if modes.shape != (len(self.joint_names),) or not np.logical_or.reduce(chosen).all():
            raise ControllerError(
                f"{self.name}: modes must be {len(self.joint_names)} values, each POSITION, "
                "VELOCITY or "
                "EFFORT"
            )
        fields = []
        rows = zip(MODES, Command._fields, chosen, used_by(modes), strict=False)
        for mode, field, needed, mine in rows:
            values = command[mode]
            if values is None and needed.any():
                joint = self.joint_names[int(np.argmax(needed))]
                raise ControllerError(
                    f"{self.name}: joint {joint!r} is commanded by {MODES[mode]}, but the command "
                    f"has no {field}"
                )
            if values is not None:
                vector = self._numbers(field, values)
                self._values(field, np.where(mine, vector, 0.0))
                values = np.where(mine, vector, np.nan)
            fields.append(values)
        positions, velocities, efforts = fields
        return Command(positions, velocities, efforts, modes)

    def _values(self, what: str, values) -> np.ndarray:
        """Check that `values` are finite numbers, one for each joint. Return a new array."""
        vector = self._numbers(what, values)
        # A sum of squares of finite numbers may be infinite. The reverse is impossible.
        if not math.isfinite(vector.dot(vector)):
            finite = np.isfinite(vector)
            if not finite.all():
                k = int(np.argmin(finite))
                raise ControllerError(
                    f"{self.name}: {what} for joint {self.joint_names[k]!r} must be finite, got "
                    f"{vector[k]}"
                )
        return vector

    def _numbers(self, what: str, values) -> np.ndarray:
        vector = as_numbers(f"{self.name}: {what}", values, ControllerError).copy()
        if vector.shape != self._shape:
            raise ControllerError(
                f"{self.name}: {what} must be {len(self.joint_names)} numbers, one for each of "
                f"controlled_joints(model), got shape {vector.shape}"
            )
        return vector


def _check_arguments(controller: Any, parameters: Any) -> None:
    """Raise ControllerError for a value that is not a controller, or invalid parameters."""
    if isinstance(controller, type) or not hasattr(controller, "control"):
        hint = f". Make one: {controller.__name__}()" if isinstance(controller, type) else ""
        raise ControllerError(
            "a control loop needs a Controller with a method `control`, got"
            f" {shown_value(controller)}{hint}"
        )
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ControllerError(
            "parameters of a controller must be a mapping with names as keys, got "
            f"{shown_value(parameters)}"
        )


def seconds_of(nanoseconds: int) -> float:
    """Convert whole nanoseconds to the nearest float64 [s], as in `State.time`."""
    return nanoseconds / NANOSECONDS


def steps_in_period(what: str, period: float, time_step: float) -> int:
    """Return the number of steps of `time_step` [s] in a period of `period` [s].

    Raises ControllerError unless the period is a whole number of steps. The message starts with
    `what`.
    """
    if not (is_number(period) and 0.0 < period < math.inf):
        raise ControllerError(f"{what} must be a time > 0 s, got {shown_value(period)}")
    steps = round(period / time_step)
    if steps < 1 or abs(steps * time_step - period) > 1e-6 * time_step:
        least = max(int(period / time_step), 1)
        periods = " or ".join(f"{k * time_step:g}" for k in (least, least + 1))
        parts = max(math.ceil(period / time_step), 1)
        fitting = ", ".join(f"{period / k:g}" for k in range(parts, parts + 3))
        raise ControllerError(
            f"{what} of {period:g} s is not a whole multiple of the world's time step "
            f"of {time_step:g} s. Choose a period of {periods} s, or a time step of {fitting} s"
        )
    return steps
