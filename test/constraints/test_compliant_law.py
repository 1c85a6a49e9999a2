# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""The law of spring and damper in a row: its derivatives are slopes of its values."""

from types import SimpleNamespace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from interpreted import interpreted

from hrpsim.engine.constraints.compliant_law import (
    held_factors,
    held_law,
    held_slopes,
    stop_law,
    stop_slopes,
)
from hrpsim.engine.constraints.impact_rows import CLOSED

DT = 1e-3
run_held, run_held_slopes, run_stop, run_stop_slopes, run_factors = map(
    interpreted, (held_law, held_slopes, stop_law, stop_slopes, held_factors)
)
errors, rates = st.floats(-0.01, 0.01), st.floats(-2.0, 2.0)
inverse_masses = st.floats(0.01, 10.0)
compliances = st.one_of(st.just(0.0), st.floats(1e-7, 1e-3))
damping_times = st.floats(0.0, 0.02)


def differences(law, at):
    """Return central differences (3, 2) of target and compliance by three arguments."""
    found = np.empty((3, 2))
    for k, value in enumerate(at):
        step = 1e-6 * max(abs(value), 1e-2)
        ends = []
        for moved in (value + step, value - step):
            ends.append(np.array(law(*at[:k], moved, *at[k + 1 :])[:2]))
        found[k] = (ends[0] - ends[1]) / (2.0 * step)
    return found


def assert_slopes(slopes, expected, values):
    """Assert that derivatives are those of differences, within the rounding of the differences."""
    rounding = 1e-8 * np.abs(values) / 1e-2
    np.testing.assert_array_less(
        np.abs(slopes - expected), 1e-5 * np.abs(expected) + rounding + 1e-9
    )


@given(errors, rates, inverse_masses, compliances, damping_times)
def test_slopes_of_a_held_row_are_differences(error, rate, inverse_mass, compliance, damping_time):
    def law(error, rate, inverse_mass):
        return run_held(error, rate, inverse_mass, compliance, damping_time, DT)

    own = SimpleNamespace(compliance=compliance, damping_time=damping_time)
    slopes = np.empty((3, 2))
    run_held_slopes(error, rate, inverse_mass, own, DT, slopes)
    at = error, rate, inverse_mass
    assert_slopes(slopes, differences(law, at), law(*at))


@given(errors, rates, st.floats(-20.0, 20.0), inverse_masses, compliances, damping_times)
def test_slopes_of_a_stop_are_differences(gap, rate, pull, inverse_mass, compliance, damping_time):
    """Law: for stops that are closed, that close within the step and that stay open."""
    start, end = gap - 0.5 * DT * rate, gap + 0.5 * DT * (rate + DT * pull)
    assume(abs(start - CLOSED) > 1e-5 and abs(end) > 1e-5)
    assume(start < 0.0 or end > 0.0 or abs(end / (end - start) - 1e-3) > 1e-3)

    def law(gap, rate, inverse_mass):
        return run_stop(gap, rate, pull, inverse_mass, compliance, damping_time, DT)

    own = SimpleNamespace(compliance=compliance, damping_time=damping_time)
    slopes, at = np.empty((3, 2)), (gap, rate, inverse_mass)
    values = run_stop_slopes(gap, rate, pull, inverse_mass, own, DT, slopes)
    np.testing.assert_allclose(values, law(*at)[:2], rtol=1e-12)
    assert_slopes(slopes, differences(law, at), law(*at)[:2])


@given(errors, rates, inverse_masses, compliances, damping_times)
def test_factors_give_the_law_and_its_slopes(error, rate, inverse_mass, compliance, damping_time):
    given = (np.array([value]) for value in (inverse_mass, compliance, damping_time))
    own = SimpleNamespace(compliance=compliance, damping_time=damping_time)
    factors, slopes = np.empty((4, 1)), np.empty((3, 2))
    run_factors(*given, DT, factors)
    c, d, dc, dd = factors[:, 0]
    target, give = run_held(error, rate, inverse_mass, compliance, damping_time, DT)
    run_held_slopes(error, rate, inverse_mass, own, DT, slopes)
    pressed = d * rate - 4.0 * error / DT
    close = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose([c * pressed, 4.0 * compliance * c / DT**2], [target, give], **close)
    expected = [dc * pressed + c * dd * rate, 4.0 * compliance * dc / DT**2]
    np.testing.assert_allclose(expected, slopes[2], **close)
