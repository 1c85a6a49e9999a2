# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The controllers that a study names, also with sensor noise, and delays of both directions."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

from hrpsim.control.framework.controller import Command, Controller, ImuReading, State
from hrpsim.control.framework.plugins import find_controller
from hrpsim.control.motion.motion_sequence import MotionSequence
from hrpsim.control.walk import Walk
from hrpsim.errors import HrpsimError, unknown_name
from hrpsim.model.model import Model
from hrpsim.sensors.noise import NoiseLevels, SensorNoise
from hrpsim.sweeps.framework.errors import SweepError

_OWN: dict[str, type[Controller]] = {"walk": Walk}
_FORMS = ("module:Class", "path/to/file.py:Class")


def controller_class(name: str) -> type[Controller]:
    """Return the class that "walk", "module:Class" or "file.py:Class" names, or HrpsimError."""
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
    """Adds noise and delay to a controller's measurements, and delay to its commands.

    levels: noise of force sensors and IMUs. sensing_delay, command_delay: in control periods. Late
    measurements carry the present time, as the controller does not know of the delay; at the
    start they are those of the first tick. The first command is held during its delay.
    """

    def __init__(
        self,
        controller: Controller,
        levels: NoiseLevels,
        sensing_delay: int = 0,
        command_delay: int = 0,
    ):
        self.controller = controller
        self._levels = levels
        self._sensing_delay, self._command_delay = sensing_delay, command_delay

    @property
    def finished(self) -> bool:
        """Whether the controller has finished."""
        return self.controller.finished

    @property
    def sequence(self) -> MotionSequence | None:
        """The motion that the controller follows, if it has one."""
        return getattr(self.controller, "sequence", None)

    @property
    def signals(self) -> Mapping[str, Any]:
        """The diagnostics of the controller's last tick."""
        return getattr(self.controller, "signals", {})

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Configure the controller."""
        self.controller.configure(model, parameters)
        self.period = self.controller.period
        sensors = (SensorNoise(s.name, s.kind, self._levels) for s in model.sensors)
        self._noise = {s.name: noise for s, noise in zip(model.sensors, sensors) if noise.is_on}

    def initialize(self, state: State) -> None:
        """Start with the measurements of the first tick."""
        self._tick = 0
        measured = self._measured(state)
        self._measurements = deque([measured] * (self._sensing_delay + 1), self._sensing_delay + 1)
        self._commands: deque[Command] = deque(maxlen=self._command_delay + 1)
        self.controller.initialize(measured)

    def control(self, state: State) -> Command:
        """Return the command that arrives now."""
        self._measurements.append(self._measured(state))
        self._tick += 1
        late = State(state.time, *self._measurements[0][1:])
        self._commands.append(self.controller.control(late))
        return self._commands[0]

    def stop(self) -> None:
        """Stop the controller."""
        self.controller.stop()

    def _measured(self, state: State) -> State:
        if not self._noise:
            return state
        wrenches, imus = dict(state.wrenches), dict(state.imus)
        for name, noise in self._noise.items():
            off = noise.at(self._tick)
            if name in wrenches:
                wrenches[name] = wrenches[name] + off
            elif name in imus:
                orientation, rate, acceleration = imus[name]
                imus[name] = ImuReading(orientation, rate + off[:3], acceleration + off[3:])
        return state._replace(wrenches=wrenches, imus=imus)
