# Copyright 2026 hrpsim developers
# SPDX-License-Identifier: Apache-2.0

"""Targets and corrections of rigid contacts and joints: their slopes are those of their values."""

from types import SimpleNamespace

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from interpreted import interpreted

from hrpsim.engine.constraints.contact_rows import rigid_law, rigid_slopes
from hrpsim.engine.constraints.joint_rows import rigid_limit_law, rigid_limit_slopes
from hrpsim.engine.constraints.rows import correction_slope, wanted_correction

run_contact, run_contact_slopes, run_limit, run_limit_slopes, run_correction, run_slope = map(
    interpreted,
    (
        rigid_law,
        rigid_slopes,
        rigid_limit_law,
        rigid_limit_slopes,
        wanted_correction,
        correction_slope,
    ),
)
SETTINGS = SimpleNamespace(time_step=1e-3, slop=1e-4, correction_rate=0.1, correction_speed=0.5)
DEEPEST = -SETTINGS.correction_speed * SETTINGS.time_step / SETTINGS.correction_rate
STEP = 1e-9
distances = st.floats(-0.02, 0.02)


def is_far_from(value, *kinks):
    """Return whether a difference about `value` sees no kink."""
    return all(abs(value - kink) > 2.0 * STEP for kink in kinks)


@given(distances, st.sampled_from([1e-10, 1e-4]), st.sampled_from([1e-10, 1e-4]))
def test_slopes_of_a_rigid_contact_are_differences(gap, closed, origin):
    kinks = closed, 2.0 * origin, -SETTINGS.slop, DEEPEST - SETTINGS.slop
    assume(is_far_from(gap, *kinks))
    high, low = (
        np.array(run_contact(gap + step, closed, origin, SETTINGS)) for step in (STEP, -STEP)
    )
    found = run_contact_slopes(gap, closed, origin, SETTINGS)
    np.testing.assert_allclose(found, (high - low) / (2.0 * STEP), rtol=1e-5, atol=1e-6)


@given(distances)
def test_slopes_of_a_rigid_limit_are_differences(room):
    assume(is_far_from(room, 0.0, DEEPEST))
    high, low = (np.array(run_limit(room + step, SETTINGS)) for step in (STEP, -STEP))
    found = run_limit_slopes(room, SETTINGS)
    np.testing.assert_allclose(found, (high - low) / (2.0 * STEP), rtol=1e-5, atol=1e-6)


@given(distances)
def test_the_slope_of_a_correction_is_a_difference(error):
    assume(is_far_from(error, DEEPEST, -DEEPEST))
    dt = SETTINGS.time_step
    high, low = (run_correction(error + step, dt, SETTINGS) for step in (STEP, -STEP))
    found = run_slope(error, dt, SETTINGS)
    np.testing.assert_allclose(found, (high - low) / (2.0 * STEP), rtol=1e-5, atol=1e-6)
