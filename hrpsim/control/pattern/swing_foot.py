"""How the feet move: on the floor they rest, in the air they go up, ahead, and softly down."""

from __future__ import annotations

import numpy as np

from hrpsim.control.motion.quintic import smooth_step
from hrpsim.control.pattern.footsteps import SIDES, Footstep
from hrpsim.control.pattern.gait import Phase, in_air

_TRAVEL = (0.08, 0.80)  # part of the time in the air in which the foot moves and turns
_APEX = 0.42  # part of the time in the air after which the foot is highest


def sole_courses(phases: list[Phase], step_height: float, times) -> np.ndarray:
    """Return x, y, z [m], yaw [rad] of the left and the right sole at `times` (n,), (n, 2, 4).

    Position, velocity and acceleration are continuous, and zero velocity and acceleration are
    reached at lift-off and at touch-down. The foot travels while it is off the floor: it stops
    above its target and comes straight down.
    """
    courses = np.empty((len(times), 2, 4))
    for foot, side in enumerate(SIDES):
        courses[:, foot] = _pose(getattr(phases[0], side))
        for phase in phases:
            if phase.target is None or phase.target.side != side:
                continue
            now = in_air(phase, times)
            start, goal = _pose(getattr(phase, side)), _pose(phase.target)
            courses[times > 0.5 * (phase.begin + phase.end), foot] = goal
            part = (times[now] - phase.begin) / (phase.end - phase.begin)
            travelled = smooth_step((part - _TRAVEL[0]) / (_TRAVEL[1] - _TRAVEL[0]))
            courses[now, foot] = start + travelled[:, None] * (goal - start)
            courses[now, foot, 2] = step_height * _lift(part)
    return courses


def _lift(part) -> np.ndarray:
    rising = smooth_step(part / _APEX)
    return np.where(part < _APEX, rising, smooth_step((1.0 - part) / (1.0 - _APEX)))


def _pose(step: Footstep) -> np.ndarray:
    return np.array([step.x, step.y, 0.0, step.yaw])
