# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Intervals hold at noise of any colour, and only an optimum has intervals."""

import numpy as np
import pytest
from fitting.arm import DAMPING, ROTOR, TRUE, commanded, motion, recording, write_world
from scipy.signal import lfilter
from scipy.special import stdtrit

import hrpsim
from hrpsim.fitting import FitWarning
from hrpsim.fitting.intervals import of_coloured_noise
from hrpsim.fitting.predict import ResidualRows

SAMPLES, WINDOW, DRAWS = 200, 50, 200
TIME = np.arange(0.0, 1.2, 0.03)
COMMAND_TIME, COMMANDS = commanded(1.2, 0.09)


@pytest.mark.parametrize("colour", [0.0, 0.5, 0.9, 0.95])
def test_intervals_hold_at_coloured_noise(colour):
    """Law: a 95 % interval holds the truth in 90 to 99 % of draws of a linear model with starts."""
    time = np.arange(SAMPLES) % WINDOW / WINDOW
    window = np.arange(SAMPLES) // WINDOW
    starts = np.zeros((SAMPLES, 2 * (window[-1] + 1)))
    starts[np.arange(SAMPLES), 2 * window] = 1.0
    starts[np.arange(SAMPLES), 2 * window + 1] = time
    base = np.linalg.qr(starts)[0]

    def without(values):
        return values - base @ (base.T @ values)

    slow = np.arange(SAMPLES) / SAMPLES
    J = without(np.column_stack([np.sin(23.0 * slow), np.cos(41.0 * slow) + slow**2]))
    rows = ResidualRows(np.zeros(SAMPLES, dtype=int), window, np.zeros(SAMPLES, dtype=int))
    random, held = np.random.default_rng(1), np.zeros(2)
    for _ in range(DRAWS):
        white = random.normal(size=SAMPLES)
        white[1:] *= np.sqrt(1.0 - colour**2)
        e = without(lfilter([1.0], [1.0, -colour], white))
        error = np.linalg.lstsq(J, e, rcond=None)[0]
        matrix, degrees = of_coloured_noise(J, e - J @ error, rows, without)
        held += np.abs(error) < stdtrit(degrees, 0.975) * np.sqrt(np.diag(matrix))
    assert (held >= 0.9 * DRAWS).all()
    assert (held <= 0.99 * DRAWS).all()


@pytest.mark.parametrize("start", ["measured", "fitted"])
def test_parameters_leave_a_bound_where_all_start(tmp_path, start):
    """Law: what is found does not depend on where a fit starts, a bound included."""
    angles = motion(TIME, COMMANDS, COMMAND_TIME, kp=10.0)
    measured = recording(angles, TIME, COMMAND_TIME, COMMANDS, 0)
    world = write_world(tmp_path)
    options = {"window": 0.6, "start": start}
    zero, near = (
        hrpsim.fit(world, [measured], {DAMPING: damping, ROTOR: rotor}, **options)
        for damping, rotor in ((0.0, 0.0), (0.2, 0.04))
    )
    assert zero.start.tolist() == [0.0, 0.0]
    half = 0.5 * (near.high - near.low)
    assert zero.values == pytest.approx(near.values, abs=0.1 * half.min())
    assert zero.undetermined == near.undetermined == ()
    if start == "fitted":
        assert (np.abs(zero.values - [TRUE[DAMPING], TRUE[ROTOR]]) < 1.5 * half).all()


def test_what_is_no_optimum_has_no_interval(tmp_path, monkeypatch):
    """Law: a fit that ends before the least squares says so, and gives values without intervals."""
    for name in ("_MOST_ROUNDS", "_IN_A_ROUND"):
        monkeypatch.setattr(f"hrpsim.fitting.fit.{name}", 1)
    monkeypatch.setattr("hrpsim.fitting.fit._Problem.near", lambda problem, x, say: x)
    angles = motion(TIME, COMMANDS, COMMAND_TIME, rotor=0.0)
    measured = recording(angles, TIME, COMMAND_TIME, COMMANDS, 0)
    with pytest.warns(FitWarning, match="minimum of the least squares was not reached"):
        found = hrpsim.fit(
            write_world(tmp_path), [measured], {DAMPING: 0.0}, window=0.6, start="fitted"
        )
    assert not found.reached
    assert np.isnan([found.low, found.high]).all()
    assert "minimum of the least squares was not reached" in found.verdict()
