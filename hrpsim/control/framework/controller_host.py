"""The life of one controller, the same in the simulator's process and behind ROS topics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.model.model import Model

_NANOSECONDS = 1_000_000_000


class ControllerHost:
    """Configures a controller, asks it for commands, checks these, and stops it once.

    Raises ControllerError for a period that is not positive and finite; what the controller itself
    raises goes through, after it was stopped (a `configure` that fails is not followed by `stop`).
    joint_names: the joints of states and commands, in their order.
    """

    def __init__(
        self, controller: Controller, model: Model, parameters: Mapping[str, Any] | None = None
    ):
        self.controller = controller
        self.name = type(controller).__name__
        self.joint_names = controlled_joints(model)
        self._begun = False
        self._ended = False
        controller.configure(model, dict(parameters or {}))
        if not (np.isfinite(controller.period) and controller.period > 0.0):
            self.stop()
            raise ControllerError(
                f"{self.name}: the period must be a time > 0 s, got {controller.period!r}"
            )

    @property
    def finished(self) -> bool:
        """Whether the controller has nothing left to do."""
        return self.controller.finished

    def begin_anew(self) -> None:
        """Let `initialize` come again before the next command: the simulation was reset."""
        self._begun = False

    def command(self, state: State) -> Command:
        """Return what the controller commands at `state`, as float64 arrays of its own.

        Raises ControllerError that names the controller, and the joint, for a command of the wrong
        type or shape, without values, or with values that are not finite.
        """
        if self._ended:
            raise ControllerError(f"{self.name} was stopped; make a new host for another run")
        try:
            if not self._begun:
                self.controller.initialize(state)
                self._begun = True
            return self._checked(self.controller.control(state))
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the controller, if that was not done before."""
        if not self._ended:
            self._ended = True
            self.controller.stop()

    def _checked(self, command: Command) -> Command:
        if not isinstance(command, Command):
            raise ControllerError(
                f"{self.name}.control must return a Command, got {type(command).__name__}"
            )
        if command.positions is command.velocities is command.efforts is None:
            raise ControllerError(
                f"{self.name}.control returned a Command without positions, velocities or efforts"
            )
        return Command(*(self._values(*field) for field in zip(Command._fields, command)))

    def _values(self, what: str, values) -> np.ndarray | None:
        if values is None:
            return None
        try:
            vector = np.array(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ControllerError(f"{self.name}: {what} must be numbers, got {values!r}") from error
        if vector.shape != (len(self.joint_names),):
            raise ControllerError(
                f"{self.name}: {what} must be {len(self.joint_names)} numbers, one for each of "
                f"controlled_joints(model), got shape {vector.shape}"
            )
        finite = np.isfinite(vector)
        if not finite.all():
            k = int(np.argmin(finite))
            raise ControllerError(
                f"{self.name}: {what} for joint {self.joint_names[k]!r} is {vector[k]}"
            )
        return vector


def seconds_of(nanoseconds: int) -> float:
    """Return the float64 nearest to a time in whole nanoseconds [s], as `State.time` has it."""
    return nanoseconds / _NANOSECONDS


def steps_in_period(what: str, period: float, time_step: float) -> int:
    """Return how many steps of `time_step` [s] make up `period` [s].

    Raises ControllerError, which begins with `what`, unless it is a whole number of them.
    """
    steps = round(period / time_step)
    if steps < 1 or abs(steps * time_step - period) > 1e-6 * time_step:
        raise ControllerError(
            f"{what} of {period:g} s is not a whole multiple of the world's time step "
            f"of {time_step:g} s"
        )
    return steps
