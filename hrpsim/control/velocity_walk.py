# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The walking controller by velocity commands: footsteps are planned again at every touch-down."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.control.balance.foot import foot_of
from hrpsim.control.balance.rolling_reference import RollingReference
from hrpsim.control.balance.stabilizer import GAIN_KINDS, Gains, Stabilizer
from hrpsim.control.framework.controller import Command, Controller, State, controlled_joints
from hrpsim.control.framework.plugins import PERIOD, checked
from hrpsim.control.motion.motion_sequence import Channel, MotionSequence
from hrpsim.control.motion.playback import Playback
from hrpsim.control.pattern.footsteps import Footstep
from hrpsim.control.pattern.gait import Gait
from hrpsim.control.pattern.replanned_walk import PlaceFootstep, ReplannedWalk, WalkSection
from hrpsim.control.pattern.velocity_footsteps import Velocity, VelocityCommands
from hrpsim.control.pattern.walking_pattern import fitting_pattern
from hrpsim.control.pattern.whole_body_zmp import WalkingBody
from hrpsim.control.walk import walk_defaults
from hrpsim.model.model import Model
from hrpsim.schema import numeric, scalar
from hrpsim.values import NOT_NEGATIVE

_LIMITING = "E5"  # the walk that shows which pace the legs can follow


class VelocityWalk(Controller):
    """Walks by velocity commands, balanced by the stabiliser, until it is stopped.

    Parameters, those left out as in config/walk_controller.yaml: `left_sole`, `right_sole`,
    `period` and the stabiliser's gains, as of `Walk`; `command_timeout` [s], after which the walk
    stops where no command comes (0.5).

    A command takes effect with the next footstep: the foot in the air completes its step. Faster
    commands than `limits` are slowed down, in the same direction and on the same curve.

    limits: the largest velocities; soles: both links, once it is configured. place_footstep: a
    function (nominal, standing) -> Footstep, called for every step before it is planned, and for
    the three foreseen after it; None for footsteps as planned. begin: when it can walk [s].
    footsteps: the present plan, the step that is being made first. signals: as of `Walk`.
    """

    parameter_kinds = {
        "left_sole": scalar,
        "right_sole": scalar,
        "period": numeric(PERIOD),
        "command_timeout": numeric(NOT_NEGATIVE),
        **GAIN_KINDS,
    }

    def __init__(self, place_footstep: PlaceFootstep | None = None):
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
        given = checked("walk by velocity", self.parameter_kinds, parameters)
        values = {**walk_defaults(), **given}
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
        """Walk at `velocity` from the first footstep after `time` [s] on, until the next command.

        ControllerError for values that are not finite.
        """
        self.commands.add(velocity, time)

    def initialize(self, state: State) -> None:
        """Start from the present measured posture."""
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
        self._since = 0  # tick at which the section began

    def control(self, state: State) -> Command:
        """Return the joint positions for the end of this period, and their mean rates until then.

        At a touch-down, and while the robot stands, it plans the next section first. Raises
        WalkError or UnreachableError where no step is possible.
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
