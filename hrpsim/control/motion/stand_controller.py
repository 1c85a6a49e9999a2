# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The standing demo as a controller: position commands that follow a `StandMotion`."""

from __future__ import annotations

import logging
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
from hrpsim.control.framework.parameters import PERIOD, checked
from hrpsim.control.motion.stand_motion import StandMotion
from hrpsim.model.model import Model
from hrpsim.schema import integer, listing, name, numeric
from hrpsim.values import NOT_NEGATIVE, Range

_NEAR = 0.1  # [rad]
_MOTION_PARAMETERS = ("soles", "squat_depth", "step_height", "steps_per_foot")

logger = logging.getLogger(__name__)


class StandController(Controller):
    """Takes a humanoid through half-sitting, squat, sway and steps in place.

    Parameters: `period` [s]; `duration` [s] after which it ends, 0 for the whole motion; `soles`,
    `squat_depth`, `step_height`, `steps_per_foot` of StandMotion. It counts its own ticks, so that
    the motion stays smooth where states are missed.
    """

    parameter_kinds = {
        "period": numeric(PERIOD),
        "duration": numeric(NOT_NEGATIVE),
        "soles": listing(name, 2, 2, "a list of two links"),
        "squat_depth": numeric(Range(0.0, 10.0, "m")),
        "step_height": numeric(Range(0.0, 10.0, "m")),
        "steps_per_foot": integer(0, 100),
    }

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Plan the motion from half-sitting; ControllerError for an unknown parameter."""
        parameters = checked("StandController", self.parameter_kinds, parameters)
        self.period = parameters.get("period", self.period)
        self._duration = parameters.get("duration", 0.0)
        self._options = {k: v for k, v in parameters.items() if k in _MOTION_PARAMETERS}
        self._model = model
        self._joints = controlled_joints(model)
        self._plan({})

    def initialize(self, state: State) -> None:
        """Plan again if the robot is not in half-sitting."""
        if not np.allclose(state.joint_positions, self._positions(0.0), atol=_NEAR):
            self._plan(dict(zip(self._joints, state.joint_positions)))
        self._tick = 0
        self._phase = ""

    def control(self, state: State) -> Command:
        """Return the positions of the next tick of the motion."""
        t = self._tick * self.period
        self._tick += 1
        if self.motion.phase(t) != self._phase:
            self._phase = self.motion.phase(t)
            logger.info("%s from %.2f s", self._phase, t)
        self.finished = t >= min(self.motion.duration, self._duration or self.motion.duration)
        return Command(positions=self._positions(t))

    def _plan(self, start: dict[str, float]) -> None:
        self.motion = StandMotion(self._model, start, **self._options)
        indices = {joint: k for k, joint in enumerate(self.motion.joint_names)}
        for joint in self._joints:
            if joint not in indices:
                raise ControllerError(f"StandController: joint {joint!r} has no gains")
        self._indices = [indices[joint] for joint in self._joints]

    def _positions(self, t: float) -> np.ndarray:
        return self.motion.joint_positions(t)[self._indices]
