"""Where the zero-moment point shall be: under the standing foot, or on its way to the next one."""

from __future__ import annotations

import numpy as np

from hrpsim.control.motion.quintic import through_rests
from hrpsim.control.pattern.gait import Gait, Phase


def zmp_reference(phases: list[Phase], gait: Gait, rest: float, times) -> np.ndarray:
    """Return the reference of the zero-moment point at `times` (n,) in the world (n, 2) [m].

    In single support it rests at (rest, 0) of the standing sole; in double support a quintic takes
    it to the sole that stands next. At the start and at the end it is in the middle of these
    points of both soles, and moves for `gait.shift` [s] next to the first and the last step.
    """
    point = (rest, 0.0)
    first, last = phases[0], phases[-1]
    knots = [first.begin, first.end - gait.shift]
    points = [0.5 * (first.left.point(point) + first.right.point(point))] * 2
    for phase in phases:
        if phase.target is not None:
            knots += [phase.begin, phase.end]
            points += [getattr(phase, phase.support).point(point)] * 2
    knots.append(last.begin + gait.shift)
    points.append(0.5 * (last.left.point(point) + last.right.point(point)))
    return through_rests(knots, points, times)
