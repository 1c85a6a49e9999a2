# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The timing of footsteps: phases of support, and the reference of the ZMP."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hrpsim.common.errors import ModelWarning
from hrpsim.common.typed_values import Positive, check_fields
from hrpsim.common.values import positive
from hrpsim.control.motion.motion_sequence import through_rests
from hrpsim.control.pattern.footsteps import Footstep, WalkError
from hrpsim.world.objects.plausibility import long_period

_ROUNDING = 1e-9  # [s]
_LONGEST = 60.0  # longest plausible support of a step [s]


class Pace(NamedTuple):
    """Changes of a walk that make it easier for the joints.

    length: factor of lengths and turns. time: factor of times. inset: shift of the ZMP.
    """

    length: float = 1.0
    time: float = 1.0
    inset: float = 0.0  # shift of the ZMP to the other foot, as a fraction of the sole's inner half


# From the planned walk to a walk at a sixth of the speed. If joints cannot follow one, the next is
# tried.
PACES = tuple(
    Pace(*pace) for pace in ((1.0, 1.0), (0.8, 1.2), (0.6, 1.4), (0.5, 1.7), (0.4, 2.0), (0.4, 2.5))
)
# Tried last: robots sway in slow walks until an ankle touches the floor, and sway less if the ZMP
# is further inside.
NARROW_PACES = tuple(Pace(length, 2.0, inset=0.5) for length in (1.0, 0.75, 0.5, 0.25))


@dataclass(frozen=True)
class Gait:
    """Timing [s] and heights [m] of the steps.

    The 19 steps of the walk "E5" take 20 s with the default times.
    """

    single_support: Positive = 0.6  # one foot in the air [s]
    double_support: Positive = 0.3  # both feet on the floor, between two steps [s]
    start: Positive = 1.6  # both feet on the floor, before the first step [s]
    end: Positive = 1.6  # both feet on the floor, after the last step [s]
    shift: Positive = 0.4  # fraction of `start` and `end` in which the zero-moment point moves
    step_height: Positive = 0.05

    def __post_init__(self) -> None:
        check_fields(self, WalkError)
        for name in ("single_support", "double_support"):
            if text := long_period(f"gait: {name}", getattr(self, name), _LONGEST, "a step"):
                warnings.warn(text, ModelWarning, stacklevel=3)
        if self.shift > min(self.start, self.end):
            raise WalkError(
                f"gait: shift must be at most start ({self.start} s) and end ({self.end} s), got "
                f"{self.shift} s"
            )

    def scaled(self, size: float) -> Gait:
        """Return the gait of a robot `size` times as large. Times are multiplied by sqrt(size)."""
        size = positive("size", size)
        return self.paced(Pace(size, math.sqrt(size)))

    def paced(self, pace: Pace) -> Gait:
        """Return the gait at a pace, with times rounded to whole multiples of 10 ms."""
        if pace == Pace():
            return self
        times = {
            name: max(round(pace.time * value, 2), 0.01)
            for name, value in vars(self).items()
            if name != "step_height"
        }
        return Gait(**times, step_height=pace.length * self.step_height)


class Phase(NamedTuple):
    """A phase of a walk, in which the set of standing feet is constant."""

    support: str  # "both", "left" or "right"
    begin: float  # [s]
    end: float  # [s]
    left: Footstep  # the feet at the beginning of the phase
    right: Footstep
    target: Footstep | None = None  # footstep of the foot in the air
    rests: bool = False  # whether the zero-moment point stops midway between two steps


def phases_of(left: Footstep, right: Footstep, footsteps, gait: Gait) -> list[Phase]:
    """Return the phases of a walk that begins and ends with both feet on the floor."""
    stance = {"left": left, "right": right}
    end = gait.start
    phases = [Phase("both", 0.0, end, **stance)]
    for k, step in enumerate(footsteps):
        begin, end = end, end + gait.single_support
        standing = "right" if step.side == "left" else "left"
        phases.append(Phase(standing, begin, end, **stance, target=step))
        stance[step.side] = step
        begin, end = end, end + (gait.double_support if k < len(footsteps) - 1 else gait.end)
        phases.append(Phase("both", begin, end, **stance))
    return phases


def in_air(phase: Phase, times) -> np.ndarray:
    """Return whether each time (n,) [s] is strictly within a phase with a foot in the air.

    If no foot is in the air in `phase`, the result is False at all times.
    """
    if phase.target is None:
        return np.zeros(len(times), dtype=bool)
    return (times > phase.begin + _ROUNDING) & (times < phase.end - _ROUNDING)


def contacts(phases, times) -> np.ndarray:
    """Return whether the left and the right foot are on the floor at `times` (n, 2), bool."""
    standing = np.ones((len(times), 2), dtype=bool)
    for phase in phases:
        if phase.target is not None:
            standing[in_air(phase, times), 0 if phase.target.side == "left" else 1] = False
    return standing


def waist_rises(phases: list[Phase], times) -> np.ndarray:
    """Return how much the waist has risen since the start (n,) [m].

    The waist keeps its height above the lower foot. It rises while one foot is in the air.
    """
    height = min(phases[0].left.z, phases[0].right.z)
    knots, heights = _at_rest_before(phases, height)
    for phase in phases:
        if phase.target is not None:
            standing = phase.right if phase.target.side == "left" else phase.left
            knots += [phase.begin, phase.end]
            heights += [height, height := min(standing.z, phase.target.z)]
    knots.append(phases[-1].end)
    heights.append(heights[-1])
    return through_rests(knots, heights, times)


def _at_rest_before(phases: list[Phase], value) -> tuple[list[float], list]:
    """Return the initial knot of an interpolation over a walk, as ([time], [value]).

    If the walk begins with a foot in the air, there is no initial knot: ([], []).
    """
    return ([], []) if phases[0].target is not None else ([phases[0].begin], [value])


def ground_heights(phases: list[Phase], times) -> np.ndarray:
    """Return the height of the ZMP reference (n,) [m].

    The height is the height of the standing sole. It changes to the next sole's height while the
    reference moves to the next sole.
    """
    knots, heights = _at_rest_before(phases, phases[0].left.z)
    for phase in phases:
        if phase.target is not None:
            knots += [phase.begin, phase.end]
            heights += [getattr(phase, phase.support).z] * 2
    knots.append(phases[-1].end)
    heights.append(phases[-1].left.z)
    return through_rests(knots, heights, times)


def zmp_reference(phases: list[Phase], gait: Gait, rest: float, inset: float, times) -> np.ndarray:
    """Return the ZMP reference at `times` (n,) in the world (n, 2) [m].

    Each sole has a resting point, `rest` [m] ahead of the sole's frame and `inset` [m] towards the
    other sole. In single support the reference is at the resting point of the standing sole. In
    double support the reference moves to the next standing sole on a quintic polynomial.

    At the start and the end of the walk, the reference is midway between the two resting points.
    The reference leaves the middle `gait.shift` [s] before the first step, and returns there within
    `gait.shift` [s] after the last step. Phases that begin with a foot in the air continue an
    earlier walk.
    """
    at = {"left": (rest, -inset), "right": (rest, inset)}
    first, last = phases[0], phases[-1]
    middle = 0.5 * (first.left.point(at["left"]) + first.right.point(at["right"]))
    knots, points = _at_rest_before(phases, middle)
    if knots:
        knots.append(first.end - gait.shift)
        points.append(middle)
    for phase in phases:
        if phase.target is not None:
            knots += [phase.begin, phase.end]
            points += [getattr(phase, phase.support).point(at[phase.support])] * 2
        elif phase.rests:
            knots += [phase.begin + gait.shift, phase.end - gait.shift]
            points += [0.5 * (phase.left.point(at["left"]) + phase.right.point(at["right"]))] * 2
    knots.append(last.begin + gait.shift)
    points.append(0.5 * (last.left.point(at["left"]) + last.right.point(at["right"])))
    return through_rests(knots, points, times)
