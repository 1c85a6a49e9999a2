# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Search for the motion with the largest `Forecast.smallest` (the E-optimal motion).

The smallest singular value is not differentiable if two directions are equally uncertain. The
search therefore uses an evolution strategy with one parent and one child, starting from the best of
several random series. The step size grows after a success and shrinks after a failure (1/5 success
rule: Rechenberg 1973).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from hrpsim.fitting.excitation.excitation_file import Excitation
from hrpsim.fitting.excitation.forecasts import Forecast, ForecastSetup, forecast
from hrpsim.fitting.excitation.motions import ExcitingMotion, Series, chirp, room_of
from hrpsim.fitting.unknowns import FitError

_FIRST_STEP, _LEAST_STEP = 0.3, 0.02  # in units of the bounds -1 to 1
_SLOPES = (0.5, 1.0, 1.5, 2.0)  # spectral slopes of the random series
_MOVED = 0.3  # fraction of the numbers that a step changes
_GROWS, _SHRINKS = 1.5, 0.9  # constant step at one success in five
_LEVELS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.1)  # levels of a chirp, until one is within the limits


class Proposal(NamedTuple):
    """The proposed motion and its forecast, and optionally a chirp of equal length."""

    motion: ExcitingMotion
    forecast: Forecast
    chirp: ExcitingMotion
    chirp_forecast: Forecast
    evaluations: int


def propose(excitation: Excitation, report: Callable[[str], None] | None = None) -> Proposal:
    """Return the motion within the limits that determines the parameters best.

    If no series is better than the chirp, the proposed motion is the chirp.

    Args:
        excitation: settings of the search.
        report: called with a line of text on the progress.

    Raises:
        FitError: no motion within the limits determines all parameters.
        HrpsimError: values are invalid for the world, or a step fails.
    """
    say, trial = report or (lambda text: None), excitation.trial()
    joints = excitation.joints or trial.servos()
    if not joints:
        raise FitError("no joint has a position servo: give gains in the world file")
    room = room_of(trial.robot, joints, excitation.share, excitation.largest(trial))
    series = Series(
        room, excitation.duration, excitation.period, excitation.harmonics, excitation.frequency
    )
    count = [0]

    def score(x: np.ndarray) -> float:
        count[0] += 1
        value = _score(forecast(trial, series.motion(x)))
        say(f"motion {count[0]} of {excitation.evaluations}: score {value:.4g}")
        return value

    rng = np.random.default_rng(excitation.seed)
    draws = [series.draw(rng, _SLOPES[k % len(_SLOPES)]) for k in range(excitation.starts)]
    first, best = max(((draw, score(draw)) for draw in draws), key=lambda one: one[1])
    x, best = _climb(score, first, best, excitation.evaluations - len(draws), rng)
    motion = series.motion(x)
    best_forecast = forecast(trial, motion)
    other = _chirp(trial, series, excitation.frequency)
    known = forecast(trial, other)
    if _score(known) > best:
        motion, best_forecast, best = other, known, _score(known)
    if best <= 0.0:
        raise FitError(
            "no motion within the limits determines all parameters: "
            f"{best_forecast.trouble or 'Give more joints, a longer duration or a larger share'}"
        )
    return Proposal(motion, best_forecast, other, known, count[0])


def _score(found: Forecast) -> float:
    """Return the smallest singular value, or a negative number for an unusable motion."""
    if found.trouble:
        return -10.0
    return -found.excess if found.excess > 0.0 else found.smallest


def _climb(
    score: Callable[[np.ndarray], float],
    x: np.ndarray,
    best: float,
    evaluations: int,
    rng: np.random.Generator,
) -> tuple[np.ndarray, float]:
    """Improve a coefficient vector by an evolution strategy.

    Args:
        score: function to maximise.
        x: initial vector.
        best: score of the initial vector.
        evaluations: number of evaluations of the score.
        rng: source of random numbers.

    Returns:
        The best vector, with entries from -1 to 1, and its score.
    """
    step = _FIRST_STEP
    for _ in range(evaluations):
        moved = rng.random(len(x)) < _MOVED
        child = np.clip(x + step * moved * rng.normal(size=len(x)), -1.0, 1.0)
        value = score(child)
        if value > best:
            x, best, step = child, value, min(step * _GROWS, 1.0)
        else:
            step = max(step * _SHRINKS, _LEAST_STEP)
    return x, best


def _chirp(trial: ForecastSetup, series: Series, frequency: float) -> ExcitingMotion:
    """Return the largest chirp within the limits, among a list of levels."""
    for level in _LEVELS:
        motion = chirp(series.room, series.time, frequency, level)
        _, excess, trouble = trial.record(motion)
        if excess <= 0.0 and not trouble:
            break
    return motion
