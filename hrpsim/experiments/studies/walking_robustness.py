# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""What the stabilised walk withstands: friction, masses, steps, slopes, pushes, periods."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from hrpsim.constants import STANDARD_GRAVITY
from hrpsim.control.pattern.walking_pattern import WalkingPattern
from hrpsim.control.walk import Walk
from hrpsim.control.walk_trial import Trial, simulate_walk
from hrpsim.experiments.framework.experiment import Row
from hrpsim.experiments.scenes.walking_conditions import (
    Conditions,
    Push,
    described,
    pushing,
    standing_robot,
)

IMPULSES = (10.0, 20.0, 30.0, 40.0, 50.0)  # [Ns]
SIDES = {
    "behind": 0.0,
    "the right": 0.5 * math.pi,
    "the front": math.pi,
    "the left": -0.5 * math.pi,
}
RISES = {
    "ahead": 0.0,
    "to the left": 0.5 * math.pi,
    "behind": math.pi,
    "to the right": 1.5 * math.pi,
}
PUSH_STEP = 4  # in the middle of this single support


def trial(pattern: WalkingPattern, conditions: Conditions, period: float = 0.005) -> Trial:
    """Return a stabilised walk; the controller knows the description, not the true robot."""
    robot = standing_robot(conditions)
    push = pushing(robot, conditions.push)
    end = math.inf if conditions.push is None else conditions.push.begin + 5.0
    return simulate_walk(
        robot,
        Walk(pattern.sequence),
        {"period": period},
        model=described(conditions),
        duration=end,
        each_tick=push,
    )


def robustness(pattern: WalkingPattern) -> list[Row]:
    """Return rows for information: what happens in each case."""
    usual = Conditions()
    cases = {
        "friction 0.3": replace(usual, friction=0.3),
        "friction 0.5": replace(usual, friction=0.5),
        "friction 1.0": replace(usual, friction=1.0),
        "masses 10 % smaller than known": replace(usual, mass_factor=0.9),
        "masses 10 % greater than known": replace(usual, mass_factor=1.1),
        "plate of 5 mm on the way": replace(usual, plate=0.005),
        **{
            f"floor that rises by 1 degree {way}": replace(
                usual, slope=math.radians(1.0), slope_heading=heading
            )
            for way, heading in RISES.items()
        },
    }
    rows = [_row(what, trial(pattern, conditions)) for what, conditions in cases.items()]
    rows += [
        _row(f"control period of {1e3 * period:g} ms", trial(pattern, usual, period))
        for period in (0.001, 0.002)
    ]
    return rows + push_rows(pattern)


def _row(what: str, done: Trial) -> Row:
    outcome = done.steps if done.fell_at is None else f"falls in step {done.steps + 1}"
    return Row(f"(c) {what}: steps made", "", outcome)


def push_rows(pattern: WalkingPattern) -> list[Row]:
    """Return which impulses on the waist, of 0.1 s, it withstands standing and on one foot."""
    single = [phase for phase in pattern.phases if phase.support != "both"][PUSH_STEP]
    moments = {
        "standing": 0.5,
        f"on the {single.support} foot": 0.5 * (single.begin + single.end),
    }
    rows = []
    for when, begin in moments.items():
        for side, heading in SIDES.items():
            withstood = 0.0
            for impulse in IMPULSES:
                push = Push(impulse, heading, begin)
                if trial(pattern, Conditions(push=push)).fell_at is not None:
                    break
                withstood = impulse
            what = f"(c) push of 0.1 s from {side}, {when}: withstands up to"
            known = _capturable(pattern, heading) if when == "standing" else None
            rows.append(Row(what, "Ns", withstood, analytic=known))
    return rows


def _capturable(pattern: WalkingPattern, heading: float) -> float:
    """Return the sudden impulse [Ns] that takes the pendulum's capture point to the soles' edge.

    Standing, m omega d for the distance d along `heading` from the ZMP at rest: no foot that
    stays where it is withstands more on the linear inverted pendulum (Pratt et al. 2006).
    """
    along = np.array([math.cos(heading), math.sin(heading)])
    corners = np.concatenate(
        [corner + sole[:2] for corner, sole in zip(pattern.outlines, pattern.soles[0])]
    )
    reach = ((corners - pattern.zmp_reference[0]) @ along).max()
    omega = math.sqrt(STANDARD_GRAVITY / pattern.com[0, 2])
    return described(Conditions()).mass * omega * float(reach)
