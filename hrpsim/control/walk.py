"""The walking controller: plays a motion, with or without a stabiliser. A plug-in like any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from hrpsim.control.controller import Command, Controller, ControllerError, State
from hrpsim.control.foot import foot_of
from hrpsim.control.footsteps import PATTERNS
from hrpsim.control.motion_sequence import MotionSequence
from hrpsim.control.playback import Playback
from hrpsim.control.plugins import read_parameters
from hrpsim.control.sequence_files import read_sequence
from hrpsim.control.stabilizer import Gains, Stabilizer
from hrpsim.control.state_estimation import StateEstimator
from hrpsim.control.walk_reference import WalkReference
from hrpsim.control.walking_pattern import walking_pattern
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model
from hrpsim.resources import share_path

SOLES = ("l_sole", "r_sole")
_GAINS = tuple(field.name for field in fields(Gains))
_OWN = ("pattern", "stabilizer", "period", "hold")


class Walk(Controller):
    """Follows a walking pattern, or any motion of a sequence set, on two feet.

    Parameters, those left out as in config/walk_controller.yaml: `pattern`, one of the names in
    footsteps.PATTERNS or the basename of a sequence set, in place of the constructor's sequence;
    `stabilizer`, false for playback by joint PD alone; `period` [s]; `hold` [s], how long it goes
    on balancing after the last sample; and the stabiliser's gains.

    sequence: the motion, once it is configured. signals: what the last tick found, by name; empty
    without a stabiliser.
    """

    def __init__(self, sequence: MotionSequence | None = None):
        self.sequence = sequence
        self.signals: dict[str, Any] = {}
        self.stabilizer: Stabilizer | None = None
        self.estimator: StateEstimator | None = None

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Plan or read the motion and what follows from it.

        Raises ControllerError for parameters that do not exist or are no sensible numbers, and
        what reading or planning the motion raises.
        """
        values = read_parameters(share_path("config/walk_controller.yaml"))
        known = (*_OWN, *_GAINS)
        for name, value in parameters.items():
            if name not in known:
                raise ControllerError(f"walk: {unknown_name('parameter', name, known, limit=99)}")
            values[name] = value
        for name in ("period", "hold", *_GAINS):
            values[name] = _number(name, values[name])
        if not isinstance(values["stabilizer"], bool):
            raise ControllerError(
                f"walk: stabilizer must be true or false, got {values['stabilizer']!r}"
            )
        self.period, self._hold = values["period"], values["hold"]
        if self.sequence is None or parameters.get("pattern") is not None:
            self.sequence = _motion(model, values["pattern"])
        self._playback = Playback(self.sequence)
        self._playback.configure(model, {"period": self.period})
        if values["stabilizer"]:
            feet = tuple(foot_of(model, sole) for sole in SOLES)
            gains = Gains(**{name: values[name] for name in _GAINS})
            self.reference = WalkReference(model, self.sequence, feet, self.period)
            self.estimator = StateEstimator(model, feet)
            self.stabilizer = Stabilizer(model, feet, self.reference, gains, self.period)

    def initialize(self, state: State) -> None:
        """Begin, from the posture that is measured now."""
        self._playback.initialize(state)
        self.finished = False
        self._end: float | None = None
        if self.stabilizer is not None:
            self.estimator.reset()
            self.stabilizer.reset()
            self._begin = state.time
            self._last_command = np.array(state.joint_positions)

    def control(self, state: State) -> Command:
        """Return the joint positions for the end of this period, and their mean rates until then.

        `finished` once the motion and the time of holding are over.
        """
        if self.stabilizer is None:
            command = self._playback.control(state)
            over = self._playback.finished
        else:
            k = round((state.time - self._begin) / self.period)
            estimate = self.estimator.update(
                state, self.reference.sole_yaw[min(k, self.reference.count - 1)]
            )
            positions = self.stabilizer.update(estimate, k)
            self.signals = self.stabilizer.signals
            rates = (positions - self._last_command) / self.period
            self._last_command = positions
            command = Command(positions=positions, velocities=rates)
            over = k >= self.reference.count - 1
        if over and self._end is None:
            self._end = state.time + self._hold
        self.finished = self._end is not None and state.time >= self._end - 1e-9
        return command


def _motion(model: Model, pattern) -> MotionSequence:
    if pattern in PATTERNS:
        return walking_pattern(model, pattern).sequence
    return read_sequence(pattern, model)


def _number(name: str, value) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0.0 <= number < np.inf or (number == 0.0 and name.endswith(("period", "time", "lag"))):
        raise ControllerError(f"walk: {name} must be a positive number, got {value!r}")
    return number
