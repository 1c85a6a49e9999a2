# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Footsteps from velocity commands: the support foot and the command determine the next step."""

import math
from collections import deque
from typing import NamedTuple

import numpy as np

from hrpsim.common.values import as_numbers
from hrpsim.control.framework.controller import ControllerError
from hrpsim.control.pattern.footsteps import Footstep
from hrpsim.engine.step.scene.status import LARGEST_COMMAND

# The largest step of each kind for legs of 0.6 m, as in the walk "E5".
FORWARD, BACKWARD, SIDEWAYS, TURN = 0.20, 0.12, 0.05, math.radians(12.0)
_MOST_WAITING = 1000  # largest number of velocities with a later time


class Velocity(NamedTuple):
    """Velocity of a walk along the robot's own axes, as in geometry_msgs/Twist."""

    forward: float = 0.0  # [m/s]
    left: float = 0.0  # [m/s]
    turn: float = 0.0  # turning rate about the vertical, left positive [rad/s]


class VelocityLimits(NamedTuple):
    """The largest forward, sideways and turning velocity, each when the other two are zero."""

    forward: float  # [m/s]
    backward: float  # [m/s]
    left: float  # to the left and to the right [m/s]
    turn: float  # [rad/s]

    def within(self, velocity: Velocity) -> Velocity:
        """Return the velocity, reduced to the limits. Direction and curvature stay the same.

        The forward, sideways and turning velocities, as fractions of their limits, then add up to
        at most 1.
        """
        forward, left, turn = velocity
        along = self.forward if forward >= 0.0 else self.backward
        used = abs(forward) / along + abs(left) / self.left + abs(turn) / self.turn
        return velocity if used <= 1.0 else Velocity(*(part / used for part in velocity))


def velocity_limits(size: float, step_time: float) -> VelocityLimits:
    """Return the limits of a robot `size` times as large as a robot with legs of 0.6 m.

    step_time: time from one touch-down to the next [s]. The sideways limit allows for the step
    after a sideways step, which only closes up.
    """
    lengths = np.array([FORWARD, BACKWARD, 0.5 * SIDEWAYS]) * size
    return VelocityLimits(*(lengths / step_time).tolist(), TURN / step_time)


def next_footstep(standing: Footstep, velocity: Velocity, time: float, width: float) -> Footstep:
    """Return the footstep of the other foot after `time` [s], at the height of `standing`.

    The point midway between the feet, which are `width` [m] apart, moves along the arc of the
    velocity. If the velocity has a sideways part, the foot on that side steps out twice as far.
    Then the other foot closes up.
    """
    side, inward = ("right", -0.5) if standing.side == "left" else ("left", 0.5)
    outward = 2.0 * velocity.left * time
    forward, left = velocity.forward * time, outward if inward * outward > 0.0 else 0.0
    angle = velocity.turn * time
    chord = math.sin(0.5 * angle) / (0.5 * angle) if angle else 1.0
    x, y = standing.point((0.0, inward * width))
    along = Footstep(side, x, y, standing.yaw + 0.5 * angle)
    x, y = along.point((chord * forward, chord * left))
    x, y = Footstep(side, x, y, standing.yaw + angle).point((0.0, inward * width))
    return Footstep(side, float(x), float(y), standing.yaw + angle, standing.z)


class VelocityCommands:
    """Velocity commands with start times.

    The velocity is zero `timeout` [s] after the last command.
    """

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._waiting: deque[tuple[float, Velocity]] = deque()
        self._last, self._read_until = (-math.inf, Velocity()), -math.inf

    def add(self, velocity: Velocity, time: float) -> None:
        """Add a velocity that applies from `time` [s] on. Raises ControllerError if not finite."""
        numbers = as_numbers("velocity and time", [*velocity, time], ControllerError)
        if not (np.abs(numbers) <= LARGEST_COMMAND).all():
            raise ControllerError(
                f"velocity {tuple(velocity)} at {time} s: each component must be finite and at "
                f"most {LARGEST_COMMAND:g} m/s or rad/s in size"
            )
        if len(self._waiting) >= _MOST_WAITING:
            raise ControllerError(
                f"more than {_MOST_WAITING} velocity commands wait for their start times. Send "
                "commands later"
            )
        at = len(self._waiting)
        while at and self._waiting[at - 1][0] > time:
            at -= 1
        self._waiting.insert(at, (time, Velocity(*velocity)))

    def at(self, time: float) -> Velocity:
        """Return the velocity that applies at `time` [s].

        Call with times that do not decrease, except after `restart`.
        """
        self._read_until = time
        while self._waiting and self._waiting[0][0] <= time:
            self._last = self._waiting.popleft()
        since, velocity = self._last
        return velocity if time - since <= self.timeout else Velocity()

    def restart(self, now: float) -> None:
        """Forget the commands before `now` [s], or all commands if time has gone back to `now`."""
        later = [entry for entry in self._waiting if entry[0] >= now >= self._read_until]
        self._waiting = deque(later)
        self._last, self._read_until = (-math.inf, Velocity()), now
