"""When the feet go: footsteps in time, as phases of support."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hrpsim.control.pattern.footsteps import Footstep, WalkError

_ROUNDING = 1e-9  # [s]


@dataclass(frozen=True)
class Gait:
    """How the steps are made; times in s, lengths in m.

    The 19 steps of the walk "E5" with these times take 20 s.
    """

    single_support: float = 0.6  # one foot in the air
    double_support: float = 0.3  # both feet on the floor, between two steps
    start: float = 1.6  # both feet on the floor, before the first step
    end: float = 1.6  # and after the last one
    shift: float = 0.4  # part of `start` and `end` in which the zero-moment point moves
    step_height: float = 0.05

    def __post_init__(self):
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value > 0.0):
                raise WalkError(f"gait: {name} must be positive, got {value!r}")
        if self.shift > min(self.start, self.end):
            raise WalkError(
                f"gait: shift is {self.shift} s, longer than start ({self.start} s) or end "
                f"({self.end} s)"
            )


class Phase(NamedTuple):
    """A time in which the same feet stand."""

    support: str  # "both", "left" or "right"
    begin: float  # [s]
    end: float  # [s]
    left: Footstep  # where the feet stand as it begins
    right: Footstep
    target: Footstep | None = None  # where the foot in the air lands


def phases_of(left: Footstep, right: Footstep, footsteps, gait: Gait) -> list[Phase]:
    """Return the phases of a walk that begins with both feet on the floor, and ends so."""
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
    """Return which of `times` (n,) [s] lie strictly within `phase`, if it lifts a foot (n,)."""
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
