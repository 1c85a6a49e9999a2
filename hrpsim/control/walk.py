"""The walking controller, a plug-in like any other: plays a motion, stabilised or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from hrpsim.control.balance.foot import foot_of
from hrpsim.control.balance.stabilizer import Gains, Stabilizer
from hrpsim.control.balance.state_estimation import StateEstimator
from hrpsim.control.balance.walk_reference import WalkReference
from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.control.framework.parameters import PERIOD, checked, read_parameters
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence, SequenceError
from hrpsim.control.motion.playback import Playback
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.control.pattern.footsteps import PATTERNS
from hrpsim.control.pattern.walking_pattern import walking_pattern
from hrpsim.errors import unknown_name
from hrpsim.model.model import Model
from hrpsim.resources import share_path
from hrpsim.schema import flag, numeric, scalar
from hrpsim.values import NOT_NEGATIVE, POSITIVE

SOLES = ("l_sole", "r_sole")
_GAINS = tuple(field.name for field in fields(Gains))
_MAY_BE_ZERO = ("servo_lag", "integral_rate", "integral_limit", "support_margin")
_NEAR = 0.02  # [rad]: as far from the first posture the stabiliser takes over at once


class Walk(Controller):
    """Follows a walking pattern, or any motion of a sequence set, on two feet.

    Parameters, those left out as in config/walk_controller.yaml: `pattern`, one of the names in
    footsteps.PATTERNS or the basename of a sequence set, in place of the constructor's sequence;
    `stabilizer`, false for playback by joint PD alone; `period` [s]; `hold` [s], how long it goes
    on balancing after the last sample; and the stabiliser's gains.

    sequence: the motion, once it is configured. signals: what the last tick found, by name; empty
    without a stabiliser.
    """

    parameter_kinds = {
        "pattern": scalar,
        "stabilizer": flag,
        "period": numeric(PERIOD),
        "hold": numeric(NOT_NEGATIVE),
        **{name: numeric(NOT_NEGATIVE if name in _MAY_BE_ZERO else POSITIVE) for name in _GAINS},
    }

    def __init__(self, sequence: MotionSequence | None = None):
        self.sequence = sequence
        self.signals: dict[str, Any] = {}
        self.reference: WalkReference | None = None
        self.estimator: StateEstimator | None = None
        self.stabilizer: Stabilizer | None = None

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Plan or read the motion and what follows from it.

        Raises ControllerError for parameters that do not exist or are no sensible numbers, and
        what reading or planning the motion raises.
        """
        values = read_parameters(share_path("config/walk_controller.yaml"))
        values.update(checked("walk", self.parameter_kinds, parameters))
        self.period, self._hold = values["period"], values["hold"]
        if self.sequence is None or parameters.get("pattern") is not None:
            self.sequence = _motion(model, values["pattern"])
        if values["stabilizer"]:
            feet = tuple(foot_of(model, sole) for sole in SOLES)
            gains = Gains(**{name: values[name] for name in _GAINS})
            self.estimator = StateEstimator(model, feet)
            self.reference = WalkReference(model, self.sequence, feet, self.period)
            self.stabilizer = Stabilizer(model, feet, self.reference, gains, self.period)
            first = Channel(np.zeros(1), self.reference.joint_positions[:1])
            self._playback = Playback(MotionSequence(controlled_joints(model), first))
        else:
            self.reference = self.estimator = self.stabilizer = None
            self._playback = Playback(self.sequence)
        self._playback.configure(model, {"period": self.period})

    def initialize(self, state: State) -> None:
        """Begin, from the posture that is measured now."""
        self.finished = False
        self.signals = {}
        self._end: float | None = None
        self._begin: float | None = None
        self._playback.initialize(state)
        if self.stabilizer is not None:
            self.estimator.reset()
            self.stabilizer.reset()
            self._last_positions = self.reference.joint_positions[0]
            if np.abs(state.joint_positions - self._last_positions).max() <= _NEAR:
                self._begin = state.time

    def control(self, state: State) -> Command:
        """Return the joint positions for the end of this period, and their mean rates until then.

        `finished` once the motion and the time of holding are over.
        """
        if self._begin is None:
            command = self._playback.control(state)
            over = self._playback.finished
            if over and self.stabilizer is not None:
                self._begin = state.time
        if self._begin is not None:
            k = round((state.time - self._begin) / self.period)
            over = k >= self.reference.count - 1
            command = self._stabilized(state, min(k, self.reference.count - 1))
        if over and self._end is None:
            self._end = state.time + self._hold
        self.finished = self._end is not None and state.time >= self._end - 1e-9
        return command

    def _stabilized(self, state: State, k: int) -> Command:
        estimate = self.estimator.update(state, self.reference.sole_yaw[k])
        positions, lead = self.stabilizer.update(estimate, k)
        self.signals = self.stabilizer.signals
        rates = (positions - self._last_positions) / self.period
        self._last_positions = positions
        return Command(positions=positions + lead, velocities=rates)


def _motion(model: Model, pattern) -> MotionSequence:
    if pattern in PATTERNS:
        return walking_pattern(model, pattern).sequence
    name = str(pattern)
    try:
        return read_sequence(name, model)
    except SequenceError as error:
        if Path(name).name != name or Path(name).is_file() or Path(f"{name}.pos").is_file():
            raise
        message = unknown_name("pattern", name, PATTERNS)
        raise ControllerError(f"walk: {message}; nor is it a set of files: {error}") from error
