# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Footsteps: a walk as a list of steps by kind, and the resulting footsteps.

    walk = Footsteps((forward(4, 0.2), turn(4, math.radians(12)), backward(3, 0.1)), first="left")

A walk moves the point midway between the feet, step by step. The left foot is placed to the left of
this point, the right foot to the right. The distance between the feet is the distance in the start
posture.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from hrpsim.common.arguments import MOST_STEPS
from hrpsim.common.errors import HrpsimError, require_name
from hrpsim.common.typed_values import Finite, check_arguments, check_fields, require_fit
from hrpsim.common.values import number, positive
from hrpsim.control.pattern.support_polygon import gap_between

SIDES = ("left", "right")
STAIRS_RUN = 0.26  # depth of the stairs in config/stairs.yaml [m]
SMALLEST_GAP = 0.01  # between the soles [m]
_CHECKS = 9  # number of checks of the soles' gap during a step
_SAME = 1e-9  # [m, rad]


class WalkError(HrpsimError, ValueError):
    """Raised if a walk cannot be planned. The message names the step and the reason."""


class Footstep(NamedTuple):
    """The planned pose of a level sole on the ground."""

    side: str  # "left" or "right"
    x: float  # [m]
    y: float  # [m]
    yaw: float  # [rad]
    z: float = 0.0  # [m]
    obstacle: float = 0.0  # height above z of an obstacle below the foot's path [m]
    clearance: float = 1.0  # clearance above the obstacle, in step heights of the gait

    def point(self, at) -> np.ndarray:
        """Transform points (..., 2) [m] from the sole's frame to the world (..., 2)."""
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        return np.asarray(at) @ np.array([[c, s], [-s, c]]) + (self.x, self.y)


@dataclass(frozen=True)
class Steps:
    """A number of steps of one kind. Each step moves the point midway between the feet.

    forward, rise [m] and turn [rad, left positive] are the displacement in each step. sideways [m,
    left positive] applies only to steps of the foot on that side. The other foot closes up.
    """

    count: int
    forward: Finite = 0.0
    sideways: Finite = 0.0
    turn: Finite = 0.0
    rise: Finite = 0.0

    def __post_init__(self) -> None:
        check_fields(self, WalkError)
        if not 1 <= self.count <= MOST_STEPS:
            raise WalkError(f"{self}: count must be at least 1 and at most {MOST_STEPS}")


@dataclass(frozen=True)
class Footsteps:
    """A sequence of steps, left and right alternately. The last step brings the feet together."""

    steps: tuple[Steps, ...]
    first: str = "left"  # the foot that makes the first step

    def __post_init__(self) -> None:
        require_name("foot", self.first, SIDES, WalkError)
        require_fit("Footsteps.steps", self.steps, tuple[Steps, ...], WalkError)

    @property
    def climbs(self) -> bool:
        """Whether any step goes up or down."""
        return any(steps.rise != 0.0 for steps in self.steps)

    def scaled(self, size: float, turn: float = 1.0) -> Footsteps:
        """Return the walk with lengths multiplied by `size` and turns multiplied by `turn`.

        A walk that climbs is not scaled, because its steps must match the ground.
        """
        size, turn = positive("size", size), number("turn", turn)
        if size == turn == 1.0 or self.climbs:
            return self
        steps = (
            replace(s, forward=size * s.forward, sideways=size * s.sideways, turn=turn * s.turn)
            for s in self.steps
        )
        return replace(self, steps=tuple(steps))


def forward(count: int, length: float) -> Steps:
    """Return `count` steps forward, each `length` [m] ahead of the other foot."""
    return Steps(count, forward=length)


def backward(count: int, length: float) -> Steps:
    """Return `count` steps backward, each `length` [m] behind the other foot."""
    return Steps(count, forward=-length)


def sideways(count: int, width: float) -> Steps:
    """Return `count` steps that alternately open by `width` [m, left positive] and close."""
    return Steps(count, sideways=width)


def turn(count: int, angle: float, length: float = 0.0) -> Steps:
    """Return `count` steps that turn by `angle` [rad, left positive] and go `length` [m]."""
    return Steps(count, forward=length, turn=angle)


def climb(count: int, run: float, rise: float) -> tuple[Steps, ...]:
    """Return steps up stairs: one foot steps up and forward, then the other foot closes up.

    Args:
        count: number of stairs.
        run: depth of a stair [m].
        rise: height of a stair [m], negative to go down.
    """
    check_arguments(climb, locals(), WalkError)
    return (Steps(1, forward=run, rise=rise), Steps(1)) * count


def in_place(count: int) -> Steps:
    """Return `count` steps on the spot."""
    return Steps(count)


PATTERNS = {
    "E5": Footsteps(
        (forward(6, 0.20), turn(4, math.radians(12.0)), sideways(2, 0.05), backward(6, 0.12))
    ),
    "stepping": Footsteps((in_place(10),)),
    "forward": Footsteps((forward(9, 0.20),)),
    "backward": Footsteps((backward(9, 0.12),)),
    "sideways": Footsteps((sideways(10, 0.05),)),
    "turn": Footsteps((turn(10, math.radians(12.0)),)),
    "stairs": Footsteps(climb(5, STAIRS_RUN, 0.10)),
}


def named_walk(name: str) -> Footsteps:
    """Return the walk called `name` in PATTERNS. Raises WalkError, which lists the names."""
    require_name("walk", name, PATTERNS, WalkError)
    return PATTERNS[name]


def plan_footsteps(walk: Footsteps, left: Footstep, right: Footstep, outlines) -> list[Footstep]:
    """Return the footsteps of `walk` in order. The last footstep brings the feet together.

    Args:
        walk: the walk.
        left: foothold of the left sole at the start.
        right: foothold of the right sole at the start, beside the left.
        outlines: corners of the left and the right sole in their frames, two arrays (k, 2) [m].

    Raises:
        WalkError: a moving or landing foot comes nearer than 10 mm to the other foot.
    """
    half = 0.5 * math.hypot(left.x - right.x, left.y - right.y)
    x, y, yaw = 0.5 * (left.x + right.x), 0.5 * (left.y + right.y), left.yaw
    z = max(left.z, right.z)
    stance = {"left": left, "right": right}
    outline = dict(zip(SIDES, outlines))
    side = walk.first
    footsteps = []

    def put(side: str) -> None:
        aside = half if side == "left" else -half
        step = Footstep(side, x - aside * math.sin(yaw), y + aside * math.cos(yaw), yaw, z)
        footsteps.append(step)
        gap = least_gap(stance[side], step, stance[_other(side)], outline)
        if gap < SMALLEST_GAP:
            raise WalkError(
                f"step {len(footsteps)}, with the {side} foot, leaves {1e3 * gap:.1f} mm between "
                f"the soles. At least {1e3 * SMALLEST_GAP:.0f} mm are needed. Make the step smaller"
            )
        stance[side] = step

    for steps in walk.steps:
        for _ in range(steps.count):
            yaw += steps.turn
            z += steps.rise
            opens = (side == "left") == (steps.sideways > 0.0)
            aside = steps.sideways if opens else 0.0
            x += steps.forward * math.cos(yaw) - aside * math.sin(yaw)
            y += steps.forward * math.sin(yaw) + aside * math.cos(yaw)
            put(side)
            side = _other(side)
    before = stance[side]
    put(side)
    if np.abs(np.subtract(before[1:], stance[side][1:])).max() < _SAME:
        footsteps.pop()  # the feet were already side by side
    return footsteps


def _other(side: str) -> str:
    return SIDES[1 - SIDES.index(side)]


def least_gap(start: Footstep, goal: Footstep, standing: Footstep, outline) -> float:
    """Return the smallest gap between the soles while one foot moves from `start` to `goal` [m]."""
    fixed = standing.point(outline[standing.side])
    gaps = []
    for part in np.linspace(0.0, 1.0, _CHECKS):
        pose = np.add(start[1:], part * np.subtract(goal[1:], start[1:]))
        gaps.append(gap_between(Footstep(goal.side, *pose).point(outline[goal.side]), fixed))
    return min(gaps)
