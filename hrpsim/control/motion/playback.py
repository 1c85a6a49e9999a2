# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Play a motion sequence by joint PD."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from hrpsim.common.errors import unknown_name
from hrpsim.common.schema import flag, listing, name, null_or, numeric, scalar
from hrpsim.common.typed_values import Positive, check_arguments
from hrpsim.common.values import NOT_NEGATIVE
from hrpsim.control.framework.controller import Command, Controller, State, controlled_joints
from hrpsim.control.framework.plugins import PERIOD, checked
from hrpsim.control.motion.motion_sequence import MotionSequence, SequenceError, smooth_step
from hrpsim.control.motion.sequence_files import read_sequence
from hrpsim.model.model import Model

# hrpsys has the same default for the time to the first sample: mean speed, and a shortest time.
_APPROACH_SPEED = 0.5  # [rad/s]
_SHORTEST_APPROACH = 1.0  # [s]
_ALREADY_THERE = 0.02  # deflection of the servos under the robot's weight [rad]
_LOADING_TIME = 0.5  # time in which the feed-forward of torques is turned on [s]


class Playback(Controller):
    """Command the joints along a sequence, from the first sample to the last.

    The parameters are:

    - `sequence`: basename of a set of files, in place of the constructor's sequence.
    - `joint_names`: names of the columns (see `read_sequence`).
    - `period` [s]: control period.
    - `transition` [s]: time from the measured posture to the first sample, on a quintic. By default
      the farthest joint moves at 0.5 rad/s on average, and the time is at least 1 s. There is no
      transition if every joint is within 0.02 rad of the first sample.
    - `feed_forward`: whether the sequence's torques, if any, are added to the servos' torques (true
      by default). Their weight rises to 1 within half a second after the transition.

    Joints that the sequence does not name hold their initial positions.

    Each command is the sample at the end of the period that begins, with the mean rate over this
    period as feed-forward. A host that interpolates the targets linearly over the period makes
    exactly the same motion.

    Args:
        sequence: the motion.
        period: control period [s].

    Attributes:
        begin: time at which the first sample is reached [s], after the transition. None before
            `initialize`.
    """

    parameter_kinds = {
        "sequence": null_or(scalar),
        "joint_names": null_or(listing(name)),
        "period": numeric(PERIOD),
        "transition": null_or(numeric(NOT_NEGATIVE)),
        "feed_forward": flag,
    }

    def __init__(self, sequence: MotionSequence | None = None, period: Positive = 0.005) -> None:
        check_arguments(Playback.__init__, locals(), SequenceError)
        self.sequence = sequence
        self.period = period
        self.transition: float | None = None  # [s], None: depends on the distance
        self.feed_forward = True
        self.begin: float | None = None

    def configure(self, model: Model, parameters: Mapping[str, Any]) -> None:
        """Read the sequence. Raises SequenceError for files or parameters that do not fit."""
        parameters = checked("playback", self.parameter_kinds, parameters, SequenceError)
        if parameters.get("sequence") is not None:
            names = parameters.get("joint_names")
            self.sequence = read_sequence(parameters["sequence"], model, names)
        if self.sequence is None:
            raise SequenceError(
                "playback needs the parameter 'sequence', the basename of a set of files"
            )
        if "period" in parameters:
            self.period = parameters["period"]
        self.transition = parameters.get("transition")
        self.feed_forward = parameters.get("feed_forward", True)
        joints = controlled_joints(model)
        for joint in self.sequence.joint_names:
            if joint not in joints:
                message = unknown_name("joint", joint, joints, limit=len(joints))
                raise SequenceError(
                    f"playback: the sequence moves a joint that the robot does not have: {message}"
                )
        self._columns = [joints.index(joint) for joint in self.sequence.joint_names]

    def initialize(self, state: State) -> None:
        """Sample the whole motion, from the posture measured now."""
        assert self.sequence is not None  # after `configure`
        pos = self.sequence.pos
        start, goal = state.joint_positions, np.array(state.joint_positions)
        goal[self._columns] = pos.values[0]
        transition = self.transition
        if transition is None:
            transition = _approach_time(float(np.abs(goal - start).max(initial=0.0)))
        duration = transition + float(pos.times[-1] - pos.times[0])
        count = max(math.ceil(duration / self.period - 1e-9), 1)
        times = np.arange(count + 1) * self.period
        path = np.tile(goal, (count + 1, 1))
        path[:, self._columns] = pos.at(pos.times[0] + (times - transition))
        on_way = times < transition
        if on_way.any():
            path[on_way] = start + np.outer(smooth_step(times[on_way] / transition), goal - start)
        # The last row is the final state at rest, for a host that continues.
        self._positions = np.concatenate([path[1:], path[-1:]])
        self._velocities = np.zeros_like(self._positions)
        self._velocities[:-1] = np.diff(path, axis=0) / self.period
        self._efforts = self._torques(times, transition)
        self._start = state.time
        self.begin = state.time + transition
        self.finished = False

    def _torques(self, times, transition: float) -> np.ndarray | None:
        """Return the mean feed-forward of each period (count + 1, joints), or None."""
        assert self.sequence is not None  # after `configure`
        torque = self.sequence.torque
        if torque is None or not self.feed_forward:
            return None
        efforts = np.zeros_like(self._positions)
        at = torque.at(self.sequence.pos.times[0] + (times - transition))
        efforts[:, self._columns] = np.concatenate([0.5 * (at[1:] + at[:-1]), at[-1:]])
        return efforts * smooth_step((times - transition) / _LOADING_TIME)[:, None]

    def control(self, state: State) -> Command:
        """Return the sample at the end of this period. `finished` is true after the last sample."""
        k = round((state.time - self._start) / self.period)
        last = len(self._positions) - 1
        if k >= last:
            self.finished = True
            k = last
        efforts = None if self._efforts is None else self._efforts[k]
        return Command(self._positions[k], self._velocities[k], efforts)


def _approach_time(distance: float) -> float:
    if distance <= _ALREADY_THERE:
        return 0.0
    return max(distance / _APPROACH_SPEED, _SHORTEST_APPROACH)
