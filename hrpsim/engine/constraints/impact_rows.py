# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Impacts of one-sided rows within a step: closing times of gaps, and target rates of rows.

A gap with the rate r and the acceleration a moves as g(t) = g + r t + a t^2 / 2 until an impact. If
a gap closes faster than the restitution threshold, the target of its row is -e times the rate, with
the coefficient of restitution e. The target of a closed gap at rest prevents penetration. An impact
changes velocities, but not positions.
"""

import math

import numpy as np

from hrpsim.engine.compile.compiled import inlined_kernel, inner_kernel
from hrpsim.engine.compile.kernel_types import Impact, Seconds

# order of the impacts of a pair of materials with several closed contacts
SIMULTANEOUS, SEQUENTIAL = range(2)

# A gap up to this is closed [m], so that what closes together is solved together.
CLOSED = 1e-10

# Share of the fastest approach by which a sequential impact may be slower and be taken with it.
_ALIKE = 1e-9

# Share of the restitution threshold up to which free bodies are at rest against each other.
_AT_REST = 1e-3

OPEN, RESTING, ABSENT = range(3)

IMPACT = np.dtype(
    [
        ("state", "i8"),  # OPEN also where a closed gap is opening; ABSENT takes no part
        ("chosen", "i8"),  # 1: solved in the present round of impacts, 0: not
        ("sequential", "i8"),
        ("restitution", "f8"),
        ("offset", "f8"),  # gap at the start of the step, on the line that the row stands for [m]
        ("gap", "f8"),  # gap at the start of the step, with displacements by impacts [m]
        ("rate", "f8"),  # rate of the gap, without acceleration [m/s]
        ("acceleration", "f8"),  # acceleration of the gap [m/s^2]
        ("settled", "f8"),  # rate at which a resting gap is at rest, acceleration left out [m/s]
        ("floor", "f8"),  # slowest target rate of an inelastic row [m/s]
        ("placed", "f8"),  # time at which point and normal were computed [s]
        ("time", "f8"),  # free balls: time of the next impact or rest [s]
        ("next_of_a", "i8"),  # next contact of the first ball, as a row; -1: none
        ("next_of_b", "i8"),  # next contact of the second ball, as a row; -1: none
        ("before", "f8"),  # velocity of the row before the round, also for tangents [m/s]
        ("lower", "f8"),  # lower bound of the impulse [Ns or Nms]
        ("upper", "f8"),  # upper bound of the impulse [Ns or Nms]
    ]
)


@inlined_kernel
def gap_at(impact: Impact, time: Seconds) -> float:
    """Return the gap [m] at `time` [s] after the start of the step."""
    return impact.gap + time * (impact.rate + 0.5 * impact.acceleration * time)


@inlined_kernel
def impact_rate(impact: Impact, time: Seconds, timed: bool) -> float:
    """Return the rate at which a gap closes in an impact, `time` [s] after the start [m/s].

    Impacts that are not `timed` happen at the start of the step, before any acceleration.
    """
    if impact.state == RESTING:
        return impact.rate - impact.settled
    return impact.rate + (impact.acceleration * time if timed else 0.0)


@inner_kernel
def closing_time(impact: Impact, now: float) -> float:
    """Return the first time after `now` at which an open gap closes, in the step [s].

    The result is infinity if the gap never closes.
    """
    a = impact.acceleration
    rate, gap = impact.rate + a * now, gap_at(impact, now)
    if gap <= CLOSED and rate <= 0.0:
        return now
    square = rate * rate - 2.0 * a * gap
    if square < 0.0 or (rate >= 0.0 and a >= 0.0):
        return math.inf
    root = math.sqrt(square)
    wait = 2.0 * gap / (root - rate) if rate < 0.0 else (rate + root) / -a
    return now + max(wait, 0.0)


@inlined_kernel
def is_impact(impact: Impact, time: Seconds, timed: bool, threshold: float) -> bool:
    """Return whether the closing rate of a closed gap exceeds the threshold.

    Args:
        impact: IMPACT record.
        time: time in the step [s].
        timed: whether impacts happen at their times.
        threshold: restitution threshold [m/s].
    """
    return impact_rate(impact, time, timed) - impact.floor < -threshold


@inlined_kernel
def is_opening(impact: Impact, time: Seconds, threshold: float) -> bool:
    """Return whether a gap between free bodies opens at `time` faster than a gap at rest may open.

    Args:
        impact: IMPACT record.
        time: time in the step [s].
        threshold: restitution threshold [m/s].
    """
    return impact.rate + impact.acceleration * time > _AT_REST * threshold


@inlined_kernel
def separates(impact: Impact, time: Seconds, threshold: float) -> bool:
    """Return whether a resting contact opens because its normal has turned.

    Sliding shapes separate if the surfaces curve away from each other. An impulse through an
    opening gap would create energy, and an impulse through a closing gap would dissipate energy.

    Args:
        impact: IMPACT record.
        time: time in the step [s].
        threshold: restitution threshold [m/s].
    """
    return is_opening(impact, time, threshold) or impact.settled < -_AT_REST * threshold


@inlined_kernel
def is_at_rest(rate: float, threshold: float) -> bool:
    """Return whether the rate of a gap between free bodies counts as zero.

    Args:
        rate: rate of the gap [m/s].
        threshold: restitution threshold [m/s].
    """
    return abs(rate) <= _AT_REST * threshold


@inlined_kernel
def is_closed(impact: Impact, now: float) -> bool:
    """Return whether the gap of a row is closed at the time `now` [s] of the step.

    Only a closed row can push.
    """
    return impact.state == RESTING or (impact.state == OPEN and gap_at(impact, now) <= CLOSED)


@inlined_kernel
def takes_part(impact: Impact, now: float, timed: bool, threshold: float, fastest: float) -> bool:
    """Return whether a row receives an impulse in the present round of impacts.

    Simultaneous impacts are solved in rounds. With simultaneous restitution, a closed row takes
    part unless its shapes separate. With sequential restitution, only the rows with the fastest
    approach take part.

    Args:
        impact: IMPACT record.
        now: time in the step [s].
        timed: whether impacts happen at their times.
        threshold: restitution threshold [m/s].
        fastest: fastest approach of the round [m/s].
    """
    if not is_closed(impact, now):
        return False
    rate = impact_rate(impact, now, timed)
    if impact.sequential:
        return rate - impact.floor <= (1.0 - _ALIKE) * fastest
    return rate <= threshold


@inlined_kernel
def wanted_rate(impact: Impact, now: float, timed: bool, threshold: float) -> float:
    """Return the target rate of a row after an impact at `now`, without acceleration [m/s].

    A closed gap that opens more slowly than the threshold may get a target up to the reversed rate,
    which does not change the energy.

    Args:
        impact: IMPACT record.
        now: time in the step [s].
        timed: whether impacts happen at their times.
        threshold: restitution threshold [m/s].
    """
    rate = impact_rate(impact, now, timed)
    if rate - impact.floor < -threshold:
        target = -impact.restitution * rate if impact.restitution > 0.0 else impact.floor
    else:
        target = min(impact.floor, -rate) if rate > 0.0 else impact.floor
    if impact.state == RESTING:
        return target + impact.settled
    return target - (impact.acceleration * now if timed else 0.0)
