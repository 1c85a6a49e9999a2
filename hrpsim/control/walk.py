# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Walking controllers: along a pattern or any motion, or by velocity commands."""

import functools
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from hrpsim.common.errors import unknown_name
from hrpsim.common.resources import share_path
from hrpsim.common.schema import flag, numeric, scalar
from hrpsim.common.values import NOT_NEGATIVE
from hrpsim.control.balance.foot import foot_of
from hrpsim.control.balance.stabilizer import GAIN_KINDS, Gains, Stabilizer
from hrpsim.control.balance.walk_reference import RollingReference, WalkReference
from hrpsim.control.framework.controller import (
    Command,
    Controller,
    ControllerError,
    State,
    controlled_joints,
)
from hrpsim.control.framework.plugins import PERIOD, checked, read_parameters
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence, SequenceError
from hrpsim.control.motion.playback import Playback
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.control.pattern.footsteps import PATTERNS, Footstep
from hrpsim.control.pattern.gait import Gait, Pace
from hrpsim.control.pattern.replanned_walk import PlaceFootstep, ReplannedWalk, WalkSection
from hrpsim.control.pattern.velocity_footsteps import Velocity, VelocityCommands
from hrpsim.control.pattern.walking_pattern import fitting_pattern
from hrpsim.control.pattern.whole_body_zmp import WalkingBody
from hrpsim.model.model import Model

_KEPT = 4  # number of stored references of a model

# Stored plans of a model for the next walk: planning takes longer than some walks.
_Soles = tuple[str, str]
_motions: WeakKeyDictionary[Model, dict[tuple[str, _Soles], tuple[MotionSequence, Pace]]] = (
    WeakKeyDictionary()
)
_references: WeakKeyDictionary[Model, list[tuple[MotionSequence, _Soles, float, WalkReference]]] = (
    WeakKeyDictionary()
)
_LIMITING = "E5"  # the walk that determines the pace that the legs can follow


class Walk(Controller):
    """Follow a walking pattern, or any motion of a sequence set, on two feet.

    The parameters are, with defaults from config/walk_controller.yaml:

    - `pattern`: a name in footsteps.PATTERNS or the basename of a sequence set, instead of the
      constructor's sequence.
    - `left_sole`, `right_sole`: links.
    - `stabilizer`: false plays the motion back by joint PD alone.
    - `period` [s]: control period.
    - `hold` [s]: duration of balancing after the last sample.
    - the stabiliser's gains.

    Attributes:
        sequence: the motion, after `configure`.
        soles: both links, after `configure`.
        pace: factors by which the motion was made easier for the joints, after `configure`.
        begin: time at which the motion begins [s], after the transition to its first posture. None
            before `initialize`.
        signals: results of the last tick by name, empty without a stabiliser.
    """

    parameter_kinds = {
        "pattern": scalar,
        "left_sole": scalar,
        "right_sole": scalar,
        "stabilizer": flag,
        "period": numeric(PERIOD),
        "hold": numeric(NOT_NEGATIVE),
        **GAIN_KINDS,
    }

    def __init__(self, sequence: MotionSequence | None = None) -> None:
        self.sequence = sequence
        self.soles: tuple[str, str] = ("", "")
        self.pace = Pace()
        self.begin: float | None = None
        self.signals: Mapping[str, Any] = {}
        self.reference: WalkReference | None = None
        self.stabilizer: Stabilizer | None = None

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Plan or read the motion, and compute the reference and the stabiliser.

        Raises ControllerError for parameters that do not exist or are invalid, and the errors of
        reading or planning the motion.
        """
        values = dict(walk_defaults())
        values.update(checked("walk", self.parameter_kinds, parameters))
        self.period, self._hold = values["period"], values["hold"]
        self.soles = str(values["left_sole"]), str(values["right_sole"])
        if self.sequence is None or parameters.get("pattern") is not None:
            self.sequence, self.pace = _motion(model, values["pattern"], self.soles)
        if values["stabilizer"]:
            gains = Gains(**{name: values[name] for name in GAIN_KINDS})
            self.reference = _reference(model, self.sequence, self.soles, self.period)
            self.stabilizer = Stabilizer(model, self.reference, gains, self.period)
            first = Channel(np.zeros(1), self.reference.joint_positions[:1])
            self._playback = Playback(MotionSequence(controlled_joints(model), first))
        else:
            self.reference = self.stabilizer = None
            self._playback = Playback(self.sequence)
        self._playback.configure(model, {"period": self.period})

    def initialize(self, state: State) -> None:
        """Start the walk from the measured posture."""
        self.finished = False
        self.signals = {}
        self._end: float | None = None
        self._playback.initialize(state)
        self.begin = self._playback.begin
        if self.stabilizer is not None:
            self.stabilizer.reset()
            ticks = math.ceil((self.begin - state.time) / self.period - 1e-9)
            self.begin = state.time + ticks * self.period

    def control(self, state: State) -> Command:
        """Return joint positions for the end of this period, and mean velocities over the period.

        `finished` becomes true when the motion and the hold time are over.
        """
        k = round((state.time - self.begin) / self.period)
        if self.stabilizer is None:
            command = self._playback.control(state)
            over = self._playback.finished
        elif k < 0:
            command, over = self._playback.control(state), False
        else:
            over = k >= self.reference.count - 1
            command = self.stabilizer.update(state, min(k, self.reference.count - 1))
            self.signals = self.stabilizer.signals
        if over and self._end is None:
            self._end = state.time + self._hold
        self.finished = self._end is not None and state.time >= self._end - 1e-9
        return command


@functools.cache
def walk_defaults() -> Mapping[str, Any]:
    """Return the parameters of config/walk_controller.yaml."""
    return read_parameters(share_path("config/walk_controller.yaml"))


def _motion(model: Model, pattern, soles: _Soles) -> tuple[MotionSequence, Pace]:
    if pattern in PATTERNS:
        motions = _motions.setdefault(model, {})
        if (pattern, soles) not in motions:
            made, pace = fitting_pattern(model, pattern, soles=soles)
            motions[pattern, soles] = made.sequence, pace
        return motions[pattern, soles]
    name = str(pattern)
    try:
        return read_sequence(name, model), Pace()
    except SequenceError as error:
        if Path(name).name != name or Path(name).is_file() or Path(f"{name}.pos").is_file():
            raise
        message = unknown_name("pattern", name, PATTERNS)
        raise ControllerError(
            f"walk: {message}. It is not a set of files either: {error}"
        ) from error


def _reference(
    model: Model, sequence: MotionSequence, soles: _Soles, period: float
) -> WalkReference:
    """Return the reference of the stabiliser. The result is cached and must not be changed."""
    references = _references.setdefault(model, [])
    for known, its_soles, its_period, reference in references:
        if known is sequence and (its_soles, its_period) == (soles, period):
            return reference
    feet = tuple(foot_of(model, sole) for sole in soles)
    reference = WalkReference(model, sequence, feet, period)
    references[_KEPT - 1 :] = []
    references.insert(0, (sequence, soles, period, reference))
    return reference


class VelocityWalk(Controller):
    """Walk by velocity commands, balanced by the stabiliser, until the walk is stopped.

    The parameters are, with defaults from config/walk_controller.yaml:

    - `left_sole`, `right_sole`, `period` and the stabiliser's gains: as for `Walk`.
    - `command_timeout` [s]: time without a new command after which the walk stops (0.5).

    A command takes effect with the next footstep: the foot in the air completes its step. Commands
    faster than `limits` are slowed down, in the same direction and on the same curve.

    Attributes:
        limits: the largest velocities.
        soles: both links, after `configure`.
        place_footstep: a function (nominal, standing) -> Footstep, called for every step before the
            step is planned, and for the three following steps. None: footsteps as planned.
        begin: time from which the robot can walk [s].
        footsteps: the present plan, beginning with the present step.
        signals: as for `Walk`.
    """

    parameter_kinds = {
        "left_sole": scalar,
        "right_sole": scalar,
        "period": numeric(PERIOD),
        "command_timeout": numeric(NOT_NEGATIVE),
        **GAIN_KINDS,
    }

    def __init__(self, place_footstep: PlaceFootstep | None = None) -> None:
        self.place_footstep = place_footstep
        self.begin: float | None = None
        self.signals: Mapping[str, Any] = {}
        self.footsteps: tuple[Footstep, ...] = ()
        self.commands = VelocityCommands(0.5)

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Find the pace that the legs can follow.

        Raises ControllerError for parameters that do not exist or are invalid, and the errors of
        planning a walk.
        """
        settings = checked("walk by velocity", self.parameter_kinds, parameters)
        values = {**walk_defaults(), **settings}
        self.period = values["period"]
        self.soles = str(values["left_sole"]), str(values["right_sole"])
        self.commands.timeout = values.get("command_timeout", self.commands.timeout)
        _, pace = fitting_pattern(model, _LIMITING, soles=self.soles)
        body = WalkingBody(model, self.soles)
        self.plan = ReplannedWalk(body, Gait(), pace, self.period)
        self.limits = self.plan.limits
        gains = Gains(**{name: values[name] for name in GAIN_KINDS})
        feet = foot_of(model, self.soles[0]), foot_of(model, self.soles[1])
        self.reference = RollingReference(body, feet, self.plan.longest, gains.support_margin)
        self._section: WalkSection | None = None
        self._write(Velocity())
        self.stabilizer = Stabilizer(model, self.reference, gains, self.period)
        first = self.reference.trajectory(gains.support_margin).joint_positions[:1]
        names = controlled_joints(model)
        self._playback = Playback(MotionSequence(names, Channel(np.zeros(1), first.copy())))
        self._playback.configure(model, {"period": self.period})

    def command_velocity(self, velocity: Velocity, time: float = 0.0) -> None:
        """Set the velocity of the walk from `time` [s] on, until the next command.

        The velocity takes effect with the first footstep after `time`. Raises ControllerError for
        values that are not finite.
        """
        self.commands.add(velocity, time)

    def initialize(self, state: State) -> None:
        """Start the walk from the measured posture."""
        self.signals = {}
        self.commands.restart(state.time)
        self.plan.reset()
        self._write(Velocity())
        self._playback.initialize(state)
        self.stabilizer.reset()
        begin = self._playback.begin
        assert begin is not None
        ticks = math.ceil((begin - state.time) / self.period - 1e-9)
        self.begin = state.time + ticks * self.period
        self._since = 0  # tick at the begin of the section

    def control(self, state: State) -> Command:
        """Return joint positions for the end of this period, and mean velocities over the period.

        At a touch-down, and while the robot stands, this call first plans the next section. Raises
        WalkError or UnreachableError if no step is possible.
        """
        assert self.begin is not None
        tick = round((state.time - self.begin) / self.period)
        velocity = self.commands.at(state.time)
        if tick < 0:
            return self._playback.control(state)
        if tick - self._since >= self.reference.count - 1:
            self._since = tick
            self._write(velocity)
        command = self.stabilizer.update(state, tick - self._since)
        self.signals = self.stabilizer.signals
        return command

    def _write(self, velocity: Velocity) -> None:
        section = self.plan.section(velocity, self.place_footstep)
        self.footsteps = section.footsteps
        if section is not self._section:
            self.reference.write(section)
        self._section = section
