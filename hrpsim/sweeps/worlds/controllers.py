# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Controllers named by a study, also with sensor noise and with delays in both directions."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from hrpsim.common.errors import HrpsimError, unknown_name
from hrpsim.control.framework.controller import Command, Controller, State
from hrpsim.control.framework.plugins import find_controller
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.control.walk import Walk
from hrpsim.model.model import Model
from hrpsim.sweeps.framework.scenario import SweepError

_OWN: dict[str, type[Controller]] = {"walk": Walk}
_FORMS = ("module:Class", "path/to/file.py:Class")


def controller_class(name: str) -> type[Controller]:
    """Return the class named "walk", "module:Class" or "file.py:Class". Raises HrpsimError."""
    if name in _OWN:
        return _OWN[name]
    if ":" not in name:
        raise SweepError(unknown_name("controller", name, (*_OWN, *_FORMS)))
    try:
        return find_controller(name)
    except HrpsimError:
        raise
    except (Exception, SystemExit) as error:  # raised by the user's module
        raise SweepError(f"controller {name!r}: {type(error).__name__}: {error}") from error


class DisturbedController(Controller):
    """A controller with added noise and delay of measurements, and delay of commands.

    Noise and sensing delay are added to the controller's `needs`, which the host satisfies. The
    first command acts until the command delay has passed.

    Args:
        controller: the controller to disturb.
        noise: noise of force sensors and IMUs, as in `needs`. It replaces the controller's own
            noise.
        sensing_delay: delay of all measurements in control periods. It replaces the controller's
            own delay.
        command_delay: delay of commands in control periods.
    """

    def __init__(
        self,
        controller: Controller,
        noise: Mapping[str, Any],
        sensing_delay: int = 0,
        command_delay: int = 0,
    ) -> None:
        self.controller = controller
        self._noise, self._sensing_delay = dict(noise), sensing_delay
        self._command_delay = command_delay

    @property
    def finished(self) -> bool:
        """Whether the controller has finished."""
        return self.controller.finished

    @property
    def sequence(self) -> MotionSequence | None:
        """The motion that the controller follows, if any."""
        return getattr(self.controller, "sequence", None)

    @property
    def signals(self) -> Mapping[str, Any]:
        """The diagnostics of the controller's last tick."""
        return getattr(self.controller, "signals", {})

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Configure the controller."""
        self.controller.configure(model, parameters)
        self.period = self.controller.period
        self.needs = dict(self.controller.needs)
        if self._noise:
            self.needs["noise"] = self._noise
        if self._sensing_delay:
            self.needs["delays"] = self._sensing_delay * self.period

    def initialize(self, state: State) -> None:
        """Start with the measurements of the first tick."""
        self._commands: deque[Command] = deque(maxlen=self._command_delay + 1)
        self.controller.initialize(state)

    def control(self, state: State) -> Command:
        """Return the delayed command for this period."""
        self._commands.append(self.controller.control(state))
        return self._commands[0]

    def stop(self) -> None:
        """Stop the controller."""
        self.controller.stop()
